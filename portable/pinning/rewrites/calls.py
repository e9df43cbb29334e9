"""Custom calls that stand for ops of MHLO, which StableHLO has no op for.

Upstream's CHLO has the same ops, and its pass writes each by ops of StableHLO.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.pinning.rewrites.editor import Editor

__all__ = ["APPROXIMATED", "CALL", "EQUAL", "calls", "lower"]

CALL = "stablehlo.custom_call"
EQUAL = {
    "mhlo.acos": "chlo.acos",
    "mhlo.acosh": "chlo.acosh",
    "mhlo.asinh": "chlo.asinh",
    "mhlo.atanh": "chlo.atanh",
    "mhlo.cosh": "chlo.cosh",
    "mhlo.sinh": "chlo.sinh",
    "mhlo.tan": "chlo.tan",
    "mhlo.topk": "chlo.top_k",
}
"""The op that each target stands for, of those that give the bits that the call gives."""
APPROXIMATED = {"mhlo.asin": "chlo.asin", "mhlo.erf": "chlo.erf"}
"""The same, of those that do not."""
_OPS = EQUAL | APPROXIMATED
_TOPK = "mhlo.topk"
_ATTRIBUTES = "mhlo.attributes"
# The second pass only for dynamic shapes.
_LOWER = "builtin.module(func.func(chlo-legalize-to-stablehlo,shape-legalize-to-stablehlo))"
_CAST = "builtin.unrealized_conversion_cast"


def calls(targets: dict[str, str]) -> Callable[[Editor, Any], bool]:
    """Return what finds the calls of some targets."""
    return lambda _editor, operation: _target(operation) in targets


def lower(editor: Editor, operations: Sequence[Any]) -> None:
    """Replace calls by what upstream's pass makes of the op that they stand for."""
    for operation in operations:
        attributes = _attributes(editor, operation)
        results = [result.type for result in operation.results]
        op = _OPS[_target(operation)]
        made = editor.emit(operation, op, list(operation.operands), results, attributes)
        editor.replace(operation, made.results)
    editor.run(editor.module, _LOWER)
    _drop_casts(editor)


def _drop_casts(editor: Editor) -> None:
    """Erase the casts between sizes as shapes and as tensors, which the passes leave in pairs."""
    casts = editor.select(frozenset({_CAST})).get(_CAST, [])
    for cast in casts:
        inner = cast.operands[0].owner
        if inner.name == _CAST and inner.operands[0].type == cast.results[0].type:
            cast.results[0].replace_all_uses_with(inner.operands[0])
    for cast in reversed(casts):
        cast.operation.erase()


def _target(operation: Any) -> str:
    return str(operation.attributes["call_target_name"].value)


def _attributes(editor: Editor, operation: Any) -> dict[str, Any]:
    """Return the attributes of the op that a call stands for."""
    if _target(operation) != _TOPK:
        return {}
    has_them = _ATTRIBUTES in operation.attributes
    given = operation.attributes[_ATTRIBUTES] if has_them else {}
    if "k" not in given:
        raise editor.refuse(operation, "its mhlo.attributes do not say k")
    if "largest" in given and str(given["largest"]) != "true":
        raise editor.refuse(operation, "it takes the smallest, and chlo.top_k the largest")
    return {"k": given["k"]}
