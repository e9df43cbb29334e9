"""Programs that are nested or chained as deeply as one parameter says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMS"]


def _cases(depth: int) -> str:
    opened = "".join(f'%{k} = "stablehlo.case"(%i) ({{ ' for k in range(depth))
    closed = "".join(
        "}) : (tensor<i32>) -> tensor<i32> "
        + (f'"stablehlo.return"(%{k}) : (tensor<i32>) -> () ' if k else "")
        for k in reversed(range(depth))
    )
    inner = '"stablehlo.return"(%i) : (tensor<i32>) -> () '
    head = "func.func @main(%i: tensor<i32>) -> tensor<i32> { "
    return f"{head}{opened}{inner}{closed} return %0 : tensor<i32> }}"


FORMS: dict[str, Callable[[int], str]] = {
    "modules": lambda depth: "module {" * depth + "}" * depth,
    "cases": _cases,
    "attributes": lambda depth: f"module attributes {{x.a = {'[' * depth}{']' * depth}}} {{}}",
    "dictionaries": lambda depth: (
        "module attributes {x.a = " + "{b = " * depth + "1" + "}" * depth + "} {}"
    ),
    "locations": lambda depth: (
        "module {} loc(" + "callsite(" * depth + '"a"' + ' at "b")' * depth + ")"
    ),
    "names": lambda depth: "module {} loc(" + '"a"(' * depth + '"a"' + ")" * depth + ")",
    "tuples": lambda depth: f"func.func private @f({'tuple<' * depth}f32{'>' * depth}) {{}}",
    "functions": lambda depth: f"func.func private @f({'(' * depth}f32{') -> ()' * depth}) {{}}",
}
"""MLIR text with so many levels."""
