"""The primitive encodings of MLIR bytecode, every read checked against the bytes there are."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from portable.errors import PortableError

if TYPE_CHECKING:
    from mmap import mmap
    from typing import TypeAlias

    Buffer: TypeAlias = bytes | memoryview | mmap

__all__ = [
    "HALF",
    "ODD",
    "WIDTHS",
    "Cursor",
    "MalformedArtifact",
    "brief",
    "numbers",
    "offsets",
    "unzigzag",
]

ODD = bytes(range(1, 256, 2))
"""The bytes that are a number by themselves."""
HALF = bytes(byte >> 1 for byte in range(256))
"""Translates such bytes to their numbers."""
_PADDING = b"\xcb"
_BULK = 64


# No name that a compiler writes is longer; thousands of names may share a longer one.
_LONGEST_NAME = 200
_BEGINNING, _END = 120, 40


def brief(name: str) -> str:
    """Return a name as it is shown and counted: a long one by its ends and its length."""
    if len(name) <= _LONGEST_NAME:
        return name
    # One character stands for what is left out: a dot would end the name of a dialect.
    return f"{name[:_BEGINNING]}\u2026{name[-_END:]} ({len(name)} characters)"


WIDTHS = bytes([9, *((byte & -byte).bit_length() for byte in range(1, 256))])
"""How many bytes a number has, by its first one."""


def numbers(chunk: bytes) -> bytes | list[int] | None:
    """Return the numbers that fill some bytes, None if the last one is cut off."""
    if not chunk.translate(None, ODD):
        return chunk.translate(HALF)  # as most are; bytes are a sequence of numbers too
    found: list[int] = []
    at, size = 0, len(chunk)
    while at < size:
        first = chunk[at]
        if first & 1:
            found.append(first >> 1)
            at += 1
            continue
        width = WIDTHS[first]
        word = int.from_bytes(chunk[at : at + width], "little")
        found.append(word >> width if first else word >> 8)
        at += width
    return found if at == size else None


def unzigzag(value: int) -> int:
    """Return the signed number that is stored zigzag as `value`."""
    return (value >> 1) ^ -(value & 1)


class MalformedArtifact(PortableError):
    """The bytes are not MLIR bytecode, or they are damaged.

    Args:
        what: What is wrong.
        offset: The byte at which it was found.
    """

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(
            what, where=f"byte {offset}", hint="the file is damaged or cut short: obtain it again"
        )
        self.offset = offset


class Cursor:
    """A position in a part of a buffer; it never reads outside that part.

    Args:
        data: The buffer.
        position: Where to start.
        end: Where the part ends.
        origin: The offset of `data` in the artifact, for messages.
    """

    __slots__ = ("data", "end", "origin", "position")

    def __init__(self, data: Buffer, position: int, end: int, origin: int = 0) -> None:
        self.data = data
        self.position = position
        self.end = end
        self.origin = origin

    def copy(self) -> Cursor:
        """Return another cursor at the same position."""
        return Cursor(self.data, self.position, self.end, self.origin)

    def loaded(self) -> Cursor:
        """Return a cursor over a copy of what is left."""
        data = bytes(self.data[self.position : self.end])
        return Cursor(data, 0, len(data), self.origin + self.position)

    def malformed(self, what: str) -> MalformedArtifact:
        """Return the error for what was found at the position; the caller raises it."""
        return MalformedArtifact(what, self.origin + self.position)

    def byte(self) -> int:
        """Read one byte."""
        position = self.position
        if position >= self.end:
            raise self.malformed("unexpected end of data")
        self.position = position + 1
        return self.data[position]

    def varint(self) -> int:
        """Read a prefix-coded number: the trailing zeros of its first byte give its length."""
        position = self.position
        if position >= self.end:
            raise self.malformed("unexpected end of data")
        first = self.data[position]
        if first & 1:
            self.position = position + 1
            return first >> 1
        # No bit at all in the first byte: the number is the next eight bytes as they are.
        width = (first & -first).bit_length() if first else 9
        stop = position + width
        if stop > self.end:
            raise self.malformed("truncated number")
        self.position = stop
        word = int.from_bytes(self.data[position:stop], "little")
        return word >> width if first else word >> 8

    def flagged(self) -> tuple[int, bool]:
        """Read a number whose lowest bit is a flag."""
        value = self.varint()
        return value >> 1, bool(value & 1)

    def signed(self) -> int:
        """Read a signed number."""
        return unzigzag(self.varint())

    def count(self) -> int:
        """Read how many items follow; each takes at least one byte."""
        start = self.position
        value = self.varint()
        if value > self.end - self.position:
            self.position = start
            raise self.malformed(f"{value} exceeds the remaining section size")
        return value

    def index(self, size: int, what: str) -> int:
        """Read an index into a table.

        Args:
            size: The number of entries in the table.
            what: What the table holds, for the message.
        """
        start = self.position
        value = self.varint()
        if value >= size:
            self.position = start
            raise self.malformed(f"{what} {value} is out of range; there are {size}")
        return value

    def varints(self, count: int) -> list[int]:
        """Read `count` numbers; runs of one-byte numbers are read in one step."""
        if count > self.end - self.position:
            raise self.malformed(f"{count} numbers exceed the remaining section size")
        if count == 1:
            return [self.varint()]
        values: list[int] = []
        while count:
            step = min(count, _BULK if count < 16 * _BULK else 16 * _BULK)
            chunk = bytes(self.data[self.position : min(self.position + step, self.end)])
            if len(chunk) == step and not chunk.translate(None, ODD):
                values.extend(chunk.translate(HALF))
                self.position += step
            else:
                self._read(step, values)
            count -= step
        return values

    def _read(self, count: int, values: list[int]) -> None:
        """Read numbers of any length; as `varint`, without a call for each."""
        data, at, end = self.data, self.position, self.end
        for _ in range(count):
            first = data[at] if at < end else 0
            if first & 1:
                values.append(first >> 1)
                at += 1
                continue
            width = WIDTHS[first]
            if at + width > end:
                self.position = at
                values.append(self.varint())  # raises
            word = int.from_bytes(data[at : at + width], "little")
            values.append(word >> width if first else word >> 8)
            at += width
        self.position = at

    def rest(self) -> list[int]:
        """Read numbers to the end; runs of one-byte numbers are read in one step."""
        chunk = bytes(self.data[self.position : self.end])
        if not chunk.translate(None, ODD):
            self.position = self.end
            return list(chunk.translate(HALF))
        values: list[int] = []
        while not self.done():
            chunk = bytes(self.data[self.position : min(self.position + _BULK, self.end)])
            short = len(chunk) - len(chunk.lstrip(ODD))
            values += chunk[:short].translate(HALF)
            self.position += short
            if short < len(chunk):
                values.append(self.varint())
        return values

    def blob(self) -> tuple[int, int]:
        """Read a length and skip that many bytes; return where they are, not the bytes."""
        length = self.varint()
        return self.skip(length)

    def skip(self, length: int) -> tuple[int, int]:
        """Skip `length` bytes; return where they start and stop."""
        start = self.position
        if length > self.end - start:
            raise self.malformed(f"{length} bytes exceed the {self.end - start} that remain")
        self.position = start + length
        return start, start + length

    def align(self, alignment: int) -> None:
        """Skip the padding to a multiple of `alignment`, a power of two."""
        if alignment < 1 or alignment & (alignment - 1):
            raise self.malformed(f"an alignment of {alignment} is not a power of two")
        missing = -(self.origin + self.position) % alignment
        start, stop = self.skip(missing)
        if bytes(self.data[start:stop]).strip(_PADDING):
            raise self.malformed("invalid padding byte")

    def section(self) -> tuple[int, Cursor]:
        """Read the frame of a section.

        Returns:
            Its id and a cursor over its content; this cursor is behind it.
        """
        head = self.byte()
        length = self.varint()
        if head & 0x80:
            self.align(self.varint())
        start, stop = self.skip(length)
        return head & 0x7F, Cursor(self.data, start, stop, self.origin)

    def done(self) -> bool:
        """Whether everything has been read."""
        return self.position >= self.end


def offsets(start: int, sizes: list[int]) -> list[int]:
    """Return where each of the consecutive items starts, and where the last one stops."""
    return list(accumulate(sizes, initial=start))
