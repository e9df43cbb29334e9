"""The only place that imports the MLIR bindings that carry libStablehlo.

Three namespaces are accepted: jaxlib's, torch-mlir's and upstream's own `mlir`. They share one API
but differ in how a context learns its dialects, see `portable.bindings.adapters`. Everything that
MLIR says is captured and returned as `Diagnostic` values: an exception of the bindings carries none
of it, and printing to the terminal of whoever called is unwanted.
"""

from __future__ import annotations

from portable.bindings.adapters import LibraryNotFound, find, library_of
from portable.bindings.diagnostics import LibraryError
from portable.bindings.library import Library, Module
from portable.bindings.returning import ReturnedValue

__all__ = [
    "Library",
    "LibraryError",
    "LibraryNotFound",
    "Module",
    "ReturnedValue",
    "find",
    "library_of",
]
