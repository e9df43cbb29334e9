"""Everything that is done with bytes that somebody else wrote, short of native code."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.bytecode import read
from portable.bytecode.text import attribute_text, location_files, location_text, type_text
from portable.containers import open_container
from portable.containers.folder import Folder
from portable.containers.npy import read_array
from portable.errors import PortableError
from portable.features import Strictness, analyze
from portable.inspection import inspect, read_runtime
from portable.prediction import examine, predict
from portable.releases import find_release

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["READERS", "artifact", "exported", "npy", "runtime", "saved_model", "torch_xla"]

_CONSUMERS = tuple(map(find_release, ("jaxlib 0.4.33", "jaxlib 0.10.2", "tensorflow 2.18.1")))


def artifact(data: bytes) -> bool:
    """Inspect, digest, analyse and predict an artifact, and show all that is in it.

    Returns:
        Whether it was valid. Only errors of this project are suppressed.
    """
    with contextlib.suppress(PortableError):
        json.dumps(inspect(data, fingerprint=True).record())
    with contextlib.suppress(PortableError):
        opened = Artifact.from_bytes(data)
        subject = examine(opened)
        for consumer in _CONSUMERS:
            json.dumps(predict(subject, consumer).record())
    try:
        content = read(data)
        analyze(content, strictness=Strictness.UPSTREAM)
        pool = content.pool
        for operation in content.operations():
            content.dictionary(operation.attributes)
            location_text(pool, operation.location)
        for index in range(len(pool.types)):
            type_text(pool, index)
        for index in range(len(pool.attributes)):
            attribute_text(pool, index)
            location_text(pool, index)
        location_files(pool)
    except PortableError:
        return False
    return True


def exported(data: bytes) -> bool:
    """Open a container that is one file, and read what is inside."""
    with contextlib.suppress(PortableError):
        json.dumps(inspect(data).record())
    try:
        for entry in open_container(data).artifacts():
            artifact(bytes(entry))
    except PortableError:
        return False
    return True


def saved_model(data: bytes, folder: Path) -> bool:
    """Open a SavedModel whose saved_model.pb these bytes are."""
    (folder / "saved_model.pb").write_bytes(data)
    return _directory(folder)


def torch_xla(data: bytes, folder: Path) -> bool:
    """Open a torch_xla directory with these bytes as the description of its function."""
    (folder / "functions" / "forward.meta").write_bytes(data)
    return _directory(folder)


def npy(data: bytes, folder: Path) -> bool:
    """Read the header of an array."""
    (folder / "array").write_bytes(data)
    try:
        read_array(Folder(str(folder)), "array")
    except PortableError:
        return False
    return True


def runtime(data: bytes) -> bool:
    """Read a shared library, or an archive with some, for the names in it."""
    try:
        json.dumps(read_runtime(data).record())
    except PortableError:
        return False
    return True


def _directory(folder: Path) -> bool:
    with contextlib.suppress(PortableError):
        json.dumps(inspect(folder).record())
    try:
        return bool(open_container(folder).artifacts())
    except PortableError:
        return False


READERS: dict[str, Callable[..., bool]] = {
    "artifact": artifact,
    "exported": exported,
    "runtime": runtime,
    "saved_model": saved_model,
    "torch_xla": torch_xla,
    "npy": npy,
}
"""Each kind of input with what reads it; the last three want a folder besides the bytes."""
