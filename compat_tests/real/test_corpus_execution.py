"""The corpus executed by jaxlib, each Case at its lowest and highest artifact, in one process."""

from __future__ import annotations

import pytest

from compat_tests.helpers.eras import marked
from compat_tests.helpers.sealed import CASES
from tools.execute_corpus import RUNS, Run, different, execute, load_executed

pytestmark = pytest.mark.old_releases

HERE = [run for run in RUNS if run.executor in {"pjrt", "interpreter"}]


@pytest.mark.parametrize("run", [marked([run.release], run) for run in HERE], ids=str)
def test_the_corpus_ends_as_it_did(run: Run) -> None:
    """Equal bits at both ends, within the tolerance of the Case: or as executed.json says."""
    assert different(load_executed()[str(run)], execute(run, CASES.values())) == []
