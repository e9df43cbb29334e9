"""Programs with numbers, literals, names and counts that no program has, as MLIR text."""

from __future__ import annotations

__all__ = ["TEXTS"]

_DIGITS = 5000
_MANY = 5000
_LONG = 1 << 20


def _function(type_: str, body: str = "", result: str = "%x") -> str:
    return (
        f"func.func @main(%x: {type_}) -> {type_} {{\n  {body}\n  return {result} : {type_}\n}}\n"
    )


def _constant(literal: str, type_: str) -> str:
    return (
        f"func.func @main() -> {type_} {{\n  %0 = stablehlo.constant dense<{literal}> : {type_}\n"
        f"  return %0 : {type_}\n}}\n"
    )


def _attribute(value: str) -> str:
    return f"module attributes {{m.x = {value}}} {{}}\n"


TEXTS: dict[str, str] = {
    "integer of many digits": _attribute("9" * _DIGITS),
    "integer of many digits and few bits": _attribute("9" * _DIGITS + " : i32"),
    "integer of many hexadecimal digits": _attribute("0x" + "f" * _DIGITS + " : i64"),
    "integer of 24 bits of width": _attribute("1 : i16777215"),
    "integer of a width of many digits": _attribute("1 : i" + "9" * _DIGITS),
    "float of many digits": _attribute("1." + "3" * _DIGITS + " : f32"),
    "float of a huge exponent": _attribute("1.0e" + "9" * _DIGITS + " : f32"),
    "constant of many digits": _constant("9" * _DIGITS, "tensor<i64>"),
    "constant of many hexadecimal digits": _constant('"0x' + "00" * _LONG + '"', "tensor<2xf32>"),
    "constant of a wide integer": _constant("1", "tensor<i16777215>"),
    "constant of more elements than memory": _constant("0.0", "tensor<1000000000000x4xf32>"),
    "constant of elements without number": _constant("0.0", "tensor<4294967296x4294967296xf32>"),
    "dimension of many digits": _function(f"tensor<{'9' * _DIGITS}xf32>"),
    "dimension of 64 bits": _function(f"tensor<{2**64 - 1}xf32>"),
    "dimension of 63 bits": _function(f"tensor<{2**63 - 1}xf32>"),
    "dimensions whose product overflows": _function("tensor<4294967296x4294967296x4xf32>"),
    "dimensions without number": _function(f"tensor<{'1x' * _MANY}f32>"),
    "shape of more elements than memory": _function("tensor<999999999999999999xf32>"),
    "iota of more elements than memory": _function(
        "tensor<1000000000000xf32>", "%0 = stablehlo.iota dim = 0 : tensor<1000000000000xf32>", "%0"
    ),
    "name of a megabyte": _function("tensor<2xf32>").replace("@main", "@" + "m" * _LONG),
    "string of a megabyte": _attribute('"' + "s" * _LONG + '"'),
    "line of many digits": 'module {} loc("a":' + "9" * _DIGITS + ":1)\n",
    "arguments without number": (
        f"func.func @main({', '.join(f'%{at}: tensor<f32>' for at in range(_MANY))}) {{\n"
        "  return\n}\n"
    ),
    "results without number": (
        f"func.func @main(%x: tensor<f32>) -> ({', '.join(['tensor<f32>'] * _MANY)}) {{\n"
        f"  return {', '.join(['%x'] * _MANY)} : {', '.join(['tensor<f32>'] * _MANY)}\n}}\n"
    ),
    "operands without number": _function(
        "tensor<1xf32>",
        f'%0 = "stablehlo.concatenate"({", ".join(["%x"] * _MANY)}) {{dimension = 0 : i64}} : '
        f"({', '.join(['tensor<1xf32>'] * _MANY)}) -> tensor<{_MANY}xf32>",
    ),
}
