"""Distances between outputs, against the definition of each format."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from portable.runtime.executors.compare import (
    INFINITE,
    compare,
    compare_all,
    ulps_between,
)
from portable.tolerance import BITS, Tolerance

FLOATS = [
    np.float16,
    np.float32,
    np.float64,
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e4m3b11fnuz,
    ml_dtypes.float8_e3m4,
    ml_dtypes.float8_e8m0fnu,
    ml_dtypes.float6_e2m3fn,
    ml_dtypes.float6_e3m2fn,
    ml_dtypes.float4_e2m1fn,
]


def _all_values(dtype: Any) -> Any:
    """Return every finite value of a small format in its order, one zero only."""
    bits = np.arange(
        2 ** min(16, 8 * np.dtype(dtype).itemsize), dtype=f"u{np.dtype(dtype).itemsize}"
    )
    limit = {"float4_e2m1fn": 16, "float6_e2m3fn": 64, "float6_e3m2fn": 64}
    values = bits[: limit.get(np.dtype(dtype).name, len(bits))].view(dtype)
    with np.errstate(invalid="ignore"):  # NaNs that signal
        wide = values.astype(np.float64)
    _, first = np.unique(np.where(np.isfinite(wide), wide, np.inf), return_index=True)
    kept = values[first]
    return kept[np.isfinite(kept.astype(np.float64))]


@pytest.mark.parametrize("dtype", [d for d in FLOATS if np.dtype(d).itemsize <= 2])
def test_neighbours_are_one_ulp_apart(dtype: Any) -> None:
    """Of every format of 16 bits or fewer all values are tried, in the order of the numbers."""
    values = _all_values(dtype)
    assert len(values) > 10
    assert set(ulps_between(values[1:], values[:-1]).tolist()) == {1}
    assert set(ulps_between(values[:-3], values[3:]).tolist()) == {3}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wide_formats_agree_with_nextafter(dtype: Any) -> None:
    """The neighbour that numpy names is one ulp away, also at zero and at the extremes."""
    tiny, huge = np.finfo(dtype).tiny, np.finfo(dtype).max
    values = np.array([0.0, 1.0, -1.0, tiny, -tiny, huge / 2, math.pi], dtype)
    up = np.nextafter(values, dtype(np.inf))
    assert ulps_between(values, up).tolist() == [1] * len(values)
    ends = np.array([-huge, huge], dtype)
    steps = 2 * (int(ends[1:].view(f"u{ends.itemsize}")[0]))
    assert ulps_between(ends[:1], ends[1:]).tolist() == [steps]


@pytest.mark.parametrize("dtype", FLOATS)
def test_equal_values_are_equal(dtype: Any) -> None:
    """A comparison of an array with itself finds nothing, in every format."""
    values = np.array([1, 2, 4, 0.5], dtype)
    comparison = compare(values, values.copy())
    assert comparison.same
    assert comparison.histogram == (("0", 4),)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_nan_and_infinity(dtype: Any) -> None:
    """A NaN equals a NaN of any payload; a NaN or infinity has no distance to anything else."""
    expected = np.array([np.nan, np.nan, np.inf, np.inf, 1, np.inf], dtype)
    actual = np.array([-np.nan, 1, np.inf, -np.inf, np.nan, 1], dtype)
    ulps = ulps_between(expected, actual)
    assert (ulps == INFINITE).tolist() == [False, True, False, True, True, True]
    assert ulps[0] == ulps[2] == 0
    comparison = compare(expected, actual, Tolerance(ulps=2**62, relative=9.0, absolute=1e30))
    assert (comparison.different, comparison.worst) == (4, None)
    assert comparison.first[0].ulps is None


def test_signed_zeros() -> None:
    """Bit equality tells -0 from +0, in complex numbers too; a tolerance does not."""
    zero, negative = np.zeros(2, np.float32), -np.zeros(2, np.float32)
    assert compare(zero, negative).different == 2
    assert compare(zero, negative, Tolerance(ulps=1)).same
    assert not compare(np.array([0j]), np.array([complex(0.0, -0.0)])).same
    assert compare(np.zeros(1, np.int32), np.zeros(1, np.int32)).same
    # This format has one zero, and its NaN has the bits that are -0 elsewhere.
    fnuz = np.array([0.0, np.nan], ml_dtypes.float8_e4m3fnuz)
    assert compare(fnuz, fnuz.copy()).same
    assert not compare(fnuz, fnuz[::-1]).same


def test_complex_counts_the_worse_part() -> None:
    """One part off by two and the other by one are two ulps."""
    one = np.array([1 + 1j], np.complex64)
    other = one.copy()
    other.real = np.nextafter(np.nextafter(one.real, np.float32(2)), np.float32(2))
    other.imag = np.nextafter(one.imag, np.float32(2))
    assert ulps_between(one, other).tolist() == [2]
    turned = [np.array([complex(z.imag, z.real)], np.complex64) for z in (one[0], other[0])]
    assert ulps_between(*turned).tolist() == [2]


def test_the_histogram_counts_each_distance_once() -> None:
    """The values at both ends of each range, by numpy's own steps from one float to the next."""
    distances = [0, 1, 2, 3, 4, 16, 17, 256, 257]
    one = np.ones(len(distances) + 1, np.float32)
    other = one.copy()
    for at, distance in enumerate(distances):
        for _ in range(distance):
            other[at] = np.nextafter(other[at], np.float32(2))
    other[-1] = np.nan
    assert compare(one, other).histogram == (
        ("0", 1), ("1", 1), ("2-3", 2), ("4-16", 2), ("17-256", 2), ("above 256", 1),
        ("infinite", 1),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("dtype", "one", "other", "ulps"),
    [
        (np.int64, -(2**63), 2**63 - 1, 2**64 - 1),
        (np.uint64, 0, 2**63, 2**63),
        (np.int8, -128, 127, 255),
        (np.bool_, True, False, 1),
        (ml_dtypes.int4, -8, 7, 15),
        (ml_dtypes.uint4, 0, 15, 15),
        (ml_dtypes.int2, -2, 1, 3),
    ],
)
def test_integers_are_equal_or_different(dtype: Any, one: int, other: int, ulps: int) -> None:
    """Their distance is the difference, and no tolerance makes them the same."""
    expected, actual = np.array([one], dtype), np.array([other], dtype)
    assert ulps_between(expected, actual).tolist() == [ulps]
    assert not compare(expected, actual, Tolerance(ulps=2**60, relative=1e9, absolute=1e30)).same


