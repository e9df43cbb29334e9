"""Refusals: forms of ops that readers of some Versions refuse, and dialects that some read."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from portable.releases.release import Release, normalize_name
from portable.releases.specifier import Specifier
from portable.releases.table import Row, rows

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from portable.version import Version

__all__ = ["DialectReader", "Refusal", "dialect_readers", "refusals"]


class Refusal(NamedTuple):
    """A form of an op that readers of some Versions refuse, although they know the op.

    Newer readers refuse it where a verifier became stricter, older ones where they lack something.

    Args:
        id: A short name.
        op: The op, as `vhlo.trace_v1`.
        form: Which form of it, in words.
        read: Of the Versions that were seen to read it, the one next to the change.
        refused: Of the Versions that were seen to refuse it, the one next to the change.
        reason: What changed, or what older readers lack.
        source: Who says so, or on what it was seen.
    """

    id: str
    op: str
    form: str
    read: Version
    refused: Version
    reason: str
    source: str

    @property
    def late(self) -> bool:
        """Whether older readers refuse it, not newer ones."""
        return self.refused < self.read

    @property
    def when(self) -> str:
        """Which readers refuse it, in words."""
        return f"before {self.read}" if self.late else f"from {self.refused} on"

    def applies_to(self, current: Version) -> bool:
        """Return whether readers of a Version refuse it; those in between count as refusing it."""
        return current < self.read if self.late else current > self.read


class DialectReader(NamedTuple):
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


def refusals(features: Container[str] | None = None) -> Iterator[Refusal]:
    """Yield Refusals: those by newer readers in table order, then those by older ones.

    Args:
        features: Only those of ops that are among these, as `op:vhlo.trace_v1`; all when None.

    Raises:
        TableError: A row does not make sense.
    """
    for feature, row in _rows():
        if features is None or feature in features:
            yield _refusal(row)


@functools.cache
def _rows() -> tuple[tuple[str, Row], ...]:
    """Return the rows, each with its op as a Feature; none is parsed."""
    table = (*rows("refusals", "refusal"), *rows("refusals", "late"))
    return tuple((f"op:{row.word('op')}", row) for row in table)


@functools.cache
def _refusal(row: Row) -> Refusal:
    last, since = row.maybe_version("last"), row.version("since")
    before = last or row.version("refused")
    if before >= since:
        raise row.wrong(f"{'last' if last else 'refused'} {before} is not before since")
    return Refusal(
        id=row.text("id"),
        op=row.text("op"),
        form=row.text("form"),
        read=last or since,
        refused=since if last else before,
        reason=row.text("reason"),
        source=row.text("source"),
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
