"""Forms of what XLA:CPU hands to YNNPACK, whose maximum and minimum lose NaN.

They are handed over with reductions of many elements, and with what is computed around these.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.prediction.bodies import LEAST_BY_YNNPACK
from portable.prediction.flow import INSIDE
from portable.prediction.form import FormRule, kinds, ops, repeated
from portable.prediction.functions import CALLS
from portable.prediction.products import left_and_contracted
from portable.prediction.simplified import FLOATS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["FUSED"]

_ADD, _SUBTRACT, _RETURN = "vhlo.add", "vhlo.subtract", "vhlo.return"
_DOT, _SPREAD = "vhlo.dot", "vhlo.broadcast_in_dim"
_PRODUCTS = kinds("dot dot_general")
_REDUCE, _FUNCTION = "vhlo.reduce", "vhlo.func"
_MAXIMUM = "vhlo.maximum"
_EXTREMES = kinds("maximum minimum")
_SUMMING = _EXTREMES | kinds("add")
_REDUCING = kinds("reduce reduce_window")
_CALLING = frozenset(CALLS)
_LOOPING = kinds("case if while")
# What XLA expands to reductions, of however many elements.
_NORMALIZING = kinds("batch_norm_grad batch_norm_training")
# What is handed over with a reduction, or becomes that where it is simplified.
_AROUND = kinds(
    "abs add batch_norm_grad batch_norm_inference batch_norm_training broadcast broadcast_in_dim"
    " ceil concatenate convert convolution cosine divide dot dot_general dynamic_broadcast_in_dim"
    " dynamic_conv dynamic_pad dynamic_reshape exponential exponential_minus_one floor log"
    " log_plus_one logistic maximum minimum multiply negate optimization_barrier pad power reduce"
    " reduce_precision reduce_window reshape reverse round_nearest_even rsqrt select sign sine"
    " slice sqrt subtract tan tanh transpose"
)
# What gives NaN where one operand is, and what else computes element by element.
_KEEPING = kinds("add convert divide exponential log multiply negate subtract")
_BY_ELEMENT = _KEEPING | _EXTREMES | kinds("compare is_finite select")
_SPREADING = kinds("broadcast_in_dim optimization_barrier reshape")
# What gives the number that it takes, in another shape or type.
_REPEATING = kinds("broadcast_in_dim convert reshape")
# How far a constant may be from where it is used.
_FARTHEST = 8
_WINDOWS = ("window_dimensions", "window_strides")
# Of a row in which a reduction lost a NaN: any numbers, NaN where it was, NaN throughout as it
# should be, and what is computed from that.
_LOST, _SOME, _ALL, _RIGHT = range(4)


def _is_many(reading: Reading, types: Sequence[int]) -> bool:
    """Say whether one of some tensors may have as many floats as are handed over."""
    floats = [type_ for type_ in types if reading.element(type_) in FLOATS]
    counts = map(reading.content.pool.count, floats)
    return any(count is None or count >= LEAST_BY_YNNPACK for count in counts)


def _types(reading: Reading, visit: Visit) -> list[int]:
    """Return the types of what an op takes and gives."""
    taken = map(reading.flow.type, reading.flow.operands(visit))
    return [*visit.operation.results, *(type_ for type_ in taken if type_ is not None)]


def _reductions(reading: Reading, by: frozenset[str]) -> Iterator[Visit]:
    """Yield the reductions of many floats in whose bodies one of some ops is, each once."""
    walk, found = reading.walk, set[int]()
    for inner in walk.of(by | _CALLING):
        number = walk.around[inner.number]
        if number in found or number < 0 or number in reading.settled:
            continue
        found.add(number)
        visit = walk[number]
        kind = reading.kinds[visit.operation.name]
        if kind in _REDUCING and _is_many(reading, _types(reading, visit)):
            over = reading.numbers(visit.operation, "dimensions")
            if over if kind == _REDUCE else _are_apart(reading, visit):
                yield visit


def _are_apart(reading: Reading, visit: Visit) -> bool:
    """Say whether no two windows have an element in common; one alone is a reduction of all."""
    counts = reading.dimensions(next(iter(visit.operation.results), None)) or ()
    sizes, strides = (
        repeated(reading.numbers(visit.operation, name), len(counts)) for name in _WINDOWS
    )
    of = zip(sizes, strides, counts, strict=False)
    return all(size in (1, stride) or count == 1 for size, stride, count in of)


def _may_be_nan(reading: Reading, visit: Visit) -> bool:
    """Say whether one of what an op takes is not known to be a number."""
    for source, value in zip(visit.sources, reading.flow.operands(visit), strict=True):
        constant = visit.constant(source)
        is_open = constant is None or reading.floats(constant).has_nan
        if is_open and reading.finite.at(value) == math.inf:
            return True
    return False


def _reduces_by_extremes(reading: Reading) -> bool | None:
    """Find perhaps a reduction of many floats by maximum or minimum, of which one is NaN.

    One that is subtracted from the same floats, as in a softmax, is none where the sum of their
    exponentials has the NaN again.
    """
    uses: Mapping[int, Sequence[Visit]] | None = None
    for visit in _reductions(reading, _EXTREMES):
        if _may_be_nan(reading, visit):
            uses = _uses(reading) if uses is None else uses
            if not _is_made_good(reading, visit, uses):
                return None
    return False


def _uses(reading: Reading) -> Mapping[int, Sequence[Visit]]:
    """Return, by the numbers of operations, those that take their results."""
    uses: dict[int, list[Visit]] = {}
    for visit in reading.walk:
        for number in {source[0] for source in visit.sources if source}:
            uses.setdefault(number, []).append(visit)
    return uses


def _is_made_good(reading: Reading, reduced: Visit, uses: Mapping[int, Sequence[Visit]]) -> bool:
    """Say whether all that is computed from a reduction has the NaN again that this lost."""
    is_reduce = reading.kinds[reduced.operation.name] == _REDUCE
    if not is_reduce or reduced.operation.results[1:] or not reduced.operands:
        return False
    known = {reduced.number: _LOST}
    waiting = {one.number: one for one in uses.get(reduced.number, ())}
    while waiting:
        user = waiting.pop(min(waiting))  # in their order: what it takes is known
        state = _becomes(reading, reduced, user, known)
        if state is None:
            return False
        if state != _RIGHT:
            known[user.number] = state
            waiting |= {one.number: one for one in uses.get(user.number, ())}
    return True


def _becomes(reading: Reading, reduced: Visit, user: Visit, known: Mapping[int, int]) -> int | None:
    """Return what the result of an op is; None where the NaN may be lost for good."""
    kind = reading.kinds[user.operation.name]
    states = [known.get(source[0]) if source else None for source in user.sources]
    found = {state for state in states if state is not None}
    if kind in _SPREADING:
        state = found.pop()
        if state != _SOME and _is_along(reading, reduced, user, kind):
            return state
        return _RIGHT if state == _ALL else None
    if kind in _KEEPING and found & {_ALL, _SOME} and _has_floats(reading, user):
        return max(found)
    if found == {_ALL}:
        return _RIGHT
    if kind == _REDUCE:
        return _ALL if _sums_rows(reading, reduced, user, states) else None
    values = reading.flow.operands(user)
    if kind == _SUBTRACT and values[0] == reading.flow.operands(reduced)[0]:
        return _SOME
    sources = zip(user.sources, states, strict=True)
    others = [source for source, state in sources if state is None]
    constant = all(source and source[0] in reading.settled for source in others)
    return _LOST if kind in _BY_ELEMENT and constant else None


def _has_floats(reading: Reading, visit: Visit) -> bool:
    """Say whether the result of an op may be NaN."""
    return all(reading.element(type_) in FLOATS for type_ in visit.operation.results)


def _is_along(reading: Reading, reduced: Visit, user: Visit, kind: str) -> bool:
    """Say whether an op leaves each element of a reduction at its row."""
    of = reading.flow.type(reading.flow.operands(reduced)[0])
    shape = reading.dimensions(of) or ()
    gone = {*reading.numbers(reduced.operation, "dimensions")}
    kept = [at for at in range(len(shape)) if at not in gone]
    taken, given = (
        reading.dimensions(type_) or ()
        for type_ in (
            reading.flow.type(reading.flow.operands(user)[0]),
            reading.result(user.operation),
        )
    )
    if kind == _SPREAD:
        every = [*range(len(shape))]
        places = [*reading.numbers(user.operation, "broadcast_dimensions")]
        return len(given) == len(shape) and places == (every if len(taken) == len(shape) else kept)
    with_ones = [1 if at in gone else size for at, size in enumerate(shape)]
    return [*given] in ([*taken], with_ones, [shape[at] for at in kept])


def _sums_rows(reading: Reading, reduced: Visit, user: Visit, states: Sequence[int | None]) -> bool:
    """Say whether an op reduces by add alone, over what the other reduction is over."""
    over, also = ({*reading.numbers(one.operation, "dimensions")} for one in (reduced, user))
    around, first = reading.walk.around, user.number + 1
    body = [number for number in range(first, first + 2) if number < len(reading.walk)]
    inside = [reading.kinds[reading.walk.head(number).name] for number in body]
    is_sum = inside == [_ADD, _RETURN] and {around[number] for number in body} == {user.number}
    return [*states] == [_SOME, None] and over == also and is_sum


def _extremes_in_reductions(reading: Reading) -> bool | None:
    """Find perhaps a maximum or minimum of many floats, of which one is NaN, around a reduction.

    That is one of many floats by add, maximum or minimum, or a product of them without rows and
    columns, which is summed.
    """
    reductions = [*_reductions(reading, _SUMMING)]
    reductions += [one for one in reading.walk.of(_PRODUCTS) if _is_only_summed(reading, one)]
    reductions += reading.walk.of(_NORMALIZING)
    if not reductions:
        return False
    clamps = _clamps(reading)
    extremes = [
        visit
        for visit in reading.walk.of(_EXTREMES)
        if visit.number not in reading.settled | clamps
        and _is_many(reading, visit.operation.results)
        and _may_be_nan(reading, visit)
    ]
    if not extremes:
        return False
    groups = _Groups(reading)
    around = {*map(groups.of, reductions)}
    return None if any(groups.of(visit) in around for visit in extremes) else False


def _clamps(reading: Reading) -> set[int]:
    """Return the extremes, by their numbers, of which XLA makes clamps: these keep NaN.

    They are a maximum and a minimum one after the other, with constants of which that of the
    minimum is greater, and the first is used for nothing else.
    """
    constants = _Constants(reading)
    bounds: dict[int, tuple[str, float]] = {}
    pairs: dict[int, set[int]] = {}
    for visit in reading.walk.of(_EXTREMES):
        kind, values = reading.kinds[visit.operation.name], reading.flow.operands(visit)
        for value, other in zip(values, reversed(visit.sources), strict=True):
            bound = constants.of(value)
            if bound is None:
                continue
            bounds[visit.number] = kind, bound
            first = bounds.get(other[0]) if other else None
            if other and first and first[0] != kind:
                low, high = (bound, first[1]) if kind == _MAXIMUM else (first[1], bound)
                if low < high:
                    pairs.setdefault(other[0], set()).add(visit.number)
    uses = _uses(reading) if pairs else {}
    alone = {one for one, seconds in pairs.items() if {u.number for u in uses[one]} == seconds}
    return alone.union(*pairs.values())


class _Constants:
    """The numbers that values are throughout, also in functions that take them.

    Args:
        reading: An artifact's ops.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._before = reading.flow.before
        self._known: dict[Value, float | None] = {}

    def of(self, value: Value, turns: int = _FARTHEST) -> float | None:
        """Return the number that a value is throughout; None where that is not known."""
        if value not in self._known:
            self._known[value] = None  # what is made of itself is no constant
            self._known[value] = self._found(value, turns - 1) if turns else None
        return self._known[value]

    def _found(self, value: Value, turns: int) -> float | None:
        reading, (number, at) = self._reading, value
        if at < 0:
            is_given = number != reading.functions.main and at != INSIDE
            made_of = self._before.get(value, ()) if is_given else ()
            found = {self.of(one, turns) for one in made_of}
            return found.pop() if len(found) == 1 else None
        visit = reading.walk[number]
        if constant := visit.constants.get(number):
            return reading.floats(constant).only
        is_same = reading.kinds[visit.operation.name] in _REPEATING and _has_floats(reading, visit)
        values = reading.flow.operands(visit) if is_same else ()
        return self.of(values[0], turns) if values else None


