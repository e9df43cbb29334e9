"""From a program to an artifact: the pipeline, its rewrites, and why a target is out of reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.pinning import locations as locations
    from portable.pinning import rewrites as rewrites

_MODULES = ("locations", "rewrites")

__all__ = [*_MODULES]  # noqa: PLE0604 - the table above is the one place

if not TYPE_CHECKING:  # or every misspelt name would be an object
    __getattr__, __dir__ = lazy(__name__, {name: f"{__name__}.{name}" for name in _MODULES})
