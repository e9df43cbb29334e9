"""Linear algebra that JAX exported long ago and today, as custom calls, on real jaxlibs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from compat_tests.helpers.compiled import artifact_of
from compat_tests.helpers.eras import versions
from portable.prediction import predict
from portable.runtime.executors import ExecutionFailed
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from compat_tests.real.executors.conftest import Open
    from portable.runtime.executors import Executor

ROOT = Path(__file__).parents[2] / "data" / "lapack"
# What both versions of JAX exported the programs with.
MATRIX = np.eye(4, dtype=np.float32) * 4 + np.arange(16, dtype=np.float32).reshape(4, 4) / 10
SYMMETRIC = MATRIX @ MATRIX.T
TRIANGLE = np.tril(MATRIX[:3, :3])
RIGHT = np.ones((4, 2), np.float32)
INPUTS = {
    **dict.fromkeys(("cholesky", "eigh"), (SYMMETRIC,)),
    **dict.fromkeys(("solve", "triangular_solve"), (MATRIX, RIGHT)),
}
# Decompositions are not unique: what is compared, of the results and by numpy.
COMPARED: dict[str, Callable[..., tuple[Any, Any]]] = {
    "cholesky": lambda lower: (lower, np.linalg.cholesky(SYMMETRIC)),
    "eig": lambda values, vectors: (vectors * values, MATRIX @ vectors),
    "eigh": lambda values, vectors: (vectors * values @ vectors.T, SYMMETRIC),
    "fft": lambda found: (found, np.fft.fft(MATRIX)),
    "inv": lambda found: (found, np.linalg.inv(MATRIX)),
    "qr": lambda q, r: (q @ r, MATRIX),
    "schur": lambda upper, vectors: (vectors @ upper @ vectors.T, MATRIX),
    "solve": lambda found: (found, np.linalg.solve(MATRIX, RIGHT)),
    "svd": lambda left, values, right: (left * values @ right, MATRIX),
    "triangular_solve": lambda found: (found, np.linalg.solve(np.tril(MATRIX), RIGHT)),
}


def _check(executor: Executor, program: str, exported_by: str) -> None:
    path = ROOT / f"jax-{exported_by}" / f"{program}.mlir.bc"
    results = executor.compile(path).run(INPUTS.get(program, (MATRIX,)))
    found, wanted = COMPARED[program](*results)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("program", sorted({*COMPARED} - {"fft"}))
@pytest.mark.parametrize("version", versions("0.4.13", "0.4.30", "0.5.3"))
def test_what_old_jax_exported(open_executor: Open, version: str, program: str) -> None:
    """Calls of the older interface, by the jaxlibs that carry them: the results are numpy's."""
    _check(open_executor("pjrt", f"jaxlib {version}"), program, "0.4.20")


def test_an_fft_that_old_jax_exported(open_executor: Open) -> None:
    """A call of the FFT library that only the oldest jaxlibs carry."""
    _check(open_executor("pjrt", "jaxlib 0.4.13"), "fft", "0.4.20")


@pytest.mark.parametrize("program", COMPARED)
@pytest.mark.parametrize("version", versions("0.10.2", "0.12.0.1"))
def test_what_jax_exports_today(open_executor: Open, version: str, program: str) -> None:
    """Calls of the typed interface: the results are numpy's."""
    _check(open_executor("pjrt", f"jaxlib {version}"), program, "0.10.2")


@pytest.mark.parametrize("version", versions("0.4.38", "0.8.0", "0.12.0.1"))
def test_a_triangular_system_with_and_without_a_factor(open_executor: Open, version: str) -> None:
    """The handler took one until 0.5.1 only with it, from 0.8.1 on only without."""
    executor = open_executor("pjrt", f"jaxlib {version}")
    for name in ("trsm_of_two", "trsm_of_three"):
        executable = executor.compile(artifact_of(name))
        given: list[Any] = [TRIANGLE, np.ones((3, 2), np.float32)]
        if predict(artifact_of(name), f"jaxlib {version}", stage=Stage.EXECUTE).compatible:
            (found,) = executable.run(given)
            np.testing.assert_allclose(TRIANGLE @ found, 1, rtol=1e-5)
        else:
            with pytest.raises(ExecutionFailed, match="Wrong number of arguments"):
                executable.run(given)


def test_a_handler_that_was_removed(open_executor: Open) -> None:
    """A new jaxlib refuses to compile a call of the older interface, and names its target."""
    executor = open_executor("pjrt", "jaxlib 0.10.2")
    with pytest.raises(ExecutionFailed, match=r"refused to compile.*lapack_spotrf"):
        executor.compile(ROOT / "jax-0.4.20" / "cholesky.mlir.bc")


WITHOUT_SCIPY = """
import sys
sys.modules["scipy"] = None
sys.path.insert(0, sys.argv[1])
from portable.system.worker.inside import cpu_handlers
from portable.system.worker.inside.answer import Unavailable
cpu_handlers.initialize(b"no call")
try:
    cpu_handlers.initialize(b"lapack_spotrf_ffi")
except Unavailable as lack:
    print(lack.hint)
"""


def test_a_jaxlib_without_scipy() -> None:
    """It is said what to install, before native code calls a kernel that is not there."""
    command = [sys.executable, "-I", "-c", WITHOUT_SCIPY, str(ROOT.parents[2])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "install scipy beside this jaxlib\n"
