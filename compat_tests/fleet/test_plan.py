"""What a plan foretells, against what Releases did; what queries answer, against the rows."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pyarrow.parquet
import pytest

from portable.cli import main
from portable.corpus import load_corpus
from portable.fleet import (
    FleetError,
    InvalidQuery,
    Transition,
    ask,
    audit,
    calendar,
    plan,
    query_names,
    query_text,
)
from portable.fleet.subjects import read_subject
from portable.matrix.listed import contradictions
from portable.prediction import predict, subjects
from portable.releases import find_release, window
from portable.verdict import Stage

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus"
# What real Releases did with sealed artifacts: one mark for each, `.` where it was not tried.
MATRIX = ROOT / "docs" / "matrix" / "artifacts.tsv"
READ = frozenset("rtuREWXCH")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An audit of the corpus."""
    path = tmp_path_factory.mktemp("fleet") / "fleet.parquet"
    audit([str(CORPUS)], path, depth="content")
    return path


def _observed() -> dict[tuple[str, str], dict[str, str]]:
    """Return Release -> mark of each sealed artifact, by Case and target."""
    lines = MATRIX.read_text("utf-8").splitlines()
    releases = lines[1].removeprefix("# ").split(", ")
    rows = (line.split("\t") for line in lines[3:])
    return {
        (case, target): dict(zip(releases, marks, strict=True))
        for case, target, origin, marks in rows
        if origin == "sealed"
    }


def _moves(releases: list[str]) -> Iterator[tuple[str, str]]:
    """Yield every upgrade by one Release, and between the oldest and the newest both ways."""
    by_name = defaultdict(list)
    for release in releases:
        by_name[release.split(" ")[0]].append(release)
    for line in by_name.values():
        yield from itertools.pairwise(line)
        if len(line) > 1:
            yield line[0], line[-1]
            yield line[-1], line[0]


def _known(case: str, release: str) -> bool:
    """Return whether a contradiction with what is predicted is listed."""
    return any(
        release in one.consumers and any(fnmatchcase(case, pattern) for pattern in one.cases)
        for one in contradictions()
    )


def test_what_a_plan_foretells_is_what_releases_did(fleet: Path) -> None:
    """For every artifact that both Releases of a move were given."""
    sealed = {
        str(artifact.path): (case.name, str(artifact.target))
        for case in load_corpus(CORPUS)
        for artifact in case.artifacts
    }
    observed = _observed()
    # torch_xla reads only to execute: what it refuses it may have read.
    releases = [one for one in next(iter(observed.values())) if not one.startswith("torch-xla")]
    wrong, held = [], Counter[str]()
    for before, after in _moves(releases):
        found = plan(fleet, [find_release(before)], [find_release(after)])
        said = {
            name: (outlook.change, "does not read it" in outlook.reason)
            for outlook in found.outlooks
            for name in outlook.artifacts
        }
        for path, key in sealed.items():
            marks = [observed.get(key, {}).get(release, ".") for release in (before, after)]
            change, reading = said.get(path, (Transition.KEEPS, True))
            if "." in marks or not reading or _known(key[0], before) or _known(key[0], after):
                continue
            if change in _READS:
                held[str(change)] += 1
                read, does = [mark in READ for mark in marks], _READS[change]
                if read[1] is not does[1] or does[0] not in {None, read[0]}:
                    wrong.append((path, before, after, str(change), marks))
    assert not wrong, wrong[:10]
    assert all(held[str(change)] > 100 for change in _READS), held


_READS = {
    Transition.KEEPS: (True, True),
    Transition.STOPS: (True, False),
    Transition.STARTS: (False, True),
    Transition.FAILS: (None, False),  # the reason is that of the new consumer
}


def test_a_subject_survives_being_written(fleet: Path) -> None:
    """What is predicted of what an audit wrote is what is predicted of the file."""
    rows = pyarrow.parquet.read_table(fleet, columns=["place", "subject"]).to_pylist()
    releases = [find_release(name) for name in ("jaxlib 0.4.13", "jaxlib 0.9.1")]
    compared = 0
    for row in rows[::7]:
        if row["subject"]:
            (subject,) = subjects(row["place"]).values()
            for release in releases:
                assert predict(read_subject(row["subject"]), release) == predict(subject, release)
                compared += 1
    assert compared > 500


def test_the_calendar_counts_each_artifact_once(fleet: Path) -> None:
    """With the date of the Window of its Version."""
    found = calendar(fleet)
    rows = pyarrow.parquet.read_table(fleet).to_pylist()
    assert sum(one.artifacts for one in found) == sum(row["claimed"] is not None for row in rows)
    for one in found:
        if one.until:
            assert one.until == window(one.version).readable_until
    assert [one.until for one in found if one.until] == sorted(
        one.until for one in found if one.until
    )


def test_every_query_answers(fleet: Path) -> None:
    """Those that can be counted otherwise, with what Python counts in the rows."""
    rows = pyarrow.parquet.read_table(fleet).to_pylist()
    good = [row for row in rows if row["error"] is None and row["kind"] != "other"]
    release = find_release("jaxlib 0.4.33")
    answers = {name: list(ask(fleet, query_text(name), [release])[1]) for name in query_names()}
    assert len(answers["damaged"]) == sum(row["error"] is not None for row in rows)
    claimed = Counter(row["claimed"] for row in good)
    assert {row[0]: row[1] for row in answers["by-version"]} == claimed
    unread = {
        row["place"]
        for row in good
        if predict(read_subject(row["subject"]), release).holds(Stage.DECODE) is not True
    }
    assert {row[0] for row in answers["unread"]} == unread
    twice = Counter(row["fingerprint"] for row in good)
    assert {row[0]: row[1] for row in answers["duplicates"]} == {
        one: count for one, count in twice.items() if count > 1
    }
    assert answers["expiring"]
    assert answers["advised"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELEC",
        "COPY fleet TO 'stolen.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "ATTACH 'other.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
    ],
)
def test_a_question_reads_and_writes_nothing_else(fleet: Path, sql: str) -> None:
    """Whoever wrote the statement: it sees the fleet."""
    with pytest.raises(InvalidQuery):
        ask(fleet, sql)


def test_the_commands_show_it(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text says a number for everything, JSON has every name; exit codes as of the gate."""
    move = ["--from", "jaxlib==0.12.0.1", "--to", "jaxlib==0.4.33"]
    assert main(["plan", str(fleet), *move]) == 1
    text = capsys.readouterr().out
    assert main(["plan", str(fleet), *move, "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    stops = sum(len(e["artifacts"]) for e in found["outlooks"] if e["change"] == "stops")
    assert stops == found["counts"]["stops"]
    assert f"{stops} stops" in text
    assert main(["plan", str(fleet), "--today"]) == 1
    assert "within 90 days" in capsys.readouterr().out


def test_an_audit_that_was_damaged_is_an_error(tmp_path: Path) -> None:
    """Not a wrong plan."""
    with pytest.raises(FleetError):
        read_subject('{"format": "x"}')
    with pytest.raises(FleetError):
        calendar(tmp_path / "missing.parquet")
