"""Inputs for artifacts that are no Cases, and what they are expected to compute."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from portable.corpus.tensors import save_tensor
from portable.matrix.item import TensorFile
from portable.runtime.executors import random_inputs, signature
from portable.runtime.executors.signature import InputMismatch, check_inputs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from portable.matrix.item import Item
    from portable.runtime.executors.tensors import Array

__all__ = ["check_expected", "with_expected", "with_inputs"]

_LEAST = 1e-5
# Eight times the epsilon of float32.
_OF_LARGEST = 1e-6


def with_inputs(
    item: Item, folder: Path, *, inputs: Sequence[Array] | int, relative: float, ulps: int = 0
) -> Item:
    """Give an artifact what to execute it with.

    Args:
        item: The artifact.
        folder: Where the arrays are kept as files, as long as the item is used.
        inputs: One array for each argument of `main`, or a seed to make them from.
        relative: How far a Release may be off, relative to the expected value.
        ulps: Or in ulps.

    Returns:
        The item with them; what is expected is still to be said.

    Raises:
        InputMismatch: The inputs are not what `main` takes.
        NoMain: It cannot be executed.
        UnsupportedType: No array can hold what it takes.
    """
    wanted = signature(item.artifact())
    given = random_inputs(wanted, inputs) if isinstance(inputs, int) else inputs
    saved = _saved(folder / item.digest, "input", check_inputs(given, wanted))
    return replace(item, inputs=saved, relative=relative, ulps=ulps)


def with_expected(
    item: Item, folder: Path, expected: Sequence[Array], absolute: float | None = None
) -> Item:
    """Say what an artifact should compute.

    Args:
        item: The artifact, with inputs.
        folder: As for `with_inputs`.
        expected: One array for each result of `main`.
        absolute: Or how far a Release may be off; by default what rounding to float32 makes of sums
            of numbers as large as the largest that is expected.

    Returns:
        The item with it.
    """
    saved = _saved(folder / item.digest, "expected", expected)
    near = _rounding(expected) if absolute is None else absolute
    return replace(item, expected=saved, absolute=near)


def check_expected(item: Item, expected: Sequence[Array]) -> None:
    """Refuse what an artifact cannot compute.

    Args:
        item: The artifact.
        expected: What is expected of it.

    Raises:
        InputMismatch: `main` returns another number of arrays, or other shapes.
    """
    results = signature(item.artifact()).results
    fits = len(expected) == len(results) and all(
        array.ndim == len(result.shape)
        and all(
            size in {None, given} for size, given in zip(result.shape, array.shape, strict=True)
        )
        for array, result in zip(expected, results, strict=True)
    )
    if not fits:
        returned = ", ".join(map(str, results)) or "nothing"
        given = ", ".join(f"{array.dtype} of shape {array.shape}" for array in expected)
        raise InputMismatch(f"main returns {returned}, but {given or 'no arrays'} are expected")


def _rounding(arrays: Sequence[Array]) -> float:
    """Return how far a small number may be off where large ones cancel each other out."""
    with np.errstate(all="ignore"):  # casting NaN and infinity warns
        sizes = [np.abs(array.astype(np.complex128)) for array in arrays]
    largest = max((float(size[np.isfinite(size)].max(initial=0.0)) for size in sizes), default=0.0)
    return max(_LEAST, _OF_LARGEST * largest)


def _saved(folder: Path, name: str, arrays: Sequence[Array]) -> tuple[TensorFile, ...]:
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for number, array in enumerate(arrays):
        path = folder / f"{name}-{number}.npy"
        save_tensor(path, array)
        files.append(TensorFile(str(path), array.dtype.name))
    return tuple(files)
