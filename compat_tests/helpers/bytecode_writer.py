"""Writes MLIR bytecode by hand, to have artifacts that no release writes.

Only what the tests need of the format; each part can be replaced by bytes that are wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["Artifact", "entry", "operation", "region", "section", "varint"]

STRING, DIALECT, DATA, OFFSETS, IR, RESOURCE, RESOURCE_OFFSETS, PROPERTIES = 0, 1, 2, 3, 4, 5, 6, 8
UNKNOWN_LOCATION = 15
FIRST_WITH_PROPERTIES = 5


def varint(value: int) -> bytes:
    """Encode a number, its length in the trailing zeros of the first byte."""
    for more in range(8):
        if value < 1 << 7 * (more + 1):
            return (((value << 1) | 1) << more).to_bytes(more + 1, "little")
    return b"\0" + value.to_bytes(8, "little")


def section(number: int, content: bytes) -> bytes:
    """Frame the content of a section."""
    return bytes([number]) + varint(len(content)) + content


def entry(code: int, *numbers: int) -> bytes:
    """Encode a type or attribute: its code, then numbers."""
    return b"".join(map(varint, (code, *numbers)))


def region(operations: Sequence[bytes], values: int = 0, arguments: Sequence[int] = ()) -> bytes:
    """Encode a region of one block; its arguments are types without locations."""
    head = varint(len(operations) << 1 | bool(arguments))
    if arguments:
        head += varint(len(arguments)) + b"".join(varint(number << 1) for number in arguments)
        head += b"\0"
    return varint(1) + varint(values) + head + b"".join(operations)


def operation(
    name: int,
    *,
    attributes: int | None = None,
    properties: int | None = None,
    results: Sequence[int] = (),
    operands: Sequence[int] = (),
    regions: Iterable[bytes] = (),
    isolated: bool = False,
    location: int = 0,
) -> bytes:
    """Encode an operation; attribute 0 is an unknown location."""
    regions = list(regions)
    parts = [(1, attributes), (64, properties)]
    mask = sum(bit for bit, value in parts if value is not None)
    body = b"".join(varint(value) for _, value in parts if value is not None)
    for bit, numbers in ((2, results), (4, operands)):
        if numbers:
            mask |= bit
            body += varint(len(numbers)) + b"".join(map(varint, numbers))
    if regions:
        mask |= 16
        body += varint(len(regions) << 1 | isolated)
        inside = b"".join(regions)
        body += section(IR, inside) if isolated else inside
    return varint(name) + bytes([mask]) + varint(location) + body


@dataclass(frozen=True, slots=True)
class Artifact:
    """An artifact to be written.

    Args:
        names: Operations as `dialect.name`; a leading `?` marks one its producer did not know.
        attributes: Dialect and bytes of each attribute; the first is to be a location.
        types: Dialect and bytes of each type.
        properties: The property entries.
        operations: The top level.
        strings: Further strings, numbered from 0.
        producer: Who claims to have written it.
        format: The version of the format; layouts of 5 and 6 only.
        resources: The sizes of resources of `builtin`, named by the first strings.
        head: What stands before the top level, in place of the number of its operations.
    """

    names: Sequence[str] = ("builtin.module",)
    attributes: Sequence[tuple[str, bytes]] = (("builtin", entry(UNKNOWN_LOCATION)),)
    types: Sequence[tuple[str, bytes]] = ()
    properties: Sequence[bytes] = ()
    operations: Sequence[bytes] = ()
    strings: Sequence[str] = ()
    producer: str = "StableHLO_v1.0.0"
    format: int = 6
    resources: Sequence[int] = ()
    head: bytes = b""
    dialects: list[str] = field(init=False, default_factory=list)

    def __bytes__(self) -> bytes:
        names = [name.lstrip("?").partition(".")[::2] for name in self.names]
        used = [dialect for dialect, _ in (*names, *self.attributes, *self.types)]
        self.dialects[:] = dict.fromkeys(used)
        strings = [*self.strings, *self.dialects, *(name for _, name in names)]
        first = len(self.strings)
        dialects = varint(len(self.dialects))
        dialects += b"".join(varint((first + at) << 1) for at in range(len(self.dialects)))
        dialects += varint(len(names))
        for at, (dialect, _) in enumerate(names):
            number = first + len(self.dialects) + at
            known = not self.names[at].startswith("?")
            dialects += varint(self.dialects.index(dialect)) + varint(1)
            dialects += varint(number << 1 | known)
        count = varint(len(self.operations) << 1)
        parts = [
            section(STRING, self._strings(strings)),
            section(DIALECT, dialects),
            section(DATA, b"".join(data for _, data in (*self.attributes, *self.types))),
            section(OFFSETS, self._offsets()),
            section(IR, (self.head or count) + b"".join(self.operations)),
        ]
        if self.properties or self.format >= FIRST_WITH_PROPERTIES:
            content = b"".join(varint(len(data)) + data for data in self.properties)
            parts.append(section(PROPERTIES, varint(len(self.properties)) + content))
        if self.resources:
            parts += self._resources()
        head = b"ML\xefR" + varint(self.format) + self.producer.encode() + b"\0"
        return head + b"".join(parts)

    @staticmethod
    def _strings(strings: Sequence[str]) -> bytes:
        data = [string.encode() + b"\0" for string in strings]
        lengths = b"".join(varint(len(part)) for part in reversed(data))
        return varint(len(data)) + lengths + b"".join(data)

    def _offsets(self) -> bytes:
        found = varint(len(self.attributes)) + varint(len(self.types))
        for dialect, data in (*self.attributes, *self.types):
            found += varint(self.dialects.index(dialect)) + varint(1) + varint(len(data) << 1 | 1)
        return found

    def _resources(self) -> list[bytes]:
        group = varint(self.dialects.index("builtin")) + varint(len(self.resources))
        # A size of 0 declares a resource; data has its alignment and its own size before it.
        data = [varint(1) + varint(size) + bytes(size) if size else b"" for size in self.resources]
        group += b"".join(varint(at) + varint(len(part)) + b"\0" for at, part in enumerate(data))
        values = section(RESOURCE, b"".join(data))
        return [values, section(RESOURCE_OFFSETS, varint(0) + group)]
