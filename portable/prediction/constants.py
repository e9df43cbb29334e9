"""Forms of what a compiler takes only where it is constant, and of constants that it does not take.

XLA folds what it can before it looks at what it supports: how an op is refused of a runtime's
values, and a type of a constant that is left, shows in where values come from.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from portable.bytecode.entries import Blob
from portable.bytecode.operations import IN_FUNCTION, like
from portable.prediction.computing import WHOLE, integers
from portable.prediction.form import (
    SCATTERS,
    FormRule,
    ops,
    types,
)
from portable.prediction.plain import TWINS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portable.bytecode.operations import Head
    from portable.prediction.forms import Reading

__all__ = ["CONSTANTS", "is_one_number"]

_CONSTANT, _RETURN, _COMPOSITE = "vhlo.constant_v1", "vhlo.return_v1", "vhlo.composite_v2"
_COMPOSITES = ("vhlo.composite_v1", _COMPOSITE)
_SLICE, _IOTA = "vhlo.real_dynamic_slice_v1", "vhlo.iota_v1"
_REMAINDER, _BF16 = "vhlo.remainder_v1", "bf16_v1"
_DIVISIONS = ("vhlo.divide_v1", _REMAINDER)
_REDUCE = "vhlo.reduce_v1"
_FOUR_BITS = frozenset({"i4_v1", "ui4_v1"})
_SEVERAL = 2


def _in_bytes(mantissa: int, bias: int, greatest: int) -> bytes:
    """Return 0, 1, 2 and so on as floats of a byte, rounded to even, up to the greatest one."""
    found = bytearray(1)
    for number in range(1, greatest + 1):
        power = number.bit_length() - 1
        below = max(power - mantissa, 0)
        kept, rest = number >> below, number % (1 << below)
        kept += rest * 2 + kept % 2 > 1 << below
        fraction = kept << mantissa - power + below
        # One that is rounded up to a power of two has the next exponent.
        found.append((power + bias - 1 << mantissa) + fraction)
    return bytes(found)


# Of each type that has an iota in XLA, and that LLVM has not, the numbers from zero. Of f8E5M2
# longer lists are not looked into.
_COUNTED = {
    "f8E4M3FN_v1": _in_bytes(3, 7, 448),
    "f8E5M2_v1": _in_bytes(2, 15, 4_096),
    "f8E4M3B11FNUZ_v1": _in_bytes(3, 11, 30),
}


def _of(*elements: str) -> frozenset[str]:
    return frozenset(f"{element}_v1" for element in elements)


def _sized_at_runtime(*sized: str) -> FormRule:
    """Find an op with a static twin that takes an argument in the place of an attribute.

    Perhaps what another op computes is folded to a constant, and perhaps nothing uses the op.
    """

    def find(reading: Reading) -> bool | None:
        perhaps = False
        for visit in reading.walk.of(sized):
            of = visit.sources[TWINS[visit.name].takes :]
            if any(visit.constant(source) is None for source in of):
                known = all(source is None or visit.constant(source) for source in of)
                if known and like(visit.operation) in reading.used:
                    return True
                perhaps = True
        return None if perhaps else False

    return FormRule(find, (ops(*sized),))


def _kept(elements: frozenset[str]) -> FormRule:
    """Find a constant of some element types that a function returns.

    Perhaps what another op computes of it is folded, and it is gone.
    """

    def find(reading: Reading) -> bool | None:
        found: set[int] = set()
        perhaps = False
        for visit in reading.walk:
            name, operation = visit.name, visit.operation
            if any(source is not None and source[0] in found for source in visit.sources):
                if name == _RETURN and operation.depth == IN_FUNCTION:
                    return True
                perhaps = True
            elif name == _CONSTANT and reading.gives(operation, elements):
                found.add(visit.number)
        return None if perhaps else False

    return FormRule(find, (ops(_CONSTANT), types(elements)))


def _odd_fours(reading: Reading) -> bool | None:
    """Find an odd number of four-bit integers that a function takes or returns; perhaps others."""
    pool = reading.content.pool

    def odd(types: Iterable[int]) -> bool:
        return any(reading.element(n) in _FOUR_BITS and (pool.count(n) or 0) % 2 for n in types)

    if odd(reading.edges):
        return True
    inside = {number for signature in reading.signatures for number in signature.results}
    return None if odd(inside) else False


def _scatters_into_a_constant(reading: Reading) -> bool | None:
    """Find a scatter into a constant of different numbers; perhaps what it is into is folded."""
    alike = functools.cache(functools.partial(is_one_number, reading))
    perhaps = False
    for visit in reading.walk.of(SCATTERS):
        if like(visit.operation) not in reading.used:
            continue
        for source in visit.sources[: len(visit.sources) // 2]:  # the indices, and as many updates
            constant = visit.constant(source)
            if constant is not None and not alike(constant):
                return True
            made = reading.walk[source[0]] if source and constant is None else None
            perhaps |= made is not None and made.number in reading.folded and made.name != _IOTA
    return None if perhaps else False


def _reduces_beside_a_constant(reading: Reading) -> bool | None:
    """Find perhaps a reduce of several operands of which one is a constant of one number.

    What is computed from that and from no other operand is computed once, not for each element.
    """
    alike = functools.cache(functools.partial(is_one_number, reading))
    for visit in reading.walk.of([_REDUCE]):
        given = visit.sources[: len(visit.sources) // 2]  # as many initial values follow
        constants = [one for one in map(visit.constant, given) if one is not None and alike(one)]
        if 0 < len(constants) < len(given):
            return None
    return False


def is_one_number(reading: Reading, constant: Head) -> bool:
    """Say whether a constant has one number everywhere, of which one is stored.

    One of complex numbers counts as none: IREE fills nothing with it.

    Args:
        reading: An artifact's ops.
        constant: The constant.
    """
    if not constant.results:  # damaged
        return True
    type_, data = constant.results[0], reading.value(constant, "value").get("data")
    count, element = reading.content.pool.count(type_) or 0, reading.element(type_)
    if not isinstance(data, Blob) or count < _SEVERAL:
        return True
    if element == "bool_v1":
        return data.size == 1 and reading.data[data.offset] in {0, 0xFF}
    digits = re.search(r"\d+", element)
    wide = int(digits[0]) // 8 if digits else 1
    return element != "complex_v1" and data.size < count * max(wide, 1)


def _divides_by_different_numbers(reading: Reading) -> bool | None:
    """Find perhaps a remainder of bf16 and a constant of different numbers, folded ones too.

    XLA computes it right where it puts the op and others together.
    """
    alike = functools.cache(functools.partial(is_one_number, reading))
    for visit in reading.walk.of([_REMAINDER]):
        # Of a damaged file there may be another number of results.
        counts = [
            reading.content.pool.count(type_)
            for type_ in visit.operation.results
            if reading.element(type_) == _BF16
        ]
        if {*counts} <= {1}:
            continue
        for value, source in zip(reading.flow.operands(visit), visit.sources, strict=True):
            constant = visit.constant(source)
            if constant is not None:
                perhaps = not alike(constant)
            elif source is None:  # a caller may give a constant
                perhaps = not reading.flow.is_argument(value)
            else:
                perhaps = source[0] in reading.folded
            if perhaps:
                return None
    return False


def _divides_constants_by_zero(reading: Reading) -> bool | None:
    """Find a division of constant integers of which one is by zero, that is used.

    The compiler divides them. Perhaps what is computed from constants is folded to one that has a
    zero.
    """
    has_zero = functools.cache(lambda constant: 0 in integers(reading, constant))
    perhaps = False
    for visit in reading.walk.of(_DIVISIONS):
        one, results = visit.operation, visit.operation.results
        if not results or reading.element(results[0]) not in WHOLE or like(one) not in reading.used:
            continue
        if not visit.sources or not all(
            source and source[0] in reading.folded for source in visit.sources
        ):
            continue
        dividend, *divisors = [visit.constant(source) for source in visit.sources]
        if None in divisors:
            least, most = reading.ranges.of(visit)[-1]
            perhaps |= least <= 0 <= most
        elif all(map(has_zero, divisors)):
            if dividend is not None:
                return True
            perhaps = True
    return None if perhaps else False


def _lists_counts(reading: Reading) -> bool | None:
    """Find a list of f8 that counts from zero, and is returned; perhaps where something takes it.

    XLA makes an iota of it, which its older code does not write of these types.
    """
    walk, main = reading.walk, reading.functions.main
    lists = {visit.number for visit in walk.of([_CONSTANT]) if _counts(reading, visit.operation)}
    perhaps = False
    for visit in walk if lists else ():
        if not lists.isdisjoint(source[0] for source in visit.sources if source):
            if visit.name == _RETURN and walk.around[visit.number] == main:
                return True
            perhaps = True
    return None if perhaps else False


def _counts(reading: Reading, constant: Head) -> bool:
    """Say whether a constant of f8 lists 0, 1, 2 and so on, of which there are several."""
    element = reading.element(constant.results[0]) if constant.results else ""
    shape = reading.dimensions(constant.results[0]) if element in _COUNTED else None
    data = reading.value(constant, "value").get("data") if shape and len(shape) == 1 else None
    if not isinstance(data, Blob) or [data.size] != shape or data.size < _SEVERAL:
        return False
    counted = _COUNTED[element][: data.size]
    return bytes(reading.data[data.offset : data.offset + data.size]) == counted


def _runs_a_composite(reading: Reading) -> bool | None:
    """Find a composite, used or not; perhaps in a function that main does not run."""
    calls = reading.walk.of(_COMPOSITES)
    within, reached = reading.functions.within, reading.functions.reached
    return True if any(within[one.number] in reached for one in calls) else None


CONSTANTS: dict[str, FormRule] = {
    "scatter into a constant of different numbers": FormRule(
        _scatters_into_a_constant, (ops(*SCATTERS),), across=True
    ),
    "reduce of several operands of which one is a constant of one number": FormRule(
        _reduces_beside_a_constant, (ops(_REDUCE), ops(_CONSTANT)), across=True
    ),
    "remainder of bf16 and a constant of different numbers": FormRule(
        _divides_by_different_numbers, (ops(_REMAINDER), types([_BF16]))
    ),
    "division of constant integers by zero": FormRule(
        _divides_constants_by_zero, (ops(*_DIVISIONS), ops(_CONSTANT), types(WHOLE)), across=True
    ),
    "dynamic_conv, dynamic_gather or dynamic_pad by what is not constant": _sized_at_runtime(
        *(op for op, twin in TWINS.items() if twin.numbers and op != _SLICE)
    ),
    "real_dynamic_slice by what is not constant": _sized_at_runtime(_SLICE),
    "list of f8 that counts from zero": FormRule(
        _lists_counts, (ops(_CONSTANT), types(_COUNTED)), across=True
    ),
    "composite in a function that runs": FormRule(_runs_a_composite, (ops(*_COMPOSITES),)),
    "composite with regions": FormRule(
        lambda reading: any(one.regions for one in reading.of(_COMPOSITE)), (ops(_COMPOSITE),)
    ),
    "constant of f6E2M3FN or f6E3M2FN": _kept(_of("f6E2M3FN", "f6E3M2FN")),
    "constant of f8E4M3FNUZ or f8E5M2FNUZ": _kept(_of("f8E4M3FNUZ", "f8E5M2FNUZ")),
    "constant of i4 or ui4": _kept(_FOUR_BITS),
    "odd number of i4 or ui4": FormRule(_odd_fours, (types(_FOUR_BITS),)),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
