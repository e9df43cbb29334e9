"""Numbers below a byte that a program moves and returns: right as numpy, or not predicted to be."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

import portable
from compat_tests.helpers.eras import versions
from portable.prediction import predict
from portable.runtime.executors import find_executor
from portable.runtime.executors.inputs import random_inputs
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment
    from portable.runtime.executors.tensors import Array

pytestmark = pytest.mark.old_releases

# What is made of %a, of which type, and what numpy makes.
_MADE: dict[str, tuple[str, str, Callable[[Array], Array]]] = {
    "turned": ("stablehlo.transpose %a, dims = [1, 0]", "4x2", lambda a: a.T),
    "reversed": ("stablehlo.reverse %a, dims = [0, 1]", "2x4", lambda a: a[::-1, ::-1]),
    "cut": ("stablehlo.slice %a [0:2, 1:3]", "2x2", lambda a: a[:, 1:3]),
    "joined": ("stablehlo.concatenate %a, %a, dim = 0", "4x4", lambda a: np.concatenate([a, a])),
    "in other dimensions": ("stablehlo.reshape %a", "4x2", lambda a: a.reshape(4, 2)),
    "spread": ("stablehlo.broadcast_in_dim %a, dims = [0, 2]", "2x1x4", lambda a: a[:, None]),
    "turned by a broadcast": ("stablehlo.broadcast_in_dim %a, dims = [1, 0]", "4x2", np.transpose),
}
_ALIKE = {"reversed"}  # no type of an operand is written
_TWICE = {"joined"}
_DTYPES = {"i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4, "i8": np.int8}


def _program(element: str, made: str, ending: str) -> str:
    op, shape, _ = _MADE[made]
    taken, given = f"tensor<2x4x{element}>", f"tensor<{shape}x{element}>"
    operands = ", ".join([taken] * (1 + (made in _TWICE)))
    kind = given if made in _ALIKE else f"({operands}) -> {given}"
    results = {
        "alone": ("%m", given),
        "beside": ("%m, %a", f"{given}, {taken}"),
        "twice": ("%m, %m", f"{given}, {given}"),
        "beside another": ("%m, %b", f"{given}, tensor<3xf32>"),
    }
    names, types = results[ending]
    return f"""func.func @main(%a: {taken}, %b: tensor<3xf32>) -> ({types}) {{
        %m = {op} : {kind}
        return {names} : {types} }}"""


@pytest.mark.parametrize("version", versions("0.5.3", "0.7.2", "0.8.2"))
def test_what_is_moved_and_returned_is_numpy_s(
    version: str, release: Callable[[str], Environment]
) -> None:
    """What is turned is not green where XLA copies packed numbers wrongly; all else is, and right.

    What is not green is not executed: it may write where it should not.
    """
    name, ended = f"jaxlib {version}", set()
    endings = ("alone", "beside", "twice", "beside another")
    with find_executor("pjrt", release(name)) as executor:
        for element, made, ending in itertools.product(_DTYPES, _MADE, endings):
            artifact = portable.pin(_program(element, made, ending), "1.9.0").artifact
            green = predict(artifact, name, stage=Stage.EXECUTE).compatible
            turned = "turned" in made and element != "i8" and ending != "alone"
            assert green is not (turned and version != "0.8.2"), (element, made, ending)
            ended.add(green)
            if green:
                executable = executor.compile(artifact)
                given = random_inputs(executable.signature, 0)
                found, *_ = executable.run(given)
                right = _MADE[made][2](given[0])
                assert found.dtype == _DTYPES[element]
                assert np.array_equal(found, right), (element, made, ending)
    assert ended == ({True} if version == "0.8.2" else {True, False})
