"""Which scatters of an argument into itself end IREE's compiler, and which are predicted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

import portable
from portable.runtime.executors import ExecutionFailed
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor


class _Scatter(NamedTuple):
    """A scatter by add of an argument `%x`.

    Args:
        ends: Whether the compiler ends by it.
        before: What makes its indices `%i`, and what else it takes.
        into: What it is into.
        updates: What is added.
        shape: Of these, and of all but the last dimension of the indices.
    """

    ends: bool
    before: str
    into: str = "%x"
    updates: str = "%x"
    shape: str = "4x3"

    @property
    def text(self) -> str:
        """The program."""
        rank = self.shape.count("x") + 1
        tensor, indices = f"tensor<{self.shape}xf32>", f"tensor<{self.shape}x{rank}xi32>"
        all_ = [*range(rank)]
        return f"""
func.func @main(%x: {tensor}, %w: {indices}) -> {tensor} {{
  {self.before.replace("TENSOR", tensor).replace("INDICES", indices)}
  %r = "stablehlo.scatter"({self.into}, %i, {self.updates}) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = {all_},
    scatter_dims_to_operand_dims = {all_}, index_vector_dim = {rank}>}}
    : ({tensor}, {indices}, {tensor}) -> {tensor}
  return %r : {tensor}
}}"""


_COUNTED = "%i = stablehlo.iota dim = 1 : INDICES"
_NEGATED = "%n = stablehlo.negate %x : TENSOR"
SCATTERS = {
    "counted": _Scatter(True, _COUNTED),
    "added": _Scatter(True, "%i = stablehlo.add %w, %w : INDICES"),
    "of_three_dimensions": _Scatter(True, _COUNTED, shape="2x3x4"),
    "behind_a_barrier": _Scatter(
        True, f"{_COUNTED}\n%n = stablehlo.optimization_barrier %x : TENSOR", "%n", "%n"
    ),
    "given": _Scatter(False, "%i = stablehlo.optimization_barrier %w : INDICES"),
    "constant": _Scatter(False, "%i = stablehlo.constant dense<0> : INDICES"),
    "of_one_row": _Scatter(False, "%i = stablehlo.add %w, %w : INDICES", shape="1x3"),
    "of_one_dimension": _Scatter(False, "%i = stablehlo.add %w, %w : INDICES", shape="4"),
    "of_what_is_computed": _Scatter(False, f"{_COUNTED}\n{_NEGATED}", "%n", "%n"),
    "of_something_else": _Scatter(False, f"{_COUNTED}\n{_NEGATED}", "%x", "%n"),
}


@pytest.mark.parametrize("name", SCATTERS)
def test_what_ends_iree_s_compiler_is_predicted(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """Beside them those that it compiles, which are not."""
    scatter, release = SCATTERS[name], "iree-base-compiler 3.13.0"
    artifact = portable.pin(scatter.text, "1.9.0").artifact
    predicted = portable.predict(artifact, release, stage=Stage.COMPILE)
    executor = open_executor("iree", release)
    if scatter.ends:
        assert predicted.outcome is Outcome.CRASHED
        with pytest.raises(ExecutionFailed, match="SIGSEGV"):
            executor.compile(artifact)
    else:
        assert predicted.compatible
        executor.compile(artifact)
