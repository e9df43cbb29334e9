"""Names for what frameworks leave nameless: leaves of nested values, and errors in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["dotted", "first_line"]

_LINE = 300


def dotted(path: Iterable[Any]) -> str:
    """Return where a leaf stands, from the keys that PyTorch's and JAX's trees name it by.

    Args:
        path: The keys, outermost first.

    Returns:
        For example `0`, `0.logits`, `params.w`; empty for a value without nesting.
    """
    return ".".join(map(_key, path))


def first_line(error: BaseException) -> str:
    """Return what an error says, in one line that a person reads."""
    if isinstance(error, PortableError):
        return str(error)
    said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {said}"[:_LINE] if said else type(error).__name__


def _key(entry: Any) -> str:
    for kind in ("key", "idx", "name"):
        if hasattr(entry, kind):
            return str(getattr(entry, kind))
    return str(entry)
