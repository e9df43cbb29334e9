"""Whole files, read with clear errors and written atomically."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO

__all__ = [
    "FileError",
    "file_error",
    "read_file",
    "umask",
    "write_file",
    "write_through",
]


class FileError(PortableError):
    """A file cannot be read or written."""


def read_file(path: str | os.PathLike[str], size: int = -1) -> bytes:
    """Read a whole file, or its beginning.

    Args:
        path: The file.
        size: How many bytes at most; all of them by default.

    Returns:
        Its bytes.

    Raises:
        FileError: It is missing, a directory, or unreadable.
    """
    try:
        # Unbuffered: one system call fewer, and pathlib would take three times as long.
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - see above
            return stream.read(size) if size >= 0 else stream.readall()
    except (OSError, ValueError) as error:  # an embedded NUL is a ValueError
        raise file_error("read", error, path) from error


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file atomically: temporary file beside it, fsync, rename.

    Either the new content is there completely, or the old file is as it was.

    Args:
        path: The file; it is replaced if it exists.
        data: Its new content.

    Raises:
        FileError: It cannot be written.
    """

    def write(stream: FileIO) -> None:
        rest = memoryview(data)
        while rest:  # one call writes at most 2 GB
            rest = rest[stream.write(rest) :]

    write_through(path, write)


def write_through(path: str | os.PathLike[str], write: Callable[[FileIO], object]) -> None:
    """Write a file atomically, as `write_file`, piece by piece.

    Args:
        path: The file; it is replaced if it exists.
        write: Writes the new content into the unbuffered stream that it is given.

    Raises:
        FileError: It cannot be written; the old file is as it was, also when `write` raises.
    """
    import tempfile  # noqa: PLC0415 - cold start: readers need none of it
    from pathlib import Path  # noqa: PLC0415 - as above

    where = Path(path)
    temporary = None
    try:
        if where.is_dir():
            raise IsADirectoryError(21, "Is a directory")
        mode = where.stat().st_mode & 0o777 if where.exists() else 0o666 & ~umask()
        handle, temporary = tempfile.mkstemp(prefix=f".{where.name[:100]}.", dir=where.parent)
        with open(handle, "wb", buffering=0) as stream:  # noqa: PTH123 - an open descriptor
            write(stream)
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        Path(temporary).replace(where)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, (OSError, ValueError)):
            raise file_error("write", error, path) from error
        raise


def file_error(what: str, error: OSError | ValueError, path: str | os.PathLike[str]) -> FileError:
    """Return what the operating system said about a path as our error.

    Args:
        what: What was tried: `read` or `write`.
        error: What it said.
        path: The path.
    """
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return FileError(f"cannot {what}: {reason}", where=os.fspath(path))


def umask() -> int:
    """Return which permissions new files do not get."""
    # There is no way to ask for the umask without setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