def test_a_difference_is_reported() -> None:
    """With its index, both values, its ulps, and a histogram of all."""
    expected = np.ones((2, 3), np.float32)
    actual = expected.copy()
    actual[1, 2] = 1.5
    actual[0, 1] = np.nextafter(np.float32(1), np.float32(2))
    comparison = compare(expected, actual, output=7)
    assert [d.index for d in comparison.first] == [(0, 1), (1, 2)]
    assert comparison.histogram == (("0", 4), ("1", 1), ("above 256", 1))
    assert comparison.worst == 1 << 22
    assert "output 7: 2 of 6 elements differ; first [0, 1]: 1.0 became 1.000000119" in str(
        comparison
    )
    last = comparison.first[1]
    assert (last.expected, last.actual, last.ulps) == ("1.0", "1.5", 1 << 22)
    assert compare(expected, actual, Tolerance(relative=0.4)).same
    assert compare(expected, actual, Tolerance(absolute=0.5)).same
    assert compare(expected, actual, Tolerance(ulps=1)).different == 1


def test_parts_of_a_tolerance_do_not_add_up() -> None:
    """Any one part is enough, and nothing that is beyond each of them is near enough."""
    expected, actual = np.array([10.0], np.float32), np.array([11.0], np.float32)
    for near, same in {
        Tolerance(relative=0.1): True,  # of the larger: 1.1
        Tolerance(absolute=1.0): True,
        Tolerance(relative=0.09, absolute=0.1): False,  # 0.99 and 0.1
        Tolerance(relative=0.05, absolute=0.6): False,
        Tolerance(relative=0.05, absolute=1.0): True,
        Tolerance(relative=0.1, absolute=0.1): True,
        Tolerance(ulps=1 << 20, relative=0.05, absolute=0.6): True,
    }.items():
        assert compare(expected, actual, near).same is same, near


def test_what_cannot_be_compared_differs() -> None:
    """Another dtype, shape or number of outputs is a difference with its reason."""
    one = np.ones(3, np.float32)
    assert compare(one, one.astype(np.float64)).reason == "dtype float32 became float64"
    assert compare(one, one.reshape(3, 1)).reason == "shape (3,) became (3, 1)"
    assert compare_all([one], [])[0].reason == "1 outputs became 0"
    assert all(c.same for c in compare_all([one, one[:0]], [one, one[:0]], BITS))


def test_scalars_are_compared_too() -> None:
    """Whichever is larger, without a warning that numpy gives for scalars alone."""
    low, high = np.float32(1).reshape(()), np.float32(2).reshape(())
    for one, other in ((low, high), (high, low), (np.uint8(3), np.uint8(255))):
        assert int(ulps_between(np.asarray(one), np.asarray(other))) > 0
