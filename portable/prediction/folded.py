"""Which operations are computed from constants alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.operations import IN_FUNCTION
from portable.prediction.flow import INSIDE
from portable.prediction.form import kinds
from portable.prediction.walk import CONSTANT

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["folded"]

_FROM_NOTHING = frozenset({CONSTANT, "vhlo.iota_v1"})
# What gives something else each time, or what comes from elsewhere.
_FROM_OUTSIDE = kinds("custom_call infeed recv rng")
_ARGUMENT = -1


def folded(reading: Reading) -> frozenset[int]:
    """Return the operations that are computed from constants alone, by their numbers in `walk`.

    Neither are those whose bodies take something else from around them.

    Args:
        reading: An artifact's ops.
    """
    walk = reading.walk
    found: set[int] = set()
    # The operations around, the innermost last, each with whether its operands are computed from
    # constants alone; and the first whose result their bodies take and that is not.
    around: list[tuple[int, bool]] = []
    firsts: list[int] = []

    def leave() -> None:
        (number, alone), first = around.pop(), firsts.pop()
        if alone and first > number:
            found.add(number)
        if firsts:
            firsts[-1] = min(firsts[-1], first)

    for visit in walk:
        operation, sources = visit.operation, visit.sources
        while around and walk.head(around[-1][0]).depth >= operation.depth:
            leave()
        # No generator: that costs a call for each.
        taken = {one[0] if one else _ARGUMENT for one in sources}
        alone = visit.name in _FROM_NOTHING or bool(sources and taken <= found)
        if firsts and not alone and taken:
            firsts[-1] = min(firsts[-1], _first(reading, visit, taken - found))
        if operation.regions and operation.depth >= IN_FUNCTION:
            around.append((visit.number, alone))
            firsts.append(len(walk))
        elif alone and reading.kinds[operation.name] not in _FROM_OUTSIDE:
            found.add(visit.number)
    while around:
        leave()
    return frozenset(found)


def _first(reading: Reading, visit: Visit, unknown: AbstractSet[int]) -> int:
    """Return the first operation whose result one in a body takes; -1 for a function's argument."""
    if _ARGUMENT in unknown:
        values = reading.flow.operands(visit)
        if any(INSIDE < at < 0 for _, at in values):
            return _ARGUMENT
    return min(unknown - {_ARGUMENT}, default=len(reading.walk))
