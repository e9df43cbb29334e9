"""Advisories: what a Release does with a Feature that does not follow from its Version."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.releases.release import Release, releases
from portable.releases.specifier import Specifier
from portable.releases.table import (
    Row,
    demand_once,
    normalize_name,
    rows,
    rows_by_distribution,
)
from portable.verdict import Stage

if TYPE_CHECKING:
    import datetime
    from collections.abc import Container, Mapping

    from portable.version import Version

__all__ = [
    "PRODUCER",
    "Advisory",
    "Effect",
    "advised_features",
    "advisories",
    "advisories_for",
    "decided_for",
    "features_by_id",
    "unread_for",
    "untried_for",
]

PRODUCER = ", as a producer"
"""How the Feature of an Advisory ends that does not concern consumers."""

_SAME_COMPILER = {
    "tensorflow": ("jaxlib",),
    "torch-xla": ("jaxlib",),
    "jax-cuda13-pjrt": ("jaxlib", "jax-cuda13-pjrt"),
}
"""Where else what a Release fails on may be known from: a compiler of another day or platform.

Few Releases for CUDA were executed, so that what one of them fails on was not tried in the others.
"""

# Every reader of artifacts is built from the same sources, and only of this distribution every
# Release was tried with everything that one of them fails to read.
_TRIED_READER = "jaxlib"
_DIALECT = "dialect:"
_READING = frozenset(str(stage) for stage in Stage if stage < Stage.COMPILE)


class Effect(enum.Enum):
    """What the Release does."""

    REFUSES = "refuses"
    WRONG_RESULT = "wrong result"
    CRASHES = "crashes"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Advisory:
    """A Release that refuses, miscomputes or crashes on a Feature that it should know.

    Args:
        id: A short name.
        distribution: Whose Releases.
        specifier: Which of them.
        feature: The Feature, as `kind:name` where the bytes show it (see `portable.prediction`),
            in words where they do not.
        effect: What happens.
        stage: Where it happens.
        reproducer: The smallest program, or the Case, that shows it.
        reason: Why, if known.
        link: The upstream report, if there is one.
        date: When it was found or reported.
        source: Who observed it, and how.
        decides: The op signatures that fail in just these programs: of others that have them the
            Release computes all.
    """

    id: str
    distribution: str
    specifier: Specifier
    feature: str
    effect: Effect
    stage: Stage
    reproducer: str
    reason: str
    link: str
    date: datetime.date | None
    source: str
    decides: tuple[str, ...] = ()

    def applies_to(self, release: Release) -> bool:
        """Return whether it applies to this Release."""
        named = release.distribution == self.distribution
        return named and self.specifier.contains(release.version)


@functools.cache
def advisories() -> tuple[Advisory, ...]:
    """Return every Advisory, in table order.

    Raises:
        TableError: A row is malformed or is duplicated.
    """
    table = rows("advisories", "advisory")
    demand_once((row, row.text("id")) for row in table)
    return tuple(map(_advisory, table))


@functools.cache
def features_by_id() -> Mapping[str, str]:
    """Return what each Advisory is about, by its id; none is parsed."""
    return {row.word("id"): row.word("feature") for row in rows("advisories", "advisory")}


def advisories_for(
    release: Release, features: Container[str] | None = None
) -> tuple[Advisory, ...]:
    """Return the Advisories that apply to one Release, in table order.

    Args:
        release: The Release.
        features: Only what is about one of these; all when None.
    """
    return tuple(
        advisory
        for feature, row in _about(release.distribution)
        if (features is None or feature in features)
        and (advisory := _advisory(row)).applies_to(release)
    )


def untried_for(release: Release, features: Container[str]) -> tuple[Advisory, ...]:
    """Return what others with the same compiler fail on, and this one was not tried with.

    Args:
        release: The Release.
        features: Only what is about one of these.

    Returns:
        Advisories about other Releases, in table order: whether the Release fails is not known.
    """
    of_compiler = _of_compiler(release.distribution)
    others = [(feature, row) for feature, row in of_compiler if feature in features]
    if not others:
        return ()
    known = {one.feature for one in advisories_for(release, features)} | _tried_with(release)
    return tuple(
        advisory
        for feature, row in others
        if feature not in known and (advisory := _advisory(row)).stage >= Stage.COMPILE
    )


def decided_for(release: Release) -> frozenset[str]:
    """Return the op signatures of which Advisories say in which programs a Release fails.

    Args:
        release: The Release.
    """
    found = (_advisory(row) for row in _deciding(release.distribution))
    return frozenset(text for one in found if one.applies_to(release) for text in one.decides)


def unread_for(release: Release, features: Container[str]) -> tuple[Advisory, ...]:
    """Return what jaxlibs of its Version fail to read, and this Release was not tried with.

    Args:
        release: The Release.
        features: Only what is about one of these.

    Returns:
        Advisories about jaxlib, in table order: whether the Release fails is not known. None where
        an Advisory is about the same Feature and the distribution: it says in which Releases.
    """
    if release.distribution == _TRIED_READER:
        return ()
    found = [(feature, row) for feature, row in _of_readers() if feature in features]
    if not found:
        return ()
    known = {feature for feature, _ in _about(release.distribution)} | _tried_with(release)
    return tuple(
        advisory
        for feature, row in found
        if feature not in known
        and _is_within(release.current, _versions(advisory := _advisory(row)))
    )


def _tried_with(release: Release) -> set[str]:
    """Return what a Release was tried with and computed right."""
    tried = _tried(release.distribution)
    return {feature for feature, of in tried.items() if of.contains(release.version)}


@functools.cache
def _versions(advisory: Advisory) -> tuple[Version | None, Version | None]:
    """Return the first and the last Version of the shipped Releases that it applies to.

    The last is None where it applies to the newest. Those of other tables were not tried, and
    which of them are read changes within a process.
    """
    every = [one for one in releases(advisory.distribution) if not one.own]
    found = sorted({one.current for one in every if advisory.applies_to(one)})
    newest = max((one.current for one in every), default=None)
    return next(iter(found), None), None if newest in found else next(iter(found[-1:]), None)


def _is_within(version: Version, ends: tuple[Version | None, Version | None]) -> bool:
    first, last = ends
    return first is not None and first <= version and (last is None or version <= last)


@functools.cache
def _of_compiler(distribution: str) -> tuple[tuple[str, Row], ...]:
    """Return the rows about the distributions that have the compiler of this one."""
    return tuple(row for one in _SAME_COMPILER.get(distribution, ()) for row in _about(one))


@functools.cache
def _tried(distribution: str) -> dict[str, Specifier]:
    """Return what the compiler of a distribution fails on elsewhere, and where it was seen not to.

    Each Feature has the Releases in which programs of it were executed and computed right.
    """
    table = rows_by_distribution("tried", "tried").get(distribution, ())
    return {row.text("feature"): Specifier.parse(row.text("specifier")) for row in table}


@functools.cache
def advised_features(distribution: str) -> tuple[str, ...]:
    """Return what Advisories that may decide about the Releases of a distribution are about.

    Args:
        distribution: Its normalised name.
    """
    about = (*_about(distribution), *_of_compiler(distribution), *_of_readers())
    return tuple(dict.fromkeys(feature for feature, _ in about))


@functools.cache
def _deciding(distribution: str) -> tuple[Row, ...]:
    """Return the rows about a distribution that decide about op signatures."""
    return tuple(row for _, row in _about(distribution) if row.maybe_texts("decides"))


@functools.cache
def _of_readers() -> tuple[tuple[str, Row], ...]:
    """Return the rows about what readers fail on, of the distribution that was tried with all.

    Which of them read a dialect stands in a table of its own.
    """
    return tuple(
        (feature, row)
        for feature, row in _about(_TRIED_READER)
        if row.word("stage") in _READING and not feature.startswith(_DIALECT)
    )


@functools.cache
def _about(distribution: str) -> tuple[tuple[str, Row], ...]:
    """Return the rows about a distribution, each with its Feature; none is parsed."""
    table = rows_by_distribution("advisories", "advisory").get(distribution, ())
    return tuple((row.word("feature"), row) for row in table)


@functools.cache
def _advisory(row: Row) -> Advisory:
    return Advisory(
        id=row.text("id"),
        distribution=normalize_name(row.text("distribution")),
        specifier=Specifier.parse(row.text("specifier")),
        feature=row.text("feature"),
        effect=row.member("effect", Effect),
        stage=row.member("stage", Stage),
        reproducer=row.note("reproducer"),
        reason=row.note("reason"),
        link=row.note("link"),
        date=row.maybe_date("date"),
        source=row.text("source"),
        decides=row.maybe_texts("decides"),
    )
