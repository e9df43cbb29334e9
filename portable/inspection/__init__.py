"""What is this file: an artifact, a container, a runtime; by its bytes, nothing is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.inspection.inspecting import SCHEMA, Constant, Inspection, inspect, leaks
from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.inspection.brackets import Bracket as Bracket
    from portable.inspection.brackets import bracket as bracket
    from portable.inspection.library import NotARuntime as NotARuntime
    from portable.inspection.library import Runtime as Runtime
    from portable.inspection.library import read_runtime as read_runtime

__all__ = [
    "SCHEMA",
    "Bracket",
    "Constant",
    "Inspection",
    "NotARuntime",
    "Runtime",
    "bracket",
    "inspect",
    "leaks",
    "read_runtime",
]

if not TYPE_CHECKING:  # or every misspelt name would be an object
    _LIBRARY = dict.fromkeys(("NotARuntime", "Runtime", "read_runtime"), f"{__name__}.library")
    __getattr__, __dir__ = lazy(
        __name__,
        _LIBRARY | dict.fromkeys(("Bracket", "bracket"), f"{__name__}.brackets"),
    )
