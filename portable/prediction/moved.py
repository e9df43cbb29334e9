"""Loops that begin with what is computed from constants, and move it from one place to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.prediction.form import FormRule, ops
from portable.prediction.loops import ends_of_loops
from portable.prediction.reduced import ANYTHING, Reductions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["MOVED"]

_WHILE = "vhlo.while_v1"


def _moves_the_computed(reading: Reading) -> bool | None:
    """Find perhaps a loop that begins with what is computed from constants alone, and moves it.

    IREE computes that once, and keeps it with constants: in another place, or where something that
    the body does not compute takes its place, the next turn has no buffer. What a body computes has
    one.
    """
    begun = {loop: places for loop, places in _begun(reading) if places}
    if not begun:
        return False
    reduced = Reductions(reading)
    for loop, (_, ends) in ends_of_loops(reading).items():
        places = begun.get(loop)
        if places and any(
            _is_moved(reduced, ends, at, loop, places) for at in range(len(ends.sources))
        ):
            return None
    return False


def _begun(reading: Reading) -> Iterator[tuple[int, set[int]]]:
    """Yield the loops, each with the places that begin with what is computed from constants."""
    flow, (taken, _) = reading.flow, reading.sides_of_main
    arguments = {(reading.functions.main, ~at) for at in range(len(taken))}
    given = flow.reached(arguments, lambda _: True, reading.kinds)
    for visit in reading.walk.of([_WHILE]):
        places = set()
        for at, value in enumerate(flow.operands(visit)):
            constant = value[0] in visit.constants or flow.type(value) is None
            if not constant and (value not in given or value[0] in reading.folded):
                places.add(at)
        yield visit.number, places


def _is_moved(reduced: Reductions, ends: Visit, at: int, loop: int, begun: set[int]) -> bool:
    """Say whether a loop perhaps moves what it gives in some place for the next turn."""
    source = ends.sources[at]
    outside = source is not None and source[0] < loop
    for number, place in reduced.equal(ends, at) - {(loop, ~at)}:
        if number != loop or place >= 0:  # not an argument of the body
            outside = True
        elif not begun.isdisjoint((at, ~place)):
            return True
    return outside and (at in begun or ANYTHING in reduced.equal(ends, at))


MOVED: dict[str, FormRule] = {
    "loop that begins with what is computed from constants alone": FormRule(
        _moves_the_computed, (ops(_WHILE),), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
