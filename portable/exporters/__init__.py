"""Exporters: a framework's program to an artifact, pinned for named consumers."""

from __future__ import annotations

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
