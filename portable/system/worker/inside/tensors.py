"""Arrays in and out of a job: `.npy` files without pickles, and the name of each dtype beside them.

numpy writes the types of ml_dtypes as unnamed bytes: they are stored as unsigned integers of the
same width. Imported only by what executes, because numpy need not be there otherwise.
"""

from __future__ import annotations

import importlib
import resource
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .answer import Payload, Unavailable
from .mapped import MappedFiles

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Exchange", "dtype_named", "stored_dtype"]

# numpy numbers its own types below this; what others register comes after.
_FIRST_REGISTERED = 256


class Exchange:
    """The files in which arrays come and go."""

    def __init__(self) -> None:
        self._inputs = MappedFiles()
        self._outputs = MappedFiles()

    def load(self, records: list[Payload]) -> list[Any]:
        """Load the inputs of a job.

        Args:
            records: `path` of the `.npy` file and `dtype`, a name of numpy or ml_dtypes, for each.

        Returns:
            The arrays. Large ones are mapped, not copied, and change with the next job.
        """
        self._inputs.keep_only([record["path"] for record in records])
        return [
            np.asarray(self._inputs.read(record["path"])).view(dtype_named(record["dtype"]))
            for record in records
        ]

    def save(self, folder: str, arrays: list[Any], over: list[int]) -> list[Payload]:
        """Save the outputs of a job.

        Args:
            folder: Where; the files are `0.npy`, `1.npy` and so on.
            arrays: The outputs.
            over: The numbers of those files that are no longer read; others there are replaced.

        Returns:
            `path`, `dtype` and `shape` of each.
        """
        paths = [str(Path(folder) / f"{number}.npy") for number in range(len(arrays))]
        self._outputs.keep_only([paths[number] for number in over])
        records = []
        for number, (path, array) in enumerate(zip(paths, arrays, strict=True)):
            whole = np.ascontiguousarray(array).reshape(array.shape)
            if number not in over:
                Path(path).unlink(missing_ok=True)
            with _files_of_any_size():
                self._outputs.write(path, whole.view(stored_dtype(array.dtype)))
            shape = [int(size) for size in array.shape]
            records.append({"path": path, "dtype": array.dtype.name, "shape": shape})
        return records


@contextmanager
def _files_of_any_size() -> Iterator[None]:
    """Lift the limit that keeps a Release from filling the disk: this is not the Release."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def dtype_named(name: str) -> Any:
    """Return the dtype of a numpy or ml_dtypes name.

    Args:
        name: For example `float32`, `int4`.

    Returns:
        The dtype.

    Raises:
        Unavailable: The libraries of this environment lack it.
    """
    try:
        return np.dtype(name)
    except TypeError:
        kind = getattr(importlib.import_module("ml_dtypes"), name, None)
        if kind is None:
            raise Unavailable(f"the ml_dtypes of this release has no {name}") from None
        return np.dtype(kind)


def stored_dtype(dtype: Any) -> Any:
    """Return the dtype that keeps the bits of another, where only numpy's own are known."""
    registered = dtype.num >= _FIRST_REGISTERED or dtype.kind == "V"
    return np.dtype(f"u{dtype.itemsize}") if registered else dtype
