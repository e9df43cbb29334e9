"""Ops of complex numbers of special parts: where two Releases are green, they give the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from portable import pin, predict
from portable.errors import PortableError
from portable.verdict import Stage
from tools.capabilities import same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor

_REFERENCE = "jaxlib 0.12.0.1"
_UNARY = (
    *("abs", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic"),
    *("negate", "rsqrt", "sign", "sine", "sqrt", "tan", "tanh"),
)
_BINARY = ("add", "divide", "multiply", "power", "subtract")
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5, 700.0, 1e-30, 1e30)
_MODERATE = (0.001, -0.25, 1.0, -2.5, 79.0)


def _programs(parts: tuple[float, ...]) -> Iterator[tuple[str, Artifact, list[np.ndarray]]]:
    """Yield each op with all complex numbers of some parts, or all pairs of some of these."""
    numbers = np.array([complex(one, other) for one in parts for other in parts], np.complex64)
    some = numbers[:: max(1, len(numbers) // 15)]
    pairs = [side.ravel() for side in np.meshgrid(some, some)]
    for op in (*_UNARY, *_BINARY):
        given = pairs if op in _BINARY else [numbers]
        t, f = (f"tensor<{len(given[0])}x{one}>" for one in ("complex<f32>", "f32"))
        result, types = (f, f"({t}) -> {f}") if op == "abs" else (t, t)
        taken = ", ".join(["%a", "%b"][: len(given)])
        parameters = ", ".join(f"{one}: {t}" for one in taken.split(", "))
        text = f"""func.func @main({parameters}) -> {result} {{
          %r = stablehlo.{op} {taken} : {types}
          return %r : {result} }}"""
        yield op, pin(text, "1.4.0" if op == "tan" else "0.9.0").artifact, given


def _compared(
    engines: dict[str, Executor], parts: tuple[float, ...], assume: tuple[str, ...]
) -> tuple[set[str], set[str]]:
    """Return the ops that are green on two Releases, and those that they compute otherwise."""
    green, other = set[str](), set[str]()
    for op, artifact, given in _programs(parts):
        verdicts = [predict(artifact, one, stage=Stage.EXECUTE, assume=assume) for one in engines]
        is_green = all(one.compatible for one in verdicts)
        try:
            found = [engine.compile(artifact).run(given) for engine in engines.values()]
        except PortableError:
            assert not is_green, op
            continue
        green |= {op} if is_green else set()
        other |= set() if same(*found) else {op}
    return green, other


@pytest.mark.parametrize(
    ("executor", "release", "otherwise"),
    [
        ("pjrt", "jaxlib 0.4.30", {"exponential", "sqrt"}),
        ("pjrt", "jaxlib 0.5.3", set()),
        ("tensorflow", "tensorflow 2.20.0", {"abs", "exponential", "log", "sqrt"}),
    ],
)
def test_of_special_parts(
    executor: str, release: str, otherwise: set[str], open_executor: Callable[..., Executor]
) -> None:
    """No op that is green is computed otherwise; of moderate parts all are the same."""
    engines = {
        _REFERENCE: open_executor("pjrt", _REFERENCE),
        release: open_executor(executor, release),
    }
    green, other = _compared(engines, _SPECIAL, ())
    assert not green & other
    assert otherwise <= other
    assert {"add", "cosine", "negate"} <= green
    green, other = _compared(engines, _MODERATE, ("no-nan", "off-axes"))
    assert not other
    assert otherwise <= green