def _is_only_summed(reading: Reading, visit: Visit) -> bool:
    """Say whether a product of many floats has no rows and no columns."""
    types = _types(reading, visit)
    if reading.kinds[visit.operation.name] == _DOT:
        return [*map(reading.content.pool.count, types[:1])] == [1] and _is_many(reading, types)
    parts = [
        left_and_contracted(reading, visit.operation, side, shape)
        for side, type_ in zip(("lhs", "rhs"), types[1:], strict=False)
        if (shape := reading.dimensions(type_)) is not None
    ]
    return all(free == 1 < over for free, over in parts) and _is_many(reading, types)


class _Groups:
    """Which ops are computed with which others, one giving what another takes.

    Args:
        reading: An artifact's ops.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._leaders: dict[Value, Value] = {}
        flow, walk = reading.flow, reading.walk
        for visit in walk.of(_AROUND):
            for value in flow.operands(visit):
                around = walk.around[visit.number]
                self._join((visit.number, 0), value if value[1] != INSIDE else (around, 0))
        for value, made_of in flow.before.items():
            for one in made_of:
                self._join(value, one)

    def of(self, visit: Visit) -> Value:
        """Return what stands for all ops that are computed with one."""
        return self._leader((visit.number, 0))

    def _join(self, *values: Value) -> None:
        ones = [*map(self._joined, values)]
        if None not in ones:
            first, second = (self._leader(one) for one in ones if one)
            self._leaders[first] = second

    def _joined(self, value: Value) -> Value | None:
        """Return what stands for a value, one for all results of an op; None for no such op."""
        number, at = value
        kind = self._reading.kinds[self._reading.walk.head(number).name] if number >= 0 else ""
        if kind in _AROUND | _LOOPING and number not in self._reading.settled:
            return number, 0
        is_handed = kind in _CALLING or (kind == _FUNCTION and at != INSIDE)
        return value if is_handed and (at >= 0 or number != self._reading.functions.main) else None

    def _leader(self, value: Value) -> Value:
        while (leader := self._leaders.get(value, value)) != value:
            self._leaders[value] = value = self._leaders.get(leader, leader)
        return value


FUSED: dict[str, FormRule] = {
    "reduction of many floats by maximum or minimum": FormRule(
        _reduces_by_extremes, (ops(*_REDUCING), ops(*_EXTREMES))
    ),
    "maximum or minimum of many floats around a reduction": FormRule(
        _extremes_in_reductions, (ops(*_EXTREMES), ops(*_REDUCING, *_NORMALIZING, *_PRODUCTS))
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
