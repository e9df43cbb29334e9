"""Arrays of floats that numpy has no type of, on IREE: up to 3.11 its Python API gives none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from compat_tests.helpers.eras import marked
from portable import pin

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

_SHAPES = [(2, 3), (3,), ()]
# Releases that have the type, from the first of those that are looked at.
_TYPES = {
    "bf16": (ml_dtypes.bfloat16, ["2.9.0", "3.0.0", "3.4.0", "3.8.0", "3.9.0", "3.11.0", "3.13.0"]),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, ["3.4.0", "3.8.0", "3.9.0", "3.11.0", "3.13.0"]),
    "f8E5M2": (ml_dtypes.float8_e5m2, ["3.4.0", "3.8.0", "3.9.0", "3.11.0", "3.13.0"]),
}


@pytest.mark.parametrize(
    ("element", "version"),
    [
        marked([f"iree-base-compiler {version}"], element, version)
        for element, (_, versions) in _TYPES.items()
        for version in versions
    ],
)
def test_an_array_comes_back_as_it_went(
    element: str, version: str, open_executor: Callable[..., Executor]
) -> None:
    """Bit for bit, beside a result of another type, and turned over where it has dimensions."""
    dtype = np.dtype(_TYPES[element][0])
    executor = open_executor("iree", f"iree-base-compiler {version}")
    for shape in _SHAPES:
        type_ = "x".join([*map(str, shape), element])
        order = [*reversed(range(len(shape)))]
        turned = "x".join([*map(str, reversed(shape)), element])
        artifact = pin(
            f"""func.func @main(%a: tensor<{type_}>, %b: tensor<2xf32>) ->
                (tensor<{turned}>, tensor<2xf32>) {{
              %0 = stablehlo.transpose %a, dims = {order} : (tensor<{type_}>) -> tensor<{turned}>
              %1 = stablehlo.negate %b : tensor<2xf32>
              return %0, %1 : tensor<{turned}>, tensor<2xf32> }}""",
            "1.0.0",
        ).artifact
        count = int(np.prod(shape))
        given = np.arange(1, 1 + count).astype(np.float32).reshape(shape).astype(dtype)
        other = np.array([1.5, -2.0], np.float32)
        first, second = executor.compile(artifact).run([given, other])
        assert first.dtype == dtype
        assert np.array_equal(first.astype(np.float32), given.T.astype(np.float32))
        assert np.array_equal(second, -other)
