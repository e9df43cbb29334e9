"""Forms of loops: what their condition and body take of what is carried."""

from __future__ import annotations

import functools
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.operations import like
from portable.prediction.canonical import may_not_run
from portable.prediction.computing import COMMUNICATING
from portable.prediction.constants import is_one_number
from portable.prediction.flow import INSIDE
from portable.prediction.form import SCATTERS, FormRule, kinds, ops, types
from portable.prediction.functions import CALLS
from portable.prediction.unused import KEPT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, MutableMapping, Sequence

    from portable.bytecode.operations import Head, Source
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["LOOPS", "carried_in_vain", "ends_of_loops", "taken_results"]

_WHILE, _RETURN, _FUNCTION = "vhlo.while_v1", "vhlo.return_v1", "vhlo.func"
_COMPARE, _ADD, _CONVERT = "vhlo.compare_v1", "vhlo.add", "vhlo.convert"
_SIGNED = frozenset(f"i{bits}_v1" for bits in (4, 8, 16, 32, 64))
_UNSIGNED = frozenset(f"ui{bits}_v1" for bits in (4, 8, 16, 32, 64))
# What IREE computes of a count where it is no tensor yet.
_OF_COUNTS = kinds("abs add and convert divide maximum minimum multiply negate subtract")
_UPDATING = ("vhlo.dynamic_update_slice_v1", *SCATTERS)
_CHANGING = (*_UPDATING, "vhlo.sort_v1")
_SPREADING = kinds("broadcast_in_dim reshape")
# So often what functions are called with is looked at, which call others.
_TURNS = 8
_SLICE = "vhlo.dynamic_slice_v1"
_RESHAPE = "vhlo.reshape"
_UNKNOWN = 1 << 62
# What only hands on what it takes.
_HANDING = frozenset({"vhlo.return", *CALLS})
# What IREE puts into no dispatch with others.
_APART = kinds("case custom_call if optimization_barrier while") | CALLS.keys()
# Ops that a compiler leaves to the run, also where all of their operands are constant.
_RUNNING = kinds(
    "custom_call infeed optimization_barrier partition_id recv replica_id rng send"
).union(CALLS, COMMUNICATING)
# What gives something else than what it takes decides.
_FROM_NO_VALUE = ("vhlo.rng_v1", "vhlo.partition_id_v1", "vhlo.replica_id_v1")


class _Loop(NamedTuple):
    """Which of the carried values of a loop are taken, by their numbers.

    Args:
        unused: Those whose last value nothing takes.
        carried: How many there are.
        asked: Those that the condition takes.
        kept: Those that an op of the body takes.
        called: Those that the body calls a function with.
        given: Those that the body gives back as they are, in whatever place.
    """

    unused: Collection[int]
    carried: int
    asked: set[int]
    kept: set[int]
    called: set[int]
    given: set[int]


def _gives_what_is_outside(reading: Reading) -> bool | None:
    """Find a while whose body takes nothing that is carried, and of which not all is used.

    The condition takes something of which nothing takes the last value. Perhaps one is such whose
    body takes other values than those, or gives them back in another order.
    """
    loops = _partly_used(reading)
    if not loops:
        return False
    _look_inside(reading, loops)
    perhaps = False
    for loop in loops.values():
        lost = loop.asked & {*loop.unused}
        taken = loop.kept | loop.called | loop.given
        if lost and not taken:
            return True
        perhaps |= bool(lost - taken)
    return None if perhaps else False


def carried_in_vain(reading: Reading) -> set[tuple[int, int]]:
    """Return where operations take what a loop carries and nothing takes, nor its result.

    Args:
        reading: An artifact's ops.

    Returns:
        Operations by their numbers, loops and what ends their bodies, with the operand.
    """
    loops = _partly_used(reading)
    if not loops:  # what is read of a program is kept as long as it
        return set()
    ends = ends_of_loops(reading)
    _look_inside(reading, loops)
    return {
        (operation, at)
        for number, loop in loops.items()
        for at in {*loop.unused} - loop.asked - loop.kept - loop.called - loop.given
        for operation in (number, *(one.number for one in ends.get(number, ())[1:]))
    }


