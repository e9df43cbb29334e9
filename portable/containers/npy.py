"""What a numpy array in a file is, from its header; nothing is loaded, least of all a pickle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.containers.container import MalformedContainer

if TYPE_CHECKING:
    from portable.containers.folder import Folder

__all__ = ["Array", "read_array"]

_MAGIC = b"\x93NUMPY"
# What numpy itself accepts of files that it does not trust.
_LONGEST = 10_000
_REFUSED = {b"PK": "a zip archive", b"\x80": "a pickle", b"\x1f\x8b": "compressed"}


@dataclass(frozen=True, slots=True)
class Array:
    """The header of one array.

    Args:
        descr: Its dtype as numpy writes it, for example `<f4`.
        itemsize: Bytes of one element.
        shape: Its shape.
    """

    descr: str
    itemsize: int
    shape: tuple[int, ...]


def read_array(folder: Folder, where: str, known: dict[object, Array] | None = None) -> Array:
    """Read the header of a file that `numpy.save` wrote, and check it against the file's size.

    Args:
        folder: The container.
        where: The file in it.
        known: Arrays that were read, by the identity of their file; what is read is added. So links
            to one file cost no more than that file.

    Returns:
        What array it holds.

    Raises:
        MalformedContainer: It holds something else, or is cut short.
        FileError: It cannot be read.
    """
    file = folder.open(where)
    if known is not None and file.identity in known:
        return known[file.identity]
    head = file[:12]
    if head[:6] != _MAGIC:
        raise _refused(head, where)
    start = 12 if len(head) > 6 and head[6] > 1 else 10
    length = int.from_bytes(head[8:start], "little")
    if len(head) < 12 or length > _LONGEST:
        raise MalformedContainer("the header of the array is truncated or too long", 8, where=where)
    text = file[start : start + length]
    array = _parsed(text, where)
    expected = start + length + array.itemsize * _count(array.shape)
    if len(file) != expected:
        raise MalformedContainer(
            f"an array {array.descr}{list(array.shape)} takes {expected} bytes, not {len(file)}",
            where=where,
        )
    if known is not None:
        known[file.identity] = array
    return array


def _refused(head: bytes, where: str) -> MalformedContainer:
    for start, what in _REFUSED.items():
        if head.startswith(start):
            return MalformedContainer(
                f"{what} instead of an array",
                0,
                where=where,
                hint="save the array again: numpy.save(file, array, allow_pickle=False)",
            )
    return MalformedContainer("not an array written by numpy.save", 0, where=where)


def _parsed(text: bytes, where: str) -> Array:
    from ast import literal_eval  # arrays alone need it

    try:
        header = literal_eval(text.decode("latin-1"))
        descr, shape = header["descr"], header["shape"]
        # `|O` are Python objects, which numpy pickles; a list is a record of several fields.
        kind, itemsize = descr[1], int(descr[2:].partition("[")[0] or 0)
        sizes = isinstance(shape, tuple) and all(
            type(size) is int and 0 <= size < 1 << 48 for size in shape
        )
    except (ValueError, SyntaxError, TypeError, KeyError, IndexError, RecursionError, MemoryError):
        raise MalformedContainer("invalid header", 10, where=where) from None
    if kind == "O":
        raise _refused(b"\x80", where)
    if not sizes or kind not in "?bBiufcV" or itemsize > 1 << 20 or len(shape) > 64:
        raise MalformedContainer("invalid header", 10, where=where)
    return Array(descr, itemsize, shape)


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count
