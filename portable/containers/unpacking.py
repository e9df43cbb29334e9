"""What is in a compressed file: its first bytes, however far behind its beginning they are."""

from __future__ import annotations

import importlib
import io
import lzma
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from portable.containers.source import Source

__all__ = ["is_compressed", "unpacked"]

# How the formats begin that the standard library of every Python reads, and the module for each.
_FORMATS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma", b"]\x00\x00": "lzma"}
_DAMAGED = (EOFError, OSError, MemoryError, zlib.error, lzma.LZMAError)
_HEAD, _PIECE = 16, 1 << 16


def is_compressed(head: bytes) -> bool:
    """Say whether a file that begins so is compressed in a way that `unpacked` looks into."""
    return head.startswith(tuple(_FORMATS))


def unpacked(source: Source, most: int) -> bytes:
    """Return the first bytes of what is in a compressed file.

    Names in its header, empty blocks and empty members may stand before them: as much of the file
    is read as it takes, and never more is unpacked than is wanted.

    Args:
        source: The file.
        most: How many bytes are wanted.

    Returns:
        Fewer bytes where it ends, or is damaged; none when it is not compressed.

    Raises:
        FileError: It cannot be read.
    """
    head, found = source[:_HEAD], b""
    for magic, name in _FORMATS.items():
        if head.startswith(magic):
            module = importlib.import_module(name)
            try:
                with module.open(io.BufferedReader(_Stream(source), _PIECE)) as stream:
                    while len(found) < most and (more := stream.read1(most - len(found))):
                        found += more
            except _DAMAGED:
                pass
    return found


class _Stream(io.RawIOBase):
    """A file as Python's readers want it."""

    def __init__(self, source: Source) -> None:
        self._source, self._at = source, 0

    def readable(self) -> bool:
        return True

    def readinto(self, into: WriteableBuffer) -> int:
        view = memoryview(into)
        piece = self._source[self._at : self._at + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
