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

_RELEASE = "iree-base-compiler 3.13.0"


class _Scatter(NamedTuple):
    """A scatter by maximum of an argument `%x`.

    Args:
        ends: Whether the compiler ends by it.
        before: What makes its indices `%i`, and what else it takes.
        into: What it is into.
        updates: What is added.
        shape: Of these, and of all but the last dimension of the indices.
        element: What they are of.
    """

    ends: bool
    before: str
    into: str = "%x"
    updates: str = "%x"
    shape: str = "4x3"
    element: str = "f32"

    @property
    def text(self) -> str:
        """The program."""
        rank = self.shape.count("x") + 1
        tensor, indices = (f"tensor<{self.shape}x{one}>" for one in (self.element, f"{rank}xi32"))
        scalar = f"tensor<{self.element}>"
        all_ = [*range(rank)]
        return f"""
func.func @main(%x: {tensor}, %w: {indices}, %y: {tensor}, %p: tensor<i1>, %q: tensor<i32>)
  -> {tensor} {{
  {self.before.replace("TENSOR", tensor).replace("INDICES", indices)}
  %r = "stablehlo.scatter"({self.into}, %i, {self.updates}) ({{
  ^bb0(%a: {scalar}, %b: {scalar}):
    %s = stablehlo.maximum %a, %b : {scalar}
    stablehlo.return %s : {scalar}
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
    "behind_one_of_two_barriers": _Scatter(
        False, f"{_COUNTED}\n%n = stablehlo.optimization_barrier %x : TENSOR", "%x", "%n"
    ),
    "of_something_else": _Scatter(False, f"{_COUNTED}\n{_NEGATED}", "%x", "%n"),
}


@pytest.mark.parametrize("name", SCATTERS)
def test_what_ends_iree_s_compiler_is_predicted(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """Beside them those that it compiles, which are not."""
    scatter = SCATTERS[name]
    artifact = portable.pin(scatter.text, "1.9.0").artifact
    predicted = portable.predict(artifact, _RELEASE, stage=Stage.COMPILE)
    executor = open_executor("iree", _RELEASE)
    if scatter.ends:
        assert predicted.outcome is Outcome.CRASHED
        with pytest.raises(ExecutionFailed, match="SIGSEGV"):
            executor.compile(artifact)
    else:
        assert predicted.compatible
        executor.compile(artifact)


_ONE = "%c = stablehlo.constant dense<1.0> : TENSOR"
_ZERO = "%c = stablehlo.constant dense<0.0> : TENSOR"
_FIVE = "%c = stablehlo.constant dense<5> : TENSOR"
_BITS = "tensor<4x3xi32>"
_COMPLEX = "%z = stablehlo.complex {} : tensor<4x3xcomplex<f32>>\n%u = stablehlo.{} %z : "
_COMPLEX += "(tensor<4x3xcomplex<f32>>) -> TENSOR"
_TRUE = "%t = stablehlo.constant dense<true> : tensor<i1>\n"
_IF = """%u = "stablehlo.if"(%p) ({{ stablehlo.return %x : TENSOR }},
  {{ {} : TENSOR }}) : (tensor<i1>) -> TENSOR"""
_CASE = '%u = "stablehlo.case"(%q) ({0}, {0}) : (tensor<i32>) -> TENSOR'
_LOOP = """%0 = stablehlo.constant dense<0> : tensor<i32>
  %v:2 = stablehlo.while(%k = %0, %l = %x) : tensor<i32>, TENSOR
  cond {{
    %less = stablehlo.compare LT, %k, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }} do {{
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %k, %1 : tensor<i32>
    %m = stablehlo.negate %l : TENSOR
    stablehlo.return %2, {} : tensor<i32>, TENSOR
  }}"""
_IDENTITY = """%u = "stablehlo.map"(%x) ({
  ^bb0(%e: tensor<f32>): stablehlo.return %e : tensor<f32>
  }) {dimensions = array<i64: 0, 1>} : (TENSOR) -> TENSOR"""
_AS = "%n = stablehlo.reshape %x : (TENSOR) -> tensor<{0}xf32>\n{1}"
_PADDED = """%c = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.pad %x, %c, low = [1, 0], high = [0, 0], interior = [0, 0]
    : (TENSOR, tensor<f32>) -> tensor<5x3xf32>
  %u = stablehlo.slice %n [1:5, 0:3] : (tensor<5x3xf32>) -> TENSOR"""
_NEGATED_FLAT = """%m = stablehlo.negate %n : tensor<12xf32>
  %o = stablehlo.reshape %m : (tensor<12xf32>) -> TENSOR
  %u = stablehlo.negate %o : TENSOR"""
_MOVED = """%m = stablehlo.transpose %n, dims = [1, 0, 2] : (tensor<4x1x3xf32>) -> tensor<1x4x3xf32>
  %u = stablehlo.reshape %m : (tensor<1x4x3xf32>) -> TENSOR"""
_TURNED = """%n = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (TENSOR) -> tensor<3x4xf32>
  %u = stablehlo.transpose %n, dims = [1, 0] : (tensor<3x4xf32>) -> TENSOR"""
_OF_FLOATS: dict[str, tuple[bool, str]] = {
    "by_one": (True, f"{_ONE}\n%u = stablehlo.multiply %c, %x : TENSOR"),
    "divided_by_one": (True, f"{_ONE}\n%u = stablehlo.divide %x, %c : TENSOR"),
    "by_what_is_one": (
        True,
        f"{_ZERO}\n%e = stablehlo.exponential %c : TENSOR\n%u = stablehlo.multiply %x, %e : TENSOR",
    ),
    "less_zero": (True, f"{_ZERO}\n%u = stablehlo.subtract %x, %c : TENSOR"),
    "less_an_imaginary_part": (
        True,
        "%e = stablehlo.imag %y : (TENSOR) -> TENSOR\n%u = stablehlo.subtract %x, %e : TENSOR",
    ),
    "and_minus_zero": (True, f"{_ZERO.replace('0.0', '-0.0')}\n%u = stablehlo.add %x, %c : TENSOR"),
    "negated_twice": (True, f"{_NEGATED}\n%u = stablehlo.negate %n : TENSOR"),
    "negated_twice_in_another_shape": (True, _AS.format(12, _NEGATED_FLAT)),
    "as_bits": (
        True,
        f"""%n = stablehlo.bitcast_convert %x : (TENSOR) -> {_BITS}
            %u = stablehlo.bitcast_convert %n : ({_BITS}) -> TENSOR""",
    ),
    "greater_of_both": (True, "%u = stablehlo.maximum %x, %x : TENSOR"),
    "less_than_infinity": (
        True,
        f"{_ZERO.replace('0.0', '0x7F800000')}\n%u = stablehlo.minimum %x, %c : TENSOR",
    ),
    "clamped_by_itself": (True, "%u = stablehlo.clamp %x, %x, %x : TENSOR"),
    "concatenated": (True, "%u = stablehlo.concatenate %x, dim = 0 : (TENSOR) -> TENSOR"),
    "converted": (True, "%u = stablehlo.convert %x : TENSOR"),
    "rounded_to_its_own": (True, "%u = stablehlo.reduce_precision %x, format = e8m23 : TENSOR"),
    "padded_and_cut": (True, _PADDED),
    "moved_around_one": (True, _AS.format("4x1x3", _MOVED)),
    "turned_twice": (True, _TURNED),
    "mapped": (True, _IDENTITY),
    "chosen": (True, f"{_TRUE}%u = stablehlo.select %t, %x, %y : tensor<i1>, TENSOR"),
    "chosen_by_what_is_true": (
        True,
        """%t = stablehlo.compare EQ, %q, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
           %u = stablehlo.select %t, %x, %y : tensor<i1>, TENSOR""",
    ),
    "chosen_of_what_is_chosen": (
        True,
        """%n = stablehlo.select %p, %x, %y : tensor<i1>, TENSOR
           %u = stablehlo.select %p, %n, %x : tensor<i1>, TENSOR""",
    ),
    "real_part": (True, _COMPLEX.format("%x, %y", "real")),
    "imaginary_part": (True, _COMPLEX.format("%y, %x", "imag")),
    "real_part_of_a_float": (True, "%u = stablehlo.real %x : (TENSOR) -> TENSOR"),
    "in_both_branches": (True, _IF.format("stablehlo.return %x")),
    "in_both_cases": (True, _CASE.format("{ stablehlo.return %x : TENSOR }")),
    "carried": (True, f"{_LOOP.format('%l')}\n%u = stablehlo.reshape %v#1 : (TENSOR) -> TENSOR"),
    "in_one_branch": (False, _IF.format("stablehlo.return %y")),
    "chosen_or_zero": (
        False,
        f"{_ZERO}\n%u = stablehlo.select %p, %x, %c : tensor<i1>, TENSOR",
    ),
    "and_zero": (False, f"{_ZERO}\n%u = stablehlo.add %x, %c : TENSOR"),
    "and_another": (False, "%u = stablehlo.add %x, %y : TENSOR"),
    "by_two": (False, f"{_ONE.replace('1.0', '2.0')}\n%u = stablehlo.multiply %x, %c : TENSOR"),
    "one_by_it": (False, f"{_ONE}\n%u = stablehlo.divide %c, %x : TENSOR"),
    "negated": (False, "%u = stablehlo.negate %x : TENSOR"),
    "reversed": (False, "%u = stablehlo.reverse %x, dims = [0] : TENSOR"),
    "exponential": (False, "%u = stablehlo.exponential %x : TENSOR"),
}
_OF_INTEGERS: dict[str, tuple[bool, str]] = {
    "and_five_less_five": (
        True,
        f"{_FIVE}\n%n = stablehlo.add %x, %c : TENSOR\n%u = stablehlo.subtract %n, %c : TENSOR",
    ),
    "and_nothing": (
        True,
        "%n = stablehlo.subtract %y, %y : TENSOR\n%u = stablehlo.add %x, %n : TENSOR",
    ),
    "xor_twice": (True, "%n = stablehlo.xor %x, %y : TENSOR\n%u = stablehlo.xor %n, %y : TENSOR"),
    "at_least_the_least": (
        True,
        f"{_FIVE.replace('5', '-2147483648')}\n%u = stablehlo.maximum %x, %c : TENSOR",
    ),
    "chosen_where_equal": (
        True,
        """%t = stablehlo.compare EQ, %x, %y : (TENSOR, TENSOR) -> tensor<4x3xi1>
           %u = stablehlo.select %t, %y, %x : tensor<4x3xi1>, TENSOR""",
    ),
    "converted_twice": (
        True,
        """%n = stablehlo.convert %x : (TENSOR) -> tensor<4x3xi64>
           %u = stablehlo.convert %n : (tensor<4x3xi64>) -> TENSOR""",
    ),
    "and_five": (False, f"{_FIVE}\n%u = stablehlo.add %x, %c : TENSOR"),
    "at_least_five": (False, f"{_FIVE}\n%u = stablehlo.maximum %x, %c : TENSOR"),
}
_OF_BOOLEANS: dict[str, tuple[bool, str]] = {
    "and_true": (
        True,
        "%c = stablehlo.constant dense<true> : TENSOR\n%u = stablehlo.and %x, %c : TENSOR",
    ),
    "is_true": (
        True,
        """%c = stablehlo.constant dense<true> : TENSOR
           %u = stablehlo.compare EQ, %x, %c : (TENSOR, TENSOR) -> TENSOR""",
    ),
    "chooses_truth": (
        True,
        """%c = stablehlo.constant dense<true> : TENSOR
           %d = stablehlo.constant dense<false> : TENSOR
           %u = stablehlo.select %x, %c, %d : TENSOR, TENSOR""",
    ),
}
UNCHANGED = {
    f"{element} {name}": (element, *one)
    for element, each in (("f32", _OF_FLOATS), ("i32", _OF_INTEGERS), ("i1", _OF_BOOLEANS))
    for name, one in each.items()
}
"""The element type, whether the compiler ends, and what makes of an argument what is added."""


@pytest.mark.parametrize("name", UNCHANGED)
def test_an_op_that_changes_nothing_is_in_doubt_before_a_scatter(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """The compiler takes it out, and then scatters an argument into itself."""
    element, ends, made = UNCHANGED[name]
    scatter = _Scatter(ends, f"{_COUNTED}\n{made}", "%x", "%u", element=element)
    _in_doubt(scatter, open_executor)


_REDUCED = {
    "two_barriers": (
        True,
        "%f = stablehlo.optimization_barrier %x : TENSOR",
        "%g = stablehlo.optimization_barrier %x : TENSOR",
    ),
    "results_of_one_barrier": (
        False,
        "%f, %g = stablehlo.optimization_barrier %x, %y : TENSOR, TENSOR",
        "",
    ),
    "result_of_a_loop": (
        True,
        _LOOP.format("%m"),
        """%f = stablehlo.reshape %v#1 : (TENSOR) -> TENSOR
           %g = stablehlo.reshape %v#1 : (TENSOR) -> TENSOR""",
    ),
}


