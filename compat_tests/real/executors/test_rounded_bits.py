"""The bits of floats, as integers: where that is green on two Releases, both give the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from portable import pin, predict
from portable.errors import PortableError
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor

_UNARY = (
    *("abs", "cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor", "log"),
    *("log_plus_one", "logistic", "negate", "rsqrt", "sign", "sine", "sqrt", "tan", "tanh"),
)
_BINARY = ("add", "atan2", "divide", "maximum", "multiply", "power", "remainder", "subtract")
_MORE = {
    "a sum of products": "%0 = stablehlo.multiply %a, %b : {0} %1 = stablehlo.add %0, %b : {0}",
    "a product, negated and taken away": "%0 = stablehlo.multiply %a, %b : {0}"
    " %2 = stablehlo.negate %0 : {0} %1 = stablehlo.subtract %b, %2 : {0}",
    "a quotient by a constant": "%c = stablehlo.constant dense<3.0> : {0}"
    " %1 = stablehlo.divide %a, %c : {0}",
    "a root, reversed": "%0 = stablehlo.sqrt %a : {0} %1 = stablehlo.reverse %0, dims = [0] : {0}",
    "a sine, reversed": "%0 = stablehlo.sine %a : {0} %1 = stablehlo.reverse %0, dims = [0] : {0}",
    "the greater of a sine": "%0 = stablehlo.sine %a : {0} %1 = stablehlo.maximum %0, %b : {0}",
}
_COUNT = 64


def _programs() -> Iterator[tuple[tuple[str, str], Artifact]]:
    """Yield an op of each kind, of f32 and f64, whose bits are returned as integers."""
    ops = {one: f"%1 = stablehlo.{one} %a : {{0}}" for one in _UNARY}
    ops |= {one: f"%1 = stablehlo.{one} %a, %b : {{0}}" for one in _BINARY}
    for bits in (32, 64):
        t, i = f"tensor<{_COUNT}xf{bits}>", f"tensor<{_COUNT}xi{bits}>"
        for name, body in (ops | _MORE).items():
            text = f"""func.func @main(%a: {t}, %b: {t}) -> {i} {{
              {body.format(t)}
              %r = stablehlo.bitcast_convert %1 : ({t}) -> {i}
              return %r : {i} }}"""
            yield (f"f{bits}", name), pin(text, "1.4.0").artifact


@pytest.mark.parametrize(
    ("executor", "release"),
    [
        ("pjrt", "jaxlib 0.5.3"),
        ("iree", "iree-base-compiler 3.13.0"),
        ("tensorflow", "tensorflow 2.20.0"),
    ],
)
def test_green_bits_are_the_same(
    executor: str, release: str, open_executor: Callable[..., Executor]
) -> None:
    """What is predicted to compute the same gives the bits of jaxlib 0.12.0.1; much is green."""
    engines = {
        "jaxlib 0.12.0.1": open_executor("pjrt", "jaxlib 0.12.0.1"),
        release: open_executor(executor, release),
    }
    random, other, green = np.random.default_rng(1), [], []
    for what, artifact in _programs():
        dtype = np.dtype(what[0].replace("f", "float"))
        given = [random.uniform(0.1, 9, _COUNT).astype(dtype) for _ in "ab"]
        same = all(predict(artifact, one, stage=Stage.EXECUTE).compatible for one in engines)
        try:
            ours, theirs = (engine.compile(artifact).run(given)[0] for engine in engines.values())
        except PortableError:
            assert not same, what
            continue
        green += [what] * same
        if not np.array_equal(ours, theirs):
            other.append(what)
    assert not {*green} & {*other}
    assert {("f32", "multiply"), ("f64", "a root, reversed")} <= {*green}
    assert len(other) > 2
