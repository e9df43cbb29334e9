"""Artifacts of ops that XLA simplifies, what numpy computes, and where another result was seen."""

from __future__ import annotations

import zlib
from typing import Any, TypeAlias

import numpy as np

from compat_tests.helpers.merged import EVERY, Program

__all__ = ["BY_CHANCE", "BY_CHANCE_ON_IREE", "ON_IREE", "PROGRAMS", "WRONG", "WRONG_ON_IREE"]

Array: TypeAlias = "np.ndarray[Any, Any]"


def _summed(x: Array, y: Array) -> Array:
    made: Array = (x * y).sum(axis=3)
    return made


def _sum_sorted(*operands: Array) -> Array:
    made: Array = np.sum(operands, axis=0)[np.argsort(operands[0], kind="stable")]
    return made


def _last_sorted(*operands: Array) -> Array:
    made: Array = operands[-1][np.argsort(operands[0], kind="stable")]
    return made


def _product(x: Array, y: Array) -> Array:
    kind = np.float32 if y.dtype == np.float32 else np.int32
    made: Array = x.astype(kind) @ y.astype(kind)
    return made


def _convolved(x: Array, y: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.int32), (3, 3), axis=(1, 2))
    made: Array = np.einsum("bhwcij,ijco->bhwo", windows, y.astype(np.int32))
    return made


def _checksum(x: Array) -> Array:
    return np.asarray(zlib.crc32(x.astype(np.uint8).tobytes()), np.uint32)


def _until_done(x: Array) -> Array:
    """Add one until the sum was above nine before that."""
    while x.sum() <= 9:
        x = x + 1
    made: Array = x + 1
    return made


def _scattered(x: Array, starts: Array, updates: Array) -> Array:
    made = x.copy()
    windows = updates.reshape(len(updates), -1, updates.shape[-1])
    for start, window in zip(starts, windows, strict=True):
        row, column = (*start, 0)[:2]
        for at, value in np.ndenumerate(window):
            if 0 <= row + at[0] < len(made) and 0 <= column + at[1] < made.shape[1]:
                made[row + at[0], column + at[1]] += value
    return made


def _added_at(x: Array, updates: Array) -> Array:
    made = x.copy()
    made[0, 1] += updates[0]
    made[1, 0] += updates[1]
    return made


def _product_in_batches(x: Array, y: Array) -> Array:
    made: Array = np.einsum("bij,bi->bj", x, y)
    return made


def _remainder(x: Any, y: Any) -> Array:
    made: Array = np.fmod(np.asarray(x, np.float32), np.asarray(y, np.float32))
    return made


def _scattered_ones(x: Array, starts: Array, updates: Array) -> Array:
    made = x.copy()
    np.add.at(made, starts[:, 0].astype(np.int64), updates)
    return made


def _start(x: Array, at: Array) -> int:
    return min(max(int(at), 0), len(x) - 2)


def _updated(x: Array, update: Array, at: Array) -> Array:
    made = x.copy()
    made[_start(x, at) :][:2] = update
    return made


def _sliced(x: Array, at: Array) -> Array:
    made: Array = x[_start(x, at) :][:2]
    return made


def _rows(x: Array, starts: Array) -> Array:
    made: Array = x[np.clip(starts[:, 0], 0, len(x) - 1)]
    return made


_LARGE = np.float32(1e38)
_MAGIC = np.float32(12582912)
_COUNTED = np.arange(4, dtype=np.float32)
_NOT_A_NUMBER = np.full(4, np.nan, np.float32)

_DIVIDES = "divide by a constant whose reciprocal is not normal"
_POWERS = "log of a power"
_UNDOES = "log of an exponential or root of a square"
_MERGES = "product, quotient or power of exponentials"
_ADDS = "addition of a constant and of one that cancels it"
_SQUARES = "abs of the square of an integer"
_COMPARES = "compare of the square or abs of an integer with zero"
_NAN = "maximum or minimum of constants of which one is NaN"
_BESIDE_LOOP = "loop beside whose results something takes what it begins with"
_NO_TURN = "loop that may run no turn, and begins with what is computed"
_FROM_CONSTANT = "loop that replaces a constant of different numbers by a value from outside"
_BY_PARTS = "op of complex numbers of which parts may be too great for its formula, or zero"
_FOLDS = "sort by a comparison that folds to a constant"
_RAISED = "exponential of what is computed from NaN"
_RAISED_F64 = "exponential of f64 that is computed from NaN"
_QUOTIENTS = "division of or by a quotient"
_BY_EXPONENTIAL, _BY_POWER = "division by an exponential", "division by a power"
_AT_LEAST = "compare of floats that are never negative with zero"
_LEAVES = "two constants one after another that leave the range of their type as one"
_ZERO_ADDED = "sum with zero where the sign of a zero matters"
_MASKS = "product of floats with booleans"
_IN_BATCHES = "dot_general in batches with vectors of which one operand is made of booleans"
_NARROW = "scatter by integers that do not hold the last place"
_ONE_NARROW = "scatter of one update by integers that do not hold the last place"
_UPDATE_NARROW = "dynamic_update_slice by integers that do not hold the last place"
_WITH_SIGN = "scatter or dynamic slice by ui8 or ui16 that do not hold the last place with a sign"
_SLICED = "dynamic slice by i8 or i16 below zero, or by ui64 in the upper half"
_VECTORS = "dot_general of two vectors of which one is made of booleans"
_OVER_THE_EDGE = "scatter of windows that may be partly out of bounds"
_PRODUCTS = "sum of products of seven dimensions or more"
_SORTS = "sort of more than 16 operands"
_CLAMPED = "clamp of floats other than from one constant number to constants"
_REMAINDERS = "remainder of bf16 and a constant of different numbers"
_BY_ZERO = "division of constant integers by zero"

