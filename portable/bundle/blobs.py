"""The blobs of an image layout that is being written: each under its digest, so only once."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from portable.containers.copying import copy_bytes, write_bytes
from portable.containers.oci import Descriptor
from portable.system.files import InputFile, write_through

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from io import FileIO

__all__ = ["FILE", "Blobs"]

FILE = "application/octet-stream"
"""The media type of every file: what one is, its bytes say."""


class Blobs:
    """The blobs of an image layout that is being written.

    Args:
        staged: Its directory.
    """

    def __init__(self, staged: str) -> None:
        self.staged = staged
        self._folder = Path(staged, "blobs", "sha256")
        self._folder.mkdir(parents=True)
        self._copied: dict[object, Descriptor] = {}

    def add(self, write: Callable[[FileIO], object], media_type: str = FILE) -> Descriptor:
        """Store what a function writes; it is hashed where it then lies.

        Args:
            write: Writes into the unbuffered stream that it is given.
            media_type: What it is.

        Raises:
            FileError: It cannot be written.
        """
        new = self._folder / "new"
        write_through(new, write)
        file = InputFile(new)
        digest = file.sha256()
        new.replace(self._folder / digest)
        return Descriptor(media_type, f"sha256:{digest}", len(file))

    def add_bytes(self, data: bytes, media_type: str) -> Descriptor:
        """Store bytes, as `add`."""
        return self.add(partial(write_bytes, data=data), media_type)

    def copy(self, file: InputFile) -> Descriptor:
        """Store a file, inside the kernel where it can; once, however often it is named.

        Args:
            file: The file.

        Raises:
            FileError: It cannot be read or written.
        """
        if file.identity not in self._copied:
            self._copied[file.identity] = self.add(
                partial(copy_bytes, file, start=0, stop=len(file))
            )
        return self._copied[file.identity]

    def keep(self, descriptors: Iterable[Descriptor]) -> None:
        """Remove every other blob."""
        kept = {Path(descriptor.path).name for descriptor in descriptors}
        for blob in self._folder.iterdir():
            if blob.name not in kept:
                blob.unlink()
