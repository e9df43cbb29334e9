"""What an analysis finds: Features, and the two Versions they force."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from portable.bytecode.vhlo import minimum
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["Analysis", "Caveat", "Feature", "FeatureKind", "Needs", "RemovedForm", "Strictness"]


class Strictness(Enum):
    """Which forms count as readable at an older Version."""

    UPSTREAM = "upstream"
    """What StableHLO's serializer accepts."""
    READABLE = "readable"
    """What an old reader can really read."""

    def __str__(self) -> str:
        return self.value


class FeatureKind(Enum):
    """What kind of thing forces a Version."""

    OP = "op"
    TYPE = "type"
    ATTRIBUTE = "attribute"
    CONSTRAINT = "constraint"
    LOCATION = "location"
    FORMAT = "format"
    DIALECT = "dialect"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Feature:
    """One thing in a program that forces a Version.

    Args:
        kind: What kind of thing it is.
        name: Its name, for example `tan_v1`, `f8E4M3_v1` or `location_file_line_col_range`.
        version: The first Version that has it.
        count: How many operations (or locations) have it.
        locations: Where the first few are.
        reason: Why it needs that Version and cannot be written in an older form.
        workaround: How to avoid it; empty if no way is known.
        by_default: Whether `pin` removes it by default.
    """

    kind: FeatureKind
    name: str
    version: Version
    count: int
    locations: tuple[str, ...]
    reason: str
    workaround: str = ""
    by_default: bool = False

    def record(self) -> dict[str, object]:
        """Return the Feature as plain data for JSON."""
        return {
            "kind": str(self.kind),
            "name": self.name,
            "version": str(self.version),
            "count": self.count,
            "locations": list(self.locations),
            "reason": self.reason,
            "workaround": self.workaround,
            "by_default": self.by_default,
        }


@dataclass(frozen=True, slots=True)
class Needs:
    """A Version and the Features that force it.

    Args:
        version: The Version; None if it is unknown, as for unknown forms in an artifact
            that claims no Version.
        features: Everything that needs more than the minimum Version, the highest first.
    """

    version: Version | None
    features: tuple[Feature, ...]

    def __repr__(self) -> str:
        return f"<Needs {self.version or 'unknown'}, {len(self.features)} features>"

    def above(self, target: Version) -> tuple[Feature, ...]:
        """Return the Features that prevent a Target.

        Args:
            target: The Target; its patch does not matter.

        Returns:
            Those that need a newer Version, the highest first.
        """
        return tuple(feature for feature in self.features if feature.version > target.target)

    def without(self, names: Collection[str]) -> Needs:
        """Leave some Features out.

        Args:
            names: Their names.

        Returns:
            The other Features, and the lowest target that has them.
        """
        left = tuple(feature for feature in self.features if feature.name not in names)
        targets = [feature.version.first_target for feature in left]
        return Needs(max(targets, default=Version.parse(minimum())), left)


@dataclass(frozen=True, slots=True)
class Caveat:
    """Something that the tables cannot judge.

    Args:
        text: What it is.
        count: How often it occurs.
        locations: Where the first few are, if known.
    """

    text: str
    count: int
    locations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RemovedForm:
    """A form that newer readers do not know any more.

    Args:
        name: The form.
        last: The newest Version known to read it.
        refused: The oldest Version known to refuse it.
        count: How many operations have the form.
        locations: Where the first few are.
        reason: What happened, and on which Releases it was measured.
    """

    name: str
    last: Version
    refused: Version
    count: int
    locations: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """The Version that the bytes need, and the lowest one the program can be written for.

    Args:
        required: The Version that a reader of these bytes must have, and why.
        minimum: The lowest Target that the program can be written for without rewriting.
        caveats: What the tables cannot judge.
        unknown: Operations, types, attributes and values that no table knows; if there are any,
            both Versions are lower bounds, and so is the claimed Version.
        removed: Forms that newer readers have dropped.
        unreadable: Why no Release reads the bytes; empty if no reason is known.
    """

    required: Needs
    minimum: Needs
    caveats: tuple[Caveat, ...]
    unknown: tuple[str, ...]
    removed: tuple[RemovedForm, ...]
    unreadable: str = ""

    def __repr__(self) -> str:
        known = (self.required.version or "unknown", self.pinned.version or "unknown")
        return f"<Analysis required {known[0]}, minimum target {known[1]}>"

    @property
    def pinned(self) -> Needs:
        """The lowest Target that `pin` reaches by default, and what forces it.

        Location ranges become points, and upstream's expander rewrites what it can.
        """
        names = {feature.name for feature in self.minimum.features if feature.by_default}
        return self.minimum if self.unknown or not names else self.minimum.without(names)
