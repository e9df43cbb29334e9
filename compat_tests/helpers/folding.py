"""Ops of an argument beside itself, its opposite and constants: which of them IREE folds away."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["FOLDED", "FOLDING_RELEASE", "programs"]

FOLDING_RELEASE = "iree-base-compiler 3.7.0"
"""Where each program was executed, 2026-11-29: it ends by SIGSEGV where all uses are folded."""

_TABLE = Path(__file__).parents[1] / "data" / "folded_on_iree.toml"
FOLDED = frozenset(
    f"{op} {element} {operands}"
    for element, ops in tomllib.loads(_TABLE.read_text("utf-8")).items()
    for op, several in ops.items()
    for operands in several
)
"""The names of the programs of which all uses of the argument are folded away."""

_CONSTANTS = {
    "i1": ["false", "true"],
    "i32": ["0", "1", "-1", "2147483647", "-2147483648", "40"],
    "ui32": ["0", "1", "4294967295", "40"],
    "f32": ["0.0", "1.0", "-1.0", "0x7F800000", "0x7FC00000"],
}
_BITS = ["and", "or", "xor"]
_ARITHMETIC = ["subtract", "divide", "remainder", "power"]
_SHIFTS = [f"shift_{way}" for way in ("left", "right_logical", "right_arithmetic")]
_ANY = ["add", "multiply", "maximum", "minimum"]
_OPS = {
    "i1": _ANY + _BITS,
    "i32": _ANY + _BITS + _ARITHMETIC + _SHIFTS,
    "ui32": _ANY + _BITS + _ARITHMETIC + _SHIFTS,
    "f32": [*_ANY, *_ARITHMETIC, "atan2"],
}
_ORDERS = {"i1": ["UNSIGNED"], "i32": ["SIGNED"], "ui32": ["UNSIGNED"]}
_DIRECTIONS = ["EQ", "NE", "LT", "LE", "GT", "GE"]


def programs() -> Iterator[tuple[str, str]]:
    """Yield each program's name, as `and i32 x 0`, and its text."""
    for element, constants in _CONSTANTS.items():
        operands = ["x", "negate" if element == "f32" else "not", *constants]
        pairs = [pair for pair in itertools.product(operands, repeat=2) if "x" in pair]
        orders = _ORDERS.get(element, ["FLOAT", "TOTALORDER"])
        for pair, op in itertools.product(pairs, _OPS[element]):
            yield _program(op, element, pair)
        for pair, direction, order in itertools.product(pairs, _DIRECTIONS, orders):
            yield _program(direction, element, pair, order)
        for least, most in itertools.product(constants, repeat=2) if element != "i1" else ():
            yield _program("clamp", element, (least, "x", most))


def _program(op: str, element: str, operands: Sequence[str], order: str = "") -> tuple[str, str]:
    type_ = f"tensor<3x{element}>"
    result = "tensor<3xi1>" if order else type_
    lines, given = list[str](), list[str]()
    for at, one in enumerate(operands):
        given.append("%x" if one == "x" else f"%{at}")
        if one in {"negate", "not"}:
            lines.append(f"%{at} = stablehlo.{one} %x : {type_}")
        elif one != "x":
            lines.append(f"%{at} = stablehlo.constant dense<{one}> : {type_}")
    taken = ", ".join(given)
    if order:
        whole = f"compare {op}, {taken}, {order} : ({type_}, {type_}) -> {result}"
    else:
        whole = f"{op} {taken} : {type_}"
    body = "\n  ".join([*lines, f"%r = stablehlo.{whole}", f"return %r : {result}"])
    name = " ".join([op, *([order] if order else []), element, *operands])
    return name, f"func.func @main(%x: {type_}) -> {result} {{\n  {body}\n}}\n"
