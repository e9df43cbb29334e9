"""What XLA makes of a matrix without a cholesky, NaN without a mantissa, and some ops in a loop."""

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
_LOOP = """func.func @main(%a: {0}, %b: {0}, %e: {0}) -> {0} {{
  %first = stablehlo.constant dense<0> : tensor<i32>
  %w:2 = stablehlo.while(%i = %first, %x = %a) : tensor<i32>, {0} cond {{
    %last = stablehlo.constant dense<3> : tensor<i32>
    %more = stablehlo.compare LT, %i, %last : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = {1} : {0}
    stablehlo.return %j, %y : tensor<i32>, {0}
  }}
  return %w#1 : {0} }}"""


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


_ORDERS = {
    "booleans that are clamped": ("tensor<4xi1>", "stablehlo.clamp %b, {0}, %e"),
    "complex numbers that are clamped": ("tensor<4xcomplex<f32>>", "stablehlo.clamp %b, {0}, %e"),
    "a maximum of complex numbers": ("tensor<4xcomplex<f32>>", "stablehlo.maximum {0}, %b"),
    "a minimum of complex numbers": ("tensor<4xcomplex<f32>>", "stablehlo.minimum {0}, %b"),
}


@pytest.mark.parametrize("what", _ORDERS)
@pytest.mark.parametrize("version", versions("0.9.1", "0.10.2", "0.12.0.1"))
def test_what_a_loop_puts_in_order(
    version: str, what: str, release: Callable[[str], Environment]
) -> None:
    """A loop that changes it is refused, and not green; without a loop it is computed."""
    name, (t, op) = f"jaxlib {version}", _ORDERS[what]
    alone = pin(
        f"""func.func @main(%a: {t}, %b: {t}, %e: {t}) -> {t} {{
          %r = {op.format("%a")} : {t}
          return %r : {t} }}""",
        "0.9.0",
    ).artifact
    looping = pin(_LOOP.format(t, op.format("%x")), "0.9.0").artifact
    assert predict(looping, name, stage=Stage.COMPILE).holds(Stage.COMPILE) is None
    assert predict(alone, name, stage=Stage.COMPILE).holds(Stage.COMPILE)
    with find_executor("pjrt", release(name)) as executor:
        executor.compile(alone)
        with pytest.raises(ExecutionFailed, match=r"Clamp unimplemented|binary complex op"):
            executor.compile(looping)


# What a loop does not change XLA moves out of it: behind a barrier beside the turn nothing is such.
_TURNED = "%t:2 = stablehlo.optimization_barrier %e, %i : tensor<4xf6E2M3FN>, tensor<i32>"


@pytest.mark.parametrize("version", versions("0.11.0", "0.12.0.1"))
def test_what_a_loop_takes_of_six_bits(version: str, release: Callable[[str], Environment]) -> None:
    """A loop that converts it ends the process, though it does not carry it, and is not green."""
    name, converted = f"jaxlib {version}", "convert {} : (tensor<4xf6E2M3FN>) -> tensor<4xi1>"
    alone = pin(
        f"""func.func @main(%a: tensor<4xf6E2M3FN>) -> tensor<4xi1> {{
          %r = stablehlo.{converted.format("%a")}
          return %r : tensor<4xi1> }}""",
        "1.8.0",
    ).artifact
    looping = pin(
        _LOOP.replace("%e: {0}", "%e: tensor<4xf6E2M3FN>")
        .replace("%y =", f"{_TURNED} %z = stablehlo.{converted.format('%t#0')} %y =")
        .format("tensor<4xi1>", "stablehlo.and %x, %z"),
        "1.8.0",
    ).artifact
    assert predict(looping, name, stage=Stage.COMPILE).holds(Stage.COMPILE) is None
    assert predict(alone, name, stage=Stage.COMPILE).holds(Stage.COMPILE)
    with find_executor("pjrt", release(name)) as executor:
        executor.compile(alone)
        with pytest.raises(ExecutionFailed, match="SIGABRT"):
            executor.compile(looping)


