"""From a path to the artifacts there: one way, for containers and for plain files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from portable.containers.container import MalformedContainer, NotAContainer, place
from portable.containers.kind import MARKS, Kind, kind_of_file, kind_of_folder
from portable.containers.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from portable.artifact import Artifact
    from portable.containers.container import Container
    from portable.containers.folder import Folder

__all__ = [
    "CONTAINERS",
    "artifacts_in",
    "open_container",
    "open_folder",
    "open_path",
    "open_source",
    "open_version",
]


# Which module opens which kind of container, with a function `open_container` of the file (a
# `Source`) or of the directory (a `Folder`); that of a bundle takes too what opens a Version in it.
CONTAINERS = {
    Kind.EXPORTED: "portable.containers.exported",
    Kind.SAVED_MODEL: "portable.containers.saved_model",
    Kind.TORCH_XLA: "portable.containers.torch_xla",
    Kind.BUNDLE: "portable.containers.bundle",
}


def open_path(source: str | os.PathLike[str] | bytes) -> Container:
    """Open a path: a container, or a file that is itself one program.

    Only the parts that lead to the artifacts are read.

    Args:
        source: A path, or a file's bytes.

    Returns:
        The container. A plain file is one with a single Entry without a name, whatever it holds;
        its `kind` is not in `CONTAINERS`.

    Raises:
        NotAContainer: It is a directory, not a container.
        MalformedContainer: It is damaged, half written, or has content that is not allowed.
        NoArtifact: It is a container without artifacts.
        FileError: It cannot be read.
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if os.path.isdir(path):
            from portable.containers.folder import Folder  # most paths lead to files

            return open_folder(Folder(path))
        found = Source(path)
    else:
        from portable.artifact import bytes_of  # most sources are paths

        found = Source(bytes_of(source))
    return open_source(kind_of_file(found), found)


def open_source(kind: Kind, source: Source) -> Container:
    """Open a file whose kind is known, as `open_path`.

    Args:
        kind: What it is.
        source: The file.

    Raises:
        PortableError: As `open_path`.
    """
    if kind in CONTAINERS:
        return _opener(kind)(source)
    from portable.containers.plain import Plain

    return Plain(kind, source)


def open_folder(folder: Folder) -> Container:
    """Open a directory, wherever its files lie, as `open_path`.

    Args:
        folder: The directory.

    Raises:
        PortableError: As `open_path`.
    """
    kind = kind_of_folder(folder)
    if kind not in CONTAINERS:
        raise NotAContainer(kind, directory=True, where=folder.path)
    return _opener(kind)(folder, open_version) if kind is Kind.BUNDLE else _opener(kind)(folder)


def open_version(folder: Folder, files: Sequence[str]) -> Container:
    """Open one Version of a bundle.

    Args:
        folder: Its files.
        files: Their paths; the first is the program, where they are no directory of a framework.

    Raises:
        MalformedContainer: An artifact or a container is among them that is not of the program:
            it would be delivered without being judged.
        PortableError: As `open_path`.
    """
    kind = kind_of_folder(folder)
    if kind is Kind.BUNDLE:
        raise MalformedContainer("a bundle in a bundle", where=folder.path)
    if kind in CONTAINERS:
        opened = _opener(kind)(folder)
        _demand_alone(folder, set(files).difference(opened.files))
        return opened
    source = folder.source(files[0])
    _demand_alone(folder, files[1:])
    return open_source(kind_of_file(source), source)


_OTHERS = {Kind.ARTIFACT, Kind.BYTECODE, *CONTAINERS}


def _demand_alone(folder: Folder, files: Iterable[str]) -> None:
    for inside in sorted(files):
        named = inside.rpartition("/")[2] in MARKS
        if named or kind_of_file(folder.unchecked(inside)) in _OTHERS:
            raise MalformedContainer("is not of the program of its Version", where=inside)


def _opener(kind: Kind) -> Callable[..., Container]:
    # What importlib.import_module does, without the 3 ms that importing importlib takes.
    import sys

    __import__(CONTAINERS[kind])
    opener: Callable[..., Container] = sys.modules[CONTAINERS[kind]].open_container
    return opener


def open_container(source: str | os.PathLike[str] | bytes) -> Container:
    """Open a container of any kind; only the parts that lead to its artifacts are read.

    Args:
        source: A path, or the bytes of a file.

    Returns:
        The container.

    Raises:
        NotAContainer: It is something else, for example a plain artifact.
        PortableError: As `open_path`.
    """
    found = open_path(source)
    if found.kind not in CONTAINERS:
        raise NotAContainer(found.kind, where=found.path or None)
    return found


def artifacts_in(path: str | os.PathLike[str] | bytes) -> tuple[tuple[str, Artifact], ...]:
    """Return every artifact at a path: the file itself, or what is inside of a container.

    Args:
        path: A portable artifact or a container, or its bytes.

    Returns:
        Pairs of a label and an artifact: the path for a file, `path: name` for one inside of a
        container; of bytes, the name alone.

    Raises:
        NotAnArtifact: It is neither, or a container holds something else than portable artifacts.
        MalformedArtifact: An artifact's header is damaged.
        PortableError: As `open_path`.
    """
    from portable.artifact import Artifact  # inspecting needs the bytes alone

    found = open_path(path)
    return tuple(
        (label, Artifact.from_bytes(entry.data, where=label or None))
        for entry in found.artifacts()
        for label in [place(found.path, entry.name)]
    )
