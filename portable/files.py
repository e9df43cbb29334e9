"""Whole files, read with clear errors and written atomically."""

from __future__ import annotations

import os

from portable.errors import PortableError

__all__ = ["FileError", "read_file", "write_file"]


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