_SIXES, _SEVERAL_ZEROS = [6.0, 6.0, 6.0, 6.0], [0.0, 0.0, 0.0, 1.0]
_FRACTIONS, _DIVISORS = [0.8125, -0.3203125, 2.625, -0.57421875], [1.0, -2.0, 1.0, 0.5]
_EIGHT = [0.5, 1.0, -1.0, 2.0, -2.0, 0.0, 1.5, 3.0]
_FEW = [3e38, -3e37, 1e38, 1e36]
_BASES, _EXPONENTS = [-1.0, -2.0, -3.0, 2.0], [1.0, 2.0, 3.0, 3.0]
_HIGH, _LOW = [89.0, 1.0, 88.5, 2.0], [-1.0, 2.0, -2.0, 2.0]
_WIDE, _SEVEN = [1e19, 2e19, 1e30, -3.0], (3, 1, 2, 2, 8, 8, 8)
_INTEGERS = [65535, 7, 46341, -(2**31)]
_SOME_NAN = [float("nan"), 1.0, -2.0, 0.0]
_SOME_INFINITE = [float("nan"), float("inf"), 2.0, -float("inf")]
_ZERO_OR_NAN = [0.0, 0.0, float("nan"), float("nan")]
_TWICE = [[False, True, True, False], [True, False, True, True]]
_NO, _ZEROS = [False, True, True, False], [-0.0, 0.0, 1.0, 2.0]
_WHOLE = [100000, -5, 3, -(2**31)]
_TINY, _ENORMOUS = [1e-30, 2e-30, -1e-29, 0.0], [1e20, 3e38, 1e37, 1.0]
_GREAT, _LESS = [1e30, 1.0, -8.0, 3.0], [1e20, 4.0, 2.0, 7.0]

_COUNT, _NEVER = [5, 6, 7, 8], [False] * 4
# What is divided is not selected: numbers by zero are whatever an implementation makes them.
_DIVISIONS = {
    **dict.fromkeys(
        (
            *("constants_divided_by_zero", "constants_divided_by_one_zero"),
            *("constants_divided_by_zero_in_a_function", "constants_divided_by_computed_zero"),
        ),
        _BY_ZERO,
    ),
    "constants_divided_by_computed_two": "",
    "constants_divided_by_minus_one": "",
    "argument_divided_by_zero": "",
}

