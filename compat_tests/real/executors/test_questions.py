"""The answers of questions.toml, checked on the real Releases."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from compat_tests.helpers.eras import marked
from portable.runtime.executors import ExecutionFailed, random_inputs
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from compat_tests.real.executors.conftest import Open

ROOT = Path(__file__).parents[3]
QUESTIONS = [
    question
    for question in tomllib.loads((ROOT / "compat_tests/data/questions.toml").read_text("utf-8"))[
        "question"
    ]
    if "release" in question
]

# What a Release does that does not compile it.
FAILING = {"compile": Outcome.INCOMPATIBLE, "crashes": Outcome.CRASHED}


@pytest.mark.parametrize(
    "question", [marked([question["release"]], question, to_execute=True) for question in QUESTIONS]
)
def test_the_release_does_what_is_answered(open_executor: Open, question: dict[str, Any]) -> None:
    """It refuses to compile, dies, or computes; a wrong result is that of another arithmetic."""
    executor = open_executor(question.get("executor", "pjrt"), question["release"])
    path = ROOT / question["program"]
    if failing := FAILING.get(question["seen"]):
        with pytest.raises(ExecutionFailed) as failure:
            executor.compile(path)
        verdict = failure.value.verdict
        assert (verdict.outcome, verdict.stage) == (failing, Stage.COMPILE)
        return
    executable = executor.compile(path)
    if question["seen"] == "computes":
        assert executable.run(random_inputs(executable.signature, 0))
    else:  # an addition of booleans
        inputs = random_inputs(executable.signature, 0)
        ones = [np.ones_like(array) for array in inputs]
        assert not executable.run(ones)[0].any()
