"""Predicted Verdicts of thousands of artifacts, against what twelve real jaxlibs did with them."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest

from portable.artifact import Artifact
from portable.prediction import examine, predict
from portable.releases import find_release
from portable.verdict import Stage
from tools.full_scan import Scanner
from tools.observe_readers import READERS, load_observed
from tools.programs import load_programs

pytestmark = pytest.mark.old_releases

LISTED = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "predicted_otherwise.toml").read_text("utf-8")
)["contradiction"]
READ, REFUSED = "1", "0"
MARKS = {"read": READ, "refused": REFUSED}


@pytest.fixture(scope="module")
def surprises() -> set[tuple[str, str, str]]:
    """Return every (program, reader, mark) in which the predicted Verdict and the reader differ."""
    scanner, found = Scanner(), set()
    programs = {program.name: program for program in load_programs()}
    releases = {reader: find_release(f"jaxlib {reader}") for reader in READERS}
    for (name, target), marks in load_observed().items():
        try:
            data = scanner.serialize(programs[name].text, target)
        except scanner.parse_error:  # newer than the installed library
            continue
        if data is None:
            continue
        subject = examine(Artifact.from_bytes(data))
        for reader, mark in zip(READERS, marks, strict=True):
            verdict = predict(subject, releases[reader])
            # What goes wrong after reading says nothing about reading.
            reads = verdict.compatible or verdict.stage > Stage.DECODE
            if mark != (READ if reads else REFUSED):
                found.add((name, reader, mark))
    return found


def _covers(row: dict[str, list[str]], program: str, reader: str, mark: str) -> bool:
    observed = MARKS[str(row["observed"])]
    return (
        reader in row["readers"]
        and mark == observed
        and any(fnmatch(program, pattern) for pattern in row["programs"])
    )


def test_predictions_are_what_readers_did(surprises: set[tuple[str, str, str]]) -> None:
    """A Release reads an artifact as predicted; what happened otherwise is listed."""
    unlisted = [one for one in surprises if not any(_covers(row, *one) for row in LISTED)]
    assert not sorted(unlisted)


def test_listed_surprises_still_happen(surprises: set[tuple[str, str, str]]) -> None:
    """Every row of the list stands for something that was observed."""
    assert all(row["reason"] and row["link"] for row in LISTED)
    assert [row for row in LISTED if not any(_covers(row, *one) for one in surprises)] == []
