"""Predictions for sealed artifacts, against what 66 real Releases did with them."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from portable.matrix import collect
from portable.prediction import predict_all
from portable.releases import find_release
from portable.verdict import Stage
from tools.full_matrix import FALSE_ALARMS, READS_BY_EXECUTING
from tools.matrix_pages import load_results

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portable.matrix import Item
    from portable.verdict import Verdict

__all__ = ["contradictions", "items"]

REFUSED, COMPUTES, DOES_NOT = frozenset("xch"), frozenset("E"), frozenset("WXCH")


_record = cache(load_results)


@cache
def _marks() -> dict[tuple[str, str], str]:
    rows = (row for row in _record().artifacts if row.origin == "sealed")
    return {(row.case, row.target): row.marks for row in rows}


@cache
def items() -> list[Item]:
    """Return every sealed artifact of the matrix."""
    found = collect([Path(__file__).parents[2] / "corpus"])
    known = [item for item in found if (item.case, str(item.claimed)) in _marks()]
    assert len(known) == len(_marks())
    return known


def _contradicts(release: str, mark: str, verdict: Verdict) -> bool:
    """Whether a prediction up to executing is not what was observed."""
    reads = verdict.compatible or verdict.stage > Stage.DECODE
    if mark in REFUSED:
        # What reads only to execute did not show that it cannot read.
        return reads and release.partition(" ")[0] not in READS_BY_EXECUTING
    computes = verdict.holds(Stage.EXECUTE)
    wrong = (mark in COMPUTES and computes is False) or (mark in DOES_NOT and computes is True)
    return not reads or wrong


def contradictions(chosen: Iterable[Item]) -> Counter[tuple[str, str]]:
    """Return what was observed otherwise than predicted, and is not listed."""
    wrong: Counter[tuple[str, str]] = Counter()
    record = _record()
    releases = [find_release(name) for name in record.consumers]
    surprises = {(one.release, one.case, one.target) for one in record.surprises}
    for item in chosen:
        target = str(item.claimed)
        verdicts = predict_all(item.artifact(), releases, stage=Stage.EXECUTE)
        marks = _marks()[item.case, target]
        for release, mark, verdict in zip(record.consumers, marks, verdicts, strict=True):
            alarms = FALSE_ALARMS.get(release, ()) if verdict.stage > Stage.DECODE else ()
            listed = (release, item.case, target) in surprises or any(
                fnmatchcase(item.case, one) for one in alarms
            )
            if mark != "." and not listed and _contradicts(release, mark, verdict):
                wrong[item.case, f"{mark} {release}: {verdict.says}"] += 1
    return wrong
