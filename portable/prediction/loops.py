"""Forms of loops: what their condition and body take of what is carried."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portable.prediction.form import FormRule, ops

if TYPE_CHECKING:
    from collections.abc import Collection

    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["LOOPS"]

_WHILE, _RETURN = "vhlo.while_v1", "vhlo.return_v1"


@dataclass(slots=True)
class _Loop:
    """Which of the carried values of a loop are taken, by their numbers.

    Args:
        unused: Those whose last value nothing takes.
        count: How many there are.
        first: The number of the value that stands for the first of them in its regions.
        asked: Those that the condition takes.
        kept: Those that an op of the body takes.
        given: Those that the body gives back as they are, in whatever place.
        in_body: Whether the condition has been read.
    """

    unused: Collection[int]
    count: int
    first: int = 0
    asked: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    given: set[int] = field(default_factory=set)
    in_body: bool = False

    def take(self, visit: Visit, *, ends: bool) -> None:
        """Note what an operation in it takes, and whether that ends one of its regions."""
        pairs = zip(visit.sources, visit.operation.operands, strict=True)
        taken = {value - self.first for source, value in pairs if source is None}
        of = self.asked if not self.in_body else self.given if ends else self.kept
        of |= taken & {*range(self.count)}
        self.in_body |= ends


def _gives_what_is_outside(reading: Reading) -> bool | None:
    """Find a while whose body takes nothing that is carried, and of which not all is used.

    The condition takes something of which nothing takes the last value. Perhaps one is such whose
    body takes other values than those, or gives them back in another order.
    """
    loops = _partly_used(reading)
    if not loops:
        return False
    walk = reading.walk
    for visit, first in zip(walk, reading.content.first_values(), strict=True):
        around = owner = walk.around[visit.number]
        if around in loops:
            loops[around].first = first
        while owner >= 0:
            if owner in loops:
                loops[owner].take(visit, ends=owner == around and visit.name == _RETURN)
            owner = walk.around[owner]
    perhaps = False
    for loop in loops.values():
        lost = loop.asked & {*loop.unused}
        if lost and not loop.kept | loop.given:
            return True
        perhaps |= bool(lost - loop.kept - loop.given)
    return None if perhaps else False


def _partly_used(reading: Reading) -> dict[int, _Loop]:
    """Return the loops of whose results some are taken and some are not, by their numbers."""
    walk, found = reading.walk, dict[int, _Loop]()
    loops = [(one.number, len(one.operation.results)) for one in walk.of([_WHILE])]
    if all(count < len(("counted", "used")) for _, count in loops):
        return found
    taken = {source for visit in walk for source in visit.sources}
    for number, count in loops:
        unused = [at for at in range(count) if (number, at) not in taken]
        if 0 < len(unused) < count:
            found[number] = _Loop(unused, count)
    return found


LOOPS: dict[str, FormRule] = {
    "while of which not all is used, and whose body gives only what is outside": FormRule(
        _gives_what_is_outside, (ops(_WHILE),)
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
