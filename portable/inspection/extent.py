"""How long a shared library says it is, to tell one that was truncated from a whole one.

Its headers say where its parts end: the section headers of an ELF stand after all else, and so do
the last segment of a Mach-O and the last section of a PE.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["extent"]

_SEGMENT_64 = 0x19


def extent(head: bytes) -> int:
    """Return how many bytes a library has at least, as its headers say.

    Args:
        head: Its first bytes. What lies beyond them is not looked at.

    Returns:
        The end of its last part; 0 where the headers are in none of the known forms.
    """
    end = 0
    ends = next((read for magic, read in _FORMATS.items() if head.startswith(magic)), None)
    if ends:
        try:
            for part in ends(head):
                end = max(end, part)
        except struct.error:  # the headers go on behind the head, or say nonsense
            pass
    return end


def _elf(head: bytes) -> Iterator[int]:
    order = "<" if head[5:6] == b"\x01" else ">"
    wide = head[4:5] == b"\x02"
    word, where = ("Q", 32) if wide else ("I", 28)
    segments, sections = struct.unpack_from(f"{order}2{word}", head, where)
    sizes = struct.unpack_from(f"{order}4H", head, where + (22 if wide else 14))
    yield sections + sizes[2] * sizes[3] if sections else 0
    for index in range(sizes[1]):
        at = segments + index * sizes[0]
        start = struct.unpack_from(f"{order}{word}", head, at + (8 if wide else 4))[0]
        yield start + struct.unpack_from(f"{order}{word}", head, at + (32 if wide else 16))[0]


def _macho(head: bytes) -> Iterator[int]:
    at = 32
    for _ in range(struct.unpack_from("<I", head, 16)[0]):
        command, size = struct.unpack_from("<2I", head, at)
        if command == _SEGMENT_64:
            yield sum(struct.unpack_from("<2Q", head, at + 40))
        at += max(size, 8)


def _universal(head: bytes) -> Iterator[int]:
    wide = head[3] == 0xBF
    form, entry = (">2Q", 32) if wide else (">2I", 20)
    for index in range(struct.unpack_from(">I", head, 4)[0]):
        yield sum(struct.unpack_from(form, head, 8 + index * entry + 8))


def _pe(head: bytes) -> Iterator[int]:
    at = struct.unpack_from("<I", head, 60)[0]
    count = struct.unpack_from("<H", head, at + 6)[0]
    table = at + 24 + struct.unpack_from("<H", head, at + 20)[0]
    for index in range(count):
        yield sum(struct.unpack_from("<2I", head, table + index * 40 + 16))


_FORMATS: dict[bytes, Callable[[bytes], Iterator[int]]] = {
    b"\x7fELF": _elf,
    b"\xcf\xfa\xed\xfe": _macho,
    b"\xca\xfe\xba\xbe": _universal,
    b"\xca\xfe\xba\xbf": _universal,
    b"MZ": _pe,
}
