"""Inputs for artifacts that are no Cases, and what they are expected to compute."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from portable.corpus.tensors import save_tensor
from portable.environments import Environment
from portable.executors import find_executor, random_inputs, signature
from portable.executors.signature import check_inputs
from portable.matrix.item import TensorFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from portable.executors import Tolerance
    from portable.executors.tensors import Array
    from portable.matrix.item import Item

__all__ = ["with_inputs"]


def with_inputs(
    item: Item,
    folder: Path,
    *,
    inputs: Sequence[Array] | int,
    expected: Sequence[Array] | Environment,
    tolerance: Tolerance,
) -> Item:
    """Give an artifact what is needed to execute it.

    Args:
        item: The artifact.
        folder: Where the arrays are kept as files, as long as the item is used.
        inputs: One array for each argument of `main`, or a seed to make them from.
        expected: What it should compute, or a jaxlib whose results are taken for that.
        tolerance: How far a Release may be off.

    Returns:
        The item with them.

    Raises:
        InputMismatch: The inputs are not what `main` takes.
        ExecutionFailed: The jaxlib does not execute it.
    """
    artifact = item.artifact()
    wanted = signature(artifact)
    given = random_inputs(wanted, inputs) if isinstance(inputs, int) else inputs
    checked = check_inputs(given, wanted)
    if isinstance(expected, Environment):
        with find_executor("pjrt", expected) as executor:
            expected = executor.compile(artifact).run(checked)
    home = folder / item.digest
    home.mkdir(parents=True, exist_ok=True)
    return replace(
        item,
        inputs=_saved(home, "input", checked),
        expected=_saved(home, "expected", expected),
        relative=tolerance.relative,
        absolute=tolerance.absolute,
    )


def _saved(folder: Path, name: str, arrays: Sequence[Array]) -> tuple[TensorFile, ...]:
    files = []
    for number, array in enumerate(arrays):
        path = folder / f"{name}-{number}.npy"
        save_tensor(path, array)
        files.append(TensorFile(str(path), array.dtype.name))
    return tuple(files)
