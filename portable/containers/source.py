"""A file that is looked into without reading it whole, and copied with some bytes replaced."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.containers.container import MalformedContainer
from portable.system.files import FileError, file_error

if TYPE_CHECKING:
    from collections.abc import Iterable
    from io import FileIO
    from mmap import mmap

    from portable.bytecode.header import Buffer

__all__ = ["Edit", "Source", "demand_file"]


@dataclass(frozen=True, slots=True)
class Edit:
    """The bytes from `start` to `stop` become `data`.

    Args:
        start: Offset in the original.
        stop: Behind the last byte that goes away.
        data: What stands there instead.
        zeros: How many zero bytes follow `data`.
    """

    start: int
    stop: int
    data: Buffer = b""
    zeros: int = 0


class Source:
    """The bytes of one file, mapped, or bytes in memory.

    Attributes:
        path: The file; empty for bytes in memory.
        data: The bytes. Of a mapped file, what is not looked at is never read.
    """

    __slots__ = ("_identity", "data", "path")

    def __init__(self, source: str | bytes) -> None:
        self.data: bytes | mmap
        self._identity: tuple[int, ...] = ()
        if isinstance(source, bytes):
            self.path, self.data = "", source
            return
        self.path = source
        try:
            with open(source, "rb", buffering=0) as stream:  # noqa: PTH123 - as in portable.system.files
                status = os.fstat(stream.fileno())
                if not status.st_size:  # empty, or a pipe, which has no size: neither can be mapped
                    self.data = stream.readall()
                    return
                from mmap import ACCESS_READ, mmap  # noqa: PLC0415 - cold start

                self._identity = _identity(status)
                self.data = mmap(stream.fileno(), 0, access=ACCESS_READ)
        except (OSError, ValueError) as error:
            raise file_error("read", error, source) from error

    def view(self, start: int, stop: int) -> memoryview:
        """Return some of the bytes without copying them.

        Args:
            start: The first byte.
            stop: Behind the last byte.
        """
        return memoryview(self.data)[start:stop]

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
        from portable.containers.copying import (  # noqa: PLC0415 - cold start: readers copy nothing
            copy_bytes,
            write_bytes,
            write_zeros,
        )

        ordered = [
            *sorted(edits, key=lambda edit: edit.start),
            Edit(len(self.data), len(self.data)),
        ]
        if not self._identity:
            at = 0
            for edit in ordered:
                write_bytes(target, self.view(at, edit.start))
                write_bytes(target, edit.data)
                write_zeros(target, edit.zeros)
                at = edit.stop
            return
        with open(self.path, "rb", buffering=0) as original:  # noqa: PTH123 - as in portable.system.files
            if _identity(os.fstat(original.fileno())) != self._identity:
                raise FileError("changed since it was opened", where=self.path, hint="try again")
            at = 0
            for edit in ordered:
                copy_bytes(original, target, at, edit.start)
                write_bytes(target, edit.data)
                write_zeros(target, edit.zeros)
                at = edit.stop


def demand_file(path: str, where: str) -> None:
    """Refuse what is no file: opening a pipe may wait forever.

    Args:
        path: A file inside of a directory that somebody else wrote.
        where: What to call it in an error.

    Raises:
        MalformedContainer: It is missing or something else.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - as in portable.system.files
    except (OSError, ValueError):
        raise MalformedContainer("is missing", where=where) from None
    if not stat.S_ISREG(mode):
        raise MalformedContainer("is no file", where=where)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
