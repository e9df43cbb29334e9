"""The full matrix: what counts as another program, and what is read and executed."""

from __future__ import annotations

from pathlib import Path

from portable.corpus import load_case
from portable.matrix import Pick, case_items
from tools.full_matrix import Written, beside, items_of, others
from tools.matrix_pages import Results, Row, Surprise

CASE = load_case(Path(__file__).parents[2] / "corpus" / "elementwise" / "abs_f32")


def _written(digest: str, target: str = "1.0.0") -> Written:
    return Written(CASE.name, target, "jaxlib 0.10.2", digest)


def test_what_cannot_be_read_is_never_the_same_program() -> None:
    """Two programs that the judge cannot read are not equal; a refusal to write is no program."""
    written = [_written("same"), _written("other"), _written("broken"), _written("")]
    texts = {"same": "program", "other": "another", "broken": ""}
    assert others(written, {CASE.name: "program"}, texts) == {"other", "broken"}
    assert others(written, {CASE.name: ""}, texts) == {"same", "other", "broken"}


def test_equal_bytes_are_read_once() -> None:
    """What a producer wrote that is sealed already, or that another wrote too, is one artifact."""
    sealed = list(case_items(CASE, Pick.ALL))
    again = sealed[0].digest
    items = items_of(sealed, [_written(again), _written("new"), _written("new")], Path("folder"))
    assert [item.digest for item in items] == [*(item.digest for item in sealed), "new"]
    assert items[-1].producer == "jaxlib 0.10.2"
    # Reading is not executing: all have the same key, whatever their Case computes.
    assert all(item.inputs is None and item.expected == () for item in items)


def test_what_was_missing_stands_beside_what_was_there() -> None:
    """What Releases did with other Cases is kept; of the same Case the later observation counts."""

    def results(date: str, mark: str, *cases: str) -> Results:
        rows = tuple(Row(case, "1.0.0", "sealed", mark) for case in cases)
        written = tuple(Row(case, "", "current", mark) for case in cases)
        surprises = tuple(Surprise("jaxlib 0.5.3", case, "1.0.0", date, "", "") for case in cases)
        return Results(date, ("jaxlib 0.5.3",), rows, ("jaxlib 0.5.3",), written, surprises)

    both = beside(results("before", "x", "a", "c"), results("after", "r", "b", "c"))
    assert both.date == "after"
    assert [(row.case, row.marks) for row in both.artifacts] == [("a", "x"), ("b", "r"), ("c", "r")]
    assert [(row.case, row.marks) for row in both.written] == [("a", "x"), ("b", "r"), ("c", "r")]
    assert sorted((one.case, one.predicted) for one in both.surprises) == [
        ("a", "before"), ("b", "after"), ("c", "after"),
    ]  # fmt: skip
