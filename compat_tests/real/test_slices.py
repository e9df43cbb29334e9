"""A dynamic_slice of a dynamic_slice, which XLA makes one: right of starts that are in bounds."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.eras import versions
from portable import pin, predict
from portable.runtime.executors import find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_LENGTHS = (10, 5, 2)
_PROGRAM = """func.func @main(%a: tensor<10xf32>, %i: tensor<i32>, %j: tensor<i32>)
    -> tensor<2xf32> {
  %b = stablehlo.dynamic_slice %a, %i, sizes = [5] : (tensor<10xf32>, tensor<i32>) -> tensor<5xf32>
  %c = stablehlo.dynamic_slice %b, %j, sizes = [2] : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  return %c : tensor<2xf32> }"""


@pytest.mark.parametrize("version", versions("0.4.30", "0.10.2"))
def test_it_is_right_in_bounds(version: str, release: Callable[[str], Environment]) -> None:
    """With that assumption it is green, and numpy's; out of bounds some are not."""
    name, artifact = f"jaxlib {version}", pin(_PROGRAM, "0.9.0").artifact
    assert predict(artifact, name, stage=Stage.EXECUTE).holds(Stage.EXECUTE) is None
    assert predict(artifact, name, stage=Stage.EXECUTE, assume=("in-bounds",)).compatible
    whole, wrong = np.arange(10, dtype=np.float32), 0
    most = [length - part for length, part in itertools.pairwise(_LENGTHS)]
    with find_executor("pjrt", release(name)) as executor:
        executable = executor.compile(artifact)
        for starts in itertools.product(range(-2, 8), range(-2, 6)):
            (found,) = executable.run([whole, *(np.array(one, np.int32) for one in starts)])
            first, second = (max(0, min(pair)) for pair in zip(starts, most, strict=True))
            right = whole[first:][second : second + len(found)]
            if starts == (first, second):
                assert np.array_equal(found, right), starts
            wrong += not np.array_equal(found, right)
    assert wrong
