"""Batching dimensions of gather and scatter, written as one more index.

The position of a slice along a batching dimension is the position of its index along the
corresponding dimension of the indices, an iota. It lies in range, so nothing is clamped or skipped
that was not before. Upstream's expander does the same where all shapes are static.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.pinning.rewrites.editor import Editor

__all__ = ["has_batch", "indices"]

# An index type narrower than this may not hold the size of a batch.
_INDEX_BITS = 32


class _Fields(NamedTuple):
    """How one op calls what both have."""

    attribute: str
    collapsed: str
    batch: str
    index_batch: str
    index_map: str


_GATHER = _Fields(
    "gather",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
)
_SCATTER = _Fields(
    "scatter",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
)


def has_batch(_editor: Editor, operation: Any) -> bool:
    """Say whether an op has batching dimensions that upstream's expander leaves."""
    if not _numbers(operation)[1].get(_fields(operation).batch):
        return False
    dynamic = operation.name == "stablehlo.dynamic_gather"
    return dynamic or not all(_static(value) for value in operation.operands)


def indices(editor: Editor, operations: Sequence[Any]) -> None:
    """Put the position in the batch in front of every index."""
    for operation in operations:
        _rewrite(editor, operation)


def _static(value: Any) -> bool:
    return bool(value.type.has_static_shape)


def _fields(operation: Any) -> _Fields:
    return _SCATTER if operation.name == "stablehlo.scatter" else _GATHER


def _numbers(operation: Any) -> tuple[str, dict[str, list[int]]]:
    """Read the dimension numbers: the name of their attribute, and its lists by name."""
    name = (
        "scatter_dimension_numbers"
        if operation.name == "stablehlo.scatter"
        else "dimension_numbers"
    )
    text = str(operation.attributes[name])
    lists = {
        field: [int(number) for number in values.split(",") if number.strip()]
        for field, values in re.findall(r"(\w+) = \[([^\]]*)\]", text)
    }
    found = re.search(r"index_vector_dim = (\d+)", text)
    return name, lists | {"index_vector_dim": [int(found[1]) if found else 0]}


def _rewrite(editor: Editor, operation: Any) -> None:
    name, numbers = _numbers(operation)
    fields = _fields(operation)
    # Of a scatter: as many inputs as results, the indices, the updates.
    place = len(operation.results) if fields is _SCATTER else 1
    (depth,) = numbers["index_vector_dim"]
    found = operation.operands[place]
    bits = editor.ir.IntegerType(editor.element(found)).width
    if bits < _INDEX_BITS:
        wide = editor.ir.IntegerType.get_signless(_INDEX_BITS)
        found = editor.convert(operation, found, wide)
    operation.operands[place] = _with_batch(
        editor, operation, found, depth, numbers[fields.index_batch]
    )
    batch = numbers.pop(fields.batch)
    del numbers[fields.index_batch]
    numbers[fields.collapsed] = sorted(numbers.get(fields.collapsed, []) + batch)
    numbers[fields.index_map] = batch + numbers.get(fields.index_map, [])
    del numbers["index_vector_dim"]
    lists = [f"{field} = {values}" for field, values in numbers.items() if values]
    text = ", ".join([*lists, f"index_vector_dim = {depth}"])
    operation.attributes[name] = editor.ir.Attribute.parse(f"#stablehlo.{fields.attribute}<{text}>")
    # The batch comes first now; whether its indices are sorted as well is not known.
    operation.attributes["indices_are_sorted"] = editor.ir.BoolAttr.get(False)


def _with_batch(editor: Editor, before: Any, found: Any, depth: int, batch: Sequence[int]) -> Any:
    """Return the indices with their positions along `batch` in front."""
    kind = editor.ir.RankedTensorType(found.type)
    element, shape = kind.element_type, list(kind.shape)
    sizes = [_size(editor, before, found, axis) for axis in range(len(shape))]
    one = _constant(editor, before, 1)
    single = [*shape[:depth], 1, *shape[depth + 1 :]]
    extent = _joined(editor, before, [*sizes[:depth], one, *sizes[depth + 1 :]])
    if depth == len(shape):  # scalar indices: the vector is left out
        shape.append(1)
        full = _joined(editor, before, [*sizes, one])
        reshaped = editor.tensor(shape, element)
        found = editor.emit(before, "stablehlo.dynamic_reshape", [found, full], [reshaped]).result
    parts = [
        editor.emit(
            before,
            "stablehlo.dynamic_iota",
            [extent],
            [editor.tensor(single, element)],
            {"iota_dimension": f"{axis} : i64"},
        ).result
        for axis in batch
    ]
    dynamic = editor.ir.ShapedType.get_dynamic_size()
    if shape[depth] != dynamic:
        shape[depth] += len(batch)
    return editor.emit(
        before,
        "stablehlo.concatenate",
        [*parts, found],
        [editor.tensor(shape, element)],
        {"dimension": f"{depth} : i64"},
    ).result


def _size(editor: Editor, before: Any, value: Any, axis: int) -> Any:
    """Return the size of a dimension as a tensor<1xi32>."""
    number = editor.ir.IntegerType.get_signless(32)
    kind = editor.ir.RankedTensorType(value.type)
    if not kind.is_dynamic_dim(axis):
        return _constant(editor, before, kind.get_dim_size(axis))
    size = editor.emit(
        before,
        "stablehlo.get_dimension_size",
        [value],
        [editor.tensor([], number)],
        {"dimension": f"{axis} : i64"},
    ).result
    return editor.emit(before, "stablehlo.reshape", [size], [editor.tensor([1], number)]).result


def _constant(editor: Editor, before: Any, value: int) -> Any:
    kind = editor.tensor([1], editor.ir.IntegerType.get_signless(32))
    return editor.emit(
        before, "stablehlo.constant", [], [kind], {"value": f"dense<{value}> : {kind}"}
    ).result


def _joined(editor: Editor, before: Any, sizes: Sequence[Any]) -> Any:
    kind = editor.tensor([len(sizes)], editor.ir.IntegerType.get_signless(32))
    return editor.emit(
        before, "stablehlo.concatenate", list(sizes), [kind], {"dimension": "0 : i64"}
    ).result
