"""What is in compressed files and in archives, unpacked no further than somebody looks."""

from __future__ import annotations

import importlib
import io
import itertools
import lzma
import re
import struct
import zlib
from typing import IO, TYPE_CHECKING

from portable.containers.source import Source
from portable.containers.spelling import pieces
from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zipfile import ZipInfo

    from _typeshed import WriteableBuffer

__all__ = ["BEGINNING", "NotUnpacked", "unpacked"]

BEGINNING = 16 << 10
"""So much of the beginning of a member is unpacked once, however often it is looked at."""

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
    b"\x02\x21\x4c\x18": "lz4",
    b"\x89LZO\0\r\n\x1a\n": "lzop",
    b"LRZI": "lrzip",
    b"RZIP": "rzip",
    b"7kSt\xa0\x31": "zpaq",
    b"ZOO ": "zoo",
    b"SIT!": "StuffIt",
    b"MSCF\0\0\0\0": "cab",
    b"MSWIM\0\0\0": "wim",
    b"xar!": "xar",
    b"hsqs": "squashfs",
    b"sqsh": "squashfs",
    b"DWARFS": "dwarfs",
    b"!<arch>\ndebian-binary": "deb",
    b"\xed\xab\xee\xdb": "rpm",
    b"# v2 git bundle\n": "a bundle of git",
    b"# v3 git bundle\n": "a bundle of git",
    b"PACK\0\0\0\2": "a pack of git",
    b"\x1f\x1e": "pack",
    b"\x1f\xa0": "lzh",
    b"\x1f\x9f": "freeze",
    **{bytes([number]) + b"\xb5\x2f\xfd": "an old zstd" for number in (0x1E, *range(0x22, 0x28))},
    b"BZ3v1": "bzip3",
    b"\x06\x22\x4d\x18": "lizard",
    b"ALZ\1": "alz",
    b"EGGA": "egg",
    b"RE~^": "rar",
    b"zPQ\1": "zpaq",
    b"bvx": "lzfse",
    b"SZDD\x88\xf0\x27\x33": "compress of MS-DOS",
    b"KWAJ\x88\xf0\x27\xd1": "compress of MS-DOS",
    b"ISc(": "InstallShield",
    b"QFI\xfb": "a disk image",
    b"KDMV": "a disk image",
    b"LUKS\xba\xbe": "an encrypted file",
    b"Salted__": "an encrypted file",
    b"age-encryption.org/": "an encrypted file",
    b"-----BEGIN AGE ENCRYPTED FILE-----": "an encrypted file",
    b"-----BEGIN PGP MESSAGE-----": "an encrypted file",
    b"$ANSIBLE_VAULT;": "an encrypted file",
    b"(This file must be converted with BinHex": "BinHex",
    b"=ybegin ": "yEnc",
}
_UNREAD_MAGICS = tuple(_UNREAD)
# What is known by more than how it begins.
_UNREAD_FORMS = {
    "lha": re.compile(rb"..-(?:lh|lz|pm)[0-9a-z]-", re.DOTALL),
    # The size of a header, at most 2,600, and that of its first part, 30 or more.
    "arj": re.compile(rb"\x60\xea.[\0-\x0a][\x1e-\x40]", re.DOTALL),
    "ace": re.compile(rb".{7}\*\*ACE\*\*", re.DOTALL),
}
# How what is packed begins in other files; patterns that begin with one byte are found fastest.
_DEFLATED = re.compile(rb"x[\x01\x5e\x9c\xda]")
_MEMBER = re.compile(rb"PK\x03\x04(?=.{4}\x08\0)", re.DOTALL)
_MAGICS = {
    re.compile(rb"\x1f\x8b\x08"): "gzip",
    re.compile(rb"BZh[1-9]1AY&SY"): "bz2",
    re.compile(rb"\xfd7zXZ\0"): "lzma",
    _DEFLATED: "gzip",
    _MEMBER: "gzip",
}
# So many bytes, of which a table of codes may be 300, tell whether something is packed, and give so
# many: no artifact has fewer.
_TRIED, _SHORT = 400, 32
# What is packed as deflate alone begins a file, or follows its size of four or eight bytes.
_SIZES = (0, 4, 8)
# How base64 and hexadecimal spell the beginnings, and as much of such a text as is looked at.
_BASE64_TEXT = rb"(?:[\w+/-]|\s|\\n){60,12000}"
_HEXADECIMAL_TEXT = rb"(?:[0-9a-f]|\s){80,24000}"
_SPELLED = (
    *(
        re.compile(begins + _BASE64_TEXT)
        for begins in (
            *(rb"H4sI", rb"e(?:J[w-z]|N[o-r]|F[4-7]|A[E-H])", rb"UEsDB", rb"QlpoO"),
            *(rb"/Td6WF", rb"_Td6WF"),
        )
    ),
    *(
        re.compile(rb"(?P<hex>)" + begins + _HEXADECIMAL_TEXT)
        for begins in (rb"1f8b08", rb"78(?:9c|da|5e|01)", rb"504b0304", rb"425a68", rb"fd377a58")
    ),
)
# How patches of git have binary files: packed as zlib, in lines that begin with their length.
_PATCHED = tuple(
    re.compile(sort + rb" \d{1,20}+\r?\n(?P<git>(?:[A-Za-z][!-~]{5,65}\r?\n){1,200})")
    for sort in (b"literal", b"delta")
)
_BASE64 = bytes.maketrans(b"-_", b"+/")
_ZIP, _ZIP_LISTED, _ZIP_END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_ZIP_TAIL = 22 + 65_535
# What stands before a member: flags, method, checksum, both sizes, and how long two names are.
_ZIP_LOCAL = struct.Struct("<4s2xHH4xIIIHH")
# With this flag the checksum and the sizes stand behind the member; the largest says: elsewhere.
_ZIP_LATER, _ZIP_BEHIND, _ZIP_ELSEWHERE = 8, 24, 0xFFFFFFFF
# Methods have lower numbers, and none makes more of what it cannot pack.
_ZIP_NEWEST, _ZIP_PACKED = 100, 64
_ZIP_METHODS = {0, 8, 12}  # stored, deflate, bzip2; LZMA takes as much memory as an archive says
_BLOCK, _CHECKSUM = 512, slice(148, 156)  # of tar
# How much of a file tells what it is packed as, and of a member what is packed behind.
_SAMPLE = 4096
_DAMAGED = (EOFError, OSError, MemoryError, zlib.error, lzma.LZMAError)
# What zipfile and tarfile raise besides over wrong sizes, offsets, names and methods.
_MALFORMED = (*_DAMAGED, IndexError, OverflowError, RuntimeError, ValueError, struct.error)
_PIECE = 1 << 16

