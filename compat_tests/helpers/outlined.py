"""A program of which each op stands in a function of its own, as nested `jax.jit` may write it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from portable.bindings import find

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["outlined", "symbol_of"]


def outlined(text: str) -> str | None:
    """Move each op of `main` that uses nothing from outside it into a function that is called.

    Args:
        text: A program.

    Returns:
        The same, with as many functions more; None where there is no such op.

    Raises:
        LibraryError: It is of no Version that this jaxlib has.
    """
    library = find("jaxlib")
    module: Any = library.parse(text, library.context())
    with module.context, ir.Location.unknown():
        named = {symbol_of(one): one.operation for one in module.body.operations}
        if "main" not in named:
            return None
        (block,) = named["main"].regions[0].blocks
        moved = [one.operation for one in block.operations if _is_alone(one.operation)]
        for number, op in enumerate(moved):
            _move(op, f"outlined_{number}", module)
        module.operation.verify()
        return module.operation.get_asm(print_generic_op_form=True) if moved else None


def symbol_of(op: Any) -> str:
    """Return the name of an op that has a symbol."""
    attributes = op.operation.attributes
    return ir.StringAttr(attributes["sym_name"]).value if "sym_name" in attributes else ""


def _is_alone(op: Any) -> bool:
    """Say whether an op gives something, and its bodies take nothing from around it."""
    blocks = [block for one in (op, *_inside(op)) for region in one.regions for block in region]
    own: set[Any] = {value for block in blocks for value in block.arguments}
    own |= {value for one in _inside(op) for value in one.results}
    taken = {value for one in _inside(op) for value in one.operands}
    return op.name not in {"func.return", "func.call"} and bool(op.results) and taken <= own


def _inside(op: Any) -> Iterator[Any]:
    for region in op.regions:
        for block in region:
            for one in block.operations:
                yield one.operation
                yield from _inside(one.operation)


def _move(op: Any, name: str, module: Any) -> None:
    takes, gives = ([value.type for value in values] for values in (op.operands, op.results))
    with ir.InsertionPoint(module.body):
        function = func.FuncOp(name, (takes, gives), visibility="private")
    block = function.add_entry_block()
    with ir.InsertionPoint(op):
        call = func.CallOp(gives, name, [*op.operands])
    for old, new in zip(op.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    op.detach_from_parent()
    with ir.InsertionPoint(block):
        block.append(op)
        for number, argument in enumerate(block.arguments):
            op.operands[number] = argument
        func.ReturnOp([*op.results])
