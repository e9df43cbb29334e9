"""Artifacts of ops that are merged, what numpy computes, and where another result was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["EVERY", "PROGRAMS", "WRONG", "Program", "inputs"]

Array: TypeAlias = "np.ndarray[Any, Any]"


class Program(NamedTuple):
    """What an artifact computes.

    Args:
        shapes: The shapes of its tensors; numbers and lists of them are given as they are.
        right: Computes its result.
        form: The form that it has, or perhaps has.
        perhaps: Whether it perhaps has it.
    """

    shapes: Sequence[tuple[int, ...] | list[Any] | int]
    right: Callable[..., Array]
    form: str = ""
    perhaps: bool = False


def inputs(program: Program, dtypes: Sequence[Any]) -> list[Array]:
    """Return small numbers, of which no sum is rounded.

    Args:
        program: What they are for.
        dtypes: The types that the artifact takes.
    """
    return [
        np.asarray(shape, dtype)
        if not isinstance(shape, tuple)
        else (np.arange(np.prod(shape)) * 7 % 13 - 6).reshape(shape).astype(dtype)
        for shape, dtype in zip(program.shapes, dtypes, strict=True)
    ]


def where_it_holds(program: Program, assumption: str, given: Sequence[Array]) -> list[Array]:
    """Return inputs of which an Assumption holds.

    Args:
        program: What they are for.
        assumption: Its name.
        given: Inputs of which it does not.
    """
    least, most = _HOLDING[assumption]
    mended = [_between(one, least, most) for one in given]
    with np.errstate(all="ignore"):
        makes_nan = assumption == "no-nan" and np.isnan(program.right(*mended)).any()
    if makes_nan:  # of numbers that overflow
        return [_between(one, 0, 0) for one in given]
    return mended


# Between which numbers; of indices, these are numbers of rows.
_HOLDING = {
    "no-nan": (1, 4),
    "in-bounds": (0, 1),
    "small-angles": (-10, 10),
    "moderate": (1, 4),
    "off-axes": (1, 4),
    "positive-bases": (1, 4),
    "small-exponents": (0, 63),
    "no-negative-zero": (1, 4),
}


def _between(x: Array, least: int, most: int) -> Array:
    if x.dtype.kind == "c":
        parts = _between(x.real, least, most), _between(x.imag, least, most)
        return (parts[0] + 1j * parts[1]).astype(x.dtype)
    return x if x.dtype == bool else np.clip(np.nan_to_num(x), least, most).astype(x.dtype)


def _spread(x: Array, *, apart: bool = True) -> Array:
    wide = np.zeros((len(x), x.shape[1] * 2 - 1), x.dtype)
    wide[:, ::2] = x
    return wide[::2] + wide[1::2] if apart else wide[:-1] + wide[1:]


def _start(at: Array, size: int, whole: int) -> int:
    return int(np.clip(at, 0, whole - size))


def _slice_of_slice(x: Array, outer: Array, inner: Array) -> Array:
    first = _start(outer, 4, len(x))
    second = first + _start(inner, 1, 4)
    return x[second : second + 1]


def _slice_of_row(x: Array, row: Array, column: Array) -> Array:
    first, second = _start(row, 1, len(x)), _start(column, 2, x.shape[1])
    return x[first : first + 1, second : second + 2]


def _update_of_slice(x: Array, outer: Array, inner: Array, update: Array) -> Array:
    made = x.copy()
    made[_start(outer, 4, len(x)) + _start(inner, 1, 4)] = update[0]
    return made


def _updated(x: Array, first: int, to: int, count: int) -> Array:
    made = x.copy()
    made[to : to + count] = x[first : first + count]
    return made


def _reversed(x: Array) -> Array:
    return np.concatenate([x[:1], x[:0:-1]])[None]


def _spread_maximum(x: Array) -> Array:
    wide = np.full((len(x), x.shape[1] * 2 - 1), -np.inf, x.dtype)
    wide[:, ::2] = x
    return np.maximum(wide[::2], wide[1::2])


_COUNTED = np.arange(10, dtype="int32").reshape(2, 5)


def _gathered(x: Array) -> Array:
    found: Array = _COUNTED[:, np.clip(2 * x[:, 0], 0, 4)]
    return found


def _cropped(x: Array) -> Array:
    wide = np.zeros((len(x) * 2 - 1, x.shape[1] - 1), x.dtype)
    wide[::2] = x[:, 1:]
    made: Array = wide + np.pad(wide, [(0, 0), (1, 0)])[:, :-1]
    return made


_CUT = "reduce_window of windows of one element that pads by a negative amount"
_SIDE_BY_SIDE = "reduce_window of adjacent windows with base dilation in other dimensions"
_PADS = "reduce_window that pads the result of a pad by a negative amount"
_SLICES = "dynamic_slice of a dynamic_slice"
_UPDATES = "update of a value by an earlier part of itself that is reshaped"
_PRODUCTS = "reduce of a dot_general over three elements"
_GATHER = "elementwise op of a gather of constants"
_SCATTER = "scatter of several single elements by indices without components"
_TABLE, _ROW = (8, 16), (8,)

PROGRAMS = {
    "window_cut": Program([(8, 4)], lambda x: x[1:], _CUT),
    "window_cut_high": Program([(8, 4)], lambda x: x[:-2], _CUT),
    "window_cut_multiplied": Program([(8, 4)], lambda x: x[1:]),
    "window_cut_and_padded": Program([(8, 4)], lambda x: np.pad(x[1:], [(0, 0), (0, 2)])),
    "window_cut_spread": Program([(8, 4)], lambda x: np.insert(x, range(1, 8), 0, axis=0)[1:]),
    "windows_spread": Program([(64, 128)], _spread, _SIDE_BY_SIDE),
    "windows_spread_few": Program([(30, 128)], _spread_maximum),
    "windows_spread_overlapping": Program([(64, 128)], lambda x: _spread(x, apart=False)),
    "windows_spread_bf16": Program([(64, 128)], _spread),
    "crop_padded_back": Program([(1, 2)], lambda x: x[:, 1:], _PADS),
    "crop_of_many": Program([(4, 6)], _cropped),
    "slice_of_a_slice": Program([(10,), 9, 0], _slice_of_slice, _SLICES, perhaps=True),
    "slice_of_a_slice_constant": Program([(10,)], lambda x: x[6:7]),
    "slice_of_a_slice_reshaped": Program([(10,), 9, 0], _slice_of_slice, _SLICES, perhaps=True),
    "slice_of_a_slice_apart": Program([(4, 10), 9, 9], _slice_of_row),
    "update_of_a_slice": Program([(10,), 9, 0, (1,)], _update_of_slice, _SLICES, perhaps=True),
    "update_by_itself": Program([_ROW], lambda x: _updated(x, 0, 1, 7)[None], _UPDATES),
    "update_by_itself_somewhere": Program(
        [_TABLE, 1], lambda x, _: _updated(x + 1, 0, 1, 7)[None], _UPDATES, perhaps=True
    ),
    "update_by_itself_scattered": Program(
        [_TABLE], lambda x: _updated(x + 1, 0, 1, 7)[None], _UPDATES, perhaps=True
    ),
    "update_by_itself_reversed": Program([_ROW], _reversed, _UPDATES, perhaps=True),
    "update_by_itself_later": Program([_TABLE], lambda x: _updated(x + 1, 1, 0, 7)[None]),
    "update_by_itself_apart": Program([_TABLE], lambda x: _updated(x + 1, 0, 2, 2)[None]),
    "update_by_itself_kept": Program([_ROW], lambda x: _updated(x, 0, 1, 7)),
    "update_by_itself_flat": Program([_TABLE], lambda x: _updated(x + 1, 0, 1, 7).ravel()),
    "update_by_itself_negated": Program([_TABLE], lambda x: -_updated(x + 1, 0, 1, 7)[None]),
    "product_of_three": Program(
        [(17000, 3), (3, 3)], lambda x, y: (y @ x.T).sum(0), _PRODUCTS, perhaps=True
    ),
    "product_of_three_by_einsum": Program(
        [(17000, 3), (3, 3)], lambda x, y: (y @ x.T).sum(0), _PRODUCTS, perhaps=True
    ),
    "product_of_four": Program([(17000, 4), (3, 4)], lambda x, y: (y @ x.T).sum(0)),
    "product_of_three_few": Program([(16384, 3), (3, 3)], lambda x, y: (y @ x.T).sum(0)),
    "gather_of_constants": Program([], lambda: -_COUNTED, _GATHER),
    "gather_of_constants_computed": Program(
        [], lambda: _COUNTED[[0, 0]] + 1, _GATHER, perhaps=True
    ),
    "gather_of_constants_in_order": Program([], lambda: -_COUNTED[:, :2].T),
    "gather_of_constants_returned": Program([], lambda: _COUNTED),
    "gather_of_an_argument": Program([(5, 1)], lambda x: _gathered(x) + 1),
    "scatter_to_one_place": Program([(1,), (3, 1)], lambda x, y: x + 2 * y.sum(0), _SCATTER),
    "scatter_to_one_place_of_two": Program([(2,), (3, 2)], lambda x, y: x + 2 * y.sum(0)),
    "product_of_three_alone": Program([(17000, 3), (3, 3)], lambda x, y: y @ x.T),
}
"""By the names of the artifacts in `compat_tests/data/artifacts`, each at 0.9.0."""


# Where a result was another, or none, on 2026-11-23; elsewhere it was right.
EVERY = ("0.4.13", "0.4.30", "0.4.33", "0.5.3", "0.10.2", "0.12.0.1")
_BEFORE_0_12 = EVERY[:-1]
WRONG = {
    "window_cut": EVERY,
    "window_cut_high": EVERY,
    "windows_spread": EVERY[4:],
    "crop_padded_back": _BEFORE_0_12,
    "slice_of_a_slice": _BEFORE_0_12,
    "slice_of_a_slice_reshaped": _BEFORE_0_12,
    "update_of_a_slice": _BEFORE_0_12,
    "update_by_itself": EVERY[3:],
    "update_by_itself_somewhere": EVERY[3:],
    "update_by_itself_scattered": EVERY[3:],
    "update_by_itself_reversed": EVERY[3:],
    **dict.fromkeys(("product_of_three", "product_of_three_by_einsum"), ("0.10.2",)),
    "gather_of_constants": ("0.5.3",),
    "scatter_to_one_place": ("0.10.2",),
}
"""The jaxlibs that compute it otherwise, or end while they compile it."""
