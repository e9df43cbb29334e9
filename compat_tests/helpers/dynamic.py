"""Programs with ops of dynamic shapes, whose sizes are constants, in the place of static ones."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from portable.bindings import find

__all__ = ["made_dynamic"]

# What the op of dynamic shapes is called, and the attributes that are operands of it; the sizes of
# the result where there are none.
_DYNAMIC: dict[str, tuple[str, tuple[str, ...]]] = {
    "broadcast_in_dim": ("dynamic_broadcast_in_dim", ()),
    "convolution": ("dynamic_conv", ("padding",)),
    "gather": ("dynamic_gather", ("slice_sizes",)),
    "iota": ("dynamic_iota", ()),
    "pad": ("dynamic_pad", ("edge_padding_low", "edge_padding_high", "interior_padding")),
    "reshape": ("dynamic_reshape", ()),
    "slice": ("real_dynamic_slice", ("start_indices", "limit_indices", "strides")),
}


def made_dynamic(text: str) -> str | None:
    """Put ops of dynamic shapes in the place of all that have static twins.

    Args:
        text: A program.

    Returns:
        The program; None where it has no such op.

    Raises:
        LibraryError: It is of no Version that this jaxlib has.
    """
    library = find("jaxlib")
    module: Any = library.parse(text, library.context())
    with module.context:
        changed = [_change(op) for op in [*_inside(module.operation)]]
        module.operation.verify()
        return str(module) if any(changed) else None


def _inside(around: Any) -> list[Any]:
    found = []
    for op in (op for region in around.regions for block in region.blocks for op in block):
        found += [op.operation, *_inside(op.operation)]
    return found


def _change(op: Any) -> bool:
    dialect, _, kind = op.name.partition(".")
    results = [one.type for one in op.results]
    if dialect != "stablehlo" or kind not in _DYNAMIC or "quant" in str(results):
        return False
    dynamic, operands = _DYNAMIC[kind]
    attributes = {name: op.attributes[name] for name in op.attributes}
    if not ir.RankedTensorType(results[0]).has_static_shape or {*operands} - {*attributes}:
        return False
    taken = [attributes.pop(operand) for operand in operands]
    with ir.InsertionPoint(op), op.location:
        sizes = [_constant(one) for one in taken or [ir.RankedTensorType(results[0]).shape]]
        made = ir.Operation.create(
            f"{dialect}.{dynamic}",
            results=results,
            operands=[*op.operands, *sizes],
            attributes=attributes,
        )
    for before, after in zip(op.results, made.results, strict=True):
        before.replace_all_uses_with(after)
    op.erase()
    return True


def _constant(sizes: Any) -> Any:
    if not isinstance(sizes, ir.DenseIntElementsAttr):
        numbers = ", ".join(map(str, sizes))
        sizes = ir.Attribute.parse(f"dense<[{numbers}]> : tensor<{len([*sizes])}xi64>")
    attributes = {"value": sizes}
    op = ir.Operation.create("stablehlo.constant", results=[sizes.type], attributes=attributes)
    return op.result
