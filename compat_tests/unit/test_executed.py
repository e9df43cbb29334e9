"""What became of each Case when it was executed: complete, and explained."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from compat_tests.helpers.sealed import CASES
from portable.artifact import Artifact
from portable.corpus.execution import Ending
from portable.prediction import Subject, examine
from portable.releases import find_release
from portable.releases.advisory import Effect, advisories_for
from tools.execute_corpus import RUNS, Run, load_executed

EXECUTED = load_executed()
OTHERWISE = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "executed_otherwise.toml").read_text("utf-8")
)["otherwise"]
EFFECTS = {
    Ending.WRONG: Effect.WRONG_RESULT,
    Ending.CHANGED: Effect.WRONG_RESULT,
    Ending.CRASHED: Effect.CRASHES,
    Ending.HUNG: Effect.CRASHES,
}


@cache
def _computing() -> frozenset[str]:
    """Return the Cases that have an artifact and the outputs of it."""
    return frozenset(case.name for case in CASES.values() if case.expected and case.artifacts)


@cache
def _subject(name: str) -> Subject:
    return examine(Artifact.load(CASES[name].artifacts[0].path))


def _advised(run: Run, name: str, ending: Ending) -> bool:
    """Whether an Advisory on the Release has this effect, of a Feature that the Case has."""
    release = find_release(run.release)
    subject = _subject(name)
    return any(
        advisory.feature in {*subject.present, *subject.forms}
        for advisory in advisories_for(release)
        if advisory.effect is EFFECTS[ending]
    )


def _covers(row: dict[str, Any], run: Run, name: str, ending: Ending) -> bool:
    same = (row["run"], row["ending"]) == (str(run), str(ending))
    return same and any(fnmatch(name, pattern) for pattern in row["cases"])


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_every_case_was_executed(run: Run) -> None:
    """Each Case that has expected outputs ended somehow, with a reason unless it was computed."""
    became = EXECUTED[str(run)]
    assert set(became) == _computing()
    assert all(one.reason for one in became.values() if one.ending is not Ending.COMPUTED)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_what_went_wrong_is_explained(run: Run) -> None:
    """By an Advisory on the Release, or by a row of executed_otherwise.toml."""
    unexplained = [
        (name, one)
        for name, one in EXECUTED[str(run)].items()
        if one.ending in EFFECTS
        and not _advised(run, name, one.ending)
        and not any(_covers(row, run, name, one.ending) for row in OTHERWISE)
    ]
    assert unexplained == []


def test_every_explanation_is_needed() -> None:
    """Each pattern of each row stands for a Case that no Advisory explains."""
    for row in OTHERWISE:
        assert row["reason"]
        (run,) = (run for run in RUNS if str(run) == row["run"])
        ending = Ending(row["ending"])
        ended = [name for name, one in EXECUTED[str(run)].items() if one.ending is ending]
        unadvised = [name for name in ended if not _advised(run, name, ending)]
        for pattern in row["cases"]:
            assert any(fnmatch(name, pattern) for name in unadvised), (row["run"], pattern)
