"""Which conditionals IREE may compile to what it refuses to execute, as predicted."""

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
func.func @main(%p: tensor<i1>, {", ".join(f"%a{at}: {_T}" for at in range(7))})
  -> ({_T}, {_T}, {_T}) {{
  %r:3 = "stablehlo.if"(%p) ({{
    %z = stablehlo.constant dense<0.0> : {_T}
    stablehlo.return FIRST : {_T}, {_T}, {_T}
  }}, {{
    %x0 = stablehlo.negate %a4 : {_T}
    %x1 = stablehlo.negate %a5 : {_T}
    %x2 = stablehlo.negate %a6 : {_T}
    stablehlo.return SECOND : {_T}, {_T}, {_T}
  }}) : (tensor<i1>) -> ({_T}, {_T}, {_T})
  return RESULTS : {_T}, {_T}, {_T}
}}"""
_RESULTS = "%r#0, %r#1, %r#2"
BRANCHES = {
    "three": (None, True, "%z, %a1, %a3", "%x2, %x0, %x1", _RESULTS),
    "two": (None, False, "%z, %a1, %a3", "%x2, %x0, %a2", _RESULTS),
    "one_twice": (None, False, "%a0, %a1, %a3", "%x2, %x2, %a2", _RESULTS),
    "an_argument_twice": (None, False, "%a0, %a1, %a0", "%a1, %a2, %a3", _RESULTS),
    "one": (True, False, "%z, %a1, %a3", "%a2, %x0, %a0", _RESULTS),
    "arguments": (True, False, "%a0, %a1, %a3", "%a2, %a4, %a0", _RESULTS),
    "one_that_is_taken": (True, False, "%z, %a1, %a3", "%x2, %x0, %x1", "%r#0, %r#0, %a0"),
}
"""What is predicted, whether it is refused, what the branches give and what is returned."""


@pytest.mark.parametrize("name", BRANCHES)
def test_several_values_that_a_branch_computes_are_in_doubt(
    name: str, open_executor: Callable[..., Executor]
) -> None:
    """Those of which one at most is computed are executed."""
    expected, refused, first, second, results = BRANCHES[name]
    text = _PROGRAM.replace("FIRST", first).replace("SECOND", second)
    artifact = portable.pin(text.replace("RESULTS", results), "1.9.0").artifact
    assert portable.predict(artifact, _RELEASE, stage="execute").holds(Stage.EXECUTE) is expected
    executable = open_executor("iree", _RELEASE).compile(artifact)
    given = [np.full(4, at, np.float32) for at in range(7)]
    if refused:
        with pytest.raises(ExecutionFailed, match="ref is null"):
            executable.run([np.array(False), *given])
    else:
        values = {f"%a{at}": one for at, one in enumerate(given)}
        values |= {"%x0": -given[4], "%x1": -given[5], "%x2": -given[6], "%z": 0 * given[0]}
        for condition, chosen in ((True, first), (False, second)):
            values |= {f"%r#{at}": values[one] for at, one in enumerate(chosen.split(", "))}
            found = executable.run([np.array(condition), *given])
            np.testing.assert_array_equal(found, [values[one] for one in results.split(", ")])
