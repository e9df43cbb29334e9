"""Reductions of more elements than XLA takes at a time: what is green is computed in order."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.eras import versions
from portable import predict, serialize
from portable.runtime.executors import find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_S = "tensor<i32>"
# Each with the ops of the body, and what it computes; numbers wrap around.
_BODIES: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "add": (f"%z = stablehlo.add %x, %y : {_S}", lambda x, y: x + y),
    "multiply": (f"%z = stablehlo.multiply %x, %y : {_S}", lambda x, y: x * y),
    "maximum": (f"%z = stablehlo.maximum %x, %y : {_S}", max),
    "subtract": (f"%z = stablehlo.subtract %x, %y : {_S}", lambda x, y: x - y),
    "a square added": (
        f"%q = stablehlo.multiply %y, %y : {_S} %z = stablehlo.add %x, %q : {_S}",
        lambda x, y: x + y * y,
    ),
    "the greater by select": (
        (
            f"%q = stablehlo.compare GT, %x, %y : ({_S}, {_S}) -> tensor<i1>"
            f" %z = stablehlo.select %q, %x, %y : tensor<i1>, {_S}"
        ),
        max,
    ),
}
_SIZES = (2, 31, 32, 33, 64, 65, 1000)
_STARTS = (0, 1, -(1 << 31))


def _program(size: int, columns: int, body: str, start: int) -> str:
    """Return a reduction of a tensor, or of windows of it that stand side by side."""
    op, attributes, result = "reduce", "dimensions = array<i64: 1>", "tensor<3xi32>"
    if columns > size:
        result = f"tensor<3x{columns // size}xi32>"
        sides = f"array<i64: 1, {size}>"
        op, attributes = "reduce_window", f"window_dimensions = {sides}, window_strides = {sides}"
    return f"""func.func @main(%a: tensor<3x{columns}xi32>) -> {result} {{
      %i = stablehlo.constant dense<{start}> : {_S}
      %r = "stablehlo.{op}"(%a, %i) ({{
        ^bb0(%x: {_S}, %y: {_S}): {_BODIES[body][0]} stablehlo.return %z : {_S}
      }}) {{{attributes}}} : (tensor<3x{columns}xi32>, {_S}) -> {result}
      return %r : {result} }}"""


def _right(rows: np.ndarray, body: str, start: int) -> list[int]:
    whole = (reduce(_BODIES[body][1], map(int, row), start) for row in rows)
    return [(one + (1 << 31)) % (1 << 32) - (1 << 31) for one in whole]


@pytest.mark.parametrize("version", versions("0.4.30", "0.10.2", "0.12.0.1"))
def test_many_elements_are_reduced_as_predicted(
    version: str, release: Callable[[str], Environment]
) -> None:
    """None that is green begins more than once, or is not reduced in order; some others do."""
    name = f"jaxlib {version}"
    wrong, green = set[tuple[bool, str]](), set[tuple[int, str]]()
    with find_executor("pjrt", release(name)) as executor:
        for size, body, start, windows in product(_SIZES, _BODIES, _STARTS, (1, 2)):
            columns = windows * size
            artifact = serialize(_program(size, columns, body, start), "0.9.0")
            rows = (np.arange(3 * columns, dtype=np.int32) * 7 % 13 - 6).reshape(3, columns)
            (found,) = executor.compile(artifact).run([rows])
            is_right = found.ravel().tolist() == _right(rows.reshape(-1, size), body, start)
            if predict(artifact, name, stage=Stage.EXECUTE).compatible:
                green.add((size, body))
                assert is_right, (size, body, start, windows)
            if not is_right:
                wrong.add((size > 32, body))
    assert wrong >= {(True, body) for body in ("add", "subtract", "a square added")}
    assert green >= {*product(_SIZES, ("add", "maximum", "the greater by select"))}
    assert not {one for one in wrong if not one[0]}
