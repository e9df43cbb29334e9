"""Predictions for every sealed artifact, against what 66 real Releases did with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portable.matrix import collect
from portable.prediction import predict_all
from portable.releases import find_release
from portable.verdict import Stage
from tools.full_matrix import READS_BY_EXECUTING
from tools.matrix_pages import load_results

if TYPE_CHECKING:
    from portable.matrix import Item
    from portable.verdict import Verdict

RECORD = load_results()
RELEASES = [find_release(name) for name in RECORD.consumers]
MARKS = {(row.case, row.target): row.marks for row in RECORD.artifacts if row.origin == "sealed"}
LISTED = {(one.release, one.case, one.target) for one in RECORD.surprises}
REFUSED, COMPUTES, DOES_NOT = frozenset("xch"), frozenset("E"), frozenset("WXCH")
# What is refused of these depends on sizes, and the table of capabilities has them by others: odd
# numbers of four bits, transforms of lengths that are no power of two, windows.
FALSE_ALARMS = {
    "jaxlib 0.4.20": ("convert_f32_to_i4", "convert_*i4_to_f32"),
    "iree-base-compiler 3.13.0": ("fft_*", "whole_fft_filter", "select_and_scatter_f32"),
}


def _by_target() -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = defaultdict(list)
    for item in collect([Path(__file__).parents[2] / "corpus"]):
        if (item.case, str(item.claimed)) in MARKS:
            found[str(item.claimed)].append(item)
    return found


ITEMS = _by_target()


def _contradicts(release: str, mark: str, verdict: Verdict) -> bool:
    """Whether a prediction up to executing is not what was observed."""
    reads = verdict.compatible or verdict.stage > Stage.DECODE
    if mark in REFUSED:
        # What reads only to execute did not show that it cannot read.
        return reads and release.partition(" ")[0] not in READS_BY_EXECUTING
    computes = verdict.holds(Stage.EXECUTE)
    wrong = (mark in COMPUTES and computes is False) or (mark in DOES_NOT and computes is True)
    return not reads or wrong


def test_every_sealed_artifact_of_the_matrix_is_here() -> None:
    """None is left out below: each has its marks, and each mark its artifact."""
    assert sum(map(len, ITEMS.values())) == len(MARKS)


@pytest.mark.parametrize("target", sorted(ITEMS))
def test_what_is_predicted_is_what_was_observed(target: str) -> None:
    """Green was read and, where it was executed, computed; red was not; else it is listed."""
    wrong: Counter[tuple[str, str]] = Counter()
    for item in ITEMS[target]:
        verdicts = predict_all(item.artifact(), RELEASES, stage=Stage.EXECUTE)
        marks = MARKS[item.case, target]
        for release, mark, verdict in zip(RECORD.consumers, marks, verdicts, strict=True):
            alarms = FALSE_ALARMS.get(release, ()) if verdict.stage > Stage.DECODE else ()
            listed = (release, item.case, target) in LISTED or any(
                fnmatchcase(item.case, one) for one in alarms
            )
            if mark != "." and not listed and _contradicts(release, mark, verdict):
                wrong[item.case, f"{mark} {release}: {verdict.says}"] += 1
    assert not wrong
