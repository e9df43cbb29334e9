"""What is concluded from executions: which op signature a failure is put down to."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from portable.artifact import Artifact
from portable.verdict import Basis, NotKnown, Outcome, Stage, Verdict
from tools.capabilities import Program, supports
from tools.measure_predictions import Measured

ARTIFACTS = Path(__file__).parents[1] / "data" / "artifacts"
NOTHING = Artifact.load(ARTIFACTS / "add_f32+0.9.0.mlir.bc")
RIGHT = np.array([1, 2], np.int32)
WRONG = np.array([1, 3], np.int32)


def _learnt(*rows: tuple[str, str, str]) -> dict[str, str]:
    """Learn from programs: an op, its signatures and how it ended; `w` computes something else."""
    programs, results, right = [], {}, {}
    for number, (op, signatures, ended) in enumerate(rows):
        name = f"{op} {number}"
        programs.append(Program(name, NOTHING, frozenset(signatures.split(", "))))
        results[name] = _result(ended)
        right[name] = [RIGHT]
    return {name: found.value for name, found in supports(programs, results, right).items()}


def _result(ended: str) -> dict[str, Any]:
    if ended not in "cw":
        return {"ended": ended, "reason": "not implemented"}
    array = RIGHT if ended == "c" else WRONG
    return {"ended": "c", "outputs": [["int32", [2], _encoded(array)]]}


def _encoded(array: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(array.tobytes()).decode()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # What is computed elsewhere is not to blame.
        (
            [("add", "add f32", "c"), ("tan", "tan f32, add f32", "r")],
            {"add f32": "c", "tan f32": "r"},
        ),
        # What stands in a body is blamed there, not the op that has the body, nor the op alone.
        (
            [
                ("maximum", "maximum c64", "c"),
                ("reduce", "reduce c64, add c64, add c64 in reduce", "c"),
                ("reduce", "reduce c64, maximum c64, maximum c64 in reduce", "r"),
            ],
            {"reduce c64": "c", "maximum c64": "c", "maximum c64 in reduce": "r"},
        ),
        # Two floats that are each reduced alone.
        (
            [
                ("reduce", "reduce f32", "c"),
                ("reduce", "reduce bf16", "c"),
                ("reduce", "reduce f32, reduce bf16, reduce different floats", "r"),
            ],
            {"reduce f32": "c", "reduce bf16": "c", "reduce different floats": "r"},
        ),
        # Now this and now that, and nothing that tells the programs apart.
        ([("sort", "sort i4", "c"), ("sort", "sort i4", "r")], {"sort i4": "m"}),
        ([("sort", "sort i4", "r"), ("sort", "sort i4", "c")], {"sort i4": "m"}),
        # It compiles always, and does not always compute the same.
        ([("sort", "sort i4", "c"), ("sort", "sort i4", "w")], {"sort i4": "k"}),
        ([("sort", "sort i4", "w")], {"sort i4": "w"}),
        ([("sort", "sort i4", "x"), ("sort", "sort i4", "r")], {"sort i4": "x"}),
    ],
)
def test_what_a_failure_is_put_down_to(
    rows: list[tuple[str, str, str]], expected: dict[str, str]
) -> None:
    """To the only signature of a program that passes in no other."""
    assert _learnt(*rows).items() >= expected.items()


@pytest.mark.parametrize(
    ("outcome", "stage", "ended", "kind"),
    [
        (Outcome.COMPATIBLE, Stage.COMPILE, "c", "compiles, executed"),
        (Outcome.COMPATIBLE, Stage.COMPILE, "r", "compiles, failed"),
        (Outcome.COMPATIBLE, Stage.COMPILE, "x", "compiles, failed"),
        (Outcome.INCOMPATIBLE, Stage.COMPILE, "r", "fails, failed"),
        (Outcome.INCOMPATIBLE, Stage.COMPILE, "c", "fails, executed"),
        (Outcome.WRONG_RESULT, Stage.EXECUTE, "c", "computes something else, executed"),
        (Outcome.NOT_KNOWN, Stage.COMPILE, "r", "not known, failed"),
    ],
)
def test_how_a_prediction_is_counted(outcome: Outcome, stage: Stage, ended: str, kind: str) -> None:
    """By what was predicted up to compiling, and what was seen."""
    open_ = (NotKnown(stage, "whether"),) if outcome is Outcome.NOT_KNOWN else ()
    verdict = Verdict("jaxlib 0.10.2", outcome, stage, Basis.PREDICTED, "because", not_known=open_)
    assert Measured(0, verdict, ended, "").kind == kind
