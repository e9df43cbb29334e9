"""The command that does again what one Cell reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from portable.matrix import Cell
    from portable.verdict import Stage

__all__ = ["reproducer"]


def reproducer(cell: Cell, stage: Stage) -> str:
    """Return the shell command that checks one artifact on one consumer.

    Args:
        cell: Which.
        stage: How far.

    Returns:
        One command; everything that came from outside is quoted. The page has its own copy of
        this in `page.js`.
    """
    path, release = cell.item.path, cell.release
    path = f"./{path}" if path.startswith("-") else path
    consumer = f"{release.distribution}=={release.version}"
    return f"portable matrix {_quoted(path)} --for {_quoted(consumer)} --stage {stage}"


def _quoted(text: str) -> str:
    # Always, and not only where a shell needs it: one form is easier to read and to compare.
    return "'" + text.replace("'", "'\\''") + "'"
