"""What XLA makes of a matrix that has no cholesky, and of NaN with no bits of mantissa."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.eras import versions
from portable import pin, predict
from portable.runtime.executors import ExecutionFailed, find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_M = "tensor<3x3xf32>"
_RAISED = f"""func.func @main(%a: {_M}) -> {_M} {{
  %c = stablehlo.cholesky %a, lower = true : {_M}
  %r = stablehlo.exponential %c : {_M}
  return %r : {_M} }}"""
_CUT = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.reduce_precision %a, format = e8m0 : tensor<4xf32>
  return %r : tensor<4xf32> }"""
_B = "tensor<4xi1>"
_CLAMPED = f"""func.func @main(%a: {_B}, %b: {_B}, %e: {_B}) -> {_B} {{
  %first = stablehlo.constant dense<0> : tensor<i32>
  %w:2 = stablehlo.while(%i = %first, %x = %a) : tensor<i32>, {_B} cond {{
    %last = stablehlo.constant dense<3> : tensor<i32>
    %more = stablehlo.compare LT, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.clamp %b, %x, %e : {_B}
    stablehlo.return %j, %y : tensor<i32>, {_B}
  }}
  return %w#1 : {_B} }}"""


@pytest.mark.parametrize("version", versions("0.5.3", "0.10.2", "0.12.0.1"))
def test_the_exponential_of_a_cholesky(version: str, release: Callable[[str], Environment]) -> None:
    """It is numpy's of a matrix that has one, which the assumption says; else it is not green."""
    name, artifact = f"jaxlib {version}", pin(_RAISED, "0.9.0").artifact
    assert predict(artifact, name, stage=Stage.EXECUTE).holds(Stage.EXECUTE) is None
    assert predict(artifact, name, stage=Stage.EXECUTE, assume=("no-nan",)).compatible
    positive = np.array([[4, 1, 1], [1, 5, 2], [1, 2, 6]], np.float32)
    with find_executor("pjrt", release(name)) as executor:
        (found,) = executor.compile(artifact).run([positive])
        assert np.allclose(found, np.exp(np.tril(np.linalg.cholesky(positive))), rtol=1e-5)


@pytest.mark.parametrize(("version", "is_kept"), [("0.5.3", False), ("0.10.2", True)])
def test_nan_without_a_mantissa(
    version: str, release: Callable[[str], Environment], *, is_kept: bool
) -> None:
    """It is infinity where that is not known to be right; numbers are powers of two everywhere."""
    name, artifact = f"jaxlib {version}", pin(_CUT, "0.9.0").artifact
    assert predict(artifact, name, stage=Stage.EXECUTE).holds(Stage.EXECUTE) is (is_kept or None)
    with find_executor("pjrt", release(name)) as executor:
        (found,) = executor.compile(artifact).run([np.array([np.nan, 1.25, -3.5, 8], np.float32)])
    assert np.array_equal(found[1:], [1, -4, 8])
    assert np.isnan(found[0]) == is_kept


@pytest.mark.parametrize("version", versions("0.9.1", "0.10.2", "0.12.0.1"))
def test_booleans_that_a_loop_clamps(version: str, release: Callable[[str], Environment]) -> None:
    """A loop that changes them is refused, and not green; without a loop they are clamped."""
    name = f"jaxlib {version}"
    looping = pin(_CLAMPED, "0.9.0").artifact
    alone = pin(
        f"""func.func @main(%a: {_B}, %b: {_B}, %e: {_B}) -> {_B} {{
          %r = stablehlo.clamp %a, %b, %e : {_B}
          return %r : {_B} }}""",
        "0.9.0",
    ).artifact
    assert predict(looping, name, stage=Stage.COMPILE).holds(Stage.COMPILE) is None
    assert predict(alone, name, stage=Stage.COMPILE).holds(Stage.COMPILE)
    with find_executor("pjrt", release(name)) as executor:
        executor.compile(alone)
        with pytest.raises(ExecutionFailed, match="Clamp unimplemented"):
            executor.compile(looping)
