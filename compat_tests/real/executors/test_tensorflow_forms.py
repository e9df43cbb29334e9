"""What TensorFlow computes otherwise than numpy, or not at all, is never predicted to be right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import portable
from compat_tests.helpers import merged, simplified
from compat_tests.helpers.compiled import artifact_of
from compat_tests.helpers.rounding import check_rounding
from compat_tests.real.executors.conftest import RELEASES
from portable.runtime.executors import ExecutionFailed
from portable.runtime.executors.inputs import random_inputs
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

_PROGRAMS = {**merged.PROGRAMS, **simplified.PROGRAMS, **simplified.ON_IREE}
_RELATIVE = 1e-5
_CONVOLUTION = """module {{ func.func @main(%x: tensor<2x5x5x2x{0}>, %k: tensor<3x3x2x3x{0}>)
    -> tensor<2x5x5x3x{0}> {{
  %p = stablehlo.constant dense<1> : tensor<2x2xi64>
  %r = "stablehlo.{1} <{{window_strides = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>,
      rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>,
      dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
      batch_group_count = 1 : i64, feature_group_count = 1 : i64{2}}}> :
      (tensor<2x5x5x2x{0}>, tensor<3x3x2x3x{0}>{3}) -> tensor<2x5x5x3x{0}>
  return %r : tensor<2x5x5x3x{0}> }} }}"""
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


@pytest.mark.parametrize("release", ["tensorflow 2.19.1", "tensorflow 2.20.0"])
@pytest.mark.parametrize("element", ["f32", "bf16", "i32"])
def test_a_dynamic_conv_by_a_constant_is_a_convolution(
    element: str, release: str, open_executor: Callable[..., Executor]
) -> None:
    """To the bit: jaxlibs of some days refuse it, and no TensorFlow since 2.18 does."""
    executor, found = open_executor("tensorflow", release), []
    for op, more in (
        ("dynamic_conv", ("(%x, %k, %p)", "", ", tensor<2x2xi64>")),
        ("convolution", ("(%x, %k)", ", padding = dense<1> : tensor<2x2xi64>", "")),
    ):
        text = _CONVOLUTION.format(element, f'{op}"{more[0]}', *more[1:])
        artifact = portable.pin(text, "1.4.0").artifact
        verdict = portable.predict(artifact, release, stage=Stage.EXECUTE)
        assert verdict.holds(Stage.EXECUTE), op
        executable = executor.compile(artifact)
        found += executable.run(random_inputs(executable.signature, 0))
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize(
    ("release", "rounds"),
    [
        ("tensorflow 2.15.1", True),
        ("tensorflow 2.16.2", False),
        ("tensorflow 2.17.1", False),
        ("tensorflow 2.18.1", True),
        ("tensorflow 2.21.0", True),
    ],
)
def test_it_is_predicted_whether_numbers_are_rounded(
    release: str, rounds: bool, open_executor: Callable[..., Executor]
) -> None:
    """As in jaxlibs of the same time."""
    check_rounding(open_executor("tensorflow", release), release, rounds=rounds)


def test_random_bits_that_a_function_gives_in_a_loop(
    open_executor: Callable[..., Executor],
) -> None:
    """XLA gives them as unsigned integers, and refuses a loop that carries them as others."""
    release = RELEASES["tensorflow"]
    artifact = portable.Artifact.load(artifact_of("random_bits_of_a_function_in_a_loop"))
    assert portable.predict(artifact, release, stage=Stage.COMPILE).holds(Stage.COMPILE) is None
    executable = open_executor("tensorflow", release).compile(artifact)
    with pytest.raises(ExecutionFailed, match="condition and body"):
        executable.run(random_inputs(executable.signature, 0))


@pytest.mark.parametrize(
    ("release", "ends"), [("tensorflow 2.20.0", True), ("tensorflow 2.21.0", False)]
)
def test_an_fft_in_a_loop(release: str, ends: bool, open_executor: Callable[..., Executor]) -> None:
    """It ends TensorFlow of one day, as the jaxlibs of that, and is green on no such one."""
    artifact = portable.Artifact.load(artifact_of("fft_in_a_loop"))
    holds = portable.predict(artifact, release, stage=Stage.COMPILE).holds(Stage.COMPILE)
    assert holds is (None if ends else True)
    executable = open_executor("tensorflow", release).compile(artifact)
    inputs = random_inputs(executable.signature, 0)
    if ends:
        with pytest.raises(ExecutionFailed, match="SIGABRT"):
            executable.run(inputs)
    else:
        executable.run(inputs)
