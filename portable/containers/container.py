"""What every Container can do, whatever it is on the disk."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from io import FileIO

    from portable.artifact import Artifact
    from portable.bytecode.view import View
    from portable.containers.kind import Kind
    from portable.containers.source import Source

__all__ = [
    "Container",
    "Edits",
    "Entry",
    "MalformedContainer",
    "NoArtifact",
    "NotAContainer",
    "Opener",
    "TooLarge",
    "UnknownEntry",
    "demanded",
    "place",
    "readers_of",
    "shown",
]


Edits: TypeAlias = "Mapping[str, Callable[[FileIO], object] | None]"
"""What writes the files of a copy that are not as before, by their paths; None to leave one out."""


class MalformedContainer(PortableError):
    """A container is damaged, half written, or has content that is not allowed.

    Args:
        what: What is wrong.
        offset: The byte at which it was found; None if it concerns more than one byte.
        where: The file, when it is one of several in a directory.
        hint: What to do next.
    """

    def __init__(
        self,
        what: str,
        offset: int | None = None,
        *,
        where: str | None = None,
        hint: str = "the container is damaged or incomplete: export or obtain it again",
    ) -> None:
        places = [where, None if offset is None else f"byte {offset}"]
        super().__init__(what, where=": ".join(filter(None, places)) or None, hint=hint)
        self.offset = offset

    def at(self, path: str) -> MalformedContainer:
        """Return the same error with the path in front of the place inside."""
        if path:
            self.where = f"{path}: {self.where}" if self.where else path
        return self


class NotAContainer(PortableError):
    """The path is not a container; `kind` says what it is."""

    def __init__(self, kind: Kind, *, directory: bool = False, where: str | None = None) -> None:
        super().__init__(
            "is a directory, not a container" if directory else f"not a container ({kind})",
            where=where,
            hint="a container has saved_model.pb or functions/NAME.meta" if directory else None,
        )
        self.kind = kind


class NoArtifact(PortableError):
    """The container is valid, but has no portable artifact."""


class UnknownEntry(PortableError):
    """The container has no artifact of that name."""


class TooLarge(PortableError):
    """The container's format cannot hold the new artifacts."""


@dataclass(frozen=True, slots=True)
class Opener:
    """Which Releases of a framework open a container, as measured; of all others it is not known.

    Args:
        framework: The distribution.
        opens: Specifier of the Releases that open it; empty where none is known.
        refuses: Specifier of those that do not; empty where none is known.
        form: Which form of the container, in words.
        alone: Whether the artifacts can be changed by nothing else: they are not separate files.
        platforms: For which platforms the program was exported, as `cpu` and `cuda`: the framework
            refuses to execute it on others. Empty for any.
    """

    framework: str
    opens: str
    refuses: str
    form: str
    alone: bool = True
    platforms: tuple[str, ...] = ()

    @property
    def readers(self) -> tuple[str, ...]:
        """The Releases that open it, as requirement specifiers."""
        return (self.framework + self.opens,) if self.opens else ()


# What one request brings.
_LARGE = 64 << 10


@dataclass(frozen=True, slots=True)
class Entry:
    """One artifact inside a container.

    Args:
        name: Its name there, unique in the container; empty for a file that is no container.
        source: The file that it is in.
        start: Its first byte there.
        stop: Behind its last byte.
        versions: What the container says about this artifact, by the name of each number.
        has_text: Whether the container keeps the program as MLIR text beside it.
        opener: Which Releases open the container that it is in; None for a plain file.
        member: Of a bundle, the Version that it belongs to: a consumer needs the artifacts of one.
    """

    name: str
    source: Source
    start: int
    stop: int
    versions: Mapping[str, str] = field(default_factory=dict)
    has_text: bool = False
    opener: Opener | None = None
    member: str = ""

    def __repr__(self) -> str:
        return f"<Entry {self.name!r}, {self.stop - self.start} bytes>"

    @property
    def data(self) -> bytes:
        """Its bytes, read from the file each time.

        Raises:
            FileError: They cannot be read.
        """
        return self.source.read(self.start, self.stop)

    def view(self) -> bytes | View:
        """Return its bytes; of a large object of a server, what reads those that are looked at.

        Raises:
            FileError: As `data`.
        """
        size = self.stop - self.start
        if size <= _LARGE or not self.source.is_far:
            return self.data
        from portable.bytecode.view import View

        start = self.start
        return View(size, lambda first, last: self.source.read(start + first, start + last))

    def head(self, size: int) -> bytes:
        """Return its first bytes, without reading the others.

        Args:
            size: How many at most.

        Raises:
            FileError: As `data`.
        """
        return self.source.read(self.start, min(self.start + size, self.stop))

    def __bytes__(self) -> bytes:
        return self.data


