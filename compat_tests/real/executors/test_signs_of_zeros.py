"""What real Releases make of -0.0 that a sum takes, enumerated: the sum is 0.0, and 1 / it inf."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import numpy as np
import pytest

from portable import pin, predict
from portable.errors import PortableError
from portable.releases.assumption import assumptions
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor

_T = "tensor<4xf32>"
_SCALAR = "tensor<f32>"


def _reduce(taken: str, dims: str, given: str) -> str:
    """A sum over some dimensions, as `stablehlo.reduce`."""
    return f"""%0 = stablehlo.reshape %a : ({_T}) -> tensor<{taken}xf32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = {dims}
        : (tensor<{taken}xf32>, {_SCALAR}) -> tensor<{given}xf32>"""


def _window(size: int, low: int, high: int) -> str:
    """A sum over windows, as `stablehlo.reduce_window`."""
    return f"""%1 = "stablehlo.reduce_window"(%a, %zero) ({{
      ^bb0(%x: {_SCALAR}, %y: {_SCALAR}):
        %s = stablehlo.add %x, %y : {_SCALAR}
        stablehlo.return %s : {_SCALAR}
      }}) {{window_dimensions = array<i64: {size}>,
           padding = dense<[[{low}, {high}]]> : tensor<1x2xi64>}}
      : ({_T}, {_SCALAR}) -> tensor<{4 + low + high - size + 1}xf32>"""


def _dot(left: str, right: str, sums: str, given: str) -> str:
    """Products with two that are added up, as `stablehlo.dot_general`."""
    return f"""%0 = stablehlo.reshape %a : ({_T}) -> tensor<{left}xf32>
      %two = stablehlo.constant dense<2.0> : tensor<{right}xf32>
      %1 = stablehlo.dot_general %0, %two, contracting_dims = {sums}
        : (tensor<{left}xf32>, tensor<{right}xf32>) -> tensor<{given}xf32>"""


def _convolution(size: int) -> str:
    """Products with two that are added up, as `stablehlo.convolution`."""
    given = 4 - size + 1
    return f"""%0 = stablehlo.reshape %a : ({_T}) -> tensor<1x1x4xf32>
      %two = stablehlo.constant dense<2.0> : tensor<1x1x{size}xf32>
      %1 = stablehlo.convolution(%0, %two) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
        window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
        : (tensor<1x1x4xf32>, tensor<1x1x{size}xf32>) -> tensor<1x1x{given}xf32>"""


# Each with how many numbers it gives; all of them are 0.0, of four that are -0.0.
_SUMS = {
    "zero that is added": (f"%1 = stablehlo.add %a, %zeros : {_T}", 4),
    "one number": (_reduce("4x1", "[1]", "4"), 4),
    "one number, over two dimensions": (_reduce("1x4x1", "[0, 2]", "4"), 4),
    "no dimension": (_reduce("4", "[]", "4"), 4),
    "all four": (_reduce("4", "[0]", "1").replace("tensor<1xf32>", _SCALAR), 1),
    "two of four": (_reduce("2x2", "[1]", "2"), 2),
    "windows of one": (_window(1, 0, 0), 4),
    "windows of two": (_window(2, 0, 0), 3),
    "windows of two, padded": (_window(2, 1, 0), 4),
    "running": (_window(4, 3, 0), 4),
    "running from the end": (_window(4, 0, 3), 4),
    "product of one": (_dot("4x1", "1x1", "[1] x [0]", "4x1"), 4),
    "product over no dimension": (_dot("4", "1", "[] x []", "4x1"), 4),
    "product of two": (_dot("2x2", "2x2", "[1] x [0]", "2x2"), 4),
    "product of two vectors": (
        _dot("4", "4", "[0] x [0]", "1").replace("tensor<1xf32>", _SCALAR),
        1,
    ),
    "convolution of one": (_convolution(1), 4),
    "convolution of two": (_convolution(2), 3),
}
_PASSES = {
    "": "%3 = stablehlo.add %other, %other : {0}\n %4 = stablehlo.reshape %2 : ({0}) -> {0}",
    "negated": "%4 = stablehlo.negate %2 : {0}",
    "divided": "%4 = stablehlo.divide %2, %other : {0}",
    "absolute": "%4 = stablehlo.abs %2 : {0}",
}
_ASKS = {
    "divide": "%r = stablehlo.divide %other, %4 : {0}",
    "rsqrt": "%r = stablehlo.rsqrt %4 : {0}",
    "power": "%r = stablehlo.power %4, %minus : {0}",
    "atan2": "%r = stablehlo.atan2 %4, %minus : {0}",
    "bitcast_convert": "%r = stablehlo.bitcast_convert %4 : ({0}) -> {1}",
    "compare": "%c = stablehlo.compare LT, %4, %none, TOTALORDER : ({0}, {0}) -> {2}"
    " %r = stablehlo.convert %c : ({2}) -> {1}",
}


def _expected(passed: str, asked: str, count: int) -> np.ndarray:
    """What numpy makes of the sums, 0.0 each."""
    with np.errstate(divide="ignore"):
        zero = np.full(count, -0.0 if passed == "negated" else 0.0, np.float32)
        minus = np.float32(-1)
        made: dict[str, Callable[[], np.ndarray]] = {
            "divide": lambda: np.float32(3) / zero,
            "rsqrt": lambda: 1 / np.sqrt(zero),
            "power": lambda: zero**minus,
            "atan2": lambda: np.arctan2(zero, minus),
            "bitcast_convert": lambda: zero.view(np.int32),
            "compare": lambda: np.signbit(zero).astype(np.int32),
        }
        return made[asked]()


def _programs() -> Iterator[tuple[tuple[str, str, str], Artifact, np.ndarray]]:
    """Yield each sum, what it becomes and what asks for its sign, and what is right."""
    for name, (made, count) in _SUMS.items():
        t = f"tensor<{count}xf32>"
        types = (t, f"tensor<{count}xi32>", f"tensor<{count}xi1>")
        type_ = made.rpartition("tensor<")[2]
        for passed, asked in (*zip(_PASSES, repeat("divide")), *zip(repeat(""), _ASKS)):
            bits = types[1] if asked in {"bitcast_convert", "compare"} else t
            yield (
                (name, passed, asked),
                pin(
                    f"""func.func @main(%a: {_T}, %three: {_SCALAR}) -> {bits} {{
                      %zero = stablehlo.constant dense<0.0> : {_SCALAR}
                      %zeros = stablehlo.constant dense<0.0> : {_T}
                      %none = stablehlo.constant dense<0.0> : {t}
                      %minus = stablehlo.constant dense<-1.0> : {t}
                      %other = stablehlo.broadcast_in_dim %three, dims = [] : ({_SCALAR}) -> {t}
                      {made}
                      %2 = stablehlo.reshape %1 : (tensor<{type_}) -> {t}
                      {_PASSES[passed].format(*types)}
                      {_ASKS[asked].format(*types)}
                      return %r : {bits} }}""",
                    "0.14.0",
                ).artifact,
                _expected(passed, asked, count),
            )


@pytest.mark.parametrize(
    ("executor", "release"),
    [
        ("pjrt", "jaxlib 0.5.3"),
        ("pjrt", "jaxlib 0.12.0.1"),
        ("iree", "iree-base-compiler 3.13.0"),
        ("tensorflow", "tensorflow 2.20.0"),
    ],
)
def test_none_is_green_and_wrong(
    executor: str, release: str, open_executor: Callable[..., Executor]
) -> None:
    """What is predicted to compute the same gives numpy's signs; most of what is right is so."""
    wrong, green, right = [], 0, 0
    engine = open_executor(executor, release)
    given = [np.full(4, -0.0, np.float32), np.array(3, np.float32)]
    for what, artifact, expected in _programs():
        verdict = predict(artifact, release, stage=Stage.EXECUTE)
        try:
            (found,) = engine.compile(artifact).run(given)
        except PortableError:
            assert not verdict.compatible, what
            continue
        same = np.allclose(found, expected)
        right += same
        green += same and verdict.compatible
        if verdict.compatible and not same:
            wrong.append(what)
    assert wrong == []
    assert green > right / 2


