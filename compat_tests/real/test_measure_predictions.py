"""Programs of one op that are put somewhere else, as predictions are measured with."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import portable
from portable.releases import find_release
from tools import measure_predictions
from tools.capabilities import Program
from tools.measure_predictions import AROUND, compared, doubted, surrounded

if TYPE_CHECKING:
    from pathlib import Path

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


RANDOM = """func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<2xf32> {
    %shape = stablehlo.constant dense<2> : tensor<1xi64>
    %drawn = stablehlo.rng %a, %b, %shape, distribution = UNIFORM
        : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
    return %drawn : tensor<2xf32>
}"""


def test_results_of_what_is_predicted_to_be_the_same_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program of which two Releases computed other numbers is named; random ones are no error."""
    monkeypatch.setattr(measure_predictions, "STORE", tmp_path)
    made = [one.artifact for one in _programs(TEXT, NOTHING, RANDOM)]
    ours, theirs = map(find_release, ("jaxlib 0.10.2", "jaxlib 0.12.0.1"))
    (tmp_path / "measured" / "some").mkdir(parents=True)
    for release, number in (ours, 1), (theirs, 2):
        raw = base64.b64encode(np.array([number], np.int32).tobytes()).decode()
        results = [[["int32", [1], raw]], [], [["int32", [1], raw]]]
        path = tmp_path / "measured" / "some" / f"{release.distribution}-{release.version}.jsonl"
        path.write_text(
            "".join(
                json.dumps({"digest": one.digest, "ended": "c", "outputs": outputs}) + "\n"
                for one, outputs in zip(made, results, strict=True)
            ),
            "utf-8",
        )
    assert [*compared(ours, theirs, made, "some")] == [(0, False), (1, True)]


def test_what_is_not_known_is_counted_up_to_each_stage() -> None:
    """That random numbers are the same is known of no Release, unless any of them will do."""
    made = [one.artifact for one in _programs(TEXT, RANDOM)]
    counts = [line.split()[:3] for line in doubted(find_release("jaxlib 0.12.0.1"), made)]
    assert counts == [["0", "of", "2"], ["1", "of", "2"], ["0", "of", "2"]]
