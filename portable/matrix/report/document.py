"""The Matrix as the document that `portable.matrix` reads back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.matrix.document import dump

if TYPE_CHECKING:
    from portable.matrix import Matrix

__all__ = ["render"]


def render(matrix: Matrix, *, full: bool = True) -> str:
    """Write the document.

    Args:
        matrix: What to write.
        full: It always is.

    Returns:
        One line of JSON.
    """
    del full
    return dump(matrix)
