"""Ops of complex numbers that a Release computes by their parts, of which one overflows, or is NaN.

Of a part that is great, zero or NaN, Releases give other numbers.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from portable.prediction.form import FormRule, kinds, ops, types

if TYPE_CHECKING:
    from collections.abc import Mapping

    from portable.prediction.forms import Reading

__all__ = ["BY_PARTS"]

_COMPLEX, _MADE_OF_PARTS = "complex_v1", "vhlo.complex_v1"
_ABS = "vhlo.abs"
_FINITE = math.nextafter(math.inf, 0)
# Up to which size of their parts ops are right on IREE. Others are wrong of zeros too.
_ON_IREE = {f"vhlo.{name}": 0.0 for name in ("atan2", "divide", "log", "power", "rsqrt", "sqrt")}
_ON_IREE |= {"vhlo.log_plus_one": 0.9}
_ON_IREE |= dict.fromkeys(kinds("logistic tan tanh"), 1e3)
_ON_IREE |= dict.fromkeys(kinds("cosine exponential exponential_minus_one sine"), 80.0)
_ON_IREE |= dict.fromkeys([_ABS, "vhlo.multiply"], 1e18)
# Of these XLA makes NaN of an infinite part, and IREE what the other parts give.
_ON_IREE |= dict.fromkeys(kinds("convolution dot dot_general einsum"), 1e18)


def _takes_great_parts(
    most: Mapping[str, float], reading: Reading, *, folded: bool = False, finite: bool = False
) -> bool | None:
    """Find perhaps an op of complex numbers whose parts are not known to be small enough.

    Args:
        most: Up to which size parts are, by the ops that take them.
        reading: An artifact's ops.
        folded: Whether all that is computed from constants alone is right.
        finite: Whether a part may not be NaN either.
    """
    flow, walk = reading.flow, reading.walk
    magnitudes = reading.finite if finite else reading.magnitudes
    constants = reading.folded if folded else reading.settled
    for visit in walk.of(most):
        kind = reading.kinds[visit.operation.name]
        if kind != _ABS and not reading.gives(visit.operation, (_COMPLEX,)):
            continue
        for value in flow.operands(visit):
            type_ = flow.type(value)  # of what a body takes it is not known
            is_other = type_ is not None and reading.element(type_) != _COMPLEX
            if value[0] in constants or is_other:
                continue
            maker = walk[value[0]] if value[1] >= 0 else None
            made = maker is not None and maker.name == _MADE_OF_PARTS
            parts = magnitudes.of(maker) if maker and made else [math.inf]
            if max(parts, default=math.inf) > most[kind]:
                return None
    return False


def _up_to(most: Mapping[str, float], *, folded: bool = False, finite: bool = False) -> FormRule:
    """Return how to find ops of complex numbers, see `_takes_great_parts`."""
    find = partial(_takes_great_parts, most, folded=folded, finite=finite)
    return FormRule(find, (ops(*most), types([_COMPLEX])))


BY_PARTS: dict[str, FormRule] = {
    "op of complex numbers of which parts may be too great for its formula, or zero": _up_to(
        _ON_IREE, folded=True
    ),
    "exponential of complex numbers that may have great parts": _up_to({"vhlo.exponential": 80.0}),
    "exponential_minus_one or log_plus_one of complex numbers that may have great parts": _up_to(
        {"vhlo.exponential_minus_one": 80.0, "vhlo.log_plus_one": 1e18}
    ),
    "sqrt of complex numbers that may have a part of zero, or great ones": _up_to(
        {"vhlo.sqrt": 0.0}
    ),
    "power of complex numbers that may have a part of zero, or great ones": _up_to(
        {"vhlo.power": 0.0}
    ),
    "abs, log, log_plus_one, power or sign of complex numbers that may be NaN in part": _up_to(
        dict.fromkeys(kinds("abs log log_plus_one power sign"), _FINITE), finite=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
