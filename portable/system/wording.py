"""Words that every report needs."""

from __future__ import annotations

from shlex import quote

__all__ = ["many", "path_word"]


def many(number: int, noun: str) -> str:
    """Return a number with its noun: `1 artifact`, `2,000 artifacts`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def path_word(path: str) -> str:
    """Return a path as one word of a command that is shown to be pasted: never an option."""
    return quote(f"./{path}" if path.startswith("-") else path)
