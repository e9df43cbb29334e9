"""What the numbers in an entry mean: the layouts of VHLO's and MLIR's types and attributes."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from portable.bytecode.fields import POINTERS, STEPS, Step
from portable.system.tables import read_table

__all__ = ["BUILTIN", "LOCATIONS", "NATIVE_DIALECTS", "VHLO", "Layout", "table", "widths"]

VHLO = "vhlo"
BUILTIN = "builtin"
NATIVE_DIALECTS = frozenset({BUILTIN, "func", "stablehlo", VHLO})
"""What libStablehlo itself writes; everything else is outside the promise."""
LOCATIONS = tuple(
    f"location_{name}"
    for name in ("call_site", "file_line_col", "file_line_col_range", "fused", "name", "unknown")
)
"""What MLIR's bytecode can hold as a location."""


class Layout(NamedTuple):
    """How one kind of type or attribute is written.

    Args:
        name: Its mnemonic, for example `tensor_v1`.
        fields: The name and the encoding of each field, in order.
        pointers: How many fields to read until the last one that points to other entries.
        sole_type: Whether that is one field, a type.
        steps: These fields as `fields.STEPS` has them; None if one of them is not there.
        head: How many numbers these fields are, where that is always the same; else 0.
        is_shaped: Whether the fields are a shape and its element type, as of most types.
    """

    name: str
    fields: tuple[tuple[str, str], ...]
    pointers: int
    sole_type: bool
    steps: tuple[Step, ...] | None
    head: int
    is_shaped: bool


# Names of dialects are foreign text, of which any number may come.
@lru_cache(maxsize=64)
def table(dialect: str, kind: str) -> dict[int, Layout]:
    """Return the layouts of one dialect by their codes.

    Args:
        dialect: `vhlo` or `builtin`; any other dialect has no known layout.
        kind: `types` or `attributes`.
    """
    rows = _table().get(f"{dialect} {kind}", {})
    return {int(code): _layout(text) for code, text in rows.items()}


@cache
def widths(dialect: str) -> dict[str, int]:
    """Return the bits of each scalar type of a dialect, which size its numbers."""
    return {name: int(width) for name, width in _table()[f"{dialect} widths"].items()}


@cache
def _table() -> dict[str, dict[str, str]]:
    return read_table(__file__, "layouts.ini")


def _layout(text: str) -> Layout:
    name, *parts = text.split()
    pairs = tuple(tuple(part.split(":")) for part in parts)
    pointers = max((at + 1 for at, pair in enumerate(pairs) if pair[1] in POINTERS), default=0)
    sole_type = pointers == 1 and pairs[0][1] == "type"
    fields = tuple((field, encoding) for field, encoding in pairs)
    steps = tuple(STEPS[encoding] for _, encoding in fields[:pointers] if encoding in STEPS)
    plain = len(steps) == pointers
    head = pointers if plain and not any(step.each for step in steps) else 0
    is_shaped = fields == (("shape", "svarints"), ("element", "type"))
    return Layout(name, fields, pointers, sole_type, steps if plain else None, head, is_shaped)
