"""Tables of flatbuffers, to the last byte: what just fits is read, one byte more is an error."""

from __future__ import annotations

import struct

import pytest

from portable.containers.container import MalformedContainer
from portable.containers.flatbuffer import Table, beginning, written, written_size

# A table of 12 bytes at 8, whose vtable stands before it; slot 0 has a number, slot 1 none.
_AT = 8


def _table(size: int = 8, length: int = 12, first: int = 4, second: int = 0) -> bytes:
    vtable = struct.pack("<4H", size, length, first, second)
    return vtable + struct.pack("<iII", _AT, 7, 0)


def test_a_table_may_end_where_the_file_ends() -> None:
    """Its slots are read; one that is empty or beyond the vtable has no value."""
    table = Table(_table(), _AT)
    assert table.slots == 2
    assert [table.has(slot) for slot in range(4)] == [True, False, False, False]
    assert [table.number(slot, 4) for slot in range(3)] == [7, None, None]
    assert table.ranges == ((8, 20), (0, 8))
    # The smallest of each: a vtable without slots, a table without values.
    assert Table(_table(size=4), _AT).slots == 0
    assert Table(_table(size=4, length=4), _AT).ranges == ((8, 12), (0, 4))
    assert Table(_table(first=11), _AT).field(0) == 19


@pytest.mark.parametrize(
    ("data", "says", "where"),
    [
        (_table(size=3), "a vtable of 3 bytes", 0),
        (_table(size=2), "a vtable of 2 bytes", 0),
        (_table(size=7), "a vtable of 7 bytes", 0),
        (_table(size=22), "a vtable of 22 bytes", 0),
        (_table(length=13), "a table of 13 bytes", 2),
        (_table(size=4, length=3), "a table of 3 bytes", 2),
        (_table(first=3), "slot 0 is outside its table", 4),
        (_table(first=12), "slot 0 is outside its table", 4),
        (_table(second=12), "slot 1 is outside its table", 6),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(data: bytes, says: str, where: int) -> None:
    """The byte is that of the number that is wrong."""
    with pytest.raises(MalformedContainer, match=says) as caught:
        Table(data, _AT)
    assert caught.value.offset == where


@pytest.mark.parametrize("length", [0, 1, 4])
def test_a_vector_may_end_where_the_file_ends(length: int) -> None:
    """What it says of its length is believed as far as there are bytes."""
    data = struct.pack("<4H", 8, 12, 4, 0) + struct.pack("<iIII", _AT, 8, 0, length)
    assert Table(data + bytes(length), _AT).vector(0) == (24, 24 + length)
    assert Table(data + bytes(length), _AT).vector(1) is None
    with pytest.raises(
        MalformedContainer, match=f"a vector of {length + 1} bytes exceeds"
    ) as caught:
        Table(data[:-4] + struct.pack("<I", length + 1) + bytes(length), _AT).vector(0)
    assert caught.value.offset == 20


def test_the_beginning_of_a_vector_is_read_from_what_is_damaged_or_cut() -> None:
    """A file is recognized by it before anything else in it is believed."""
    head = struct.pack("<I", 12) + struct.pack("<4H", 8, 99, 3, 4)  # a wrong length, a wrong slot
    data = head + struct.pack("<iII", 8, 4, 500) + b"MLIR"  # cut behind four of 500 bytes
    assert beginning(data, 1, 4) == b"MLIR"
    assert beginning(data, 1, 2) == b"ML"
    assert beginning(data, 2, 4) == b""  # behind the vtable
    for size in range(24):
        assert beginning(data[:size], 1, 4) == b""
    assert beginning(head[:-2] + bytes(2) + data[12:], 1, 4) == b""  # an empty slot


def test_a_table_is_written_with_its_vtable_behind_it() -> None:
    """As flatbuffers.dev describes it: the way to the vtable, the fields, then where each is.

    Slot 1 is absent. What slot 2 refers to is 84 bytes behind the slot: from 8 + 8 to 100.
    """
    data = written(8, {0: 7}, {2: 100})
    assert data == struct.pack("<iII", -12, 7, 84) + struct.pack("<5H", 10, 12, 4, 0, 8) + b"\0\0"
    assert len(data) == written_size([0, 2]) == 24
    table = Table(bytes(8) + data, 8)
    assert [table.number(slot, 4) for slot in range(3)] == [7, None, 84]
