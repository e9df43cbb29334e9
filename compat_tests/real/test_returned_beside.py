"""Narrow floats returned beside themselves as wider ones: refused by old jaxlibs as predicted."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

import portable
from compat_tests.helpers.eras import versions
from portable.prediction import predict
from portable.runtime.executors import ExecutionFailed, find_executor
from portable.runtime.executors.inputs import random_inputs
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_WIDER = {"bf16": ("f32", "f64"), "f8E5M2": ("f16", "f32"), "f8E4M3FN": ("f16", "f64")}
_COMPUTED = {("bf16", "f32"), ("f8E5M2", "f16"), ("f8E4M3FN", "f16")}
_DTYPES = {
    "bf16": ml_dtypes.bfloat16,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
}
# What %x is; whether it is computed as a wider float.
_MADE = {
    "stablehlo.negate %a : tensor<4x{0}>": True,
    "stablehlo.concatenate %p, %p, dim = 0 : (tensor<2x{0}>, tensor<2x{0}>) -> tensor<4x{0}>": True,
    "stablehlo.reverse %a, dims = [0] : tensor<4x{0}>": True,
    "stablehlo.slice %a [0:4] : (tensor<4x{0}>) -> tensor<4x{0}>": False,
    "stablehlo.optimization_barrier %n : tensor<4x{0}>": False,
    "stablehlo.pad %p, %one, low = [1], high = [1], interior = [0] :"
    " (tensor<2x{0}>, tensor<{0}>) -> tensor<4x{0}>": True,
    "stablehlo.pad %q, %one, low = [1], high = [1], interior = [0] :"
    " (tensor<2x{0}>, tensor<{0}>) -> tensor<4x{0}>": True,
}
_BEFORE = """%n = stablehlo.negate %a : tensor<4x{0}>
    %p = stablehlo.slice %a [1:3] : (tensor<4x{0}>) -> tensor<2x{0}>
    %q = stablehlo.slice %n [1:3] : (tensor<4x{0}>) -> tensor<2x{0}>
    %one = stablehlo.constant dense<1.0> : tensor<{0}>
    %x = """
_WIDEN = "%y = stablehlo.convert %x : (tensor<4x{0}>) -> tensor<4x{1}>"
_FIRST = "return %x, %y : tensor<4x{0}>, tensor<4x{1}> }}"
_LAST = "return %y, %x : tensor<4x{1}>, tensor<4x{0}> }}"
_INNER = "func.func private @f(%a: tensor<4x{0}>) -> tensor<4x{0}> {{"
_CALL = "%x = func.call @f(%a) : (tensor<4x{0}>) -> tensor<4x{0}>"
_MAIN = "func.func @main(%a: tensor<4x{0}>) -> "


def _ways(made: str) -> Iterator[str]:
    """Yield programs that return what is made, and that widened: in both orders, and of a call."""
    made = f"{_BEFORE}{made}"
    yield "\n".join([f"{_MAIN}(tensor<4x{{0}}>, tensor<4x{{1}}>) {{{{", made, _WIDEN, _FIRST])
    yield "\n".join([f"{_MAIN}(tensor<4x{{1}}>, tensor<4x{{0}}>) {{{{", made, _WIDEN, _LAST])
    yield "\n".join(
        [
            *(f"{_MAIN}(tensor<4x{{0}}>, tensor<4x{{1}}>) {{{{", _CALL, _WIDEN, _FIRST),
            *(_INNER, made, "return %x : tensor<4x{0}> }}"),
        ]
    )


def _programs() -> Iterator[tuple[str, str, bool]]:
    """Yield what is narrow, the program, and whether it returns both of what is computed."""
    for made, computed in _MADE.items():
        for way, narrow in itertools.product(_ways(made), _WIDER):
            for wide in _WIDER[narrow]:
                yield narrow, way.format(narrow, wide), computed and (narrow, wide) in _COMPUTED


@pytest.mark.parametrize("version", versions("0.4.13", "0.4.23", "0.4.24"))
def test_it_is_predicted_what_is_refused(
    version: str, release: Callable[[str], Environment]
) -> None:
    """Of every program it is known; what is executed gives the narrow numbers that numpy gives."""
    name = f"jaxlib {version}"
    with find_executor("pjrt", release(name)) as executor:
        for narrow, text, refused in _programs():
            artifact = portable.pin(text, "0.9.0").artifact
            holds = predict(artifact, name, stage=Stage.COMPILE).holds(Stage.COMPILE)
            assert holds is not (refused and version != "0.4.24"), text
            try:
                executable = executor.compile(artifact)
            except ExecutionFailed:
                assert not holds, text
                continue
            assert holds, text
            given = random_inputs(executable.signature, 0)
            given_narrow, wide = sorted(
                executable.run(given), key=lambda one: one.dtype != _DTYPES[narrow]
            )
            assert given_narrow.dtype == _DTYPES[narrow]
            assert np.array_equal(given_narrow, wide.astype(_DTYPES[narrow])), text
