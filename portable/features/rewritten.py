"""What was rewritten to reach a Version, and how far results may be apart for that."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from portable.features.bridges import Near, bridges

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from portable.features.bridges import Bridge
    from portable.features.model import Analysis
    from portable.version import Version

__all__ = ["Rewritten", "rewritten"]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """One Feature that the target lacks, and its replacement.

    Args:
        name: The rewrite that was allowed; of what is done unasked, the Feature.
        does: What it does.
        bound: How far results may be apart; `equal bits` where they are not.
        near: The same as numbers; None where it is none.
        count: How many ops were rewritten.
        locations: Where the first few are.
    """

    name: str
    does: str
    bound: str
    near: Near | None
    count: int
    locations: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether results have equal bits."""
        return self.near == Near()

    def __str__(self) -> str:
        places = f", first at {self.locations[0]}" if self.locations else ""
        return f"{self.name}: {self.does} ({self.count}x{places}); results: {self.bound}"

    def record(self) -> dict[str, object]:
        """Return the rewrite as plain data for JSON."""
        return {
            "name": self.name,
            "does": self.does,
            "exact": self.exact,
            "bound": self.bound,
            "near": None if self.near is None else self.near._asdict(),
            "count": self.count,
            "locations": list(self.locations),
        }


def rewritten(
    analysis: Analysis,
    target: Version,
    allowed: Collection[str] | None = None,
    done: Mapping[str, int] = MappingProxyType({}),
) -> tuple[Rewritten, ...]:
    """Say what was rewritten in a program that was written for a target.

    Args:
        analysis: Of the program before.
        target: The Version that it was written for.
        allowed: The rewrites that were allowed, by name; None where that is not known.
        done: How many ops each of those rewrote, where that is known.

    Returns:
        The replacement of each Feature that the target lacks, and what was done besides; locations
        are left out.
    """
    table = bridges()
    found: dict[str, Rewritten] = {}
    for feature in analysis.minimum.above(target):
        bridge, default = table.features.get(feature.name), table.defaults.get(feature.name)
        ours = _chosen(bridge, allowed) if bridge else ""
        if ours:
            terms = table.rewrites[ours]
            near = Near() if terms.exact else _default_accuracy(feature.name)
            one = Rewritten(ours, terms.does, terms.bound, near, feature.count, feature.locations)
        elif default:
            one = Rewritten(feature.name, *default, feature.count, feature.locations)
        else:
            continue
        # The attributes of an op are Features too, and say less of it.
        known = found.get(one.name)
        if known is None or (known.near is None and one.near is not None):
            found[one.name] = one
    for name in done.keys() - found.keys():
        terms = table.rewrites[name]
        near = None if terms.ulps is None else Near(terms.ulps, terms.ulps)
        found[name] = Rewritten(name, terms.does, terms.bound, near, done[name])
    return tuple(found.values())


def _chosen(bridge: Bridge, allowed: Collection[str] | None) -> str:
    """Return the rewrite of ours that was done, if one was."""
    if allowed is None:
        return bridge.rewrites[0] if bridge.by == "ours" and bridge.rewrites else ""
    return next((name for name in bridge.rewrites if name in allowed), "")


def _default_accuracy(name: str) -> Near | None:
    """Return how far an op is off that was requested another accuracy than the default."""
    op = name.rpartition("_v")[0]
    known = [ulps for key, ulps in bridges().default_ulps.items() if key.partition(" ")[0] == op]
    return Near(max(known), max(known)) if known else None
