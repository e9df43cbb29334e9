"""What TensorFlow computes otherwise than numpy, or not at all, is never predicted to be right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import portable
from compat_tests.helpers import merged, simplified
from compat_tests.helpers.compiled import artifact_of
from portable.runtime.executors import ExecutionFailed
from portable.runtime.executors.inputs import random_inputs
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

_PROGRAMS = {**merged.PROGRAMS, **simplified.PROGRAMS, **simplified.ON_IREE}
_RELATIVE = 1e-5
_SHARDED = Path(__file__).parents[3] / "corpus" / "attributes"


@pytest.mark.parametrize("release", ["tensorflow 2.20.0"])
def test_what_is_predicted_to_be_right_is_numpy_s(
    release: str, open_executor: Callable[..., Executor]
) -> None:
    """Of the artifacts of forms that XLA merges or simplifies, those that are green; most are."""
    executor, green = open_executor("tensorflow", release), set()
    for name, program in _PROGRAMS.items():
        path = artifact_of(name)
        if portable.predict(path, release, stage=Stage.EXECUTE).compatible:
            executable = executor.compile(portable.Artifact.load(path))
            dtypes = [one.dtype for one in executable.signature.arguments]
            given = merged.inputs(program, dtypes)
            (found,) = executable.run(given)
            with np.errstate(all="ignore"):
                right = program.right(*given)
            assert np.allclose(found, right, rtol=_RELATIVE, atol=0, equal_nan=True), name
            green.add(name)
    assert len(green) > len(_PROGRAMS) / 3


@pytest.mark.parametrize("release", ["tensorflow 2.20.0"])
def test_what_is_right_where_no_value_is_nan_is_numpy_s(
    release: str, open_executor: Callable[..., Executor]
) -> None:
    """Of those artifacts that the assumption alone makes green, run on numbers from 1 to 4."""
    executor, green = open_executor("tensorflow", release), set()
    for name, program in _PROGRAMS.items():
        path = artifact_of(name)
        assumed = portable.predict(path, release, stage=Stage.EXECUTE, assume=["no-nan"])
        if (
            not assumed.compatible
            or portable.predict(path, release, stage=Stage.EXECUTE).compatible
        ):
            continue
        executable = executor.compile(portable.Artifact.load(path))
        dtypes = [one.dtype for one in executable.signature.arguments]
        given = merged.where_it_holds(program, "no-nan", merged.inputs(program, dtypes))
        (found,) = executable.run(given)
        right = program.right(*given)
        if not np.isnan(right).any():  # else the program itself computes with NaN
            assert np.allclose(found, right, rtol=_RELATIVE, atol=0), name
            green.add(name)
    assert len(green) > 10


@pytest.mark.parametrize("release", ["tensorflow 2.19.1", "tensorflow 2.20.0"])
@pytest.mark.parametrize("path", sorted(_SHARDED.rglob("*sdy_*/artifacts/*.mlir.bc")), ids=str)
def test_what_is_said_of_shardy(
    path: Path, release: str, open_executor: Callable[..., Executor]
) -> None:
    """Since 2.20 it reads meshes and shardings and ignores them; it has no passes for ops."""
    expected = portable.predict(path, release, stage=Stage.EXECUTE).holds(Stage.EXECUTE)
    executor, computes = open_executor("tensorflow", release), True
    try:
        executable = executor.compile(portable.Artifact.load(path))
        executable.run(random_inputs(executable.signature, 0))
    except ExecutionFailed:
        computes = False
    assert expected in {computes, None}
    assert expected is not None or "manual" in str(path)
