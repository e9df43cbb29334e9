"""Shared libraries, in files, archives and folders: read for the names in them, never loaded.

A wheel's members are read as they are unpacked, in pieces: memory stays flat, and an archive that
grows out of proportion is refused.
"""

from __future__ import annotations

import io
import os
import re
import struct
import sys
import zipfile
import zlib
from dataclasses import dataclass, field
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING

from portable.bytecode import vhlo
from portable.containers.kind import ARCHIVE, native_format
from portable.errors import PortableError
from portable.inspection.brackets import bracket, markers
from portable.inspection.extent import extent
from portable.system.beneath import place_of
from portable.system.files import InputFile, file_error
from portable.system.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.inspection.brackets import Bracket
    from portable.system.beneath import Listed

__all__ = ["NotARuntime", "Runtime", "read_runtime"]

_PIECE = 1 << 18
# Longer than any name that is looked for; what may lie across two pieces is seen in the second.
_NAME = 96
# deflate packs a library to a third or a fifth; what grows more is made to grow.
_GROWTH = 100
_FLOOR = 1 << 20
_MEMBERS = 100_000
# What zipfile raises over an archive whose sizes, offsets, names or methods are wrong.
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error),
    *(EOFError, IndexError, OverflowError, RuntimeError, ValueError),
)
# Wheels have no others; lzma takes as much memory as an archive says.
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}

# All that is looked for has an underscore: one pass finds the versioned names, the targets of
# custom calls, and of each dialect one op, as its registration spells it. Each branch begins with
# a letter, so that most underscores end in one comparison for each.
_END = rb"(?![0-9A-Za-z_])"
_NAMED = re.compile(
    rb"_(?:ffi\0|v[1-9][0-9]?%(end)b|add%(end)b|dependency%(end)b|in_dim%(end)b|computation%(end)b)"
    % {b"end": _END}
)
_BEFORE = re.compile(rb"[0-9A-Za-z_\-.]+\Z")
_OPS = frozenset(
    {
        "chlo.broadcast_add",
        "mhlo.add_dependency",
        "sdy.manual_computation",
        "stablehlo.broadcast_in_dim",
        "vhlo.abs_v1",
    }
)
# The names of values of enums, which have no number.
_CASES = tuple(name for name in markers() if name.isupper())


class NotARuntime(PortableError):
    """Nothing in it reads portable artifacts, as far as its strings show."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A shared library that reads StableHLO, as its strings show it.

    Args:
        path: The file, archive or folder that was named.
        member: The library inside of it; empty for a file.
        format: ELF, Mach-O or PE.
        size: Its bytes, unpacked.
        bracket: Between which Versions its own lies.
        dialects: Those of StableHLO and its neighbours whose ops it names.
        custom_calls: Targets of custom calls that it names, by the convention `NAME_ffi`.
        name: The distribution, where a wheel's file name has it.
        version: The distribution's version, as `name`.
        names: The versioned names in it.
    """

    path: str
    member: str
    format: str
    size: int
    bracket: Bracket
    dialects: tuple[str, ...] = ()
    custom_calls: tuple[str, ...] = ()
    name: str = ""
    version: str = ""
    names: frozenset[str] = field(default=frozenset(), repr=False)

    def record(self) -> dict[str, object]:
        """Return it as plain data for JSON."""
        return {
            "member": self.member,
            "format": self.format,
            "size": self.size,
            "confidence": "static",
            **self.bracket.record(),
            "dialects": list(self.dialects),
            "custom_calls": list(self.custom_calls),
            "distribution": self.name,
            "version": self.version,
        }


def read_runtime(source: str | os.PathLike[str] | bytes) -> Runtime:
    """Read which StableHLO a library has, without loading it.

    Args:
        source: A shared library (ELF, Mach-O, PE), an archive with some (`.whl`, `.aar`, `.zip`),
            or a folder: the path, or the bytes of a file.

    Returns:
        The library; of several the one with the most names of VHLO. Dialects and custom calls are
        those of all.

    Raises:
        NotARuntime: There is no library that names the ops of VHLO, or it is truncated; or an
            archive is damaged, encrypted, or grows out of proportion.
        FileError: It cannot be read.
    """
    where = "" if isinstance(source, bytes) else os.fspath(source)
    try:
        found = list(_libraries(source if isinstance(source, bytes) else where))
    except _DAMAGED as error:
        raise NotARuntime(f"the archive is damaged: {error}", where=where or None) from error
    except OSError as error:
        raise file_error("read", error, where) from error
    best = max(found, key=lambda one: sum(map(_is_op, one.names)), default=None)
    if best and best.size < best.extent:
        raise NotARuntime(
            f"truncated: it has {best.size:,} of {best.extent:,} bytes",
            where=f"{where}: {best.member}" if best.member else where or None,
        )
    between = bracket(best.names) if best else None
    if best is None or between is None:
        raise NotARuntime(
            f"none of its {len(found)} shared libraries names all ops of VHLO {vhlo.minimum()}",
            where=where or None,
            hint="name the wheel or the folder: another library in it may hold the compiler",
        )
    return Runtime(
        where,
        best.member,
        best.format,
        best.size,
        between,
        tuple(sorted({dialect for one in found for dialect in one.dialects})),
        tuple(sorted({call for one in found for call in one.custom_calls})),
        *_wheel(where),
        names=frozenset(best.names),
    )


