"""A program as compilers make it first: functions in place, and no op that changes nothing.

What a form is about may stand in several functions, or have such an op between its ops. Of a
conditional that a constant decides only the branch is left, in its place, and so is the body of a
loop that runs once.
"""

from __future__ import annotations

import itertools
import operator
from array import array
from bisect import bisect_right
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.entries import Blob
from portable.bytecode.operations import IN_FUNCTION, Operation
from portable.prediction.computing import integers
from portable.prediction.form import kinds
from portable.prediction.functions import CALLS
from portable.prediction.identities import CHANGING, RESHAPE, changes_nothing, undoes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from portable.bytecode.operations import Head, Source
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["Canonical", "branch_ends", "counted_to", "is_canonical", "may_not_run"]

_RETURN = "vhlo.return"
_OUTERMOST = 0
# A function that is called often is in place as often: no more than so many ops, operands and
# results, or those of the program once more.
_MOST_MORE = 8_000
# Values that are no results, as arguments of blocks, are known by their numbers: those of each
# function in place begin at a multiple of this, those of bodies that count their own in the middle.
_NUMBERS = 1 << 32
_IN_BODY = _NUMBERS >> 1
_NOWHERE = -1
_IF, _CASE, _WHILE, _CONSTANT = "vhlo.if", "vhlo.case", "vhlo.while", "vhlo.constant"
_CONDITIONALS = frozenset({_IF, _CASE, _WHILE})
# The regions of a loop, and what counts in them.
_CONDITION, _BODY = range(2)
_COMPARE, _ADD = "vhlo.compare", "vhlo.add"
_COMPARISONS: Mapping[str, Callable[[object, object], bool]] = {
    name.upper(): getattr(operator, name) for name in ("eq", "ne", "ge", "gt", "le", "lt")
}
# What may stand between a constant and what it decides, of which there are no more than so many.
# TensorFlow 2.21 leaves a barrier out before it looks at the conditional.
_PASSING = kinds("broadcast_in_dim convert optimization_barrier reshape slice transpose")
_MOST_PASSED = 8
# So many bytes an integer has at most: of more are several.
_WIDEST = 8


class _Place(NamedTuple):
    """What an operand is: a result, or a value that is none; and by which number."""

    source: Source | None
    number: int


class _Extent(NamedTuple):
    """The operations of a function, by their numbers in the walk."""

    first: int
    end: int


class _Branch(NamedTuple):
    """A branch that is being put in place.

    Args:
        conditional: The number of the conditional.
        starts: The number of its first operation.
        ends: The number of the operation that ends it.
        resume: The number of what stands behind the conditional.
        first: Where the numbers of its values begin: those of each branch at the same.
        shift: How much greater they are than before.
        given: What its arguments are.
    """

    conditional: int
    starts: int
    ends: int
    resume: int
    first: int
    shift: int
    given: Sequence[_Place]


class _Frame:
    """A function that is being put in place.

    Args:
        function: Which.
        given: What its arguments are; those of main stay what they are.
        depth: How much deeper its operations are than before.
        shift: How much greater the numbers of its values are than before.
        call: The number of the call in the function around it.
    """

    def __init__(
        self, function: _Extent, given: list[_Place], depth: int, shift: int, call: int
    ) -> None:
        self.function, self.given, self.depth, self.shift = function, given, depth, shift
        self.call, self.next = call, function.first
        # Of its operations, and of calls that are replaced what each gives.
        self.numbers = array("q", [_NOWHERE]) * (function.end - function.first)
        self.results: dict[Source, _Place] = {}
        self.branches: list[_Branch] = []

    def enter(self, branch: _Branch) -> None:
        """Go on with a branch of a conditional."""
        self.next = branch.starts
        self.branches.append(branch)
        self.depth -= 1

    def leave(self, gives: list[_Place]) -> None:
        """Go on behind the conditional of the innermost branch, which gives these."""
        branch = self.branches.pop()
        self.results.update(((branch.conditional, at), one) for at, one in enumerate(gives))
        self.next = branch.resume
        self.depth += 1

    def places(self, visit: Visit, *, apart: bool) -> list[_Place]:
        """Return what the operands of one of its operations are.

        Args:
            visit: The operation.
            apart: Whether it stands in a body that numbers its own values.
        """
        found = []
        for source, number in zip(visit.sources, visit.operands, strict=True):
            shift = self._shift_of(source, number, apart=apart) + _IN_BODY * apart
            place = _Place(None, number + shift)
            if source is None:
                place = self._given(number, apart=apart) or place
            elif source in self.results:
                place = self.results[source]
            elif source[0] >= self.function.first:  # else a function that is not isolated
                made = self.numbers[source[0] - self.function.first]
                if made != _NOWHERE:
                    place = _Place((made, source[1]), place.number)
            found.append(place)
        return found

    def _given(self, number: int, *, apart: bool) -> _Place | None:
        """Return what an argument of the function, or of a branch, is; None of other values."""
        if apart:
            return None
        if number < len(self.given):
            return self.given[number]
        within = bisect_right(self.branches, number, key=attrgetter("first"))
        branch = self.branches[within - 1] if within else None
        known = branch is not None and number - branch.first < len(branch.given)
        return branch.given[number - branch.first] if branch is not None and known else None

    def _shift_of(self, source: Source | None, number: int, *, apart: bool) -> int:
        """Return how much greater the number of a value is than before."""
        if not self.branches:
            return self.shift
        if apart:
            return self.branches[-1].shift
        if source is None:
            within = bisect_right(self.branches, number, key=attrgetter("first"))
        else:
            within = bisect_right(self.branches, source[0], key=attrgetter("starts"))
        return self.branches[within - 1].shift if within else self.shift


