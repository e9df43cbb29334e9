"""Element types by their StableHLO and their numpy names, and arrays of them in `.npz` files.

numpy writes the types of ml_dtypes as unnamed bytes. An `.npz` file therefore keeps those as
unsigned integers, and the name of the entry says what they are: `0.bfloat16`.
"""

from __future__ import annotations

import io
import math
import os
import threading
import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from portable.errors import PortableError
from portable.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = [
    "Array",
    "UnreadableArrays",
    "arrays_in",
    "dtype_named",
    "dtype_of",
    "load_array",
    "load_arrays",
    "stored",
    "stored_arrays",
]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

# numpy numbers its own types below this; what ml_dtypes registers comes after.
_FIRST_REGISTERED = 256
_LONGEST_HEADER = 10_000
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
_DAMAGED = (
    AttributeError,
    EOFError,
    MemoryError,  # also of an expression that nests too deeply
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    TypeError,
    ValueError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
_ADVICE = "write one with numpy.savez(path, x, y)"
_ELEMENTS = {
    "i1": "bool",
    "bf16": "bfloat16",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
    "f4E2M1FN": "float4_e2m1fn",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
    "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    **{f"f{width}": f"float{width}" for width in (16, 32, 64)},
    **{f"i{width}": f"int{width}" for width in (2, 4, 8, 16, 32, 64)},
    **{f"ui{width}": f"uint{width}" for width in (2, 4, 8, 16, 32, 64)},
}

_NAMES = frozenset(_ELEMENTS.values())


class UnreadableArrays(PortableError):
    """A file of arrays cannot be read."""


def dtype_of(element: str) -> np.dtype[Any] | None:
    """Return the dtype of a StableHLO element type.

    Args:
        element: For example `f32`, `bf16`, `complex<f32>`.

    Returns:
        The dtype; None for what no array can hold, for example quantized types.
    """
    name = _ELEMENTS.get(element)
    return None if name is None else dtype_named(name)


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the dtype of a numpy or ml_dtypes name.

    Args:
        name: For example `float32`, `bfloat16`, `int4`.

    Returns:
        The dtype.

    Raises:
        UnreadableArrays: Neither library has it.
    """
    try:
        return np.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        raise UnreadableArrays(
            f"no dtype {name!r} here", hint="pip install --upgrade ml_dtypes"
        ) from None
    return found


def stored(array: Array) -> Array:
    """Return an array as a `.npy` file can keep it: types of ml_dtypes as unsigned integers."""
    registered = array.dtype.num >= _FIRST_REGISTERED or array.dtype.kind == "V"
    whole = np.ascontiguousarray(array).reshape(array.shape)
    return whole.view(np.dtype(f"u{array.dtype.itemsize}")) if registered else whole


def load_arrays(
    path: str | os.PathLike[str], check: Callable[[dict[str, Array]], object] | None = None
) -> dict[str, Array]:
    """Read an `.npz` file; pickles are refused.

    Args:
        path: The file.
        check: Judges what the headers say before anything is unpacked: it gets arrays of the same
            names, shapes and dtypes, which take no memory, and raises when they are wrong.

    Returns:
        The arrays by name.

    Raises:
        UnreadableArrays: It is no `.npz` file, or holds Python objects.
        FileError: It cannot be read.
    """
    return arrays_in(read_file(path), check, where=os.fspath(path))


def arrays_in(
    data: bytes,
    check: Callable[[dict[str, Array]], object] | None = None,
    *,
    where: str | None = None,
) -> dict[str, Array]:
    """Read the bytes of an `.npz` file, as `load_arrays` does.

    Args:
        data: The bytes.
        check: As for `load_arrays`.
        where: What to call them in errors.

    Returns:
        The arrays by name.

    Raises:
        UnreadableArrays: It is no `.npz` file, or holds Python objects.
    """
    if not zipfile.is_zipfile(io.BytesIO(data)):  # numpy would advise to unpickle it
        raise UnreadableArrays("not an .npz file", where=where, hint=_ADVICE)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            listed = archive.infolist()
            members = {one.filename.removesuffix(".npy"): one for one in listed}
            if len(members) < len(listed):
                raise ValueError("an array is duplicated")
            described = _named({name: _described(archive, one) for name, one in members.items()})
        if check is not None:
            check(described)
        with _ONE_AT_A_TIME, np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return _named({name: arrays[name] for name in arrays.files})
    except _DAMAGED as error:
        raise UnreadableArrays(
            f"not an .npz file of plain arrays: {error}",
            where=where,
            hint=_ADVICE,
        ) from error


def load_array(source: Path | IO[bytes], *, mapped: bool = False) -> Array:
    """Load an `.npy` file of ours, in whichever thread.

    Args:
        source: The file.
        mapped: Whether to map it, so that what is changed is not written back.

    Returns:
        The array.
    """
    with _ONE_AT_A_TIME:
        array: Array = np.load(source, mmap_mode="c" if mapped else None, allow_pickle=False)
    return array


# numpy parses headers with `ast`, which does not bear two threads at a time in some CPythons: "AST
# constructor recursion depth mismatch", python/cpython#106905.
_ONE_AT_A_TIME = threading.Lock()


def _named(entries: Mapping[str, Array]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for entry, array in entries.items():
        name, dot, element = entry.partition(".")
        if name in found:
            raise ValueError("an array is duplicated")
        dtype = dtype_named(element) if element in _NAMES else array.dtype
        if dot and (element not in _NAMES or dtype.itemsize != array.dtype.itemsize):
            raise ValueError(f"{entry!r:.60} is the name of no array of {array.dtype}")
        found[name] = array.view(dtype)
    return found


def _described(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    """Return an array of the shape and dtype of a member, from its header alone."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        if version not in _HEADERS:
            raise ValueError(f"{member.filename!r:.60} has the .npy version {version}")
        shape, _, dtype = _HEADERS[version](stream, max_header_size=_LONGEST_HEADER)
        size = stream.tell() + math.prod(shape) * dtype.itemsize
    if dtype.hasobject:
        raise ValueError(f"{member.filename!r:.60} holds Python objects")
    if size != member.file_size or not all(0 <= one < 1 << 48 for one in shape):
        raise ValueError(f"{member.filename!r:.60} does not have the size in its header")
    return np.broadcast_to(np.empty((), dtype), shape)


def stored_arrays(arrays: Sequence[Array] | Mapping[str, Array]) -> bytes:
    """Return the bytes of an `.npz` file.

    Args:
        arrays: By name, or in order: those are named 0, 1 and so on.

    Returns:
        The bytes; the same arrays give the same bytes.
    """
    named = arrays if isinstance(arrays, Mapping) else {str(n): a for n, a in enumerate(arrays)}
    entries = {}
    for name, array in named.items():
        kept = stored(array)
        entries[name if kept.dtype == array.dtype else f"{name}.{array.dtype.name}"] = kept
    made = io.BytesIO()
    np.savez(made, **entries)  # type: ignore[arg-type]  # the stub takes names for its own options
    return made.getvalue()
