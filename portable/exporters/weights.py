"""Weights as files: safetensors, written one array at a time, and read where they lie.

A safetensors file is the length of a header, the header (JSON: the dtype, shape and place of each
array), and the bytes of the arrays. Nothing in it is executed; arrays are read when used.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.containers import MalformedContainer
from portable.exporters.frameworks import ExportFailed, from_torch
from portable.runtime.executors.tensors import dtype_named
from portable.system.documents import demand_form, parse_json
from portable.system.files import InputFile, read_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from portable.runtime.executors.tensors import Array

__all__ = ["TorchWeights", "load_weights", "open_safetensors", "save_weights", "write_safetensors"]

_AS_NPY = "save the weights as .npy files"
_FILE = "weights.safetensors"
_ELSEWHERE = "weights.json"

_DTYPES = {
    "BOOL": "bool",
    "BF16": "bfloat16",
    "C64": "complex64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F8_E8M0": "float8_e8m0fnu",
    **{f"F{width}": f"float{width}" for width in (16, 32, 64)},
    **{f"I{width}": f"int{width}" for width in (8, 16, 32, 64)},
    **{f"U{width}": f"uint{width}" for width in (8, 16, 32, 64)},
}
_NAMES = {name: code for code, name in _DTYPES.items()}
_METADATA = "__metadata__"
# What the reader of safetensors itself accepts.
_LONGEST_HEADER = 100_000_000
_ALIGNMENT = 8
# More than any numpy has; the product of as many as a header holds takes minutes.
_MOST_DIMENSIONS = 64
_CHUNK = 1 << 24
# Smaller than this in all, weights are copied when they are exported.
_COPIED = 1 << 28
_SAMPLES = 1 << 12


def write_safetensors(path: str | os.PathLike[str], arrays: Mapping[str, Array]) -> None:
    """Write arrays into a new file, one after the other.

    Args:
        path: The file.
        arrays: By name; each is read once more when its bytes are written.

    Raises:
        ExportFailed: safetensors have no name for a dtype.
        OSError: It cannot be written.
    """
    header: dict[str, Any] = {}
    end = 0
    for name, array in arrays.items():
        if name == _METADATA:
            raise ExportFailed(f"safetensors hold no weight named {name!r}", hint=_AS_NPY)
        start, end = end, end + array.nbytes
        code = _NAMES.get(array.dtype.name)
        if code is None:
            raise ExportFailed(
                f"safetensors hold no {array.dtype.name}, which the weight {name!r} is",
                hint=_AS_NPY,
            )
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [start, end]}
        del array
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with Path(path).open("xb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        for name in header:
            _raw(arrays[name]).tofile(stream)


def open_safetensors(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Map the arrays of a file.

    Args:
        path: The file, by anybody.

    Returns:
        The arrays by name, read-only; their bytes are read when they are used.

    Raises:
        MalformedContainer: It is not a safetensors file, or it is truncated.
        FileError: It cannot be read.
    """
    file = InputFile(path)
    size = int.from_bytes(file[:8], "little")
    if len(file) < 8 or size > min(_LONGEST_HEADER, len(file) - 8):
        raise MalformedContainer("no header of safetensors", where=str(path))
    try:
        header = parse_json(file[8 : 8 + size])
        demand_form(header, {f"{_METADATA}?": {"*": str}})
        header.pop(_METADATA, None)
        demand_form(header, {"*": {"dtype": str, "shape": [int], "data_offsets": (int, int)}})
        # No view of it is a np.memmap, of which each takes half a KB.
        mapped = np.asarray(
            np.memmap(path, np.uint8, "r", 8 + size) if len(file) > 8 + size else _NOTHING
        )
        _demand_apart([entry["data_offsets"] for entry in header.values()], len(mapped))
        return {name: _array(mapped, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError) as error:
        raise MalformedContainer(f"no safetensors: {error}", where=str(path)) from error


_NOTHING: Array = np.zeros(0, np.uint8)


def _demand_apart(offsets: list[Any], size: int) -> None:
    """Refuse arrays that overlap and bytes in none, as the reader of safetensors itself does."""
    last = 0
    for start, end in sorted(map(_sizes, offsets)):
        if start != last:
            raise ValueError(f"an array begins at byte {start}, the one before ends at {last}")
        last = end
    if last != size:
        raise ValueError(f"the arrays end at byte {last} of {size}")


def _array(mapped: Array, entry: Mapping[str, Any]) -> Array:
    dtype, shape = dtype_named(_DTYPES[entry["dtype"]]), _sizes(entry["shape"])
    if len(shape) > _MOST_DIMENSIONS:
        raise ValueError(f"an array has {len(shape)} dimensions")
    start, end = entry["data_offsets"]
    if end - start != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"bytes {start} to {end} hold no {dtype}{list(shape)}")
    return mapped[start:end].view(dtype).reshape(shape)


def _sizes(values: object) -> tuple[int, ...]:
    """Return a list of integers that are not negative, and no list of anything else."""
    if not isinstance(values, list) or any(type(v) is not int or v < 0 for v in values):
        raise ValueError(f"{values!r:.40} are no sizes")
    return tuple(values)


