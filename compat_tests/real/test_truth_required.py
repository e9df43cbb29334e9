"""The required Version of thousands of artifacts, against what twelve real jaxlibs read."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest

from compat_tests.helpers.eras import versions
from portable.bytecode import read
from portable.features import analyze
from portable.releases import find_release
from portable.runtime.environments import Environment
from portable.version import Version
from tools.full_scan import Scanner
from tools.observe_readers import READERS, load_observed
from tools.programs import load_programs

pytestmark = pytest.mark.old_releases

CONTRADICTIONS = Path(__file__).parents[1] / "data" / "required_otherwise.toml"
READ, REFUSED = "1", "0"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What readers did against the prediction, and for which programs."""

    readers: frozenset[str]
    observed: str
    programs: tuple[str, ...]

    def covers(self, program: str, reader: str, mark: str) -> bool:
        """Say whether one observation is listed here."""
        return (
            reader in self.readers
            and mark == self.observed
            and any(fnmatch(program, pattern) for pattern in self.programs)
        )


def _contradictions() -> list[Contradiction]:
    rows = tomllib.loads(CONTRADICTIONS.read_text("utf-8"))["contradiction"]
    assert all(row["reason"] and row["link"] for row in rows)
    marks = {"read": READ, "refused": REFUSED}
    return [
        Contradiction(frozenset(row["readers"]), marks[row["observed"]], tuple(row["programs"]))
        for row in rows
    ]


def _current(reader: str) -> Version:
    release = find_release(f"jaxlib {reader}")
    assert isinstance(release.current, Version)
    return release.current


@dataclass(frozen=True, slots=True)
class Compared:
    """Which programs the installed library wrote, and what was read otherwise than predicted."""

    programs: set[str]
    surprises: set[tuple[str, str, str]]


@pytest.fixture(scope="module")
def compared() -> Compared:
    """Compare every mark with the prediction: each (program, reader, mark) that differs."""
    scanner, observed = Scanner(), load_observed()
    found = Compared(set(), set())
    programs = {program.name: program for program in load_programs()}
    currents = {reader: _current(reader) for reader in READERS}
    for (name, target), marks in observed.items():
        try:
            artifact = scanner.serialize(programs[name].text, target)
        except scanner.parse_error:  # newer than the installed library
            continue
        if artifact is None:
            continue
        found.programs.add(name)
        needed = analyze(read(artifact)).required.version
        assert needed is not None, name
        for reader, mark in zip(READERS, marks, strict=True):
            predicted = READ if currents[reader] >= needed else REFUSED
            if mark != predicted:
                found.surprises.add((name, reader, mark))
    return found


def test_required_version_predicts_which_releases_read(compared: Compared) -> None:
    """A jaxlib reads an artifact if and only if its Version is the required one or newer.

    What really happened otherwise is listed as data, each with a reason.
    """
    listed = _contradictions()
    unlisted = [one for one in compared.surprises if not any(row.covers(*one) for row in listed)]
    assert not sorted(unlisted)


def test_listed_contradictions_still_happen(compared: Compared) -> None:
    """Every row of the list stands for something that was observed.

    But those of programs that only a newer library writes.
    """
    written = [
        row
        for row in _contradictions()
        if any(fnmatch(name, one) for name in compared.programs for one in row.programs)
    ]
    assert len(written) >= 3
    assert [row for row in written if not any(row.covers(*one) for one in compared.surprises)] == []


def test_nothing_in_the_matrix_crashed_or_hung() -> None:
    """Valid artifacts are read or refused by every Release, never worse."""
    assert {mark for marks in load_observed().values() for mark in marks} <= {READ, REFUSED}


@pytest.mark.parametrize("reader", versions("0.4.33", "0.5.3", "0.4.36", "0.8.0"))
def test_observed_matrix_is_observed_again(
    release: Callable[[str], Environment], reader: str, tmp_path: Path
) -> None:
    """One artifact in fifty, and of the refused one in ten, read again gives the mark on record."""
    scanner, observed = Scanner(), load_observed()
    programs = {program.name: program for program in load_programs()}
    column = READERS.index(reader)
    refused = sorted(key for key, marks in observed.items() if marks[column] == REFUSED)
    sample = {}
    for name, target in {*sorted(observed)[::50], *refused[::10]}:
        try:
            artifact = scanner.serialize(programs[name].text, target)
        except scanner.parse_error:  # newer than the installed library
            continue
        if artifact is not None:
            path = tmp_path / f"{name}+{target}"
            path.write_bytes(artifact)
            sample[name, target] = path
    with release(f"jaxlib {reader}").worker() as worker:
        jobs = ({"kind": "read", "path": str(path)} for path in sample.values())
        marks = [READ if answer.ok else REFUSED for answer in worker.ask_all(jobs)]
    assert marks == [observed[key][column] for key in sample]
    assert {READ, REFUSED} <= set(marks)
