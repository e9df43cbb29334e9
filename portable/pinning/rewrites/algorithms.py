"""Dot products that name the algorithm to compute by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from portable.features.bridges import since
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.pinning.rewrites.editor import Editor

__all__ = ["drop", "is_too_new"]

_FIELD = re.compile(r"(\w+) = ([\w.]+)")
_NEWEST = "f8E4M3FN"
_HIGHEST = "#stablehlo<precision HIGHEST>"


def is_too_new(editor: Editor, operation: Any) -> bool:
    """Say whether a dot product names an algorithm that the target lacks."""
    if "algorithm" not in operation.attributes:
        return False
    fields = dict(_FIELD.findall(str(operation.attributes["algorithm"])))
    types = {fields["lhs_precision_type"], fields["rhs_precision_type"]}
    feature = "dot_algorithm_f8E4M3FN" if _NEWEST in types else "dot_general_v2"
    return editor.target < Version.parse(since()[feature])


def drop(editor: Editor, operations: Sequence[Any]) -> None:
    """Multiply the operands as they are, which is at least as precise as any algorithm."""
    for operation in operations:
        fields = dict(_FIELD.findall(str(operation.attributes["algorithm"])))
        attributes = {
            "dot_dimension_numbers": operation.attributes["dot_dimension_numbers"],
            "precision_config": f"[{_HIGHEST}, {_HIGHEST}]",
        }
        _emit(editor, operation, attributes, fields["accumulation_type"])


def _emit(editor: Editor, operation: Any, attributes: dict[str, Any], accumulation: str) -> None:
    """Replace the op by one that accumulates in its result type, or in a wider one."""
    result = operation.results[0]
    element = editor.ir.Type.parse(accumulation)
    given = editor.element(result)
    if not all(isinstance(kind, editor.ir.FloatType) for kind in (element, given)):
        raise editor.refuse(operation, f"accumulates in {accumulation} for {given}")
    if element.width <= given.width:
        element = given
    dot = editor.emit(
        operation,
        operation.name,
        list(operation.operands),
        [editor.retyped(result, element)],
        attributes,
    ).result
    editor.replace(operation, [editor.convert(operation, dot, given)])