PROGRAMS = {
    **{name: Program([_COUNT, _NEVER], lambda x, _: x, form) for name, form in _DIVISIONS.items()},
    "floats_to_booleans": Program(
        [],
        lambda: np.asarray([-1.5, 3, 4, -2, 1]).astype(bool),
        "convert of constants to booleans that loses all but their last bit",
    ),
    "clamp_between_arguments": Program(
        [_SOME_NAN, _SEVERAL_ZEROS, _SIXES], np.clip, _CLAMPED, perhaps=True
    ),
    "clamp_from_several": Program(
        [_SOME_NAN], lambda x: np.clip(x, _SEVERAL_ZEROS, 6), _CLAMPED, perhaps=True
    ),
    "clamp_from_one": Program([_SOME_NAN], lambda x: np.clip(x, 0, _SIXES)),
    "remainder_by_bf16_constants": Program(
        [_FRACTIONS], lambda x: _remainder(x, _DIVISORS), _REMAINDERS, perhaps=True
    ),
    "remainder_of_bf16_constants": Program(
        [_FRACTIONS], lambda x: _remainder(_DIVISORS, x), _REMAINDERS, perhaps=True
    ),
    "remainder_by_counted_bf16": Program(
        [_FRACTIONS], lambda x: _remainder(x, _COUNTED + _DIVISORS), _REMAINDERS, perhaps=True
    ),
    "remainder_by_bf16_in_a_function": Program(
        [_FRACTIONS], lambda x: _remainder(x, _DIVISORS), _REMAINDERS, perhaps=True
    ),
    "remainder_by_one_bf16": Program([_FRACTIONS], lambda x: _remainder(x, 0.5)),
    "remainder_by_given_bf16": Program([_FRACTIONS, _DIVISORS], _remainder),
    "remainder_by_f16_constants": Program([_FRACTIONS], lambda x: _remainder(x, _DIVISORS)),
    "division_by_large": Program([_FEW], lambda x: x / _LARGE, _DIVIDES),
    "division_by_large_f64": Program(
        [[1.5e308, -1e307, 1e308, 1e306]], lambda x: x / 1e308, _DIVIDES
    ),
    "division_by_largest": Program([_FEW], lambda x: x / np.float32(2.0**126)),
    "division_by_computed": Program([_FEW], lambda x: x / -_LARGE, _DIVIDES, perhaps=True),
    "log_of_power": Program([_BASES, _EXPONENTS], lambda x, y: np.log(x**y), _POWERS, perhaps=True),
    "log_of_cube": Program([_BASES], lambda x: np.log(x * x * x)),
    "log_of_positive_power": Program(
        [_BASES, _EXPONENTS],
        lambda x, y: np.log((1 / (1 + np.exp(-x))) ** y),
        _POWERS,
        perhaps=True,
    ),
    "log_of_fourth_power": Program([_GREAT], lambda x: np.log(x**4), _POWERS, perhaps=True),
    "log_of_power_of_two": Program(
        [[200.0, 1.0, -2.0, 0.5]], lambda x: np.log(np.float32(2) ** x), _POWERS, perhaps=True
    ),
    "log_of_root_of_positive": Program(
        [_BASES], lambda x: np.log((1 / (1 + np.exp(-x))) ** np.float32(0.25))
    ),
    "log_of_exponential": Program([_HIGH], lambda x: np.log(np.exp(x)), _UNDOES, perhaps=True),
    "root_of_square": Program([_WIDE], lambda x: np.sqrt(x * x), _UNDOES, perhaps=True),
    "root_of_square_by_powers": Program([_WIDE], lambda x: np.sqrt(x * x), _UNDOES, perhaps=True),
    "root_of_product": Program([_WIDE, _WIDE], lambda x, y: np.sqrt(x * y)),
    "exponentials_multiplied": Program(
        [_HIGH, _LOW], lambda x, y: np.exp(x) * np.exp(y), _MERGES, perhaps=True
    ),
    "exponentials_divided": Program(
        [_HIGH, [1.0, 2.0, 2.0, 2.0]], lambda x, y: np.exp(x) / np.exp(y), _MERGES, perhaps=True
    ),
    "exponential_raised": Program(
        [_HIGH, [0.5] * 4], lambda x, y: np.exp(x) ** y, _MERGES, perhaps=True
    ),
    "exponential_multiplied": Program([_HIGH, _LOW], lambda x, y: np.exp(x) * y),
    "constant_taken_away": Program(
        [[0.3, 1.2, 2.7, -1.4]], lambda x: x + _MAGIC - _MAGIC, _ADDS, perhaps=True
    ),
    "constant_taken_away_small": Program([[0.25, 1.5, 2.5, -1.5]], lambda x: x),
    "square_made_positive": Program([_INTEGERS], lambda x: np.abs(x * x), _SQUARES, perhaps=True),
    "square_compared": Program([_INTEGERS], lambda x: x * x < 0, _COMPARES, perhaps=True),
    "magnitude_compared": Program([_INTEGERS], lambda x: np.abs(x) < 0, _COMPARES, perhaps=True),
    "square_compared_with_one": Program([_INTEGERS], lambda x: x * x < 1),
    "nan_among_constants": Program([], lambda: _NOT_A_NUMBER, _NAN, perhaps=True),
    "nan_and_an_argument": Program([_FEW], lambda _: _NOT_A_NUMBER),
    "exponential_of_nan_added": Program(
        [_EIGHT], lambda _: np.full(8, np.nan, np.float32), _RAISED, perhaps=True
    ),
    "sorted_with_nan": Program(
        [[3.0, np.nan, 1.0, 2.0, np.nan, 0.0, 5.0, 4.0]],
        np.sort,
        "sort by a comparison of floats that may be NaN",
        perhaps=True,
    ),
    "exponential_of_nan_selected": Program(
        [_EIGHT], lambda x: np.where(x < 0, np.float32(np.nan), np.exp(x))
    ),
    "exponential_of_nan": Program([], lambda: np.full(8, np.nan, np.float32)),
    **{
        name: Program([_EIGHT], lambda _: np.full(8, np.nan, np.float32), _RAISED, perhaps=True)
        for name in (
            *("exponential_of_infinities", "exponential_of_infinities_multiplied"),
            *("exponential_of_nan_clamped", "exponential_of_nan_reduced"),
            *("exponential_of_nan_in_a_function", "exponential_of_nan_in_a_loop"),
            *("exponential_of_infinities_taken_away", "exponential_of_a_negative_variance"),
            *("exponential_of_a_turned_infinity", "exponential_of_the_sign_of_nan"),
            "exponential_of_nan_chosen",
        )
    },
    "exponential_of_nan_f64": Program(
        [_EIGHT], lambda _: np.full(8, np.nan), _RAISED_F64, perhaps=True
    ),
    "exponential_of_infinity": Program([_EIGHT], lambda x: x * 0),
    "logistic_of_nan": Program([_EIGHT], lambda _: np.full(8, np.nan, np.float32)),
    "quotient_divided": Program(
        [_GREAT, _LESS, _LESS], lambda x, y, z: x / y / z, _QUOTIENTS, perhaps=True
    ),
    "quotient_as_divisor": Program(
        [_GREAT, _GREAT, _LESS], lambda x, y, z: x / (y / z), _QUOTIENTS, perhaps=True
    ),
    "quotient_divided_in_a_function": Program(
        [_GREAT, _LESS, _LESS], lambda x, y, z: x / y / z, _QUOTIENTS, perhaps=True
    ),
    # What functions, branches and loops hand on, to where it is divided or beside it.
    "quotient_returned_and_divided": Program(
        [_GREAT, _LESS, _LESS], lambda x, y, z: x / y / z, _QUOTIENTS, perhaps=True
    ),
    "quotient_divided_each_turn": Program(
        [_GREAT, _LESS, _LESS], lambda x, y, z: x / y / z, _QUOTIENTS, perhaps=True
    ),
    "quotient_divided_in_a_branch": Program(
        [_GREAT, _LESS, _LESS, True], lambda x, y, z, _: x / y / z, _QUOTIENTS, perhaps=True
    ),
    "quotient_of_a_branch_divided": Program(
        [_GREAT, _LESS, _LESS, True], lambda x, y, z, _: x / y / z, _QUOTIENTS, perhaps=True
    ),
    "quotient_beside_a_division": Program(
        [_GREAT, _LESS, _LESS], lambda x, y, z: x / y + z / (z + 2)
    ),
    "quotient_returned_beside_a_division": Program(
        [_GREAT, _LESS, _LESS], lambda x, y, z: x / y - z / z
    ),
    "quotient_divided_by_constant": Program([_GREAT, _LESS], lambda x, y: x / y / 3),
    "quotient_by_constant_divided": Program([_GREAT, _LESS], lambda x, y: x / 3 / y),
    "quotient_inverted": Program([_GREAT, _LESS], lambda x, y: 1 / (x / y)),
    "quotient_of_negative_divided": Program([_GREAT, _LESS, _LESS], lambda x, y, z: -(x / y) / z),
    "divided_by_exponential": Program(
        [_FEW, [88.5, 88.5, 1.0, -2.0]], lambda x, y: x / np.exp(y), _BY_EXPONENTIAL, perhaps=True
    ),
    "one_by_exponential": Program([[1.0, -2.0, 80.0, -80.0]], lambda y: 1 / np.exp(y)),
    "divided_by_power": Program(
        [_FEW, [2.0, 3.0, 2.0, 0.5], [127.5, 2.0, 127.0, 3.0]],
        lambda x, y, z: x / y**z,
        _BY_POWER,
        perhaps=True,
    ),
    "divided_by_root": Program([_FEW, [3e38, 2.0, 9.0, 0.25]], lambda x, y: x / np.sqrt(y)),
    "nan_at_least_zero": Program([_SOME_NAN], lambda x: np.abs(x) >= 0, _AT_LEAST, perhaps=True),
    "nan_clipped_at_least_zero": Program(
        [_SOME_NAN], lambda x: np.maximum(x, 0) >= 0, _AT_LEAST, perhaps=True
    ),
    "nan_negated_twice": Program(
        [_SOME_NAN], lambda x: np.negative(-np.abs(x)) >= 0, _AT_LEAST, perhaps=True
    ),
    "nan_selected_at_least_zero": Program(
        [_SOME_NAN, _SOME_NAN, _NO],
        lambda x, y, p: np.abs(np.where(p, x, y)) >= 0,
        _AT_LEAST,
        perhaps=True,
    ),
    "nan_of_a_power_at_least_zero": Program(
        [_SOME_NAN, _EIGHT[:4]], lambda x, y: np.abs(x) ** y >= 0, _AT_LEAST, perhaps=True
    ),
    "nan_negated_at_most_zero": Program([_SOME_NAN], lambda x: -np.abs(x) <= 0),
    "products_merged": Program(
        [_TINY], lambda x: x * np.float32(1e30) * np.float32(1e30), _LEAVES, perhaps=True
    ),
    "products_brought_back": Program(
        [_ENORMOUS], lambda x: x * np.float32(1e30) * np.float32(1e-30), _LEAVES, perhaps=True
    ),
    "products_merged_f16": Program(
        [[0.001, 0.002, 0.0, -0.001]],
        lambda x: x * np.float16(1000) * np.float16(1000),
        _LEAVES,
        perhaps=True,
    ),
    "sums_merged": Program(
        [[-3e38, 0.0, -3.2e38, 1.0]],
        lambda x: x + np.float32(3e38) + np.float32(3e38),
        _LEAVES,
        perhaps=True,
    ),
    "products_apart": Program([_TINY], lambda x: -(x * np.float32(1e30)) * np.float32(1e30)),
    "zero_added": Program([_ZEROS], lambda x: 1 / (x + np.float32(0)), _ZERO_ADDED, perhaps=True),
    "zero_below_zero_taken_away": Program(
        [_ZEROS], lambda x: 1 / (x - np.float32(-0.0)), _ZERO_ADDED, perhaps=True
    ),
    "zero_added_as_argument": Program([_ZEROS, [0.0] * 4], lambda x, y: 1 / (x + y)),
    "masked": Program(
        [_SOME_INFINITE, [-1.0, 1.0, 1.0, -1.0]], lambda x, y: x * (y > 0), _MASKS, perhaps=True
    ),
    "masked_by_argument": Program([_SOME_INFINITE, _NO], np.multiply, _MASKS, perhaps=True),
    "masked_in_a_function": Program(
        [_SOME_INFINITE, [-1.0, 1.0, 1.0, -1.0]], lambda x, y: x * (y > 0), _MASKS, perhaps=True
    ),
    "masked_by_one_minus": Program(
        [_SOME_INFINITE, _NO], lambda x, p: x * (1 - p.astype(np.float32))
    ),
    "masked_constant": Program([_NO], lambda p: p * np.float32(-1e30)),
    "mask_returned_and_multiplied": Program(
        [_SOME_INFINITE, _NO], np.multiply, _MASKS, perhaps=True
    ),
    "masked_tanh": Program(
        [_SOME_INFINITE, _NO], lambda x, p: np.tanh(x) * p, _MASKS, perhaps=True
    ),
    "masked_integers": Program([_WHOLE, _NO], np.multiply),
    "masked_of_integers": Program(
        [_WHOLE, _NO], lambda x, p: (np.tanh(np.float32(x)) + np.float32(x)) * 2 * p
    ),
    "masked_of_great_integers": Program(
        [_WHOLE, _NO], lambda x, p: x.astype(np.float16) * p, _MASKS, perhaps=True
    ),
    "masked_of_great_sums": Program(
        [_WHOLE, _NO],
        lambda x, p: (np.float32(x) * np.float32(1e37) + np.float32(3.4e38)) * p,
        _MASKS,
        perhaps=True,
    ),
    "masked_of_a_function": Program([_NO, _NO], lambda q, p: np.where(q, 1, 0.5) * 0.5 * p),
    "masked_of_a_function_of_arguments": Program(
        [[True] * 4, _NO, _SOME_INFINITE], lambda _, p, x: x * p, _MASKS, perhaps=True
    ),
    "mask_of_a_loop": Program([_SOME_INFINITE, _NO], lambda x, p: x * x * p, _MASKS, perhaps=True),
    "booleans_divided": Program([_NO, 0], lambda p, x: p / x, _MASKS, perhaps=True),
    "booleans_divided_by_root": Program(
        [_NO, _ZERO_OR_NAN], lambda p, x: p / np.sqrt(x), _MASKS, perhaps=True
    ),
    "booleans_divided_by_argument": Program([_NO, _ZERO_OR_NAN], lambda p, x: p / x),
    "booleans_divided_by_three": Program([_NO], lambda p: p / np.float32(3)),
    "masked_in_vain": Program([_SOME_INFINITE, _NO], lambda x, _: x + x),
    "mask_beside_a_product": Program([_SOME_INFINITE, _LESS, _NO], lambda x, y, p: x * y - p),
    "frequencies_raised": Program([_EIGHT[:4]], lambda x: np.exp(x * np.float32(100) ** -_COUNTED)),
    "zero_by_zero_raised": Program(
        [_EIGHT[:4]], lambda x: np.exp(x * (_COUNTED / _COUNTED)), _RAISED, perhaps=True
    ),
    "nan_beside_an_exponential": Program([_EIGHT[:4]], lambda x: x * np.float32("nan")),
    "vectors_masked": Program(
        [_SOME_INFINITE[1:3] * 2, [False, True] * 2],
        lambda x, p: x @ p.astype(np.float32),
        _VECTORS,
        perhaps=True,
    ),
    "vectors_masked_by_dot": Program(
        [_SOME_INFINITE[1:3] * 2, [False, True] * 2],
        lambda x, p: x @ p.astype(np.float32),
        _VECTORS,
        perhaps=True,
    ),
    "nan_below_zero": Program([_SOME_NAN], lambda x: np.abs(x) < 0),
    "nan_at_least_less": Program([_SOME_NAN], lambda x: np.abs(x) >= -1),
    "scatter_over_the_edge": Program(
        [(5, 4), [[0, 0], [4, 1], [1, -1]], (3, 2, 3)], _scattered, _OVER_THE_EDGE, perhaps=True
    ),
    "scatter_rows_beyond": Program([(5, 4), [[0], [5], [2]], (3, 4)], _scattered),
    "scatter_by_narrow": Program(
        [(300,), [[200], [3]], (2,)], _scattered_ones, _NARROW, perhaps=True
    ),
    "scatter_one_by_narrow": Program(
        [(300,), [[100]], (1,)], _scattered_ones, _ONE_NARROW, perhaps=True
    ),
    "scatter_by_narrow_enough": Program([(120,), [[100], [3]], (2,)], _scattered_ones),
    "update_by_narrow": Program([(300,), (2,), 64], _updated, _UPDATE_NARROW, perhaps=True),
    "update_by_narrow_enough": Program([(129,), (2,), 64], _updated),
    "slice_by_narrow_unsigned": Program([(300,), 200], _sliced, _WITH_SIGN, perhaps=True),
    "slice_by_negative": Program([(10,), -1], _sliced),
    "products_of_seven": Program([_SEVEN, _SEVEN], _summed, _PRODUCTS, perhaps=True),
    "products_of_seven_maximum": Program([_SEVEN, _SEVEN], lambda x, y: (x * y).max(axis=3)),
    "products_of_six": Program([_SEVEN[:-1], _SEVEN[:-1]], _summed),
    "sort_of_sixteen": Program([(4,)] * 16, _sum_sorted),
    "sort_of_seventeen": Program([(4,)] * 17, _sum_sorted, _SORTS),
    "sort_of_unused": Program([(4,)] * 17, _last_sorted, _SORTS, perhaps=True),
    "sort_of_twenty_five": Program([(4,)] * 25, _sum_sorted),
}
"""By the names of the artifacts in `compat_tests/data/artifacts`, each at 0.9.0."""

