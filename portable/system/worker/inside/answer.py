"""The ways a job can end other than well, and what drives the Releases of one kind."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["KINDS", "Adapter", "Crashed", "Hung", "Job", "Payload", "Refused", "Unavailable"]

Job = dict[str, Any]
Payload = dict[str, Any]

# A family need not answer all of them.
KINDS = frozenset({"probe", "read", "write", "rewrite", "roundtrip", "compile", "execute"})


class Refused(Exception):
    """The Release looked at the input and said no.

    Args:
        error: Its own words.
        diagnostics: What MLIR's diagnostic handler saw, as plain data.
    """

    def __init__(self, error: str, diagnostics: list[Payload] | None = None) -> None:
        super().__init__(error)
        self.diagnostics = diagnostics or []


class Unavailable(Exception):
    """The Release cannot be loaded, or has no way to do this job.

    Args:
        reason: What is missing.
        hint: What to do about it, where that is known.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.hint = hint


class Crashed(Exception):
    """A process that the adapter itself started was ended by a signal."""


class Hung(Exception):
    """A process that the adapter itself started did not end in time."""


class Adapter(Protocol):
    """One loaded Release. Its methods named in `KINDS` answer the jobs of that kind."""

    def probe(self, job: Job) -> Payload:
        """Report the Versions and what else identifies the Release."""
        ...
