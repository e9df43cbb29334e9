"""Programs of one op that are put somewhere else, as predictions are measured with."""

from __future__ import annotations

import numpy as np
import pytest

import portable
from tools.capabilities import Program
from tools.measure_predictions import AROUND, surrounded

# Where nothing uses what a program gives.
_DROPPED = frozenset({"ignored", "unused"})
TEXT = """func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<i1>) {
    %sum = stablehlo.add %a, %b : tensor<3xf32>
    %true = stablehlo.constant dense<true> : tensor<i1>
    return %sum, %true : tensor<3xf32>, tensor<i1>
}"""
NOTHING = "func.func @main(%a: tensor<3xf32>) { return }"


def _programs(*texts: str) -> list[Program]:
    return [
        Program(f"add {number}", portable.pin(text, "0.9.0").artifact, frozenset({"add f32"}))
        for number, text in enumerate(texts)
    ]


@pytest.mark.parametrize("how", AROUND)
def test_a_program_computes_the_same_where_it_is_put(how: str) -> None:
    """In a function, a branch or a loop it computes what it did; unused, what is returned is 7."""
    (moved,) = surrounded(_programs(TEXT), how)
    values = np.array([1, 2, 3], np.float32), np.array([4, 5, 6], np.float32)
    found = portable.run(moved, values)
    expected = [np.int32(7)] if how in _DROPPED else [values[0] + values[1], np.True_]
    assert len(found) == len(expected)
    for one, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, right)


def test_what_is_unused_is_still_there() -> None:
    """The op itself stays in the artifact, for a compiler to remove."""
    (moved,) = surrounded(_programs(TEXT), "unused")
    assert "stablehlo.add" in str(portable.deserialize(moved))


def test_a_program_that_returns_nothing_is_left_out_where_its_results_are_needed() -> None:
    """A branch needs results; the programs after it are still measured."""
    assert len([*surrounded(_programs(NOTHING, TEXT), "branch")]) == 1
