"""TensorFlow 2.14 and later, through the one extension module that has the StableHLO API."""

from __future__ import annotations

import importlib.util
from typing import Any

from .answer import Job, Payload, Unavailable
from .bindings import Bindings, TextEra

__all__ = ["open_door"]

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


class TensorflowDoor:
    """One `stablehlo_extension.so`."""

    def __init__(self, library: str) -> None:
        self._library = library
        self._bindings: Bindings | None = None

    def load(self, job: Job) -> Payload:
        """Load the extension by its path; neither tensorflow nor numpy is needed."""
        del job
        spec = importlib.util.spec_from_file_location(MODULE, self._library)
        if spec is None or spec.loader is None:
            raise Unavailable(f"{self._library} is not an extension module")
        extension = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(extension)
        names = _Names(extension)
        self._bindings = Bindings(names, TextEra(names), {})
        return {"names": sorted(name for name in dir(extension) if "portable" in name)}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self._bindings is None:
            raise AttributeError(name)
        return getattr(self._bindings, name, None)


def open_door(library: str) -> TensorflowDoor:
    """Open the door; nothing native is loaded yet."""
    return TensorflowDoor(library)
