"""`portable export jax`, as a process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from portable.artifact import Artifact

PROGRAM = """
import jax.numpy as jnp
import numpy as np

def predict(x, w):
    return jnp.dot(x, w)

def with_inputs():
    return predict, (np.ones((2, 4), np.float32), np.ones(4, np.float32))

def broken(x):
    raise RuntimeError("ouch")

number = 3
"""


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "steps.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "portable", "export", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_function_by_its_name(tmp_path: Path) -> None:
    """With described inputs, one size left open; the artifact is for those who were named."""
    words = ["jax", "steps:predict", "--args", "f32[batch,4]", "w=f32[4]", "--target", "1.9.0"]
    done = _run(tmp_path, *words, "-o", "predict.mlir.bc", "--format", "json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["inputs"][0] == {"name": "x", "dtype": "float32", "shape": ["batch", 4]}
    assert str(Artifact.load(tmp_path / "predict.mlir.bc").version) == "1.9.0"


def test_a_function_that_returns_program_and_inputs(tmp_path: Path) -> None:
    """Nothing else is said about them; the result is told to people."""
    words = ["jax", "steps:with_inputs", "--for", "jaxlib>=0.5", "-o", "p.mlir.bc"]
    done = _run(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert "p.mlir.bc: StableHLO 1.8.0" in done.stdout
    assert "returns output: float32[2]" in done.stdout


def test_a_type_that_is_named_is_kept(tmp_path: Path) -> None:
    """64 bits in a description are meant: no setting of JAX is needed."""
    words = ["jax", "steps:predict", "--args", "f64[2,4]", "f64[4]", "--target", "1.0.0"]
    done = _run(tmp_path, *words, "-o", "p.mlir.bc")
    assert done.returncode == 0, done.stderr
    assert "returns output: float64[2]" in done.stdout


BAD = {
    "no such attribute": (["jax", "steps:predicct", "--args", "f32"], "did you mean 'predict'"),
    "no such module": (["jax", "leaps:predict", "--args", "f32"], "no module 'leaps'"),
    "no attribute": (["jax", "steps", "--args", "f32"], "MODULE:ATTR"),
    "no inputs": (["jax", "steps:predict"], "--args"),
    "failing": (["jax", "steps:broken", "--args", "f32"], "RuntimeError: ouch"),
    "too few": (["jax", "steps:predict", "--args", "f32"], "missing 1 required"),
    "no program": (["jax", "steps:number"], "is int"),
    "no type": (["jax", "steps:predict", "--args", "q7[2]"], "unknown type 'q7'"),
    "no size": (["jax", "steps:predict", "--args", "f32[2,-1]"], "'-1' is not a size"),
    "no brackets": (["jax", "steps:predict", "--args", "f32[2"], "does not describe an input"),
    "twice": (["jax", "steps:predict", "--args", "x=f32", "x=f32"], "twice"),
    "its own": (["jax", "steps:pair", "--args", "f32"], "drop --args"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str, tmp_path: Path) -> None:
    """Exit 2, one line that says what to do, and nothing written."""
    words, says = BAD[case]
    with (tmp_path / "steps.py").open("w") as stream:
        stream.write(PROGRAM)
    if case == "its own":
        (tmp_path / "steps.py").write_text(PROGRAM + "\npair = with_inputs()\n")
    command = [sys.executable, "-m", "portable", "export", *words]
    command += ["--target", "1.0.0", "-o", "out.mlir.bc"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert left == {"steps.py"}
