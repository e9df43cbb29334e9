"""Quantized types as the arithmetic on their storage that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.pinning.rewrites.editor import Editor

__all__ = ["arithmetic", "is_quantized"]

# An op of quantized types is, by the specification, that of what they express, between a
# dequantization and a quantization: those are written out.
_ARITHMETIC = (
    "builtin.module(func.func(stablehlo-legalize-quantized-op-to-qdq,"
    "stablehlo-legalize-quant-to-math))"
)
_LOWER_CHLO = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
_BROADCASTING = {
    f"chlo.broadcast_{name}": f"stablehlo.{name}"
    for name in ("add", "divide", "multiply", "subtract")
}
_DIMENSIONS = "broadcast_dimensions"
_CALL = "func.call"


def is_quantized(editor: Editor, _module: Any) -> bool:
    """Say whether a program has values of quantized types."""
    return any(_is_quantized(value) for value in _values(editor))


def arithmetic(editor: Editor, modules: Sequence[Any]) -> None:
    """Write quantized types as their storage, and what is done with them as arithmetic."""
    for call in editor.operations(frozenset({_CALL})):
        if any(_is_quantized(value) for value in (*call.operands, *call.results)):
            raise editor.refuse(call, "upstream's pass takes no calls with quantized values")
    editor.run(editor.module, _ARITHMETIC)
    _broadcast(editor)
    editor.run(editor.module, _LOWER_CHLO)
    if is_quantized(editor, modules[0]):
        raise editor.refuse(modules[0], "upstream's pass leaves quantized types in it")


def _broadcast(editor: Editor) -> None:
    """Write out what one scale for each slice is broadcast by, which CHLO's lowering does not."""
    for operation in editor.operations(frozenset(_BROADCASTING)):
        if _DIMENSIONS not in operation.attributes:
            continue
        value, scales = operation.operands
        whole = editor.retyped(operation.result, editor.element(scales))
        dimensions = {_DIMENSIONS: operation.attributes[_DIMENSIONS]}
        spread = editor.emit(
            operation, "stablehlo.broadcast_in_dim", [scales], [whole], dimensions
        ).result
        name = _BROADCASTING[operation.name]
        made = editor.emit(operation, name, [value, spread], [operation.result.type])
        editor.replace(operation, made.results)


def _values(editor: Editor) -> Iterator[Any]:
    for operation in editor.operations():
        yield from operation.results
        for region in operation.regions:
            yield from (argument for block in region for argument in block.arguments)


def _is_quantized(value: Any) -> bool:
    return "!quant." in str(value.type)
