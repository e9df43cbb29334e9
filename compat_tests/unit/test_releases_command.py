"""`portable releases`: what has shipped, and what an upgrade brings."""

import itertools
import json
import tomllib
from pathlib import Path

import pytest

from portable.cli import main
from portable.releases import advisories_for, diff, find_release, releases

ROOT = Path(__file__).parents[2]
DATA = ROOT / "portable" / "releases" / "data"
JAXLIBS = [one for one in releases("jaxlib") if one.below is None]


def test_an_upgrade_is_undone_by_the_way_back() -> None:
    """What begins on the way up ends on the way down, for all neighbours in the table."""
    for before, after in itertools.pairwise(JAXLIBS):
        up, down = diff(before, after).changes, diff(after, before).changes
        assert {(c.kind, c.name, c.begins) for c in up} == {
            (c.kind, c.name, not c.begins) for c in down
        }


def test_steps_add_up_to_the_whole_upgrade() -> None:
    """Nothing is said of the whole way that no step says, and the reverse."""
    known: set[tuple[str, str]] = set()
    for before, after in itertools.pairwise(JAXLIBS):
        for change in diff(before, after).changes:
            (known.add if change.begins else known.discard)((change.kind, change.name))
    whole = diff(JAXLIBS[0], JAXLIBS[-1]).changes
    # What was not executed on each of them can only be compared where it was.
    assert {(c.kind, c.name) for c in whole if c.begins and c.kind != "behaviour"} == {
        one for one in known if one[0] != "behaviour"
    }


@pytest.mark.parametrize(
    ("before", "after", "kind", "name", "begins"),
    [
        ("jaxlib 0.4.30", "jaxlib 0.4.31", "reads", "op tan_v1", True),
        ("jaxlib 0.4.28", "jaxlib 0.4.29", "refuses", "op trace_v1", True),
        ("jaxlib 0.4.34", "jaxlib 0.4.36", "advisory", "range-locations", False),
        ("jaxlib 0.10.1", "jaxlib 0.10.2", "advisory", "mesh-symbol-not-found", True),
        ("jaxlib 0.11.2", "jaxlib 0.12.0.1", "reads", "where compare_type is WEAKORDER", True),
    ],
)
def test_what_real_releases_changed_is_named(
    before: str, after: str, kind: str, name: str, begins: bool
) -> None:
    """Each was seen on both Releases; docs/findings.md and the tables name the evidence."""
    changes = diff(find_release(before), find_release(after)).changes
    assert (kind, name, begins) in {(c.kind, c.name, c.begins) for c in changes}


def test_cases_that_end_otherwise_are_named() -> None:
    """What the matrix observed on both: here a wrong result of jaxlib 0.9.1 that 0.9.2 has not."""
    raw = (ROOT / "docs" / "matrix" / "artifacts.tsv").read_text("utf-8").splitlines()
    heads = raw[1].removeprefix("# ").split(", ")
    old, new = heads.index("jaxlib 0.9.1"), heads.index("jaxlib 0.9.2")
    rows = [line.split("\t") for line in raw[3:]]
    mended = {
        f"Case {case} for {target}: computes something else"
        for case, target, _, marks in rows
        if (marks[old], marks[new]) == ("W", "E")
    }
    changes = diff(find_release("jaxlib 0.9.1"), find_release("jaxlib 0.9.2")).changes
    assert mended
    assert mended <= {c.name for c in changes if c.kind == "behaviour" and not c.begins}


def test_every_advisory_begins_or_ends_somewhere() -> None:
    """Between the Releases that an Advisory is about and those that it is not about."""
    table = tomllib.loads((DATA / "advisories.toml").read_text("utf-8"))["advisory"]
    about = {row["id"] for row in table if row["distribution"] == "jaxlib"}
    seen = {
        change.name
        for before, after in itertools.pairwise(JAXLIBS)
        for change in diff(before, after).changes
        if change.kind == "advisory"
    }
    always = {
        row["id"]
        for row in table
        if row["id"] in about - seen
        and all(any(a.id == row["id"] for a in advisories_for(one)) for one in JAXLIBS)
    }
    assert about == seen | always


def test_the_command_compares_two(capsys: pytest.CaptureFixture[str]) -> None:
    """Text for people, Markdown for a change request, JSON for machines: the same changes."""
    words = ["releases", "diff", "jaxlib 0.9.1", "jaxlib==0.12.0.1"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert text.startswith("jaxlib 0.9.1 (StableHLO 1.13.")
    assert main([*words, "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert main([*words, "--format", "markdown"]) == 0
    markdown = capsys.readouterr().out
    for change in record["changes"]:
        assert change["name"] in text
        assert change["name"] in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert len(rows) == len(record["changes"]) + 2


def test_a_release_equals_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """No difference is said in words."""
    assert main(["releases", "diff", "jaxlib 0.9.1", "jaxlib 0.9.1"]) == 0
    assert "no known difference" in capsys.readouterr().out


@pytest.mark.parametrize("specs", [[], ["jaxlib 0.9.1"], ["jaxlib>=0.9", "jaxlib 0.9.1"]])
def test_diff_takes_two_releases(specs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is bad usage, in one line that says how."""
    assert main(["releases", "diff", *specs]) == 2
    assert "jaxlib" in capsys.readouterr().err


def test_a_bracketed_side_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    """A Release whose Version is only bracketed is compared by its lowest, and it is said."""
    assert main(["releases", "diff", "jax-rocm7-pjrt 0.6.0", "jaxlib 0.12.0.1"]) == 0
    assert "note: jax-rocm7-pjrt 0.6.0 has at least" in capsys.readouterr().out
