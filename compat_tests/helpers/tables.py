"""Have the tables of Releases read again, as by a process that has read none."""

from __future__ import annotations

import sys

__all__ = ["forget"]

_READERS = ("portable.releases", "portable.prediction", "portable.matrix.listed")


def forget() -> None:
    """Clear what the modules that read tables keep of them."""
    for name, module in list(sys.modules.items()):
        if name.startswith(_READERS):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