class Canonical:
    """Reads a program as if each call were what the function does, and each value what it equals.

    A call stays where the function is around it already or has no end, where it has regions, and
    where there would be too many operations.

    Args:
        reading: An artifact's ops.
    """

    def __init__(self, reading: Reading) -> None:
        # Of each operation that was read: which it was, how much greater the numbers of its values
        # are, and its first operand.
        self._origins, self._shifts = array("Q"), array("Q")
        self._first = array("q")
        self._reading = reading
        self._shift = 0

    def _found(self) -> dict[int, _Extent]:
        """Return what stands in the outermost module, by its numbers."""
        walk = self._walk
        inner = [at for at, around in enumerate(walk.around) if around == _OUTERMOST]
        return {at: _Extent(at + 1, end) for at, end in pairwise([*inner, len(walk)])}

    def uses(self) -> Iterator[tuple[Operation, tuple[Source | None, ...]]]:
        """Yield the operations of `main` and of what it calls, as `Bytecode.uses` does."""
        self._walk = self._reading.walk
        self._extents = self._found()
        self._ends = self._reading.branch_ends
        self._sizes: dict[_Extent, int] = {}
        self._left = max(_MOST_MORE, self._size(_Extent(0, len(self._walk))))
        main = self._extents.get(self._reading.functions.main)
        if main is None:
            return
        kind = self._reading.value(self._walk.head(main.first - 1), "function_type").get("value")
        self._arguments = self._reading.sides(kind)[0]
        # Of what stands before main only the module is kept, which comes first.
        whole = _Frame(_Extent(0, main.end), [], 0, 0, _NOWHERE)
        yield self._put(whole, self._walk[0], [], apart=False)
        whole.next = main.first - 1
        frames, self._around = [whole], {main}
        while frames:
            frame = frames[-1]
            if frame.next == frame.function.end:
                self._around.discard(frames.pop().function)
                continue
            visit = self._walk[frame.next]
            frame.next += 1
            kind = self._reading.kinds[visit.operation.name]
            apart = bool(self._walk.apart[visit.number])
            places = frame.places(visit, apart=apart)
            if self._goes_elsewhere(frames, visit, kind, places):
                continue
            # A damaged file gives one a region, whose ops stay.
            if kind in CHANGING and places and not visit.operation.regions:
                if kind == RESHAPE:
                    places = [self._before(kind, places[0]) or places[0]]
                if same := self._same(visit.operation, kind, places[0]):
                    frame.results[visit.number, 0] = same
                    continue
            yield self._put(frame, visit, places, apart=apart)

    def _goes_elsewhere(
        self, frames: list[_Frame], visit: Visit, kind: str, places: list[_Place]
    ) -> bool:
        """Go into a function or a branch, or back, and say so; stay where it is another op."""
        frame = frames[-1]
        if frame.branches and visit.number == frame.branches[-1].ends:
            frame.leave(places)
            return True
        if kind in _CONDITIONALS and (chosen := self._chosen(visit, places)) is not None:
            frame.enter(self._branch(visit, chosen, places))
            return True
        if kind == _RETURN and len(frames) > 1 and visit.operation.depth == IN_FUNCTION:
            frames[-2].results.update(((frame.call, at), one) for at, one in enumerate(places))
            frame.next = frame.function.end
            return True
        calls = kind in CALLS and not visit.operation.regions
        callee = self._callee(visit) if calls else None
        if callee is None or callee in self._around:
            return False
        frames.append(self._entered(callee, frame, visit, places))
        self._around.add(callee)
        return True

    def firsts(self) -> Iterator[int]:
        """Return, for each operation that was read, where the values of its region begin."""
        firsts = self._reading.firsts
        pairs = zip(self._origins, self._shifts, strict=True)
        return (firsts[origin] + shift for origin, shift in pairs)

    def _callee(self, call: Visit) -> _Extent | None:
        """Return the function that an operation calls, where it can be put in place."""
        called = self._reading.functions.called(call.number)
        function = self._extents.get(called[0]) if len(called) == 1 else None
        if function is None or not 0 < self._size(function) <= self._left:
            return None
        end = self._walk[function.end - 1]
        kind, depth = self._reading.kinds[end.operation.name], end.operation.depth
        returns = kind == _RETURN and depth == IN_FUNCTION
        fits = len(end.operands) == len(call.operation.results)
        return function if returns and fits else None

    def _branch(self, conditional: Visit, chosen: int, places: list[_Place]) -> _Branch:
        self._shift += _NUMBERS
        given = places if self._reading.kinds[conditional.operation.name] == _WHILE else []
        ends, number = self._ends[conditional.number], conditional.number
        starts = ends[chosen - 1] + 1 if chosen else number + 1
        first = self._reading.firsts[starts]
        return _Branch(number, starts, ends[chosen], ends[-1] + 1, first, self._shift, given)

    def _chosen(self, conditional: Visit, places: list[_Place]) -> int | None:
        """Return the number of the branch that a constant decides for."""
        constants = (_constant_at(self._reading, one.source, self._made) for one in places)
        if self._reading.kinds[conditional.operation.name] == _WHILE:
            runs = _runs_once(self._reading, conditional, [*constants], self._ends)
            return _BODY if runs else None
        constant = next(constants, None)
        return constant and _branch_of(self._reading, conditional, constant, self._ends)

    def _made(self, number: int) -> tuple[Head, Source | None]:
        """Return an operation that was read, and what its first operand is a result of."""
        maker, at, _ = self._first[3 * number : 3 * number + 3]
        source = None if maker == _NOWHERE else (maker, at)
        return self._walk.head(self._origins[number]), source

    def _same(self, operation: Head, kind: str, place: _Place) -> _Place | None:
        """Return what an operation gives where that is what it, or one before it, takes."""
        reading = self._reading
        if changes_nothing(reading, kind, operation, self._type(place)):
            return place
        before = self._before(kind, place)
        if before is None or place.source is None:
            return None
        maker = self._walk.head(self._origins[place.source[0]])
        return before if undoes(reading, kind, operation, maker, self._type(before)) else None

    def _before(self, kind: str, place: _Place) -> _Place | None:
        """Return what the op takes that gives an operand, if it is of some kind."""
        if place.source is None:
            return None
        maker, source = self._made(place.source[0])
        number = self._first[3 * place.source[0] + 2]
        return _Place(source, number) if self._reading.kinds[maker.name] == kind else None

    def _type(self, place: _Place) -> int | None:
        """Return the type of an operand, where it is a result or an argument of main."""
        if place.source is not None:
            results = self._walk.head(self._origins[place.source[0]]).results
            return results[place.source[1]] if place.source[1] < len(results) else None
        return self._arguments[place.number] if place.number < len(self._arguments) else None

    def _size(self, function: _Extent) -> int:
        if function not in self._sizes:
            visits = (self._walk[at] for at in range(*function))
            self._sizes[function] = sum(
                1 + len(one.operation.results) + len(one.operands) for one in visits
            )
        return self._sizes[function]

    def _entered(
        self, function: _Extent, frame: _Frame, call: Visit, given: list[_Place]
    ) -> _Frame:
        self._left -= self._size(function)
        self._shift += _NUMBERS
        depth = frame.depth + call.operation.depth - IN_FUNCTION
        return _Frame(function, given, depth, self._shift, call.number)

    def _put(
        self, frame: _Frame, visit: Visit, places: list[_Place], *, apart: bool
    ) -> tuple[Operation, tuple[Source | None, ...]]:
        """Return an operation as it is in its new place."""
        frame.numbers[visit.number - frame.function.first] = len(self._origins)
        self._origins.append(visit.number)
        shift = frame.branches[-1].shift if frame.branches else frame.shift
        self._shifts.append(shift + _IN_BODY * apart)
        source, number = places[0] if places else _Place(None, 0)
        self._first.extend((*(source or (_NOWHERE, 0)), number))
        operands = tuple([one.number for one in places])
        name, attributes, properties, results, regions, isolated, depth = visit.operation
        depth += frame.depth
        operation = Operation(
            name, -1, attributes, properties, results, operands, regions, isolated, depth, -1
        )
        return operation, tuple([one.source for one in places])


