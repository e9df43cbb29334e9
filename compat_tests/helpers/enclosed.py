"""A program of which each op stands in a branch that a constant decides for."""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from compat_tests.helpers.outlined import symbol_of
from portable.bindings import find

__all__ = ["enclosed"]


def enclosed(text: str) -> str | None:
    """Move each op of `main` that gives tensors into the branch that is taken of a conditional.

    Args:
        text: A program.

    Returns:
        The same, with `if` and `case` by turns; None where there is no such op.

    Raises:
        LibraryError: It is of no Version that this jaxlib has.
    """
    library = find("jaxlib")
    module: Any = library.parse(text, library.context())
    with module.context, ir.Location.unknown():
        main = next((one for one in module.body.operations if symbol_of(one) == "main"), None)
        if main is None:
            return None
        (block,) = main.regions[0].blocks
        moved = [one.operation for one in block.operations if _gives_tensors(one.operation)]
        with ir.InsertionPoint.at_block_begin(block):
            decided = _decided()
        for number, op in enumerate(moved):
            name, by, taken = decided[number % len(decided)]
            _enclose(op, name, by, taken)
        module.operation.verify()
        return module.operation.get_asm(print_generic_op_form=True) if moved else None


def _gives_tensors(op: Any) -> bool:
    return bool(op.results) and all(isinstance(one.type, ir.RankedTensorType) for one in op.results)


def _decided() -> list[tuple[str, Any, int]]:
    """Return conditionals, what decides each, and which branch is taken."""
    i1, i32 = (ir.IntegerType.get_signless(bits) for bits in (1, 32))

    def number(type_: Any, value: int) -> Any:
        scalar = ir.RankedTensorType.get([], type_)
        made = ir.DenseElementsAttr.get_splat(scalar, ir.IntegerAttr.get(type_, value))
        return stablehlo.ConstantOp(made).result

    yes, no, one, many = (number(i1, 1), number(i1, 0), number(i32, 1), number(i32, 9))
    # As JAX writes `lax.cond`.
    converted = stablehlo.ConvertOp(ir.RankedTensorType.get([], i32), yes).result
    return [
        ("stablehlo.if", yes, 0),
        ("stablehlo.case", converted, 1),
        ("stablehlo.if", no, 1),
        ("stablehlo.case", one, 1),
        ("stablehlo.case", many, 1),
    ]


def _enclose(op: Any, name: str, by: Any, taken: int) -> None:
    types = [one.type for one in op.results]
    with ir.InsertionPoint(op):
        conditional = ir.Operation.create(name, results=types, operands=[by], regions=2)
    blocks = [region.blocks.append() for region in conditional.regions]
    for old, new in zip(op.results, conditional.results, strict=True):
        old.replace_all_uses_with(new)
    with ir.InsertionPoint(blocks[1 - taken]):
        stablehlo.ReturnOp([*op.clone().results])
    op.detach_from_parent()
    blocks[taken].append(op)
    with ir.InsertionPoint(blocks[taken]):
        stablehlo.ReturnOp([*op.results])
