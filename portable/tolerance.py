"""How far computed values may be apart and still count as the same."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BITS", "Tolerance"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What still counts as the same; any one of the three is enough.

    Args:
        ulps: Distance in ulps.
        relative: Of the larger magnitude of the expected and the actual value.
        absolute: Difference.
    """

    ulps: int = 0
    relative: float = 0.0
    absolute: float = 0.0


BITS = Tolerance()
"""Bit equality: the rule before and after a Version change on one executor."""
