"""Real Releases: environments that hold them, executors, observations, comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.runtime import environments as environments
    from portable.runtime import executors as executors
    from portable.runtime import measuring as measuring
    from portable.runtime import observation as observation
    from portable.runtime import verification as verification

_MODULES = ("environments", "executors", "measuring", "observation", "verification")

__all__ = [*_MODULES]  # noqa: PLE0604 - the table above is the one place

if not TYPE_CHECKING:  # or every misspelt name would be an object
    __getattr__, __dir__ = lazy(__name__, {name: f"{__name__}.{name}" for name in _MODULES})
