"""Tensors of a Case: `.npy` files without pickles, types of ml_dtypes included.

numpy writes bfloat16, the 8-bit floats and the 4-bit types as unnamed bytes, so those are stored as
unsigned integers of the same width and the manifest names the type.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.corpus.case import CorpusError
from portable.runtime.executors.tensors import dtype_named, load_array, stored
from portable.system.files import FileError, read_file

if TYPE_CHECKING:
    from pathlib import Path

    from portable.corpus.case import Tensor

__all__ = ["load_tensor", "save_tensor"]

Array = np.ndarray[Any, np.dtype[Any]]


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
        found = load_array(io.BytesIO(read_file(tensor.path)))
    except (FileError, ValueError, EOFError) as error:
        raise CorpusError(f"cannot load: {error}", where=str(tensor.path)) from error
    if found.dtype != stored(np.empty(0, dtype)).dtype:
        raise CorpusError(f"is {found.dtype}, not {tensor.dtype}", where=str(tensor.path))
    return found.view(dtype)


def save_tensor(path: Path, array: Array) -> None:
    """Write an input or an expected output.

    Args:
        path: The `.npy` file.
        array: With a dtype of numpy or ml_dtypes.
    """
    np.save(path, stored(array))
