"""Execute Cases: what becomes of each, against what it has to compute."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.corpus.tensors import load_tensor
from portable.errors import PortableError
from portable.runtime.executors import ExecutionFailed, compare_all
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from portable.corpus.case import Case
    from portable.runtime.executors import Executor
    from portable.runtime.executors.tensors import Array
    from portable.version import Version

__all__ = ["LIMIT_S", "Became", "Ending", "attempt"]

# One compilation or execution.
LIMIT_S = 60.0
_WORDS = 160


class Ending(enum.Enum):
    """What became of a Case."""

    COMPUTED = "computed"
    WRONG = "wrong"
    CHANGED = "changed"
    REFUSED = "refused"
    CRASHED = "crashed"
    HUNG = "hung"
    EXCLUDED = "excluded"
    NEWER = "newer"

    def __str__(self) -> str:
        return self.value


_FAILED = {Outcome.CRASHED: Ending.CRASHED, Outcome.HUNG: Ending.HUNG}


@dataclass(frozen=True, slots=True)
class Became:
    """What became of a Case, and why.

    Args:
        ending: What.
        reason: In the words of the Release, or the first difference; empty when it was computed.
        stage: Where it was refused, or ended; None when it was executed.
    """

    ending: Ending
    reason: str = ""
    stage: Stage | None = field(default=None, compare=False)


def attempt(executor: Executor, case: Case, newest: Version) -> tuple[Became, list[Array]]:
    """Execute the lowest and the highest artifact of a Case that a Release may be given.

    Args:
        executor: On what.
        case: One with expected outputs.
        newest: The highest Version of an artifact.

    Returns:
        What became of it, and what the highest computed, if both could be executed.
    """
    paths = [a.path for a in case.artifacts if a.target.target <= newest]
    if not paths:
        return Became(Ending.NEWER, f"needs {case.first}"), []
    inputs = [load_tensor(tensor) for tensor in case.inputs]
    outputs: list[list[Array]] = []
    for path in dict.fromkeys((paths[0], paths[-1])):
        try:
            outputs.append(executor.compile(Artifact.load(path)).run(inputs))
        except ExecutionFailed as failure:
            verdict = failure.verdict
            ending = _FAILED.get(verdict.outcome, Ending.REFUSED)
            return Became(ending, _short(verdict.reason), verdict.stage), []
        except PortableError as error:
            return Became(Ending.EXCLUDED, _short(error.what)), []
    return _judged(case, outputs), outputs[-1]


def _judged(case: Case, outputs: list[list[Array]]) -> Became:
    near = case.tolerance
    expected = [load_tensor(tensor) for tensor in case.expected]
    for ending, comparisons in (
        (Ending.WRONG, compare_all(expected, outputs[0], near)),
        (Ending.WRONG, compare_all(expected, outputs[-1], near)),
        (Ending.CHANGED, compare_all(outputs[0], outputs[-1])),
    ):
        for comparison in comparisons:
            if not comparison.same:
                return Became(ending, _short(str(comparison)))
    return Became(Ending.COMPUTED)


def _short(words: str) -> str:
    # What the tensors of every process are called, and where in memory, changes with each run.
    return words if len(words) <= _WORDS else f"{words[:_WORDS]}..."
