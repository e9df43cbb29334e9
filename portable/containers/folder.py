"""A directory that is a container: the files in it, and copies with some of them replaced."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from portable.containers.container import MalformedContainer
from portable.containers.source import Source
from portable.system.beneath import is_beneath, opened_folder, place_of
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
        within: A folder that no link may lead out of, as `place_of` names it; empty for anywhere.
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
            leads_out = self.within and not is_beneath(os.path.realpath(path), self.within)
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            leads_out, mode = False, 0
        if leads_out:
            hint = "replace links by copies: cp -rL"
            raise MalformedContainer("a link out of the tree", where=inside, hint=hint)
        if not stat.S_ISREG(mode):
            why = "not a regular file" if mode else "missing"
            raise MalformedContainer(why, where=inside)
        return path

    def source(self, inside: str) -> Source:
        """Open a regular file in it as a Source, as `open`."""
        return Source(self.open(inside))

    def open(self, inside: str) -> InputFile:
        """Open a regular file in it, as `file` finds it.

        Args:
            inside: Its path inside.

        Raises:
            MalformedContainer: As `file`.
            FileError: It cannot be read, or lies elsewhere by now.
        """
        return InputFile(self.file(inside), self.within)

    def unchecked(self, inside: str) -> Source:
        """Open a regular file in it, whose content is not compared with anything."""
        return self.source(inside)

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
            with opened_folder(path, self.within) as handle:
                return sorted(os.listdir(handle))
        except (OSError, ValueError) as error:  # an embedded NUL is a ValueError
            raise file_error("read", error, path) from error


def files_of(root: str) -> Iterator[tuple[str, InputFile | None]]:
    """Yield everything in a directory: its path inside, and the file; None for a folder.

    A folder comes before what is in it.

    Args:
        root: The directory.

    Raises:
        MalformedContainer: It holds a link that leads out of it or to a folder, or something that
            is no file and no folder, such as a pipe.
        FileError: It cannot be read.
    """
    inner = Folder(root, place_of(root))

    try:
        for entry in walk(root):
            inside = os.path.relpath(entry.path, root)
            yield inside, None if entry.is_folder else inner.open(inside)
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
    from portable.containers.copying import copy_bytes

    with new_directory(to, origin=root) as staged:
        for inside, file in files_of(root):
            path = f"{staged}/{inside}"
            if file is None:
                os.mkdir(path)
            elif inside not in replaced:
                write_through(path, partial(copy_bytes, file, start=0, stop=len(file)))
            elif (write := replaced[inside]) is not None:
                write_through(path, write)
