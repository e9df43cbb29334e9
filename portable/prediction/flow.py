"""Where a value goes that functions and bodies only hand on: by calls, returns, loops, branches.

XLA puts functions into their callers, so that what meets there is one expression to it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from portable.bytecode.operations import IN_FUNCTION
from portable.prediction.form import kinds
from portable.prediction.functions import CALLS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["INSIDE", "Flow", "Value", "by_the_first"]

Value: TypeAlias = "tuple[int, int]"
"""A result of an operation: the number of that and which of its results. Of a function these are
what it returns; its arguments are counted from -1 down, and what bodies in it take is one value."""

INSIDE = -(1 << 62)
"""The place of what bodies in a function take, in a `Value`."""

_FUNCTION, _RETURN, _WHILE = "vhlo.func", "vhlo.return", "vhlo.while"
# What takes values that its bodies do not.
_BRANCHING = kinds("case if")
_OUTSIDE = 0


class Flow:
    """Follows values through a program.

    Args:
        reading: An artifact's ops.
    """

    def __init__(self, reading: Reading) -> None:
        self._walk, self._kinds = reading.walk, reading.kinds
        self._functions: list[int] = []  # around each operation, that it stands in
        self._taken: dict[int, Sequence[int]] = {}
        self._counts: dict[int, int] = {}  # of these
        self._next: dict[Value, list[Value]] = {}
        # What the conditions of loops give: it is no result, and decides all of them.
        self._conditions: dict[int, Sequence[Value]] = {}
        for visit in self._walk.of([_FUNCTION]):
            kind = reading.value(visit.operation, "function_type").get("value")
            self._taken[visit.number] = reading.sides(kind)[0]
            self._counts[visit.number] = len(self._taken[visit.number])
        function = _OUTSIDE
        for visit in self._walk:
            kind = reading.kinds[visit.operation.name]
            function = visit.number if kind == _FUNCTION else function
            self._functions.append(function)
            if kind in CALLS:
                called = reading.functions.called(visit.number)
                self._call(visit, called[0] if len(called) == 1 else _OUTSIDE)
            elif kind == _RETURN:
                self._return(visit, reading.kinds)
            elif visit.operation.regions and kind not in _BRANCHING:
                self._enter(visit, is_loop=kind == _WHILE)

    def _call(self, visit: Visit, callee: int) -> None:
        for at, value in enumerate(self.operands(visit)):
            self._hand(value, (callee, ~at))
        for at in range(len(visit.operation.results)):
            self._hand((callee, at), (visit.number, at))

    def _return(self, visit: Visit, kinds: Sequence[str]) -> None:
        function = self._functions[visit.number]
        inside = visit.operation.depth > IN_FUNCTION
        owner = self._walk.around[visit.number] if inside else function
        is_loop = inside and kinds[self._walk.head(owner).name] == _WHILE
        if is_loop and owner not in self._conditions:  # the first of two regions
            self._conditions[owner] = [*self.operands(visit)]
            return
        for at, value in enumerate(self.operands(visit)):
            self._hand(value, (owner, at))
            if inside:  # the next turn takes it
                self._hand(value, (function, INSIDE))

    def _enter(self, visit: Visit, *, is_loop: bool) -> None:
        function = self._functions[visit.number]
        for at, value in enumerate(self.operands(visit)):
            self._hand(value, (function, INSIDE))
            if is_loop:  # of no turn
                self._hand(value, (visit.number, at))

    def _hand(self, value: Value, to: Value) -> None:
        _lead(self._next, value, to)

    def operands(self, visit: Visit) -> list[Value]:
        """Return the values that an operation takes."""
        results = [source for source in visit.sources if source]
        if len(results) == len(visit.sources):
            return results
        function = self._functions[visit.number]
        # In a function, which uses nothing from outside, its arguments are counted first; some
        # bodies count their own.
        taken = 0 if self._walk.apart[visit.number] else self._counts.get(function, 0)
        return [
            source or (function, ~operand if operand < taken else INSIDE)
            for source, operand in zip(visit.sources, visit.operands, strict=True)
        ]

    def type(self, value: Value) -> int | None:
        """Return the type of a result of an operation or of an argument of a function."""
        number, at = value
        types = self._walk.head(number).results if at >= 0 else self._taken.get(number, ())
        place = at if at >= 0 else ~at
        return types[place] if place < len(types) else None

    def is_argument(self, value: Value) -> bool:
        """Say whether a value is an argument of the program: of a function that nothing calls."""
        return INSIDE < value[1] < 0 and value not in self.before

    @cached_property
    def before(self) -> Mapping[Value, Sequence[Value]]:
        """For each value that is handed on to become another, those that become it."""
        before: dict[Value, list[Value]] = {}
        for value, following in self._next.items():
            for one in following:
                _lead(before, one, value)
        return before

    def behind(
        self,
        ends: Collection[Value],
        apart: Collection[str],
        ignored: Mapping[int, Collection[int]] = {},
        unrun: Collection[int] = (),
    ) -> set[Value]:
        """Return the values that some are computed from, or are handed on to become.

        Args:
            ends: Those at which it begins.
            apart: The ops of which no operand counts for a result, without their versions.
            ignored: By the numbers of operations, which of their operands make no difference.
            unrun: Loops that run no turn: they give what they begin with.
        """
        walk, before = self._walk, self.before
        found, seen = set(ends), set[int]()
        waiting = [*found]
        while waiting:
            value = waiting.pop()
            behind, (number, at) = [*before.get(value, ())], value
            if at >= 0 and number in unrun:
                behind = self.operands(walk[number])[at : at + 1]
            elif at >= 0 and number not in seen:
                seen.add(number)
                behind += self._conditions.get(number, ())
                if self._kinds[walk.head(number).name] not in apart:
                    left_out = ignored.get(number, ())
                    taken = enumerate(self.operands(walk[number]))
                    behind += [one for place, one in taken if place not in left_out]
            new = {*behind} - found
            found |= new
            waiting += new
        return found

    def reached(
        self, starts: Collection[Value], passes: Callable[[int], bool], of: Iterable[str]
    ) -> set[Value]:
        """Return the values that some become: handed on, as by calls, or by ops that pass them.

        Args:
            starts: Those from which it begins.
            passes: Whether such an op makes of an operand, by its number, what is looked for too.
            of: The ops that may, as `Walk.of` takes them.
        """
        passing: dict[Value, list[Value]] = {}
        # What a call gives is followed through what it runs.
        for visit in self._walk.of([*{*of} - CALLS.keys()]) if starts else ():
            results = [(visit.number, at) for at in range(len(visit.operation.results))]
            for at, value in enumerate(self.operands(visit)):
                if passes(at):
                    passing.setdefault(value, []).extend(results)
        return _led_to(starts, self._next, passing)


def _lead(edges: dict[Value, list[Value]], value: Value, to: Value) -> None:
    """Add an edge. Most values have one: a list made with it is half as large as one that grows."""
    if value in edges:
        edges[value].append(to)
    else:
        edges[value] = [to]


def by_the_first(operand: int) -> bool:
    """Say that an op passes its first operand, for `Flow.reached`."""
    return operand == 0


def _led_to(starts: Collection[Value], *edges: Mapping[Value, Iterable[Value]]) -> set[Value]:
    """Return some values and all to which edges lead from them."""
    found = set(starts)
    waiting = [*found]
    while waiting:
        value = waiting.pop()
        new = {one for each in edges for one in each.get(value, ())} - found
        found |= new
        waiting += new
    return found
