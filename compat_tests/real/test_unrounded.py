"""What is made a narrower float, and not rounded where XLA:CPU computes in a wider one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from compat_tests.helpers.eras import versions
from portable import pin, predict
from portable.runtime.executors import find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_ELEMENTS: dict[str, type] = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
}
_UNARY = (
    *("abs", "cbrt", "ceil", "cosine", "exponential", "floor", "log", "logistic", "negate"),
    *("optimization_barrier", "round_nearest_afz", "round_nearest_even", "rsqrt", "sign"),
    *("sine", "sqrt", "tanh"),
)
_BINARY = ("add", "atan2", "divide", "maximum", "multiply", "power", "remainder", "subtract")
_N = 64


def _bodies(element: str) -> Iterator[tuple[str, str]]:
    """Yield ops of %c, each with the type of what it gives."""
    t = f"tensor<{_N}x{element}>"
    for op in _UNARY:
        yield f"%r = stablehlo.{op} %c : {t}", t
    for op in _BINARY:
        for operands in ("%c, %b", "%b, %c", "%c, %c"):
            yield f"%r = stablehlo.{op} {operands} : {t}", t
    for other in (*_ELEMENTS, "f32", "f64", "i32", "ui8", "i1"):
        if other != element:
            given = f"tensor<{_N}x{other}>"
            yield f"%r = stablehlo.convert %c : ({t}) -> {given}", given


def _programs() -> Iterator[tuple[str, str, str]]:
    """Yield programs that make an argument narrower, each with its type and the narrow one."""
    for element in _ELEMENTS:
        t = f"tensor<{_N}x{element}>"
        for body, given in _bodies(element):
            for source in ("f32", "i8", "i1"):
                yield (
                    source,
                    element,
                    f"""func.func @main(%a: tensor<{_N}x{source}>, %b: {t}) -> ({t}, {given}) {{
                      %c = stablehlo.convert %a : (tensor<{_N}x{source}>) -> {t}
                      {body}
                      return %c, %r : {t}, {given} }}""",
                )


def _wide(values: np.ndarray) -> np.ndarray:
    kept = values.dtype in (np.float64, np.bool_)
    return values if kept else values.astype(np.float64)


@pytest.mark.parametrize("version", versions("0.4.30"))
def test_it_is_known_what_is_rounded(version: str, release: Callable[[str], Environment]) -> None:
    """What is green is what another Release computes; most of what is wrong is something else."""
    name, rounding = f"jaxlib {version}", "jaxlib 0.4.33"
    numbers = np.random.default_rng(18).uniform(0.3, 3.9, _N)
    given: dict[str, np.ndarray] = {
        "f32": numbers.astype(np.float32),
        "i8": (numbers * 20).astype(np.int8),
        "i1": numbers > 2,
    }
    others: dict[str, np.ndarray] = {
        element: np.roll(numbers, 7).astype(of) for element, of in _ELEMENTS.items()
    }
    counted = {True: 0, False: 0, None: 0}
    same_though_wrong = 0
    with (
        find_executor("pjrt", release(name)) as executor,
        find_executor("pjrt", release(rounding)) as reference,
    ):
        for source, element, text in _programs():
            artifact = pin(text, "0.14.0").artifact
            found, expected = (
                [*map(_wide, one.compile(artifact).run([given[source], others[element]]))]
                for one in (executor, reference)
            )
            same = all(
                np.array_equal(one, right, equal_nan=True)
                for one, right in zip(found, expected, strict=True)
            )
            holds = predict(artifact, name, stage=Stage.EXECUTE).holds(Stage.EXECUTE)
            counted[holds] += 1
            assert same or not holds, text
            same_though_wrong += same and holds is False
    assert min(counted[True], counted[False]) > counted[None] // 3
    # That nothing of these numbers is rounded otherwise is luck.
    assert same_though_wrong <= counted[False] // 8
