"""Bytes from file to file, and whole directories, without passing through this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from portable.containers.container import MalformedContainer
from portable.containers.source import Folder
from portable.system.files import (
    InputFile,
    demand_output,
    file_error,
    new_directory,
    write_through,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from io import FileIO

    from portable.bytecode.header import Buffer

__all__ = ["copy_bytes", "copy_tree", "files_of", "write_beside", "write_bytes", "write_zeros"]

_CHUNK = 8 << 20


def write_bytes(target: FileIO, data: Buffer) -> None:
    """Write all of `data`, however often the operating system has to be asked.

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
            raise OSError(None, "the original changed while it was copied")
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


def files_of(root: str) -> Iterator[tuple[str, bool]]:
    """Yield everything in a directory: its path inside and whether it is a folder; folders first.

    Args:
        root: The directory.

    Raises:
        MalformedContainer: It holds a link that leads out of it or to a folder, or something that
            is no file and no folder, such as a pipe.
        FileError: It cannot be read.
    """
    real, inner = os.path.realpath(root), Folder(root)

    def refuse(error: OSError) -> None:
        raise file_error("read", error, error.filename or root) from error

    for here, folders, names in os.walk(root, onerror=refuse):
        for name in sorted([*folders, *names]):
            path = os.path.join(here, name)  # noqa: PTH118 - as in portable.system.files
            inside = os.path.relpath(path, root)
            link = os.path.islink(path)  # noqa: PTH114 - as in portable.system.files
            if link and not os.path.realpath(path).startswith(real + os.sep):
                raise MalformedContainer(
                    "a link that leads out of the container",
                    where=inside,
                    hint="copy the files that are meant into it: cp -rL",
                )
            folder = name in folders and not link
            if not folder:
                inner.file(inside)
            yield inside, folder


def copy_tree(
    root: str,
    to: str | os.PathLike[str],
    replaced: Mapping[str, Callable[[FileIO], object] | None],
) -> None:
    """Copy a directory to a new place, atomically, with some of its files replaced.

    Args:
        root: The directory; not touched.
        to: The new place: nothing is there yet, or an empty directory.
        replaced: Path inside -> what rewrites the file, or None to leave it out.

    Raises:
        FileError: It cannot be read or written, or `to` is not free; nothing is left behind.
        MalformedContainer: As `files_of`.
    """
    with new_directory(to, origin=root) as staged:
        for inside, folder in files_of(root):
            path = f"{staged}/{inside}"
            if folder:
                os.mkdir(path)  # noqa: PTH102 - as in portable.system.files
            elif inside not in replaced:
                _copy_file(f"{root}/{inside}", path)
            elif (write := replaced[inside]) is not None:
                write_through(path, write)


def _copy_file(path: str, to: str) -> None:
    original = InputFile(path)
    write_through(to, lambda target: copy_bytes(original, target, 0, len(original)))