def _leaves_what_it_carries(reading: Reading) -> bool | None:
    """Find a while that is no count, and whose body computes anew a value that it does not take.

    Of that value the result is used. Perhaps the body does not take what it calls a function with.
    """
    loops = _all_loops(reading)
    _look_inside(reading, loops)
    perhaps = False
    for number, (asks, ends) in ends_of_loops(reading).items():
        loop = loops[number]
        left = {*range(loop.carried)}.difference(loop.unused, loop.kept, loop.given)
        first = reading.firsts[ends.number]
        anew = {
            at for at in left if _is_anew(reading, ends, at, range(first, first + loop.carried))
        }
        # A condition that gives a value as it is says what it is in the body.
        answers = reading.firsts[asks.number]
        anew -= {value - answers for value in asks.operands}
        if anew and _counted(reading, number, asks, ends) is None:
            if anew - loop.called:
                return True
            perhaps = True
    return None if perhaps else False


def _is_anew(reading: Reading, ends: Visit, at: int, carried: range) -> bool:
    """Say whether a body gives for a value what it computes, or another one that is carried."""
    if at >= len(ends.sources):
        return False
    source, owner = ends.sources[at], reading.walk.around[ends.number]
    if source is None:
        return ends.operands[at] in carried
    return reading.walk.around[source[0]] == owner and source[0] not in ends.constants


def ends_of_loops(reading: Reading) -> Mapping[int, tuple[Visit, Visit]]:
    """Return what ends the condition and the body of each loop, by its number."""
    walk = reading.walk
    return {
        number: (walk[ends[0]], walk[ends[1]])
        for number, ends in reading.branch_ends.items()
        if walk[number].name == _WHILE and len(ends) == len("cb")
    }


def _counted(reading: Reading, number: int, asks: Visit, ends: Visit) -> int | None:
    """Return which value a loop counts from one to another, of those that it carries.

    None of another loop: of one whose condition is more than that the count is less than what is
    outside, whose count is unsigned, or whose step is computed in it.
    """
    walk = reading.walk
    asked = [walk[one] for one in range(number + 1, asks.number) if one not in asks.constants]
    if len(asked) != 1 or asked[0].name != _COMPARE or asks.sources != ((asked[0].number, 0),):
        return None
    (compare,) = asked
    direction = reading.case(compare.operation, "comparison_direction")
    results, first = walk.head(number).results, reading.firsts[compare.number]
    places = _places(compare, first, len(results))
    if direction != "LT" or len(places) != len(("lhs", "rhs")) or places[1] is not None:
        return None
    at = places[0]
    if at is None or at >= len(ends.sources) or reading.element(results[at]) not in _SIGNED:
        return None
    given = ends.sources[at]
    step = walk[given[0]] if given and walk.around[given[0]] == number else None
    if step is None or reading.kinds[step.operation.name] != _ADD:
        return None
    added = _places(step, reading.firsts[step.number], len(results))
    inside = [one for one in step.sources if one and walk.around[one[0]] == number]
    computed = any(one[0] not in step.constants for one in inside)
    return at if added.count(None) == 1 and at in added and not computed else None


def _places(visit: Visit, first: int, carried: int) -> Sequence[int | None]:
    """Return which carried value each operand of an op is; None of another."""
    return [
        value - first if source is None and first <= value < first + carried else None
        for source, value in zip(visit.sources, visit.operands, strict=True)
    ]


def _converts_counts(reading: Reading) -> bool:
    """Find a conversion to unsigned integers of what a loop counts, or is computed of that alone.

    IREE computes it outside of tensors, where it has no such integers.
    """
    counts = {
        number: reading.firsts[ends.number] + at
        for number, (asks, ends) in ends_of_loops(reading).items()
        if (at := _counted(reading, number, asks, ends)) is not None
    }
    handed: dict[int, set[int]] = {}  # to functions: which of their arguments are such
    for _ in range(_TURNS if counts else 0):
        known = sum(map(len, handed.values()))
        if _converts(reading, counts, handed):
            return True
        if known == sum(map(len, handed.values())):
            break
    return False


