"""Words that every report needs."""

from __future__ import annotations

__all__ = ["many"]


def many(number: int, noun: str) -> str:
    """Return a number with its noun: `1 artifact`, `2,000 artifacts`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
