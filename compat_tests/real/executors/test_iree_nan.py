"""NaN that constants make, on IREE, whose exponentials of it LLVM takes for undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.eras import marked
from portable import pin, predict
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.executors import Executor

_NAN = {"f32": "0x7FC00000", "f16": "0x7E00"}
_OPS = (
    *("abs", "cbrt", "exponential", "exponential_minus_one", "floor", "log", "logistic", "negate"),
    *("rsqrt", "sqrt", "tanh"),
)


@pytest.mark.parametrize(
    "version",
    [
        marked([f"iree-base-compiler {one}"], one, to_execute=True)
        for one in ("2.9.0", "3.10.0", "3.13.0")
    ],
)
def test_what_is_green_of_nan_is_nan(version: str, open_executor: Callable[..., Executor]) -> None:
    """Of ops of the constant NaN, and of what it is added to, no green one is another number."""
    name = f"iree-base-compiler {version}"
    executor = open_executor("iree", name)
    greens = {}
    for type_, nan in _NAN.items():
        for op in _OPS:
            for of in ("%n", "%s"):
                tensor = f"tensor<8x{type_}>"
                artifact = pin(
                    f"""func.func @main(%a: {tensor}) -> ({tensor}, {tensor}) {{
                      %n = stablehlo.constant dense<{nan}> : {tensor}
                      %s = stablehlo.add %a, %n : {tensor}
                      %r = stablehlo.{op} {of} : {tensor}
                      return %r, %a : {tensor}, {tensor} }}""",
                    "0.9.0",
                ).artifact
                green = predict(artifact, name, stage=Stage.EXECUTE).compatible
                greens[type_, op, of] = green
                if green:
                    given = np.ones(8, type_.replace("f", "float"))
                    found, _ = executor.compile(artifact).run([given])
                    assert np.isnan(found).all(), (type_, op, of)
    assert greens["f32", "negate", "%s"]
    assert not greens["f32", "logistic", "%s"]
    assert not greens["f16", "exponential", "%n"]
