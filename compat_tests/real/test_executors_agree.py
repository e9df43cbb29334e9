"""The Executors against each other: the interpreter is no XLA, so what both say is likely so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.programs import DYNAMIC, MOVED
from portable.cli import main
from portable.pinning.pipeline import serialize
from portable.runtime.executors import (
    EXECUTORS,
    ExecutorMissing,
    Tolerance,
    UnknownExecutor,
    compare_all,
    find_executor,
    random_inputs,
)
from portable.runtime.verification import verify
from portable.system.worker.answer import CouldNotObserve
from portable.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

    Release = Callable[[str], Environment]

ELEMENTS = [
    *("f16", "f32", "f64", "bf16", "complex<f32>", "complex<f64>", "i1"),
    *(f"{sign}i{width}" for sign in ("", "u") for width in (2, 4, 8, 16, 32, 64)),
    *("f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3B11FNUZ", "f8E5M2", "f8E8M0FNU", "f4E2M1FN"),
]
EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
IDENTITY = """
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %narrow = stablehlo.convert %x : (tensor<64xf32>) -> tensor<64xf8E4M3FN>
  %wide = stablehlo.convert %narrow : (tensor<64xf8E4M3FN>) -> tensor<64xf32>
  return %wide : tensor<64xf32>
}
"""


def test_every_element_type_travels() -> None:
    """Moving values about gives both Executors the bits that went in, special ones too."""
    with find_executor("interpreter") as interpreter, find_executor("pjrt") as pjrt:
        for element in ELEMENTS:
            artifact = serialize(MOVED.format(type=element), "1.8.0")
            # XLA:CPU of jaxlib 0.10.2 ends by SIGABRT when it concatenates two-bit integers.
            executors = (interpreter,) if element in {"i2", "ui2"} else (interpreter, pjrt)
            programs = [executor.compile(artifact) for executor in executors]
            x, y, z = inputs = random_inputs(programs[0].signature, 0, specials=True)
            expected = [np.concatenate([x, y], 1), y.T, z]
            for program in programs:
                for comparison in compare_all(expected, program.run(inputs)):
                    assert comparison.same, (element, comparison)


def test_the_examples_agree(example: Path) -> None:
    """The programs that JAX exported compute the same on both, within a stated tolerance."""
    artifact = serialize(example, "1.0.0")
    with find_executor("interpreter") as interpreter, find_executor("pjrt") as pjrt:
        programs = [executor.compile(artifact) for executor in (interpreter, pjrt)]
        inputs = random_inputs(programs[0].signature, 1)
        one, other = (program.run(inputs) for program in programs)
    near = Tolerance(ulps=16, relative=2e-4, absolute=2e-4)
    assert all(comparison.same for comparison in compare_all(one, other, near))


def test_the_interpreter_takes_unknown_shapes() -> None:
    """A dimension that the program leaves open is what the input has."""
    values = np.ones((5, 3), np.float32)
    with find_executor("interpreter") as interpreter:
        program = interpreter.compile(serialize(DYNAMIC, "1.0.0"))
        (doubled,) = program.run([values])
        (again,) = program.run([values[:2]])
    assert (doubled.shape, again.shape) == ((5, 3), (2, 3))
    assert (doubled == 2).all()


@pytest.mark.parametrize(
    "name",
    ["jaxlib 0.4.33", "jaxlib 0.5.3", "jaxlib 0.9.1", "jaxlib 0.12.0.1", "torch-mlir 20261001"],
)
def test_other_interpreters_run(release: Release, name: str) -> None:
    """Also that of jaxlib 0.9.1, whose XLA computes something else from the same program."""
    program = """
    func.func @main() -> tensor<16xbf16> {
      %yes = stablehlo.constant dense<true> : tensor<16xi1>
      %ones = stablehlo.convert %yes : (tensor<16xi1>) -> tensor<16xbf16>
      return %ones : tensor<16xbf16>
    }
    """
    with find_executor("interpreter", release(name)) as executor:
        (ones,) = executor.compile(serialize(program, "1.0.0", locations="strip")).run([])
    assert ones.tolist() == [1] * 16


def test_an_identity_would_be_found() -> None:
    """A consumer that folds a round trip through f8 away, as one did, fails `verify`."""
    folded = "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> { return %x : tensor<64xf32> }"
    for executor in ("pjrt", "interpreter"):
        genuine, identity = (serialize(program, "1.0.0") for program in (IDENTITY, folded))
        found = verify(genuine, identity, executor=executor, seeds=(0,)).verdict
        assert found.outcome is Outcome.WRONG_RESULT


def test_what_is_missing_is_told(release: Release) -> None:
    """An Executor that does not exist, and a Release without an interpreter."""
    with pytest.raises(UnknownExecutor, match="known are pjrt, interpreter"):
        find_executor("gpu")
    with (
        find_executor("interpreter", release("jaxlib 0.4.30")) as executor,
        pytest.raises(CouldNotObserve, match=r"has no interpreter; it executes by pjrt$"),
    ):
        executor.compile(serialize(DYNAMIC, "0.9.0", locations="strip"))


def test_an_executor_of_another_release_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """One line and exit code 2 say by which Executors the Release could be executed."""
    words = ["run", str(EXAMPLES / "encoder.mlir"), "--random", "0", "--executor", "iree"]
    assert main([*words, "--on", "jaxlib 0.10.2"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("jaxlib 0.10.2 has no iree; use pjrt or interpreter")


def test_a_missing_one_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is installed every Executor names its extra."""
    monkeypatch.setattr("portable.runtime.executors.child._installed", lambda _: "")
    artifact = serialize(DYNAMIC, "1.0.0")
    for name in EXECUTORS:
        extra = {"pjrt": "jaxlib", "interpreter": "jaxlib"}.get(name, name)
        with find_executor(name) as executor, pytest.raises(ExecutorMissing) as missing:
            executor.compile(artifact)
        assert f"stablehlo-portable[{extra}]" in str(missing.value)
