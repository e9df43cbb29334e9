"""Which Releases of a set an artifact is checked against, named as schema registries do.

For one artifact, which was written for the Version it claims:

- `backward`: newer readers read old artifacts. Of each distribution the oldest Release at or above
  that Version reads it; `backward-transitive`: all such Releases do.
- `forward`: older readers read new artifacts. Of each distribution the newest Release below that
  Version reads it; `forward-transitive`: all such Releases do.
- `full`: both; `full-transitive`: every Release of the set reads it.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from portable.releases import Release

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from portable.version import Version

__all__ = ["Mode"]


class Mode(enum.Enum):
    """Which Releases of a set count for an artifact."""

    BACKWARD = "backward"
    BACKWARD_TRANSITIVE = "backward-transitive"
    FORWARD = "forward"
    FORWARD_TRANSITIVE = "forward-transitive"
    FULL = "full"
    FULL_TRANSITIVE = "full-transitive"

    def __str__(self) -> str:
        return self.value

    @property
    def transitive(self) -> bool:
        """Whether every Release on a side counts, not only the next one."""
        return self.value.endswith("-transitive")

    def select(self, releases: Iterable[Release], version: Version) -> tuple[Release, ...]:
        """Choose the Releases that an artifact for `version` is checked against.

        Args:
            releases: The set.
            version: What the artifact was written for.

        Returns:
            Those of them that count, in the order of the set.
        """
        ordered = tuple(releases)
        if self is Mode.FULL_TRANSITIVE:
            return ordered
        newer = [one for one in ordered if one.target >= version.target]
        older = [one for one in ordered if one.target < version.target]
        if not self.transitive:
            newer, older = _next(newer), _next(older, newest=True)
        chosen = set[Release]()
        if not self.value.startswith("forward"):
            chosen |= set(newer)
        if not self.value.startswith("backward"):
            chosen |= set(older)
        return tuple(one for one in ordered if one in chosen)


def _next(releases: Sequence[Release], *, newest: bool = False) -> list[Release]:
    """Return the oldest, or the newest, of each distribution."""
    found: dict[str, Release] = {}
    ordered = sorted(releases, key=lambda one: (one.current, one.date), reverse=newest)
    for release in ordered:
        found.setdefault(release.distribution, release)
    return list(found.values())
