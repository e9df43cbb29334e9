"""What the numbers in an entry mean: the layouts of VHLO's and MLIR's types and attributes."""

from __future__ import annotations

import json
import os
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    from portable.record import NamedTuple

__all__ = ["BUILTIN", "POINTERS", "VHLO", "Layout", "load", "table"]

VHLO = "vhlo"
BUILTIN = "builtin"

# Fields that point to other entries; whatever follows the last of them tells no more of these.
POINTERS = frozenset({"type", "types", "attribute", "attributes", "optional", "pairs"})


class Layout(NamedTuple):
    """How one kind of type or attribute is written.

    Args:
        name: Its mnemonic, for example `tensor_v1`.
        fields: The name and the encoding of each field, in order.
        pointers: How many fields to read until the last one that points to other entries.
        sole_type: Whether that is one field, a type.
    """

    name: str
    fields: tuple[tuple[str, str], ...]
    pointers: int
    sole_type: bool


@cache
def load(name: str) -> dict[str, Any]:
    """Load one of the data files beside this module.

    Args:
        name: The file, for example `vhlo.json`.

    Returns:
        Its content.
    """
    path = os.path.join(os.path.dirname(__file__), "data", name)  # noqa: PTH118, PTH120 - cold path
    with open(path, encoding="utf-8") as stream:  # noqa: PTH123 - cold path
        content: dict[str, Any] = json.load(stream)
    return content


@cache
def table(dialect: str, kind: str) -> dict[int, Layout]:
    """Return the layouts of one dialect by their codes.

    Args:
        dialect: `vhlo` or `builtin`; any other dialect has no known layout.
        kind: `types` or `attributes`.
    """
    layouts = _document().get(dialect, {}).get(kind, {})
    return {int(code): _layout(text) for code, text in layouts.items()}


@cache
def widths(dialect: str) -> dict[str, int]:
    """Return the bits of each scalar type of a dialect, which size its numbers."""
    found: dict[str, int] = _document()[dialect]["widths"]
    return found


@cache
def _document() -> dict[str, Any]:
    return load("layouts.json")


def _layout(text: str) -> Layout:
    name, *fields = text.split()
    pairs = tuple(tuple(field.split(":")) for field in fields)
    pointers = max((at + 1 for at, pair in enumerate(pairs) if pair[1] in POINTERS), default=0)
    sole_type = pointers == 1 and pairs[0][1] == "type"
    return Layout(name, tuple((field, encoding) for field, encoding in pairs), pointers, sole_type)
