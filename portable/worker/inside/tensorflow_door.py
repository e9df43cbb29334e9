"""TensorFlow 2.14 and later, through the one extension module that has the StableHLO API."""

from __future__ import annotations

import importlib.util
from typing import Any

from .answer import Unavailable
from .bindings import Bindings, TextEra

__all__ = ["load"]

MODULE = "stablehlo_extension"
# The two calls gained a suffix between 2.16 and 2.19.
SUFFIX = "_str"


class _Names:
    """The extension under the names of the first era, whatever it calls them."""

    def __init__(self, extension: Any) -> None:
        self._extension = extension

    def __getattr__(self, name: str) -> Any:
        if name.endswith("portable_artifact"):
            newer = getattr(self._extension, name + SUFFIX, None)
            if newer is not None:
                return newer
        return getattr(self._extension, name)


def load(library: str, limit: float) -> Bindings:
    """Load the extension by its path; neither tensorflow nor numpy is needed.

    Returns:
        The door.
    """
    del limit
    spec = importlib.util.spec_from_file_location(MODULE, library)
    if spec is None or spec.loader is None:
        raise Unavailable(f"{library} is not an extension module")
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    names = _Names(extension)
    return Bindings(names, TextEra(names), dict)
