"""Conditionals whose branches give several values of one buffer, which IREE may lose."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from portable.prediction.form import FormRule, ops
from portable.prediction.loops import taken_results

if TYPE_CHECKING:
    from portable.prediction.forms import Reading

__all__ = ["BRANCHES"]

_CONDITIONALS, _RETURN = ("vhlo.case_v1", "vhlo.if_v1"), "vhlo.return_v1"
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


BRANCHES: dict[str, FormRule] = {
    "conditional of which a branch gives several values that are computed": FormRule(
        _gives_several, (ops(*_CONDITIONALS),), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
