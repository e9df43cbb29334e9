"""How far two outputs are apart, and whether that is near enough.

Rules:

- Distances are counted in ulps: how many values of the type lie between two, +0 and -0 being one.
  Those of a complex number are the larger of its two parts'; those of integers the difference.
- A NaN equals a NaN, whatever its sign and payload, which IEEE 754 leaves open; a NaN and a number
  are infinitely far apart, and so are an infinity and anything else.
- Bit equality is distance 0, and the same sign of zeros.
- A tolerance lets +0 pass for -0, and applies to floats only: integers are equal or different.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.tolerance import BITS, Tolerance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.runtime.executors.tensors import Array

__all__ = [
    "Comparison",
    "Difference",
    "compare",
    "compare_all",
    "ulps_between",
]

# Farther than any two numbers: the distance of a NaN, or an infinity, from another value.
INFINITE = np.uint64(0xFFFF_FFFF_FFFF_FFFF)
# The upper ends of the histogram's bins.
_BINS = ((0, "0"), (1, "1"), (3, "2-3"), (16, "4-16"), (256, "17-256"))
_ABOVE, _ENDLESS = "above 256", "infinite"
_MOST_SHOWN = 5
# The formats whose values have no sign bit, and the widths of those that are no whole bytes.
_UNSIGNED = frozenset({"float8_e8m0fnu"})
_NARROW = {"float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6}


@dataclass(frozen=True, slots=True)
class Difference:
    """One element that differs.

    Args:
        index: Where.
        expected: The value there, as text.
        actual: The other.
        ulps: Their distance; None for infinite.
    """

    index: tuple[int, ...]
    expected: str
    actual: str
    ulps: int | None

    def __str__(self) -> str:
        where = ", ".join(map(str, self.index))
        far = "no distance" if self.ulps is None else f"{self.ulps} ulps"
        return f"[{where}]: {self.expected} became {self.actual} ({far})"

    def record(self) -> dict[str, object]:
        """Return the difference as plain data for JSON."""
        return {
            "index": list(self.index),
            "expected": self.expected,
            "actual": self.actual,
            "ulps": self.ulps,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two outputs, compared.

    Args:
        output: The number of the output.
        elements: How many elements there are.
        different: How many are farther apart than the tolerance accepts.
        worst: The largest distance in ulps; None for infinite.
        first: The first few that differ.
        histogram: How many elements lie in each range of ulps; empty ranges are left out.
        reason: Why nothing could be compared: another shape, dtype or number of outputs.
    """

    output: int
    elements: int = 0
    different: int = 0
    worst: int | None = 0
    first: tuple[Difference, ...] = ()
    histogram: tuple[tuple[str, int], ...] = ()
    reason: str = ""

    @property
    def same(self) -> bool:
        """Whether the outputs are equal within the tolerance."""
        return not self.different and not self.reason

    def __str__(self) -> str:
        if self.reason:
            return f"output {self.output}: {self.reason}"
        if not self.different:
            return f"output {self.output}: {self.elements} elements are the same"
        bins = ", ".join(f"{count} at {ulps}" for ulps, count in self.histogram)
        return (
            f"output {self.output}: {self.different} of {self.elements} elements differ; "
            f"first {self.first[0]}; ulps: {bins}"
        )

    def record(self) -> dict[str, object]:
        """Return the comparison as plain data for JSON."""
        return {
            "output": self.output,
            "same": self.same,
            "elements": self.elements,
            "different": self.different,
            "worst_ulps": self.worst,
            "first": [difference.record() for difference in self.first],
            "ulps": dict(self.histogram),
            "reason": self.reason,
        }


def compare_all(
    expected: Sequence[Array], actual: Sequence[Array], tolerance: Tolerance = BITS
) -> tuple[Comparison, ...]:
    """Compare all outputs of two runs.

    Args:
        expected: Of the one.
        actual: Of the other.
        tolerance: What counts as the same.

    Returns:
        One Comparison for each output.
    """
    if len(expected) != len(actual):
        return (Comparison(0, reason=f"{len(expected)} outputs became {len(actual)}"),)
    pairs = enumerate(zip(expected, actual, strict=True))
    return tuple(compare(one, other, tolerance, output=number) for number, (one, other) in pairs)


def compare(
    expected: Array, actual: Array, tolerance: Tolerance = BITS, *, output: int = 0
) -> Comparison:
    """Compare two outputs.

    Args:
        expected: The one.
        actual: The other.
        tolerance: What counts as the same.
        output: Its number.

    Returns:
        The Comparison.
    """
    if expected.dtype != actual.dtype:
        return Comparison(output, reason=f"dtype {expected.dtype} became {actual.dtype}")
    if expected.shape != actual.shape:
        return Comparison(output, reason=f"shape {expected.shape} became {actual.shape}")
    ulps = ulps_between(expected, actual)
    wrong = ~_near(expected, actual, ulps, tolerance)
    places = [tuple(int(i) for i in place) for place in np.argwhere(wrong)[:_MOST_SHOWN]]
    first = tuple(
        Difference(place, _shown(expected[place]), _shown(actual[place]), _finite(ulps[place]))
        for place in places
    )
    worst = _finite(np.max(ulps)) if ulps.size else 0
    count = int(np.count_nonzero(wrong))
    return Comparison(output, expected.size, count, worst, first, _histogram(ulps))


