"""The page of a new Release: what ends otherwise than before, and what waits for a finding."""

from __future__ import annotations

from compat_tests.helpers.matrices import cell, matrix, observed
from portable.verdict import Outcome, Stage
from tools.new_release import changes, page

OLD, NEW = "jaxlib 0.4.30", "jaxlib 0.4.31"
REFUSED, DECODE = Outcome.INCOMPATIBLE, Stage.DECODE
MATRIX = matrix(
    # As both do: tan came with 0.4.31.
    cell("tan+1.4.0", OLD, observed(OLD, REFUSED, DECODE, "unregistered operation")),
    cell("tan+1.4.0", NEW, observed(NEW)),
    cell("add_f32+0.9.0", OLD, observed(OLD)),
    # Neither did this.
    cell("add_f32+0.9.0", NEW, observed(NEW, REFUSED, DECODE, "unregistered operation")),
    cell("add_f32+1.17.0", OLD, observed(OLD)),
    cell("add_f32+1.17.0", NEW, None),
)


def test_what_ends_otherwise_is_found() -> None:
    """What begins and what ends to be read; nothing of what only one of them was given."""
    assert [(name, before[:12], after[:12]) for name, before, after in changes(MATRIX)] == [
        ("tan+1.4.0", "incompatible", "compatible: "),
        ("add_f32+0.9.0", "compatible: ", "incompatible"),
    ]


def test_the_page_says_what_an_upgrade_brings_and_what_is_to_be_explained() -> None:
    """What the tables say, what the corpus shows, and contradictions that nothing explains."""
    tables, corpus, unexplained = page(MATRIX, "# What the tables say\n").split("\n## ")
    assert tables.strip() == "# What the tables say"
    assert corpus.startswith("The corpus on both, 2026-11-21\n\n3 artifacts, up to the Stage `dec")
    assert f"| artifact | {OLD} | {NEW} |" in corpus
    assert "| tan+1.4.0 | incompatible" in corpus
    assert f"| add_f32+0.9.0 | {NEW} | compatible: reads it" in unexplained
    assert "tan" not in unexplained


def test_a_release_that_does_what_its_predecessor_does_has_an_empty_page() -> None:
    """It is said, not left out."""
    same = matrix(
        cell("add_f32+0.9.0", OLD, observed(OLD)), cell("add_f32+0.9.0", NEW, observed(NEW))
    )
    assert page(same, "").count("\nNone.\n") == 2
