"""The corpus executed: the lowest and highest artifact of each Case, all in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_tests.sealed import CASES
from portable.artifact import Artifact
from portable.corpus.tensors import load_tensor
from portable.errors import PortableError
from portable.executors import Tolerance, compare_all, find_executor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from portable.corpus import Case
    from portable.environments import Environment
    from portable.executors import Executor
    from portable.executors.tensors import Array

    Release = Callable[[str], Environment]

RELEASE = "jaxlib 0.10.2"
# XLA:CPU returns f32 where `main` says f64: the accumulator's type is dropped with the collective
# or the scatter. The interpreter computes the f64 that is expected, or has no such collective.
WRONG = {
    "pjrt": {
        "all_reduce_promoting_f32_to_f64",
        "reduce_scatter_promoting_f32_to_f64",
        "scatter_promoting_f32_to_f64",
    },
    "interpreter": set[str](),
}
# How many Cases the Executor must at least compute. It may refuse others, or end on them: XLA
# compiles no dynamic shapes, and this build of the interpreter aborts on most collectives.
FEWEST = {"pjrt": 400, "interpreter": 370}
EXECUTED = [case for case in CASES.values() if case.expected and case.artifacts]


def _run(executor: Executor, path: Path, inputs: list[Array]) -> list[Array] | None:
    try:
        return executor.compile(Artifact.load(path)).run(inputs)
    except PortableError:
        return None


def _ends(case: Case) -> list[Path]:
    return list(dict.fromkeys((case.artifacts[0].path, case.artifacts[-1].path)))


@pytest.mark.parametrize("name", ["pjrt", "interpreter"])
def test_every_version_computes_what_is_expected(release: Release, name: str) -> None:
    """Lowest and highest artifact give equal bits, and those are within the Case's tolerance."""
    computed, changed, wrong = 0, [], set()
    with find_executor(name, release(RELEASE), limit=60.0) as executor:
        for case in EXECUTED:
            inputs = [load_tensor(tensor) for tensor in case.inputs]
            expected = [load_tensor(tensor) for tensor in case.expected]
            runs = [_run(executor, path, inputs) for path in _ends(case)]
            found = [outputs for outputs in runs if outputs is not None]
            if not found:
                continue
            computed += 1
            if not all(one.same for one in compare_all(found[0], found[-1])):
                changed.append(case.name)
            near = Tolerance(0, case.tolerance.relative, case.tolerance.absolute)
            if not all(one.same for one in compare_all(expected, found[0], near)):
                wrong.add(case.name)
    assert changed == []
    assert wrong == WRONG[name]
    assert computed >= FEWEST[name]
