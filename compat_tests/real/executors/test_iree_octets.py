"""Floats of a byte on IREE: every number of a type, in every op that is predicted to compute it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from portable import PortableError, pin, predict
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor

_RELEASE = "iree-base-compiler 3.13.0"
_DTYPES: Mapping[str, Any] = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}
_ONE: Mapping[str, Callable[[Any], Any]] = {
    "cbrt": np.cbrt,
    "cosine": np.cos,
    "exponential": np.exp,
    "exponential_minus_one": np.expm1,
    "log": np.log,
    "log_plus_one": np.log1p,
    "logistic": lambda a: 1 / (1 + np.exp(-a)),
    "negate": np.negative,
    "sine": np.sin,
    "tan": np.tan,
    "tanh": np.tanh,
}
_TWO: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "atan2": np.arctan2,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "power": np.power,
    "remainder": np.fmod,
    "subtract": np.subtract,
}
_INTEGERS: Mapping[str, Any] = {"i8": np.int8, "i32": np.int32, "ui8": np.uint8, "ui16": np.uint16}
_BYTES = np.arange(256, dtype=np.uint8)
_OTHERS = np.random.default_rng(0).permutation(_BYTES)
# So far apart two may be that a sum of exponentials is rounded to.
_MOST_ULPS = 2


def _program(element: str, op: str, *, is_of_two: bool) -> Artifact:
    names = "ab"[: 1 + is_of_two]
    taken = ", ".join(f"%{name}: tensor<256xui8>" for name in names)
    made = "\n".join(
        f"%{name}f = stablehlo.bitcast_convert %{name} : (tensor<256xui8>) -> tensor<256x{element}>"
        for name in names
    )
    return pin(
        f"""func.func @main({taken}) -> tensor<256xui8> {{
          {made}
          %r = stablehlo.{op} {", ".join(f"%{name}f" for name in names)} : tensor<256x{element}>
          %s = stablehlo.bitcast_convert %r : (tensor<256x{element}>) -> tensor<256xui8>
          return %s : tensor<256xui8> }}""",
        "1.9.0",
    ).artifact


def _wrong(right: np.ndarray[Any, Any], found: np.ndarray[Any, Any]) -> int:
    """Count what is another number; those below the normal ones may be zero."""
    as_floats = [each.astype(np.float64) for each in (right, found)]
    nan = [np.isnan(each) for each in as_floats]
    places = [np.where(each > 127, 128 - each, each) for each in (
        one.view(np.uint8).astype(int) for one in (right, found)
    )]  # fmt: skip
    far = np.abs(places[0] - places[1]) > _MOST_ULPS
    small = np.abs(as_floats).max(axis=0) <= float(ml_dtypes.finfo(right.dtype).smallest_normal)
    return int(np.sum(np.where(nan[0] | nan[1], nan[0] != nan[1], far & ~small)))


@pytest.mark.parametrize("element", _DTYPES)
def test_ops_of_every_number_are_numpy_s_where_they_are_predicted_to_be(
    element: str, open_executor: Callable[..., Executor]
) -> None:
    """Rounded once from float64; where NaN is one of the numbers, if none is assumed, without."""
    executor = open_executor("iree", _RELEASE)
    dtype = _DTYPES[element]
    given = [_BYTES.view(dtype).astype(np.float64), _OTHERS.view(dtype).astype(np.float64)]
    green, wrong = [], {}
    for op in [*_ONE, *_TWO]:
        is_of_two = op in _TWO
        artifact = _program(element, op, is_of_two=is_of_two)
        strict, kind = (
            predict(artifact, _RELEASE, stage=Stage.EXECUTE, assume=names)
            for names in ((), ("no-nan", "off-axes", "moderate"))
        )
        try:
            done = executor.compile(artifact).run([_BYTES, _OTHERS][: 1 + is_of_two])
        except PortableError:
            assert not kind.compatible, op
            continue
        with np.errstate(all="ignore"):
            compute: Callable[..., Any] = _TWO[op] if is_of_two else _ONE[op]
            right = compute(*given[: 1 + is_of_two]).astype(dtype)
        holds = np.isfinite(given[0])
        if is_of_two:
            holds &= np.isfinite(given[1]) & (given[0] != 0) & (given[1] != 0)
        found = np.array(done[0]).view(dtype)
        counted = {"": _wrong(right, found), "assumed": _wrong(right[holds], found[holds])}
        if kind.compatible:
            green.append(op)
        if strict.compatible and counted[""]:
            wrong[op] = counted[""]
        if kind.compatible and counted["assumed"]:
            wrong[f"{op}, assumed"] = counted["assumed"]
    assert not wrong
    assert bool(green) is (element != "f8E8M0FNU")


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("integer", _INTEGERS)
def test_integers_are_those_that_hold_the_number(
    element: str, integer: str, open_executor: Callable[..., Executor]
) -> None:
    """Of numbers that the integers hold; what NaN and others become is said to be not known."""
    artifact = pin(
        f"""func.func @main(%a: tensor<256xui8>) -> tensor<256x{integer}> {{
          %f = stablehlo.bitcast_convert %a : (tensor<256xui8>) -> tensor<256x{element}>
          %r = stablehlo.convert %f : (tensor<256x{element}>) -> tensor<256x{integer}>
          return %r : tensor<256x{integer}> }}""",
        "1.9.0",
    ).artifact
    strict, kind = (
        predict(artifact, _RELEASE, stage=Stage.EXECUTE, assume=names)
        for names in ((), ("no-nan", "in-range"))
    )
    assert not strict.compatible
    assert kind.compatible
    numbers = np.trunc(_BYTES.view(_DTYPES[element]).astype(np.float64))
    ends = np.iinfo(_INTEGERS[integer])
    held = (numbers >= ends.min) & (numbers <= ends.max)
    found = open_executor("iree", _RELEASE).compile(artifact).run([_BYTES])[0]
    assert np.array_equal(np.array(found)[held].astype(np.float64), numbers[held])
