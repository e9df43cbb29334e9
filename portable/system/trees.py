"""Walk and remove folders, however deep they nest.

`os.walk`, `Path.rglob` and `shutil.rmtree` call themselves for each level on some Pythons that are
supported, and end at a thousand levels.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING

from portable.system.beneath import entries, opened_folder, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.system.beneath import Listed

__all__ = ["remove_tree", "walk"]


def walk(folder: str | os.PathLike[str]) -> Iterator[Listed]:
    """Yield everything in a folder, each folder before what is in it; no link is followed.

    Args:
        folder: The path, with which those of the entries begin.

    Raises:
        OSError: A folder cannot be listed, also because its path is too long, or has become a link
            out of the first one.
    """
    within, folders = place_of(folder), [os.fspath(folder)]
    while folders:
        here = folders.pop()
        with opened_folder(here, within) as handle:
            found = entries(handle, here)
        yield from found
        folders += [one.path for one in reversed(found) if one.is_folder]


def remove_tree(path: str | os.PathLike[str]) -> None:
    """Remove a folder with all that is in it, as far as that is possible; no link is followed.

    Args:
        path: The folder, whose subfolders may nest deeper than any path is long.
    """
    with contextlib.suppress(OSError):
        top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(path)


def _empty(top: int) -> None:
    """Remove what is in a folder; subfolders move up first, so that none is deeper than one."""
    mark, moved = secrets.token_hex(8), 0
    folders = _clear(top)
    while folders:
        name = folders.pop()
        with contextlib.suppress(OSError):
            here = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
            try:
                for below in _clear(here):
                    moved += 1
                    os.rename(below, f"{mark}-{moved}", src_dir_fd=here, dst_dir_fd=top)
                    folders.append(f"{mark}-{moved}")
            finally:
                os.close(here)
            os.rmdir(name, dir_fd=top)


def _clear(folder: int) -> list[str]:
    """Remove the files of an open folder; return the names of its folders."""
    with os.scandir(folder) as listed:
        entries = list(listed)
    folders = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    for name in {entry.name for entry in entries}.difference(folders):
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
    return folders