def test_without_a_zero_below_zero_all_are_right(open_executor: Callable[..., Executor]) -> None:
    """Each is green with all assumptions, and numpy's."""
    release = "jaxlib 0.12.0.1"
    engine, assume = open_executor("pjrt", release), [one.name for one in assumptions()]
    for (_, passed, _), artifact, expected in _programs():
        if passed != "negated":
            assert predict(artifact, release, stage=Stage.EXECUTE, assume=assume).compatible
            given = [np.zeros(4, np.float32), np.array(3, np.float32)]
            (found,) = engine.compile(artifact).run(given)
            assert np.allclose(found, expected)


def test_a_softmax_over_one_number_is_green(open_executor: Callable[..., Executor]) -> None:
    """An exponential is no zero below zero: what its sum divides is known to be one."""
    t, sums = "tensor<4x1xf32>", "tensor<4xf32>"
    artifact = pin(
        f"""func.func @main(%a: {t}) -> {t} {{
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.exponential %a : {t}
          %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1]
            : ({t}, tensor<f32>) -> {sums}
          %2 = stablehlo.reshape %1 : ({sums}) -> {t}
          %3 = stablehlo.divide %0, %2 : {t}
          return %3 : {t} }}""",
        "0.9.0",
    ).artifact
    assert predict(artifact, "jaxlib 0.10.2", stage=Stage.EXECUTE).compatible
    given = np.array([[-2.0], [0.0], [1.5], [-0.0]], np.float32)
    (found,) = open_executor("pjrt", "jaxlib 0.10.2").compile(artifact).run([given])
    assert found.tolist() == [[1.0]] * 4
