"""Verdicts: what became of one Artifact on one Consumer."""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = ["Basis", "Diagnostic", "Outcome", "Severity", "Stage", "Verdict"]


class Stage(enum.IntEnum):
    """How far a check went; later Stages include the earlier ones."""

    HEADER = 1
    WINDOW = 2
    DECODE = 3
    ROUNDTRIP = 4
    EXECUTE = 5

    def __str__(self) -> str:
        return self.name.lower()


class Outcome(enum.Enum):
    """What happened, or is predicted to happen, at the last Stage that was reached."""

    COMPATIBLE = "compatible"
    INCOMPATIBLE = "incompatible"
    WRONG_RESULT = "wrong-result"
    CRASHED = "crashed"
    HUNG = "hung"

    def __str__(self) -> str:
        return self.value


class Basis(enum.Enum):
    """Where a Verdict comes from. A prediction is not an observation."""

    PREDICTED = "predicted"
    OBSERVED = "observed"

    def __str__(self) -> str:
        return self.value


class Severity(enum.Enum):
    """MLIR's diagnostic severities."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    REMARK = "remark"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message of a compiler or of a table.

    Args:
        severity: MLIR's severity.
        message: The text, without the location.
        location: Where in the program, as MLIR prints it; empty when unknown.
        notes: Messages attached to this one.
    """

    severity: Severity
    message: str
    location: str = ""
    notes: tuple[Diagnostic, ...] = ()

    def record(self) -> dict[str, object]:
        """Return the diagnostic as plain data for JSON."""
        fields: dict[str, object] = {"severity": str(self.severity), "message": self.message}
        if self.location:
            fields["location"] = self.location
        if self.notes:
            fields["notes"] = [note.record() for note in self.notes]
        return fields


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome and Stage for one Artifact on one Consumer, either predicted or observed.

    Args:
        consumer: The Release, as `distribution version`, for example `jaxlib 0.4.33`.
        outcome: What happened.
        stage: The Stage that was reached: the last one passed when compatible, else the one that
            failed.
        basis: Predicted from bytes and tables, or observed on the real thing.
        reason: One line that says why.
        diagnostics: What the Consumer said.
    """

    consumer: str
    outcome: Outcome
    stage: Stage
    basis: Basis
    reason: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def compatible(self) -> bool:
        """Whether the Consumer reads the artifact (and, at `execute`, computes the same)."""
        return self.outcome is Outcome.COMPATIBLE

    def record(self) -> dict[str, object]:
        """Return the Verdict as plain data for JSON."""
        return {
            "consumer": self.consumer,
            "outcome": str(self.outcome),
            "stage": str(self.stage),
            "basis": str(self.basis),
            "reason": self.reason,
            "diagnostics": [diagnostic.record() for diagnostic in self.diagnostics],
        }
