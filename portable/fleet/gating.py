"""What the gate checks on servers, and in what an audit wrote."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from portable.containers.excluding import excluded
from portable.containers.finding import Fate, Found, look_at
from portable.fleet.places import open_place
from portable.fleet.rows import bundled
from portable.fleet.subjects import read_subject
from portable.policy import Depth, Recorded

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from portable.policy import Rules
    from portable.prediction import Subject

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


def recorded(fleet: str | os.PathLike[str]) -> Iterator[list[Recorded]]:
    """Yield every artifact of an audit, for the gate; those of an object or a bundle together.

    Args:
        fleet: What `audit` wrote.

    Raises:
        FleetError: It is no fleet file.
    """
    known = cache(_subject)
    for bundle, rows in bundled(fleet, ("depth", "claimed", "subject", "error")):
        yield [
            Recorded(
                str(place),
                inside or "",
                Depth(depth),
                known(subject, claimed if bundle else "") if subject and not error else None,
                error or "",
            )
            for place, inside, _, depth, claimed, subject, error in rows
        ]


def _subject(text: str, member: str) -> Subject:
    return replace(read_subject(text), member=member)
