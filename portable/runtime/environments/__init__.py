"""One isolated environment per Release: made once, checked, locked, removed on request."""

from __future__ import annotations

from portable.runtime.environments.cache import (
    Download,
    Environment,
    EnvironmentBusy,
    EnvironmentMissing,
    Environments,
    Phase,
)
from portable.runtime.environments.installer import (
    DigestMismatch,
    EnvironmentFailed,
    ReleaseNotFound,
    Unreachable,
)
from portable.runtime.environments.interpreter import PythonMissing, find_python
from portable.runtime.environments.recipe import Recipe, Shipped, UnsupportedDistribution

__all__ = [
    "DigestMismatch",
    "Download",
    "Environment",
    "EnvironmentBusy",
    "EnvironmentFailed",
    "EnvironmentMissing",
    "Environments",
    "Phase",
    "PythonMissing",
    "Recipe",
    "ReleaseNotFound",
    "Shipped",
    "Unreachable",
    "UnsupportedDistribution",
    "find_python",
]
