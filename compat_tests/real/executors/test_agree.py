"""The Executors beside jaxlib's two: the same programs, inputs of every type, and the same outputs.

`tox -e iree`, `-e tensorflow` and `-e torch_xla` each run the tests of one: the wheels are large.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.programs import DYNAMIC, ENDLESS, MOVED
from portable.pinning.pipeline import serialize
from portable.prediction import predict
from portable.runtime.executors import (
    EXECUTORS,
    ExecutionFailed,
    Tolerance,
    compare_all,
    random_inputs,
)
from portable.runtime.verification import verify
from portable.system.worker.answer import CouldNotObserve
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

    Open = Callable[..., Executor]

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
# Sums of some hundred products, each in its own order: what is near zero is far off in ulps.
NEAR = Tolerance(ulps=16, relative=1e-4, absolute=1e-3)
# The other two are compared with each other in `real`.
OTHERS = [name for name in EXECUTORS if name not in {"interpreter", "pjrt"}]
ELEMENTS = [
    *("f16", "f32", "f64", "bf16", "complex<f32>", "complex<f64>", "i1"),
    *(f"{sign}i{width}" for sign in ("", "u") for width in (2, 4, 8, 16, 32, 64)),
    *("f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ"),
    *("f8E8M0FNU", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN"),
]
# What every Release travels with.
_USUAL = {"f16", "f32", "f64", "bf16", "complex<f32>", "i1", "i8", "ui8", "i16", "i32", "i64"}
COUNT = """
func.func @main() -> tensor<32xi32> {
  %yes = stablehlo.constant dense<true> : tensor<32xi1>
  %ones = stablehlo.convert %yes : (tensor<32xi1>) -> tensor<32xi32>
  return %ones : tensor<32xi32>
}
"""
ROUNDED = """
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %narrow = stablehlo.convert %x : (tensor<64xf32>) -> tensor<64xf8E4M3FN>
  %wide = stablehlo.convert %narrow : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
  return %wide : tensor<64xf32>
}
"""
KEPT = "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> { return %x : tensor<64xf32> }"


@pytest.mark.parametrize("program", ["encoder", "convnet"])
@pytest.mark.parametrize("name", OTHERS)
def test_the_examples_agree(open_executor: Open, name: str, program: str) -> None:
    """Each computes what the reference interpreter computes of the programs that JAX exported."""
    artifact = serialize(EXAMPLES / f"{program}.mlir", "1.0.0", locations="strip")
    reference, other = (open_executor(each).compile(artifact) for each in ("interpreter", name))
    inputs = random_inputs(reference.signature, 1)
    for comparison in compare_all(reference.run(inputs), other.run(inputs), NEAR):
        assert comparison.same, comparison


@pytest.mark.parametrize("name", OTHERS)
def test_every_element_type_travels_as_predicted(open_executor: Open, name: str) -> None:
    """Moving values about gives back the bits that went in, or it is not said that it does."""
    executor, travelled = open_executor(name), set()
    assert executor.capabilities.platforms == ("cpu",)
    release, _, _ = executor.name.rpartition(" (")
    for element in ELEMENTS:
        artifact = serialize(MOVED.format(type=element), "1.9.0", locations="strip")
        verdict = predict(artifact, release, stage=Stage.EXECUTE)
        try:
            executable = executor.compile(artifact)
            x, y, z = inputs = random_inputs(executable.signature, 0, specials=True)
            outputs = executable.run(inputs)
        except (CouldNotObserve, ExecutionFailed):
            same = False
        else:
            expected = [np.concatenate([x, y], 1), y.T, z]
            same = all(one.same for one in compare_all(expected, outputs))
        travelled |= {element} if same else set()
        assert same or not verdict.compatible, element
        assert not same or verdict.holds(Stage.EXECUTE) is not False, element
    assert travelled >= _USUAL


@pytest.mark.parametrize("name", OTHERS)
def test_unknown_shapes(open_executor: Open, name: str) -> None:
    """A dimension that the program leaves open is what the input has, or is refused."""
    executor = open_executor(name)
    executable = executor.compile(serialize(DYNAMIC, "1.0.0", locations="strip"))
    if name == "torch_xla":
        with pytest.raises(ExecutionFailed, match="dynamism"):
            executable.run([np.ones((5, 3), np.float32)])
        return
    for size in (5, 2):
        (doubled,) = executable.run([np.ones((size, 3), np.float32)])
        assert doubled.tolist() == [[2, 2, 2]] * size


@pytest.mark.parametrize("name", OTHERS)
def test_a_boolean_constant_is_one(open_executor: Open, name: str) -> None:
    """None of these Releases computes 255 from it."""
    (ones,) = open_executor(name).compile(serialize(COUNT, "1.0.0", locations="strip")).run([])
    assert ones.tolist() == [1] * 32


@pytest.mark.parametrize("name", OTHERS)
def test_an_identity_would_be_found(open_executor: Open, name: str) -> None:
    """A program that lost a round trip through f8 fails `verify` on every Executor."""
    genuine, lost = (serialize(each, "1.0.0", locations="strip") for each in (ROUNDED, KEPT))
    found = verify(genuine, lost, executor=open_executor(name), seeds=(0,))
    assert found.verdict.outcome is Outcome.WRONG_RESULT
    assert "63 of 64" in found.verdict.reason or "64 of 64" in found.verdict.reason


@pytest.mark.parametrize("name", OTHERS)
def test_a_hang_is_a_verdict(open_executor: Open, name: str) -> None:
    """A program that never ends is ended, and the next one runs in a new process."""
    executor = open_executor(name, limit=20.0)
    artifact = serialize(COUNT, "1.0.0", locations="strip")
    executable = executor.compile(serialize(ENDLESS, "1.0.0", locations="strip"))
    with pytest.raises(ExecutionFailed) as hung:
        executable.run([])
    assert hung.value.verdict.outcome is Outcome.HUNG
    assert executor.compile(artifact).run([])[0].sum() == 32


@pytest.mark.parametrize("name", OTHERS)
def test_memory_has_a_limit(open_executor: Open, name: str) -> None:
    """What takes more than it may is refused in the Release's own words."""
    program = COUNT.replace("tensor<32x", "tensor<1000000000x")
    executor = open_executor(name, memory=3 << 30)
    with pytest.raises(ExecutionFailed, match=r"(?i)memory|RESOURCE_EXHAUSTED") as refused:
        executor.compile(serialize(program, "1.0.0", locations="strip")).run([])
    assert refused.value.verdict.outcome is Outcome.INCOMPATIBLE


@pytest.mark.parametrize("name", OTHERS)
def test_a_refusal_is_a_verdict(open_executor: Open, name: str) -> None:
    """What the Release cannot run is told in its own words."""
    program = COUNT.replace(
        "return %ones",
        "%e = stablehlo.custom_call @nobody_has_this(%ones)"
        " : (tensor<32xi32>) -> tensor<32xi32>\n  return %e",
    )
    with pytest.raises(ExecutionFailed, match="nobody_has_this") as refused:
        open_executor(name).compile(serialize(program, "1.0.0", locations="strip")).run([])
    assert refused.value.verdict.outcome is Outcome.INCOMPATIBLE
