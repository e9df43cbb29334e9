"""Which loops IREE compiles to what it refuses to execute, as predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import portable
from portable.runtime.executors import ExecutionFailed
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

_RELEASE = "iree-base-compiler 3.13.0"
_T = "tensor<4xf32>"
_PROGRAM = f"""
func.func @main(%x: {_T}, %y: {_T}, %z: {_T}) -> ({_T}, {_T}) {{
  %e = stablehlo.negate %z : {_T}
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %w:4 = stablehlo.while(%i = %c0, %a = %x, %b = %y, %o = OTHER)
    : tensor<i32>, {_T}, {_T}, {_T}
  cond {{
    %l = stablehlo.compare LT, %i, %c4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }} do {{
    %n = stablehlo.add %i, %c1 : tensor<i32>
    %m = stablehlo.negate %a : {_T}
    stablehlo.return %n, GIVEN, %m, %o : tensor<i32>, {_T}, {_T}, {_T}
  }}
  return %w#1, %w#2 : {_T}, {_T}
}}"""
LOOPS = {
    "outside": (None, True, "%x", "%e"),
    "carried": (None, True, "%e", "%o"),
    "argument": (True, False, "%x", "%z"),
    "argument_carried": (True, False, "%z", "%o"),
    "inside": (True, False, "%e", "%m"),
}
"""What is predicted, whether it is refused, what is carried along and what the body gives."""


@pytest.mark.parametrize("name", LOOPS)
def test_a_value_from_outside_in_the_place_of_another_is_in_doubt(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """Arguments and what the body computes are executed."""
    expected, refused, other, given = LOOPS[name]
    text = _PROGRAM.replace("OTHER", other).replace("GIVEN", given)
    artifact = portable.pin(text, "1.9.0").artifact
    assert portable.predict(artifact, _RELEASE, stage="execute").holds(Stage.EXECUTE) is expected
    executable = open_executor("iree", _RELEASE).compile(artifact)
    x, y, z = ([one] * 4 for one in (1, 2, 3))
    inputs = [np.array(one, np.float32) for one in (x, y, z)]
    if refused:
        with pytest.raises(ExecutionFailed, match="transient buffer has not been committed"):
            executable.run(inputs)
    else:
        values = (1, 1) if given == "%m" else (3, -3)
        for found, value in zip(executable.run(inputs), values, strict=True):
            assert found.tolist() == [value] * 4
