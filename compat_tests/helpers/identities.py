"""Ops that change nothing, between the ops of a program."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from portable.bindings import find

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["IDENTITIES", "with_identities"]


def _array(numbers: list[int]) -> Any:
    return ir.DenseI64ArrayAttr.get(numbers)


def _reshaped(value: Any, kind: Any) -> Any:
    return stablehlo.reshape(kind, value)


def _reshaped_twice(value: Any, kind: Any) -> Any:
    count = prod(kind.shape)
    flat = ir.RankedTensorType.get([count] if kind.rank > 1 else [1, count], kind.element_type)
    return stablehlo.reshape(kind, stablehlo.reshape(flat, value))


def _transposed(value: Any, kind: Any) -> Any:
    return stablehlo.TransposeOp(value, _array([*range(kind.rank)])).result


def _transposed_twice(value: Any, kind: Any) -> Any:
    order = _array([*range(1, kind.rank), 0][: kind.rank])
    back = _array([kind.rank - 1, *range(kind.rank - 1)][: kind.rank])
    return stablehlo.TransposeOp(stablehlo.TransposeOp(value, order).result, back).result


def _reversed_twice(value: Any, kind: Any) -> Any:
    every = _array([*range(kind.rank)])
    return stablehlo.ReverseOp(stablehlo.ReverseOp(value, every).result, every).result


def _converted(value: Any, kind: Any) -> Any:
    return stablehlo.ConvertOp(kind, value).result


def _widened_and_back(value: Any, kind: Any) -> Any:
    wider = {"f32": "f64", "bf16": "f32", "f16": "f32", "i8": "i32", "i32": "i64", "ui8": "ui16"}
    element = ir.Type.parse(wider.get(str(kind.element_type), str(kind.element_type)))
    wide = ir.RankedTensorType.get(kind.shape, element)
    return stablehlo.ConvertOp(kind, stablehlo.ConvertOp(wide, value).result).result


def _whole(value: Any, kind: Any) -> Any:
    none, steps = _array([0] * kind.rank), _array([1] * kind.rank)
    return stablehlo.SliceOp(value, none, _array([*kind.shape]), steps).result


def _broadcast(value: Any, kind: Any) -> Any:
    return stablehlo.BroadcastInDimOp(kind, value, _array([*range(kind.rank)])).result


def _padded(value: Any, kind: Any) -> Any:
    element = str(kind.element_type)
    if element.startswith("complex"):
        return value
    zero = ir.Attribute.parse(f"{'0.0' if element.startswith(('f', 'bf')) else '0'} : {element}")
    scalar = ir.RankedTensorType.get([], kind.element_type)
    given = stablehlo.ConstantOp(ir.DenseElementsAttr.get_splat(scalar, zero)).result
    return stablehlo.PadOp(value, given, *[_array([0] * kind.rank)] * 3).result


IDENTITIES: list[Callable[[Any, Any], Any]] = [
    *(_reshaped, _reshaped_twice, _transposed, _transposed_twice, _reversed_twice, _converted),
    *(_widened_and_back, _whole, _broadcast, _padded),
]
"""Each makes of a value, and of its type, the same again."""


def with_identities(text: str, first: int) -> str | None:
    """Put such ops behind each op of `main`, one after another of those that there are.

    Args:
        text: A program.
        first: With which of them it begins.

    Returns:
        The program; None where no op of it gives tensors of a known shape.

    Raises:
        LibraryError: It is of no Version that this jaxlib has.
    """
    library = find("jaxlib")
    module: Any = library.parse(text, library.context())
    with module.context, ir.Location.unknown():
        found = {str(one.attributes["sym_name"]): one for one in _named(module)}
        values = []
        for function in (found[name] for name in found.keys() & {'"main"'}):
            *ops, _ = function.regions[0].blocks[0].operations
            values = [one for op in ops for one in op.operation.results if _is_plain(one.type)]
        for number, value in enumerate(values, first):
            _put(value, IDENTITIES[number % len(IDENTITIES)])
        module.operation.verify()
        return module.operation.get_asm(print_generic_op_form=True) if values else None


def _named(module: Any) -> list[Any]:
    ops = [one.operation for one in module.body.operations]
    return [one for one in ops if "sym_name" in one.attributes]


def _is_plain(kind: Any) -> bool:
    is_tensor = isinstance(kind, ir.RankedTensorType) and kind.has_static_shape
    return is_tensor and "quant" not in str(kind) and kind.encoding is None


def _put(value: Any, make: Callable[[Any, Any], Any]) -> None:
    block = value.owner.operation.block
    ops = [*block.operations]
    at = next(number for number, op in enumerate(ops) if op.operation == value.owner.operation)
    with ir.InsertionPoint(ops[at + 1]):
        # It takes the place of the value everywhere, then the value is given to what is made.
        place = stablehlo.OptimizationBarrierOp([value])
        value.replace_all_uses_with(place.results[0])
        place.operation.operands[0] = value
        place.results[0].replace_all_uses_with(make(value, value.type))
        place.operation.erase()