def _converts(
    reading: Reading, counts: Mapping[int, int], handed: MutableMapping[int, set[int]]
) -> bool:
    """Say whether what loops count is converted so, in one walk, which notes what is handed on."""
    scalars, spread = set[int](), set[int]()
    active = set[int]()  # the values that are counts where the walk is
    inside: list[tuple[int, int]] = []  # the depths of the loops around, with what they count
    for visit in reading.walk:
        operation, kind = visit.operation, reading.kinds[visit.operation.name]
        while inside and inside[-1][0] >= operation.depth:
            active.discard(inside.pop()[1])
        if kind == _FUNCTION:
            active = {*handed.get(visit.number, ())}
        taken = [
            value in active if source is None else source[0] in scalars
            for source, value in zip(visit.sources, visit.operands, strict=True)
        ]
        wide = any(source and source[0] in spread for source in visit.sources)
        if kind == _CONVERT and (wide or any(taken)) and _gives_unsigned(reading, operation):
            return True
        if kind in _SPREADING and (wide or any(taken)):
            spread.add(visit.number)
        elif kind in _OF_COUNTS and any(taken):
            scalars.add(visit.number)
        elif kind in CALLS and any(taken):
            for callee in reading.functions.called(visit.number):
                handed.setdefault(callee, set()).update(
                    at for at, is_it in enumerate(taken) if is_it
                )
        if visit.number in counts:
            inside.append((operation.depth, counts[visit.number]))
            active.add(counts[visit.number])
    return False


def _gives_unsigned(reading: Reading, operation: Head) -> bool:
    """Say whether an op gives unsigned integers, and something takes them."""
    elements = {*map(reading.element, operation.results)}
    return bool(elements & _UNSIGNED) and like(operation) in reading.used


def _look_inside(reading: Reading, loops: Mapping[int, _Loop]) -> None:
    """Note what is taken of the carried values of some loops, in one walk."""
    around, in_body = reading.walk.around, set[int]()
    # The loops that an operation stands in, and the numbers of the first values that they carry.
    inside: list[Visit] = []
    firsts: list[int] = []
    for visit, first in zip(reading.walk, reading.firsts, strict=True):
        operation, ends = visit.operation, False
        while inside and inside[-1].operation.depth >= operation.depth:
            inside.pop()
            firsts.pop()
        if inside and around[visit.number] == inside[-1].number:
            firsts[-1], ends = first, visit.name == _RETURN
        for source, value in zip(visit.sources, visit.operands, strict=True):
            at = -1 if source is not None else bisect_right(firsts, value) - 1
            if at < 0:
                continue
            owner = inside[at].number
            loop, last = loops[owner], ends and at == len(inside) - 1
            if value < firsts[at] + loop.carried:
                kept = loop.called if reading.kinds[operation.name] in CALLS else loop.kept
                of = loop.asked if owner not in in_body else loop.given if last else kept
                of.add(value - firsts[at])
        if ends:
            in_body.add(inside[-1].number)
        if visit.number in loops:
            inside.append(visit)
            firsts.append(_UNKNOWN)


def _partly_used(reading: Reading) -> dict[int, _Loop]:
    """Return the loops of whose results some are taken and some are not, by their numbers."""
    counts = (len(one.operation.results) for one in reading.walk.of([_WHILE]))
    if all(count < len(("counted", "used")) for count in counts):
        return {}
    loops = _all_loops(reading)
    return {one: loop for one, loop in loops.items() if 0 < len(loop.unused) < loop.carried}


