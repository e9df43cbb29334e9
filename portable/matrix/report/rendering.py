"""The formats, and which module writes each."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol, cast

from portable.errors import PortableError

if TYPE_CHECKING:
    from portable.matrix import Matrix

__all__ = ["FORMATS", "UnknownFormat", "render"]

FORMATS = {
    "text": "portable.matrix.report.text",
    "json": "portable.matrix.report.document",
    "junit": "portable.matrix.report.junit",
    "markdown": "portable.matrix.report.markdown",
    "html": "portable.matrix.report.page",
}
"""For each format the module that writes it; imported on first use."""


class UnknownFormat(PortableError):
    """There is no such format."""


class _Format(Protocol):
    def render(self, matrix: Matrix, *, full: bool) -> str: ...


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
    return cast("_Format", importlib.import_module(FORMATS[form])).render(matrix, full=full)
