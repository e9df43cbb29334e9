"""Random bits: the same state gives the same on each Release, as it is predicted."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

import portable
from portable.runtime.executors import ExecutionFailed
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor
    from portable.runtime.executors.tensors import Array

_ALGORITHMS = ("DEFAULT", "THREE_FRY", "PHILOX")
_STATE = np.array([0x123456789ABCDEF1, 0xFEDCBA9876543210, 7], np.uint64)
# Odd and even numbers of elements, fewer than a block of either algorithm and more.
_SHAPES = ("", "7x", "64x", "5x5x5x")


def _drawn(algorithm: str, element: str, shape: str, words: int) -> Artifact:
    state, bits = f"tensor<{words}xui64>", f"tensor<{shape}{element}>"
    return portable.pin(
        f"""func.func @main(%s: {state}) -> ({state}, {bits}) {{
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{{
    rng_algorithm = #stablehlo<rng_algorithm {algorithm}>
  }}> : ({state}) -> ({state}, {bits})
  return %0#0, %0#1 : {state}, {bits}
}}""",
        "0.14.0",
    ).artifact


def _run(executor: Executor, artifact: Artifact, words: int) -> Sequence[Array] | None:
    try:
        return executor.compile(artifact).run([_STATE[:words]])
    except ExecutionFailed:
        return None


@pytest.mark.parametrize(
    ("release", "engine"),
    [
        ("iree-base-compiler 3.13.0", "iree"),
        pytest.param("jaxlib 0.4.30", "pjrt", marks=pytest.mark.more_releases),
    ],
)
@pytest.mark.parametrize("element", ["ui8", "ui16", "ui32", "ui64", "i32", "f32"])
def test_iree_draws_the_bits_that_xla_draws_where_it_is_predicted(
    release: str, engine: str, element: str, open_executor: Callable[..., Executor]
) -> None:
    """The state and all numbers, by each algorithm; of three words IREE draws others."""
    right, other = open_executor("pjrt"), open_executor(engine, release)
    for algorithm, shape, words in itertools.product(_ALGORITHMS, _SHAPES, (2, 3)):
        artifact = _drawn(algorithm, element, shape, words)
        expected, found = (_run(one, artifact, words) for one in (right, other))
        if expected is None:  # ThreeFry has no third word
            assert (algorithm, words) == ("THREE_FRY", 3)
            continue
        verdict = portable.predict(artifact, release, stage=Stage.EXECUTE)
        same = found is not None and [one.tobytes() for one in found] == [
            one.tobytes() for one in expected
        ]
        assert verdict.holds(Stage.EXECUTE) is same, (algorithm, shape, words)
