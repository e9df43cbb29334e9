"""What is in compressed files and in archives, unpacked no further than somebody looks."""

from __future__ import annotations

import importlib
import io
import lzma
import struct
import zlib
from typing import IO, TYPE_CHECKING

from portable.containers.source import Source
from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from _typeshed import WriteableBuffer

__all__ = ["NotUnpacked", "unpacked"]

# How the formats begin that the standard library of every Python reads, and the module for each.
_FORMATS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
# What begins as zlib does is read as gzip behind a header of gzip's (RFC 1950 and 1952).
_ZLIB, _GZIP = 2, b"\x1f\x8b\x08" + bytes(6) + b"\xff"
# How those begin that it does not read.
_UNREAD = {
    b"\x28\xb5\x2f\xfd": "zstd",
    **{bytes([0x50 + number]) + b"\x2a\x4d\x18": "zstd or lz4" for number in range(16)},
    b"\x04\x22\x4d\x18": "lz4",
    b"\xff\x06\0\0sNaPpY": "snappy",
    b"LZIP": "lzip",
    b"\x1f\x9d": "compress",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
}
_ZIP, _ZIP_END, _ZIP_TAIL = b"PK\x03\x04", b"PK\x05\x06", 22 + 65_535
_ZIP_METHODS = {0, 8, 12}  # stored, deflate, bzip2; LZMA takes as much memory as an archive says
_BLOCK, _CHECKSUM = 512, slice(148, 156)  # of tar
_DAMAGED = (EOFError, OSError, MemoryError, zlib.error, lzma.LZMAError)
# What zipfile and tarfile raise besides over wrong sizes, offsets, names and methods.
_MALFORMED = (*_DAMAGED, IndexError, OverflowError, RuntimeError, ValueError, struct.error)
_PIECE = 1 << 16

# What a file may unpack to: deflate packs to no less than a thousandth, and models to a half.
_FLOOR, _GROWTH = 8 << 20, 100
# An archive spends about as many bytes on each member.
_MEMBERS, _MEMBER_BYTES = 1000, 64
_DEEPEST = 4


class NotUnpacked(PortableError):
    """An archive is damaged or encrypted, or what is packed grows out of proportion."""


class _Limits:
    """How much more of one file is unpacked."""

    def __init__(self, size: int, members: int) -> None:
        self.size, self.members = size, members

    def unpack(self, size: int) -> None:
        self.size -= size
        if self.size < 0:
            raise NotUnpacked("grows out of proportion when it is unpacked")

    def enter(self) -> None:
        self.members -= 1
        if self.members < 0:
            raise NotUnpacked("an archive of very many members")


