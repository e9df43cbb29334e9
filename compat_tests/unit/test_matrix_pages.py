"""The pages of the full matrix and of the findings: derived, and complete."""

from __future__ import annotations

from fnmatch import filter as matching

from portable.matrix.listed import contradictions
from portable.releases import releases
from portable.releases.advisory import advisories
from tools import findings, matrix_pages
from tools.consumer import consumers
from tools.matrix_pages import EXECUTED, NOT_ASKED, load_results

RESULTS = load_results()


def test_the_pages_are_those_of_the_raw_results() -> None:
    """Nobody wrote into a page by hand: `python -m tools matrix_pages`."""
    for name, text in matrix_pages.pages(RESULTS).items():
        assert (matrix_pages.PAGES / name).read_text("utf-8") == text, name


def test_the_findings_are_those_of_the_tables() -> None:
    """An Advisory, refusal or contradiction is on the page: `python -m tools findings`."""
    assert findings.PAGE.read_text("utf-8") == findings.page()


def test_every_contradiction_is_explained() -> None:
    """What was not as predicted in the full matrix is listed, and what is listed was seen there.

    But for Cases that are newer than the matrix; `executed.json` has those. An Advisory explains
    what it leaves open in the prediction.
    """
    cases = {row.case for row in RESULTS.artifacts}
    listed = {
        row.id for row in contradictions() if any(matching(cases, pattern) for pattern in row.cases)
    }
    seen = {one.listed for one in RESULTS.surprises}
    assert listed <= seen <= listed.union(row.id for row in advisories())


# Of each minor TensorFlow one was asked; the others, and those for the CPU alone, were measured on
# 2026-11-22 for their Version, which is the same.
_ASKED = ("2.14.1", "2.15.1", "2.16.2", "2.17.1", "2.18.1", "2.19.1", "2.20.0", "2.21.0")
_VERSION_ALONE = {
    str(release): f"tensorflow {asked}"
    for release in (*releases("tensorflow"), *releases("tensorflow-cpu"))
    for asked in _ASKED
    if release.exact and release.version[:4] == asked[:4] and str(release) != f"tensorflow {asked}"
}
# These climbed the ladder on 2026-11-23 and no more: IREE takes a process for each artifact.
_LADDER_ALONE = {
    f"iree-base-compiler {version}"
    for version in (
        *("2.9.0", "3.1.0", "3.2.0", "3.3.0", "3.5.0"),
        *("3.6.0", "3.7.0", "3.8.0", "3.11.0", "3.12.0"),
    )
}


def test_the_matrix_is_full() -> None:
    """Every Release that reads was asked, and executed; every jaxlib wrote what it can."""
    readers = {str(release): release for release in consumers().values()}
    # Of these the lowest and the highest artifact of each Case: `python -m tools new_release`.
    pages = {path.stem for path in (matrix_pages.PAGES.parent / "releases").glob("*.md")}
    alone = {name for name in readers if name.replace(" ", "-") in pages}
    assert readers.keys() >= _LADDER_ALONE
    asked_less = _VERSION_ALONE.keys() | _LADDER_ALONE | alone
    assert set(RESULTS.consumers) == readers.keys() - asked_less
    for name, asked in _VERSION_ALONE.items():
        assert readers[name].current == readers[asked].current
        assert asked in RESULTS.consumers
    widths = {len(row.marks) for row in RESULTS.artifacts}
    assert widths == {len(RESULTS.consumers)}
    columns = zip(*(row.marks for row in RESULTS.artifacts), strict=True)
    for name, column in zip(RESULTS.consumers, columns, strict=True):
        assert set(column) != {NOT_ASKED}, name
        assert set(column) & EXECUTED, name
    assert {len(row.marks) for row in RESULTS.written} == {len(RESULTS.producers)}


def test_the_raw_results_stay_compact() -> None:
    """They are under 10 MB together."""
    assert sum(path.stat().st_size for path in matrix_pages.PAGES.glob("*")) < 10_000_000
