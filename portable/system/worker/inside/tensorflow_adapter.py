"""TensorFlow 2.14 and later, through the one extension module that has the StableHLO API.

Where the whole wheel is installed it executes too.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .answer import Unavailable
from .bindings import Bindings, TextEra
from .engines import Engines

if TYPE_CHECKING:
    from .engines import Engine

__all__ = ["load"]

MODULE = "stablehlo_extension"
# The two calls gained a suffix between 2.16 and 2.19.
SUFFIX = "_str"
# Where the wheel has it.
INSIDE = ("compiler", "mlir", "stablehlo")


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
    """Load the extension by its path; neither tensorflow nor numpy is needed for it.

    Args:
        library: The path; empty where the whole of TensorFlow is installed.
        limit: Not needed.

    Returns:
        The adapter.
    """
    del limit
    engines = Engines({} if library else {"tensorflow": _engine})
    spec = importlib.util.spec_from_file_location(MODULE, library or _installed())
    if spec is None or spec.loader is None:
        raise Unavailable(f"{library} is not an extension module")
    extension = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(extension)
    names = _Names(extension)
    return Bindings(names, TextEra(names), dict, engines)


def _installed() -> str:
    home = importlib.util.find_spec("tensorflow")
    for folder in (home and home.submodule_search_locations) or ():
        path = Path(folder, *INSIDE, f"{MODULE}.so")
        if path.exists():
            return str(path)
    raise Unavailable("no tensorflow 2.14 or later is installed")


def _engine(_platform: str) -> Engine:
    made: Engine = importlib.import_module(".xla_call_module", __package__).XlaCallModule()
    return made
