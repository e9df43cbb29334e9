"""Advisories: what a Release does with a Feature that does not follow from its Version."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    from collections.abc import Container

    from portable.releases.release import Release

__all__ = [
    "Advisory",
    "Effect",
    "advised_features",
    "advisories",
    "advisories_for",
    "untried_for",
]

_SAME_COMPILER = dict.fromkeys(("tensorflow", "torch-xla", "jax-cuda13-pjrt"), "jaxlib")
"""Distributions whose compiler is that of another: of another day, or for another platform."""


class Effect(enum.Enum):
    """What the Release does."""

    REFUSES = "refuses"
    WRONG_RESULT = "wrong result"
    CRASHES = "crashes"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Advisory:
    """A Release that refuses, miscomputes or dies of a Feature it should know.

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
        source: Who saw it, with what.
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
    """Return what another distribution with the same compiler fails on, and this one was not tried.

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
    tried = _tried(release.distribution)
    known = {one.feature for one in advisories_for(release, features)}
    known |= {feature for feature, of in tried.items() if of.contains(release.version)}
    return tuple(
        advisory
        for feature, row in others
        if feature not in known and (advisory := _advisory(row)).stage >= Stage.COMPILE
    )


def _of_compiler(distribution: str) -> tuple[tuple[str, Row], ...]:
    """Return the rows about the distribution from which another has its compiler, or none."""
    return _about(_SAME_COMPILER.get(distribution, ""))


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
    about = (*_about(distribution), *_of_compiler(distribution))
    return tuple(dict.fromkeys(feature for feature, _ in about))


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
    )
