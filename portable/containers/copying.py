"""Bytes from file to file, without passing through this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from portable.system.files import demand_output, write_through

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO

    from portable.bytecode.encoding import Buffer
    from portable.system.files import InputFile

__all__ = ["copy_bytes", "write_beside", "write_bytes", "write_zeros"]

_CHUNK = 8 << 20


def write_bytes(target: FileIO, data: Buffer) -> None:
    """Write all of `data`, in as many calls as that takes.

    Args:
        target: An unbuffered stream.
        data: The bytes.
    """
    rest = memoryview(data)
    while rest:
        rest = rest[target.write(rest[:_CHUNK]) :]


def write_zeros(target: FileIO, count: int) -> None:
    """Write zero bytes.

    Args:
        target: An unbuffered stream.
        count: How many.
    """
    zeros = memoryview(bytes(min(count, _CHUNK)))
    while count:
        count -= target.write(zeros[:count])


def copy_bytes(original: InputFile, target: FileIO, start: int, stop: int) -> None:
    """Copy a part of one file to where the other stands; inside the kernel where it can.

    Args:
        original: The file to read from.
        target: An unbuffered stream to write to.
        start: The first byte.
        stop: Behind the last byte.

    Raises:
        OSError: The file ended earlier, or cannot be read or written.
    """
    while start < stop:
        count = _copy_some(original.fileno(), target.fileno(), start, stop - start)
        if not count:
            raise OSError(None, "the input changed while it was copied")
        start += count


def _copy_some(original: int, target: int, start: int, count: int) -> int:
    try:
        return os.copy_file_range(original, target, count, offset_src=start)
    except (OSError, AttributeError):
        # Between some file systems, and outside Linux, it has to pass through here.
        return os.write(target, os.pread(original, min(count, _CHUNK), start))


def write_beside(
    original: str, to: str | os.PathLike[str], write: Callable[[FileIO], object]
) -> None:
    """Write a file atomically to any place but that of the original.

    Args:
        original: The file that is not touched; empty when there is none.
        to: The new file; it is replaced if it exists.
        write: Writes its content.

    Raises:
        FileError: It cannot be written, or is the original; nothing is left behind.
    """
    if original:
        demand_output(to, original)
    write_through(to, write)
