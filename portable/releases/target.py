"""Targets: the Version to write for, with the reason it was chosen."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from portable.errors import PortableError

if TYPE_CHECKING:
    from portable.releases.release import Confidence, Release
    from portable.version import Version

__all__ = ["NoTarget", "Target", "lowest"]


class NoTarget(PortableError):
    """No target was requested, or none can be found."""


@dataclass(frozen=True, slots=True)
class Target:
    """The Version an artifact is written for, and the reason for it.

    Args:
        version: The Version, patch zero.
        reason: Why this Version was chosen, in one line.
        confidence: How the deciding fact is known.
        binding: The Release that allows no newer Version, if a Release decides.
        runner_up: The Target without everything that decides for this Version.
        caveats: What the Target does not take into account.
        notes: Releases newer than the table; they only read more.
        stated: The Version as requested, with its patch; None if none was requested.
    """

    version: Version
    reason: str
    confidence: Confidence
    binding: Release | None = None
    runner_up: Target | None = None
    caveats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    stated: Version | None = None

    def __repr__(self) -> str:
        return f"<Target {self.version}: {self.reason}>"

    def __str__(self) -> str:
        return str(self.version)

    def record(self) -> dict[str, object]:
        """Return the Target as plain data for JSON."""
        return {
            "version": str(self.version),
            "reason": self.reason,
            "confidence": str(self.confidence),
            "binding": str(self.binding) if self.binding else None,
            "runner_up": self.runner_up.record() if self.runner_up else None,
            "caveats": list(self.caveats),
            "notes": list(self.notes),
        }


def lowest(candidates: list[Target]) -> Target:
    """Choose the candidate that binds.

    Among equals a Release binds before anything else, the one with the older StableHLO first.

    Args:
        candidates: At least one, without runners-up.

    Returns:
        The one with the lowest Version, its runner-up, and the caveats of all.

    Raises:
        NoTarget: There are no candidates.
    """
    if not candidates:
        raise NoTarget("missing consumer", hint="e.g. jaxlib>=0.5")
    binding = min(candidates, key=_order)
    newer = [one for one in candidates if one.version > binding.version]
    return replace(
        binding,
        runner_up=replace(min(newer, key=_order), caveats=(), notes=()) if newer else None,
        caveats=tuple(dict.fromkeys(text for one in candidates for text in one.caveats)),
        notes=tuple(dict.fromkeys(text for one in candidates for text in one.notes)),
    )


def _order(candidate: Target) -> tuple[object, ...]:
    release = candidate.binding
    if release is None:
        return (candidate.version, True, candidate.version, False, datetime.date.max)
    return (candidate.version, False, release.current, not release.listed, release.date)
