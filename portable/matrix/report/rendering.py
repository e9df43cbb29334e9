"""The formats, and what writes each."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.matrix import Matrix

__all__ = ["FORMATS", "UnknownFormat", "render"]

FORMATS = {
    "text": "portable.matrix.report.text.render",
    "json": "portable.matrix.document.dump",
    "junit": "portable.matrix.report.junit.render",
    "markdown": "portable.matrix.report.markdown.render",
    "html": "portable.matrix.report.page.render",
}
"""For each format the function that writes it; imported on first use."""
_SHORT = frozenset({"text", "markdown"})


class UnknownFormat(PortableError):
    """There is no such format."""


def render(matrix: Matrix, form: str, *, full: bool = False) -> str:
    """Write a Matrix in a format.

    Args:
        matrix: What to write.
        form: A key of `FORMATS`.
        full: Whether text and Markdown list everything; by default they keep to what a person
            reads at once. The other formats always have everything.

    Returns:
        The document, ended by a newline.

    Raises:
        UnknownFormat: `form` is none.
    """
    if form not in FORMATS:
        raise UnknownFormat(f"unknown format {form!r}", hint=f"known are {', '.join(FORMATS)}")
    module, _, function = FORMATS[form].rpartition(".")
    write: Callable[..., str] = getattr(importlib.import_module(module), function)
    return write(matrix, full=full) if form in _SHORT else write(matrix)
