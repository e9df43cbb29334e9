"""The corpus executed by jaxlib, each Case at its lowest and highest artifact, in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.eras import marked, versions
from compat_tests.helpers.sealed import CASES
from compat_tests.helpers.thorough import some
from portable.artifact import Artifact
from portable.errors import PortableError
from portable.prediction import predict
from portable.releases import find_release
from portable.runtime.executors import find_executor
from portable.verdict import Stage
from tools.execute_corpus import RUNS, Run, different, execute, load_executed

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

HERE = [run for run in RUNS if run.executor in {"pjrt", "interpreter"}]


@pytest.mark.parametrize(
    "run",
    some([marked([run.release], run, to_execute=True) for run in HERE], each=2, first=1),
    ids=str,
)
def test_the_corpus_ends_as_it_did(run: Run) -> None:
    """Equal bits at both ends, within the tolerance of the Case: or as executed.json says."""
    assert different(load_executed()[str(run)], execute(run, CASES.values())) == []


@pytest.mark.parametrize("version", versions("0.4.33", "0.9.1", "0.12.0.1"))
def test_what_is_predicted_to_compile_compiles(
    version: str, release: Callable[[str], Environment]
) -> None:
    """Also Cases that are never executed, because what they take or give is no array."""
    name = f"jaxlib {version}"
    executed = {case for of in load_executed().values() for case in of}
    read_by = find_release(name).target
    refused = {}
    with find_executor("pjrt", release(name), limit=60) as executor:
        for case in CASES.keys() - executed:
            known = [one for one in CASES[case].artifacts if one.target.target <= read_by]
            artifact = Artifact.load(known[-1].path) if known else None
            if artifact and predict(artifact, name, stage=Stage.COMPILE).compatible:
                try:
                    executor.compile(artifact)
                except PortableError as error:
                    refused[case] = str(error)
    assert refused == {}
