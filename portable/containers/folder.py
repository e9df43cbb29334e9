"""A directory that is a container: the files in it, and copies with some of them replaced."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.containers.container import MalformedContainer
from portable.containers.source import Source
from portable.system.files import InputFile, file_error, new_directory, write_through
from portable.system.trees import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from io import FileIO

__all__ = ["Folder", "copy_tree", "files_of"]


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory that is a container.

    Args:
        path: The directory.
        within: The real path of a folder that no link may lead out of; empty for anywhere.
    """

    path: str
    within: str = ""

    def file(self, inside: str) -> str:
        """Return the path of a regular file in it.

        Args:
            inside: Its path inside.

        Raises:
            MalformedContainer: It is missing, something else, or elsewhere.
        """
        path = f"{self.path}/{inside}"
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            raise MalformedContainer("missing", where=inside) from None
        if not stat.S_ISREG(mode):
            raise MalformedContainer("not a regular file", where=inside)
        if self.within and not os.path.realpath(path).startswith(self.within + os.sep):
            raise MalformedContainer(
                "a link out of the tree",
                where=inside,
                hint="replace links by copies: cp -rL",
            )
        return path

    def source(self, inside: str) -> Source:
        """Open a regular file in it, as `file` finds it."""
        return Source(self.file(inside))

    def unchecked(self, inside: str) -> str:
        """Return the path of a regular file in it, whose content is not compared with anything."""
        return self.file(inside)

    def has(self, inside: str) -> bool:
        """Say whether there is something at a path inside."""
        return os.path.exists(f"{self.path}/{inside}")

    def has_file(self, inside: str) -> bool:
        """Say whether there is a regular file at a path inside."""
        return os.path.isfile(f"{self.path}/{inside}")

    def names(self, inside: str) -> list[str]:
        """Return the names in a folder inside, sorted.

        Raises:
            FileError: It cannot be looked into.
        """
        path = f"{self.path}/{inside}"
        try:
            return sorted(os.listdir(path))
        except (OSError, ValueError) as error:  # an embedded NUL is a ValueError
            raise file_error("read", error, path) from error


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

    try:
        for entry in walk(root):
            inside = os.path.relpath(entry.path, root)
            if entry.is_symlink() and not os.path.realpath(entry.path).startswith(real + os.sep):
                raise MalformedContainer(
                    "a link out of the container",
                    where=inside,
                    hint="replace links by copies: cp -rL",
                )
            folder = entry.is_dir(follow_symlinks=False)
            if not folder:
                inner.file(inside)
            yield inside, folder
    except OSError as error:
        raise file_error("read", error, error.filename or root) from error


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
                os.mkdir(path)
            elif inside not in replaced:
                _copy_file(f"{root}/{inside}", path)
            elif (write := replaced[inside]) is not None:
                write_through(path, write)


def _copy_file(path: str, to: str) -> None:
    from portable.containers.copying import copy_bytes

    original = InputFile(path)
    write_through(to, lambda target: copy_bytes(original, target, 0, len(original)))
