"""Loops that count from a constant by a constant up to one: at which number they end."""

from __future__ import annotations

import itertools
import operator

import pytest

import portable
from portable.bytecode import read
from portable.prediction.forms import Reading

_BITS = {"i8": 8, "ui8": 8, "i32": 32}
_ASKED = {name.upper(): getattr(operator, name) for name in ("lt", "le", "gt", "ge", "ne", "eq")}
_MOST_TURNS = 300


def _ends(first: int, asked: str, limit: int, step: int, element: str) -> int | None:
    """Return what a loop counts to, turn by turn; None of one that goes on, or wraps."""
    least = 0 if element[0] == "u" else -(1 << _BITS[element] - 1)
    for _ in range(_MOST_TURNS):
        if not _ASKED[asked](first, limit):
            return first
        first += step
        if not 0 <= first - least < 1 << _BITS[element]:
            return None
    return None


@pytest.mark.parametrize("element", _BITS)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_loop_ends_where_turn_by_turn_it_does(element: str, *, swapped: bool) -> None:
    """Of every comparison, for numbers around the ends; of what goes on nothing is known."""
    t, known = f"tensor<{element}>", 0
    sides = "%limit, %n" if swapped else "%n, %limit"
    numbers = (0, 3, 10) if element[0] == "u" else (-3, 0, 10)
    steps = (0, 1, 3) if element[0] == "u" else (-2, 0, 1, 3)
    for first, asked, limit, step in itertools.product(numbers, _ASKED, numbers, steps):
        artifact = portable.pin(
            f"""func.func @main(%a: {t}) -> {t} {{
              %first = stablehlo.constant dense<{first}> : {t}
              %limit = stablehlo.constant dense<{limit}> : {t}
              %step = stablehlo.constant dense<{step}> : {t}
              %r:2 = "stablehlo.while"(%a, %first) ({{
                ^bb0(%x: {t}, %n: {t}):
                  %more = stablehlo.compare {asked}, {sides} : ({t}, {t}) -> tensor<i1>
                  stablehlo.return %more : tensor<i1> }}, {{
                ^bb0(%x: {t}, %n: {t}):
                  %next = stablehlo.add %n, %step : {t}
                  %y = stablehlo.add %x, %n : {t}
                  stablehlo.return %y, %next : {t}, {t} }}) : ({t}, {t}) -> ({t}, {t})
              return %r#1 : {t} }}""",
            "0.14.0",
        ).artifact
        reading = Reading(read(artifact.data), artifact.data)
        (loop,) = reading.walk.of(["vhlo.while"])
        asks = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}.get(asked, asked)
        end = _ends(first, asks if swapped else asked, limit, step, element)
        found = reading.ranges.at((loop.number, 1))
        least = 0 if element[0] == "u" else -(1 << _BITS[element] - 1)
        if end is None:
            assert found[0] == least, (first, asked, limit, step)
        else:
            assert [*found] == [end, end], (first, asked, limit, step)
            known += 1
    assert known > 50
