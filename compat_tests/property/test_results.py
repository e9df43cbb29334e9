"""What is said of artifacts, containers and damaged files is what was kept, in every field."""

from __future__ import annotations

import pytest

from compat_tests.helpers.thorough import some
from tools import results

PARTS = 40


@pytest.mark.parametrize("part", some(range(PARTS), each=4))
def test_nothing_else_is_said_than_before(part: int) -> None:
    """Inspection, Verdicts up to executing, errors with their places; `tools results --show`."""
    wrong = results.wrong([*results.samples()][part::PARTS])
    assert wrong == [], "if each is meant: python -m tools results"


def test_every_sample_is_kept() -> None:
    """And nothing is kept of what is no sample any more."""
    assert results.kept().keys() == results.samples().keys(), "python -m tools results"
