"""Compatibility and versioning of StableHLO portable artifacts.

Names are imported on first use, so that reading a header costs no compiler and no numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from portable.artifact import Artifact as Artifact
    from portable.artifact import NotAnArtifact as NotAnArtifact
    from portable.bytecode import MalformedArtifact as MalformedArtifact
    from portable.errors import PortableError as PortableError
    from portable.inspection import Inspection as Inspection
    from portable.inspection import inspect as inspect
    from portable.pinning.explanation import explain as explain
    from portable.pinning.pipeline import NotExpressible as NotExpressible
    from portable.pinning.pipeline import minimum as minimum
    from portable.pinning.pipeline import pin as pin
    from portable.pinning.pipeline import retarget as retarget
    from portable.pinning.pipeline import serialize as serialize
    from portable.pinning.program import deserialize as deserialize
    from portable.pinning.repinning import repin as repin
    from portable.prediction import predict as predict
    from portable.releases import Release as Release
    from portable.releases import Target as Target
    from portable.releases import resolve_target as resolve_target
    from portable.releases import window as window
    from portable.runtime.executors import run as run
    from portable.runtime.observation import observe as observe
    from portable.runtime.verification import verify as verify
    from portable.verdict import Diagnostic as Diagnostic
    from portable.verdict import Outcome as Outcome
    from portable.verdict import Stage as Stage
    from portable.verdict import Verdict as Verdict
    from portable.version import Version as Version

__version__ = "0.1.0"

# Where each public name lives; the imports above tell type checkers the same.
_HOME = {
    "Artifact": "portable.artifact",
    "Diagnostic": "portable.verdict",
    "Inspection": "portable.inspection",
    "MalformedArtifact": "portable.bytecode",
    "NotAnArtifact": "portable.artifact",
    "NotExpressible": "portable.pinning.pipeline",
    "Outcome": "portable.verdict",
    "PortableError": "portable.errors",
    "Release": "portable.releases",
    "Stage": "portable.verdict",
    "Target": "portable.releases",
    "Verdict": "portable.verdict",
    "Version": "portable.version",
    "deserialize": "portable.pinning.program",
    "explain": "portable.pinning.explanation",
    "inspect": "portable.inspection",
    "minimum": "portable.pinning.pipeline",
    "observe": "portable.runtime.observation",
    "pin": "portable.pinning.pipeline",
    "predict": "portable.prediction",
    "repin": "portable.pinning.repinning",
    "resolve_target": "portable.releases",
    "retarget": "portable.pinning.pipeline",
    "run": "portable.runtime.executors",
    "serialize": "portable.pinning.pipeline",
    "verify": "portable.runtime.verification",
    "window": "portable.releases",
}

__all__ = ["__version__", *sorted(_HOME)]  # noqa: PLE0604 - the table above is the one place


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'portable' has no attribute {name!r}")
    import importlib  # noqa: PLC0415 - cold start

    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