def branch_ends(reading: Reading) -> dict[int, list[int]]:
    """Return the numbers of the operations that end the branches of each conditional.

    Args:
        reading: An artifact's ops, as they stand there.
    """
    found: dict[int, list[int]] = {}
    if _CONDITIONALS.isdisjoint(reading.kinds):
        return found
    walk = reading.walk
    for visit in walk.of([_RETURN]):
        around = walk.around[visit.number]
        if reading.kinds[walk.head(around).name] in _CONDITIONALS:
            found.setdefault(around, []).append(visit.number)
    return found


def _branch_of(
    reading: Reading, conditional: Visit, constant: Head, ends: Mapping[int, Sequence[int]]
) -> int | None:
    """Return the number of the branch of a conditional that a constant decides for.

    None where a file that is damaged has another number of ends than of regions, or none.
    """
    branches = len(ends.get(conditional.number, ()))
    number = _number(reading, constant)
    if not branches or branches != conditional.operation.regions or number is None:
        return None
    if reading.kinds[conditional.operation.name] == _IF:  # the first is that of true
        return int(not number) if branches > 1 else None
    return number if 0 <= number < branches else branches - 1


def _number(reading: Reading, constant: Head) -> int | None:
    """Return the number that a constant is, of integers or booleans; None where it has several."""
    data = reading.value(constant, "value").get("data")
    if not isinstance(data, Blob) or data.size > _WIDEST:
        return None
    if reading.element(constant.results[0]) == "bool_v1":
        return int(any(reading.data[data.offset : data.offset + 1]))
    return next(iter(integers(reading, constant)), None)


