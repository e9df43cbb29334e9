"""Reductions that accumulate in a wider type than they take.

Converting the operands first is what such a reduction means, and a wider type holds every value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.pinning.rewrites.editor import Editor

__all__ = ["OPS", "converts", "promotes"]

_SELECT = "stablehlo.select_and_scatter"
OPS = frozenset(
    f"stablehlo.{name}"
    for name in ("all_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter")
) | {_SELECT}


def promotes(editor: Editor, operation: Any) -> bool:
    """Say whether a reduction accumulates in another type than it takes."""
    return any(editor.element(value) != kind for _, value, kind in _promoted(editor, operation))


def converts(editor: Editor, operations: Sequence[Any]) -> None:
    """Convert what is reduced to the type it is reduced in."""
    for operation in operations:
        for index, value, kind in _promoted(editor, operation):
            operation.operands[index] = editor.convert(operation, value, kind)
        if operation.name == _SELECT:
            _select_as_before(editor, operation)


def _promoted(editor: Editor, operation: Any) -> list[tuple[int, Any, Any]]:
    """List what is reduced: which operand, its value, the element type it is reduced in."""
    operands = list(operation.operands)
    count = len(operation.results)
    body = operation.regions[len(operation.regions) - 1].blocks[0].arguments
    kinds = [editor.element(argument) for argument in body]
    name = operation.name.removeprefix("stablehlo.")
    if name in {"all_reduce", "reduce_scatter", "select_and_scatter"}:
        wanted = dict.fromkeys(range(len(operands)), kinds[0])
    elif name == "scatter":  # inputs, one tensor of indices, updates
        wanted = {n: kinds[n] for n in range(count)}
        wanted |= {count + 1 + n: kinds[n] for n in range(count)}
    else:  # inputs, initial values
        wanted = {n: kinds[n % count] for n in range(len(operands))}
    return [(index, operands[index], kind) for index, kind in wanted.items()]


def _select_as_before(editor: Editor, operation: Any) -> None:
    """Let the selection compare the values it compared; they were widened, nothing is lost."""
    block = operation.regions[0].blocks[0]
    first = next(iter(block.operations))
    for argument in block.arguments:
        narrow, wide = argument.type, editor.element(operation.operands[0])
        argument.set_type(editor.retyped(argument, wide))
        back = editor.emit(first, "stablehlo.convert", [argument], [narrow])
        argument.replace_all_uses_except(back.result, back)
