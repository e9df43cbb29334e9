"""Inputs that mean something to a generated program: what it indexes by is in range, and so on."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from portable.fuzz.forms import kind, split
from portable.runtime.executors.tensors import dtype_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.fuzz.generation import Parameter
    from portable.runtime.executors.tensors import Array

__all__ = ["inputs_for"]

# What a dynamic dimension is.
_OPEN_SIZE = 3
# Numbers that round up or down alike, and those that a type has only just or not at all.
_TIES = (0.5, -0.5, 1.5, 2.5, -2.5, 0.0, 1.0, 7.0)
_SPECIALS = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-310, 6e-8, 3.4e38, 65504.0, 1.0)
_INTEGERS = (0, 1, -1, 2, 3, 5, 7, -8, 100, -128, 127, 255, 2**31 - 1, -(2**31), 2**63 - 1)


def inputs_for(
    arguments: Sequence[Parameter], seed: object, *, specials: bool = True
) -> list[Array]:
    """Make one array for each argument of a generated program.

    Args:
        arguments: What `main` takes.
        seed: The same seed gives the same arrays, and each argument its own.
        specials: Whether NaN, infinities, denormal and extreme numbers may be among them.

    Returns:
        The arrays. Some have only ordinary numbers, some many that are special.
    """
    made = []
    for number, argument in enumerate(arguments):
        digest = hashlib.blake2b(f"{seed}/{number}/{argument.type}".encode(), digest_size=8)
        random = np.random.default_rng(int.from_bytes(digest.digest()))
        made.append(_array(argument, random, specials=specials))
    return made


def _array(argument: Parameter, random: np.random.Generator, *, specials: bool) -> Array:
    sizes, element = split(argument.type)
    shape = tuple(_OPEN_SIZE if size is None else size for size in sizes)
    dtype = dtype_of(element)
    assert dtype is not None  # noqa: S101 - quantized values are no arguments
    sort = "b" if element == "i1" else kind(element)
    values: Array
    if argument.range is not None:
        values = random.integers(argument.range[0], argument.range[1] + 1, shape)
    elif argument.definite:
        values = _definite(random, shape, sort)
    elif sort == "b":
        values = random.integers(0, 2, shape)
    elif sort in "iu":
        values = _integers(random, shape, signed=sort == "i")
    else:
        values = _floats(random, shape, specials=specials)
        if sort == "c":
            values = np.asarray(values, np.complex128)
            values.imag = _floats(random, shape, specials=specials)
    with np.errstate(all="ignore"):  # what the type lacks becomes NaN, infinite, or wraps
        return np.asarray(values).astype(dtype)


def _floats(random: np.random.Generator, shape: tuple[int, ...], *, specials: bool) -> Array:
    profile = random.integers(0, 5)
    if profile == 0 and specials:
        return np.asarray(random.choice(_SPECIALS, shape))
    if profile <= 1:
        return np.asarray(random.choice(_TIES, shape))
    if profile == 2:
        return random.integers(-4, 5, shape).astype(np.float64)
    return random.standard_normal(shape)


def _integers(random: np.random.Generator, shape: tuple[int, ...], *, signed: bool) -> Array:
    if random.integers(0, 3) == 0:
        return np.asarray(random.choice(np.array(_INTEGERS, np.int64), shape))
    return random.integers(-6 if signed else 0, 7, shape)


def _definite(random: np.random.Generator, shape: tuple[int, ...], sort: str) -> Array:
    factor = random.standard_normal(shape)
    if sort == "c":
        factor = factor + 1j * random.standard_normal(shape)
    adjoint = np.conjugate(np.swapaxes(factor, -1, -2))
    return np.asarray(factor @ adjoint + shape[-1] * np.eye(shape[-1]))