def _all_loops(reading: Reading) -> dict[int, _Loop]:
    """Return the loops by their numbers, with what is taken of their results alone."""
    taken = taken_results(reading)
    found = dict[int, _Loop]()
    for visit in reading.walk.of([_WHILE]):
        count = len(visit.operation.results)
        unused = [at for at in range(count) if (visit.number, at) not in taken]
        found[visit.number] = _Loop(unused, count, set(), set(), set(), set())
    return found


def taken_results(reading: Reading) -> set[Source | None]:
    """Return the results that an op takes from which something is computed that is kept.

    Args:
        reading: An artifact's ops.
    """
    walk = reading.walk
    found: set[Source | None] = set()
    for number in reversed(range(len(walk))):  # what takes a result stands behind it
        operation = walk.head(number)
        results = ((number, at) for at in range(len(operation.results)))
        kept = not operation.results or operation.regions or reading.kinds[operation.name] in KEPT
        if kept or not found.isdisjoint(results):
            found.update(walk[number].sources)
    return found


def _begins_with_what_is_taken(*, kept: bool) -> FormRule:
    """Find perhaps a loop beside whose results something takes what the loop begins with.

    That is computed from arguments, and of one dispatch with what it is computed from. IREE has
    what stands behind the loop take it, and puts it there.

    Args:
        kept: Whether what the loop does not change counts too.
    """

    def found(reading: Reading) -> bool | None:
        walk, names = reading.walk, reading.kinds
        leading = _begun(reading, kept=True) if kept else _leading(reading)
        if not leading:
            return False
        beside = answered = False
        for visit in walk:
            around = walk.around[visit.number]
            is_taking = names[visit.operation.name] not in _HANDING and visit.number not in leading
            for source in visit.sources if is_taking else ():
                if source is None or walk.around[source[0]] != around:
                    continue
                answered |= walk[source[0]].name == _WHILE
                beside |= source[0] in leading and visit.name != _WHILE
        return None if beside and answered else False

    return FormRule(found, (ops(_WHILE),), across=True)


def _may_not_run(reading: Reading) -> bool | None:
    """Find perhaps a loop that may run no turn, and begins with what is computed.

    Its results are what it begins with then, which IREE may have given back when it ends: what is
    computed from constants alone is missing in the next run.
    """
    for loop in may_not_run(reading):
        if any(source and source[0] not in loop.constants for source in loop.sources):
            return None
    return False


def _goes_on_outside(reading: Reading) -> bool | None:
    """Find perhaps a loop of which a value is a constant first, and then one from outside of it."""
    walk, alike = reading.walk, functools.cache(functools.partial(is_one_number, reading))
    for number, (_, ends) in ends_of_loops(reading).items():
        loop, first = walk[number], reading.firsts[ends.number]
        given = zip(loop.sources, ends.sources, ends.operands, strict=False)
        for begin, source, value in given:
            constant = loop.constant(begin)
            outside = value < first if source is None else source[0] < number
            is_constant = source is not None and source[0] in reading.folded
            if constant is not None and outside and not is_constant and not alike(constant):
                return None
    return False


def _takes_constants_alone(reading: Reading) -> bool | None:
    """Find a loop of main that takes nothing but constants, and gives more than what it counts.

    Perhaps it is one in another body or function, or in a large program.
    """
    walk, folded = reading.walk, reading.folded
    found: list[int] = []
    for number, ends in ends_of_loops(reading).items():
        loop = walk[number]
        if all(source and source[0] in folded for source in loop.sources):
            first = min(reading.firsts[one.number] for one in ends)
            inside = () if reading.is_large else walk.below(number)
            given = any(_is_given(reading, visit, number, first) for visit in inside)
            if not given and like(loop.operation) in reading.used:
                found.append(number)
    if not found or reading.is_large:
        return None if found else False
    loops = _all_loops(reading)
    _look_inside(reading, loops)
    outermost = [loops[one] for one in found if walk.around[one] == reading.functions.main]
    more = [{*range(loop.carried)}.difference(loop.unused, loop.asked) for loop in outermost]
    return True if any(more) else None


