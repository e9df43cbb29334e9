"""What there is under paths: artifacts, told by content and by name, and everything else.

Nothing is ignored silently: each file is an artifact, or not judged with the reason, or
excluded by a rule, or one of the other files, which neither its content nor its name marks.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import translate
from functools import cache, partial
from typing import TYPE_CHECKING

from portable.containers.bundle import BLOBS, TOP
from portable.containers.container import NoArtifact
from portable.containers.excluding import excluded
from portable.containers.folder import Folder
from portable.containers.kind import (
    LAYOUT,
    MODEL,
    Kind,
    is_text,
    kind_of_directory,
    kind_of_file,
    kind_of_folder,
)
from portable.containers.opening import CONTAINERS, open_folder, open_path, open_source
from portable.containers.source import Source
from portable.containers.spelling import embedded, spelled
from portable.containers.unpacking import BEGINNING, NotUnpacked, unpacked
from portable.errors import PortableError
from portable.system.beneath import Listed, entries, is_beneath, opened_folder, place_of
from portable.system.files import FileError, InputFile, file_error, is_special

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from portable.containers.container import Container

__all__ = ["EXCLUDED_FOLDERS", "NAMES", "Fate", "Found", "NothingFound", "find", "look_at"]

NAMES = ("*.mlir.bc", "*.mlirbc", "*.exported", "*.bytecode")
"""What the names of artifacts look like, in upper or lower case."""

EXCLUDED_FOLDERS = frozenset(
    {
        ".eggs", ".git", ".hg", ".jj", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache",
        ".svn", ".tox", ".venv", "__pycache__", "node_modules",
    }
)  # fmt: skip
"""Folders that tools keep for themselves, which are not searched."""

_ARTIFACTS = {Kind.ARTIFACT, Kind.BYTECODE, *CONTAINERS}
# Files in which a directory is recognized as a container.
_FUNCTIONS = "functions"
_MARKS = (MODEL, _FUNCTIONS, LAYOUT)
_TOP = (MODEL, LAYOUT, TOP)
# SavedModels in forms that are not read.
_MODELS = {
    "saved_model.pbtxt": "a SavedModel in text form",
    "saved_model.cpb": "a SavedModel in chunks",
}
# What git has in place of a file that lies elsewhere; Git LFS takes its earlier names as well.
_POINTERS = {
    b"version https://git-lfs.github.com/spec/": "a Git LFS pointer",
    b"version https://hawser.github.com/spec/": "a Git LFS pointer",
    b"version http://git-media.io/": "a Git LFS pointer",
    b"/annex/objects/": "a git-annex pointer",
    b"../.git/annex/objects/": "a git-annex link",
    b"#$# git-fat ": "a git-fat pointer",
    b"# xet version ": "a Xet pointer",
}
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".br", ".zip", ".7z", ".z")
_POINTING = (".dvc",)

# How much of a file that is nothing else is searched for an artifact in it: of files in folders, of
# one alone (an object, of which that much is read anyway), and of what is in archives for one that
# is spelled otherwise.
_SCANNED, _SCANNED_ALONE, _SPELLED_INSIDE = 8 << 20, 32 << 10, 4 << 10
# Of characters that are looked at for endings: as many as the name of a file has.
_LONGEST_NAME = 255


class NothingFound(FileError):
    """A path that was named does not exist, or is a folder without artifacts."""


class Fate(Enum):
    """What becomes of a file."""

    ARTIFACT = "artifact"
    NOT_JUDGED = "not judged"
    EXCLUDED = "excluded"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Found:
    """One file or container under a path.

    Args:
        path: Where it is.
        fate: What becomes of it.
        container: What was opened; None when it is no artifact, or cannot be opened.
        error: Why it cannot be opened.
        why: Why it is not judged; the rule that excludes it.
    """

    path: str
    fate: Fate
    container: Container | None = None
    error: PortableError | None = None
    why: str = ""


def find(
    paths: Iterable[str | os.PathLike[str]],
    *,
    names: Sequence[str] = (),
    exclude: Sequence[str] = (),
    root: str | os.PathLike[str] = ".",
    changed: bool = False,
) -> Iterator[Found]:
    """Find everything under some paths, one file after another.

    Args:
        paths: Files, which are taken for artifacts whatever they are, and folders, which are
            searched. Links in folders are followed to files inside of that folder only.
        names: What other names of artifacts look like, beside `NAMES`.
        exclude: Patterns of what to leave out, as for `excluded`.
        root: What they are relative to; of a path elsewhere, they are relative to that path.
        changed: Take the paths for the files of a change: treat them as if they had been found in
            a folder, and those of a directory that is a container as that.

    Yields:
        Everything once, as the paths are ordered; the files of a folder before its subfolders. A
        path that is missing, or a folder without artifacts, is an ARTIFACT with an error.
    """
    search = _Search(names, exclude, os.fspath(root))
    seen: set[str] = set()
    for path in paths:
        name = os.fspath(path)
        if changed:
            name = _home(name)
        for found in search.changed(name) if changed else search.named(name):
            if found.path not in seen:
                seen.add(found.path)
                yield found


def look_at(path: str, opening: Callable[[], Source], names: tuple[str, ...] = ()) -> Found:
    """Determine what becomes of one file, wherever it is, by its content and its name.

    Args:
        path: What to call it.
        opening: Opens it.
        names: As for `find`.

    Returns:
        As `find` yields it.
    """
    if os.path.basename(path) == MODEL:
        return _model(path, opening) or Found(path, Fate.OTHER)
    return _plain_search(names).look(path, opening)


@dataclass(frozen=True, slots=True)
class _Alone(Folder):
    """The one file of a SavedModel that is looked into, wherever it is."""

    opening: Callable[[], Source] = field(kw_only=True)

    def source(self, inside: str) -> Source:
        del inside
        return self.opening()

    def has_file(self, inside: str) -> bool:
        return inside == MODEL


class _Search:
    """What marks an artifact, and what is excluded."""

    def __init__(
        self,
        names: Sequence[str],
        exclude: Sequence[str],
        root: str,
        scanned: int = _SCANNED,
    ) -> None:
        patterns = [translate(name.lower()) for name in (*NAMES, *names)]
        self._marks = re.compile("|".join(patterns)).match
        self._exclude = tuple(exclude)
        self._root = root
        self._scanned = scanned

    def named(self, path: str) -> Iterator[Found]:
        """Yield what a path that somebody named leads to."""
        folder = os.path.isdir(path)
        rule = self._rule(path, path, folder=folder)
        if rule:
            yield Found(path, Fate.EXCLUDED, why=rule)
        elif folder:
            empty = True
            for found in self._tree(path):
                empty = empty and found.fate not in {Fate.ARTIFACT, Fate.NOT_JUDGED}
                yield found
            if empty:
                error = NothingFound("no artifact in this folder", where=path, hint=_HINT)
                yield Found(path, Fate.ARTIFACT, error=error)
        elif not (is_special(path) or os.path.lexists(path)):
            error = NothingFound("no such file or folder", where=path)
            yield Found(path, Fate.ARTIFACT, error=error)
        else:
            yield _opened(path, partial(open_path, path))

    def changed(self, path: str) -> Iterator[Found]:
        """Yield what becomes of one file of a change; nothing when it was deleted."""
        link = os.path.islink(path)
        folder = os.path.isdir(path) and not link
        rule = self._rule(path, path, folder=folder)
        if rule:
            yield Found(path, Fate.EXCLUDED, why=rule)
        elif link:
            yield self._link(path, place_of("."), set())
        elif folder:
            yield from self._tree(path)
        elif os.path.lexists(path):
            with opened_folder(os.path.dirname(path) or ".") as here:
                yield self._file(path, partial(InputFile, path, folder=here))

    def _rule(self, path: str, top: str, *, folder: bool) -> str:
        """Return the pattern that excludes a path; nothing when there is none."""
        if not self._exclude:
            return ""
        inside = os.path.relpath(top, self._root)
        if inside == ".." or inside.startswith("../"):
            inside = os.path.basename(top) if path == top else "."
        inside = (inside + path[len(top) :]).removeprefix("./")
        return "" if inside == "." else excluded(inside, self._exclude, folder=folder)

    def marked(self, path: str) -> bool:
        """Say whether the name of a file is that of an artifact."""
        return self._marks(os.path.basename(path).lower()) is not None

    def _tree(self, top: str) -> Iterator[Found]:
        """Yield everything in a folder; without recursion, since folders nest deeper than that."""
        within, walked, links = place_of(top), set[str](), list[str]()
        folders, claimed, titles = [top], set[str](), dict[str, list[str]]()
        while folders:
            here, below = folders.pop(), list[str]()
            try:
                with opened_folder(here, within) as handle:
                    listed = entries(handle, here)
                    walked.add(within + here[len(top) :])
                    if any(entry.name in _MARKS for entry in listed):
                        for found in _directory(here, within, named=here == top):
                            files = getattr(found.container, "files", ())
                            claimed |= {f"{here}/{file}" for file in files}
                            called = getattr(found.container, "titles", {})
                            titles |= {f"{here}/{file}": names for file, names in called.items()}
                            yield found
                    for entry in listed:
                        path = entry.path
                        if path not in claimed:
                            later = links if entry.is_link else below
                            names = titles.get(path, ())
                            yield from self._entry(entry, top, handle, later, names)
                        elif not entry.is_link:  # what it leads to is looked at there
                            opening = partial(InputFile, path, folder=handle)
                            second = self._file(path, opening, judged=True)
                            yield from (second,) if second.fate is Fate.NOT_JUDGED else ()
            except OSError as error:
                yield Found(here, Fate.NOT_JUDGED, why=file_error("read", error, here).what)
            folders += reversed(below)
        yield from (self._link(path, within, walked) for path in links)

    def _entry(
        self, entry: Listed, top: str, here: int, later: list[str], called: Sequence[str]
    ) -> Iterator[Found]:
        """Yield what becomes of an entry of a folder, or keep it for later: a link, a folder."""
        path = entry.path
        rule = self._rule(path, top, folder=entry.is_folder)
        if not rule and entry.is_folder and entry.name in EXCLUDED_FOLDERS:
            rule = "by default"
        if rule:
            yield Found(path, Fate.EXCLUDED, why=rule)
        elif entry.is_folder or entry.is_link:
            later.append(path)
        else:
            opening = partial(InputFile, path, folder=here)
            yield self._file(path, opening, regular=entry.is_file, called=called)

    def _link(self, path: str, within: str, walked: set[str]) -> Found:
        """Follow a link to a file of the same tree; what lies in a folder of it was seen there."""
        target = os.path.realpath(path)
        if not os.path.exists(target):
            # Where the tree is used it may lead to something.
            return Found(path, Fate.NOT_JUDGED, why="a broken link")
        if os.path.isdir(target):
            if target in walked:
                return Found(path, Fate.OTHER)
            return Found(path, Fate.NOT_JUDGED, why="a link to a folder that is not searched")
        if not is_beneath(target, within):
            return Found(path, Fate.NOT_JUDGED, why="a link that leads out of the folder")
        return self._file(path, partial(InputFile, path, within))

    def _file(
        self,
        path: str,
        opening: Callable[[], InputFile],
        *,
        regular: bool = True,
        called: Sequence[str] = (),
        judged: bool = False,
    ) -> Found:
        """Determine by its content and its name what becomes of a file."""
        if not regular and not self.marked(path):
            return Found(path, Fate.OTHER)
        return self.look(path, lambda: Source(opening()), called=called, judged=judged)

    def look(
        self,
        path: str,
        opening: Callable[[], Source],
        *,
        called: Sequence[str] = (),
        judged: bool = False,
    ) -> Found:
        """Determine what becomes of a file once it is opened.

        Args:
            path: The file.
            opening: Opens it.
            called: Its other names, in the Versions of a bundle.
            judged: Whether it is judged already, as a part of a container; then it is looked for
                what else it can be read as.
        """
        try:
            source = opening()
            # Some file systems open it by any case.
            named = os.path.basename(path) != MODEL == os.path.basename(path).lower()
            if named and (found := _model(path, lambda: source)):
                return found
            kind = kind_of_file(source)
            if (judged or kind in _ARTIFACTS) and (why := self._packed(source, 0)):
                return Found(path, Fate.NOT_JUDGED, why=f"can be read in two ways, as {why}")
            if judged:
                return Found(path, Fate.OTHER)
            if kind in _ARTIFACTS or any(map(self.marked, (path, *called))):
                return _opened(path, partial(open_source, kind, source))
            why = self._hidden((path, *called), source)
        except (FileError, NotUnpacked) as error:
            return Found(path, Fate.NOT_JUDGED, why=error.what)
        except Exception as defect:  # noqa: BLE001 - as in `_opened`
            return Found(path, Fate.NOT_JUDGED, why=f"cannot be looked into: {defect!r:.200}")
        return Found(path, Fate.NOT_JUDGED if why else Fate.OTHER, why=why)

    def _hidden(self, names: Sequence[str], source: Source) -> str:
        """Say what keeps an artifact that is in a file from being read."""
        named = (self._named_otherwise(name, source) for name in names)
        return (
            next(filter(None, named), "")
            or self._packed(source, self._scanned)
            or self._held(source, self._scanned, self._scanned)
        )

    def _named_otherwise(self, path: str, source: Source) -> str:
        # No file has a longer name, but members of archives do, of very many endings.
        name = os.path.basename(path).lower()[-_LONGEST_NAME:]
        stem, suffix = os.path.splitext(name)
        while suffix:
            if self.marked(stem):
                if suffix in _COMPRESSED:
                    return "a compressed artifact"
                if suffix in _POINTING:
                    return "a pointer: what it stands for is not here"
                if len(source) and not is_text(source):
                    return "the name of an artifact and an ending; what it holds is not read"
            stem, suffix = os.path.splitext(stem)
        return _MODELS.get(name, "")

    def _held(self, source: Source, most: int, most_spelled: int) -> str:
        """Say what is in a file that is not packed."""
        if at := embedded(source, most):
            return f"a file with an artifact in it (at byte {at:,})"
        if way := spelled(source, most_spelled):
            return way
        head = source[: max(map(len, _POINTERS))]
        for begins, pointer in _POINTERS.items():
            if head.startswith(begins):
                return f"{pointer}: what it stands for is not here"
        return ""

    def _packed(self, source: Source, scanned: int) -> str:
        """Say what artifact is packed in a file; empty where none is."""
        for inside, one in unpacked(source, scanned):
            if self._is_artifact(inside, one):
                return (
                    f"an archive with an artifact ({inside})" if inside else "a compressed artifact"
                )
        return ""

    def _is_artifact(self, inside: str, source: Source) -> bool:
        model = os.path.basename(inside).lower() == MODEL
        return bool(
            (model and _model(inside, lambda: Source(source.read())))
            or self.marked(inside)
            or kind_of_file(source) in _ARTIFACTS
            or self._named_otherwise(inside, source)
            or self._held(source, BEGINNING, _SPELLED_INSIDE)
        )


@cache
def _plain_search(names: tuple[str, ...]) -> _Search:
    return _Search(names, (), ".", _SCANNED_ALONE)


_HINT = f"looked for MLIR bytecode, containers, and {', '.join(NAMES)}"


def _opened(path: str, opening: Callable[[], Container]) -> Found:
    try:
        return Found(path, Fate.ARTIFACT, opening())
    except PortableError as error:
        return Found(path, Fate.ARTIFACT, error=error)
    except Exception as defect:  # noqa: BLE001 - a defect of ours costs this file, not the others
        failed = PortableError(f"cannot be opened: {defect!r:.200}", where=path)
        return Found(path, Fate.ARTIFACT, error=failed)


def _model(path: str, opening: Callable[[], Source]) -> Found | None:
    """Return what a file is as that of a SavedModel, wherever it is; None without an artifact."""
    found = _opened(path, lambda: open_folder(_Alone(os.path.dirname(path), opening=opening)))
    return None if isinstance(found.error, NoArtifact) else found


def _directory(here: str, within: str, *, named: bool) -> Iterator[Found]:
    """Yield the container that a folder is, if it is one with artifacts or was named."""
    folder = Folder(here, within)
    if kind_of_folder(folder) in CONTAINERS:
        found = _opened(here, partial(open_folder, folder))
        if named or not isinstance(found.error, NoArtifact):
            yield found


def _home(path: str) -> str:
    """Return the directory that is a container with this file in it; the file itself otherwise."""
    folder, name = os.path.split(path)
    home = folder if name in _TOP else None
    for inner in (_FUNCTIONS, BLOBS):
        if f"/{folder}".endswith(f"/{inner}"):
            home = folder[: -len(inner)].rstrip("/")
    inside = home is not None and kind_of_directory(home or ".") in CONTAINERS
    return home or "." if inside else path
