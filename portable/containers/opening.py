"""From a path to a Container, or straight to the artifacts inside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from portable.containers.container import NotAContainer
from portable.containers.kind import CONTAINERS, kind_of_directory, kind_of_file
from portable.containers.source import Source

if TYPE_CHECKING:
    from portable.artifact import Artifact
    from portable.containers.container import Container

__all__ = ["artifacts_in", "open_container"]


def open_container(source: str | os.PathLike[str] | bytes) -> Container:
    """Open a container, whatever it is; nothing is read but what leads to its artifacts.

    Args:
        source: A path, or the bytes of a file.

    Returns:
        The container. What it returns are views into its file.

    Raises:
        NotAContainer: It is something else, for example a plain artifact.
        MalformedContainer: It is damaged, half written, or tries what a container may not.
        FileError: It cannot be read.
    """
    found: Source | str
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if os.path.isdir(path):  # noqa: PTH112 - as in portable.system.files
            kind, found = kind_of_directory(path), path
        else:
            found = Source(path)
            kind = kind_of_file(found.data)
    else:
        path, found = "", Source(bytes(source))
        kind = kind_of_file(found.data)
    if kind not in CONTAINERS:
        raise NotAContainer(kind, directory=isinstance(found, str), where=path or None)
    # What importlib.import_module does, without the 3 ms that importing importlib takes.
    import sys  # noqa: PLC0415 - only here

    __import__(CONTAINERS[kind])
    opened: Container = sys.modules[CONTAINERS[kind]].open_container(found)
    return opened


def artifacts_in(path: str | os.PathLike[str]) -> tuple[tuple[str, Artifact], ...]:
    """Return every artifact at a path: the file itself, or what is inside of a container.

    Args:
        path: A portable artifact or a container.

    Returns:
        Pairs of a label and an artifact: the path for a file, `path: name` for one inside of a
        container.

    Raises:
        NotAnArtifact: It is neither, or a container holds something else than portable artifacts.
        MalformedArtifact: An artifact's header is damaged.
        MalformedContainer: The container is damaged.
        FileError: The path cannot be read.
    """
    from portable.artifact import Artifact  # noqa: PLC0415 - inspecting needs the bytes alone

    where = os.fspath(path)
    try:
        container = open_container(where)
    except NotAContainer:
        if os.path.isdir(where):  # noqa: PTH112 - as above
            raise
        return ((where, Artifact.load(where)),)
    found = []
    for entry in container.artifacts():
        label = f"{where}: {entry.name}"
        found.append((label, Artifact.from_bytes(bytes(entry), where=label)))
    return tuple(found)
