"""How far computed values may be apart and still count as the same."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["BITS", "Tolerance", "demand_count", "demand_distance"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Which differences count as equal; meeting one of the three is enough.

    Args:
        ulps: Distance in ulps.
        relative: Difference as a fraction of the larger of both magnitudes.
        absolute: Absolute difference.
    """

    ulps: int = 0
    relative: float = 0.0
    absolute: float = 0.0


BITS = Tolerance()
"""Bit equality: the rule before and after a Version change on one executor."""


def demand_distance(value: object) -> float:
    """Return what a document says of a relative or an absolute distance.

    Args:
        value: Plain data.

    Raises:
        ValueError: It is no number, or negative or infinite.
    """
    # true is an integer to Python, and an integer of 400 digits too large for a float.
    if not isinstance(value, float | int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        raise ValueError(f"{value!r:.40} is not a number that is 0 or larger")
    return float(value)


_LARGEST = math.nextafter(math.inf, 0)


def demand_count(value: object) -> int:
    """Return what a document says of how many there are.

    Args:
        value: Plain data.

    Raises:
        ValueError: It is no integer, or negative.
    """
    if type(value) is not int or value < 0:  # true is an integer to Python
        raise ValueError(f"{value!r:.40} is not a count")
    return value
