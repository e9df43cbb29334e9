"""Hold a folder, so that one process at a time changes what is in it.

The kernel lets go of it when the process ends, however that is. No file is made for it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.system.files import file_error

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FolderBusy", "held", "hold", "open_lock"]


class FolderBusy(PortableError):
    """Another process holds the folder."""


def open_lock(path: str | os.PathLike[str], flags: int = os.O_RDWR) -> int:
    """Open a file to lock it, and make it where it is missing; a FIFO is not waited for.

    Args:
        path: The file. Nothing is written to it.
        flags: How; `os.O_RDONLY` is enough to share a lock.

    Returns:
        A descriptor.

    Raises:
        OSError: It cannot be opened.
    """
    return os.open(path, flags | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)


def hold(folder: str | os.PathLike[str], *, wait: bool = False) -> int:
    """Hold a folder until the descriptor that is returned is closed.

    Args:
        folder: The folder.
        wait: Whether to wait for another process that holds it.

    Returns:
        A descriptor of the folder.

    Raises:
        FolderBusy: Another process holds it.
        OSError: It cannot be opened.
    """
    while True:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _lock(handle, wait=wait)
            if os.path.samestat(os.fstat(handle), os.stat(folder)):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise FolderBusy("in use by another process", where=os.fspath(folder)) from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # whoever held it has removed it, and somebody has made it again


def _lock(handle: int, *, wait: bool) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise
    except OSError:  # a file system without locks
        pass


@contextlib.contextmanager
def held(folder: str | os.PathLike[str], *, wait: bool = False) -> Iterator[None]:
    """Hold a folder for the time of a block; as `hold`, but for a FileError where it cannot."""
    try:
        handle = hold(folder, wait=wait)
    except (OSError, ValueError) as error:  # an embedded NUL is a ValueError
        raise file_error("open", error, folder) from error
    try:
        yield
    finally:
        os.close(handle)
