"""Artifacts of what XLA:CPU hands to YNNPACK, what numpy computes, and where NaN was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from compat_tests.helpers.merged import EVERY, Program

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PROGRAMS", "WRONG"]

Array: TypeAlias = "np.ndarray[Any, Any]"

_REDUCES = "reduction of many floats by maximum or minimum"
_AROUND = "maximum or minimum of many floats around a reduction"

# So many elements are handed over.
_MANY, _FEWER, _ROW = 4096, 4095, 64


def _with_nan(count: int) -> list[Any]:
    """Return ones, and NaN at first."""
    return [float("nan"), *[1.0] * (count - 1)]


_SOME_NAN = [_with_nan(_MANY)]
_INTEGERS = [[-1, 2] * (_MANY // 2)]
_ROWS = [np.reshape(_SOME_NAN[0], (_ROW, _ROW)).tolist()]


def _windows(x: Array, size: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, size)[::2]
    made: Array = windows.max(axis=1)
    return made


def _exponentials(x: Array) -> Array:
    made: Array = np.exp(x - x.max(axis=1, keepdims=True))
    return made


def _clipped(x: Array) -> Array:
    made: Array = np.maximum(x, 0)
    return made


def _program(right: Any, form: str = "", given: Sequence[list[Any]] = _SOME_NAN) -> Program:
    return Program(given, right, form, perhaps=bool(form))


PROGRAMS: dict[str, Program] = {
    "nan_in_a_maximum_of_many": _program(np.max, _REDUCES),
    "nan_in_a_minimum_of_many_f64": _program(np.min, _REDUCES),
    "nan_in_one_of_many_windows": _program(lambda x: _windows(x, 2), _REDUCES),
    "nan_in_windows_that_overlap": _program(lambda x: _windows(x, 3)),
    "nan_in_a_maximum_of_fewer": _program(np.max, given=[_with_nan(_FEWER)]),
    "nan_clipped_and_summed": _program(lambda x: _clipped(x).sum(), _AROUND),
    "nan_clipped_and_summed_of_fewer": _program(
        lambda x: _clipped(x).sum(), given=[_with_nan(_FEWER)]
    ),
    "nan_clipped_in_a_function_and_summed": _program(lambda x: (_clipped(x) ** 2).sum(), _AROUND),
    "nan_clipped_and_multiplied": _program(lambda x: (_clipped(x) ** 2).sum(), _AROUND),
    "nan_clipped_with_a_vector": _program(
        lambda x, y: _clipped(x) @ y, given=[*_ROWS, [1.0] * _ROW]
    ),
    "nan_without_its_mean_clipped": _program(
        lambda x: _clipped(x - x.sum(axis=1, keepdims=True)), _AROUND, _ROWS
    ),
    "nan_clipped_and_summed_each_turn": _program(lambda x: _clipped(x).sum(), _AROUND),
    "nan_clipped_from_both_sides_and_summed": _program(lambda x: np.clip(x, 0, 6).sum()),
    "nan_clipped_to_one_number_and_summed": _program(
        lambda x: np.minimum(_clipped(x), 0).sum(), _AROUND
    ),
    "nan_between_bounds_and_summed": _program(lambda x: np.clip(x, 0, 6).sum()),
    "nan_clipped": _program(_clipped),
    "integers_clipped_and_summed": _program(
        lambda x: _clipped(x).sum(dtype=np.float32), given=_INTEGERS
    ),
    "integers_in_a_maximum_of_many": _program(np.max, given=_INTEGERS),
    "nan_clipped_and_multiplied_up": _program(lambda x: _clipped(x).prod()),
    "softmax_of_nan": _program(
        lambda x: _exponentials(x) / _exponentials(x).sum(axis=1, keepdims=True), given=_ROWS
    ),
    "softmax_of_nan_otherwise_used": _program(
        lambda x: _exponentials(x) / x.max(axis=1, keepdims=True), _REDUCES, _ROWS
    ),
    "log_of_sum_of_exponentials_of_nan": _program(
        lambda x: np.log(_exponentials(x).sum(axis=1)) + x.max(axis=1), given=_ROWS
    ),
}

WRONG = {name: EVERY[4:] for name, program in PROGRAMS.items() if program.form}
"""The jaxlibs that give a number for NaN."""