# What a file may unpack to: deflate packs to no less than a thousandth, and models to a half.
_FLOOR, _GROWTH = 8 << 20, 100
# An archive spends about as many bytes on each member.
_MEMBERS, _MEMBER_BYTES = 1000, 64
_DEEPEST = 4
# How much of the path of a member is kept: it may be as long as a file, and compresses well.
_LONGEST_NAME = 1000


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


def unpacked(source: Source, most: int) -> Iterator[tuple[str, Source]]:
    """Find everything in a compressed file or an archive, and in what is packed inside of that.

    Nothing is unpacked before it is read. Work and memory are linear in the size of the file.

    Args:
        source: Any file.
        most: How many of its bytes are searched for what is packed behind something else.

    Yields:
        The path of a member inside, which is empty for what is compressed alone, and its bytes,
        which can be read until the next one is taken; fewer where they are damaged.

    Raises:
        FileError: It cannot be read.
        NotUnpacked: The rest cannot be looked into.
    """
    size = 0 if source.is_far else len(source)  # far away, each piece is a request
    limits = _Limits(_FLOOR + _GROWTH * size, _MEMBERS + size // _MEMBER_BYTES)
    yield from _inside(source, "", limits, _DEEPEST, most, tail=not source.is_far)


def _inside(
    source: Source, path: str, limits: _Limits, deeper: int, most: int, *, tail: bool = False
) -> Iterator[tuple[str, Source]]:
    for name, stream, size in _opened(source, most, tail=tail, raw=deeper > 0):
        limits.enter()
        if not deeper:
            raise NotUnpacked(f"is packed more than {_DEEPEST} times")
        one = Source(_Unpacked(stream, size, limits))
        inner = f"{path}/{name}".strip("/")
        if len(inner) > _LONGEST_NAME:
            inner = f"...{inner[-_LONGEST_NAME:]}"
        yield inner, one
        yield from _inside(one, inner, limits, deeper - 1, _SAMPLE)


def _opened(
    source: Source, most: int, *, tail: bool, raw: bool
) -> Iterator[tuple[str, IO[bytes], int | None]]:
    """Yield the name of each member, a stream of it, and its size where that is known."""
    head = source[:_SAMPLE]
    if unread := _unread(head):
        raise NotUnpacked(f"is packed as {unread}, which is not read")
    if name := _compression(head):
        packed = _buffered(source, _GZIP, _ZLIB) if name == "zlib" else _buffered(source)
        with importlib.import_module("gzip" if name == "zlib" else name).open(packed) as stream:
            yield "", stream, None
    elif raw:  # by chance a file of one byte, repeated, can be read so however often
        yield from _raw(source, head)
    archived = head.startswith((_ZIP, _ZIP_END))
    if archived or (tail and _ZIP_END in source[-_ZIP_TAIL:]):
        yield from _zipped(source, sure=archived)
    # As tar does, look behind headers that are damaged.
    elif any(_is_tar(head[at : at + _BLOCK]) for at in range(0, len(head), _BLOCK)):
        yield from _tarred(source)
    else:
        yield from _behind(source, most)


def _raw(source: Source, head: bytes) -> Iterator[tuple[str, IO[bytes], int]]:
    """Yield what is packed as deflate alone, as far as it can be read so: nothing marks it."""
    for at in _SIZES:
        if _inflates(head[at : at + _TRIED]):
            packed = _buffered(source, _GZIP, at)
            with importlib.import_module("gzip").open(packed) as stream:
                yield "", stream, _FLOOR


def _behind(source: Source, most: int) -> Iterator[tuple[str, IO[bytes], int | None]]:
    """Yield what is packed behind something else: a program, a picture, a document, a text."""
    for begin, piece in pieces(source, most):
        for magic, name in _MAGICS.items():
            for match in magic.finditer(piece):
                at, head = match.start(), b""
                if magic in {_MEMBER, _DEFLATED}:
                    head, at = _GZIP, _content(piece, at) if magic is _MEMBER else at + _ZLIB
                # What begins the file is read as that.
                if not begin + match.start() or (head and not _inflates(piece[at : at + _TRIED])):
                    continue
                packed = _buffered(source, head, begin + at)
                with importlib.import_module(name).open(packed) as stream:
                    yield f"at byte {begin + match.start():,}", stream, _FLOOR
        for match in itertools.chain.from_iterable(
            one.finditer(piece) for one in (*_SPELLED, *_PATCHED)
        ):
            # Not at the beginning, where it would be taken for the file itself.
            yield from _behind(Source(b"." + _decoded(match)), len(match[0]))


def _content(piece: bytes, at: int) -> int:
    """Return where the content of a member of a zip archive begins."""
    fields = piece[at : at + _ZIP_LOCAL.size].ljust(_ZIP_LOCAL.size, b"\xff")
    names: tuple[int, ...] = _ZIP_LOCAL.unpack(fields)[-2:]
    return at + _ZIP_LOCAL.size + sum(names)


def _inflates(data: bytes) -> bool:
    """Say whether the first bytes are packed as deflate, as few others are."""
    try:
        return len(zlib.decompressobj(-15).decompress(data, _SHORT)) == _SHORT
    except zlib.error:
        return False


def _decoded(match: re.Match[bytes]) -> bytes:
    """Return what is encoded in a text, as far as it is whole."""
    if "git" in match.groupdict():
        return b"".join(map(_patched, match["git"].splitlines()))
    text = match[0].replace(b"\\n", b"").translate(_BASE64, b" \t\r\n\\,;:'\"")
    if "hex" in match.groupdict():
        return bytes.fromhex(text[: len(text) // 2 * 2].decode())
    from base64 import b64decode  # takes a millisecond

    return b64decode(text[: len(text) // 4 * 4])


def _patched(row: bytes) -> bytes:
    """Return what a line of a patch has, which is filled up to four bytes; nothing if it is none.

    Its length is A to Z for 1 to 26 bytes, and a to z for 27 to 52.
    """
    from base64 import b85decode

    size = row[0] - (64 if row[0] < ord("a") else 70)
    try:
        return b85decode(row[1:])[:size]
    except ValueError:
        return b""


def _unread(head: bytes) -> str:
    """Name the packing of what begins so, where it is one that is not read; empty otherwise."""
    if head.startswith(_UNREAD_MAGICS):  # hardly any file: all of them are asked at once
        return next(name for magic, name in _UNREAD.items() if head.startswith(magic))
    return next((name for name, form in _UNREAD_FORMS.items() if form.match(head)), "")


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
    file = _buffered(source)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, *_MALFORMED) as error:
        if sure or _ZIP_LISTED in source[-_ZIP_TAIL:]:
            raise NotUnpacked("an archive that cannot be read") from error
        return
    with archive:
        spans = []
        for member in archive.infolist():
            spans.append(_span(file, member))
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
        _demand_listed(source, spans, archive.start_dir, sure=sure)


def _span(file: IO[bytes], member: ZipInfo) -> tuple[int, int, int]:
    """Return where a member of an archive lies, and how many bytes of its own may follow.

    Some readers believe what stands before it, others the directory at the end of the archive.
    """
    file.seek(max(0, member.header_offset))
    head = file.read(_ZIP_LOCAL.size)
    if len(head) < _ZIP_LOCAL.size or not head.startswith(_ZIP):
        raise NotUnpacked("an archive that cannot be read")
    _, flags, method, checksum, packed, size, *names = _ZIP_LOCAL.unpack(head)
    later = flags & _ZIP_LATER
    said = ((packed, member.compress_size), (size, member.file_size), (checksum, member.CRC))
    if (
        method != member.compress_type
        or not (later or all(one in {_ZIP_ELSEWHERE, other} for one, other in said))
        or member.compress_size > 2 * member.file_size + _ZIP_PACKED
    ):
        raise NotUnpacked("an archive that says two things of a member")
    end = member.header_offset + len(head) + sum(names) + member.compress_size
    return member.header_offset, end, _ZIP_BEHIND if later else 0


def _demand_listed(
    source: Source, spans: list[tuple[int, int, int]], end: int, *, sure: bool
) -> None:
    """Refuse an archive that holds more than the members that its directory lists."""
    spans = [*sorted(spans), (end, end, 0)]
    start = 0 if sure else spans[0][0]
    # What is before an archive that is appended to something may be another one.
    before = source[: min(start, _FLOOR)]
    at = before.find(_ZIP)
    while at >= 0:
        head = before[at : at + _ZIP_LOCAL.size]
        if len(head) == _ZIP_LOCAL.size and _ZIP_LOCAL.unpack(head)[2] < _ZIP_NEWEST:
            raise NotUnpacked("an archive behind another")
        at = before.find(_ZIP, at + 1)
    behind = 0
    for begin, stop, more in spans:
        if begin > start + behind:
            raise NotUnpacked("an archive with bytes that its directory does not list")
        start, behind = max(start, stop), more


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
        self._head = b""

    def __len__(self) -> int:
        return self._size

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        """Return some of the bytes; fewer where they end or are damaged."""
        stop = self._size if stop is None else stop
        if stop <= BEGINNING:
            self._head = self._head or self._read(0, min(BEGINNING, self._size))
            return self._head[start:stop]
        return self._read(start, stop)

    def _read(self, start: int, stop: int) -> bytes:
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
        except Exception as error:  # all but zipfile's own is raised again
            from zipfile import BadZipFile  # takes milliseconds

            if isinstance(error, BadZipFile):
                raise NotUnpacked("an archive with a damaged member") from error
            raise
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
