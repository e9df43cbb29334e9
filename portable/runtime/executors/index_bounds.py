"""How far the integers that a program uses as indices may go, read from its ops.

StableHLO clamps an index that is too large, or leaves its update out: nothing fails, but inputs
that are all clamped to one place compare little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.entries import Blob
from portable.bytecode.text import type_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.bytecode import Bytecode
    from portable.bytecode.operations import OpSignature

__all__ = ["index_bounds"]

_NUMBER_BYTES = 8  # of each size or dimension in an attribute
_UPDATE = "vhlo.dynamic_update_slice_v1"
_INDEXING = (
    *("vhlo.gather_v1", "vhlo.gather_v2", "vhlo.dynamic_gather_v1", "vhlo.dynamic_gather_v2"),
    *("vhlo.scatter_v1", "vhlo.scatter_v2", "vhlo.torch_index_select_v1"),
    *("vhlo.dynamic_slice_v1", _UPDATE),
)
# Which dimensions the indices are for; all of them where no such attribute is there.
_DIMENSIONS = ("start_index_map", "scatter_dims_to_operand_dims", "dim")


def index_bounds(content: Bytecode, data: bytes) -> dict[str, int]:
    """Find how many indices are in range, for each element type that indexes something.

    Args:
        content: The program, opened.
        data: Its bytes.

    Returns:
        By element type, for example `i32`: every smaller number is in range of all that is indexed
        by integers of that type, at least 1.
    """
    typed = [index for index, name in enumerate(content.names) if str(name) in _INDEXING]
    bounds: dict[str, int] = {}
    for signature in content.scan(typed).signatures if typed else ():
        if signature.name in typed:
            element, bound = _bound(content, data, signature)
            bounds[element] = max(1, min(bound, bounds.get(element, bound)))
    bounds.pop("", None)
    return bounds


def _bound(content: Bytecode, data: bytes, signature: OpSignature) -> tuple[str, int]:
    """Return the element type of an op's indices, and how many of them are in range."""
    types = signature.operand_types or ()
    name = str(content.names[signature.name])
    # As many inputs as updates around the indices of a scatter; an update before those of this op.
    updates = name == _UPDATE
    before = len(types) // 2 if "scatter" in name else 1 + updates
    if len(types) <= before or types[0] is None or types[before] is None:
        return "", 0
    attributes = content.attributes_of(signature)

    def numbers(attribute: str) -> list[int]:
        index = attributes.get(attribute)
        return [] if index is None else _numbers(content, data, index)

    sizes = _sizes(content, types[0])
    taken = numbers("slice_sizes") or (_sizes(content, types[1] or 0) if updates else [])
    dimensions = [d for name in _DIMENSIONS for d in numbers(name)] or range(len(sizes))
    bounds = (
        sizes[d] - (taken[min(d, len(taken) - 1)] if taken else 1) + 1
        for d in dimensions
        if 0 <= d < len(sizes)
    )
    # What is taken whole is the same whatever the index says, and no size is not known.
    bound = min((bound for bound in bounds if bound > 1), default=1)
    element = content.pool.type(types[before] or 0).fields.get("element")
    return (type_text(content.pool, element) if isinstance(element, int) else ""), bound


def _sizes(content: Bytecode, type_: int) -> Sequence[int]:
    shape = content.pool.type(type_).fields.get("shape")
    return [int(size) for size in shape] if isinstance(shape, list) else []


def _numbers(content: Bytecode, data: bytes, attribute: int) -> list[int]:
    """Return the numbers of an attribute: one, or a tensor of them."""
    fields = content.pool.attribute(attribute).fields
    blob, value = fields.get("data"), fields.get("value")
    if not isinstance(blob, Blob):
        return [value] if isinstance(value, int) else []
    kept = bytes(data[blob.offset : blob.offset + blob.size])
    pieces = range(0, len(kept), _NUMBER_BYTES)
    return [int.from_bytes(kept[at : at + _NUMBER_BYTES], "little", signed=True) for at in pieces]
