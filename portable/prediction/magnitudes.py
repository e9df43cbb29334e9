"""How great the numbers are that ops give whatever the arguments are, as far as constants say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.prediction.computing import WHOLE
from portable.prediction.estimates import Estimates
from portable.prediction.form import kinds
from portable.prediction.simplified import FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.bytecode.operations import Head
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["Magnitudes"]

_CLAMP, _CONSTANT, _CONVERT = "vhlo.clamp", "vhlo.constant", "vhlo.convert"
_EXPONENTIAL = "vhlo.exponential"
_IOTA, _MULTIPLY, _REMAINDER = "vhlo.iota", "vhlo.multiply", "vhlo.remainder"
_SELECT = "vhlo.select"
# What gives numbers no greater than those that it takes, than one, and than their sum.
_PASSING = kinds(
    "abs broadcast broadcast_in_dim concatenate floor maximum minimum negate"
    " optimization_barrier reshape reverse select slice transpose"
)
_UP_TO_ONE = kinds("cosine logistic sign sine tanh")
_SUMS = kinds("add subtract")
_COMPUTED = frozenset(
    {_CLAMP, _CONSTANT, _CONVERT, _EXPONENTIAL, _IOTA, _MULTIPLY, _REMAINDER}
).union(_PASSING, _UP_TO_ONE, _SUMS)
# What makes great unsigned integers of small ones below zero.
_WRAPPING = kinds("convert negate subtract")
# The greatest integer of each type, or the magnitude of its least.
_RANGES = {"bool_v1": 1.0} | {
    one: 2.0 ** (bits if one.startswith("u") else bits - 1)
    for one in WHOLE
    for bits in [int(one.removesuffix("_v1").lstrip("ui"))]
}
# How much greater rounding makes a result: bf16 has eight bits.
_ROUNDED = 1 + 2.0**-7
# The greatest exponent of which a float is less than infinity.
_HIGHEST = 709


class Magnitudes(Estimates[float]):
    """How great numbers are, of those values of which that is known; else infinity.

    Args:
        reading: An artifact's ops.
        finite: Whether it is known only of those that are never NaN; else NaN is left out.
    """

    def __init__(self, reading: Reading, *, finite: bool = False) -> None:
        self._finite = finite
        super().__init__(reading)

    @property
    def computed(self) -> frozenset[str]:
        """The ops of whose results something may be known."""
        return _COMPUTED

    def at(self, value: Value) -> float:
        """Return how great a value is; infinity where that is not known."""
        known = self._known.get(value)
        if known is not None:
            return known
        type_ = self._reading.flow.type(value)
        return math.inf if type_ is None else _RANGES.get(self._reading.element(type_), math.inf)

    def _joined(self, ones: Sequence[float]) -> float | None:
        size = max(ones)
        return size if size < math.inf else None

    def _given(self, visit: Visit) -> Sequence[float | None]:
        results = visit.operation.results
        if not results or results[1:]:
            return []
        size = self._result(visit)
        return [size if size < math.inf else None]

    def _result(self, visit: Visit) -> float:
        """Return how great the result of an op is."""
        kind, reading = self._reading.kinds[visit.operation.name], self._reading
        result = visit.operation.results[0]
        element = reading.element(result)
        if visit.number in visit.constants:
            size = self._constant(visit.constants[visit.number], element)
        elif kind == _IOTA:
            size = float(max(reading.dimensions(result) or (), default=math.inf))
        elif kind == _CONVERT:
            size = self._converted(visit, element)
        elif kind in _WRAPPING and element.startswith("u"):
            size = math.inf
        else:
            size = self._computed(kind, self.of(visit), whole=element in WHOLE)
        # What a float does not hold is infinite; an integer is another.
        if element in FLOATS:
            return size if size <= FLOATS[element].greatest else math.inf
        return min(size, _RANGES[element]) if element in _RANGES else math.inf

    def _constant(self, constant: Head, element: str) -> float:
        if element in FLOATS:
            numbers = self._reading.floats(constant)
            return numbers.largest if numbers.finite else math.inf
        return float(max(map(abs, self._reading.ends(constant)))) if element in WHOLE else math.inf

    def _converted(self, visit: Visit, element: str) -> float:
        """Return how great what is converted is: of NaN, and below zero, it is any integer."""
        values = self._reading.flow.operands(visit)
        type_ = self._reading.flow.type(values[0]) if values else None
        whole = type_ is not None and self._reading.element(type_) in _RANGES
        if type_ is None or (element in _RANGES and (not whole or element.startswith("u"))):
            return math.inf
        return self.at(values[0]) * _ROUNDED

    def _computed(self, kind: str, taken: Sequence[float], *, whole: bool) -> float:
        """Return how great the result of an op is, by what it takes.

        As floats: a product of a product would be an integer of twice as many digits.
        """
        known = bool(taken) and max(taken) < math.inf
        rounded = 1 if whole else _ROUNDED
        if kind in _UP_TO_ONE and (known or not self._finite):
            return 1
        if kind == _CLAMP and len(taken) == len(("min", "operand", "max")):
            return max(taken[0], taken[2]) if known or not self._finite else math.inf
        if kind == _REMAINDER and taken and not self._finite:
            return taken[-1]
        if not known:
            return math.inf
        if kind in _PASSING:
            return max(taken[1:] if kind == _SELECT else taken)
        if kind in _SUMS:
            return sum(taken) * rounded
        if kind == _MULTIPLY:
            return math.prod(taken) * rounded
        if kind == _EXPONENTIAL and taken[0] <= _HIGHEST:
            return math.exp(taken[0]) * rounded
        return math.inf