BY_CHANCE = frozenset(name for name, one in PROGRAMS.items() if one.form == _RAISED)
"""Those whose result may be right: it is what the memory held before."""

# Where a result was another, or none, on 2026-11-24 and 2026-11-25; elsewhere it was right.
_BEFORE_0_12 = EVERY[:-1]
WRONG = {
    "floats_to_booleans": EVERY[:-2],
    **dict.fromkeys(
        (
            *("division_by_large", "division_by_large_f64", "division_by_computed"),
            *("log_of_power", "quotient_divided", "quotient_as_divisor"),
            *("quotient_divided_in_a_function", "divided_by_power", "scatter_over_the_edge"),
            *("quotient_returned_and_divided", "quotient_divided_each_turn"),
            "mask_returned_and_multiplied",
            *("log_of_fourth_power", "log_of_power_of_two"),
            *("zero_added", "zero_below_zero_taken_away"),
            *("masked", "masked_by_argument", "masked_in_a_function"),
            *("masked_tanh", "masked_of_great_integers", "masked_of_great_sums"),
            *("masked_of_a_function_of_arguments", "mask_of_a_loop"),
            *("booleans_divided", "booleans_divided_by_root"),
        ),
        EVERY,
    ),
    **dict.fromkeys(
        (
            *("log_of_exponential", "root_of_square", "exponentials_multiplied"),
            *("exponentials_divided", "exponential_raised", "constant_taken_away"),
            *("square_made_positive", "divided_by_exponential"),
            *("products_merged", "products_brought_back", "products_merged_f16", "sums_merged"),
            *BY_CHANCE,
        ),
        _BEFORE_0_12,
    ),
    **dict.fromkeys(
        (
            *("nan_at_least_zero", "nan_clipped_at_least_zero", "nan_negated_twice"),
            *("nan_selected_at_least_zero", "nan_of_a_power_at_least_zero"),
        ),
        EVERY[3:],
    ),
    "scatter_by_narrow": EVERY[:4],
    **dict.fromkeys(("scatter_one_by_narrow", "update_by_narrow"), _BEFORE_0_12),
    "slice_by_narrow_unsigned": EVERY[:1],
    **dict.fromkeys(("vectors_masked", "vectors_masked_by_dot"), EVERY[4:]),
    "root_of_square_by_powers": EVERY[2:5],
    "square_compared": EVERY[3:5],
    "sorted_with_nan": _BEFORE_0_12,
    "magnitude_compared": EVERY[3:5],
    "products_of_seven": ("0.10.2",),
    **{name: ("0.10.2",) for name, form in _DIVISIONS.items() if form},
    "sort_of_seventeen": ("0.4.33",),
    "gather_by_unsigned": ("0.4.13",),
    **dict.fromkeys(
        (
            *("remainder_by_bf16_constants", "remainder_of_bf16_constants"),
            *("remainder_by_counted_bf16", "remainder_by_bf16_in_a_function"),
        ),
        ("0.4.30",),
    ),
}
"""The jaxlibs that compute it otherwise, refuse it, or end while they execute it."""

