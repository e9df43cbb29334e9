"""Exporters: a framework's program to an artifact, pinned for named consumers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.exporters.exported import (
    Argument,
    ArgumentKind,
    ExportedArtifact,
    PytreeSpecs,
    Result,
)
from portable.exporters.frameworks import ExporterMissing, ExportFailed
from portable.exporters.jax import export_jax, repin_exported
from portable.exporters.saved_model import save_as_saved_model
from portable.exporters.torch import BACKENDS, export_torch
from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.exporters import aten as aten
    from portable.exporters import oracle as oracle
    from portable.exporters import partition as partition

__all__ = [
    "BACKENDS",
    "Argument",
    "ArgumentKind",
    "ExportFailed",
    "ExportedArtifact",
    "ExporterMissing",
    "PytreeSpecs",
    "Result",
    "export_jax",
    "export_torch",
    "repin_exported",
    "save_as_saved_model",
]

if not TYPE_CHECKING:  # or every misspelt name would be an object
    _MODULES = ("aten", "oracle", "partition")
    __getattr__, __dir__ = lazy(__name__, {name: f"{__name__}.{name}" for name in _MODULES})
