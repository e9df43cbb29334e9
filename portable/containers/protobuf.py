"""Messages of protobuf's wire format, walked without a schema; every length is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portable.containers.container import MalformedContainer
from portable.containers.source import Edit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portable.bytecode.encoding import Buffer

__all__ = ["Field", "fields", "number", "only", "relengthened", "text"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES = {_FIXED64: 8, _FIXED32: 4}
_LONGEST_VARINT = 10


class Field(NamedTuple):
    """One field of a message.

    Args:
        number: Its number in the schema.
        wire: How it is encoded: 0 varint, 1 and 5 fixed, 2 bytes with their length.
        length_at: Where the length of bytes is written; that of the value for all others.
        start: The first byte of the value.
        stop: Behind its last byte.
    """

    number: int
    wire: int
    length_at: int
    start: int
    stop: int


def fields(data: Buffer, start: int, stop: int) -> Iterator[Field]:
    """Yield the fields of one message; what is inside of them is not looked at.

    Args:
        data: The whole file.
        start: The first byte of the message.
        stop: Behind its last byte.

    Raises:
        MalformedContainer: The bytes are no message.
    """
    at = start
    while at < stop:
        tag, value_at = _varint(data, at, stop)
        wire = tag & 7
        if wire == _BYTES:
            length, value = _varint(data, value_at, stop)
            end = value + length
        elif wire == _VARINT:
            value, end = value_at, _varint(data, value_at, stop)[1]
        elif wire in _SIZES:
            value, end = value_at, value_at + _SIZES[wire]
        else:
            raise MalformedContainer(f"wire type {wire}, which is deprecated in protobuf", at)
        if tag < 8:
            raise MalformedContainer("a field with the number 0", at)
        if end > stop:
            raise MalformedContainer(
                f"field {tag >> 3} ends {end - stop} bytes after its parent", at
            )
        yield Field(tag >> 3, wire, value_at, value, end)
        at = end


def only(data: Buffer, field: Field | None, number: int, wire: int = _BYTES) -> Field | None:
    """Return the field of a message that occurs at most once.

    Args:
        data: The whole file.
        field: The message; None has no fields.
        number: Which field.
        wire: How it has to be encoded.

    Raises:
        MalformedContainer: It occurs twice, or is encoded otherwise.
    """
    if field is None:
        return None
    found = None
    for inner in fields(data, field.start, field.stop):
        if inner.number == number:
            if found is not None:
                raise MalformedContainer(f"field {number} is duplicated", inner.length_at)
            if inner.wire != wire:
                raise MalformedContainer(f"field {number} has wire type {inner.wire}", inner.start)
            found = inner
    return found


def text(data: Buffer, field: Field | None) -> str:
    """Return a field as text; empty when it is None."""
    if field is None:
        return ""
    return bytes(data[field.start : field.stop]).decode("utf-8", "backslashreplace")


def number(data: Buffer, field: Field | None) -> int:
    """Return a varint field as a number; 0, which protobuf leaves out, when it is None."""
    return 0 if field is None else _varint(data, field.start, field.stop)[0]


def relengthened(replaced: Iterable[tuple[tuple[Field, ...], bytes]]) -> list[Edit]:
    """Return the edits that put other bytes into fields and correct every length around them.

    Args:
        replaced: For each field: the fields around it from the outermost to itself, and the bytes.
    """
    edits, growth, depths = [], {}, {}
    for path, data in replaced:
        own = path[-1]
        edits.append(Edit(own.start, own.stop, data))
        growth[own] = len(data) - (own.stop - own.start)
        for depth, field in enumerate(path):
            depths[field] = (depth, path[depth - 1] if depth else None)
    # The inner ones first: a length that takes more bytes makes the message around it longer.
    for field, (_, around) in sorted(depths.items(), key=lambda item: -item[1][0]):
        size = field.stop - field.start + growth[field]
        length = _encoded(size)
        edits.append(Edit(field.length_at, field.start, length))
        if around is not None:
            more = growth[field] + len(length) - (field.start - field.length_at)
            growth[around] = growth.get(around, 0) + more
    return edits


def _varint(data: Buffer, at: int, stop: int) -> tuple[int, int]:
    """Return a number and what is behind it."""
    value = 0
    for index in range(min(_LONGEST_VARINT, stop - at)):
        byte = data[at + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            if value >> 64:
                raise MalformedContainer("a number of more than 64 bits", at)
            return value, at + index + 1
    raise MalformedContainer("unterminated varint", at)


def _encoded(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)
