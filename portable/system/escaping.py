"""Foreign text made fit to show: file names and diagnostics may hold any character."""

from __future__ import annotations

__all__ = ["one_line", "printable"]


def printable(text: str) -> str:
    """Replace what a terminal would obey and XML cannot carry; tabs and line ends stay.

    Args:
        text: Any text, with lone surrogates or control characters perhaps.

    Returns:
        The text with a question mark for each such character.
    """
    return "".join(c if c in "\t\n" or (c.isprintable() and c < "\ufffe") else "?" for c in text)


def one_line(text: str, limit: int = 500) -> str:
    """Make a text one printable line.

    Args:
        text: Any text.
        limit: How long it may be; what is longer ends in an ellipsis.

    Returns:
        The line, without its end.
    """
    line = printable(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 3] + "..."
