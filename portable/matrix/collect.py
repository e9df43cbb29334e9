"""From paths to Items: artifacts, folders of them, Cases, a corpus."""

from __future__ import annotations

import enum
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.containers.container import place
from portable.containers.finding import Fate, NothingFound, find
from portable.corpus import case_folders, load_case, load_corpus
from portable.errors import PortableError
from portable.matrix.item import Item, NothingToTest, TensorFile
from portable.releases import find_release
from portable.system.files import FileError, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from portable.containers import Container
    from portable.corpus import Case, Sealed
    from portable.version import Version

__all__ = ["Pick", "case_items", "collect"]

_MANIFEST = "case.toml"


class Pick(enum.Enum):
    """Which of the sealed artifacts of a Case."""

    ALL = "all"
    ENDS = "ends"  # of each Case the one of the lowest and the one of the highest Version
    LOWEST = "lowest"

    def __str__(self) -> str:
        return self.value


def collect(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, pick: Pick = Pick.ALL
) -> tuple[Item, ...]:
    """Find the artifacts of a matrix.

    Args:
        paths: One or several: artifacts, containers of them, folders that are searched for both,
            Cases (a folder with `case.toml`) and corpora (a folder of Cases). A sealed artifact
            that is named alone is still its Case's.
        pick: Which sealed artifacts of a Case to take.

    Returns:
        The items, in the order of the paths.

    Raises:
        NothingToTest: A path holds none.
        MalformedContainer: A container is damaged.
        FileError: A path does not exist or cannot be read.
        NotAnArtifact: A file is something else.
        CorpusError: A Case is malformed.
    """
    found: list[Item] = []
    for path in map(Path, [paths] if isinstance(paths, (str, os.PathLike)) else paths):
        items = list(_items(path, pick))
        if not items:
            raise NothingToTest(
                "no artifact and no Case found",
                where=str(path),
                hint=f"searched for artifacts (by content and name) and {_MANIFEST}",
            )
        found += items
    return tuple(found)


def _items(path: Path, pick: Pick) -> Iterator[Item]:
    if (path / _MANIFEST).exists():
        yield from case_items(load_case(path), pick)
    elif case_folders(path):
        for case in load_corpus(path):
            yield from case_items(case, pick)
    else:
        for found in find([path]):
            if found.error is not None:
                if isinstance(found.error, NothingFound) and path.is_dir():
                    return
                raise found.error
            if found.fate is Fate.NOT_JUDGED:
                raise FileError(
                    found.why, where=found.path, hint="remove it, or give the other paths"
                )
            if found.container is not None:
                yield from _sealed(type(path)(found.path)) or _opened(found.container)


def _sealed(file: Path) -> list[Item]:
    """Return a sealed artifact as what its Case makes of it; nothing where there is no Case."""
    home = file.parent.parent
    if not (home / _MANIFEST).exists():
        return []
    return [item for item in case_items(load_case(home), Pick.ALL) if file.samefile(item.path)]


def _opened(container: Container) -> Iterator[Item]:
    for entry in container.artifacts():
        label = place(container.path, entry.name)
        artifact = Artifact.from_bytes(entry.data, where=label)
        yield Item(label, container.path, artifact.digest, artifact.version, entry.name)


def case_items(case: Case, pick: Pick) -> Iterator[Item]:
    """Return the sealed artifacts of a Case that is loaded already.

    Args:
        case: The Case.
        pick: Which of them.

    Yields:
        The items, from the lowest Version to the highest.
    """
    inputs = tuple(TensorFile(str(tensor.path), tensor.dtype) for tensor in case.inputs)
    expected = tuple(TensorFile(str(tensor.path), tensor.dtype) for tensor in case.expected)
    for sealed in _picked(case.artifacts, pick):
        producer, version = _producer(sealed.producer)
        yield Item(
            name=f"{case.name} {sealed.target} by {sealed.producer}",
            path=str(sealed.path),
            digest=hashlib.sha256(read_file(sealed.path)).hexdigest(),
            claimed=sealed.target,
            producer=producer,
            producer_version=version,
            case=case.name,
            # Without expected outputs an execution shows nothing.
            inputs=inputs if expected else None,
            expected=expected,
            relative=case.tolerance.relative,
            absolute=case.tolerance.absolute,
        )


def _picked(artifacts: tuple[Sealed, ...], pick: Pick) -> tuple[Sealed, ...]:
    if pick is Pick.ALL or len(artifacts) <= 1:
        return artifacts
    return artifacts[:1] if pick is Pick.LOWEST else (artifacts[0], artifacts[-1])


def _producer(name: str) -> tuple[str, Version | None]:
    """Read `jaxlib-0.4.13`, as a sealed file names its producer."""
    distribution, _, version = name.rpartition("-")
    known = f"{distribution} {version}"
    try:
        return known, find_release(known).current
    except PortableError:
        return known, None
