"""What the gate checks on servers, and in what an audit wrote."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from portable.bytecode import HEADER_BYTES, read_header
from portable.containers import Kind
from portable.containers.bundle import TOP
from portable.containers.excluding import excluded
from portable.containers.finding import Fate, Found, look_at
from portable.containers.plain import Plain
from portable.errors import PortableError
from portable.fleet.bundles import (
    BUNDLE,
    MISSING,
    bundled,
    listed_versions,
    taken,
    together,
)
from portable.fleet.places import open_place
from portable.fleet.subjects import read_subject
from portable.policy import Depth, Recorded

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence

    from portable.containers import Container
    from portable.containers.container import Entry
    from portable.fleet.places import Object, Place
    from portable.policy import Rules
    from portable.version import Version

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

    def look(found: Object) -> Found:
        name, rule = f"{place.url}/{found.key}", excluded(found.key, rules.exclude)
        if rule:
            return Found(name, Fate.EXCLUDED, why=rule)
        if found.odd:
            return Found(name, Fate.NOT_JUDGED, why=found.odd)
        return look_at(name, partial(place.open, found), rules.include)

    listed = ((f"{place.url}/{one.key}", _what(place, one), one) for one in place.objects())
    for top, objects in together(listed):
        if top is None:
            yield from map(look, objects)
        else:
            yield from _of_bundle(place, top, [look(one) for one in objects])


def _what(place: Place, found: Object) -> str:
    """Say whether an object is that of a bundle by which the others are one."""
    try:
        return "" if listed_versions(place, found) is None else BUNDLE
    except PortableError:
        return BUNDLE


def _of_bundle(place: Place, top: Object, found: Iterable[Found]) -> Iterator[Found]:
    """Yield a bundle, and each of what its documents do not list."""
    folder = f"{place.url}/{top.key}".removesuffix(f"/{TOP}")
    try:
        listed = listed_versions(place, top) or {}
    except PortableError as error:
        yield Found(folder, Fate.NOT_JUDGED, why=str(error))
        return
    there = {one.path.removeprefix(f"{folder}/"): one for one in found}
    held: list[Container] = []
    whole = True
    for version, some in taken(there, listed):
        claims = {one.container: _claimed(one.container) for one in some if one.container}
        held += [container for container, claim in claims.items() if claim]
        sound = version in map(str, claims.values())
        kept = {Fate.NOT_JUDGED} if sound else {*Fate} - {Fate.OTHER}
        yield from (one for one in some if one.fate in kept)
        if not sound:
            whole = False
            yield Found(folder, Fate.NOT_JUDGED, why=MISSING)
    yield from there.values()
    if whole:
        yield Found(folder, Fate.ARTIFACT, _Versions(folder, held))


def _claimed(container: Container) -> Version | None:
    """Return the newest Version that its artifacts claim."""
    try:
        headers = (read_header(one.head(HEADER_BYTES)) for one in container.artifacts())
        return max((one.version for one in headers if one.version), default=None)
    except PortableError:
        return None


class _Versions(Plain):
    """The artifacts of a bundle on a server; what its documents say of them is not compared."""

    def __init__(self, path: str, held: Sequence[Container]) -> None:
        super().__init__(Kind.BUNDLE, held[0].artifacts()[0].source)
        self.path, self._held = path, held

    def artifacts(self) -> tuple[Entry, ...]:
        """Return them, each with the Version that it claims."""
        return tuple(
            replace(one, name="/".join(filter(None, (member, one.name))), member=member)
            for container in self._held
            for member in [str(_claimed(container))]
            for one in container.artifacts()
        )


def recorded(fleet: str | os.PathLike[str]) -> Iterator[list[Recorded]]:
    """Yield every artifact of an audit, for the gate; those of an object or a bundle together.

    Args:
        fleet: What `audit` wrote.

    Raises:
        FleetError: It is not a fleet file.
    """
    known = cache(read_subject)
    for bundle, rows in bundled(fleet):
        yield [
            Recorded(
                bundle if member else row.place,
                "/".join(filter(None, (member, row.inside))),
                Depth(row.depth),
                known(row.subject) if row.subject and not row.error else None,
                row.error or "",
                member,
            )
            for row in rows
            for member in [row.claimed if bundle and row.claimed and not row.error else ""]
        ]
