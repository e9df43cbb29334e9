"""Open what lies beneath a folder, and nothing else, whoever changes the folder meanwhile.

A path is followed anew by each call, and may lead out of a tree that was looked at before: a folder
in it has become a link. So it is asked where the file lies that was opened in the end. Linux alone
says that; elsewhere a path is as good as it was when it was last looked at.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Listed", "demand_beneath", "entries", "is_beneath", "opened_folder", "place_of"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Listed(NamedTuple):
    """Something in a folder.

    Args:
        name: Its name there.
        path: That of the folder, and its name.
        is_folder: Whether it is one itself.
        is_link: Whether it is a symbolic link, to a folder too.
        is_file: Whether it is a regular file itself.
    """

    name: str
    path: str
    is_folder: bool
    is_link: bool
    is_file: bool


def place_of(folder: str | os.PathLike[str]) -> str:
    """Return the path without links by which what lies beneath a folder is known."""
    with contextlib.suppress(OSError, ValueError), opened_folder(folder) as handle:
        if place := _place(handle):
            return place
    return os.path.realpath(folder)


def demand_beneath(handle: int, within: str) -> None:
    """Refuse what does not lie beneath a folder.

    Args:
        handle: What was opened.
        within: The folder, as `place_of` names it; empty for anywhere.

    Raises:
        OSError: It lies elsewhere.
    """
    if within and (place := _place(handle)) and not is_beneath(place, within):
        raise OSError(None, "leads out of the folder")


def is_beneath(path: str, within: str) -> bool:
    """Say whether a path without links is that of a folder or lies beneath it.

    Args:
        path: The path.
        within: The folder, as `place_of` names it.
    """
    return path == within or path.startswith(within.rstrip("/") + "/")


def _place(handle: int) -> str:
    """Return where what is open lies now; nothing where the system does not say that."""
    try:
        return os.readlink(f"/proc/self/fd/{handle}")
    except (FileNotFoundError, PermissionError):
        return ""


@contextlib.contextmanager
def opened_folder(folder: str | os.PathLike[str], within: str = "") -> Iterator[int]:
    """Open a folder beneath another.

    Args:
        folder: Its path.
        within: As for `demand_beneath`.

    Yields:
        Its descriptor.

    Raises:
        OSError: It is no folder, cannot be opened, or lies elsewhere.
    """
    handle = os.open(folder, _FOLDER)
    try:
        demand_beneath(handle, within)
        yield handle
    finally:
        os.close(handle)


def entries(handle: int, folder: str) -> list[Listed]:
    """Return what is in a folder, by name.

    Args:
        handle: The folder, opened.
        folder: Its path.

    Raises:
        OSError: It cannot be listed.
    """
    before = os.path.join(folder, "")
    with os.scandir(handle) as listed:
        return sorted(
            Listed(
                name := one.name,
                before + name,
                one.is_dir(follow_symlinks=False),
                one.is_symlink(),
                one.is_file(follow_symlinks=False),
            )
            for one in listed
        )
