"""The full matrix: what counts as another program, and what is read and executed."""

from __future__ import annotations

from pathlib import Path

from portable.corpus import load_case
from portable.matrix import Pick, case_items
from tools.full_matrix import Written, items_of, others

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
