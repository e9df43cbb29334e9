"""What IREE 3.13.0 computes of quantized types, against upstream's interpreter.

The interpreter is given the arithmetic that `quantized-to-arithmetic` writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import portable
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor

_RELEASE = "iree-base-compiler 3.13.0"
_FINDINGS = Path(__file__).parents[3] / "docs" / "findings"
_COUNT = 4096
_FLOATS = f"tensor<{_COUNT}xf32>"
# The ops, with how many operands they have.
_OPS = {
    **dict.fromkeys(("abs", "cosine", "exponential", "floor", "logistic", "negate", "sign"), 1),
    **dict.fromkeys(("tanh", "uniform_quantize"), 1),
    **dict.fromkeys(("maximum", "minimum", "multiply", "subtract"), 2),
}


def _program(ops: dict[str, int], taken: str, given: str) -> str:
    """Return a program of ops, from one quantized type to another."""
    of, to = (f"tensor<{_COUNT}x!quant.uniform<{one}>>" for one in (taken, given))
    lines = [f"%{x} = stablehlo.uniform_quantize %f{x} : ({_FLOATS}) -> {of}" for x in "ab"]
    for op, count in ops.items():
        operands, types = ", ".join(["%a", "%b"][:count]), ", ".join([of] * count)
        lines += [
            f"%{op} = stablehlo.{op} {operands} : ({types}) -> {to}",
            f"%{op}_said = stablehlo.uniform_dequantize %{op} : ({to}) -> {_FLOATS}",
        ]
    made = ", ".join(f"%{op}_said" for op in ops)
    types = ", ".join([_FLOATS] * len(ops))
    body = "\n  ".join([*lines, f"return {made} : {types}"])
    return f"func.func @main(%fa: {_FLOATS}, %fb: {_FLOATS}) -> ({types}) {{\n  {body}\n}}"


def _results(text: str, open_executor: Callable[..., Executor]) -> list[Sequence[Any]]:
    """Return what IREE makes of random numbers, and the interpreter of the arithmetic."""
    luck = np.random.default_rng(0)
    inputs = [luck.normal(0, 10, _COUNT).astype(np.float32) for _ in range(2)]
    artifact = portable.serialize(text, "1.4.0")
    plain = portable.serialize(text, "1.4.0", allow=["quantized-to-arithmetic"])
    programs = (
        open_executor("iree", _RELEASE).compile(artifact),
        open_executor("interpreter").compile(plain),
    )
    return [program.run(inputs) for program in programs]


def _holds(artifact: Artifact, *assumed: str) -> bool | None:
    """Return whether IREE is predicted to compute the same."""
    verdict = portable.predict(artifact, _RELEASE, stage=Stage.EXECUTE, assume=assumed)
    return verdict.holds(Stage.EXECUTE)


@pytest.mark.parametrize(
    ("taken", "given"),
    [
        ("i8:f32, 0.1:3", "i8:f32, 0.1:3"),
        ("i8:f32, 0.5", "i8:f32, 0.01:9"),
        ("i16:f32, 0.013:8", "i16:f32, 0.013:8"),
        ("i8<-10:100>:f32, 0.1", "i8<-10:100>:f32, 0.1"),
    ],
)
def test_signed_types_compute_the_same(
    taken: str, given: str, open_executor: Callable[..., Executor]
) -> None:
    """Of thousands of values, beyond the ends of what is stored too; of NaN it is not known."""
    text = _program(_OPS, taken, given)
    artifact = portable.serialize(text, "1.4.0")
    assert _holds(artifact) is None
    assert _holds(artifact, "no-nan")
    found, right = _results(text, open_executor)
    for op, one, other in zip(_OPS, found, right, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=op)


@pytest.mark.parametrize(
    ("op", "taken", "given"),
    [
        pytest.param("add", "i8:f32, 0.5", "i8:f32, 0.7", id="add to another scale"),
        pytest.param("sqrt", "i8:f32, 0.1:3", "i8:f32, 0.1:3", id="root of negative numbers"),
        pytest.param("maximum", "u8:f32, 0.1", "u8:f32, 0.1", id="no sign"),
        pytest.param("multiply", "i32:f32, 1.0e-8", "i32:f32, 1.0e-8", id="ends of 32 bits"),
    ],
)
def test_what_differs_is_not_known(
    op: str, taken: str, given: str, open_executor: Callable[..., Executor]
) -> None:
    """It is another result for a tenth of the values and more."""
    text = _program({op: 1 if op == "sqrt" else 2}, taken, given)
    assumed = [] if op == "sqrt" else ["no-nan"]
    assert _holds(portable.serialize(text, "1.4.0"), *assumed) is None
    (found,), (right,) = _results(text, open_executor)
    assert np.count_nonzero(found != right) > _COUNT / 10


@pytest.mark.parametrize(
    ("finding", "given", "found"),
    [
        ("quantized-ends-iree", np.array([64, 100]), [63.5, 63.5]),
        ("quantized-products-iree", np.full((2, 2), 8), [[0, 0], [0, 0]]),
    ],
)
def test_the_findings_still_happen(
    finding: str, given: Any, found: list[Any], open_executor: Callable[..., Executor]
) -> None:
    """64 and 100 in steps of a half are stored as u8 as 63.5; sums of 64 and 64 are 0."""
    text = (_FINDINGS / finding / "program.mlir").read_text("utf-8")
    program = open_executor("iree", _RELEASE).compile(portable.serialize(text, "1.4.0"))
    assert program.run([given.astype(np.float32)])[0].tolist() == found
