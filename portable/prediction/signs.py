"""Where the sign of a zero is another than it should be, and something asks for it."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from portable.prediction.form import FormRule, kinds, ops
from portable.prediction.simplified import FLOATS
from portable.prediction.windows import features, signature_of, sums_up, windows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["SIGNS"]

_ADD, _SUBTRACT = "vhlo.add", "vhlo.subtract"
_CONVOLUTION, _DIVIDE = "vhlo.convolution", "vhlo.divide"
_DOT, _REDUCE, _REDUCE_WINDOW = "vhlo.dot", "vhlo.reduce", "vhlo.reduce_window"
_DOTS, _REDUCE_SCATTER = (_DOT, "vhlo.dot_general"), "vhlo.reduce_scatter"
# What asks for the sign of a zero; and what may, by the order that it compares in.
_ASKING = kinds("atan2 bitcast_convert divide power rsqrt")
_PERHAPS_ASKING = kinds("compare sort")
_COMPARE, _TOTAL = "vhlo.compare_v1", "TOTALORDER"
# What gives no zero below zero.
_POSITIVE = kinds("abs exponential iota logistic")
# What makes of a zero below zero another one, of some operand.
_PASSING = kinds(
    "broadcast broadcast_in_dim cbrt ceil clamp concatenate convert divide"
    " dynamic_broadcast_in_dim dynamic_gather dynamic_pad dynamic_reshape dynamic_slice"
    " dynamic_update_slice exponential_minus_one floor gather log_plus_one maximum minimum"
    " multiply negate optimization_barrier pad reduce_precision remainder reshape reverse"
    " round_nearest_afz round_nearest_even select sign sine slice sort sqrt tan tanh transpose"
)


def _sums_of_one(reading: Reading) -> Iterator[Visit]:
    """Yield the sums that begin with zero and take a single number: -0.0 becomes 0.0."""
    walk, names = reading.walk, reading.kinds
    for visit in walk.of([_CONVOLUTION, _REDUCE, _REDUCE_WINDOW]):
        one, made, kind = signature_of(reading, visit), visit.first, names[visit.operation.name]
        positive = made is not None and names[walk.head(made).name] in _POSITIVE
        if (positive and kind != _CONVOLUTION) or not reading.gives(one, FLOATS):
            continue
        if _ENDING[kind](reading, one):
            yield visit
    yield from _dots_of_one(reading)


def _convolves_one(reading: Reading, one: OpSignature) -> bool:
    """Say whether a convolution multiplies one number with one for each that it gives."""
    kernel = reading.dimensions((*(one.operand_types or ()), None, None)[1])
    return kernel is not None and math.prod(kernel) == features(reading, one, "output")


def _reduces_one(reading: Reading, one: OpSignature) -> bool:
    """Say whether a reduce takes one number for each that it gives."""
    taken, given = (
        reading.dimensions(type_) for type_ in ((one.operand_types or (None,))[0], one.results[0])
    )
    return taken is not None and given is not None and math.prod(taken) == math.prod(given)


def _moves_over_one(reading: Reading, one: OpSignature) -> bool:
    """Say whether each window of a reduce_window is of one number."""
    return all(window.size == 1 for window in windows_of(reading, one))


_ENDING: dict[str, Callable[[Reading, OpSignature], bool]] = {
    _CONVOLUTION: _convolves_one,
    _REDUCE: _reduces_one,
    _REDUCE_WINDOW: _moves_over_one,
}


def _dots_of_one(reading: Reading) -> Iterator[Visit]:
    """Yield the dots that multiply one number with one for each that they give."""
    for visit in reading.walk.of(_DOTS):
        one = signature_of(reading, visit)
        left = reading.dimensions((one.operand_types or (None,))[0])
        if not reading.gives(one, FLOATS) or left is None:
            continue
        if reading.kinds[one.name] == _DOT:
            summed = left[-1:]
        else:
            places = reading.numbers(one, "lhs_contracting_dimensions")
            summed = [left[at] for at in places if at < len(left)]
        if math.prod(summed) == 1:
            yield visit


def _sums_as_they_come(reading: Reading) -> Iterator[Visit]:
    """Yield the sums that IREE does not begin with zero."""
    yield from _dots_of_one(reading)
    for visit in reading.walk.of([_REDUCE, _REDUCE_WINDOW]):
        one = signature_of(reading, visit)
        if not reading.gives(one, FLOATS):
            continue
        if reading.kinds[one.name] == _REDUCE:
            is_such = not reading.numbers(one, "dimensions")
        else:
            is_such = sums_up(reading, one)
        if is_such:
            yield visit


def _sums_with_zero(reading: Reading) -> Iterator[Visit]:
    """Yield the sums of something and zero, which XLA leaves out, or adds itself."""
    for number, (one, _) in reading.added.items():
        if one == 0 and math.copysign(1, one) > 0:
            yield reading.walk[number]
    # Between devices XLA:CPU begins with zero, which the specification does not.
    for visit in reading.walk.of([_REDUCE_SCATTER]):
        if reading.gives(visit.operation, FLOATS):
            yield visit
    yield from _sums_of_one(reading)


def _loses_the_sign(of: Callable[[Reading], Iterator[Visit]], reading: Reading) -> bool | None:
    """Find perhaps a sum that keeps a zero below zero, where the sign of a zero matters after that.

    One divided by it is -inf, and not inf.
    """
    zeros = {(visit.number, 0) for visit in of(reading)}
    reached = reading.flow.reached(zeros, lambda _: True, _PASSING)
    total = any(reading.case(one, "compare_type") == _TOTAL for one in reading.of(_COMPARE))
    asking = _ASKING | _PERHAPS_ASKING if total else _ASKING
    for visit in reading.walk.of(asking) if zeros else ():
        operands = reading.flow.operands(visit)
        taken = operands[1:] if reading.kinds[visit.operation.name] == _DIVIDE else operands
        if not reached.isdisjoint(taken):
            return None
    return False


_SUMS = ops(_ADD, _SUBTRACT, _CONVOLUTION, *_DOTS, _REDUCE, _REDUCE_SCATTER, _REDUCE_WINDOW)
_ASKED = ops(*_ASKING, *_PERHAPS_ASKING)

SIGNS: dict[str, FormRule] = {
    "sum with zero where the sign of a zero matters": FormRule(
        partial(_loses_the_sign, _sums_with_zero), (_ASKED, _SUMS), across=True
    ),
    "sum that begins with no zero where the sign of a zero matters": FormRule(
        partial(_loses_the_sign, _sums_as_they_come), (_ASKED, _SUMS), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
