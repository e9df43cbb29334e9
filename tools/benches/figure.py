"""Figures: what is promised, what was measured, and how both sides of a ratio are timed."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["ROOT", "TARGET", "Figure", "compare", "program", "ratio"]

ROOT = Path(__file__).parent.parent.parent
TARGET = "1.8.0"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured promise.

    Args:
        name: What was measured.
        value: The figure, in `unit`.
        limit: What is promised.
        unit: `x` for a ratio, else a unit of time, size or rate.
        floor: Whether `limit` is a minimum.
        detail: Both sides of a ratio, in milliseconds.
    """

    name: str
    value: float
    limit: float
    unit: str = "x"
    floor: bool = False
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether the promise holds."""
        return self.value >= self.limit if self.floor else self.value <= self.limit

    def __str__(self) -> str:
        mark, bound = "ok  " if self.holds else "MISS", "at least" if self.floor else "at most"
        value = f"{self.value:9.2f} {self.unit:<3}"
        return f"{mark} {self.name:<58} {value} ({bound} {self.limit:g}) {self.detail}"


def compare(
    *sides: Callable[[], Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Time several sides in turn.

    Args:
        sides: Each prepares, untimed, and returns what is timed.
        rounds: How often.
        clock: Returns the time in seconds; that of the process, where a busy machine would win.

    Returns:
        The best time of each side, in seconds.
    """
    best = [float("inf")] * len(sides)
    for _ in range(rounds):
        for at, side in enumerate(sides):
            action = side()
            gc.collect()
            gc.disable()  # as timeit does: collecting depends on what else is loaded
            began = clock()
            action()
            best[at] = min(best[at], clock() - began)
            gc.enable()
    return best


def ratio(name: str, limit: float, ours: float, theirs: float) -> Figure:
    """Make the figure for one ratio of two times in seconds."""
    return Figure(
        name, ours / theirs, limit, detail=f"{ours * 1e3:.2f} ms against {theirs * 1e3:.2f} ms"
    )


def program(ops: int) -> str:
    """Write a program of `ops` ops over tensor<64x64xf32>, each with its own location range."""
    kinds = ("add", "multiply", "tanh", "subtract", "dot_general")
    lines = ["func.func @main(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {"]
    last = "%x"
    for number in range(ops):
        kind = kinds[number % len(kinds)]
        where = f'loc("model.py":{number}:4 to :{number % 80 + 5})'
        shape = "tensor<64x64xf32>"
        if kind == "tanh":
            right = f"{last} : {shape}"
        elif kind == "dot_general":
            right = f"{last}, %y, contracting_dims = [1] x [0] : ({shape}, {shape}) -> {shape}"
        else:
            right = f"{last}, %y : {shape}"
        lines.append(f"%{number} = stablehlo.{kind} {right} {where}")
        last = f"%{number}"
    lines += [f"return {last} : tensor<64x64xf32>", "}"]
    return "\n".join(lines)
