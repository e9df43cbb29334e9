"""Forms of unsigned integers that IREE or XLA takes for signed ones."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.form import GATHERS, FormRule, kinds, ops, types
from portable.prediction.products import DOTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.bytecode.operations import Head, OpSignature
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["UNSIGNED"]

_CONVERT, _CONVOLUTION = "vhlo.convert_v1", "vhlo.convolution_v1"
_SLICE = "vhlo.dynamic_slice_v1"
_BITS = {"ui8_v1": 8, "ui16_v1": 16, "ui32_v1": 32, "ui64_v1": 64}
# By what is converted after them, a product is not always computed in one with the conversion.
_MOVING = kinds("broadcast broadcast_in_dim concatenate pad reshape reverse slice transpose")
_INTEGER_BITS = {**_BITS, **{f"i{bits}_v1": bits for bits in (2, 4, 8, 16, 32, 64)}}


class _Widened:
    """Tells which operands were unsigned integers with fewer bits.

    What an argument of a function or region is, only what is like the op that takes it says:
    perhaps it is another where such ops take several types.

    Args:
        reading: An artifact's ops.
        widening: The ops that may widen what they take.
    """

    def __init__(self, reading: Reading, *widening: str) -> None:
        self._reading = reading
        self._like: dict[tuple[object, ...], list[OpSignature]] = {}
        for one in reading.of(_CONVERT, *widening):
            self._like.setdefault(like(one), []).append(one)
        self._by_likeness = functools.cache(self._found)  # any number of ops may be alike

    def _converted(self, visit: Visit) -> bool | None:
        """Say whether a conversion widens what it takes."""
        widened = self._directly(visit, 0)
        first = None if visit.first is None else self._reading.walk.head(visit.first)
        moved = first is not None and self._reading.kinds[first.name] in _MOVING
        return None if widened and moved else widened

    def operand(self, visit: Visit, at: int) -> bool | None:
        """Say whether an operand was widened, by the op itself or by a conversion.

        Args:
            visit: The op.
            at: Which of its operands.

        Returns:
            None for perhaps.
        """
        source = visit.sources[at] if at < len(visit.sources) else None
        made = None if source is None else self._reading.walk[source[0]]
        converted = made is not None and made.name == _CONVERT and self._converted(made)
        return self._directly(visit, at) if converted is False else converted

    def _directly(self, visit: Visit, at: int) -> bool | None:
        source = visit.sources[at] if at < len(visit.sources) else None
        if source is not None:
            element = self._reading.element(self._reading.walk.head(source[0]).results[0])
            return self._widens(element, visit.operation)
        return self._by_likeness(like(visit.operation), at)

    def _found(self, likeness: tuple[object, ...], at: int) -> bool | None:
        found = {self._widens(self._taken(one, at), one) for one in self._like.get(likeness, ())}
        return found.pop() if len(found) == 1 else None if found else False

    def _taken(self, one: OpSignature, at: int) -> str:
        type_ = (*(one.operand_types or ())[at : at + 1], None)[0]
        return "" if type_ is None else self._reading.element(type_)

    def _widens(self, element: str, operation: Head | OpSignature) -> bool:
        if element not in _BITS or not operation.results:
            return False
        result = self._reading.element(operation.results[0])
        return _INTEGER_BITS.get(result, math.inf) > _BITS[element]


def _multiplies_widened(*products: str, both: bool) -> Callable[[Reading], bool | None]:
    """Find a product of numbers of which one, or both, were unsigned integers with fewer bits."""

    def find(reading: Reading) -> bool | None:
        widened, perhaps = _Widened(reading, *products), False
        for visit in reading.walk.of(products):
            sides = [widened.operand(visit, at) for at in range(2)]
            if all(sides) if both else any(sides):
                return True
            perhaps |= None in sides and not (both and False in sides)
        return None if perhaps else False

    return find


def _gathers_by_unsigned(reading: Reading) -> bool | None:
    """Find perhaps a gather by single unsigned indices: those in the upper half are negative.

    Not of what is no longer than the lower half: there such an index is out of bounds.
    """
    for visit in reading.walk.of(GATHERS):
        gathered, indices = (*map(reading.flow.type, reading.flow.operands(visit)), None, None)[:2]
        chosen = reading.numbers(visit.operation, "start_index_map")
        bits = 0 if indices is None else _BITS.get(reading.element(indices), 0)
        if not bits or len(chosen) != 1:
            continue
        half = 1 << (bits - 1)
        sizes = (reading.dimensions(gathered) or ())[chosen[0] :][:1]
        is_short = all(0 <= size <= half for size in sizes) and len(sizes) == 1
        if not is_short and reading.ranges.of(visit)[1][1] >= half:
            return None
    return False


def _chooses_by_great_constants(reading: Reading) -> bool | None:
    """Find a dynamic_slice, or a gather of one slice, by unsigned constants with the highest bit.

    XLA makes a slice with constant bounds of it. Perhaps what is computed from constants is such.
    """
    perhaps = False
    for visit in reading.walk.of([_SLICE, *GATHERS]):
        if visit.name != _SLICE and not _is_one_slice(reading, visit.operation):
            continue
        for source in visit.sources[1:]:
            bits = 0 if source is None else _BITS.get(reading.element(reading.walk.type(source)), 0)
            constant = visit.constant(source)
            if bits and constant is not None and reading.ends(constant)[1] >> (bits - 1):
                return True
            computed = constant is None and source is not None and source[0] in reading.folded
            perhaps |= computed and bool(bits)
    return None if perhaps else False


def _is_one_slice(reading: Reading, gather: Head) -> bool:
    """Say whether all dimensions of what is gathered are those of a slice."""
    sizes = reading.dimensions(gather.results[0]) if gather.results else None
    return sizes is not None and len(sizes) == len(reading.numbers(gather, "offset_dims"))


_NEEDED = types(_BITS)
UNSIGNED: dict[str, FormRule] = {
    "dot_general of unsigned integers that are widened": FormRule(
        _multiplies_widened(*DOTS, both=False), (_NEEDED, ops(*DOTS)), across=True
    ),
    "convolution of two operands of unsigned integers that are widened": FormRule(
        _multiplies_widened(_CONVOLUTION, both=True), (_NEEDED, ops(_CONVOLUTION))
    ),
    "gather by single unsigned indices": FormRule(_gathers_by_unsigned, (_NEEDED, ops(*GATHERS))),
    "dynamic_slice or gather of one slice by unsigned constants in the upper half": FormRule(
        _chooses_by_great_constants, (_NEEDED, ops(_SLICE, *GATHERS)), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
