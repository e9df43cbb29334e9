"""Tables of a flatbuffer by slot, without a schema; what is read is checked."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from portable.containers.container import MalformedContainer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from portable.bytecode.encoding import Buffer
    from portable.containers.source import Source

__all__ = ["Table", "beginning", "root", "written", "written_size"]

# A vtable starts with its own size and that of its tables, two bytes each.
_VTABLE_HEAD = 4


class Table:
    """One table: numbered slots, each with a value, an offset to one, or nothing.

    Attributes:
        slots: How many slots its vtable has; readers take what is behind for absent.
        ranges: Where the table and its vtable lie; tables may share a vtable.
    """

    __slots__ = ("_data", "_fields", "_position", "ranges", "slots")

    def __init__(self, data: Buffer | Source, position: int) -> None:
        self._data = data
        self._position = position
        vtable = position - _number(data, position, 4, signed=True)
        size = _number(data, vtable, 2)
        if size < _VTABLE_HEAD or size % 2 or vtable + size > len(data):
            raise MalformedContainer(f"a vtable of {size} bytes", vtable)
        length = _number(data, vtable + 2, 2)
        if length < 4 or position + length > len(data):
            raise MalformedContainer(f"a table of {length} bytes", vtable + 2)
        self.slots = (size - _VTABLE_HEAD) // 2
        self.ranges = (position, position + length), (vtable, vtable + size)
        fields = bytes(data[vtable + _VTABLE_HEAD : vtable + size])
        self._fields = [
            int.from_bytes(fields[i : i + 2], "little") for i in range(0, len(fields), 2)
        ]
        for slot, field in enumerate(self._fields):
            if field and not 4 <= field < length:
                at = vtable + _VTABLE_HEAD + 2 * slot
                raise MalformedContainer(f"slot {slot} is outside its table", at)

    def has(self, slot: int) -> bool:
        """Say whether a slot has a value."""
        return slot < self.slots and self._fields[slot] != 0

    def number(self, slot: int, size: int) -> int | None:
        """Return the unsigned number in a slot.

        Args:
            slot: Which one.
            size: Its size in bytes.

        Returns:
            The number; None when the slot is empty.

        Raises:
            MalformedContainer: It does not lie in the file.
        """
        return _number(self._data, self.field(slot), size) if self.has(slot) else None

    def field(self, slot: int) -> int:
        """Return where the value of a slot that has one lies."""
        return self._position + self._fields[slot]

    def table(self, slot: int) -> Table | None:
        """Return the table that a slot refers to; None when it is empty.

        Raises:
            MalformedContainer: It does not lie in the file.
        """
        return Table(self._data, self.target(slot)) if self.has(slot) else None

    def vector(self, slot: int) -> tuple[int, int] | None:
        """Return where the bytes of a vector lie: the first, and behind the last.

        Args:
            slot: A slot that refers to a vector of bytes, or to a string.

        Returns:
            The range; None when the slot is empty.

        Raises:
            MalformedContainer: It does not lie in the file.
        """
        if not self.has(slot):
            return None
        at = self.target(slot)
        length = _number(self._data, at, 4)
        if at + 4 + length > len(self._data):
            raise MalformedContainer(f"a vector of {length} bytes exceeds the file", at)
        return at + 4, at + 4 + length

    def strings(self, slot: int, most: int) -> list[str]:
        """Return the strings of a vector.

        Args:
            slot: A slot that refers to a vector of strings.
            most: How many of them are read, and how many bytes of each: any number of them may be
                one.

        Raises:
            MalformedContainer: Something does not lie in the file.
        """
        found = []
        for element in self._elements(slot)[:most]:
            at = _follow(self._data, element)
            length = min(_number(self._data, at, 4), most)
            found.append(bytes(self._data[at + 4 : at + 4 + length]).decode("utf-8", "replace"))
        return found

    def numbers(self, slot: int, inner: int) -> set[int]:
        """Return the numbers of one byte that the tables in a vector have in one slot.

        Args:
            slot: A slot that refers to a vector of tables.
            inner: The slot of those tables; 0 where it is empty.

        Raises:
            MalformedContainer: Something does not lie in the file.
        """
        found = set()
        for element in self._elements(slot):
            table = _follow(self._data, element)
            place = _place(self._data, table, inner)
            found.add(_number(self._data, table + place, 1) if place else 0)
        return found

    def any_has(self, slot: int, inner: int) -> bool:
        """Say whether any table in a vector has a value in one slot.

        Args:
            slot: A slot that refers to a vector of tables.
            inner: The slot of those tables.

        Raises:
            MalformedContainer: Something does not lie in the file.
        """
        data = self._data
        elements = self._elements(slot)
        return any(_place(data, _follow(data, element), inner) for element in elements)

    def _elements(self, slot: int) -> range:
        """Return where the references of a vector lie; none where the slot is empty."""
        if not self.has(slot):
            return range(0)
        at = self.target(slot)
        return range(at + 4, at + 4 + 4 * _number(self._data, at, 4), 4)

    def target(self, slot: int) -> int:
        """Return where what a slot refers to lies: behind it, so that no reference is circular."""
        return _follow(self._data, self.field(slot))


def beginning(data: Buffer | Source, slot: int, size: int) -> bytes:
    """Return how a vector of bytes of the root table begins; nothing where there is none.

    Nothing else is checked, so that a flatbuffer which is damaged or cut is recognized as well.

    Args:
        data: What may be a flatbuffer, or at least its beginning.
        slot: The slot that refers to the vector.
        size: How many bytes are wanted.
    """
    try:
        table = _number(data, 0, 4)
        place = _place(data, table, slot)
        vector = _follow(data, table + place) + 4 if place else 0
    except MalformedContainer:
        return b""
    return bytes(data[vector : vector + size]) if vector else b""


def _place(data: Buffer | Source, table: int, slot: int) -> int:
    """Return where in a table the value of a slot lies; 0 for none.

    A Table would read all of its vtable, and many may share a long one.
    """
    vtable = table - _number(data, table, 4, signed=True)
    entry = _VTABLE_HEAD + 2 * slot
    return _number(data, vtable + entry, 2) if entry < _number(data, vtable, 2) else 0


def _follow(data: Buffer | Source, field: int) -> int:
    offset = _number(data, field, 4)
    if offset < 4:
        raise MalformedContainer("a reference to itself", field)
    return field + offset


def written_size(slots: Collection[int]) -> int:
    """Return how many bytes `written` writes for a table with some slots, each once."""
    size = 4 + 4 * len(slots) + _VTABLE_HEAD + 2 * (max(slots) + 1)
    return size + -size % 4


def written(at: int, numbers: Mapping[int, int], references: Mapping[int, int]) -> bytes:
    """Return a table, and behind it its vtable.

    Args:
        at: Where it will stand; a multiple of four.
        numbers: Slot -> number. It takes four bytes; who reads fewer finds it as well.
        references: Slot -> where what it refers to will stand, behind the table.
    """
    slots = sorted({*numbers, *references})
    fields = {slot: 4 + 4 * place for place, slot in enumerate(slots)}
    size = 4 + 4 * len(slots)
    values = [
        numbers[slot] if slot in numbers else references[slot] - (at + fields[slot])
        for slot in slots
    ]
    entries = [fields.get(slot, 0) for slot in range(slots[-1] + 1)]
    table = struct.pack(f"<i{len(values)}I", -size, *values)
    vtable = struct.pack(f"<{2 + len(entries)}H", _VTABLE_HEAD + 2 * len(entries), size, *entries)
    return (table + vtable).ljust(written_size(slots), b"\0")


def root(data: Buffer | Source) -> Table:
    """Return the root table.

    Args:
        data: A whole flatbuffer.

    Raises:
        MalformedContainer: The bytes are none.
    """
    return Table(data, _number(data, 0, 4))


def _number(data: Buffer | Source, at: int, size: int, *, signed: bool = False) -> int:
    if not 0 <= at <= len(data) - size:
        raise MalformedContainer("an offset outside the file", max(at, 0))
    return int.from_bytes(data[at : at + size], "little", signed=signed)
