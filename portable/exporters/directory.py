"""Directories as torch_xla writes them: the artifact, its description, and its weights.

`functions/NAME.bytecode`, `NAME.meta` and `NAME.mlir`; weights in `data/`, by name, and tensors of
the code in `constants/`, by number, as `numpy.save` writes them. Unlike torch_xla, which writes
"0.0.0", ours says the true `stablehlo_version`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.artifact import Artifact
from portable.containers import Kind as ContainerKind
from portable.containers import MalformedContainer, NotAContainer, open_container
from portable.errors import PortableError
from portable.exporters.exported import (
    Argument,
    ArgumentKind,
    ExportedArtifact,
    PytreeSpecs,
    Result,
    frozen,
)
from portable.pinning import program
from portable.runtime.executors import signature
from portable.runtime.executors.tensors import dtype_named
from portable.system.files import new_directory, read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from portable.runtime.executors.tensors import Array

__all__ = ["load", "save"]

_DEFAULT = "forward"
_OPEN = -1
# From this size on weights stay in their file until they are read.
_MAPPED = 1 << 20


def save(exported: ExportedArtifact, directory: str | os.PathLike[str], *, text: bool) -> None:
    """Write a directory; see `ExportedArtifact.save`.

    Args:
        exported: What to write.
        directory: A new place or an empty directory.
        text: Write the program as text too.

    Raises:
        FileError: It cannot be written, or something is there; nothing is left behind.
    """
    with new_directory(directory) as staged:
        _write(exported, Path(staged), text=text)


def load(directory: str | os.PathLike[str], name: str | None = None) -> ExportedArtifact:
    """Read a directory; see `ExportedArtifact.load`.

    Args:
        directory: The directory.
        name: The function; by default `forward`, or the only one.

    Returns:
        The artifact with its weights.

    Raises:
        MalformedContainer: It is damaged, half written, or no such directory.
        PortableError: It has no such function.
    """
    container = open_container(directory)  # checks every file against the descriptions
    if container.kind is not ContainerKind.TORCH_XLA:
        raise NotAContainer(container.kind, where=os.fspath(directory))
    found = {entry.name: entry for entry in container.artifacts()}
    chosen = name or (_DEFAULT if _DEFAULT in found else min(found))
    if chosen not in found or (name is None and chosen != _DEFAULT and len(found) > 1):
        raise PortableError(
            f"no function {name or _DEFAULT!r}",
            where=os.fspath(directory),
            hint=f"it has {', '.join(found)}",
        )
    where = Path(directory)
    meta = json.loads(read_file(where / "functions" / f"{chosen}.meta"))
    artifact = Artifact.from_bytes(bytes(found[chosen]), where=f"{where}: {chosen}")
    arguments = tuple(_arguments(artifact, meta, str(where)))
    return ExportedArtifact(
        artifact,
        None,
        arguments,
        tuple(_results(artifact)),
        frozen(dict(_weights(arguments, where, with_data=(where / "data").is_dir()))),
        PytreeSpecs(meta.get("input_pytree_spec"), meta.get("output_pytree_spec")),
        chosen,
    )


def _write(exported: ExportedArtifact, directory: Path, *, text: bool) -> None:
    for folder in ("functions", "data", "constants"):
        (directory / folder).mkdir()
    stem = directory / "functions" / exported.name
    stem.with_suffix(".bytecode").write_bytes(exported.artifact.data)
    meta = json.dumps(_described(exported))
    stem.with_suffix(".meta").write_text(meta, encoding="utf-8")
    if text:
        stem.with_suffix(".mlir").write_text(program.text(exported.artifact), encoding="utf-8")
    for argument, file in _files(exported.arguments):
        with (directory / file).open("wb") as stream:
            np.save(stream, exported.weights[argument.name], allow_pickle=False)


def _files(arguments: tuple[Argument, ...]) -> Iterator[tuple[Argument, str]]:
    """Yield each weight and the file that it is in."""
    constants = 0
    for argument in arguments:
        if argument.kind is ArgumentKind.PARAMETER:
            yield argument, f"data/{argument.name}"
        elif argument.kind is ArgumentKind.CONSTANT:
            yield argument, f"constants/{constants}"
            constants += 1


def _described(exported: ExportedArtifact) -> dict[str, Any]:
    positions = {a.name: int(file[10:]) for a, file in _files(exported.arguments) if file < "d"}
    return {
        "name": exported.name,
        "stablehlo_version": str(exported.artifact.version),
        "input_signature": [_signature(a) for a in exported.arguments],
        "output_signature": [_signature(r) for r in exported.results],
        "input_locations": [
            {
                "type_": a.kind.value,
                "position": positions.get(a.name, a.position),
                "name": a.name if a.kind is ArgumentKind.PARAMETER else "",
            }
            for a in exported.arguments
        ],
        "unused_inputs": [],
        "input_pytree_spec": exported.pytree_specs.arguments,
        "output_pytree_spec": exported.pytree_specs.results,
    }


def _signature(value: Argument | Result) -> dict[str, Any]:
    return {
        "shape": [size if isinstance(size, int) else _OPEN for size in value.shape],
        "dtype": value.dtype,
        "dynamic_dims": [at for at, size in enumerate(value.shape) if isinstance(size, str)],
    }


def _arguments(artifact: Artifact, meta: Mapping[str, Any], where: str) -> Iterator[Argument]:
    """Yield what `main` takes: the types from the artifact, the names from the description."""
    types = signature(artifact).arguments
    locations = meta["input_locations"]
    if len(types) != len(locations):
        raise MalformedContainer(
            f"main takes {len(types)} arguments, {meta['name']}.meta describes {len(locations)}",
            where=where,
        )
    for location, kind in zip(locations, types, strict=True):
        source = ArgumentKind(location["type_"])
        position = location.get("position", -1)
        name = location.get("name") or f"{_UNNAMED[source]}{position}"
        yield Argument(name, source, _shape(kind.shape), kind.dtype.name, position)


_UNNAMED = {
    ArgumentKind.INPUT: "input",
    ArgumentKind.CONSTANT: "constant",
    ArgumentKind.PARAMETER: "weight",
}


def _results(artifact: Artifact) -> Iterator[Result]:
    types = signature(artifact).results
    for number, kind in enumerate(types):
        name = str(number) if len(types) > 1 else "output"
        yield Result(name, _shape(kind.shape), kind.dtype.name)


def _shape(sizes: tuple[int | None, ...]) -> tuple[int | str, ...]:
    # Which dynamic dimensions must agree is written nowhere: each gets a name of its own.
    return tuple(f"?{at}" if size is None else size for at, size in enumerate(sizes))


def _weights(
    arguments: tuple[Argument, ...], directory: Path, *, with_data: bool
) -> Iterator[tuple[str, Array]]:
    for argument in arguments:
        if argument.kind is ArgumentKind.INPUT or (
            argument.kind is ArgumentKind.PARAMETER and not with_data
        ):
            continue
        lifted = argument.kind is ArgumentKind.CONSTANT
        file = f"constants/{argument.position}" if lifted else f"data/{argument.name}"
        yield argument.name, _array(directory / file, argument.dtype)


def _array(path: Path, dtype: str) -> Array:
    mapped = path.stat().st_size >= _MAPPED
    try:
        array: Array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise MalformedContainer(f"no array: {error}", where=str(path)) from error
    wanted = dtype_named(dtype)
    if array.dtype.kind == "V" and array.dtype.itemsize == wanted.itemsize:
        array = array.view(wanted)  # numpy keeps no names for the types of ml_dtypes
    if array.dtype != wanted:
        raise MalformedContainer(f"holds {array.dtype}, main takes {wanted}", where=str(path))
    return array
