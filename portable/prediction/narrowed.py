"""Integers of which a compiler makes bf16, also by way of a wider float.

IREE converts an integer to bf16 by a call of a function that it does not link. It leaves out the
wider float between them, and does not call where it makes arithmetic of it in the same loop.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.prediction.computing import WHOLE
from portable.prediction.flow import INSIDE, by_the_first
from portable.prediction.form import FormRule, kinds, ops, types

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["NARROWED"]

_CONVERT, _BFLOAT16 = "vhlo.convert", "bf16_v1"
_WIDER = frozenset({"f32_v1", "f64_v1"})
_INTEGERS = WHOLE | {"bool_v1"}
_RETURN = kinds("return")
_IOTAS = kinds("dynamic_iota iota")
_MOVING = kinds("broadcast_in_dim reshape slice transpose")
# What was seen to compute with an iota in one loop with it.
_ARITHMETIC = kinds(
    "abs add atan2 cbrt ceil clamp compare convert cosine divide exponential exponential_minus_one"
    " floor is_finite log log_plus_one logistic maximum minimum multiply negate power"
    " reduce_precision remainder round_nearest_afz round_nearest_even rsqrt select sign sine sqrt"
    " subtract tan tanh"
)
# Of so many elements an iota is a constant.
_FOLDED = 8


def _narrows_integers(reading: Reading) -> bool | None:
    """Find integers that are bf16 where they are returned; perhaps, where an op takes them."""
    perhaps = False
    for made, fine in ((_iotas(reading), _ARITHMETIC), (_converted(reading), frozenset[str]())):
        reached = reading.flow.reached({*made}, by_the_first, _MOVING)
        returned = any(number == reading.functions.main and at >= 0 for number, at in reached)
        # What is handed on inside of a body is not told apart there.
        if returned and all(at != INSIDE for _, at in reached):
            return True
        perhaps |= returned or any(_takes(reading, reached, fine | _MOVING | _RETURN))
    return None if perhaps else False


def _takes(reading: Reading, made: set[Value], passing: frozenset[str]) -> Iterator[bool]:
    """Say of each op but some whether it takes one of some values."""
    for visit in reading.walk:
        if reading.kinds[visit.operation.name] not in passing:
            yield not made.isdisjoint(reading.flow.operands(visit))


def _iotas(reading: Reading) -> Iterator[Value]:
    """Yield each iota of bf16 that is no constant."""
    for visit in reading.walk.of(_IOTAS):
        is_such = reading.element(reading.result(visit.operation)) == _BFLOAT16
        if is_such and _is_long(reading, visit):
            yield visit.number, 0


def _converted(reading: Reading) -> Iterator[Value]:
    """Yield each value that is converted to bf16 from a wider float, and that from integers."""
    wide = [*_widened(reading)]
    for value in reading.flow.reached(wide, by_the_first, [_CONVERT, *_MOVING]):
        type_ = reading.flow.type(value) if value[1] >= 0 else None
        if type_ is not None and reading.element(type_) == _BFLOAT16:
            yield value


def _widened(reading: Reading) -> Iterator[Value]:
    """Yield the wider floats that integers are converted to, or of which an iota is."""
    for visit in reading.walk.of([_CONVERT, *_IOTAS]):
        if reading.element(reading.result(visit.operation)) not in _WIDER:
            continue
        is_iota = reading.kinds[visit.operation.name] != _CONVERT
        if _is_long(reading, visit) if is_iota else _is_of_integers(reading, visit):
            yield visit.number, 0


def _is_of_integers(reading: Reading, visit: Visit) -> bool:
    """Say whether what an op takes are integers, and no constant."""
    for value, source in zip(reading.flow.operands(visit)[:1], visit.sources, strict=False):
        type_ = reading.flow.type(value)
        if type_ is None or reading.element(type_) not in _INTEGERS:
            return False
        folded = source is not None and source[0] in reading.folded
        return visit.constant(source) is None and not (folded and not _is_long(reading, visit))
    return False


def _is_long(reading: Reading, visit: Visit) -> bool:
    shape = reading.dimensions(reading.result(visit.operation))
    return shape is None or not 0 <= math.prod(shape) <= _FOLDED


NARROWED: dict[str, FormRule] = {
    "bf16 made of integers by way of a wider float, or an iota of it": FormRule(
        _narrows_integers, (types([_BFLOAT16]), ops(_CONVERT, *_IOTAS))
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
