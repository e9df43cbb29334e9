"""What the gate checks on servers, and in what an audit wrote."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from portable.containers.excluding import excluded
from portable.containers.finding import Fate, Found, look_at
from portable.fleet.places import open_place
from portable.fleet.rows import OTHER, columns_of
from portable.fleet.subjects import read_subject
from portable.policy import Depth, Recorded

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from portable.policy import Rules

__all__ = ["find_at", "recorded"]


def find_at(url: str, rules: Rules) -> Iterator[Found]:
    """Find everything at a place, as the gate finds what is in a folder.

    Args:
        url: As for `open_place`.
        rules: Whose `include` and `exclude` hold; the latter is of the objects' keys.

    Raises:
        PlaceError: It cannot be listed.
    """
    place = open_place(url)
    for found in place.objects():
        name, rule = f"{place.url}/{found.key}", excluded(found.key, rules.exclude)
        if rule:
            yield Found(name, Fate.EXCLUDED, why=rule)
        elif found.odd:
            yield Found(name, Fate.NOT_JUDGED, why=found.odd)
        else:
            yield look_at(name, partial(place.open, found), rules.include)


def recorded(fleet: str | os.PathLike[str]) -> Iterator[Recorded]:
    """Yield every artifact of an audit, for the gate.

    Args:
        fleet: What `audit` wrote.

    Raises:
        FleetError: It is no fleet file.
    """
    known = cache(read_subject)
    asked = ("place", "inside", "depth", "kind", "subject", "error")
    for place, inside, depth, kind, subject, error in columns_of(fleet, asked):
        if kind != OTHER:
            what = known(subject) if subject is not None and error is None else None
            yield Recorded(str(place), inside or "", Depth(depth), what, error or "")
