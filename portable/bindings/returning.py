"""A `main` that returns every tensor it computes: calls are inlined, regions described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portable.bindings.diagnostics import location_text

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Inner", "ReturnedValue", "inline_calls", "return_all_values"]

COMPOSITES_TO_CALLS = "builtin.module(func.func(stablehlo-legalize-composite-to-call))"
"""The pass that makes calls of composites, which are inlined then."""

_CALL = "func.call"
# Calls of calls may multiply; a program that does is left as it is.
_MOST_CALLS = 10_000


@dataclass(frozen=True, slots=True)
class Inner:
    """An op in a region.

    Args:
        form: How it is written: its name, attributes, types, and which values it takes.
        name: Its name with its location.
    """

    form: str
    name: str


@dataclass(frozen=True, slots=True)
class ReturnedValue:
    """What computes one value.

    Args:
        name: The op with its location.
        inner: The ops in its regions, in order.
    """

    name: str
    inner: tuple[Inner, ...] = ()


def inline_calls(module: Any, ir: Any) -> None:
    """Replace the calls in `main` by what they call, in place.

    Args:
        module: Owned by the caller; functions do not call themselves.
        ir: The bindings.
    """
    functions = {_symbol(op.operation, ir): op.operation for op in module.body.operations}
    block = functions["main"].regions[0].blocks[0]
    for _ in range(_MOST_CALLS):
        call = next((op.operation for op in block.operations if op.operation.name == _CALL), None)
        if call is None:
            return
        callee = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]
        _replace(call, callee.regions[0].blocks[0], ir)


def return_all_values(module: Any, ir: Any) -> list[ReturnedValue]:
    """Make `main` return every tensor that its own ops compute, in place.

    Args:
        module: Owned by the caller; has a `main` of one block.
        ir: The bindings.

    Returns:
        What computes each, in the order of the new results.
    """
    functions = [operation.operation for operation in module.body.operations]
    (main,) = (f for f in functions if _symbol(f, ir) == "main")
    block = main.regions[0].blocks[0]
    *operations, end = list(block.operations)
    values = [
        (result, op.operation)
        for op in operations
        for result in op.operation.results
        if isinstance(result.type, ir.RankedTensorType)
    ]
    results = [result for result, _ in values]
    numbers = _numbers(block)
    found = [ReturnedValue(_name(op), tuple(_inner(op, numbers))) for _, op in values]
    taken, given = [a.type for a in block.arguments], [result.type for result in results]
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(taken, given))
    if "res_attrs" in main.attributes:
        del main.attributes["res_attrs"]
    with ir.InsertionPoint(end):
        ir.Operation.create("func.return", operands=results)
    end.operation.erase()
    return found


def _replace(call: Any, body: Any, ir: Any) -> None:
    """Put the ops of a function where it is called."""
    known = dict(zip(body.arguments, call.operands, strict=True))
    *operations, end = list(body.operations)
    for operation in operations:
        copy = operation.operation.clone(ir.InsertionPoint(call))
        known |= dict(zip(operation.operation.results, copy.operation.results, strict=True))
        for op in (copy.operation, *_nested(copy.operation)):
            for number, value in enumerate(op.operands):
                if value in known:
                    op.operands[number] = known[value]
    for old, value in zip(call.results, end.operation.operands, strict=True):
        old.replace_all_uses_with(known[value])
    call.erase()


def _nested(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _nested(inner.operation)


def _numbers(block: Any) -> dict[Any, int]:
    """Number all values of a block and of the regions in it."""
    values = list(block.arguments)
    for operation in block.operations:
        values += operation.operation.results
        for region in operation.operation.regions:
            for inner in region.blocks:
                values += _numbers(inner)
    return {value: number for number, value in enumerate(values)}


def _inner(operation: Any, numbers: dict[Any, int]) -> Iterator[Inner]:
    for op in _nested(operation):
        taken = [numbers.get(value, -1) for value in op.operands]
        given = [str(result.type) for result in op.results]
        # Iterating gives names, or in older bindings pairs of name and attribute.
        named = [getattr(one, "name", one) for one in op.attributes]
        attributes = [f"{name}={op.attributes[name]}" for name in named]
        yield Inner(f"{op.name} {taken} {attributes} {given}", _name(op))


def _name(operation: Any) -> str:
    return f"{operation.name} at {location_text(operation.location)}"


def _symbol(operation: Any, ir: Any) -> str:
    attributes = operation.attributes
    return ir.StringAttr(attributes["sym_name"]).value if "sym_name" in attributes else ""
