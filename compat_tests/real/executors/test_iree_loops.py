"""Which loops IREE compiles to what it refuses to execute, as predicted."""

from __future__ import annotations

from pathlib import Path
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
    "argument": (None, False, "%x", "%z"),
    "argument_carried": (True, False, "%z", "%o"),
    "inside": (True, False, "%e", "%m"),
}
"""What is predicted, whether it is refused, what is carried along and what the body gives."""


@pytest.mark.parametrize("name", LOOPS)
def test_a_value_from_outside_in_the_place_of_another_is_in_doubt(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """Arguments and what the body computes are executed; of arguments other loops are refused."""
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


_COMPUTED = """
func.func private @second(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  return %b : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c4 = stablehlo.constant dense<4> : tensor<i32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %two = stablehlo.constant dense<2> : tensor<4xi32>
  %t = stablehlo.convert %two : (tensor<4xi32>) -> tensor<4xf32>
  %u = stablehlo.iota dim = 0 : tensor<4xf32>
  %f = stablehlo.add %x, %one : tensor<4xf32>
  %w:4 = stablehlo.while(%i = %c0, %k = %c0, %a = BEGIN, %b = OTHER)
    : tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %l = stablehlo.compare LT, %i, %c4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %n = stablehlo.add %i, %c1 : tensor<i32>
    %m = stablehlo.add %k, %c1 : tensor<i32>
    %s = stablehlo.add %a, %b : tensor<4xf32>
    %z = stablehlo.optimization_barrier %b : tensor<4xf32>
    %g = func.call @second(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %y = "stablehlo.if"(%p) ({
      stablehlo.return %b : tensor<4xf32>
    }, {
      stablehlo.return %s : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %d = stablehlo.reshape %b : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %n, %m, GIVEN : tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %w#2, %w#3 : tensor<4xf32>, tensor<4xf32>
}"""
COMPUTED = {
    "exchanged": (False, "%t", "%one", "%b, %a"),
    "both_exchanged": (False, "%t", "%u", "%b, %a"),
    "moved": (False, "%t", "%x", "%s, %a"),
    "replaced": (False, "%t", "%x", "%b, %s"),
    "replaced_through_a_reshape": (False, "%t", "%x", "%d, %s"),
    "replaced_by_a_function": (False, "%t", "%x", "%g, %s"),
    "replaced_in_a_branch": (False, "%t", "%x", "%y, %s"),
    "replaced_from_behind_a_barrier": (False, "%t", "%x", "%z, %s"),
    "replaced_from_outside": (False, "%t", "%x", "%u, %s"),
    "added_to": (True, "%t", "%x", "%s, %b"),
    "added_to_both": (True, "%t", "%u", "%s, %b"),
    "kept": (True, "%t", "%one", "%a, %s"),
    "kept_beside_what_is_computed": (True, "%u", "%f", "%a, %s"),
    "both_kept": (True, "%t", "%u", "%a, %b"),
}
"""Whether it is predicted to be right, what a loop begins with and what its body gives."""


@pytest.mark.parametrize("name", COMPUTED)
def test_what_begins_computed_from_constants_is_in_doubt_where_it_moves(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """Where the body keeps it in its place, or computes what takes its place, it is executed."""
    known, begin, other, given = COMPUTED[name]
    text = _COMPUTED.replace("BEGIN", begin).replace("OTHER", other).replace("GIVEN", given)
    artifact = portable.pin(text, "1.9.0").artifact
    predicted = portable.predict(artifact, _RELEASE, stage="execute")
    assert predicted.holds(Stage.EXECUTE) is (True if known else None)
    if known:
        x = np.array([4, 3, 2, 1], np.float32)
        values = {"%x": x, "%one": 0 * x + 1, "%t": 0 * x + 2, "%u": x[::-1] - 1, "%f": x + 1}
        a, b = values[begin], values[other]
        for _ in range(4):
            made = {"%a": a, "%b": b, "%s": a + b}
            a, b = (made[one] for one in given.split(", "))
        found = open_executor("iree", _RELEASE).compile(artifact).run([x, np.array(True)])
        np.testing.assert_array_equal(found, [a, b])


def test_what_begins_computed_from_constants_and_moves_may_not_be_executed(
    open_executor: Callable[..., Executor],
) -> None:
    """A key of jax.random is one: two of it change places in each turn."""
    source = Path("docs/findings/loop-of-computed-constants-iree/program.mlir")
    artifact = portable.pin(source.read_text("utf-8"), "1.9.0").artifact
    predicted = portable.predict(artifact, _RELEASE, stage="execute")
    assert predicted.holds(Stage.EXECUTE) is None
    executable = open_executor("iree", _RELEASE).compile(artifact)
    with pytest.raises(ExecutionFailed, match="out range"):
        executable.run([np.zeros(4, np.float32)])


_TURNS = """
func.func @main(%x: tensor<4xf32>, %q: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %e = stablehlo.add %q, %c1 : tensor<i32>
  %c = stablehlo.constant dense<1> : tensor<4xi32>
  %t = BEGIN
  %w:3 = stablehlo.while(%i = %c0, %a = %t, %b = %x)
    : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  cond {
    %l = stablehlo.compare LT, %i, %e : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  } do {
    %n = stablehlo.add %i, %c1 : tensor<i32>
    %s = stablehlo.add %a, %a : tensor<4xf32>
    %z = stablehlo.add %b, %b : tensor<4xf32>
    stablehlo.return %n, %s, %z : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %w#1, %w#2 : tensor<4xf32>, tensor<4xf32>
}"""
_BEGINS = {
    "computed": (False, "stablehlo.convert %c : (tensor<4xi32>) -> tensor<4xf32>"),
    "constant": (True, "stablehlo.constant dense<1.0> : tensor<4xf32>"),
}


@pytest.mark.parametrize("name", _BEGINS)
def test_no_turn_of_a_loop_gives_back_what_is_computed_from_constants(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """The run after it fails, whose loop turns again."""
    right, begin = _BEGINS[name]
    artifact = portable.pin(_TURNS.replace("BEGIN", begin), "1.9.0").artifact
    predicted = portable.predict(artifact, _RELEASE, stage="execute")
    assert predicted.holds(Stage.EXECUTE) is (True if right else None)
    executable = open_executor("iree", _RELEASE).compile(artifact)
    x = np.ones(4, np.float32)
    executable.run([x, np.array(-5, np.int32)])
    if right:
        found = executable.run([x, np.array(1, np.int32)])
        np.testing.assert_array_equal(found, [x * 4, x * 4])
    else:
        with pytest.raises(ExecutionFailed, match="has not been committed"):
            executable.run([x, np.array(1, np.int32)])
