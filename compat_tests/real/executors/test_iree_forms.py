"""Which scatters and sorts of memory that is an argument IREE does not compile, as predicted."""

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


_ONE = "%c = stablehlo.constant dense<1.0> : TENSOR"
_ZERO = "%c = stablehlo.constant dense<0.0> : TENSOR"
_BITS = "tensor<4x3xi32>"
UNCHANGED = {
    "by_one": (True, f"{_ONE}\n%u = stablehlo.multiply %c, %x : TENSOR"),
    "divided_by_one": (True, f"{_ONE}\n%u = stablehlo.divide %x, %c : TENSOR"),
    "less_zero": (True, f"{_ZERO}\n%u = stablehlo.subtract %x, %c : TENSOR"),
    "and_minus_zero": (True, f"{_ZERO.replace('0.0', '-0.0')}\n%u = stablehlo.add %x, %c : TENSOR"),
    "negated_twice": (True, f"{_NEGATED}\n%u = stablehlo.negate %n : TENSOR"),
    "as_bits": (
        True,
        f"""%n = stablehlo.bitcast_convert %x : (TENSOR) -> {_BITS}
            %u = stablehlo.bitcast_convert %n : ({_BITS}) -> TENSOR""",
    ),
    "greater_of_both": (True, "%u = stablehlo.maximum %x, %x : TENSOR"),
    "concatenated": (True, "%u = stablehlo.concatenate %x, dim = 0 : (TENSOR) -> TENSOR"),
    "converted": (True, "%u = stablehlo.convert %x : TENSOR"),
    "and_zero": (False, f"{_ZERO}\n%u = stablehlo.add %x, %c : TENSOR"),
    "by_two": (False, f"{_ONE.replace('1.0', '2.0')}\n%u = stablehlo.multiply %x, %c : TENSOR"),
    "one_by_it": (False, f"{_ONE}\n%u = stablehlo.divide %c, %x : TENSOR"),
    "negated": (False, "%u = stablehlo.negate %x : TENSOR"),
}
"""Whether the compiler ends, and what makes of an argument what is added to it."""


@pytest.mark.parametrize("name", UNCHANGED)
def test_an_op_that_changes_nothing_is_in_doubt_before_a_scatter(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """The compiler takes it out, and then scatters an argument into itself."""
    ends, made = UNCHANGED[name]
    scatter, release = (
        _Scatter(ends, f"{_COUNTED}\n{made}", "%x", "%u"),
        "iree-base-compiler 3.13.0",
    )
    artifact = portable.pin(scatter.text, "1.9.0").artifact
    predicted = portable.predict(artifact, release, stage=Stage.COMPILE)
    executor = open_executor("iree", release)
    if ends:
        assert predicted.holds(Stage.COMPILE) is None
        with pytest.raises(ExecutionFailed, match="SIGSEGV"):
            executor.compile(artifact)
    else:
        assert predicted.holds(Stage.COMPILE)
        executor.compile(artifact)


_SORT = """
func.func @main(%x: tensor<9x4xf32>, %n: tensor<i32>) -> tensor<SHAPExf32> {
  MADE
  %r = "stablehlo.sort"(%s) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<SHAPExf32>) -> tensor<SHAPExf32>
  return %r : tensor<SHAPExf32>
}"""
_SLICED = "%s = stablehlo.slice %x [0:8, 0:4] : (tensor<9x4xf32>) -> tensor<8x4xf32>"
_DYNAMIC = (
    "%s = stablehlo.dynamic_slice %x, %n, %n, sizes = [8, 4]"
    " : (tensor<9x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>"
)
_COMPUTED = f"%y = stablehlo.negate %x : tensor<9x4xf32>\n{_SLICED.replace('%x', '%y')}"
_APART = f"{_SLICED.replace('%s', '%y')}\n%s = stablehlo.optimization_barrier %y : tensor<8x4xf32>"
_COLUMN = (
    "%y = stablehlo.slice %x [0:8, 0:1] : (tensor<9x4xf32>) -> tensor<8x1xf32>\n"
    "%s = stablehlo.reshape %y : (tensor<8x1xf32>) -> tensor<8xf32>"
)


@pytest.mark.parametrize(
    ("made", "shape", "compiles"),
    [
        (_SLICED, "8x4", False),
        (_DYNAMIC, "8x4", False),
        (_COLUMN, "8", True),
        ("%s = stablehlo.reverse %x, dims = [0] : tensor<9x4xf32>", "9x4", True),
        (_COMPUTED, "8x4", None),
        (_APART, "8x4", True),
    ],
    ids=["sliced", "dynamic", "column", "reversed", "computed", "apart"],
)
def test_a_sort_of_a_slice_is_predicted_to_be_refused(
    made: str, shape: str, compiles: bool | None, open_executor: Callable[..., Executor]
) -> None:
    """Where it may be computed together with what it is of, it is not known; those compile."""
    release = "iree-base-compiler 3.13.0"
    text = _SORT.replace("MADE", made).replace("SHAPE", shape)
    artifact = portable.pin(text, "1.9.0").artifact
    assert portable.predict(artifact, release, stage=Stage.COMPILE).holds(Stage.COMPILE) is compiles
    executor = open_executor("iree", release)
    if compiles is False:
        with pytest.raises(ExecutionFailed, match="workgroup distributed contexts"):
            executor.compile(artifact)
    else:
        executor.compile(artifact)
