"""Tensors of a Case: `.npy` files without pickles, types of ml_dtypes included.

numpy writes bfloat16, the 8-bit floats and the 4-bit types as unnamed bytes, so those are stored as
unsigned integers of the same width and the manifest names the type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from portable.corpus.case import CorpusError

if TYPE_CHECKING:
    from pathlib import Path

    from portable.corpus.case import Tensor

__all__ = ["dtype_named", "load_tensor", "save_tensor"]

Array = np.ndarray[Any, np.dtype[Any]]


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the dtype of a numpy or ml_dtypes name.

    Args:
        name: For example `float32`, `bfloat16`, `int4`.

    Returns:
        The dtype.

    Raises:
        CorpusError: Neither library has it.
    """
    try:
        return np.dtype(name)
    except TypeError:
        pass
    import ml_dtypes  # noqa: PLC0415 - only for the types that numpy lacks

    kind: type | None = getattr(ml_dtypes, name, None)
    if kind is None:
        raise CorpusError(f"no dtype {name!r}", hint="name one of numpy or ml_dtypes")
    return np.dtype(kind)


def load_tensor(tensor: Tensor) -> Array:
    """Load an input or an expected output.

    Args:
        tensor: Which.

    Returns:
        The array, with the dtype that the manifest names.

    Raises:
        CorpusError: The file is missing, malformed, or holds another type.
    """
    dtype = dtype_named(tensor.dtype)
    try:
        stored: Array = np.load(tensor.path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise CorpusError(f"cannot load: {error}", where=str(tensor.path)) from error
    if stored.dtype != _stored(dtype):
        raise CorpusError(f"is {stored.dtype}, not {tensor.dtype}", where=str(tensor.path))
    return stored.view(dtype)


def save_tensor(path: Path, array: Array) -> None:
    """Write an input or an expected output.

    Args:
        path: The `.npy` file.
        array: With a dtype of numpy or ml_dtypes.
    """
    np.save(path, np.ascontiguousarray(array).reshape(array.shape).view(_stored(array.dtype)))


def _stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    # ml_dtypes registers its types after numpy's own.
    return np.dtype(f"u{dtype.itemsize}") if dtype.num >= 256 or dtype.kind == "V" else dtype
