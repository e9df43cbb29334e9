"""The bytes of one portable artifact, and what its header claims."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsBytes, TypeAlias

from portable.bytecode import HEADER_BYTES, MAGIC, read, read_header
from portable.bytecode.layouts import BUILTIN, VHLO
from portable.errors import PortableError
from portable.system.files import read_file, write_file

if TYPE_CHECKING:
    from portable.bytecode import Bytecode, Header
    from portable.version import Version

__all__ = ["Artifact", "ArtifactLike", "NotAnArtifact", "bytes_of", "is_portable", "peek"]


ArtifactLike: TypeAlias = (
    "Artifact | bytes | bytearray | memoryview | SupportsBytes | str | os.PathLike[str]"
)
"""What every call takes that takes an artifact: one, its bytes, or its path."""


class NotAnArtifact(PortableError):
    """The bytes are not a portable artifact; `found` says what they are."""

    def __init__(self, found: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(f"not a portable artifact but {found}", where=where, hint=hint)
        self.found = found


@dataclass(frozen=True, slots=True)
class Artifact:
    """One portable artifact: its bytes and its header.

    Args:
        data: The bytes, header included.
        header: The header, read from the bytes. It is a claim: the bytes may need more.
    """

    data: bytes
    header: Header

    @classmethod
    def from_bytes(cls, data: bytes, *, where: str | None = None) -> Artifact:
        """Read the header of a portable artifact.

        Args:
            data: The bytes.
            where: Their name in errors, for example the path.

        Returns:
            The artifact.

        Raises:
            NotAnArtifact: The bytes are empty, text, or some other kind of file.
            MalformedArtifact: They begin like MLIR bytecode, but the header is damaged.
        """
        if not data.startswith(MAGIC):
            raise _other_kind(data, where)
        header = read_header(data)
        if header.version is None and not is_portable(read(data)):
            raise NotAnArtifact(
                f"MLIR bytecode without a compatibility promise (producer {header.producer!r})",
                where=where,
                hint="use: portable pin PROGRAM --for SPEC -o FILE",
            )
        return cls(data, header)

    @classmethod
    def of(cls, what: ArtifactLike) -> Artifact:
        """Return the artifact that an argument of this library stands for.

        Args:
            what: An Artifact, its bytes, an Entry of a container, or a path.

        Returns:
            The artifact.

        Raises:
            FileError: The path cannot be read.
            NotAnArtifact: It is something else, for example a program or a container.
            MalformedArtifact: Its header is damaged.
        """
        if isinstance(what, Artifact):
            return what
        if isinstance(what, (str, os.PathLike)):
            return cls.load(what)
        return cls.from_bytes(bytes_of(what))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Artifact:
        """Read a portable artifact from a file.

        Args:
            path: The file.

        Returns:
            The artifact.

        Raises:
            FileError: The file cannot be read.
            NotAnArtifact: It holds something else.
            MalformedArtifact: Its header is damaged.
        """
        where = os.fspath(path)
        if "\n" in where:
            raise _other_kind(where.encode(errors="replace"), None)
        return cls.from_bytes(read_file(path), where=where)

    @property
    def version(self) -> Version | None:
        """The Version that the header claims; None for artifacts of early 2023, which name none."""
        return self.header.version

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        from hashlib import sha256

        return sha256(self.data).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the artifact atomically.

        Args:
            path: The file; it is replaced if it exists.

        Raises:
            FileError: The file cannot be written; nothing is left behind.
        """
        write_file(path, self.data)

    def __bytes__(self) -> bytes:
        return self.data

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<Artifact StableHLO {self.version or 'unknown'}, {len(self.data)} bytes>"


def bytes_of(what: bytes | bytearray | memoryview | SupportsBytes) -> bytes:
    """Return the bytes of an artifact or a container.

    Args:
        what: The bytes, an Artifact, or an Entry of a container.

    Raises:
        NotAnArtifact: It has no bytes, for example a module of the MLIR bindings.
    """
    if isinstance(what, (bytearray, memoryview, SupportsBytes)):
        return bytes(what)
    raise NotAnArtifact(
        f"an object of type {type(what).__name__}",
        hint="pass an Artifact, its bytes or its path; portable.pin writes one of a program",
    )


def peek(path: str | os.PathLike[str]) -> Header:
    """Read only the header of a file: 1 KB and 1 GB take the same time.

    Args:
        path: A file of MLIR bytecode.

    Returns:
        What it claims.

    Raises:
        FileError: The file cannot be read.
        MalformedArtifact: It does not start with a whole header.
    """
    return read_header(read_file(path, HEADER_BYTES))


def is_portable(content: Bytecode) -> bool:
    """Distinguish artifacts whose producer names no Version, as in early 2023, from plain bytecode.

    An artifact holds VHLO, and an empty module is the same in all dialects: every Release reads it.
    """
    dialects = {dialect.name for dialect in content.dialects}
    return VHLO in dialects or dialects <= {BUILTIN}


def _other_kind(data: bytes, where: str | None) -> NotAnArtifact:
    if not data:
        return NotAnArtifact("empty", where=where)
    head = data[:4096]
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as error:
        # A multi-byte character may be cut by the end of the sample.
        text = head[: error.start].decode("utf-8") if error.start > len(head) - 4 else "\0"
    if "\0" not in text:
        return NotAnArtifact(
            "text",
            where=where,
            hint="if it is a StableHLO program, write an artifact of it: "
            "portable pin PROGRAM --for SPEC -o FILE",
        )
    return NotAnArtifact(f"binary data (begins {data[:4].hex(' ')})", where=where)