@pytest.mark.parametrize("name", _REDUCED)
def test_what_is_kept_apart_is_in_doubt_as_an_argument_is(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """Two barriers of one value are one to the compiler."""
    ends, *made = _REDUCED[name]
    _in_doubt(_Scatter(ends, "\n".join([_COUNTED, *made]), "%f", "%g"), open_executor)


@pytest.mark.parametrize(
    "made",
    [
        "%i = stablehlo.add %z, %z : INDICES",
        "%i = stablehlo.maximum %w, %w : INDICES",
        "%i = stablehlo.add %w, %z : INDICES",
    ],
)
def test_indices_that_are_reduced_to_what_is_given_do_not_end_the_compiler(
    made: str, open_executor: Callable[..., Executor]
) -> None:
    """By an argument or a constant it compiles: that it ends is not promised."""
    zero = "%z = stablehlo.constant dense<0> : INDICES"
    artifact = portable.pin(_Scatter(False, f"{zero}\n{made}").text, "1.9.0").artifact
    predicted = portable.predict(artifact, _RELEASE, stage=Stage.COMPILE)
    assert predicted.holds(Stage.COMPILE) is None
    open_executor("iree", _RELEASE).compile(artifact)


def _in_doubt(scatter: _Scatter, open_executor: Callable[..., Executor]) -> None:
    """Assert that a scatter that ends the compiler is in doubt, and one that does not is not."""
    artifact = portable.pin(scatter.text, "1.9.0").artifact
    predicted = portable.predict(artifact, _RELEASE, stage=Stage.COMPILE)
    executor = open_executor("iree", _RELEASE)
    if scatter.ends:
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
