"""Arrays in files that two processes hand each other again and again.

A page of a file that is new to a process costs more than to copy what is in it. So a file stays
mapped, and the next array that is like the last is written over it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["MAPPED_BYTES", "MappedFiles"]

# Smaller arrays are copied: a mapping takes whole pages, and a process has not many.
MAPPED_BYTES = 1 << 20


class MappedFiles:
    """`.npy` files by their path, the large ones mapped."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, Any]] = {}

    def write(self, path: str, array: Any) -> None:
        """Write an array; if the one in the file is like it, into the same memory.

        Args:
            path: The file. Whoever has mapped an array that is not like it keeps that.
            array: Of one of numpy's own dtypes, contiguous.
        """
        if array.nbytes >= MAPPED_BYTES and os.path.exists(path):
            there = self._mapped(path, "r+")
            if (there.shape, there.dtype) == (array.shape, array.dtype) and not there.flags.fnc:
                there[...] = array
                return
        Path(path).unlink(missing_ok=True)
        np.save(path, array, allow_pickle=False)

    def read(self, path: str) -> Any:
        """Return the array in a file; a large one changes when the file is written again."""
        large = os.stat(path).st_size >= MAPPED_BYTES
        return self._mapped(path, "r") if large else np.load(path, allow_pickle=False)

    def keep_only(self, paths: list[str]) -> None:
        """Let all other files go."""
        self._kept = {path: self._kept[path] for path in paths if path in self._kept}

    def _mapped(self, path: str, mode: Any) -> Any:
        inode = os.stat(path).st_ino
        known, array = self._kept.get(path, (0, None))
        if known != inode:
            array = np.load(path, mmap_mode=mode, allow_pickle=False)
            self._kept[path] = inode, array
        return array
