"""Constants that are handed to a function, which XLA puts into its caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from portable import pin, predict
from portable.runtime.executors import find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_RELEASE = "jaxlib 0.12.0.1"
_T = "tensor<2xf32>"
# A constant, what is computed of it and %x, a value of that, and what should come of it.
PROGRAMS = {
    "divided by what has no reciprocal": (
        "1.0e38",
        f"%r = stablehlo.divide %x, %c : {_T}",
        [3e38, -2e38],
        [3.0, -2.0],
    ),
    "divides by the negative zero and zero": (
        "0.0",
        f"%s = stablehlo.add %x, %c : {_T}\n %r = stablehlo.divide %one, %s : {_T}",
        [-0.0, 2.0],
        [np.inf, 0.5],
    ),
}
_ONE = f"%one = stablehlo.constant dense<1.0> : {_T}"


def _program(name: str, *, handed: bool) -> str:
    number, compute, *_ = PROGRAMS[name]
    constant = f"%c = stablehlo.constant dense<{number}> : {_T}"
    ends = f"return %r : {_T}"
    if not handed:
        return f"func.func @main(%x: {_T}) -> {_T} {{\n {constant}\n {_ONE}\n {compute}\n {ends} }}"
    return f"""
    func.func @main(%x: {_T}) -> {_T} {{
        {constant}
        %r = func.call @given(%x, %c) : ({_T}, {_T}) -> {_T}
        {ends}
    }}
    func.func private @given(%x: {_T}, %c: {_T}) -> {_T} {{
        {_ONE}
        {compute}
        {ends}
    }}"""


@pytest.mark.parametrize("handed", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_constant_that_is_handed_on_is_one(
    name: str, release: Callable[[str], Environment], *, handed: bool
) -> None:
    """XLA computes the same, which is wrong, and no Verdict is green."""
    artifact = pin(_program(name, handed=handed), "0.14.0").artifact
    given, right = PROGRAMS[name][2:]
    with find_executor("pjrt", release(_RELEASE)) as executor:
        (found,) = executor.compile(artifact).run([np.asarray(given, np.float32)])
    assert not np.allclose(found, right)
    assert not predict(artifact, _RELEASE, stage=Stage.EXECUTE).compatible
