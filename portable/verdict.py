"""Verdicts: the outcome of one Artifact on one Consumer."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Basis", "Diagnostic", "NotKnown", "Outcome", "Severity", "Stage", "Verdict", "worst"]


class Stage(enum.IntEnum):
    """How far a check went; later Stages include the earlier ones."""

    OPEN = 0  # the container
    HEADER = 1
    WINDOW = 2
    DECODE = 3
    ROUNDTRIP = 4
    # 5 was that of `execute` in the stores of earlier releases.
    COMPILE = 6
    EXECUTE = 7

    def __str__(self) -> str:
        return self.name.lower()

    @classmethod
    def parse(cls, text: str) -> Stage:
        """Return the Stage of a name: `compile`.

        Raises:
            ValueError: No Stage has that name; the message lists them.
        """
        found = cls.__members__.get(text.upper())
        if found is None:
            raise ValueError(f"no Stage is called {text!r:.40}: {', '.join(map(str, cls))}")
        return found

    def says(self, *, passed: bool) -> str:
        """Say in words what a Consumer does, or does not do, at this Stage."""
        does, does_not = _WORDS[self]
        return does if passed else f"does not {does_not}"


_READS = ("reads it", "read it")
_WORDS = {
    Stage.OPEN: ("opens it", "open it"),
    Stage.HEADER: _READS,
    Stage.WINDOW: _READS,
    Stage.DECODE: _READS,
    Stage.ROUNDTRIP: ("writes back what it read", "write back what it read"),
    Stage.COMPILE: ("compiles it", "compile it"),
    Stage.EXECUTE: ("computes the same", "compute the same"),
}


class Outcome(enum.Enum):
    """What happened, or is predicted to happen, at the last Stage that was reached.

    `NOT_KNOWN` is only predicted: it is not known whether the Consumer passes the Stage.
    """

    COMPATIBLE = "compatible"
    NOT_KNOWN = "not known"
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
        location: The place in the program, as MLIR prints it; empty if unknown.
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
class NotKnown:
    """Something unknown that a Verdict depends on.

    Args:
        stage: The Stage that depends on it.
        what: It, in one line.
    """

    stage: Stage
    what: str

    @property
    def says(self) -> str:
        """The Stage in words, and what: `not known whether it compiles it: custom call 'foo'`."""
        return f"{_says(Outcome.NOT_KNOWN, self.stage)}: {self.what}"

    def record(self) -> dict[str, object]:
        """Return it as plain data for JSON."""
        return {"stage": str(self.stage), "what": self.what}


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
        diagnostics: The messages of the Consumer.
        not_known: What is not known, at whatever Stage.
    """

    consumer: str
    outcome: Outcome
    stage: Stage
    basis: Basis
    reason: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    not_known: tuple[NotKnown, ...] = ()

    def __repr__(self) -> str:
        return f"<Verdict {self.consumer}: {self.says} ({self.basis})>"

    @property
    def compatible(self) -> bool:
        """Whether nothing is known to stop the Consumer; `stage` says how far that is judged."""
        return self.outcome is Outcome.COMPATIBLE

    @property
    def says(self) -> str:
        """Outcome and Stage in words: `compatible: reads it`, `crashed: does not compile it`."""
        return _says(self.outcome, self.stage)

    def holds(self, stage: Stage) -> bool | None:
        """Say whether the Consumer passes a Stage.

        Args:
            stage: The Stage in question, with all before it.

        Returns:
            False if an obstacle is known at any Stage; None if it is not known whether there is one
            up to the Stage in question; otherwise True.
        """
        if self.outcome is not Outcome.COMPATIBLE and self.outcome is not Outcome.NOT_KNOWN:
            return False
        if self.stage < stage or any(one.stage <= stage for one in self.not_known):
            return None
        return True

    @property
    def questions(self) -> tuple[NotKnown, ...]:
        """What is not known, without what would come after a known obstacle."""
        if self.holds(Stage.OPEN) is not False:
            return self.not_known
        return tuple(one for one in self.not_known if one.stage <= self.stage)

    def record(self) -> dict[str, object]:
        """Return the Verdict as plain data for JSON."""
        return {
            "consumer": self.consumer,
            "outcome": str(self.outcome),
            "stage": str(self.stage),
            "says": self.says,
            "basis": str(self.basis),
            "reason": self.reason,
            "not_known": [one.record() for one in self.not_known],
            "diagnostics": [diagnostic.record() for diagnostic in self.diagnostics],
        }


@functools.cache
def _says(outcome: Outcome, stage: Stage) -> str:
    if outcome is Outcome.NOT_KNOWN:
        return f"{outcome} whether it {stage.says(passed=True)}"
    return f"{outcome}: {stage.says(passed=outcome is Outcome.COMPATIBLE)}"


def worst(held: Iterable[bool | None]) -> bool | None:
    """Combine what `Verdict.holds` says of several: an obstacle counts most, then not knowing.

    Args:
        held: One for each Verdict.

    Returns:
        True where there are none.
    """
    found = set(held)
    return False if False in found else None if None in found else True
