"""The bytes of one file, read when they are looked at, and copied with some of them replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from portable.system.files import FileError, InputFile, is_special, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import FileIO

    from portable.bytecode.encoding import Buffer

__all__ = ["Edit", "Ranges", "Source"]

# Files of at most this size are read at once: one call costs less than several.
_SMALL = 1 << 16


class Edit(NamedTuple):
    """The bytes from `start` to `stop` become `data`.

    Args:
        start: Offset in the original.
        stop: Behind the last byte that goes away.
        data: The replacement.
        zeros: How many zero bytes follow `data`.
    """

    start: int
    stop: int
    data: Buffer = b""
    zeros: int = 0


class Ranges(Protocol):
    """What is read by ranges: a file, or an object of a bucket. As `InputFile`."""

    @property
    def path(self) -> str:
        """What it is called."""

    @property
    def identity(self) -> object:
        """What makes it this one and no other."""

    def __len__(self) -> int:
        """Return how many bytes it has."""

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return some of the bytes, or raise FileError."""


class Source:
    """The bytes of one file, or bytes in memory.

    Slices of a file are read on first use; it stays open, unless it is small, and is
    never mapped, so that cutting it short is an error and not the end of this process.

    Args:
        source: A path, the bytes, or what is read by ranges.

    Attributes:
        path: The file; empty for bytes in memory.
        identity: What makes it this file and no other; None for a stream and for bytes in memory.

    Raises:
        FileError: It cannot be read.
    """

    __slots__ = ("_data", "_file", "identity", "path")

    def __init__(self, source: str | bytes | Ranges) -> None:
        self.path = ""
        self._file: Ranges | None = None
        self._data: bytes | None = None
        self.identity: object = None
        if isinstance(source, bytes):
            self._data = source
            return
        self.path = source if isinstance(source, str) else source.path
        if isinstance(source, str) and is_special(source):
            self._data = read_file(source)
            return
        file: Ranges = InputFile(source) if isinstance(source, str) else source
        self.identity = file.identity
        if isinstance(file, InputFile) and len(file) <= _SMALL:
            self._data = file.read()
        else:
            self._file = file

    def __len__(self) -> int:
        return len(self._file if self._data is None else self._data)  # type: ignore[arg-type]  # one of both

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(len(self))
        return self.read(start, stop)

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return some of the bytes, all of them by default.

        Args:
            start: The first byte.
            stop: Behind the last byte.

        Raises:
            FileError: They cannot be read, or the file has been cut short.
        """
        if self._data is not None:
            return self._data[start:stop]
        assert self._file is not None  # noqa: S101 - for type checkers: one of both
        return self._file.read(start, stop)

    @property
    def is_far(self) -> bool:
        """Whether reading asks a server for it."""
        return self._file is not None and not isinstance(self._file, InputFile)

    def load(self) -> bytes:
        """Return all bytes, and keep them, for what looks at every one of them.

        Raises:
            FileError: As `read`.
        """
        if self._data is None:
            self._data = self.read()
        return self._data

    def write(self, edits: Iterable[Edit], target: FileIO) -> None:
        """Write a copy with some bytes replaced.

        What stays the same goes from file to file inside the kernel.

        Args:
            edits: What changes; they do not overlap.
            target: An unbuffered stream.

        Raises:
            FileError: The original changed since it was opened.
            OSError: The copy cannot be written.
        """
        from portable.containers.copying import (
            copy_bytes,
            write_bytes,
            write_zeros,
        )

        here = self._file is None or isinstance(self._file, InputFile)
        if here and self.identity is not None and InputFile(self.path).identity != self.identity:
            raise FileError("changed since it was opened", where=self.path, hint="try again")
        at = 0
        for edit in (*sorted(edits, key=lambda edit: edit.start), Edit(len(self), len(self))):
            if self._data is not None:
                write_bytes(target, self._data[at : edit.start])
            elif isinstance(self._file, InputFile):
                copy_bytes(self._file, target, at, edit.start)
            elif self._file is not None:
                write_bytes(target, self._file.read(at, edit.start))
            write_bytes(target, edit.data)
            write_zeros(target, edit.zeros)
            at = edit.stop
