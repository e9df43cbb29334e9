"""Conditionals whose branches give several values of one buffer, which IREE may lose."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from portable.prediction.form import FormRule, ops
from portable.prediction.loops import taken_results

if TYPE_CHECKING:
    from portable.bytecode.operations import Source
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["BRANCHES"]

_CONDITIONALS, _RETURN = ("vhlo.case_v1", "vhlo.if_v1"), "vhlo.return_v1"
_BARRIER = "vhlo.optimization_barrier_v1"
_SEVERAL = 2


def _gives_several(reading: Reading) -> bool | None:
    """Find perhaps a conditional of which a branch gives several values that ops give.

    Or one value twice. What is computed together is of one buffer, and IREE may hand that on to
    one of the results and leave the others without. What a branch gives as main or a loop hands it
    in is of a buffer of its own.
    """
    walk = reading.walk
    found = {visit.number for visit in walk.of(_CONDITIONALS)}
    if not found:
        return False
    taken = taken_results(reading)
    for visit in walk.of([_RETURN]):
        owner = walk.around[visit.number]
        if owner not in found:
            continue
        pairs = zip(visit.sources, visit.operands, strict=True)
        kept = [pair for at, pair in enumerate(pairs) if (owner, at) in taken]
        handed = Counter(value for source, value in kept if source is None)
        computed = sum(source is not None for source, _ in kept)
        if max(computed, *handed.values(), 0) >= _SEVERAL:
            return None
    return False


def _keeps_what_is_returned(reading: Reading) -> bool | None:
    """Find a conditional of which not every branch keeps one value by a barrier, that main returns.

    IREE hands it on to the result of the conditional and leaves that of main without. Perhaps it is
    one where the conditional stands in a loop or another function, whatever main returns.
    """
    walk, main = reading.walk, reading.functions.main
    found = {visit.number: visit for visit in walk.of(_CONDITIONALS)}
    kept: dict[tuple[Source, Source], int] = Counter()
    returned: set[Source | None] = set()
    for visit in walk.of([_RETURN]) if found else ():
        owner = walk.around[visit.number]
        if owner == main:
            returned.update(visit.sources)
        elif owner in found:
            for at, source in enumerate(visit.sources):
                if (outside := _kept_from_outside(reading, visit, source)) is not None:
                    kept[(owner, at), outside] += 1
    perhaps = False
    for (result, outside), count in kept.items():
        conditional = found[result[0]].operation
        if count < conditional.regions:
            if walk.around[result[0]] != main:
                perhaps = True
            elif {result, outside} <= returned:
                return True
    return None if perhaps else False


def _kept_from_outside(reading: Reading, given: Visit, source: Source | None) -> Source | None:
    """Return what a branch keeps by a barrier and gives, where an op outside of it gives that."""
    walk = reading.walk
    if source is None or walk[source[0]].name != _BARRIER:
        return None
    sources, depth = walk[source[0]].sources, given.operation.depth
    outside = sources[source[1]] if source[1] < len(sources) else None
    if outside is None or outside[0] in walk.constants or walk.head(outside[0]).depth >= depth:
        return None
    return outside if walk.head(source[0]).depth == depth else None


BRANCHES: dict[str, FormRule] = {
    "conditional of which a branch gives several values that are computed": FormRule(
        _gives_several, (ops(*_CONDITIONALS),), across=True
    ),
    "conditional of which a branch keeps by a barrier what main returns too": FormRule(
        _keeps_what_is_returned, (ops(*_CONDITIONALS), ops(_BARRIER)), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
