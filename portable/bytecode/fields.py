"""How the fields of types and attributes are encoded, one reader for each encoding.

`layouts.ini` names the encodings. Other entries and strings are given by their numbers, which are
checked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.encoding import unzigzag

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from portable.bytecode.encoding import Cursor
    from portable.bytecode.entries import Pool

    T = TypeVar("T")

__all__ = ["ATTRIBUTES", "POINTERS", "READERS", "STEPS", "TYPES", "Blob", "Step", "read_type"]

TYPES = "types"
ATTRIBUTES = "attributes"

_WORD = 64


class Blob(NamedTuple):
    """Bytes that stay where they are: an offset in the artifact and a size."""

    offset: int
    size: int


def _list(read: Callable[[Pool, Cursor], T]) -> Callable[[Pool, Cursor], list[T]]:
    return lambda pool, cursor: [read(pool, cursor) for _ in range(cursor.count())]


def read_type(pool: Pool, cursor: Cursor) -> int:
    """Read the number of a type."""
    return cursor.index(len(pool.types), "type")


def _attribute(pool: Pool, cursor: Cursor) -> int:
    return cursor.index(len(pool.attributes), "attribute")


def _optional(pool: Pool, cursor: Cursor) -> int | None:
    index, present = cursor.flagged()
    if not present:
        return None
    if index >= len(pool.attributes):
        raise cursor.malformed(f"there is no attribute {index}")
    return index


def _pair(pool: Pool, cursor: Cursor) -> tuple[int, int]:
    return _attribute(pool, cursor), _attribute(pool, cursor)


def _string(pool: Pool, cursor: Cursor) -> str:
    return pool.strings[cursor.index(len(pool.strings), "string")]


def _blob(_: Pool, cursor: Cursor) -> Blob:
    start, stop = cursor.blob()
    return Blob(cursor.origin + start, stop - start)


def _double(_: Pool, cursor: Cursor) -> float:
    bits = cursor.signed() & (1 << _WORD) - 1
    if not bits:
        return 0.0  # as most are
    import struct

    return float(struct.unpack("<d", bits.to_bytes(8, "little"))[0])


def _varints(_: Pool, cursor: Cursor) -> list[int]:
    return cursor.varints(cursor.count())


def _signeds(_: Pool, cursor: Cursor) -> list[int]:
    return [unzigzag(value) for value in cursor.varints(cursor.count())]


READERS: dict[str, Callable[[Pool, Cursor], object]] = {
    "type": read_type,
    "types": _list(read_type),
    "attribute": _attribute,
    "attributes": _list(_attribute),
    "optional": _optional,
    "pairs": _list(_pair),
    "string": _string,
    "strings": _list(_string),
    "blob": _blob,
    "double": _double,
    "doubles": _list(_double),
    "varint": lambda _, cursor: cursor.varint(),
    "varints": _varints,
    "svarint": lambda _, cursor: cursor.signed(),
    "svarints": _signeds,
    "resource": lambda pool, cursor: cursor.index(pool.resources, "resource"),
}

# Encodings that point to other entries: to which table, and the numbers they hold.
POINTERS: dict[str, tuple[str, Callable[[Pool, Cursor], list[int]]]] = {
    "type": (TYPES, lambda pool, cursor: [read_type(pool, cursor)]),
    "types": (TYPES, _list(read_type)),
    "attribute": (ATTRIBUTES, lambda pool, cursor: [_attribute(pool, cursor)]),
    "attributes": (ATTRIBUTES, _list(_attribute)),
    "optional": (ATTRIBUTES, lambda pool, cursor: _present(_optional(pool, cursor))),
    "pairs": (
        ATTRIBUTES,
        lambda pool, cursor: [number for pair in _list(_pair)(pool, cursor) for number in pair],
    ),
}


class Step(NamedTuple):
    """What an encoding consists of that is nothing but numbers.

    Args:
        each: Of how many numbers each item consists where the number of items stands before
            them; 0 for a single number.
        table: The table that the numbers point to, if any.
        flagged: Whether the lowest bit shows that there is an item.
    """

    each: int
    table: str | None = None
    flagged: bool = False


STEPS = {
    **dict.fromkeys(("varint", "svarint", "double", "resource"), Step(0)),
    **dict.fromkeys(("varints", "svarints", "doubles"), Step(1)),
    "type": Step(0, TYPES),
    "types": Step(1, TYPES),
    "attribute": Step(0, ATTRIBUTES),
    "attributes": Step(1, ATTRIBUTES),
    "optional": Step(0, ATTRIBUTES, flagged=True),
    "pairs": Step(2, ATTRIBUTES),
}


def _present(index: int | None) -> list[int]:
    return [] if index is None else [index]
