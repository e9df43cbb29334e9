"""Forms of loops: what their condition and body take of what is carried."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from portable.prediction.form import FormRule, ops
from portable.prediction.unused import KEPT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from portable.bytecode.operations import Source
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["LOOPS"]

_WHILE, _RETURN = "vhlo.while_v1", "vhlo.return_v1"
_UNKNOWN = 1 << 62
# What gives something else than what it takes decides.
_FROM_NO_VALUE = ("vhlo.rng_v1", "vhlo.partition_id_v1", "vhlo.replica_id_v1")


class _Loop(NamedTuple):
    """Which of the carried values of a loop are taken, by their numbers.

    Args:
        unused: Those whose last value nothing takes.
        carried: How many there are.
        asked: Those that the condition takes.
        kept: Those that an op of the body takes.
        given: Those that the body gives back as they are, in whatever place.
    """

    unused: Collection[int]
    carried: int
    asked: set[int]
    kept: set[int]
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
        if lost and not loop.kept | loop.given:
            return True
        perhaps |= bool(lost - loop.kept - loop.given)
    return None if perhaps else False


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
        for source, value in zip(visit.sources, operation.operands, strict=True):
            at = -1 if source is not None else bisect_right(firsts, value) - 1
            if at < 0:
                continue
            owner = inside[at].number
            loop, last = loops[owner], ends and at == len(inside) - 1
            if value < firsts[at] + loop.carried:
                of = loop.asked if owner not in in_body else loop.given if last else loop.kept
                of.add(value - firsts[at])
        if ends:
            in_body.add(inside[-1].number)
        if visit.number in loops:
            inside.append(visit)
            firsts.append(_UNKNOWN)


def _partly_used(reading: Reading) -> dict[int, _Loop]:
    """Return the loops of whose results some are taken and some are not, by their numbers."""
    walk, found = reading.walk, dict[int, _Loop]()
    loops = [(one.number, len(one.operation.results)) for one in walk.of([_WHILE])]
    if all(count < len(("counted", "used")) for _, count in loops):
        return found
    taken = _taken(reading)
    for number, count in loops:
        unused = [at for at in range(count) if (number, at) not in taken]
        if 0 < len(unused) < count:
            found[number] = _Loop(unused, count, set(), set(), set())
    return found


def _taken(reading: Reading) -> set[Source | None]:
    """Return the results that an op takes from which something is computed that is kept."""
    walk = reading.walk
    found: set[Source | None] = set()
    for number in reversed(range(len(walk))):  # what takes a result stands behind it
        operation = walk.head(number)
        results = ((number, at) for at in range(len(operation.results)))
        kept = not operation.results or operation.regions or reading.kinds[operation.name] in KEPT
        if kept or not found.isdisjoint(results):
            found.update(walk[number].sources)
    return found


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


LOOPS: dict[str, FormRule] = {
    "while whose condition draws or asks for the device": FormRule(
        _ends_by_no_value, (ops(_WHILE), ops(*_FROM_NO_VALUE))
    ),
    "while of which not all is used, and whose body gives only what is outside": FormRule(
        _gives_what_is_outside, (ops(_WHILE),), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
