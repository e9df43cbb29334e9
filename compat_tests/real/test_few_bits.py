"""Integers of two and four bits: each op of every pair, where it is predicted to compute them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.eras import versions
from portable import PortableError, pin, predict
from portable.runtime.executors import find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from portable.artifact import Artifact
    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_BITS = {"i2": 2, "ui2": 2, "i4": 4, "ui4": 4}


def _divided(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _powered(a: int, b: int) -> int:
    if b >= 0:
        return int(a**b)
    return {1: 1, -1: 1 - 2 * (b & 1)}.get(a, 0)


# Of Python's integers, before they are brought back to so many bits.
_TWO: Mapping[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "divide": _divided,
    "maximum": max,
    "multiply": lambda a, b: a * b,
    "power": _powered,
    "remainder": lambda a, b: a - b * _divided(a, b) if b else a,
    "subtract": lambda a, b: a - b,
}
_ONE: Mapping[str, Callable[[int], int]] = {
    "abs": abs,
    "negate": lambda a: -a,
    "not": lambda a: ~a,
    "sign": lambda a: (a > 0) - (a < 0),
}
_OF_SIGNED = {"abs", "sign"}
# To what the result is converted: of the same sign, as wide as a byte and wider.
_WIDER = ("i8", "i32")


def _brought_back(number: int, element: str) -> int:
    size = 1 << _BITS[element]
    number %= size
    return number - size if element[0] == "i" and number >= size // 2 else number


def _program(op: str, element: str, wider: str, count: int) -> Artifact:
    byte = f"{element[:-1]}8"
    few, bytes_, wide = (f"tensor<{count}x{one}>" for one in (element, byte, wider))
    names = "ab" if op in _TWO else "a"
    taken = ", ".join(f"%{name}: {bytes_}" for name in names)
    made = "\n".join(
        f"%{name}f = stablehlo.convert %{name} : ({bytes_}) -> {few}" for name in names
    )
    return pin(
        f"""func.func @main({taken}) -> {wide} {{
          {made}
          %r = stablehlo.{op} {", ".join(f"%{name}f" for name in names)} : {few}
          %s = stablehlo.convert %r : ({few}) -> {wide}
          return %s : {wide} }}""",
        "1.9.0",
    ).artifact


@pytest.mark.parametrize("element", _BITS)
@pytest.mark.parametrize("version", versions("0.5.3", "0.9.1", "0.12.0.1"))
def test_ops_of_all_pairs_are_python_s_where_they_are_predicted_to_be(
    version: str, element: str, release: Callable[[str], Environment]
) -> None:
    """Where they overflow too: jaxlib keeps what is over where it is converted to a byte."""
    name, size = f"jaxlib {version}", 1 << _BITS[element]
    numbers = [_brought_back(number, element) for number in range(size)]
    pairs = [(a, b) for a in numbers for b in numbers]
    dtype = np.int8 if element[0] == "i" else np.uint8
    given = [np.array([pair[at] for pair in pairs], dtype) for at in range(2)]
    wrong, green = {}, 0
    with find_executor("pjrt", release(name)) as executor:
        for op in {*_TWO, *_ONE} - (_OF_SIGNED if element[0] == "u" else set()):
            for wider in _WIDER:
                to = wider if element[0] == "i" else f"u{wider}"
                artifact = _program(op, element, to, len(pairs))
                if not predict(artifact, name, stage=Stage.EXECUTE).compatible:
                    continue
                green += 1
                try:
                    executable = executor.compile(artifact)
                    (found,) = executable.run(given if op in _TWO else given[:1])
                except PortableError as error:
                    wrong[op, to] = error.what
                    continue
                right = [_TWO[op](*pair) if op in _TWO else _ONE[op](pair[0]) for pair in pairs]
                wanted = [_brought_back(number, element) for number in right]
                if np.array(found).tolist() != wanted:
                    wrong[op, to] = "computes something else"
    assert not wrong
    assert green > len(_WIDER)