def _is_given(reading: Reading, visit: Visit, loop: int, first: int) -> bool:
    """Say whether an operation in a loop takes what is no constant, or is not computed before."""
    if reading.kinds[visit.operation.name] in _RUNNING:
        return True
    return any(
        value < first if source is None else source[0] < loop and source[0] not in reading.folded
        for source, value in zip(visit.sources, visit.operands, strict=True)
    )


def _hands_on_a_constant(reading: Reading) -> bool | None:
    """Find perhaps a loop that gives a constant of different numbers to another value, or takes it.

    Which of them IREE loses was not found.
    """
    walk, alike = reading.walk, functools.cache(functools.partial(is_one_number, reading))
    for number, (_, ends) in ends_of_loops(reading).items():
        loop, first = walk[number], reading.firsts[ends.number]
        constants = [*map(loop.constant, loop.sources)]
        for at, (source, value) in enumerate(zip(ends.sources, ends.operands, strict=True)):
            place = value - first
            if source is not None or place == at or not 0 <= place < len(constants) > at:
                continue
            pair = constants[at], constants[place]
            if any(one is not None and not alike(one) for one in pair):
                return None
    return False


def _changes_one_number(reading: Reading) -> bool | None:
    """Find perhaps a loop that changes what begins as one number, and what begins as no constant.

    What it counts is neither. In which place of memory IREE keeps them was not found.
    """
    alike, same = functools.cache(functools.partial(is_one_number, reading)), given_back(reading)
    for number, (asks, ends) in ends_of_loops(reading).items():
        loop, count = reading.walk[number], _counted(reading, number, asks, ends)
        begins = {
            constant is not None and alike(constant)
            for at, constant in enumerate(map(loop.constant, loop.sources))
            if at != count and (number, at) not in same and (constant is None or alike(constant))
        }
        if len(begins) > 1:
            return None
    return False


def _gives_what_is_computed_outside(reading: Reading) -> bool | None:
    """Find perhaps a loop of which a value is, from the second turn on, computed outside of it.

    Also what it carries and does not change, in another place. IREE frees it in each turn.
    """
    walk, same = reading.walk, given_back(reading)
    for number, (_, ends) in ends_of_loops(reading).items():
        begins, first = walk[number].sources, reading.firsts[ends.number]
        pairs = zip(begins, ends.sources, ends.operands, strict=False)
        for at, (begin, source, value) in enumerate(pairs):
            place = value - first
            is_carried = source is None and place != at and (number, place) in same
            given = begins[place] if is_carried and place < len(begins) else source
            if given is None or given[0] >= number or given == begin:
                continue
            if given[0] not in reading.folded:
                return None
    return False


def _leading(reading: Reading) -> set[int]:
    """Return the ops from which loops of the same block take what they begin with and change."""
    walk, names = reading.walk, reading.kinds
    found = _begun(reading, kept=False)
    for number in reversed(range(max(found, default=-1) + 1)):
        if number in found and names[walk.head(number).name] in _APART:
            found.remove(number)
        elif number in found:
            around = walk.around[number]
            of_block = (one[0] for one in walk[number].sources if one)
            found.update(one for one in of_block if walk.around[one] == around)
    return found - reading.folded


def _begun(reading: Reading, *, kept: bool) -> set[int]:
    """Return the ops from which loops take what they begin with, and keep or change."""
    same = given_back(reading)
    return {
        source[0]
        for loop in reading.walk.of([_WHILE])
        for at, source in enumerate(loop.sources)
        if source and ((loop.number, at) in same) is kept
    } - reading.folded


def given_back(reading: Reading) -> set[tuple[int, int]]:
    """Return what loops carry and their bodies give back as it is, by their numbers."""
    return {
        (number, at)
        for number, (_, ends) in ends_of_loops(reading).items()
        for at, (source, value) in enumerate(zip(ends.sources, ends.operands, strict=True))
        if source is None and value == reading.firsts[ends.number] + at
    }


