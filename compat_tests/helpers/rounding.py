"""Programs that make numbers narrower, and what numpy makes of what they are given."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import ml_dtypes
import numpy as np

import portable
from portable.prediction import predict
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor

__all__ = ["check_rounding", "programs"]

_DTYPES = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
}
# What is converted to what, and to what it is widened.
_TYPES = [
    *itertools.product(["f32", "f64"], ["bf16", "f16", "f8E4M3FN", "f8E5M2"], ["f32", "f64"]),
    *itertools.product(["i32"], ["bf16", "f16"], ["f32"]),
    *itertools.product(["f64", "i32"], ["f32"], ["f64"]),
]
_NARROW = "%n = stablehlo.convert %a : (tensor<4x{0}>) -> tensor<4x{1}>"
_WIDEN = (
    "%w = stablehlo.convert {} : (tensor<4x{{1}}>) -> tensor<4x{{2}}> return %w : tensor<4x{{2}}>"
)
_MAIN = "func.func @main(%a: tensor<4x{{0}}>) -> tensor<{}> {{{{ {} }}}}"
_INNER = " func.func private @f({0}: tensor<4x{1}>) -> tensor<4x{2}> {{{{ {3} }}}}"


def _main(gives: str, *body: str) -> str:
    return _MAIN.format(gives, " ".join(body))


def _branch(gives: str, made: str) -> str:
    """Return a branch that is taken, as %b."""
    return f"""
        %yes = stablehlo.constant dense<true> : tensor<i1>
        %b = "stablehlo.if"(%yes) ({{{{ {made} }}}}, {{{{
            %z = stablehlo.constant dense<0> : tensor<4xi32>
            %c = stablehlo.convert %z : (tensor<4xi32>) -> tensor<4x{gives}>
            stablehlo.return %c : tensor<4x{gives}>
        }}}}) : (tensor<i1>) -> tensor<4x{gives}>"""


_CALL = "%c = func.call @f(%{}) : (tensor<4x{}>) -> tensor<4x{}>"
# What every Release rounds.
_SURELY_ROUNDED = {"returned", "returned otherwise", "returned by a branch"}
# What main makes of its argument: whether it is wide in the end, and how.
_WAYS = {
    "returned": (False, _main("4x{1}", _NARROW, "return %n : tensor<4x{1}>")),
    "returned otherwise": (
        False,
        _main(
            "2x2x{1}",
            _NARROW,
            "%r = stablehlo.reshape %n : (tensor<4x{1}>) -> tensor<2x2x{1}>",
            "return %r : tensor<2x2x{1}>",
        ),
    ),
    "returned by a branch": (
        False,
        _main(
            "4x{1}",
            _branch("{1}", _NARROW + " stablehlo.return %n : tensor<4x{1}>"),
            "return %b : tensor<4x{1}>",
        ),
    ),
    "returned by a function": (
        False,
        _main("4x{1}", _CALL.format("a", "{0}", "{1}"), "return %c : tensor<4x{1}>")
        + _INNER.format("%a", "{0}", "{1}", _NARROW + " return %n : tensor<4x{1}>"),
    ),
    "widened": (True, _main("4x{2}", _NARROW, _WIDEN.format("%n"))),
    "widened behind a barrier": (
        True,
        _main(
            "4x{2}",
            _NARROW,
            "%m = stablehlo.optimization_barrier %n : tensor<4x{1}>",
            _WIDEN.format("%m"),
        ),
    ),
    "widened when joined again": (
        True,
        _main(
            "4x{2}",
            _NARROW,
            "%0 = stablehlo.slice %n [0:2] : (tensor<4x{1}>) -> tensor<2x{1}>",
            "%1 = stablehlo.slice %n [2:4] : (tensor<4x{1}>) -> tensor<2x{1}>",
            "%m = stablehlo.concatenate %0, %1, dim = 0 :"
            " (tensor<2x{1}>, tensor<2x{1}>) -> tensor<4x{1}>",
            _WIDEN.format("%m"),
        ),
    ),
    "widened in a branch": (
        True,
        _main(
            "4x{2}",
            _NARROW,
            _branch("{2}", _WIDEN.format("%n").replace("return", "stablehlo.return")),
            "return %b : tensor<4x{2}>",
        ),
    ),
    "widened in a function": (
        True,
        _main("4x{2}", _NARROW, _CALL.format("n", "{1}", "{2}"), "return %c : tensor<4x{2}>")
        + _INNER.format("%n", "{1}", "{2}", _WIDEN.format("%n")),
    ),
    "narrowed in a function": (
        True,
        _main("4x{2}", _CALL.format("a", "{0}", "{1}"), _WIDEN.format("%c"))
        + _INNER.format("%a", "{0}", "{1}", _NARROW + " return %n : tensor<4x{1}>"),
    ),
    "twice negated": (
        True,
        _main(
            "4x{2}",
            _NARROW,
            "%0 = stablehlo.negate %n : tensor<4x{1}> %m = stablehlo.negate %0 : tensor<4x{1}>",
            _WIDEN.format("%m"),
        ),
    ),
}


class Rounded(NamedTuple):
    """A program: which way its number goes, what it is given, and what numpy makes of that."""

    way: str
    types: tuple[str, str, str]
    artifact: Artifact
    taken: np.ndarray
    expected: np.ndarray


def programs() -> Iterator[Rounded]:
    """Yield a program of each way and each types."""
    for types in _TYPES:
        given, narrow, wide = types
        numbers = np.array([101.2345678, -3.3333333333, 0.1, 12.1])
        # Integers of more digits than the narrow type has.
        scale = {"f32": 1_000_019, "bf16": 101, "f16": 101}[narrow] if given == "i32" else 1
        taken = (numbers * scale).astype(_DTYPES[given])
        rounded = taken.astype(_DTYPES[narrow])
        for way, (widens, text) in _WAYS.items():
            artifact = portable.pin(text.format(*types), "0.14.0").artifact
            expected = rounded.astype(_DTYPES[wide]) if widens else rounded
            yield Rounded(way, types, artifact, taken, expected)


def check_rounding(executor: Executor, release: str, *, rounds: bool) -> None:
    """Execute all on a Release, and compare with numpy and with what is predicted of each.

    Args:
        executor: What executes on it.
        release: As `jaxlib 0.4.30`.
        rounds: Whether it rounds each, and is predicted to.
    """
    green, wrong, returned = (set[tuple[str, ...]]() for _ in range(3))
    for one in programs():
        key = (one.way, *one.types)
        (found,) = executor.compile(one.artifact).run([one.taken])
        if not np.array_equal(found.ravel().astype("f8"), one.expected.astype("f8")):
            wrong.add(key)
        if predict(one.artifact, release, stage=Stage.EXECUTE).compatible:
            green.add(key)
        if one.way in _SURELY_ROUNDED:
            returned.add(key)
    assert green.isdisjoint(wrong)
    assert green >= returned
    assert bool(wrong) is not rounds
    assert not rounds or len(green) == len(_TYPES) * len(_WAYS)
