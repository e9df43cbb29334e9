"""Values that are NaN whatever the arguments are, as far as constants say."""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, TypeAlias

from portable.prediction.form import kinds
from portable.prediction.signatures import FLOATS
from portable.prediction.simplified import (
    ConstantNumbers,
    Numbers,
    constant_added,
    constant_factor,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["nan_of"]

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE = (
    f"vhlo.{op}" for op in ("add", "subtract", "multiply", "divide")
)
_CONSTANT, _NEGATE, _SELECT = (f"vhlo.{op}" for op in ("constant", "negate", "select"))
_TURNS = kinds("cosine sine tan")
_SUMS = kinds("convolution dot dot_general einsum fft reduce reduce_window")
# What gives one of the numbers that it takes, whichever: infinities with their signs.
_PASSING = kinds(
    "broadcast broadcast_in_dim clamp concatenate convert dynamic_slice gather maximum minimum"
    " optimization_barrier pad reshape reverse select slice transpose"
)
# Bodies of reductions that give one of two numbers.
_CHOOSING = kinds("and maximum minimum or return")
# What gives no NaN for one, is computed apart, or gives what it runs gives: `Flow` follows that.
_ENDING = kinds(
    "all_gather all_reduce all_to_all case collective_broadcast collective_permute compare"
    " cross-replica-sum if is_finite reduce_scatter rng select sort while"
)
_ABOVE, _BELOW = 1, 2
_BOTH = _ABOVE | _BELOW
_TURNED = {0: 0, _ABOVE: _BELOW, _BELOW: _ABOVE, _BOTH: _BOTH}


_Makes: TypeAlias = "Callable[[Sequence[int], Sequence[ConstantNumbers]], bool]"


def _never(_taken: Sequence[int], _known: Sequence[ConstantNumbers]) -> bool:
    return False


def _always(_taken: Sequence[int], _known: Sequence[ConstantNumbers]) -> bool:
    return True


def _below(number: float) -> _Makes:
    return lambda _, known: known[0].least < number


def _divides_by(variance: int) -> _Makes:
    return lambda taken, known: any(taken) or known[variance].least < 0


# What ops make NaN of: which infinities their operands may have, and what is known of those that
# are constants; of how many operands.
_MAKES: Mapping[str, tuple[_Makes, int]] = {
    _ADD: (lambda taken, _: bool(taken[0] & _TURNED[taken[1]]), 2),
    _SUBTRACT: (lambda taken, _: bool(taken[0] & taken[1]), 2),
    _MULTIPLY: (
        lambda taken, known: any(taken[at] and known[1 - at].some_is_zero for at in range(2)),
        2,
    ),
    _DIVIDE: (
        lambda _, known: not any(one.finite and not one.some_is_zero for one in known[:2]),
        2,
    ),
    "vhlo.remainder": (
        lambda _, known: not all(one.finite for one in known[:2]) or known[1].some_is_zero,
        2,
    ),
    "vhlo.power": (lambda _, known: known[0].least <= 0, 2),
    **dict.fromkeys(kinds("log rsqrt sqrt"), (_below(0), 1)),
    "vhlo.log_plus_one": (lambda _, known: known[0].finite and known[0].least < -1, 1),
    **dict.fromkeys(_TURNS, (lambda taken, _: any(taken), 1)),
    **dict.fromkeys(kinds("bitcast_convert cholesky triangular_solve"), (_always, 1)),
    "vhlo.batch_norm_grad": (_divides_by(3), 5),
    "vhlo.batch_norm_inference": (_divides_by(4), 5),
}
_MAKING = frozenset({_CONSTANT, _NEGATE, *_MAKES}) | _SUMS | _PASSING


def nan_of(reading: Reading) -> set[Value]:
    """Return the values that are NaN whatever the arguments are.

    Args:
        reading: An artifact's ops.
    """
    flow, begins = reading.flow, _Begins(reading)
    nan = [(visit.number, 0) for visit in reading.walk.of(_MAKING) if begins.is_nan(visit)]
    if not nan:
        return set()
    keeping = frozenset(reading.kinds) - _ENDING
    found = flow.reached(nan, lambda _: True, keeping)
    # Of what is chosen at run time the compiler knows nothing; what is the same is not chosen.
    same = [
        (visit.number, 0)
        for visit in reading.walk.of([_SELECT])
        if found.issuperset(flow.operands(visit)[1:])
    ]
    return found | flow.reached(same, lambda _: True, keeping)


class _Begins:
    """Tells where NaN begins, visited in order.

    Args:
        reading: An artifact's ops.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._numbers = reading.floats
        self._merged = _Merged(self._numbers)
        # Which infinities there may be among the numbers that some ops give.
        self._infinite: dict[int, int] = {}
        # Of what constants alone give, what is NaN.
        self._nan: set[int] = set()

    def is_nan(self, visit: Visit) -> bool:
        """Say whether an op gives NaN of what is none, or by a choice between constants."""
        kind, number = self._reading.kinds[visit.operation.name], visit.number
        passes = kind in _PASSING and number in self._reading.folded
        if self._begins(visit, kind) or (
            passes and any(one and one[0] in self._nan for one in visit.sources)
        ):
            self._nan.add(number)
        return number in self._nan

    def _begins(self, visit: Visit, kind: str) -> bool:
        number = visit.number
        if kind == _CONSTANT:
            found = self._numbers(visit.operation)
            self._infinite[number] = _infinities(found)
            return found.has_nan
        if number not in self._reading.folded:
            return self._merged.is_nan(number, visit, kind)
        taken = [self._infinite.get(one[0], 0) if one else 0 for one in visit.sources]
        self._infinite[number] = self._given(visit, kind, taken)
        return self._makes(visit, kind, taken) and self._is_float(visit)

    def _is_float(self, visit: Visit) -> bool:
        results = visit.operation.results
        element = self._reading.element(results[0]) if results else ""
        return element.startswith((*FLOATS, "complex"))

    def _given(self, visit: Visit, kind: str, taken: Sequence[int]) -> int:
        """Return which infinities an op may give, of those that it takes."""
        any_of = _BOTH if any(taken) else 0
        if kind in _PASSING or kind == _ADD:
            return functools.reduce(operator.or_, taken, 0)
        if kind == _NEGATE:
            return _TURNED[taken[0]] if taken else 0
        if kind == _DIVIDE:
            divisor = visit.constant(visit.sources[-1]) if visit.sources else None
            return _BOTH if divisor and self._numbers(divisor).some_is_zero else any_of
        return any_of

    def _makes(self, visit: Visit, kind: str, taken: Sequence[int]) -> bool:
        known = [self._numbers(visit.constant(source)) for source in visit.sources]
        if kind in _SUMS:
            return any(taken) and self._sums(visit)
        makes, count = _MAKES.get(kind, (_never, 0))
        return len(known) >= count and makes(taken, known)

    def _sums(self, visit: Visit) -> bool:
        """Say whether an op adds up or multiplies what it takes, and not only chooses."""
        below = self._reading.walk.below(visit.number)
        inner = {self._reading.kinds[one.operation.name] for one in below}
        return not inner or not inner <= _CHOOSING


def _infinities(found: ConstantNumbers) -> int:
    """Return which infinities there are in a constant; none in one of many numbers."""
    return (math.inf in found.few) * _ABOVE | (-math.inf in found.few) * _BELOW


class _Merged:
    """What is added to a value, or what it is multiplied with, by constants one after another.

    Args:
        numbers: Tells the numbers of a constant.
    """

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._sums: dict[int, float] = {}
        self._products: dict[int, float] = {}

    def is_nan(self, number: int, visit: Visit, kind: str) -> bool:
        """Say whether an op brings a constant that makes NaN of those before.

        Args:
            number: That of the op.
            visit: The op.
            kind: Its name without its version.
        """
        if kind in (_ADD, _SUBTRACT):
            one, known = constant_added(visit, kind, self._numbers), self._sums
        elif kind == _MULTIPLY:
            one, known = constant_factor(visit, self._numbers), self._products
        else:
            return False
        if one is None:
            return False
        for source in visit.sources:
            if source and source[0] in known:
                one = known[source[0]] + one if known is self._sums else known[source[0]] * one
        known[number] = one
        return math.isnan(one)