class _Strings:
    """What one shared library names; filled piece by piece."""

    __slots__ = ("custom_calls", "dialects", "extent", "format", "member", "names", "size")

    def __init__(self, member: str, kind: str, head: bytes) -> None:
        self.member = member
        self.format = kind
        self.size = 0
        self.extent = extent(head)
        self.names: set[str] = set()
        self.dialects: set[str] = set()
        self.custom_calls: set[str] = set()

    def add(self, data: bytes) -> None:
        missing = (case for case in _CASES if case not in self.names)
        self.names.update(case for case in missing if case.encode() in data)
        for name in set(_identifiers(data)):
            if name in _OPS:
                self.dialects.add(name.partition(".")[0])
            if name.endswith("_ffi"):
                self.custom_calls.add(name)
            elif name[-1].isdigit():
                self.names.add(name)


def _libraries(source: str | bytes) -> Iterator[_Strings]:
    if isinstance(source, bytes):
        yield from _stream(io.BytesIO(source), "")
    elif not Path(source).is_dir():
        yield from _file(InputFile(source), "")
    else:
        within, before = place_of(source), os.path.join(source, "")
        for one in sorted(_below(source), key=attrgetter("path")):
            if one.is_file:
                yield from _file(InputFile(one.path, within), one.path.removeprefix(before))


def _below(folder: str) -> list[Listed]:
    """Return all that is in a folder; a policy may name any, also one with the whole disk in it."""
    found = list(islice(walk(folder), _MEMBERS + 1))
    if len(found) > _MEMBERS:
        raise NotARuntime(f"the folder has more than {_MEMBERS:,} members", hint="name a file")
    return found


def _file(file: InputFile, member: str) -> Iterator[_Strings]:
    if native_format(file[:4]):
        with open(file.fileno(), "rb", closefd=False) as stream:
            yield from _stream(stream, member)


def _stream(stream: IO[bytes], member: str) -> Iterator[_Strings]:
    archived = native_format(stream.read(4)) == ARCHIVE
    stream.seek(0)
    if not archived:
        yield from _read(stream, sys.maxsize, member)
        return
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        if len(members) > _MEMBERS:
            raise NotARuntime(f"the archive has {len(members):,} members", where=member or None)
        if len({one.filename for one in members}) < len(members):
            # Who installs it takes the last; who looks at it, perhaps the first.
            raise NotARuntime("the archive has a member twice", where=member or None)
        for one in members:
            if not one.is_dir():
                yield from _member(archive, one, f"{member}/{one.filename}".lstrip("/"))


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> Iterator[_Strings]:
    if member.flag_bits & 1:
        raise NotARuntime("the archive is encrypted", where=name)
    if member.compress_type not in _METHODS:
        raise NotARuntime(f"unsupported compression method {member.compress_type}", where=name)
    limit = _GROWTH * member.compress_size + _FLOOR
    with archive.open(member) as stream:
        for found in _read(stream, limit, name):
            if found.size > limit:
                raise NotARuntime(f"grows beyond {limit:,} bytes when unpacked", where=name)
            yield found


def _read(stream: IO[bytes], limit: int, member: str) -> Iterator[_Strings]:
    """Read a file in pieces, if it is a library, up to a limit."""
    piece = stream.read(_PIECE)
    kind = native_format(piece)
    if kind in {"", ARCHIVE}:  # an archive inside of an archive is not looked into
        return
    found, before = _Strings(member, kind, piece), b""
    while piece and found.size <= limit:
        data = before + piece
        found.add(data)
        found.size += len(piece)
        before = data[-_NAME:]
        piece = stream.read(_PIECE)
    yield found


def _identifiers(data: bytes) -> Iterator[str]:
    """Yield the text before each match and the match, if it is a name."""
    for match in _NAMED.finditer(data):
        start, stop = match.span()
        before = _BEFORE.search(data, max(0, start - _NAME), start)
        if before:
            yield data[before.start() : stop].rstrip(b"\0").decode("ascii")


def _is_op(name: str) -> bool:
    return name.startswith("vhlo.")


def _wheel(where: str) -> tuple[str, str]:
    """Return the distribution and the version in the name of a wheel."""
    parts = Path(where).name.split("-")
    return (parts[0], parts[1]) if where.endswith(".whl") and len(parts) >= 5 else ("", "")
