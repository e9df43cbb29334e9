"""Refusals: forms that readers turned away, or took up, at another Version than announced."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.releases.release import Release, normalize_name
from portable.releases.specifier import Specifier
from portable.releases.table import demand_once, rows

if TYPE_CHECKING:
    from portable.version import Version

__all__ = [
    "DialectReader",
    "LateForm",
    "Refusal",
    "dialect_readers",
    "late_forms",
    "refusals",
]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A form of an op that readers stopped accepting.

    Args:
        id: A short name.
        op: The op, as `vhlo.trace_v1`.
        form: Which form of it, in words.
        last: The last Version that was seen to read it.
        since: The first Version that was seen to refuse it.
        reason: What changed.
        source: Who says so, or on what it was seen.
    """

    id: str
    op: str
    form: str
    last: Version
    since: Version
    reason: str
    source: str


@dataclass(frozen=True, slots=True)
class LateForm:
    """A form that readers know only later than the Version that its op needs.

    Args:
        id: A short name.
        op: The op.
        form: Which form of it, in words.
        refused: The last Version that was seen to refuse it.
        since: The first Version that was seen to read it.
        reason: What they lack.
        source: On what it was seen.
    """

    id: str
    op: str
    form: str
    refused: Version
    since: Version
    reason: str
    source: str


@dataclass(frozen=True, slots=True)
class DialectReader:
    """Releases that read a dialect outside StableHLO.

    Args:
        name: The dialect.
        distribution: Whose Releases.
        specifier: Which of them.
        form: Under which condition.
        source: On what it was seen.
    """

    name: str
    distribution: str
    specifier: Specifier
    form: str
    source: str

    def applies_to(self, release: Release) -> bool:
        """Return whether it applies to this Release."""
        named = release.distribution == self.distribution
        return named and self.specifier.contains(release.version)


@functools.cache
def refusals() -> tuple[Refusal, ...]:
    """Return every Refusal, in table order."""
    _demand_ordered("refusal", "last", "since")
    return tuple(
        Refusal(
            id=row.text("id"),
            op=row.text("op"),
            form=row.text("form"),
            last=row.version("last"),
            since=row.version("since"),
            reason=row.text("reason"),
            source=row.text("source"),
        )
        for row in rows("refusals", "refusal")
    )


@functools.cache
def late_forms() -> tuple[LateForm, ...]:
    """Return every form that readers know late, in table order."""
    _demand_ordered("late", "refused", "since")
    return tuple(
        LateForm(
            id=row.text("id"),
            op=row.text("op"),
            form=row.text("form"),
            refused=row.version("refused"),
            since=row.version("since"),
            reason=row.text("reason"),
            source=row.text("source"),
        )
        for row in rows("refusals", "late")
    )


@functools.cache
def dialect_readers() -> tuple[DialectReader, ...]:
    """Return which Releases read which dialects outside StableHLO."""
    return tuple(
        DialectReader(
            name=row.text("name"),
            distribution=normalize_name(row.text("distribution")),
            specifier=Specifier.parse(row.text("specifier")),
            form=row.note("form"),
            source=row.text("source"),
        )
        for row in rows("refusals", "dialect")
    )


def _demand_ordered(kind: str, before: str, after: str) -> None:
    """Refuse rows that no Version can be on the right side of, and rows that are there twice."""
    table = rows("refusals", kind)
    demand_once((row, row.text("id")) for row in table)
    for row in table:
        if row.version(before) >= row.version(after):
            raise row.wrong(f"{before} {row.version(before)} is not before {after}")