def ulps_between(expected: Array, actual: Array) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Count the ulps between the elements of two arrays.

    Args:
        expected: Of any dtype of numpy or ml_dtypes.
        actual: Of the same dtype and shape.

    Returns:
        The distances; 2**64 - 1 stands for infinite.
    """
    if expected.dtype.kind == "c":
        parts = [
            ulps_between(getattr(expected, part), getattr(actual, part))
            for part in ("real", "imag")
        ]
        return np.asarray(np.maximum(*parts), np.uint64)
    if not _is_float(expected.dtype):
        return _apart(*(_integers(array) for array in (expected, actual)))
    one, other = _ordered(expected), _ordered(actual)
    ulps = _apart(one, other)
    lost = np.zeros(ulps.shape, bool)
    for special in (np.isnan, _isinf):
        # Equal bits make equal infinities; of two NaNs the bits say nothing.
        mine, theirs = special(expected), special(actual)
        lost |= (mine | theirs) & ((mine != theirs) | ((ulps != 0) & (special is _isinf)))
    ulps = np.where(np.isnan(expected) & np.isnan(actual), np.uint64(0), ulps)
    return np.where(lost, INFINITE, ulps)


def _near(expected: Array, actual: Array, ulps: Array, tolerance: Tolerance) -> Array:
    if tolerance == BITS or (expected.dtype.kind != "c" and not _is_float(expected.dtype)):
        return np.asarray((ulps == 0) & (_negative_zeros(expected) == _negative_zeros(actual)))
    near: Array = ulps <= np.uint64(tolerance.ulps)
    if tolerance.relative or tolerance.absolute:
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        one, other = expected.astype(wide), actual.astype(wide)
        with np.errstate(all="ignore"):
            apart = np.abs(one - other)
            largest = np.maximum(np.abs(one), np.abs(other))
            close = (apart <= tolerance.absolute) | (apart <= tolerance.relative * largest)
        near |= close & (ulps != INFINITE)
    return near


def _negative_zeros(array: Array) -> Array:
    """Return where zeros are negative: a number of two bits for a complex one."""
    if array.dtype.kind == "c":
        return np.asarray(_negative_zeros(array.real) + 2 * _negative_zeros(array.imag))
    if not _is_float(array.dtype) or array.dtype.name in _UNSIGNED:
        return np.zeros(array.shape, np.uint8)
    negative, magnitude = _sign_and_magnitude(array)
    return np.asarray(negative & (magnitude == 0) & ~np.isnan(array), np.uint8)


def _is_float(dtype: np.dtype[Any]) -> bool:
    # The kinds of ml_dtypes are V for its floats, but not for all of them.
    return dtype.kind == "f" or dtype.name.startswith(("bfloat", "float"))


def _isinf(array: Array) -> Array:
    with np.errstate(invalid="ignore"):  # NaNs that signal
        return np.asarray(np.isinf(array.astype(np.float32) if array.itemsize < 2 else array))


def _sign_and_magnitude(array: Array) -> tuple[Array, Array]:
    bits = np.ascontiguousarray(array).reshape(array.shape).view(f"u{array.dtype.itemsize}")
    width = _NARROW.get(array.dtype.name, 8 * array.dtype.itemsize)
    whole = bits.astype(np.uint64) & np.uint64((1 << width) - 1)
    if array.dtype.name in _UNSIGNED:
        return np.zeros(array.shape, bool), whole
    sign = np.uint64(1 << (width - 1))
    return (whole & sign) != 0, whole & ~sign


def _ordered(array: Array) -> Array:
    """Number the values of a float type in their order; both zeros get 0."""
    negative, magnitude = _sign_and_magnitude(array)
    numbers = magnitude.astype(np.int64)
    return np.where(negative, -numbers, numbers)


def _integers(array: Array) -> Array:
    unsigned = array.dtype.kind == "u" or array.dtype.name.startswith("uint")
    return array.astype(np.uint64 if unsigned else np.int64)


def _apart(one: Array, other: Array) -> np.ndarray[Any, np.dtype[np.uint64]]:
    # Modulo 2**64 the larger less the smaller is right whatever their signs.
    with np.errstate(over="ignore"):  # numpy warns of overflow for scalars only
        forth = one.astype(np.uint64) - other.astype(np.uint64)
        return np.asarray(np.where(one >= other, forth, np.uint64(0) - forth), np.uint64)


def _finite(ulps: Any) -> int | None:
    return None if ulps == INFINITE else int(ulps)


def _shown(value: Any) -> str:
    return str(value.item() if value.dtype.kind in "biufc" else value)


def _histogram(ulps: Array) -> tuple[tuple[str, int], ...]:
    counts, rest = [], ulps.reshape(-1)
    for end, name in _BINS:
        counts.append((name, int(np.count_nonzero(rest <= end))))
        rest = rest[rest > end]
    endless = int(np.count_nonzero(rest == INFINITE))
    counts += [(_ABOVE, rest.size - endless), (_ENDLESS, endless)]
    return tuple((name, count) for name, count in counts if count)
