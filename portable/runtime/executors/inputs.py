"""Inputs for a signature, from a seed: the same on every machine."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import numpy as np

from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.runtime.executors.signature import Signature, TensorType
    from portable.runtime.executors.tensors import Array

__all__ = ["TooLargeInputs", "random_inputs"]

# One size for every dimension that the program leaves open: they must often agree.
_OPEN_SIZE = 3
# Small positive integers divide, shift and index without leaving the range of the type.
_LOWEST, _HIGHEST = 1, 8
# Where no more indices are in range, zero is one of them.
_FEW = 2
# Values are drawn as numbers of eight bytes, whatever becomes of them.
_VALUE_BYTES = 8
_SPECIALS = (np.nan, np.inf, -np.inf, 0.0, -0.0)


class TooLargeInputs(PortableError):
    """The inputs that a program takes do not fit into the memory of this machine."""


def random_inputs(wanted: Signature, seed: int, *, specials: bool = False) -> list[Array]:
    """Make random inputs for a program.

    Floats are normally distributed and finite, integers small and positive, so that they can be
    divided by. Where the program has an op that indexes by integers of their type they are in
    range of what it indexes, zero among them if that is little.

    Args:
        wanted: What the program takes.
        seed: The same seed gives the same inputs.
        specials: Put NaN, infinities and signed zeros among the floats.

    Returns:
        One array for each argument.

    Raises:
        TooLargeInputs: They exceed the memory of this machine.
        UnsupportedType: No array can hold an argument.
    """
    generator = np.random.default_rng(seed)
    shapes = [
        tuple(_OPEN_SIZE if size is None else size for size in argument.shape)
        for argument in wanted.arguments
    ]
    _demand_memory(shapes)
    made = []
    for argument, shape in zip(wanted.arguments, shapes, strict=True):
        bound = wanted.index_bounds.get(argument.element, _HIGHEST)
        values = _values(argument, shape, generator, bound)
        if specials and values.dtype.kind in "fc":
            _sprinkle(values, generator)
        with np.errstate(all="ignore"):  # casting NaN and infinity to what lacks them
            made.append(values.astype(argument.dtype))
    return made


def _demand_memory(shapes: Sequence[Sequence[int]]) -> None:
    """Refuse what this machine has no memory for, before numpy tries."""
    needed = _VALUE_BYTES * sum(map(math.prod, shapes))
    has = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > has:
        raise TooLargeInputs(
            f"random inputs would take {needed / 2**30:,.1f} GiB, this machine has "
            f"{has / 2**30:,.1f} GiB"
        )


def _values(
    argument: TensorType, shape: tuple[int, ...], generator: np.random.Generator, bound: int
) -> Array:
    name = argument.dtype.name
    if name == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if name.startswith(("int", "uint")):
        # Four bits and fewer hold less than that, with a sign even less.
        bits = int(name.lstrip("uint"))
        highest = min(_HIGHEST, bound, 2 ** (bits - name.startswith("int")))
        lowest = min(_LOWEST, highest - 1) if bound > _FEW else 0
        return generator.integers(lowest, highest, shape)
    if name.startswith("complex"):
        return generator.standard_normal(shape) + 1j * generator.standard_normal(shape)
    if name == "float8_e8m0fnu":
        return np.exp2(generator.integers(-4, 5, shape))
    return np.asarray(generator.standard_normal(shape))


def _sprinkle(values: Array, generator: np.random.Generator) -> None:
    flat = values.reshape(-1)
    places = generator.permutation(flat.size)[: max(1, flat.size // 8)]
    flat[places] = generator.choice(_SPECIALS, len(places))