class _Counting(NamedTuple):
    """What a loop counts, from a constant up to one.

    Args:
        term: The argument that counts, and the constant that it is compared with.
        first: With what it begins.
        goes_on: Says whether a turn follows for two numbers, in the order of the comparison.
        ends: What ends its condition, and its body.
    """

    term: _Term
    first: int
    goes_on: Callable[[int, int], bool]
    ends: tuple[Visit, Visit]

    def runs(self, number: int) -> bool:
        """Say whether a turn follows where the argument is a number."""
        pair = (number, self.term.by) if self.term.is_left else (self.term.by, number)
        return self.goes_on(*pair)

    def last(self, step: int) -> int | None:
        """Return the number with which it ends, step by step; None if no step leads over the end.

        Where it goes on while the numbers are unequal, the step has to meet the other one.
        """
        if not self.runs(self.first):
            return self.first
        turns = (self.term.by - self.first) // step if step else 0
        # The first number behind the end is the other one, or the next.
        reached = (self.first + step * more for more in (turns, turns + 1) if more > 0)
        return next((one for one in reached if not self.runs(one)), None)


def _count(
    reading: Reading,
    loop: Visit,
    begins: Sequence[Head | None],
    ends: Mapping[int, Sequence[int]],
) -> _Counting | None:
    """Return what a loop counts; None where no constants decide that."""
    walk, ended = reading.walk, ends.get(loop.number, ())
    if len(ended) != len((_CONDITION, _BODY)) or loop.operation.regions != len(ended):
        return None
    asked, given = (walk[at] for at in ended)
    compare = _made_by(reading, asked, 0, _COMPARE)
    term = _counted(reading, compare) if compare else None
    if compare is None or term is None or term.at >= len(begins):
        return None
    begin = begins[term.at]
    direction = reading.case(compare.operation, "comparison_direction")
    first = None if begin is None else _number(reading, begin)
    if first is None or direction is None or direction not in _COMPARISONS:
        return None
    return _Counting(term, first, _COMPARISONS[direction], (asked, given))


def _runs_once(
    reading: Reading,
    loop: Visit,
    begins: Sequence[Head | None],
    ends: Mapping[int, Sequence[int]],
) -> bool:
    """Say whether a loop counts from a constant by a constant up to one, and runs once."""
    count = _count(reading, loop, begins, ends)
    step = count and _step(reading, count)
    if not count or step is None:
        return False
    return count.runs(count.first) and not count.runs(count.first + step)


def _step(reading: Reading, count: _Counting) -> int | None:
    """Return the constant by which a loop counts; None where it does something else."""
    add = _made_by(reading, count.ends[_BODY], count.term.at, _ADD)
    step = add and _counted(reading, add)
    return step.by if step and step.at == count.term.at else None


