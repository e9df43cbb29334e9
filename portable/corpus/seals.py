"""Seals: the digest of every file that must never change again.

The manifest `case.toml` is not sealed: a known exception may be added to it when a Release that
ships later turns out to differ. Everything else of a Case is evidence.
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from portable.corpus.case import MANIFEST, CorpusError
from portable.system.files import read_file, write_file
from portable.system.holding import held
from portable.system.trees import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOVED", "SEALS", "Broken", "Defect", "Seals", "digest"]

SEALS = "SEALS"
# Folders that were renamed since they were sealed, a line each: the old name, the new one.
MOVED = "MOVED"
# Files of the corpus that say something about it and may change.
_UNSEALED = frozenset({SEALS, MOVED, MANIFEST, "coverage.toml", "README.md", "negative.toml"})


class Defect(enum.Enum):
    """What is wrong with a file."""

    CHANGED = "changed"
    MISSING = "missing"
    UNSEALED = "not sealed"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that does not agree with the seals.

    Args:
        path: The file, relative to the corpus.
        defect: What is wrong.
    """

    path: str
    defect: Defect


@dataclass(frozen=True, slots=True)
class Seals:
    """The digests of a corpus, in the format of `sha256sum`.

    Args:
        directory: The corpus.
        digests: sha256 by path relative to it.
    """

    directory: Path
    digests: dict[str, str]

    @classmethod
    def load(cls, directory: Path) -> Seals:
        """Read the seals of a corpus; none where it has no such file yet.

        Args:
            directory: The corpus.

        Returns:
            The seals.

        Raises:
            CorpusError: The file is malformed.
        """
        path = directory / SEALS
        digests: dict[str, str] = {}
        try:
            text = read_file(path).decode("utf-8") if path.exists() else ""
        except UnicodeDecodeError as error:
            raise CorpusError(f"byte {error.start} is not UTF-8", where=str(path)) from error
        for number, line in enumerate(text.split("\n")[:-1], 1):
            value, gap, name = line.partition("  ")
            if not gap or len(value) != 64 or name in digests:
                raise CorpusError("not a seal", where=f"{path}:{number}")
            digests[name] = value
        return cls(directory, digests)

    def verify(self) -> Iterator[Broken]:
        """Compare every file with its seal.

        Yields:
            What does not agree, by path.
        """
        present = {path.relative_to(self.directory).as_posix(): path for path in self.files()}
        for name in sorted(present.keys() | self.digests.keys()):
            if name not in present:
                yield Broken(name, Defect.MISSING)
            elif name not in self.digests:
                yield Broken(name, Defect.UNSEALED)
            elif digest(present[name]) != self.digests[name]:
                yield Broken(name, Defect.CHANGED)

    def completed(self) -> Seals:
        """Return these seals with those of the files that have none.

        Raises:
            CorpusError: A sealed file was changed or removed, or the name of a new one would not
                be one line of the seals.
        """
        for each in self.verify():
            if not each.path.isprintable():
                raise CorpusError(
                    "the file name has characters that cannot be printed",
                    where=str(self.directory / each.path),
                    hint="rename it",
                )
            if each.defect is not Defect.UNSEALED:
                raise CorpusError(
                    f"{each.defect} since it was sealed",
                    where=str(self.directory / each.path),
                    hint="restore it: what is sealed never changes",
                )
        added = {
            name: digest(path)
            for path in self.files()
            if (name := path.relative_to(self.directory).as_posix()) not in self.digests
        }
        return Seals(self.directory, {**self.digests, **added})

    @classmethod
    def complete(cls, directory: Path) -> tuple[Seals, list[str]]:
        """Seal the files of a corpus that are not sealed yet, one process at a time.

        Args:
            directory: The corpus.

        Returns:
            The seals as they are then, and the names of those that were added.

        Raises:
            CorpusError: As for `load` and `completed`.
            OSError: The seals cannot be written.
        """
        # The seals that another process adds meanwhile would be lost.
        with held(directory, wait=True):
            before = cls.load(directory)
            whole = before.completed()
            write_file(directory / SEALS, whole.text().encode())
        return whole, sorted(whole.digests.keys() - before.digests.keys())

    def files(self) -> Iterator[Path]:
        """Find the files that are to be sealed.

        Yields:
            Each, in no order.
        """
        for entry in walk(self.directory):
            path = Path(entry.path)
            hidden = any(part.startswith(".") for part in path.relative_to(self.directory).parts)
            # A link to a folder is one that no seal can be of.
            sealed = path.is_file() or entry.is_link
            if sealed and path.name not in _UNSEALED and not hidden:
                yield path

    def text(self) -> str:
        """Return the seals as the file has them."""
        return "".join(f"{value}  {name}\n" for name, value in sorted(self.digests.items()))


def digest(path: Path) -> str:
    """Return the sha256 of a file in hexadecimal."""
    return hashlib.sha256(read_file(path)).hexdigest()
