"""Numbers below the normal ones of their type: what computes them keeps or drops them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from portable import pin

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

_DTYPES: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
# Which types each keeps them of.
_KEEPS = {
    ("pjrt", "jaxlib 0.10.2"): {"f16"},
    ("iree", "iree-base-compiler 3.13.0"): set(),
    ("interpreter", "jaxlib 0.10.2"): {*_DTYPES},
}


@pytest.mark.parametrize("element", _DTYPES)
@pytest.mark.parametrize(("engine", "release"), _KEEPS)
def test_the_half_of_the_least_normal_number_is_as_said(
    engine: str, release: str, element: str, open_executor: Callable[..., Executor]
) -> None:
    """A product: the half, or zero; what is only handed on is kept."""
    dtype, type_ = np.dtype(_DTYPES[element]), f"tensor<2x{element}>"
    least = float(ml_dtypes.finfo(dtype).smallest_normal)
    artifact = pin(
        f"""func.func @main(%a: {type_}, %b: {type_}) -> ({type_}, {type_}) {{
          %r = stablehlo.multiply %a, %b : {type_}
          return %r, %a : {type_}, {type_} }}""",
        "0.9.0",
    ).artifact
    given = np.array([least, least / 4], dtype)
    found, kept = (
        open_executor(engine, release).compile(artifact).run([given, np.array([0.5, 1.0], dtype)])
    )
    wanted = [least / 2, least / 4] if element in _KEEPS[engine, release] else [0.0, 0.0]
    assert found.astype(np.float64).tolist() == wanted
    assert kept.astype(np.float64).tolist() == given.astype(np.float64).tolist()


@pytest.mark.parametrize(
    ("engine", "release", "found"),
    [
        ("pjrt", "jaxlib 0.12.0.1", [0.0, True]),
        ("pjrt", "jaxlib 0.5.3", [0.0, False]),
        ("interpreter", "jaxlib 0.10.2", [1.0, True]),
    ],
)
def test_what_takes_such_a_number_does_as_said(
    engine: str, release: str, found: list[float], open_executor: Callable[..., Executor]
) -> None:
    """Its ceil, and whether it is taken for true: that depends on whether it is zero."""
    artifact = pin(
        """func.func @main(%a: tensor<f32>, %b: tensor<bf16>) -> (tensor<f32>, tensor<i1>) {
          %r = stablehlo.ceil %a : tensor<f32>
          %s = stablehlo.convert %b : (tensor<bf16>) -> tensor<i1>
          return %r, %s : tensor<f32>, tensor<i1> }""",
        "0.9.0",
    ).artifact
    given = [np.array(2.0**-128, np.float32), np.array(2.0**-128, ml_dtypes.bfloat16)]
    ours = open_executor(engine, release).compile(artifact).run(given)
    assert [one.item() for one in ours] == found
