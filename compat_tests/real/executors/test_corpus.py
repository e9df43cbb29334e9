"""The corpus executed by the Executors beside jaxlib, each Case at both its ends."""

from __future__ import annotations

import pytest

from compat_tests.helpers.sealed import CASES
from tools.execute_corpus import RUNS, Run, different, execute, load_executed

OTHERS = [run for run in RUNS if run.executor not in {"pjrt", "interpreter"}]


@pytest.mark.parametrize("run", OTHERS, ids=str)
def test_the_corpus_ends_as_it_did(run: Run) -> None:
    """Equal bits at both ends, within the tolerance of the Case: or as executed.json says."""
    assert different(load_executed()[str(run)], execute(run, CASES.values())) == []
