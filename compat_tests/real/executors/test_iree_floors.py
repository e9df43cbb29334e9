"""Which compares of numbers with their own floor IREE refuses, as predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import portable
from portable.runtime.executors import ExecutionFailed
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

_PROGRAM = """
func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (TYPES) {
  %f = stablehlo.floor %x : tensor<4x4xf32>
  %e = stablehlo.compare EQ, %x, %f : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
  MADE
  return RESULTS : TYPES
}"""
_SELECT = "%r = stablehlo.select %e, %y, THIS : tensor<4x4xi1>, tensor<4x4xf32>"
_NEGATE = "%n = stablehlo.negate %f : tensor<4x4xf32>"
_AGAIN = "%g = stablehlo.floor %x : tensor<4x4xf32>"
_TURNED = """
  %t = stablehlo.transpose %f, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = stablehlo.convert %e : (tensor<4x4xi1>) -> tensor<4x4xf32>
  %w = stablehlo.add %v, %t : tensor<4x4xf32>"""
_FLOATS, _BOOLEANS = "tensor<4x4xf32>", "tensor<4x4xi1>"
FLOORS = {
    "alone": (False, True, "", {"%e": _BOOLEANS}),
    "selecting": (False, True, _SELECT.replace("THIS", "%x"), {"%r": _FLOATS}),
    "beside_what_is_unused": (False, True, _NEGATE, {"%e": _BOOLEANS}),
    "and_it": (True, False, "", {"%e": _BOOLEANS, "%f": _FLOATS}),
    "and_what_is_made_of_it": (True, False, _NEGATE, {"%e": _BOOLEANS, "%n": _FLOATS}),
    "selecting_it": (True, False, _SELECT.replace("THIS", "%f"), {"%r": _FLOATS}),
    "and_the_same_again": (True, False, _AGAIN, {"%e": _BOOLEANS, "%g": _FLOATS}),
    "beside_it_turned": (None, True, _TURNED, {"%w": _FLOATS}),
}
"""What is predicted, whether it is refused, what else is computed, and the results."""


@pytest.mark.parametrize("name", FLOORS)
def test_a_floor_that_is_compared_alone_is_refused(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """Where another op takes it too it compiles, or is not known."""
    expected, refused, made, results = FLOORS[name]
    text = _PROGRAM.replace("MADE", made).replace("RESULTS", ", ".join(results))
    artifact = portable.pin(text.replace("TYPES", ", ".join(results.values())), "1.9.0").artifact
    release = "iree-base-compiler 3.13.0"
    predicted = portable.predict(artifact, release, stage=Stage.COMPILE)
    assert predicted.holds(Stage.COMPILE) is expected
    executor = open_executor("iree", release)
    if refused:
        with pytest.raises(ExecutionFailed, match="refused to compile"):
            executor.compile(artifact)
    else:
        executor.compile(artifact)
