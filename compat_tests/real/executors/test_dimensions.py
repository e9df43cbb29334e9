"""Ops whose dimensions are numbered at random: what is green computes what the newest does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.numbered import KINDS, numbered
from portable import predict
from portable.errors import PortableError
from portable.runtime.executors import random_inputs
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor

_REFERENCE = "jaxlib 0.10.2"
_MANY = 30
# Of those that are not green, so many may be computed all the same.
_STRICT = {"scatter": 2, "gather": 2, "convolution": 6, "select_and_scatter": 2}
# Numbers drawn at random are no equals, and none is NaN.
_ASSUMED = ("in-bounds", "no-nan", "no-ties")


def _computed(executor: Executor, artifact: Artifact) -> np.ndarray | None:
    """Return what a program computes; None where it is refused, or the process ends."""
    try:
        executable = executor.compile(artifact)
        given = random_inputs(executable.signature, 1)
        # Indices are in bounds of every dimension.
        given = [np.zeros_like(one) if one.dtype == np.int32 else one for one in given]
        (found,) = executable.run(given)
    except PortableError:
        return None
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_green_is_right(kind: str, open_executor: Callable[..., Executor]) -> None:
    """On IREE, which lowers each itself; and most of what is not green is not."""
    release = "iree-base-compiler 3.13.0"
    engine, reference = open_executor("iree", release), open_executor("pjrt", _REFERENCE)
    green = strict = 0
    for artifact in numbered(kind, _MANY):
        verdict = predict(artifact, release, stage=Stage.EXECUTE, assume=_ASSUMED)
        found, right = _computed(engine, artifact), _computed(reference, artifact)
        assert right is not None
        same = found is not None and np.allclose(found, right, rtol=1e-5, atol=1e-5)
        if verdict.compatible:
            green += 1
            assert same, verdict
        else:
            strict += same
    assert green > _MANY // 8
    assert strict <= _STRICT[kind]