def counted_to(reading: Reading, loop: Visit) -> tuple[int, int] | None:
    """Return which value a loop counts from a constant by a constant, and what it is at the end.

    Args:
        reading: An artifact's ops.
        loop: The loop.

    Returns:
        The number of the value among the results, and what it is if its type has that number;
        None of another loop.
    """
    begins = [*map(loop.constant, loop.sources)]
    count = _count(reading, loop, begins, reading.branch_ends)
    step = count and _step(reading, count)
    if not count or step is None:
        return None
    last = count.last(step)
    return None if last is None else (count.term.at, last)


def may_not_run(reading: Reading, *, surely: bool = False) -> Iterator[Visit]:
    """Yield the loops that no constants let run once at least.

    Args:
        reading: An artifact's ops.
        surely: Only those that constants let run no turn.
    """
    for loop in reading.walk.of([_WHILE]):
        begins = [*map(loop.constant, loop.sources)]
        count = _count(reading, loop, begins, reading.branch_ends)
        if not surely if count is None else not count.runs(count.first):
            yield loop


class _Term(NamedTuple):
    """An argument of a loop beside a constant.

    Args:
        at: The number of the argument.
        by: The constant.
        is_left: Whether the argument is the first operand.
    """

    at: int
    by: int
    is_left: bool


def _made_by(reading: Reading, ends: Visit, operand: int, kind: str) -> Visit | None:
    """Return what gives an operand, if it is of some kind and in the same region."""
    source = ends.sources[operand] if operand < len(ends.sources) else None
    made = reading.walk[source[0]] if source else None
    if made is None or reading.kinds[made.operation.name] != kind:
        return None
    return made if reading.walk.around[made.number] == reading.walk.around[ends.number] else None


def _counted(reading: Reading, visit: Visit) -> _Term | None:
    """Return the argument of a loop and the constant that an op takes; None of another op."""
    first = reading.firsts[visit.number]
    sides = [*zip(visit.sources, visit.operands, strict=True)]
    for (source, number), (other, _) in itertools.permutations(sides, 2):
        constant = visit.constant(other)
        by = constant and _number(reading, constant)
        if source is None and by is not None and number >= first:
            return _Term(number - first, by, sides[0][0] is None)
    return None


def _is_decided(reading: Reading, conditional: Visit) -> bool:
    """Say whether a constant may decide for a branch, or how often a loop runs."""

    def made(number: int) -> tuple[Head, Source | None]:
        visit = reading.walk[number]
        return visit.operation, visit.sources[0] if visit.sources else None

    constants = (_constant_at(reading, one, made) for one in conditional.sources)
    if reading.kinds[conditional.operation.name] == _WHILE:
        return _runs_once(reading, conditional, [*constants], reading.branch_ends)
    return next(constants, None) is not None


def _constant_at(
    reading: Reading,
    source: Source | None,
    made: Callable[[int], tuple[Head, Source | None]],
) -> Head | None:
    """Return the constant that an operand is, also of another shape or type.

    Args:
        reading: The ops.
        source: What the operand is a result of.
        made: Returns an operation by its number, and what its first operand is a result of.
    """
    for _ in range(_MOST_PASSED):
        if source is None or source[1]:
            return None
        maker, before = made(source[0])
        kind = reading.kinds[maker.name]
        if kind == _CONSTANT:
            return maker
        source = before if kind in _PASSING else None
    return None


def is_canonical(reading: Reading) -> bool:
    """Say whether a program is as `Canonical` reads it."""
    if not CALLS.keys().isdisjoint(reading.kinds):
        return False
    walk, names = reading.walk, reading.kinds
    if any(_is_decided(reading, visit) for visit in walk.of([*_CONDITIONALS])):
        return False
    for visit in walk.of([*CHANGING]):
        if not visit.operation.results or not visit.sources:  # damaged
            continue
        kind = names[visit.operation.name]
        if changes_nothing(reading, kind, visit.operation, _taken(reading, visit)):
            return False
        maker = None if visit.first is None else walk[visit.first]
        if maker and names[maker.operation.name] == kind:
            both = kind == RESHAPE  # two are one
            taken = _taken(reading, maker)
            if both or undoes(reading, kind, visit.operation, maker.operation, taken):
                return False
    return True


def _taken(reading: Reading, visit: Visit) -> int | None:
    """Return the type of the first operand of an operation."""
    if not visit.sources:
        return None
    source = visit.sources[0]
    return reading.flow.type(source or reading.flow.operands(visit)[0])
