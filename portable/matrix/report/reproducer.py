"""The command that does again what one Cell reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.verdict import Stage

if TYPE_CHECKING:
    from portable.matrix import Cell

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
    item, release = cell.item, cell.release
    path = f"./{item.path}" if item.path.startswith("-") else item.path
    consumers = [f"{release.distribution}=={release.version}"]
    executes = stage >= Stage.EXECUTE
    if executes and item.reference:
        # Without the Release that said what is right there is nothing to compare with.
        consumers.append(item.reference)
    words = [_quoted(path), "--for", *map(_quoted, dict.fromkeys(consumers)), "--stage", str(stage)]
    return " ".join(["portable matrix", *words, *map(_quoted, item.given if executes else ())])


def _quoted(text: str) -> str:
    # Always, and not only where a shell needs it: one form is easier to read and to compare.
    return "'" + text.replace("'", "'\\''") + "'"
