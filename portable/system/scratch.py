"""Temporary files and folders; what a killed process leaves is swept by the next one.

Whoever makes one locks it for as long as it is needed, and the kernel lets go of a lock when its
process ends: what is named like ours and can be locked is abandoned. A process that a signal ends
in an orderly way removes what it still has, wherever in this code the signal came.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import re
import tempfile
from typing import TYPE_CHECKING

from portable.system.trees import remove_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["folder", "forget", "make_file", "make_folder", "remove_file", "remove_folder"]

_BEFORE, _AFTER = ".portable-", ".tmp"
_NAME = re.compile(r"\.portable-[a-z0-9_]{8}\.tmp")
# Each folder is swept once in the life of a process: it may hold very many files.
_SWEPT: set[str] = set()
# What this process has made, or is about to, and has not removed; a fork is another process.
_MADE: set[tuple[int, str]] = set()


def make_file(parent: str) -> tuple[int, str]:
    """Make an empty file in a folder.

    Args:
        parent: The folder.

    Returns:
        A descriptor to write to, which holds the lock until it is closed, and the path. It is for
        `remove_file`, also where it was moved.

    Raises:
        OSError: It cannot be made.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return _made(parent, lambda path: os.open(path, flags, 0o600))


def make_folder(parent: str | None = None) -> tuple[int, str]:
    """Make an empty folder.

    Args:
        parent: Where; by default where the system has its temporary files.

    Returns:
        A descriptor, which holds the lock until it is closed, and the path.

    Raises:
        OSError: It cannot be made.
    """

    def make(path: str) -> int | None:
        os.mkdir(path, 0o700)
        try:
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:  # it cannot be locked before it is open: another process swept it
            return None
        except OSError:
            os.rmdir(path)
            raise

    return _made(parent or tempfile.gettempdir(), make)


def remove_file(path: str) -> None:
    """Remove a file that `make_file` made, if it is still there."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    _MADE.discard((os.getpid(), path))


def remove_folder(handle: int, path: str) -> None:
    """Remove a folder that `make_folder` made, and let go of it."""
    remove_tree(path)
    os.close(handle)
    _MADE.discard((os.getpid(), path))


@contextlib.contextmanager
def folder(parent: str | None = None) -> Iterator[str]:
    """Make a folder that is removed in the end; see `make_folder`."""
    handle, path = make_folder(parent)
    try:
        yield path
    finally:
        remove_folder(handle, path)


def forget() -> None:
    """Forget which folders have been swept."""
    _SWEPT.clear()


def _made(parent: str, make: Callable[[str], int | None]) -> tuple[int, str]:
    _sweep(os.path.realpath(parent))
    while True:
        path = os.path.abspath(os.path.join(parent, f"{_BEFORE}{os.urandom(4).hex()}{_AFTER}"))
        mine = (os.getpid(), path)
        _MADE.add(mine)
        try:
            handle = make(path)
        except FileExistsError:  # the name is taken
            handle = None
        except OSError:
            _MADE.discard(mine)
            raise
        if handle is not None:
            if _lock(handle) is not False and os.path.exists(path):
                return handle, path
            os.close(handle)  # another process swept it between the two calls
        _MADE.discard(mine)


@atexit.register
def _remove_all() -> None:
    """Remove what a signal left: it may have come before anybody else knew of it."""
    for process, path in sorted(_MADE):
        if process == os.getpid():
            with contextlib.suppress(OSError):
                (remove_tree if os.path.isdir(path) else os.unlink)(path)


def _lock(handle: int) -> bool | None:
    """Lock what is open; False when somebody holds it, None where there are no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _sweep(parent: str) -> None:
    if parent in _SWEPT:
        return
    _SWEPT.add(parent)
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    """Remove what is not locked, of this user, and no link."""
    if entry.stat(follow_symlinks=False).st_uid != os.geteuid():
        return
    handle = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if _lock(handle):
            if entry.is_dir(follow_symlinks=False):
                remove_tree(entry.path)
            else:
                os.unlink(entry.path)
    finally:
        os.close(handle)
