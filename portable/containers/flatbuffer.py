"""Tables of a flatbuffer, read by slot without a schema; every offset and length is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.containers.container import MalformedContainer

if TYPE_CHECKING:
    from portable.bytecode.encoding import Buffer
    from portable.containers.source import Source

__all__ = ["Table", "root"]

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
                raise MalformedContainer(f"slot {slot} lies outside of its table", at)

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
        return Table(self._data, self._follow(slot)) if self.has(slot) else None

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
        at = self._follow(slot)
        length = _number(self._data, at, 4)
        if at + 4 + length > len(self._data):
            raise MalformedContainer(f"a vector of {length} bytes ends behind the file", at)
        return at + 4, at + 4 + length

    def _follow(self, slot: int) -> int:
        """Return what a slot refers to; always further back, so that no reference is circular."""
        field = self.field(slot)
        offset = _number(self._data, field, 4)
        if offset < 4:
            raise MalformedContainer("a reference to itself", field)
        return field + offset


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
        raise MalformedContainer("an offset leads out of the file", max(at, 0))
    return int.from_bytes(data[at : at + size], "little", signed=signed)
