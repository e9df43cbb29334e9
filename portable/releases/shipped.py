"""Shipped Versions: when each StableHLO `X.Y.0` came, in `data/versions.toml`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from portable.errors import PortableError
from portable.releases.table import rows

if TYPE_CHECKING:
    import datetime

    from portable.version import Version

__all__ = [
    "ShippedVersion",
    "UnknownVersion",
    "available_since",
    "bytecode_format",
    "newest_version",
    "shipped_versions",
    "version_on",
]


class UnknownVersion(PortableError):
    """StableHLO never had this Version, or had no Version yet on that date."""


class ShippedVersion(NamedTuple):
    """One StableHLO Version `X.Y.0`.

    Args:
        version: The Version.
        date: The first upstream commit that says so; None when it is not in the public history.
        seen: For one without a tag, when the first Release with it or a newer one was published.
        tag: The upstream tag; empty for a Version that was never tagged.
        tag_date: When the tag was made.
        feature: What the Version brought.
        bytecode_format: The MLIR bytecode format version it writes.
        source: Where the row comes from.
        note: Anything odd about it.
    """

    version: Version
    date: datetime.date | None
    seen: datetime.date | None
    tag: str
    tag_date: datetime.date | None
    feature: str
    bytecode_format: int
    source: str
    note: str = ""


@functools.cache
def shipped_versions() -> tuple[ShippedVersion, ...]:
    """Return every known Version `X.Y.0`, oldest first."""
    found = [
        ShippedVersion(
            version=row.version("version"),
            date=row.maybe_date("date"),
            seen=row.maybe_date("seen"),
            tag=row.note("tag"),
            tag_date=row.maybe_date("tag_date"),
            feature=row.note("feature"),
            bytecode_format=row.number("bytecode_format"),
            source=row.text("source"),
            note=row.note("note"),
        )
        for row in rows("versions", "version")
    ]
    table = rows("versions", "version")
    for row, before, after in zip(table[1:], found, found[1:], strict=False):
        if after.version <= before.version:
            raise row.wrong(f"{after.version} is listed after {before.version}, must be newer")
        if after.version.patch:
            raise row.wrong(f"{after.version} is no Version X.Y.0")
    return tuple(found)


def newest_version() -> Version:
    """Return the newest Version that is known."""
    return shipped_versions()[-1].version


@functools.lru_cache(maxsize=1024)
def bytecode_format(version: Version) -> int | None:
    """Return the MLIR bytecode format that artifacts for a Version are written in.

    Args:
        version: Any Version; its patch does not matter.

    Returns:
        The format version, or None for a minor that is not known.
    """
    for shipped in shipped_versions():
        if shipped.version == version.target:
            return shipped.bytecode_format
    return None


@functools.cache
def available_since() -> tuple[tuple[datetime.date, Version], ...]:
    """Return since when each Version was available, oldest first.

    A tag of it or of a later Version counts; a commit does not. After the
    last known tag, the first Release with it counts. So an untagged Version between two tags
    (1.17.0) is never younger than the tag that follows it.

    Returns:
        Pairs of a date and a Version, both ascending.
    """
    shipped = shipped_versions()
    last_tagged = max(row.version for row in shipped if row.tag_date)
    found: list[tuple[datetime.date, Version]] = []
    since: datetime.date | None = None
    for row in reversed(shipped):
        first = row.tag_date if row.version <= last_tagged else row.seen
        dates = [day for day in (first, since) if day is not None]
        if dates:
            since = min(dates)
            found.append((since, row.version))
    return tuple(reversed(found))


def version_on(day: datetime.date) -> tuple[datetime.date, Version]:
    """Return the newest Version that was available on a day, and since when.

    Args:
        day: The day.

    Returns:
        The date and the Version.

    Raises:
        UnknownVersion: The day is before the first Version.
    """
    newest = None
    for since, version in available_since():
        if since <= day:
            newest = (since, version)
    if newest is None:
        first, version = available_since()[0]
        raise UnknownVersion(
            f"no StableHLO Version was released by {day}", hint=f"{version} was released on {first}"
        )
    return newest
