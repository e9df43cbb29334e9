"""Programs with ops of dynamic shapes by constants, of older names or in a map, for others."""

from __future__ import annotations

import string
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from portable.bindings import find
from portable.prediction.form import ELEMENTWISE

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TWINS", "made"]

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
# Of as many elements as their operands, each by itself.
_BY_ELEMENT = frozenset(one.removeprefix("vhlo.") for one in ELEMENTWISE)


def made(text: str, name: str) -> str | None:
    """Put another op in the place of all that it says the same as.

    Args:
        text: A program.
        name: Which of `TWINS`.

    Returns:
        The program; None where it has no such op.

    Raises:
        LibraryError: It is of no Version that this jaxlib has.
    """
    return _changed(text, TWINS[name])


def _changed(text: str, change: Callable[[Any], bool]) -> str | None:
    library = find("jaxlib")
    module: Any = library.parse(text, library.context())
    with module.context:
        changed = [change(op) for op in [*_inside(module.operation)]]
        module.operation.verify()
        return str(module) if any(changed) else None


def _inside(around: Any) -> list[Any]:
    found = []
    for op in (op for region in around.regions for block in region.blocks for op in block):
        found += [op.operation, *_inside(op.operation)]
    return found


def _to_dynamic(op: Any) -> bool:
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
    return _replace(op, f"{dialect}.{dynamic}", [*op.operands, *sizes], attributes)


def _to_map(op: Any) -> bool:
    dialect, _, kind = op.name.partition(".")
    if dialect != "stablehlo" or kind not in _BY_ELEMENT or op.parent.name != "func.func":
        return False
    values = [*op.operands, *op.results]
    types = [ir.RankedTensorType(one.type) for one in values]
    sharded = "sdy.sharding" in op.attributes
    if sharded or "quant" in str(types) or len({tuple(one.shape) for one in types}) != 1:
        return False
    with op.location:
        *taken, made = [ir.RankedTensorType.get([], one.element_type) for one in types]
    over = ir.DenseI64ArrayAttr.get([*range(types[0].rank)])
    with ir.InsertionPoint(op), op.location:
        mapped = ir.Operation.create(
            "stablehlo.map", [types[-1]], [*op.operands], {"dimensions": over}, regions=1
        )
    block = mapped.regions[0].blocks.append(*taken, arg_locs=[op.location] * len(taken))
    attributes = {name: op.attributes[name] for name in op.attributes}
    with ir.InsertionPoint(block), op.location:
        inner = ir.Operation.create(op.name, [made], [*block.arguments], attributes)
        ir.Operation.create("stablehlo.return", [], [inner.result])
    op.results[0].replace_all_uses_with(mapped.results[0])
    op.erase()
    return True


def _replace(op: Any, name: str, operands: list[Any], attributes: dict[str, Any]) -> bool:
    results = [one.type for one in op.results]
    with ir.InsertionPoint(op), op.location:
        made = ir.Operation.create(name, results, operands, attributes)
    for before, after in zip(op.results, made.results, strict=True):
        before.replace_all_uses_with(after)
    op.erase()
    return True


def _shape(value: Any) -> list[int]:
    return [*ir.RankedTensorType(value.type).shape]


def _to_dot(op: Any) -> bool:
    over, sides = _over(op), [*map(_shape, op.operands)]
    plain = not over.lhs_batching_dimensions and max(map(len, sides)) <= 2
    both = [[*over.lhs_contracting_dimensions], [*over.rhs_contracting_dimensions]]
    if not plain or both != [[len(sides[0]) - 1], [0]]:
        return False
    return _replace(op, "stablehlo.dot", [*op.operands], {})


def _over(op: Any) -> Any:
    return stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])


def _to_einsum(op: Any) -> bool:
    over, (left, right) = _over(op), map(_shape, op.operands)
    config = [[*string.ascii_lowercase[: len(left)]], [*string.ascii_uppercase[: len(right)]]]
    batches = [*over.lhs_batching_dimensions], [*over.rhs_batching_dimensions]
    summed = [*over.lhs_contracting_dimensions], [*over.rhs_contracting_dimensions]
    for here, there in chain(zip(*batches, strict=True), zip(*summed, strict=True)):
        config[1][there] = config[0][here]
    batch = [config[0][at] for at in batches[0]]
    rest = [
        *(one for one in config[0] if one not in config[1]),
        *(one for one in config[1] if one not in config[0]),
    ]
    words = ["".join(one) for one in (*config, batch + rest)]
    attribute = ir.StringAttr.get(f"{words[0]},{words[1]}->{words[2]}")
    return _replace(op, "stablehlo.einsum", [*op.operands], {"einsum_config": attribute})


def _to_broadcast(op: Any) -> bool:
    operand, result = _shape(op.operands[0]), _shape(op.results[0])
    added = len(result) - len(operand)
    into = [*ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"])]
    if into != [*range(added, len(result))] or operand != result[added:]:
        return False
    sizes = ir.DenseI64ArrayAttr.get(result[:added])
    return _replace(op, "stablehlo.broadcast", [*op.operands], {"broadcast_sizes": sizes})


def _to_older(same: str, put: Callable[[Any], bool], op: Any) -> bool:
    # No older op has an algorithm.
    return op.name == same and "algorithm" not in op.attributes and put(op)


TWINS: dict[str, Callable[[Any], bool]] = {
    "dynamic": _to_dynamic,
    "mapped": _to_map,
    "dot": partial(_to_older, "stablehlo.dot_general", _to_dot),
    "einsum": partial(_to_older, "stablehlo.dot_general", _to_einsum),
    "broadcast": partial(_to_older, "stablehlo.broadcast_in_dim", _to_broadcast),
}
"""Ops of dynamic shapes, a map of one op, and ops of older names: what puts each in the place of an
op that says the same."""


def _constant(sizes: Any) -> Any:
    if not isinstance(sizes, ir.DenseIntElementsAttr):
        numbers = ", ".join(map(str, sizes))
        sizes = ir.Attribute.parse(f"dense<[{numbers}]> : tensor<{len([*sizes])}xi64>")
    attributes = {"value": sizes}
    op = ir.Operation.create("stablehlo.constant", results=[sizes.type], attributes=attributes)
    return op.result