class Container(Protocol):
    """A file or a directory with artifacts inside.

    Attributes:
        kind: What it is.
        path: Where it is; empty for one in memory.
        versions: Its version numbers, by name; none of them is a StableHLO Version.
        opener: Which releases of its framework open it; None for a plain file. Whether they read
            the artifacts inside is another question.
        warnings: Oddities that leave it readable.
        files: The files in a directory that its artifacts are in, as paths inside.
    """

    kind: Kind
    path: str
    versions: Mapping[str, str]
    opener: Opener | None
    warnings: tuple[str, ...]
    files: tuple[str, ...]

    def artifacts(self) -> tuple[Entry, ...]:
        """Return the artifacts inside, in the order of the file; there is at least one."""

    def widened(self) -> Opener | str:
        """Return which releases open a copy with a wider envelope, or why there is no such copy."""

    def edits(
        self,
        artifacts: Mapping[str, bytes | Artifact],
        *,
        texts: Mapping[str, str] = field(default_factory=dict),
        widen: bool = False,
    ) -> Edits:
        """Return the changes in a copy that `replace` writes.

        Args:
            artifacts: As for `replace`.
            texts: As for `replace`.
            widen: As for `replace`.

        Returns:
            What writes each file that is not copied, by its path inside; None for one that is left
            out. The path of a file that is no directory is empty.

        Raises:
            UnknownEntry: A name is not in the container.
            TooLarge: Its format cannot hold them.
        """

    def replace(
        self,
        artifacts: Mapping[str, bytes | Artifact],
        *,
        to: str | os.PathLike[str],
        texts: Mapping[str, str] = field(default_factory=dict),
        widen: bool = False,
    ) -> None:
        """Write a copy with some artifacts, and their descriptions, replaced.

        Args:
            artifacts: The new artifacts, by the names of the Entries; the others stay as they are.
            to: The path of the copy, written atomically. An existing file is replaced; a directory
                must be empty. It cannot be the container itself, which is not changed.
            texts: The programs of new artifacts as MLIR text, for Entries that have one; without
                it the old text is left out, because it is none of the new artifact's.
            widen: Whether to write the envelope that `widened` describes, which holds all that the
                old one holds.

        Raises:
            UnknownEntry: A name is not in the container.
            FileError: The copy cannot be written, or the original changed meanwhile; nothing is
                left behind.
        """


def shown(container: Container) -> str:
    """Return a container in one line, as its `__repr__`."""
    where = f" {container.path!r}" if container.path else ""
    return f"<{type(container).__name__}{where}, {len(container.artifacts())} artifacts>"


def readers_of(container: Container) -> tuple[str, ...]:
    """Return the releases that open a container, as requirement specifiers."""
    return container.opener.readers if container.opener else ()


def place(path: str | os.PathLike[str], name: str) -> str:
    """Return what to call an artifact in messages: its path, and its name in a container."""
    return ": ".join(filter(None, (os.fspath(path), name)))


def demanded(container: Container, artifacts: Mapping[str, bytes | Artifact]) -> dict[str, bytes]:
    """Return the bytes of the artifacts that are to be put into a container.

    Args:
        container: The container.
        artifacts: Name -> artifact.

    Raises:
        UnknownEntry: The container has no such name.
    """
    names = dict.fromkeys(entry.name for entry in container.artifacts())
    for name in artifacts:
        if name not in names:
            raise UnknownEntry(
                f"has no artifact {name!r}",
                where=container.path,
                hint=f"it has {', '.join(names)}",
            )
    return {name: bytes(artifact) for name, artifact in artifacts.items()}
