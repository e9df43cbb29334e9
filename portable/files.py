"""Whole files, read with clear errors and written atomically."""

from __future__ import annotations

import os

from portable.errors import PortableError

__all__ = ["FileError", "read_file", "write_file"]


class FileError(PortableError):
    """A file cannot be read or written."""


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Read a whole file.

    Args:
        path: The file.

    Returns:
        Its bytes.

    Raises:
        FileError: It is missing, a directory, or unreadable.
    """
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 - 3x faster than Path on the cold path
            return stream.read()
    except OSError as error:
        raise FileError(f"cannot read: {_reason(error)}", where=os.fspath(path)) from error
    except ValueError as error:  # an embedded NUL
        raise FileError(f"cannot read: {error}", where=repr(path)) from error


def write_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file atomically: temporary file beside it, fsync, rename.

    Either the new content is there completely, or the old file is as it was.

    Args:
        path: The file; it is replaced if it exists.
        data: Its new content.

    Raises:
        FileError: It cannot be written.
    """
    import tempfile  # noqa: PLC0415 - cold start: readers need none of it
    from pathlib import Path  # noqa: PLC0415 - as above

    where = Path(path)
    temporary = None
    try:
        if where.is_dir():
            raise IsADirectoryError(21, "Is a directory")
        mode = where.stat().st_mode & 0o777 if where.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=f".{where.name[:100]}.", dir=where.parent)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(stream.fileno(), mode)
            os.fsync(stream.fileno())
        Path(temporary).replace(where)
    except (OSError, ValueError) as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise FileError(f"cannot write: {_reason(error)}", where=os.fspath(path)) from error


def _reason(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()


def _umask() -> int:
    # There is no way to ask for the umask without setting it.
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