def _ends_by_no_value(reading: Reading) -> bool | None:
    """Find a while whose condition draws or asks for the device: perhaps it takes nothing else."""
    walk = reading.walk
    ends: dict[int, int] = {}  # by the number of a while, of what its condition returns
    for visit in walk.of([_RETURN]):
        ends.setdefault(walk.around[visit.number], visit.number)
    known: dict[int, bool] = {}  # of operations, whether they stand in a condition
    for visit in walk.of(_FROM_NO_VALUE):
        path = [visit.number]
        while path[-1] >= 0 and path[-1] not in known:
            inside, around = path[-1], walk.around[path[-1]]
            is_loop = around >= 0 and reading.names[walk.head(around).name] == _WHILE
            if is_loop and inside < ends.get(around, inside):
                return None
            path.append(around)
        known.update(dict.fromkeys(path, False))
    return False


def _slices_beside_a_loop(reading: Reading) -> bool | None:
    """Find perhaps a slice by what a loop carries, and another loop beside it in that.

    By another value than the one that is counted, as JAX carries its own index: IREE reads that
    back, and what the inner loop changes may change before.
    """
    walk, ends, folded = reading.walk, ends_of_loops(reading), reading.folded
    repeated = _repeated(reading)
    around = _with_loops(reading)
    for visit in walk.of([_SLICE]):
        owner = walk.around[visit.number]
        if owner not in around or not (owner in ends or owner in repeated):
            continue
        counted = _counted(reading, owner, *ends[owner]) if owner in ends else None
        count = -1 if counted is None else reading.firsts[visit.number] + counted
        indices = [*zip(visit.sources, visit.operands, strict=True)][1:]
        if any(
            source[0] not in folded if source is not None else value != count
            for source, value in indices
        ):
            return None
    return False


def _with_loops(reading: Reading) -> set[int]:
    """Return what has a loop in it, or calls a function that has one, at whatever depth."""
    walk = reading.walk
    found = {walk.around[visit.number] for visit in walk.of([_WHILE])}
    looping, function = set[int](), -1  # functions that have one somewhere
    calls: list[tuple[Visit, int]] = []
    for visit in walk.of([_FUNCTION, _WHILE, *CALLS]):
        kind = reading.kinds[visit.operation.name]
        function = visit.number if kind == _FUNCTION else function
        if kind in CALLS:
            calls.append((visit, function))
        elif kind != _FUNCTION:
            looping.add(function)
    for _ in range(_TURNS):
        known = len(looping)
        for visit, function in calls:
            if not looping.isdisjoint(reading.functions.called(visit.number)):
                looping.add(function)
                found.add(walk.around[visit.number])
        if len(looping) == known:
            break
    return found


def _repeated(reading: Reading) -> set[int]:
    """Return the functions that a loop calls, or one of these."""
    walk, found = reading.walk, set[int]()
    calls = list(walk.of([*CALLS]))
    for _ in range(_TURNS):
        known = len(found)
        for visit in calls:
            owner = walk.around[visit.number]
            if owner in found or (owner >= 0 and walk[owner].name == _WHILE):
                found.update(reading.functions.called(visit.number))
        if len(found) == known:
            break
    return found


def _gives_what_is_around(reading: Reading) -> bool | None:
    """Find perhaps a loop whose body gives for the next turn what it takes from around the loop.

    Some of these IREE compiles.
    """
    walk, flow = reading.walk, reading.flow
    for number, (_, ends) in ends_of_loops(reading).items():
        if like(walk.head(number)) in reading.used:
            given = zip(ends.sources, flow.operands(ends), strict=True)
            if any(one[0] < number if one else INSIDE < at < 0 for one, (_, at) in given):
                return None
    return False