def unpacked(source: Source) -> Iterator[tuple[str, Source]]:
    """Find everything in a compressed file or an archive, and in what is packed inside of that.

    Nothing is unpacked before it is read. Work and memory are linear in the size of the file.

    Args:
        source: Any file.

    Yields:
        The path of a member inside, which is empty for what is compressed alone, and its bytes,
        which can be read until the next one is taken; fewer where they are damaged.

    Raises:
        FileError: It cannot be read.
        NotUnpacked: The rest cannot be looked into.
    """
    size = 0 if source.is_far else len(source)  # far away, each piece is a request
    limits = _Limits(_FLOOR + _GROWTH * size, _MEMBERS + size // _MEMBER_BYTES)
    yield from _inside(source, "", limits, _DEEPEST, tail=not source.is_far)


def _inside(
    source: Source, path: str, limits: _Limits, deeper: int, *, tail: bool = False
) -> Iterator[tuple[str, Source]]:
    for name, stream, size in _opened(source, tail=tail):
        limits.enter()
        if not deeper:
            raise NotUnpacked(f"is packed more than {_DEEPEST} times")
        one = Source(_Unpacked(stream, size, limits))
        inner = f"{path}/{name}".strip("/")
        yield inner, one
        yield from _inside(one, inner, limits, deeper - 1)


def _opened(source: Source, *, tail: bool) -> Iterator[tuple[str, IO[bytes], int | None]]:
    """Yield the name of each member, a stream of it, and its size where that is known."""
    head = source[:_BLOCK]
    for magic, name in _UNREAD.items():
        if head.startswith(magic):
            raise NotUnpacked(f"is packed as {name}, which is not read")
    if name := _compression(head):
        packed = _buffered(source, _GZIP, _ZLIB) if name == "zlib" else _buffered(source)
        with importlib.import_module("gzip" if name == "zlib" else name).open(packed) as stream:
            yield "", stream, None
        return
    archived = head.startswith((_ZIP, _ZIP_END))
    if archived or (tail and _ZIP_END in source[-_ZIP_TAIL:]):
        yield from _zipped(source, sure=archived)
    elif _is_tar(head):
        yield from _tarred(source)


def _compression(head: bytes) -> str:
    """Name the module that reads what begins so; empty where none does."""
    for magic, name in _FORMATS.items():
        if head.startswith(magic):
            return name
    if len(head) < _LZMA_HEAD:
        return ""
    # By the sums and sizes in them, as their own tools know them: neither begins with a word.
    if (
        head[0] & 0x8F == zlib.DEFLATED
        and not head[1] & 0x20
        and not int.from_bytes(head[:2], "big") % 31
    ):
        return "zlib"
    dictionary, size = (int.from_bytes(head[one], "little") for one in _LZMA_SIZES)
    sized = 0 < size < 1 << 38 or size == (1 << 64) - 1
    return "lzma" if head[0] < 9 * 5 * 5 and dictionary in _DICTIONARIES and sized else ""


_LZMA_HEAD, _LZMA_SIZES = 13, (slice(1, 5), slice(5, 13))
_DICTIONARIES = {(2 + half) << power for power in range(11, 31) for half in (0, 1)}


def _zipped(source: Source, *, sure: bool) -> Iterator[tuple[str, IO[bytes], int]]:
    import zipfile

    if not source.path:  # inside of something: members are found from the end
        source = Source(source[:_FLOOR])
    try:
        archive = zipfile.ZipFile(_buffered(source))
    except (zipfile.BadZipFile, *_MALFORMED) as error:
        if sure:
            raise NotUnpacked("an archive that cannot be read") from error
        return
    with archive:
        for member in archive.infolist():
            if member.is_dir() and not member.file_size:
                continue
            if member.flag_bits & 1:
                raise NotUnpacked("an encrypted archive")
            if member.compress_type not in _ZIP_METHODS:
                raise NotUnpacked(f"an archive by method {member.compress_type}")
            try:
                stream = archive.open(member)
            except (zipfile.BadZipFile, *_MALFORMED) as error:
                raise NotUnpacked("an archive that cannot be read") from error
            with stream:
                yield member.filename, stream, member.file_size


def _tarred(source: Source) -> Iterator[tuple[str, IO[bytes], int]]:
    import tarfile

    try:
        # As tar does, go on behind empty and damaged headers.
        with tarfile.open(fileobj=_buffered(source), mode="r:", ignore_zeros=True) as archive:
            while member := archive.next():
                archive.members.clear()  # type: ignore[attr-defined]  # else it keeps them all
                # As tar does, take members of an unknown type for files.
                file = member.isreg() or member.type not in tarfile.SUPPORTED_TYPES
                if file and (stream := archive.extractfile(member)):
                    yield member.name, stream, member.size
    except (tarfile.TarError, *_MALFORMED) as error:
        raise NotUnpacked("an archive that cannot be read") from error


def _is_tar(head: bytes) -> bool:
    """Say whether a file begins as the header of a member, also from before POSIX."""
    given = head[_CHECKSUM].strip(b" \0")
    if len(head) < _BLOCK or not given.isdigit() or len(given) > 7:
        return False
    return sum(head) - sum(head[_CHECKSUM]) + 8 * ord(" ") == int(given.translate(_OCTAL), 8)


_OCTAL = bytes.maketrans(b"89", b"00")  # digits that no header has


class _Unpacked:
    """The bytes that a stream unpacks, read by ranges."""

    path = ""
    identity = None

    def __init__(self, stream: IO[bytes], size: int | None, limits: _Limits) -> None:
        self._stream, self._limits = stream, limits
        self._cut = size is None or size > limits.size
        self._size = limits.size if size is None else min(size, limits.size)

    def __len__(self) -> int:
        return self._size

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return some of the bytes; fewer where they end or are damaged."""
        stop = self._size if stop is None else stop
        if self._cut and start >= self._size:
            self._limits.unpack(self._limits.size + 1)
        found = bytearray()
        try:
            at = self._stream.tell()
            # What goes back unpacks again from the beginning.
            self._limits.unpack(start - at if start >= at else start)
            self._stream.seek(start)
            while len(found) < stop - start:
                more = self._stream.read1(min(stop - start - len(found), _PIECE))  # type: ignore[attr-defined]  # all of them have it
                if not more:
                    break
                found += more
                self._limits.unpack(len(more))
        except _DAMAGED:
            pass
        return bytes(found)


def _buffered(source: Source, instead: bytes = b"", of: int = 0) -> io.BufferedReader:
    return io.BufferedReader(_Stream(source, instead, of), _PIECE)


class _Stream(io.RawIOBase):
    """A file as Python's readers want it, with other bytes instead of its first ones."""

    def __init__(self, source: Source, instead: bytes, of: int) -> None:
        self._source, self._at = source, 0
        self._instead, self._more = instead, len(instead) - of

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        end = len(self._source) + self._more
        before = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: end}
        self._at = offset + before[whence]
        if self._at < 0:
            raise ValueError("before the beginning")
        return self._at

    def readinto(self, into: WriteableBuffer) -> int:
        view = memoryview(into)
        piece = self._instead[self._at : self._at + len(view)]
        if not piece:
            start = self._at - self._more
            piece = self._source[start : start + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
