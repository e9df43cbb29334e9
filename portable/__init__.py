"""Compatibility and versioning of StableHLO portable artifacts.

Names are imported on first use, so that reading a header costs no compiler and no numpy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from portable.errors import PortableError as PortableError
    from portable.version import Version as Version

__version__ = "0.1.0"

_HOME = {
    "PortableError": "portable.errors",
    "Version": "portable.version",
}

__all__ = ["__version__", *sorted(_HOME)]  # noqa: PLE0604 - the table above is the one place


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'portable' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