def _takes_between_loops(reading: Reading) -> bool | None:
    """Find perhaps an op that takes what a loop has updated, before another loop.

    That loop updates too, or the op changes what it takes, and the loop begins with nothing that is
    computed of it. IREE uses the memory again before the op has read it.
    """
    walk, loops = reading.walk, _loops_that_update(reading)
    updated = {*loops}
    taking, changing = dict[int, set[int]](), dict[int, set[int]]()
    for visit in walk if loops else ():
        number, block = visit.number, walk.around[visit.number]
        if visit.name == _WHILE:
            waiting = changing.pop(block, set())
            if number in loops:
                waiting |= taking.pop(block, set())
            if waiting - _before(reading, number, min(waiting, default=number)):
                return None
        elif any(
            one and one[0] in updated and walk.around[one[0]] == block for one in visit.sources
        ):
            kind = reading.kinds[visit.operation.name]
            if kind == _RESHAPE:
                updated.add(number)
            elif kind not in _HANDING:
                takers = changing if visit.name in _CHANGING else taking
                takers.setdefault(block, set()).add(number)
    return False


def _loops_that_update(reading: Reading) -> set[int]:
    """Return the loops in which a part of something is replaced, at whatever depth."""
    walk, found, seen = reading.walk, set[int](), set[int]()
    for visit in walk.of(_UPDATING):
        around = walk.around[visit.number]
        while around >= 0 and around not in seen:
            seen.add(around)
            if walk[around].name == _WHILE:
                found.add(around)
            around = walk.around[around]
    return found


def _before(reading: Reading, loop: int, first: int) -> set[int]:
    """Return what a loop begins with, of the operations from a first one on."""
    walk, found = reading.walk, set[int]()
    pending = {one[0] for one in walk[loop].sources if one}
    while pending:
        number = pending.pop()
        if first <= number < loop and number not in found:
            found.add(number)
            pending.update(one[0] for one in walk[number].sources if one)
    return found


LOOPS: dict[str, FormRule] = {
    "slice by what a loop carries, beside a loop in it": FormRule(
        _slices_beside_a_loop, (ops(_WHILE), ops(_SLICE))
    ),
    "while whose condition draws or asks for the device": FormRule(
        _ends_by_no_value, (ops(_WHILE), ops(*_FROM_NO_VALUE))
    ),
    "while other than a counted loop, whose body replaces what it does not read": FormRule(
        _leaves_what_it_carries, (ops(_WHILE),), across=True
    ),
    "convert to unsigned integers of what a loop counts": FormRule(
        _converts_counts, (ops(_WHILE), ops(_CONVERT), types(_UNSIGNED)), across=True
    ),
    "loop beside whose results something takes what it begins with": (
        _begins_with_what_is_taken(kept=False)
    ),
    "loop beside whose results something takes what it begins with and keeps": (
        _begins_with_what_is_taken(kept=True)
    ),
    "loop that may run no turn, and begins with what is computed": FormRule(
        _may_not_run, (ops(_WHILE),), across=True
    ),
    "loop that replaces a constant of different numbers by a value from outside": FormRule(
        _goes_on_outside, (ops(_WHILE),), across=True
    ),
    "loop that takes nothing but constants": FormRule(
        _takes_constants_alone, (ops(_WHILE),), across=True
    ),
    "loop that gives a constant of different numbers to another value that it carries": FormRule(
        _hands_on_a_constant, (ops(_WHILE),), across=True
    ),
    "loop that changes what begins as one number, and what begins as no constant": FormRule(
        _changes_one_number, (ops(_WHILE),), across=True
    ),
    "loop that replaces what it carries by what is computed outside of it": FormRule(
        _gives_what_is_computed_outside, (ops(_WHILE),), across=True
    ),
    "while with unused results whose body returns only values from outside": FormRule(
        _gives_what_is_outside, (ops(_WHILE),), across=True
    ),
    "op that takes what a loop has updated, before another loop": FormRule(
        _takes_between_loops, (ops(_WHILE), ops(*_UPDATING)), across=True
    ),
    "loop whose body gives what is around it": FormRule(
        _gives_what_is_around, (ops(_WHILE),), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
