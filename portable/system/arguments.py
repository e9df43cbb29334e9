"""What a caller of the library passes, refused where it comes in."""

from __future__ import annotations

__all__ = ["demand_positive", "demand_type"]


def demand_positive(name: str, value: float) -> None:
    """Refuse a limit within which nothing can be done: what ran would be said to hang.

    Args:
        name: What the caller calls it.
        value: What was given.

    Raises:
        ValueError: It is not above 0.
    """
    if not value > 0:
        raise ValueError(f"{name} must be above 0, not {value!r}")


def demand_type(name: str, value: object, kind: type) -> None:
    """Refuse a value that a caller took for something else, before it fails far inside.

    Args:
        name: What the caller calls it.
        value: What was given.
        kind: What it has to be.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be of type {kind.__name__}, not {type(value).__name__}")