_REDUCED = (
    "%o = stablehlo.constant dense<1> : tensor<{1}> %m = stablehlo.reduce(%x init: %o) applies"
    " stablehlo.{2} across dimensions = [0] : ({0}, tensor<{1}>) -> tensor<3x{1}>"
    " %f = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<3x{1}>) -> {0}"
)
_IMAGE = "tensor<1x3x2x1xi1>"
# Each with the type, what is computed before what the loop returns, and that.
_ELSEWHERE = {
    "fft": (
        "tensor<4xcomplex<f32>>",
        "%f = stablehlo.fft %x, type = FFT, length = [4] : ({0}) -> {0}",
        "stablehlo.multiply %f, %b",
    ),
    "reduce of two bits": (
        "tensor<3x3xui2>",
        _REDUCED.format("{0}", "ui2", "maximum"),
        "stablehlo.maximum %f, %b",
    ),
    "reduce of booleans": (
        "tensor<3x3xi1>",
        _REDUCED.format("{0}", "i1", "multiply").replace("<1>", "<true>"),
        "stablehlo.or %f, %b",
    ),
    "convolution of booleans": (
        _IMAGE,
        (
            "%k = stablehlo.slice %b [0:1, 0:1, 0:2, 0:1] : ({0}) -> tensor<1x1x2x1xi1>"
            " %l = stablehlo.reshape %k : (tensor<1x1x2x1xi1>) -> tensor<1x2x1x1xi1>"
            " %m = stablehlo.convolution(%x, %l) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]"
            "->[b, 0, 1, f],"
            " window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}"
            " : ({0}, tensor<1x2x1x1xi1>) -> tensor<1x3x1x1xi1>"
            " %f = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2, 3]"
            " : (tensor<1x3x1x1xi1>) -> {0}"
        ),
        "stablehlo.or %f, %e",
    ),
}
_FAILING = {
    "0.5.3": {"reduce of two bits", "reduce of booleans", "convolution of booleans"},
    "0.7.1": {"fft", "reduce of two bits", "reduce of booleans"},
    "0.10.2": set[str](),
}


@pytest.mark.parametrize("what", _ELSEWHERE)
@pytest.mark.parametrize("version", versions(*_FAILING))
def test_what_other_code_computes_in_a_loop(
    version: str, what: str, release: Callable[[str], Environment]
) -> None:
    """A loop whose op ends or is refused is not green; one that is green compiles."""
    name, (t, before, given) = f"jaxlib {version}", _ELSEWHERE[what]
    text = _LOOP.replace("%y =", f"{before} %y =").format(t, given)
    artifact = pin(text, "1.4.0").artifact
    holds = predict(artifact, name, stage=Stage.COMPILE).holds(Stage.COMPILE)
    fails = what in _FAILING[version]
    assert holds is (None if fails else True)
    with find_executor("pjrt", release(name)) as executor:
        if fails:
            with pytest.raises(ExecutionFailed, match=r"SIGABRT|Invalid LLVM IR"):
                executor.compile(artifact)
        else:
            executor.compile(artifact)


@pytest.mark.parametrize("op", ["maximum", "minimum"])
@pytest.mark.parametrize("version", versions("0.5.3", "0.10.2", "0.12.0.1"))
def test_nan_that_a_reduce_scatter_takes(
    version: str, op: str, release: Callable[[str], Environment]
) -> None:
    """It is lost, so that what may take one is not green; numbers are right."""
    t, name = "tensor<4xf32>", f"jaxlib {version}"
    text = f"""func.func @main(%a: {t}) -> {t} {{
      %s = stablehlo.negate %a : {t}
      %r = "stablehlo.reduce_scatter"(%s) ({{
       ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %m = stablehlo.{op} %x, %y : tensor<f32>
        stablehlo.return %m : tensor<f32>
      }}) {{scatter_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}}
        : ({t}) -> {t}
      return %r : {t} }}"""
    artifact = pin(text, "0.9.0").artifact
    assert predict(artifact, name, stage=Stage.EXECUTE).holds(Stage.EXECUTE) is None
    assert predict(artifact, name, stage=Stage.EXECUTE, assume=("no-nan",)).compatible
    with find_executor("pjrt", release(name)) as executor:
        given = np.array([np.nan, 1, -2, 0.5], np.float32)
        (found,) = executor.compile(artifact).run([given])
    assert not np.isnan(found).any()
    assert np.array_equal(found[1:], -given[1:])
