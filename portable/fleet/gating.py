"""What the gate checks on servers, and in what an audit wrote."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from portable.bytecode import HEADER_BYTES, read_header
from portable.containers import Kind
from portable.containers.bundle import MEMBER, TOP, is_top
from portable.containers.excluding import excluded
from portable.containers.finding import Fate, Found, look_at
from portable.containers.plain import Plain
from portable.errors import PortableError
from portable.fleet.places import open_place
from portable.fleet.rows import BUNDLE, bundled, together
from portable.fleet.subjects import read_subject
from portable.policy import Depth, Recorded
from portable.system.files import FileError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

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
    for bundle, objects in together(listed):
        found = [look(one) for one in objects]
        if not bundle:
            yield from found
            continue
        versions = [one for one in found if one.container and _claimed(one.container)]
        yield from (one for one in found if one not in versions)
        if versions:
            yield Found(bundle, Fate.ARTIFACT, _Versions(bundle, versions))
        elif any(MEMBER.encode() in place.open(one)[:_SAMPLE] for one in objects):
            why = "a bundle without a Version in one file; gate a copy on this machine"
            yield Found(bundle, Fate.NOT_JUDGED, why=why)


def _what(place: Place, found: Object) -> str:
    """Say whether an object may be that of a bundle by which the others are one."""
    is_top = f"/{found.key}".endswith(f"/{TOP}") and not found.odd and _is_bundle(place, found)
    return BUNDLE if is_top else ""


def _is_bundle(place: Place, found: Object) -> bool:
    try:
        return is_top(place.open(found))
    except FileError:
        return False


def _claimed(container: Container) -> Version | None:
    """Return the newest Version that its artifacts claim."""
    try:
        headers = (read_header(one.head(HEADER_BYTES)) for one in container.artifacts())
        return max((one.version for one in headers if one.version), default=None)
    except PortableError:
        return None


class _Versions(Plain):
    """The artifacts of a bundle on a server; what its documents say of them is not compared."""

    def __init__(self, path: str, found: Iterable[Found]) -> None:
        held = [one.container for one in found if one.container]
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
        FleetError: It is no fleet file.
    """
    known = cache(read_subject)
    for bundle, rows in bundled(fleet, ("depth", "claimed", "subject", "error")):
        yield [
            Recorded(
                bundle if member else str(place),
                "/".join(filter(None, (member, inside))),
                Depth(depth),
                known(subject) if subject and not error else None,
                error or "",
                member,
            )
            for place, inside, _, depth, claimed, subject, error in rows
            for member in [claimed if bundle and claimed and not error else ""]
        ]


_SAMPLE = 4096
