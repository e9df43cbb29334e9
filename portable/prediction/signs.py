"""Where the sign of a zero is another than it should be, and something asks for it."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from portable.prediction.form import FormRule, kinds, ops
from portable.prediction.simplified import FLOATS
from portable.prediction.windows import features, signature_of, sums_up, windows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["SIGNS"]

_ADD, _SUBTRACT = "vhlo.add", "vhlo.subtract"
_CONVOLUTION, _DIVIDE = "vhlo.convolution", "vhlo.divide"
_DOT, _DOT_GENERAL = "vhlo.dot", "vhlo.dot_general"
_REDUCE, _REDUCE_WINDOW = "vhlo.reduce", "vhlo.reduce_window"
_REDUCE_SCATTER = "vhlo.reduce_scatter"
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


def _multiplies_one(reading: Reading, one: OpSignature) -> bool:
    """Say whether a dot multiplies one number with one for each that it gives."""
    left = reading.dimensions((one.operand_types or (None,))[0])
    if left is None:
        return False
    if reading.kinds[one.name] == _DOT:
        return math.prod(left[-1:]) == 1
    places = reading.numbers(one, "lhs_contracting_dimensions")
    return math.prod(left[at] for at in places if at < len(left)) == 1


def _reduces_nothing(reading: Reading, one: OpSignature) -> bool:
    """Say whether a reduce is over no dimension."""
    return not reading.numbers(one, "dimensions")


_DOTS = dict.fromkeys((_DOT, _DOT_GENERAL), _multiplies_one)
# Which sums take a single number, by what says so.
_OF_ONE = {
    **_DOTS,
    _CONVOLUTION: _convolves_one,
    _REDUCE: _reduces_one,
    _REDUCE_WINDOW: _moves_over_one,
}
# Which IREE does not begin with zero.
_AS_THEY_COME = {**_DOTS, _REDUCE: _reduces_nothing, _REDUCE_WINDOW: sums_up}


def _sums(
    such: Mapping[str, Callable[[Reading, OpSignature], bool]], reading: Reading
) -> Iterator[Visit]:
    """Yield the sums of floats of which a table says that they are such."""
    for visit in reading.walk.of(such):
        one = signature_of(reading, visit)
        if reading.gives(one, FLOATS) and such[reading.kinds[one.name]](reading, one):
            yield visit


def _adds_up_what_is_positive(reading: Reading, visit: Visit) -> bool:
    """Say whether what is reduced is no zero below zero."""
    if reading.kinds[visit.operation.name] not in {_REDUCE, _REDUCE_WINDOW} or visit.first is None:
        return False
    return reading.kinds[reading.walk.head(visit.first).name] in _POSITIVE


def _sums_with_zero(reading: Reading) -> Iterator[Visit]:
    """Yield the sums of something and zero, which XLA leaves out, or adds itself."""
    for number, (one, _) in reading.added.items():
        if one == 0 and math.copysign(1, one) > 0:
            yield reading.walk[number]
    # Between devices XLA:CPU begins with zero, which the specification does not.
    for visit in reading.walk.of([_REDUCE_SCATTER]):
        if reading.gives(visit.operation, FLOATS):
            yield visit
    for visit in _sums(_OF_ONE, reading):
        if not _adds_up_what_is_positive(reading, visit):
            yield visit


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


_SUMS = ops(_ADD, _SUBTRACT, _REDUCE_SCATTER, *_OF_ONE)
_ASKED = ops(*_ASKING, *_PERHAPS_ASKING)

SIGNS: dict[str, FormRule] = {
    "sum with zero where the sign of a zero matters": FormRule(
        partial(_loses_the_sign, _sums_with_zero), (_ASKED, _SUMS), across=True
    ),
    "sum that begins with no zero where the sign of a zero matters": FormRule(
        partial(_loses_the_sign, partial(_sums, _AS_THEY_COME)), (_ASKED, _SUMS), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
