"""A look at an artifact that a serializer has just written: what kinds of things are in it.

What native code has written here and now is not damaged, so this checks nothing and decodes next to
nothing. It is written flat, with as few calls as possible: native code leaves the caches full of
itself, and beside the serializing of a small program `read` would take a quarter of the time.
"""

from __future__ import annotations

from itertools import accumulate

from portable.bytecode.encoding import HALF, ODD, Cursor
from portable.bytecode.entries import ATTRIBUTES, TYPES, first_bytes
from portable.bytecode.header import Header
from portable.bytecode.tables import Format, Section

__all__ = ["QuickScan"]

_STRING, _DIALECT, _ENTRY, _OFFSET = (
    int(section)
    for section in (
        Section.STRING,
        Section.DIALECT,
        Section.ATTRIBUTE_TYPE,
        Section.ATTRIBUTE_TYPE_OFFSET,
    )
)


class QuickScan:
    """The kinds of things that an artifact holds.

    Args:
        data: A whole artifact; one that is damaged gives nonsense, or any exception.

    Attributes:
        header: What the artifact claims.
        dialects: The names of the dialects it uses.
        firsts: The table and dialect of entries -> the first byte (the kind) of each.
    """

    __slots__ = ("dialects", "firsts", "header")

    def __init__(self, data: bytes) -> None:
        stop = data.index(0, 5)
        self.header = Header(data[4] >> 1, data[5:stop].decode(), stop + 1)
        sections = _sections(data, stop + 1)
        self.dialects = _dialects(data, *sections[_DIALECT], *sections[_STRING])
        numbers = _numbers(data, *sections[_OFFSET])
        self.firsts = _firsts(data, sections[_ENTRY][0], numbers, self.dialects)

    def may_have(self, kind: str, dialect: str, *names: str) -> bool:
        """Say whether there may be types or attributes of some kinds; no means that there are none.

        Args:
            kind: `types` or `attributes`.
            dialect: Their namespace.
            names: The kinds, as in `PoolEntry.name`.
        """
        present = self.firsts.get((kind, dialect))
        return present is not None and not first_bytes(kind, dialect, names).isdisjoint(present)


def _sections(data: bytes, at: int) -> dict[int, tuple[int, int]]:
    """Find where the content of each section starts and stops."""
    found: dict[int, tuple[int, int]] = {}
    end = len(data)
    while at < end:
        head, length = data[at], data[at + 1]
        if head < 0x80 and length & 3:  # not aligned, and the length has one byte or two
            start = at + 3 - (length & 1)
            at = start + (length >> 1 if length & 1 else (length | data[at + 2] << 8) >> 2)
        else:
            cursor = Cursor(data, at, end)
            head, content = cursor.section()
            start, at = content.position, content.end
        found[head] = start, at
    return found


def _numbers(data: bytes, at: int, stop: int) -> bytes | list[int]:
    """Read numbers, each of one byte most of the time."""
    chunk = data[at:stop]
    return Cursor(data, at, stop).rest() if chunk.translate(None, ODD) else chunk.translate(HALF)


def _dialects(data: bytes, at: int, stop: int, strings: int, end: int) -> list[str]:
    """Read the names of the dialects, and no other string."""
    cursor = Cursor(data, strings, end)
    lengths = cursor.varints(cursor.varint())
    lengths.reverse()  # they are stored last to first
    starts = list(accumulate(lengths, initial=cursor.position))
    cursor = Cursor(data, at, stop)
    versioned = data[4] >> 1 >= Format.DIALECT_VERSIONING
    names: list[str] = []
    for _ in range(cursor.varint()):
        number = cursor.varint()
        if versioned:
            if number & 1:
                cursor.section()
            number >>= 1
        names.append(data[starts[number] : starts[number + 1] - 1].decode())
    return names


def _firsts(
    data: bytes, start: int, numbers: bytes | list[int], dialects: list[str]
) -> dict[tuple[str, str], bytes]:
    """Collect the first byte (the kind) of every entry of each table and dialect."""
    found: dict[tuple[str, str], bytes] = {}
    at = 2
    for table, kind in enumerate((ATTRIBUTES, TYPES)):
        left = numbers[table]
        while left:
            key, size = (kind, dialects[numbers[at]]), numbers[at + 1]
            at += 2 + size
            starts = list(accumulate([n >> 1 for n in numbers[at - size : at]], initial=start))
            start = starts.pop()
            firsts = bytes([data[first] for first in starts])
            found[key] = found[key] + firsts if key in found else firsts
            left -= size
    return found
