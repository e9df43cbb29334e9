"""Which values ops perhaps give as they take them: a compiler reduces them to those.

Enumerated on IREE 3.13.0, which folds a choice by a constant, both parts of a complex number, whole
slices, windows of one element, conditionals whose branches give the same, and more. What is not
known to change a value is taken for what does not.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from portable.prediction.computing import WHOLE
from portable.prediction.flow import INSIDE
from portable.prediction.form import SCATTERS, kinds
from portable.prediction.functions import CALLS
from portable.prediction.identities import ORDERS
from portable.prediction.loops import given_back
from portable.prediction.simplified import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from portable.bytecode.operations import Head
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

    _Known: TypeAlias = Mapping[Value, int]

__all__ = ["ANYTHING", "Reductions"]

_BARRIER, _RETURN, _WHILE = "vhlo.optimization_barrier", "vhlo.return", "vhlo.while"
_BRANCHING = kinds("case if")
_NOTHING: _Known = {}
ANYTHING: Value = (-1, -1)
"""What stands for any value."""
_MOST = 8  # values are looked at, of more it may be any
# How many ops may have changed a value, each a bit: one is never undone, of several perhaps each is
# by another.
_NONE, _ONE, _SEVERAL = 1, 2, 4
_PERHAPS = _NONE | _SEVERAL
# Ops whose result is never one of their operands.
_NEW = kinds(
    "abs batch_norm_grad batch_norm_inference batch_norm_training cbrt ceil cholesky constant"
    " cosine count_leading_zeros custom_call exponential exponential_minus_one fft floor iota"
    " is_finite log log_plus_one logistic popcnt rng rng_bit_generator round_nearest_afz"
    " round_nearest_even rsqrt sign sine sort sqrt tan tanh triangular_solve"
)
# What changes a value where it stands alone.
_CHANGING = kinds("negate not")
# What takes from the first operand alone what it gives.
_FROM_FIRST = kinds(
    "dynamic_broadcast_in_dim dynamic_gather dynamic_pad dynamic_reshape dynamic_slice gather pad"
    " real_dynamic_slice set_dimension_size slice"
)
_PRODUCTS = kinds("convolution dot dot_general dynamic_conv")
_MAXIMUM, _MINIMUM = "vhlo.maximum", "vhlo.minimum"
# What gives what it takes where the other operand is this number; of floats it is -0.0 that adds up
# to the same, and of what is subtracted 0.0. The commuting ones may take it first.
_NEUTRAL: Mapping[str, float] = {
    **dict.fromkeys(kinds("divide multiply power"), 1.0),
    **dict.fromkeys(kinds("add or subtract xor"), 0.0),
    **dict.fromkeys(kinds("shift_left shift_right_arithmetic shift_right_logical"), 0.0),
    "vhlo.and": -1.0,
    _MAXIMUM: -math.inf,
    _MINIMUM: math.inf,
}
_COMMUTING = kinds("add and maximum minimum multiply or xor")
# What gives what it takes twice.
_CHOOSING = kinds("and maximum minimum or")
_ADD, _AND, _CLAMP, _COMPARE = "vhlo.add", "vhlo.and", "vhlo.clamp", "vhlo.compare"
_IOTA = "vhlo.iota"
_REDUCE, _SELECT = "vhlo.reduce", "vhlo.select"
_REDUCE_WINDOW, _UPDATE = "vhlo.reduce_window", "vhlo.dynamic_update_slice"
_REVERSE, _SCATTER = "vhlo.reverse", SCATTERS[0].rpartition("_v")[0]
_BOOLEAN, _FLOATING = "bool_v1", ("f", "bf")
_OF_THREE = 3  # operands


class Reductions:
    """Follows through a program what ops perhaps give as they take it.

    What is known of a value is to which others it may be reduced, each with how many ops may have
    changed it. Those are arguments of main, what loops and barriers give, and what the body of a
    loop takes and changes: of that the number is the loop's, and the place counted as of arguments.

    Args:
        reading: An artifact's ops.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading, self._flow, self._walk = reading, reading.flow, reading.walk
        self._known: dict[Value, _Known] = {}
        self._begins: dict[int, Sequence[_Known]] = {}
        self._returned: set[int] = set()
        self._barriers: dict[tuple[object, ...], int] = {}
        self._same = given_back(reading)
        # Where the values of a body begin: those of functions in it, put in place, elsewhere.
        self._firsts = {
            self._walk.around[ends.number]: reading.firsts[ends.number]
            for ends in self._walk.of([_RETURN])
        }
        for visit in self._walk:
            self._look(visit)

    def may_be_one(self, visit: Visit, one: int, other: int) -> bool:
        """Say whether two operands of an op are perhaps reduced to the same value.

        One that a loop changes in each turn is none of those.

        Args:
            visit: The op.
            one: The number of an operand.
            other: That of the other.
        """
        main = self._reading.functions.main
        first, second = (
            {value for value in self.equal(visit, at) if value[1] >= 0 or value[0] in (main, -1)}
            for at in (one, other)
        )
        if ANYTHING in first | second:
            return bool(first and second)
        return not first.isdisjoint(second)

    def is_computed(self, visit: Visit, operand: int) -> bool:
        """Say whether an operand is surely computed, from more than constants.

        Args:
            visit: The op.
            operand: The number of the operand.
        """
        number, at = self._flow.operands(visit)[operand]
        if at < 0 or self.equal(visit, operand):
            return False
        kind = self._reading.kinds[self._walk.head(number).name]
        return kind == _IOTA or number not in self._reading.folded

    def equal(self, visit: Visit, operand: int) -> set[Value]:
        """Return the values that an operand perhaps is: of its type, in whatever shape.

        Args:
            visit: The op.
            operand: The number of the operand.
        """
        known, value = self._taken(visit)[operand], self._flow.operands(visit)[operand]
        wanted = self._kind_of(value)
        return {
            one
            for one, changes in known.items()
            if changes & _PERHAPS and self._kind_of(one) in (wanted, None)
        }

    def _kind_of(self, value: Value) -> tuple[str, int | None] | None:
        type_ = None if value == ANYTHING else self._flow.type(value)
        if type_ is None:
            return None
        return self._reading.element(type_), self._reading.content.pool.count(type_)

    def _look(self, visit: Visit) -> None:
        kind = self._reading.kinds[visit.operation.name]
        if kind == _RETURN:
            self._end(visit)
        elif kind in _BRANCHING or not visit.operation.results:
            return
        taken = self._taken(visit)
        if kind == _WHILE:
            self._begins[visit.number] = taken
        for at in range(len(visit.operation.results)):
            self._keep((visit.number, at), self._given(visit, kind, at, taken))

    def _end(self, ends: Visit) -> None:
        """Note what a branch, or the body of a loop, gives."""
        owner = self._walk.around[ends.number]
        kind = self._reading.kinds[self._walk.head(owner).name] if owner >= 0 else ""
        if kind not in _BRANCHING and kind != _WHILE:
            return
        is_first = owner not in self._returned
        self._returned.add(owner)
        if kind == _WHILE and is_first:  # the condition
            return
        chooses = kind in _BRANCHING and self._is_open(self._walk[owner])
        merge = _either if chooses else _any
        for at, given in enumerate(self._taken(ends)):
            before = self._known.get((owner, at), _NOTHING)
            is_alone = is_first and kind in _BRANCHING
            self._keep((owner, at), given if is_alone else merge((before, given)))

    def _keep(self, value: Value, known: _Known) -> None:
        """Note what is known of a value: of too much it may be anything."""
        if len(known) > _MOST:
            known = {ANYTHING: _NONE}
        if known or value in self._known:
            self._known[value] = known

    def _taken(self, visit: Visit) -> list[_Known]:
        """Return what is known of the operands of an op."""
        found = []
        pairs = zip(self._flow.operands(visit), visit.operands, strict=True)
        main = self._reading.functions.main
        for value, number in pairs:
            if value[1] >= 0:
                found.append(self._known.get(value, _NOTHING))
            elif value[1] > INSIDE:
                found.append({value: _NONE} if value[0] == main else _NOTHING)
            else:
                found.append(self._inside(visit, number))
        return found

    def _inside(self, visit: Visit, number: int) -> _Known:
        """Return what is known of a value that a body takes."""
        owner = self._walk.around[visit.number]
        for _ in range(_MOST):
            if owner < 0:
                break
            place = number - self._firsts.get(owner, number + 1)
            if 0 <= place < len(begins := self._begins.get(owner, ())):
                changes = (owner, place) not in self._same
                return {(owner, ~place): _NONE} if changes else begins[place]
            owner = self._walk.around[owner]
        return {ANYTHING: _NONE}

    def _given(self, visit: Visit, kind: str, at: int, taken: Sequence[_Known]) -> _Known:
        """Return what is known of a result of an op."""
        if kind == _BARRIER:
            return {(self._barrier(visit, taken), at): _NONE}
        if kind == _WHILE:
            return _any(({(visit.number, at): _NONE}, *taken[at : at + 1]))
        if kind in CALLS:
            return {ANYTHING: _NONE} if self._reading.reader else _NOTHING
        if not any(taken) or kind in _NEW:
            return _NOTHING
        rule = self._rules.get(kind)
        return _any(taken) if rule is None else rule(self, visit, taken)

    def _barrier(self, visit: Visit, taken: Sequence[_Known]) -> int:
        """Return the number of the first barrier that keeps the same: two are one to a compiler."""
        pairs = zip(self._flow.operands(visit), taken, strict=True)
        keeps = tuple(tuple(sorted(known.items())) or value for value, known in pairs)
        return self._barriers.setdefault(keeps, visit.number)

    def _arithmetic(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        """Return it for an op of two operands, of which one may be such that it changes nothing."""
        kind = self._reading.kinds[visit.operation.name]
        if len(taken) != len(("lhs", "rhs")):
            return _any(taken)
        chosen = _either(taken) if kind in _CHOOSING else _NOTHING
        left = self._beside(visit, kind, taken[0], 1)
        right = self._beside(visit, kind, taken[1], 0)
        if kind not in _COMMUTING:
            right = _changed(taken[1])
        twice = {value: changes for value, changes in chosen.items() if changes & _PERHAPS}
        return _any((left, right, twice))

    def _beside(self, visit: Visit, kind: str, taken: _Known, other: int) -> _Known:
        """Return what is known of an operand beside another."""
        value = self._flow.operands(visit)[other]
        constant = visit.constant(visit.sources[other])
        if constant is not None:
            return taken if _is_neutral(self._reading, kind, constant) else _changed(taken)
        return _changed(taken) if self._is_many(value) else taken

    def _is_many(self, value: Value) -> bool:
        """Say whether a value is another in each run, also to a compiler.

        It knows what y - y is of integers, and not of floats.
        """
        number, at = value
        if at < 0:
            return True
        kind, type_ = self._reading.kinds[self._walk.head(number).name], self._flow.type(value)
        if number in self._reading.folded or type_ is None:
            return False
        is_float = self._reading.element(type_).startswith(_FLOATING)
        return is_float and (kind in _NEW or (kind in _NEUTRAL and kind not in _CHOOSING))

    def _changes(self, _visit: Visit, taken: Sequence[_Known]) -> _Known:
        return _changed(_any(taken))

    def _first(self, _visit: Visit, taken: Sequence[_Known]) -> _Known:
        return taken[0]

    def _orders(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        """Return it for an op that may change the order of dimensions."""
        reading = self._reading
        order = reading.numbers(visit.operation, ORDERS[reading.kinds[visit.operation.name]])
        sizes = self._sizes(visit, 0)
        moved = [to for to, size in zip(order, sizes, strict=False) if size != 1]
        keeps = all(one < next_ for one, next_ in pairwise(moved))
        return taken[0] if keeps else _changed(taken[0])

    def _reverses(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        along, sizes = self._reading.numbers(visit.operation, "dimensions"), self._sizes(visit, 0)
        turned = any(sizes[at] != 1 for at in along if at < len(sizes))
        return _changed(taken[0]) if turned else taken[0]

    def _reduces(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        over, sizes = self._reading.numbers(visit.operation, "dimensions"), self._sizes(visit, 0)
        several = any(sizes[at] != 1 for at in over if at < len(sizes))
        return _NOTHING if several else _any(taken)

    def _looks_through_windows(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        sizes = self._reading.numbers(visit.operation, "window_dimensions")
        return _NOTHING if any(size != 1 for size in sizes) else _any(taken)

    def _multiplies(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        """Return it for a product: it is what it takes only where a constant is the other."""
        folded = [one is not None and one[0] in self._reading.folded for one in visit.sources]
        return _any(taken) if any(folded) else _NOTHING

    def _updates(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        """Return it for an update: of nothing, or of all."""
        types = [self._flow.type(one) for one in self._flow.operands(visit)[:2]]
        if types[0] == types[-1]:
            return _any(taken[:2])
        return taken[0] if self._reading.content.pool.count(types[-1]) == 0 else _NOTHING

    def _scatters(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        """Return it for a scatter: of nothing, or of all by constants."""
        operands = self._flow.operands(visit)
        into, last = self._flow.type(operands[0]), self._flow.type(operands[-1])
        indices = operands[len(operands) // 2]
        known = indices[1] >= 0 and indices[0] in self._reading.folded
        if self._reading.content.pool.count(last) == 0 or (known and into == last):
            return _any(taken)
        return _NOTHING

    def _compares(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        type_ = self._flow.type(self._flow.operands(visit)[0])
        is_boolean = type_ is not None and self._reading.element(type_) == _BOOLEAN
        return _any(taken) if is_boolean else _NOTHING

    def _selects(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        if self._reading.element(visit.operation.results[0]) == _BOOLEAN or len(taken) != _OF_THREE:
            return _any(taken)  # it may give that by which it chooses
        chosen = _either if self._is_open(visit) else _any
        return chosen(taken[1:])

    def _clamps(self, visit: Visit, taken: Sequence[_Known]) -> _Known:
        least, greatest = (visit.constant(visit.sources[at]) for at in (0, -1))
        if least is None or greatest is None or len(taken) != _OF_THREE:
            return _any(taken)
        sides = ((_MAXIMUM, least), (_MINIMUM, greatest))
        endless = all(_is_neutral(self._reading, kind, one) for kind, one in sides)
        return taken[1] if endless else _changed(taken[1])

    def _is_open(self, choosing: Visit) -> bool:
        """Say whether no compiler knows what the first operand is, by which an op chooses."""
        if not choosing.sources:
            return False
        value = self._flow.operands(choosing)[0]
        if value[1] < 0:
            return value[1] > INSIDE and value[0] == self._reading.functions.main
        made = self._walk[value[0]]
        operands = self._flow.operands(made)
        compares = self._reading.kinds[made.operation.name] == _COMPARE
        if not compares or made.number in self._reading.folded or len({*operands}) == 1:
            return False
        type_ = self._flow.type(operands[0])
        return type_ is not None and self._reading.element(type_).startswith(_FLOATING)

    def _sizes(self, visit: Visit, operand: int) -> Sequence[int]:
        type_ = self._flow.type(self._flow.operands(visit)[operand])
        return self._reading.dimensions(type_) or ()

    _rules: ClassVar[Mapping[str, Callable[[Reductions, Visit, Sequence[_Known]], _Known]]] = {
        **dict.fromkeys(_NEUTRAL, _arithmetic),
        **dict.fromkeys(_CHANGING, _changes),
        **dict.fromkeys(_FROM_FIRST, _first),
        **dict.fromkeys(ORDERS, _orders),
        **dict.fromkeys(_PRODUCTS, _multiplies),
        _CLAMP: _clamps,
        _COMPARE: _compares,
        _REDUCE: _reduces,
        _REDUCE_WINDOW: _looks_through_windows,
        _REVERSE: _reverses,
        _SCATTER: _scatters,
        _SELECT: _selects,
        _UPDATE: _updates,
    }


def _changed(known: _Known) -> _Known:
    """Return what is known of a value that one more op changes."""
    return {
        value: changes << 1 & (_ONE | _SEVERAL) | changes & _SEVERAL
        for value, changes in known.items()
    }


def _any(several: Iterable[_Known]) -> _Known:
    """Return what is known of what may be any of several values."""
    first, *others = [one for one in several if one] or [_NOTHING]
    if not others:
        return first
    found = dict(first)
    for one in others:
        for value, changes in one.items():
            found[value] = found.get(value, 0) | changes
    return found


def _either(several: Iterable[_Known]) -> _Known:
    """Return what is known of one of several values, of which none but the program says which."""
    first, *others = several
    for one in others:
        both = {
            value: first[value] & one[value] & _NONE | _SEVERAL
            for value in first.keys() & one.keys()
        }
        first = {**_changed(first), **_changed(one), **both}
    return first


def _is_neutral(reading: Reading, kind: str, constant: Head) -> bool:
    """Say whether a constant has everywhere the number with which an op changes nothing."""
    number = _NEUTRAL[kind]
    element = reading.element(constant.results[0])
    if element in WHOLE and kind in (_MAXIMUM, _MINIMUM):
        return {*reading.ends(constant)} <= _extremes(element)
    if element not in WHOLE and element not in FLOATS:
        return True  # perhaps
    if element in WHOLE:
        return {*reading.ends(constant)} <= (
            {number} if kind != _AND else {-1, *_extremes(element)}
        )
    signs = {(one, math.copysign(1.0, one)) for one in reading.floats(constant).few}
    return signs == {(number, -1.0 if kind == _ADD else math.copysign(1.0, number))}


def _extremes(element: str) -> set[int]:
    """Return the least and the greatest integer of a type, with a sign or without."""
    bits = int(element.removesuffix("_v1").lstrip("ui"))
    if element.startswith("u"):
        return {0, (1 << bits) - 1}
    return {-(1 << (bits - 1)), (1 << (bits - 1)) - 1}
