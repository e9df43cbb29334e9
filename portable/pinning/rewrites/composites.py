"""A composite is its decomposition, so calling that computes the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.features.bridges import since
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.pinning.rewrites.editor import Editor

__all__ = ["calls", "is_newer"]


def is_newer(editor: Editor, operation: Any) -> bool:
    """Say whether the target lacks this composite: all of them, or those with regions."""
    return bool(len(operation.regions)) or editor.target < Version.parse(since()["composite_v1"])


def calls(editor: Editor, composites: Sequence[Any]) -> None:
    """Replace composites by calls of their decompositions."""
    bodies = {
        function.attributes["sym_name"].value: bool(len(function.regions[0].blocks))
        for function in (op.operation for op in editor.module.body.operations)
        if function.name == "func.func"
    }
    for composite in composites:
        callee = composite.attributes["decomposition"]
        if not bodies.get(callee.value, False):
            raise editor.refuse(
                composite,
                f"the composite {composite.attributes['name']} has no decomposition: "
                f"@{callee.value} is declared without a body",
            )
        results = [result.type for result in composite.results]
        call = editor.emit(
            composite, "func.call", list(composite.operands), results, {"callee": callee}
        )
        editor.replace(composite, call.results)
