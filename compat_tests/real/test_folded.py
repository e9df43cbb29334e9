"""What is computed from constants alone: no body that takes something else, nothing random."""

from __future__ import annotations

import pytest

import portable
from portable.bytecode import read
from portable.prediction.forms import Reading

_IF = """%b = "stablehlo.if"(%true) ({{ {0} stablehlo.return %i : tensor<2xf32> }},
    {{ stablehlo.return %c : tensor<2xf32> }}) : (tensor<i1>) -> tensor<2xf32>"""
_INNER = """%i = "stablehlo.case"(%none) ({{ {0} stablehlo.return %j : tensor<2xf32> }}) :
    (tensor<i32>) -> tensor<2xf32>"""
_WHILE = """%w:2 = "stablehlo.while"(%none, %c) ({{ ^bb0(%n: tensor<i32>, %x: tensor<2xf32>):
        %more = stablehlo.compare LT, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1> }}, {{ ^bb0(%n: tensor<i32>, %x: tensor<2xf32>):
        %next = stablehlo.add %n, %two : tensor<i32>
        %i = {0} : tensor<2xf32>
        stablehlo.return %next, %i : tensor<i32>, tensor<2xf32> }}) :
        (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    %b = stablehlo.negate %w#1 : tensor<2xf32>"""
_NEGATE = "%{0} = stablehlo.negate %{1} : tensor<2xf32>"
# What %b is: whether it is computed from constants alone.
PROGRAMS = {
    "a constant": (_NEGATE.format("b", "c"), True),
    "an argument": (_NEGATE.format("b", "a"), False),
    "a branch of constants": (_IF.format(_NEGATE.format("i", "c")), True),
    "a branch that takes an argument": (_IF.format(_NEGATE.format("i", "a")), False),
    "a branch that takes a result": (_IF.format(_NEGATE.format("i", "r")), False),
    "branches in branches, of constants": (
        _IF.format(_INNER.format(_NEGATE.format("j", "c"))),
        True,
    ),
    "branches in branches that take an argument": (
        _IF.format(_INNER.format(_NEGATE.format("j", "a"))),
        False,
    ),
    "branches in branches that take a result": (
        _IF.format(_INNER.format(_NEGATE.format("j", "r"))),
        False,
    ),
    "a loop of constants": (_WHILE.format("stablehlo.add %x, %c"), True),
    "a loop that takes an argument": (_WHILE.format("stablehlo.add %x, %a"), False),
    "a loop that takes a result": (_WHILE.format("stablehlo.add %x, %r"), False),
    "random numbers": (
        """%b = stablehlo.rng %zero, %one, %shape, distribution = UNIFORM :
            (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>""",
        False,
    ),
    "a custom call": (
        "%b = stablehlo.custom_call @f(%c) : (tensor<2xf32>) -> tensor<2xf32>",
        False,
    ),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_is_computed_from_constants_alone(what: str) -> None:
    """It is that wherever it stands, and nothing else is."""
    made, alone = PROGRAMS[what]
    artifact = portable.pin(
        f"""func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {{
        %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
        %true = stablehlo.constant dense<true> : tensor<i1>
        %none = stablehlo.constant dense<0> : tensor<i32>
        %two = stablehlo.constant dense<2> : tensor<i32>
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %one = stablehlo.constant dense<1.0> : tensor<f32>
        %shape = stablehlo.constant dense<2> : tensor<1xi64>
        %r = stablehlo.cosine %a : tensor<2xf32>
        {made}
        return %b : tensor<2xf32> }}""",
        "0.14.0",
    ).artifact
    reading = Reading(read(artifact.data), artifact.data)
    *_, end = reading.walk.of(["vhlo.return"])
    (source,) = end.sources
    assert source is not None
    assert (source[0] in reading.folded) is alone