def save_weights(
    directory: Path,
    names: Sequence[str],
    weights: Mapping[str, Array],
    existing: Sequence[str | os.PathLike[str]],
) -> None:
    """Write weights into a directory, but for those that files hold already, bit by bit.

    Args:
        directory: Where `weights.safetensors` is written, and `weights.json`, which names files by
            their digests.
        names: Of the weights to write.
        weights: Their arrays.
        existing: Files of safetensors that stay where they are.

    Raises:
        ExportFailed: As `write_safetensors`.
        MalformedContainer: One of the files is none of safetensors.
    """
    found: dict[str, dict[str, str]] = {}
    files = []
    for path in existing:
        held = open_safetensors(path)
        same = [n for n in names if n in held and _same_bytes(weights[n], held[n])]
        file = {"file": Path(path).name, "sha256": InputFile(path).sha256()}
        files += [file] if same else []
        found |= dict.fromkeys(same, file)
    if files:
        by_digest = [
            file | {"weights": [n for n in names if found.get(n) is file]} for file in files
        ]
        (directory / _ELSEWHERE).write_text(json.dumps(by_digest), encoding="utf-8")
    rest = [name for name in names if name not in found]
    if rest:
        write_safetensors(directory / _FILE, _Chosen(weights, rest))


def load_weights(
    directory: Path, existing: Sequence[str | os.PathLike[str]]
) -> Mapping[str, Array]:
    """Map the weights that `save_weights` wrote, and those that it left where they were.

    Args:
        directory: What it wrote to.
        existing: The files that it left, wherever they are now; they are known by their digests.

    Returns:
        The arrays by name, without those of files that are not given.

    Raises:
        MalformedContainer: A file is damaged, or none that was left.
        FileError: It cannot be read.
    """
    found: dict[str, Array] = {}
    if (directory / _FILE).exists():
        found |= open_safetensors(directory / _FILE)
    if not existing:
        return found
    try:
        said = parse_json(read_file(directory / _ELSEWHERE))
        demand_form(said, [{"file": str, "sha256": str, "weights": [str]}])
        left = {one["sha256"]: one["weights"] for one in said}
        if len(left) < len(said):
            raise ValueError("it names a file twice")
    except ValueError as error:
        raise MalformedContainer(str(error), where=str(directory / _ELSEWHERE)) from error
    for path in existing:
        names = left.get(InputFile(path).sha256())
        if names is None:
            raise MalformedContainer(
                "the model was not saved with this file",
                where=str(path),
                hint=f"{_ELSEWHERE} has their names and digests",
            )
        held = open_safetensors(path)
        found |= {name: held[name] for name in names if name in held}
    return found


class _Chosen(Mapping[str, "Array"]):
    """Some of the weights, each looked up when it is used."""

    def __init__(self, whole: Mapping[str, Array], names: Sequence[str]) -> None:
        self._whole, self._names = whole, names

    def __getitem__(self, name: str) -> Array:
        return self._whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _same_bytes(one: Array, other: Array) -> bool:
    """Say whether two arrays are the same in dtype, shape and every bit."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    left, right = _raw(one), _raw(other)
    parts = range(0, len(left), _CHUNK)
    return all(np.array_equal(left[at : at + _CHUNK], right[at : at + _CHUNK]) for at in parts)


def _raw(array: Array) -> Array:
    """Return the bytes of an array, in the order of a file, without a copy where it has that."""
    whole = np.ascontiguousarray(array)
    if sys.byteorder == "big":
        whole = whole.byteswap()
    return whole.reshape(-1).view(np.uint8)


class TorchWeights(Mapping[str, "Array"]):
    """Tensors of a model as arrays, copied one by one when they are used.

    A model that is large would be in memory twice otherwise. One that has changed since is refused.

    Args:
        tensors: The weights by name.
    """

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        self._tensors = {name: (tensor, _state(tensor)) for name, tensor in tensors.items()}

    @classmethod
    def of(cls, tensors: Mapping[str, Any]) -> Mapping[str, Array]:
        """Return small weights as copies, large ones as they are."""
        if sum(one.numel() * one.element_size() for one in tensors.values()) >= _COPIED:
            return cls(tensors)
        return {name: from_torch(tensor, name) for name, tensor in tensors.items()}

    def __getitem__(self, name: str) -> Array:
        tensor, state = self._tensors[name]
        if _state(tensor) != state:
            raise ExportFailed(
                f"the weight {name!r} has changed since the model was exported",
                hint="export it again",
            )
        array = from_torch(tensor, name)
        array.setflags(write=False)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


def _state(tensor: Any) -> tuple[int, bytes]:
    """Return what changes with a tensor: its version in PyTorch, and a sample of its values."""
    flat = tensor.detach().reshape(-1) if tensor.is_contiguous() else tensor.detach()[..., :1]
    step = max(1, flat.numel() // _SAMPLES)
    sample = from_torch(flat.reshape(-1)[::step])
    return tensor._version, hashlib.sha256(sample.tobytes()).digest()
