"""The first bytes of an artifact: what it claims, read without decoding the rest.

This module is on the path of every command.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from portable.bytecode.encoding import Cursor, MalformedArtifact

if TYPE_CHECKING:
    from portable.bytecode.encoding import Buffer
    from portable.version import Version

__all__ = ["HEADER_BYTES", "MAGIC", "Header", "read_header"]

MAGIC = b"ML\xefR"
"""The four bytes that every MLIR bytecode file starts with."""

_CLAIM = "StableHLO_v"
# A producer is a name and a version; more than this is not a header but something else.
_LONGEST_PRODUCER = 4096
HEADER_BYTES = _LONGEST_PRODUCER + 104
"""No header is longer."""
_FIRST_LOOK = 64


class Header:
    """What the first bytes of an artifact claim.

    Attributes:
        format: The version of the MLIR bytecode format.
        producer: Who wrote the artifact, for example `StableHLO_v1.9.0`.
        length: The size of the header in bytes.
    """

    __slots__ = ("format", "length", "producer")

    def __init__(self, format: int, producer: str, length: int) -> None:  # noqa: A002 - its name
        self.format = format
        self.producer = producer
        self.length = length

    @property
    def version(self) -> Version | None:
        """The Version that a producer `StableHLO_vX.Y.Z` claims; None for any other producer."""
        return _claimed(self.producer)

    def __repr__(self) -> str:
        return f"Header(format={self.format}, producer={self.producer!r}, length={self.length})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Header):
            return NotImplemented
        return (self.format, self.producer, self.length) == (
            other.format,
            other.producer,
            other.length,
        )

    def __hash__(self) -> int:
        return hash((self.format, self.producer, self.length))


@functools.lru_cache(maxsize=256)
def _claimed(producer: str) -> Version | None:
    """Return the Version in the name of a producer, which many artifacts share."""
    if not producer.startswith(_CLAIM):
        return None
    # Imported here because it costs more than reading the header.
    from portable.version import InvalidVersion, Version

    try:
        return Version.parse(producer[len(_CLAIM) :])
    except InvalidVersion:
        return None


def read_header(data: Buffer) -> Header:
    """Read the header of MLIR bytecode; the cost does not depend on the size of `data`.

    Args:
        data: The artifact, or at least its beginning.

    Returns:
        The header.

    Raises:
        MalformedArtifact: `data` does not start with a whole header.
    """
    first = bytes(data[:_FIRST_LOOK])
    if first[:4] != MAGIC:
        raise MalformedArtifact("not MLIR bytecode: the first bytes are not `MLïR`", 0)
    number, start = _format(first)
    stop = first.find(0, start)
    if stop < 0:
        first = bytes(data[: start + _LONGEST_PRODUCER])
        stop = first.find(0, start)
        if stop < 0:
            raise MalformedArtifact("unterminated producer name", len(first))
    return Header(number, first[start:stop].decode("utf-8", "backslashreplace"), stop + 1)


def _format(first: bytes) -> tuple[int, int]:
    # Every format so far is one byte; the general case is decoded all the same.
    if len(first) > 4 and first[4] & 1:
        return first[4] >> 1, 5
    cursor = Cursor(first, 4, len(first))
    return cursor.varint(), cursor.position
