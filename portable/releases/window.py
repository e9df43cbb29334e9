"""Windows: what upstream promises between two dates. A promise is not an observation."""

from __future__ import annotations

import calendar
import datetime
import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from portable.releases.release import Release, find_release
from portable.releases.shipped import UnknownVersion, available_since, newest_version
from portable.releases.table import TableError, rows
from portable.version import Version

if TYPE_CHECKING:
    from portable.artifact import ArtifactLike

__all__ = ["Promise", "Window", "promise_for", "window"]

_SPAN = re.compile(r"([0-9]{1,4})([ymd])", re.ASCII)


class Promise(NamedTuple):
    """How far apart writer and reader may be.

    Args:
        promiser: Who promises.
        since: The first Version it holds for.
        backward: How much younger the reader may be, such as `5y`.
        forward: How much older.
        source: Where it is written down.
    """

    promiser: str
    since: Version
    backward: str
    forward: str
    source: str


@dataclass(frozen=True, slots=True)
class Window:
    """Until when artifacts of one Version are promised to be read and written.

    Every date counts from the day the Version was first available, since no artifact of it is
    older. The promise for an artifact that a later library wrote for this target lasts longer.

    Args:
        version: The Version, patch zero.
        since: When it was first available.
        readable_until: Readers built up to this day promise to read it.
        writable_until: Writers built up to this day promise to be able to write it.
        jax_readable_until: The same for jax.export's own promise, counted from an export on the
            first day.
        jax_writable_until: The same.
        on: The day of the question, or the date of the Release's StableHLO.
        consumer: The Release, if one was given.
        basis: Which promise applies, with its source.
    """

    version: Version
    since: datetime.date
    readable_until: datetime.date
    writable_until: datetime.date
    jax_readable_until: datetime.date
    jax_writable_until: datetime.date
    on: datetime.date
    consumer: Release | None
    basis: str

    def __repr__(self) -> str:
        return f"<Window {self.version}: read until {self.readable_until}>"

    @property
    def readable(self) -> bool:
        """Whether a reader of that day promises to read the artifact.

        A reader older than the Version is judged by the forward promise: it holds for programs
        that use nothing newer than the reader, if the two are near enough.
        """
        if self.on >= self.since:
            return self.on <= self.readable_until
        # `on` is a reader's day here; the promise of the Version's own day reaches back to it.
        return self.since <= _later(self.on, promise_for(self.version).forward)

    @property
    def writable(self) -> bool:
        """Whether a writer of that day promises to be able to write this Version."""
        return self.on <= self.writable_until

    def record(self) -> dict[str, object]:
        """Return the Window as plain data for JSON."""
        return {
            "version": str(self.version),
            "since": str(self.since),
            "readable_until": str(self.readable_until),
            "writable_until": str(self.writable_until),
            "jax_readable_until": str(self.jax_readable_until),
            "jax_writable_until": str(self.jax_writable_until),
            "on": str(self.on),
            "consumer": str(self.consumer) if self.consumer else None,
            "readable": self.readable,
            "writable": self.writable,
            "basis": self.basis,
        }


def window(
    what: Version | ArtifactLike,
    release: Release | str | None = None,
    *,
    on: datetime.date | None = None,
) -> Window:
    """Return until when upstream promises to read and write an artifact or a Version.

    Args:
        what: A Version or the text of one; or an artifact, its bytes or its path.
        release: A consumer, as a Release or `jaxlib 0.4.33`; the date of its StableHLO counts.
        on: The day of the question, without a Release; by default today.

    Returns:
        The Window.

    Raises:
        UnknownVersion: The artifact claims no Version, or the table has no date for it.
        InvalidVersion: The text of a Version has another form than X.Y.Z.
        UnknownDistribution: The Release is not in the table.
        UnknownRelease: The same.
        NotAnArtifact: The file or the bytes are not an artifact.
        MalformedArtifact: Its header is damaged.
        FileError: The path cannot be read.
    """
    version = _version(what)
    since = _since(version)
    consumer = find_release(release) if isinstance(release, str) else release
    day = _since(consumer.current) if consumer else on or datetime.date.today()
    promise, jax = promise_for(version), promise_for(version, "jax.export")
    return Window(
        version=version,
        since=since,
        readable_until=_later(since, promise.backward),
        writable_until=_later(since, promise.forward),
        jax_readable_until=_later(since, jax.backward),
        jax_writable_until=_later(since, jax.forward),
        on=day,
        consumer=consumer,
        basis=f"{promise.backward} backward, {promise.forward} forward: {promise.source}",
    )


@functools.lru_cache(maxsize=1024)
def promise_for(version: Version, promiser: str = "stablehlo") -> Promise:
    """Return the Promise that holds for a Version.

    Args:
        version: The Version.
        promiser: `stablehlo` or `jax.export`.
    """
    found = [
        Promise(
            row.text("promiser"),
            row.version("since"),
            row.text("backward"),
            row.text("forward"),
            row.text("source"),
        )
        for row in rows("promises", "promise")
    ]
    held = [one for one in found if one.promiser == promiser and one.since <= version]
    if not held:
        raise UnknownVersion(f"{promiser} has no compatibility window for StableHLO {version}")
    return max(held, key=lambda one: one.since)


def _version(what: Version | ArtifactLike) -> Version:
    if isinstance(what, str) and not what.strip("0123456789."):
        return Version.parse(what).target
    if isinstance(what, Version):
        return what.target
    from portable.artifact import Artifact

    version = Artifact.of(what).version
    if version is None:
        raise UnknownVersion(
            "the artifact does not state its Version", hint="artifacts of early 2023 do not"
        )
    return version.target


def _since(version: Version) -> datetime.date:
    for day, known in available_since():
        if known >= version.target:
            return day
    raise UnknownVersion(
        f"the release date of StableHLO {version.target} is unknown",
        hint=f"the newest Version in the table is {newest_version()}",
    )


def _later(day: datetime.date, span: str) -> datetime.date:
    match = _SPAN.fullmatch(span)
    if match is None:
        raise TableError(f"{span!r} is not a number of y, m or d", where="promises.toml")
    amount, unit = int(match[1]), match[2]
    if unit == "d":
        return day + datetime.timedelta(days=amount)
    months = day.month - 1 + amount * (12 if unit == "y" else 1)
    year, month = day.year + months // 12, months % 12 + 1
    return day.replace(
        year=year, month=month, day=min(day.day, calendar.monthrange(year, month)[1])
    )
