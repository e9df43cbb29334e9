"""Where this package keeps what it made for a user: environments, and what he measured himself."""

from __future__ import annotations

import os

__all__ = ["cache_folder"]


def cache_folder() -> str:
    """Return the folder: `PORTABLE_CACHE`, else `stablehlo-portable` in the user's cache folder."""
    chosen = os.environ.get("PORTABLE_CACHE")
    if chosen:
        return chosen
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # never raises
    return os.path.join(base, "stablehlo-portable")
