"""Inputs for a signature, from a seed: the same on every machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from portable.executors.signature import Signature, TensorType
    from portable.executors.tensors import Array

__all__ = ["random_inputs"]

# One size for every dimension that the program leaves open: they must often agree.
_OPEN_SIZE = 3
# Small positive integers divide, shift and index without leaving the range of the type.
_LOWEST, _HIGHEST = 1, 8
# Where no more indices are in range, zero is one of them.
_FEW = 2
_SPECIALS = (np.nan, np.inf, -np.inf, 0.0, -0.0)


def random_inputs(wanted: Signature, seed: int, *, specials: bool = False) -> list[Array]:
    """Make inputs that a program takes.

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
        UnsupportedType: No array can hold an argument.
    """
    generator = np.random.default_rng(seed)
    made = []
    for argument in wanted.arguments:
        shape = tuple(_OPEN_SIZE if size is None else size for size in argument.shape)
        room = wanted.rooms.get(argument.element, _HIGHEST)
        values = _values(argument, shape, generator, room)
        if specials and values.dtype.kind in "fc":
            _sprinkle(values, generator)
        with np.errstate(all="ignore"):  # casting NaN and infinity to what lacks them
            made.append(values.astype(argument.dtype))
    return made


def _values(
    argument: TensorType, shape: tuple[int, ...], generator: np.random.Generator, room: int
) -> Array:
    name = argument.dtype.name
    if name == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if name.startswith(("int", "uint")):
        # Four bits and fewer hold less than that, with a sign even less.
        bits = int(name.lstrip("uint"))
        highest = min(_HIGHEST, room, 2 ** (bits - name.startswith("int")))
        lowest = min(_LOWEST, highest - 1) if room > _FEW else 0
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
