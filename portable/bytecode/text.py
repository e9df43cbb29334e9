"""Types, attributes and locations as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.encoding import brief
from portable.bytecode.entries import Blob
from portable.bytecode.layouts import VHLO
from portable.bytecode.vhlo import enum_case

if TYPE_CHECKING:
    from portable.bytecode.entries import Pool, PoolEntry

__all__ = ["attribute_text", "location_files", "location_text", "shape_text", "type_text"]

_DYNAMIC = -(1 << 63)
# Text is for reading: what nests deeper or is longer is cut with an ellipsis.
_DEEPEST = 4
_MOST_ITEMS = 6
_MOST_DIMENSIONS = 32
_ELLIPSIS = "..."
_LONGEST_WALK = 64
_TYPE_FIELDS = {"element", "elements", "inputs", "outputs", "storage", "expressed"}
# How MLIR writes an integer without a sign, a signed one, an unsigned one.
_SIGNS = ("i", "si", "ui", "i")
_UNKNOWN = "unknown location"


def type_text(pool: Pool, index: int, depth: int = 0) -> str:
    """Return a type as StableHLO writes it, for example `tensor<4x?xf32>`.

    Args:
        pool: The types and attributes.
        index: The number of the type.
        depth: In how many types it lies.

    Raises:
        MalformedArtifact: There is no such type, or it does not make sense.
    """
    if depth > _DEEPEST:
        return _ELLIPSIS
    entry = pool.type(index)
    if entry.text is not None:
        return brief(entry.text)
    fields, name = entry.fields, _plain(entry)
    inner = {
        field: _inner_types(pool, value, depth + 1)
        for field, value in fields.items()
        if field in _TYPE_FIELDS
    }
    width = fields.get("width")
    if isinstance(width, int):
        return f"{_SIGNS[width & 3]}{width >> 2}"
    if "inputs" in inner:
        return f"({inner['inputs']}) -> ({inner['outputs']})"
    if "storage" in inner:
        return f"{name}<{inner['storage']}:{inner['expressed']}>"
    if not inner:
        return name
    dimensions = "".join(f"{size}x" for size in shape_text(fields.get("shape")))
    return f"{name}<{dimensions}{', '.join(inner.values())}>"


def attribute_text(pool: Pool, index: int, depth: int = 0) -> str:
    """Return an attribute in short, its large contents by their size only.

    Args:
        pool: The types and attributes.
        index: The number of the attribute.
        depth: In how many attributes it lies.

    Raises:
        MalformedArtifact: There is no such attribute, or it does not make sense.
    """
    if depth > _DEEPEST:
        return _ELLIPSIS
    entry = pool.attribute(index)
    if entry.text is not None:
        return brief(entry.text)
    if entry.name.startswith("location_"):
        return location_text(pool, index)
    case = enum_case(entry.name, entry.fields.get("value"))
    if case is not None:
        return case
    parts = [_field_text(pool, entry, field, value, depth) for field, value in entry.fields.items()]
    if len(parts) == 1:
        return parts[0]
    return f"{_plain(entry)}({', '.join(parts)})" if parts else _plain(entry)


def location_text(pool: Pool, index: int) -> str:
    """Return where something comes from, as `file:line:column` if any file is known.

    A location can be built of others; the first file in it is used.

    Args:
        pool: The types and attributes.
        index: The number of the attribute.

    Raises:
        MalformedArtifact: There is no such attribute, or it does not make sense.
    """
    name = _UNKNOWN
    pending = [index]
    for _ in range(_LONGEST_WALK):
        if not pending:
            break
        entry = pool.attribute(pending.pop())
        position = _position(pool, entry)
        if position is not None:
            return position
        if entry.name == "location_name" and name == _UNKNOWN:
            name = _name(pool, _int(entry, "name"))
        pending += reversed(_inner(entry))
    return name


def location_files(pool: Pool) -> dict[str, int]:
    """Return the files that locations name, and how many locations name each.

    Args:
        pool: The types and attributes.

    Raises:
        MalformedArtifact: A location does not make sense.
    """
    counts: dict[int, int] = {}
    for index in pool.attributes_named("location_file_line_col", "location_file_line_col_range"):
        file = _int(pool.attribute(index), "file")
        counts[file] = counts.get(file, 0) + 1
    found: dict[str, int] = {}
    for file, count in counts.items():
        name = _name(pool, file)
        found[name] = found.get(name, 0) + count
    return found


def _position(pool: Pool, entry: PoolEntry) -> str | None:
    if entry.name not in {"location_file_line_col", "location_file_line_col_range"}:
        return None
    numbers = entry.fields.get("positions")
    if isinstance(numbers, list):
        # Line; line, column; line, column, end column; line, column, end line, end column.
        line, column = [*numbers, 0, 0][:2]
    else:
        line, column = _int(entry, "line"), _int(entry, "column")
    return f"{_name(pool, _int(entry, 'file'))}:{line}:{column}"


def _name(pool: Pool, index: int) -> str:
    """Return the string that names a file or a place; nothing else is looked into."""
    return brief(str(pool.attribute(index).fields.get("value", "?")))


def _inner(entry: PoolEntry) -> list[int]:
    """Return the locations inside a location, the most telling first."""
    if entry.name == "location_call_site":
        return [_int(entry, "callee"), _int(entry, "caller")]
    if entry.name == "location_name":
        return [_int(entry, "child")]
    inner = entry.fields.get("locations") if entry.name == "location_fused" else None
    return inner[:_MOST_ITEMS] if isinstance(inner, list) else []


def _int(entry: PoolEntry, field: str) -> int:
    value = entry.fields[field]
    return value if isinstance(value, int) else 0


def _plain(entry: PoolEntry) -> str:
    return entry.name.removesuffix("_v1") if entry.dialect == VHLO else entry.name


def _inner_types(pool: Pool, value: object, depth: int) -> str:
    if isinstance(value, int):
        return type_text(pool, value, depth)
    items = value if isinstance(value, list) else []
    shown = [type_text(pool, item, depth) for item in items[:_MOST_ITEMS]]
    return ", ".join(shown + [_ELLIPSIS] * (len(items) > _MOST_ITEMS))


def shape_text(dimensions: object) -> list[str]:
    """Return the dimensions of a shape as text; after many an ellipsis."""
    items = dimensions if isinstance(dimensions, list) else []
    shown = ["?" if item == _DYNAMIC else str(item) for item in items[:_MOST_DIMENSIONS]]
    return shown + [_ELLIPSIS] * (len(items) > _MOST_DIMENSIONS)


def _field_text(pool: Pool, entry: PoolEntry, field: str, value: object, depth: int) -> str:
    encodings = pool.encodings(entry)
    encoding = encodings[field]
    if isinstance(value, Blob):
        return f"{value.size} bytes"
    if isinstance(value, int) and encoding == "type":
        return type_text(pool, value, depth + 1)
    if isinstance(value, int) and encoding in {"attribute", "optional"}:
        return attribute_text(pool, value, depth + 1)
    if not isinstance(value, list):
        return brief(str(value))
    shown = []
    for item in value[:_MOST_ITEMS]:
        if encoding == "attributes":
            shown.append(attribute_text(pool, item, depth + 1))
        elif encoding == "pairs":
            shown.append("=".join(attribute_text(pool, part, depth + 1) for part in item))
        else:
            shown.append(brief(str(item)))
    return f"[{', '.join(shown + [_ELLIPSIS] * (len(value) > _MOST_ITEMS))}]"
