"""What a Release answered, or how it ended instead of answering."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.verdict import Basis, Diagnostic, Outcome, Severity, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Answer", "CouldNotObserve", "Status", "diagnostic", "printed"]

_SEVERITIES = {severity.value: severity for severity in Severity}


class CouldNotObserve(PortableError):
    """The Release could not be run, so there is no Verdict."""


class Status(enum.Enum):
    """How a job ended."""

    OK = "ok"
    REFUSED = "refused"
    CRASHED = "crashed"
    HUNG = "hung"
    UNAVAILABLE = "unavailable"

    def __str__(self) -> str:
        return self.value


_OUTCOMES = {
    Status.OK: Outcome.COMPATIBLE,
    Status.REFUSED: Outcome.INCOMPATIBLE,
    Status.CRASHED: Outcome.CRASHED,
    Status.HUNG: Outcome.HUNG,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of one job.

    Args:
        status: How it ended.
        payload: What the Release told; empty unless `ok`.
        error: Its words when it refused, the signal or exit status when it crashed, why it is
            unavailable.
        diagnostics: What MLIR's diagnostic handler saw, where the Release has one that works.
        stderr: The end of what it wrote to its standard output and error during the job.
        seconds: Wall-clock time of the job.
        hint: What to do about its being unavailable, where that is known.
    """

    status: Status
    payload: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    stderr: str = ""
    seconds: float = 0.0
    hint: str = ""

    @property
    def ok(self) -> bool:
        """Whether the job was done."""
        return self.status is Status.OK

    @property
    def reason(self) -> str:
        """One line: the first error that was diagnosed, else the error itself."""
        errors = [d.message for d in self.diagnostics if d.severity is Severity.ERROR]
        text = (errors or [self.error or self.stderr])[0]
        return " ".join(text.split())[:500]

    def verdict(self, consumer: str, stage: Stage) -> Verdict:
        """Turn the answer into an observed Verdict.

        Args:
            consumer: The Release that was run, as `distribution version`.
            stage: The Stage that the job goes up to.

        Returns:
            The Verdict.

        Raises:
            CouldNotObserve: The Release is unavailable: nothing was observed.
        """
        if self.status is Status.UNAVAILABLE:
            raise CouldNotObserve(f"could not run {consumer}: {self.error}", hint=self.hint)
        outcome, told = _OUTCOMES[self.status], self.diagnostics
        return Verdict(
            consumer, outcome, stage, Basis.OBSERVED, "" if self.ok else self.reason, told
        )


def printed(stderr: str) -> tuple[Diagnostic, ...]:
    """Find the diagnostics in what MLIR printed, for releases whose handler cannot be used.

    Args:
        stderr: Lines such as `loc("-":1:73): error: custom op 'x.y' is unknown`.

    Returns:
        One Diagnostic for each such line.
    """
    found = []
    for line in stderr.splitlines():
        for severity in Severity:
            location, mark, message = line.partition(f": {severity}: ")
            if mark:
                found.append(Diagnostic(severity, message.strip(), _bare(location.strip())))
                break
    return tuple(found)


def _bare(location: str) -> str:
    inner = location.removeprefix("loc(")
    return inner.removesuffix(")") if inner != location else location


def diagnostic(record: Mapping[str, Any]) -> Diagnostic:
    """Build a Diagnostic from the plain data that came over the wire.

    Args:
        record: `severity`, `message`, `location`, `notes`.

    Returns:
        The Diagnostic.
    """
    notes = tuple(diagnostic(note) for note in record["notes"])
    severity = _SEVERITIES.get(record["severity"], Severity.ERROR)
    return Diagnostic(severity, record["message"], record["location"], notes)
