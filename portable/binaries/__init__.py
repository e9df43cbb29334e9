"""Runtimes as files: which StableHLO a shared library reads; no file is loaded."""

from __future__ import annotations

from portable.binaries.bracket import Bracket, bracket
from portable.binaries.library import NotARuntime, Runtime, read_runtime

__all__ = ["Bracket", "NotARuntime", "Runtime", "bracket", "read_runtime"]