_WIDENED = "dot_general of unsigned integers that are widened"
_CONVOLVED = "convolution of two operands of unsigned integers that are widened"
_GATHERED = "gather by single unsigned indices"
_GATHERED_OUTSIDE = "gather by indices that may be out of bounds"
_TO_ANY = "power of floats other than by 0, 1, 2, 3, -1, -2 or 0.5, or of a positive constant"
_OUTSIDE = "while with unused results whose body returns only values from outside"
_SO_FAR = "reduce_window that sums up booleans one by one"
_ROWS = (5, 4)
_ZERO_TO_FOUR = [0.0, -2.0, 1.0, np.inf, -np.inf, 3.0, np.nan, 4.0]
_ANEW = "while other than a counted loop, whose body replaces what it does not read"
_COUNTS = "convert to unsigned integers of what a loop counts"
_HALVES = [1.0, 1.5, -2.0, -0.5]
_OWN_FLOOR = "compare of numbers with their own floor or ceil for equality"
_FALSE_AT_FIRST = [False, True, False, False, False]
_IMAGE, _MATRIX, _WINDOW, _PIXELS = (4, 5), (5, 3), (3, 3, 3, 4), (1, 5, 6, 3)

_OVER_NOTHING = "product over a dimension without elements"
ON_IREE = {
    "dot_over_nothing": Program([(2, 0), (0, 3)], np.matmul, _OVER_NOTHING),
    "einsum_over_nothing": Program([(2, 0), (0, 3)], np.matmul, _OVER_NOTHING),
    "dot_of_unsigned_widened": Program([_IMAGE, _MATRIX], _product, _WIDENED),
    "dot_of_unsigned_itself": Program([_IMAGE, _MATRIX], _product, _WIDENED),
    "dot_of_an_image": Program([_IMAGE, _MATRIX], _product, _WIDENED),
    "dot_of_an_image_shifted": Program(
        [_IMAGE, _MATRIX], lambda x, y: (x.astype(np.float32) - 128) @ y
    ),
    "dot_of_unsigned_kept": Program(
        [_IMAGE, _MATRIX], lambda x, y: _product(x, y).astype(np.uint8)
    ),
    "dot_of_signed_widened": Program([_IMAGE, _MATRIX], _product),
    "convolution_of_unsigned": Program([_PIXELS, _WINDOW], _convolved, _CONVOLVED),
    "convolution_of_an_image": Program([_PIXELS, _WINDOW], _convolved),
    "gather_by_unsigned": Program(
        [(300,), [[200], [255], [3]]], lambda x, i: x[i[:, 0]], _GATHERED, perhaps=True
    ),
    "gather_rows": Program([_ROWS, [[0], [5], [-2]]], _rows, _GATHERED_OUTSIDE, perhaps=True),
    "gather_rows_clamped": Program([_ROWS, [[0], [5], [-2]]], _rows),
    "gather_rows_clamped_less": Program(
        [_ROWS, [[0], [5], [-2]]], _rows, _GATHERED_OUTSIDE, perhaps=True
    ),
    "gather_rows_limited": Program([_ROWS, [[0], [5], [-2]]], _rows),
    "gather_rows_above": Program([_ROWS, [[0], [5], [-2]]], _rows, _GATHERED_OUTSIDE, perhaps=True),
    "gather_rows_narrowed": Program(
        [_ROWS, [[0], [1 << 31], [2]]],
        lambda x, _: x[[0, 0, 2]],
        _GATHERED_OUTSIDE,
        perhaps=True,
    ),
    "gather_rows_counted": Program([_ROWS], lambda x: x[:3]),
    "gather_rows_constant": Program([_ROWS], lambda x: x[[4, 0, 2]]),
    "gather_rows_constant_beyond": Program(
        [_ROWS], lambda x: x[[4, 0, 2]], _GATHERED_OUTSIDE, perhaps=True
    ),
    "gather_rows_from_the_end": Program([_ROWS], lambda x: x[2:]),
    "gather_rows_from_beyond_the_end": Program(
        [_ROWS], lambda x: x[[4, 4, 4]], _GATHERED_OUTSIDE, perhaps=True
    ),
    "gather_rows_resized": Program([_ROWS], lambda x: x[[0, 0, 0, 1, 1, 2, 2, 3, 3, 4]]),
    "gather_rows_resized_more": Program(
        [_ROWS], lambda x: x[[0, 0, 1, 1, 2, 2, 3, 4, 4, 4]], _GATHERED_OUTSIDE, perhaps=True
    ),
    "gather_diagonal_below": Program([_ROWS], lambda x: x[range(1, 5), range(4)]),
    "gather_diagonal_above": Program(
        [_ROWS], lambda x: x[range(4), [1, 2, 3, 3]], _GATHERED_OUTSIDE, perhaps=True
    ),
    "gather_rows_clamped_by_a_function": Program([_ROWS, [[0], [5], [-2]]], _rows),
    "gather_rows_clamped_by_an_argument": Program(
        [_ROWS, [[0], [5], [-2]], 7], lambda x, i, _: _rows(x, i), _GATHERED_OUTSIDE, perhaps=True
    ),
    "power_given": Program(
        [_ZERO_TO_FOUR, [0.0, 3.0, np.inf, 1.0, 0.5, 2.0, 0.0, 2.0]],
        np.power,
        _TO_ANY,
        perhaps=True,
    ),
    "power_by_two": Program([_ZERO_TO_FOUR], np.square),
    "power_by_five": Program([_ZERO_TO_FOUR], lambda x: x**5, _TO_ANY, perhaps=True),
    "power_of_a_rate": Program([_ZERO_TO_FOUR], lambda x: np.power(np.float32(0.9), x)),
    "power_of_one": Program([_ZERO_TO_FOUR], np.ones_like, _TO_ANY, perhaps=True),
    "any_so_far": Program([_FALSE_AT_FIRST], np.logical_or.accumulate, _SO_FAR),
    "any_of_three_so_far": Program(
        [_FALSE_AT_FIRST], lambda x: x | np.array([False, False, True, True, False])
    ),
    "any_of_two": Program([_FALSE_AT_FIRST], lambda x: x[1:] | x[:-1]),
    "atan2_given": Program(
        [_ZEROS, [0.0, 1.0, 2.0, -1.0]], np.arctan2, "atan2 of zeros or infinities", perhaps=True
    ),
    "atan2_of_positive": Program([_SOME_INFINITE], lambda x: np.arctan2(x, np.float32(2))),
    "cbrt_given": Program([_SOME_INFINITE], np.cbrt, "cbrt of what may be infinite", perhaps=True),
    "cbrt_of_tanh": Program([_SOME_INFINITE], lambda x: np.cbrt(np.tanh(x))),
    "sine_given": Program(
        [[1e15, 1.0, -2.0, 0.0]], np.sin, "sine, cosine or tan of more than 10,000", perhaps=True
    ),
    "sine_of_a_difference": Program(
        [[1, 2, 3, 7]],
        lambda x: np.sin((x % np.uint32(3) - np.uint32(3)).astype(np.float32)),
        "sine, cosine or tan of more than 10,000",
        perhaps=True,
    ),
    "cbrt_of_a_great_sum": Program(
        [_NO],
        lambda p: np.cbrt(np.where(p, np.float32(3e38), np.float32(1)) * np.float32(2)),
        "cbrt of what may be infinite",
        perhaps=True,
    ),
    "vectors_masked_in_batches": Program([(2, 4, 3), _TWICE], _product_in_batches, _IN_BATCHES),
    "vectors_masked_in_batches_reshaped": Program(
        [(2, 4, 3), [*_NO, *_NO]],
        lambda x, p: _product_in_batches(x, p.reshape(2, 4)),
        _IN_BATCHES,
        perhaps=True,
    ),
    "vectors_masked_in_batches_of_batches": Program(
        [(2, 2, 3, 4), [_TWICE, _TWICE]], lambda x, p: np.einsum("abij,abj->abi", x, p)
    ),
    "matrices_masked_in_batches": Program(
        [(2, 3, 4), [[[True, False]] * 4, [[False, True]] * 4]], lambda x, p: x @ p
    ),
    "vector_by_masked_matrix": Program(
        [(4,), [[True, False, True]] * 4],
        lambda x, p: x @ p,
        "dot_general of a vector and a matrix of which one is made of booleans",
    ),
    "vector_by_masked_matrix_by_dot": Program(
        [(4,), [[True, False, True]] * 4],
        lambda x, p: x @ p,
        "dot_general of a vector and a matrix of which one is made of booleans",
        perhaps=True,
    ),
    "matrix_by_masked_vector": Program([(3, 4), _NO], lambda x, p: x @ p),
    "slice_by_negative_narrow": Program([(10,), -1], _sliced, _SLICED, perhaps=True),
    "update_by_great": Program([(10,), (2,), 1 << 63], _updated, _SLICED, perhaps=True),
    "cosine_clamped": Program([[1.0, 3.0, -2.0, 0.0]], lambda x: np.cos(np.clip(x, -1e4, 1e4))),
    "subnormal_added": Program(
        [[0.0, 1.0, 2.0, 16.0]],
        lambda x: (1 / np.sqrt(x.astype(np.float32) + np.float16(1e-5))).astype(np.float16),
        "constant of a subnormal number",
        perhaps=True,
    ),
    "loop_of_computed_constants": Program(
        [_EIGHT[:4]],
        lambda x: x,
        "loop that begins with what is computed from constants alone",
        perhaps=True,
    ),
    "loop_of_constants": Program([_EIGHT[:4]], lambda x: x + 21),
    "while_of_outside": Program([7, (4,), (4,)], lambda *given: given[2], _OUTSIDE),
    "while_of_outside_computed": Program([7, (4,), (4,)], lambda _, x, y: x + y, _OUTSIDE),
    "while_of_outside_swapped": Program(
        [7, (4,), (4,)], lambda *given: given[2], _OUTSIDE, perhaps=True
    ),
    "while_of_outside_counted": Program([7, (4,), (4,)], lambda _, x, y: x + y),
    "while_of_outside_asked_other": Program([7, (4,), (4,)], lambda *given: given[0]),
    "loop_beside_its_beginning": Program(
        [(4,)], lambda x: 2 * x * x + 3 * x, _BESIDE_LOOP, perhaps=True
    ),
    "loop_beside_what_it_takes": Program([(4,)], lambda x: 4 * x * x + x),
    "loop_beside_what_it_keeps": Program([(4,)], lambda x: 4 * x * x + x),
    "loop_without_a_turn": Program([(4,), 0], lambda x, _: x * x, _NO_TURN, perhaps=True),
    "loop_without_a_turn_from_outside": Program(
        [(4,), 0], lambda x, _: x, _FROM_CONSTANT, perhaps=True
    ),
    "loop_of_three_turns": Program([(4,)], lambda x: x, _FROM_CONSTANT, perhaps=True),
    "loop_of_a_constant_sum": Program(
        [(4,), 2],
        lambda x, n: x * (n + 1) + x,
        "loop that begins with what is computed from constants alone",
        perhaps=True,
    ),
    "abs_of_great_parts": Program([[1e20j, 3e25, 1 + 1j, 0]], np.abs, _BY_PARTS, perhaps=True),
    "abs_of_small_parts": Program([(4,)], lambda x: np.abs(np.tanh(x)) * np.sqrt(np.float32(2))),
    "sort_by_what_folds": Program([(6,)], lambda x: x, _FOLDS, perhaps=True),
    "sort_by_what_contradicts_itself": Program([(6,)], lambda x: x, _FOLDS, perhaps=True),
    "masked_by_broadcast": Program(
        [[_SOME_INFINITE, _SOME_INFINITE], [False, True]],
        lambda x, p: x * p[:, None],
        "product of floats with booleans, or with integers made of them",
        perhaps=True,
    ),
    "scatter_rows_before": Program(
        [_ROWS, [[0], [-1], [2]], (3, 4)],
        _scattered,
        "scatter by indices that may be out of bounds",
        perhaps=True,
    ),
    "scatter_behind": Program(
        [(2, 3, 2), (2, 2)],
        lambda x, u: np.stack([_added_at(one, two) for one, two in zip(x, u, strict=True)]),
        "scatter by indices into several dimensions that are not the first ones",
    ),
    "floor_selects": Program([_HALVES], lambda x: np.where(x == np.floor(x), -x, np.floor(x))),
    "floor_selects_in_a_function": Program(
        [_HALVES], lambda x: np.where(x == np.floor(x), -x, np.floor(x))
    ),
    "floor_as_a_number": Program(
        [_HALVES], lambda x: (x == np.floor(x)).astype(np.float32), _OWN_FLOOR
    ),
    "floor_joined": Program(
        [_HALVES], lambda x: np.append(x == np.floor(x), x < np.floor(x)), _OWN_FLOOR, perhaps=True
    ),
    "complex_sums_so_far": Program([(4,)], np.cumsum),
    "complex_sums_of_three": Program(
        [(4,)],
        lambda x: np.convolve(x, np.ones(3, x.dtype), "same"),
        "pad or convolution of complex numbers by a constant",
    ),
    "loop_until_done": Program([(4,)], _until_done, _ANEW),
    "loop_until_done_or_before": Program([(4,)], _until_done),
    "loop_until_called": Program([(4,)], _until_done, _ANEW, perhaps=True),
    "loop_counted_anew": Program([(4,)], lambda x: x + x),
    "count_to_unsigned": Program([[250, 1, 2, 3]], lambda x: x + np.uint8(6), _COUNTS),
    "count_to_unsigned_by_a_function": Program([[250, 1, 2, 3]], lambda x: x + 14, _COUNTS),
    "count_selected_to_unsigned": Program([[250, 1, 2, 3]], lambda x: x + 6),
    "count_to_signed": Program([[120, 1, 2, 3]], lambda x: x + np.int8(6)),
    "slice_beside_a_loop": Program(
        [[3, 1, 4, 1, 5, 9, 2, 6]],
        _checksum,
        "slice by what a loop carries, beside a loop in it",
        perhaps=True,
    ),
    "slice_by_a_count_beside_a_loop": Program([[3, 1, 4, 1, 5, 9, 2, 6]], _checksum),
    "scatter_before": Program([(3, 2, 2), (2, 2)], _added_at),
    "scatter_rows_clamped": Program(
        [_ROWS, [[0], [-1], [2]], (3, 4)], lambda x, i, u: _scattered(x, np.clip(i, 0, 4), u)
    ),
}
"""Those of unsigned integers, of indices and of special values, right on jaxlib from 0.4.18 on."""
WRONG_ON_IREE = frozenset(name for name, program in ON_IREE.items() if program.form) - {
    "gather_diagonal_above",
    "vectors_masked_in_batches_reshaped",
    "slice_beside_a_loop",  # now and then
}
"""Where iree-base-compiler 3.13.0 computed another result, or none, from 2026-11-24 to 26."""
BY_CHANCE_ON_IREE = frozenset({"slice_beside_a_loop"})
"""Where it computed another result now and then."""
