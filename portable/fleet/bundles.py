"""Bundles among objects: what their documents list for each Version, and what is there of it."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from portable.containers.bundle import BLOBS, TOP, is_top, listed_files
from portable.containers.container import NoArtifact
from portable.containers.oci import LARGEST
from portable.errors import PortableError
from portable.fleet.rows import OTHER, FleetError, Row, columns_of
from portable.system.documents import parse_json
from portable.system.files import FileError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from portable.fleet.places import Object, Place

__all__ = ["BUNDLE", "ArtifactRow", "bundle_row", "bundled", "listed_versions", "taken", "together"]

BUNDLE = "bundle"
"""What stands for `inside` of the `index.json` of a bundle; its `subject` is what it lists."""
MISSING = "a Version that is not in one file, or is another; gate a copy on this machine"
"""Why a bundle is not judged."""

T = TypeVar("T")
_BLOBS = f"/{BLOBS}/"


class ArtifactRow(NamedTuple):
    """One artifact of a fleet file, in the columns that are judged."""

    place: str
    inside: str
    kind: str
    depth: str
    claimed: str | None
    minimum: str | None
    subject: str | None
    error: str | None


def listed_versions(place: Place, found: Object) -> dict[str, list[str]] | None:
    """Return what the documents of a bundle list.

    Args:
        place: Where it is.
        found: An object there: the `index.json` of a bundle, or any other.

    Returns:
        The paths of the blobs in the bundle, by Version; None of what is no bundle.

    Raises:
        PortableError: A document cannot be read, or is damaged.
    """
    if found.odd or not f"/{found.key}".endswith(f"/{TOP}"):
        return None
    try:
        if not is_top(place.open(found)):
            return None
    except FileError:
        return None
    folder = found.key.removesuffix(TOP)
    try:
        return listed_files(lambda inside: place.read(folder + inside, LARGEST))
    except NoArtifact:
        return None


def bundle_row(place: Place, found: Object) -> Row:
    """Return what the row of an object says more where it is the `index.json` of a bundle."""
    try:
        listed = listed_versions(place, found)
    except PortableError as error:
        return {"inside": BUNDLE, "error": str(error)}
    return {} if listed is None else {"inside": BUNDLE, "subject": json.dumps(listed)}


def bundled(fleet: str | os.PathLike[str]) -> Iterator[tuple[str, list[ArtifactRow]]]:
    """Yield the artifacts of a fleet file: those of each object, and those of each bundle.

    Args:
        fleet: What an audit wrote.

    Yields:
        The folder of a bundle, or nothing; and its rows. A Version of which there is no artifact
        has one with an error.

    Raises:
        FleetError: As `columns_of`.
    """
    rows = map(ArtifactRow._make, columns_of(fleet, ArtifactRow._fields))
    objects = (list(of_one) for _, of_one in groupby(rows, lambda row: row.place))
    named = (
        (one[0].place, BUNDLE if one[0].inside == BUNDLE else one[0].kind, one) for one in objects
    )
    for top, found in together(named):
        artifacts = [row for one in found for row in one if row.kind != OTHER]
        if top:
            yield from _of_bundle(top[0], artifacts)
        elif artifacts:
            yield "", artifacts


def _of_bundle(
    top: ArtifactRow, artifacts: Iterable[ArtifactRow]
) -> Iterator[tuple[str, list[ArtifactRow]]]:
    """Yield what the documents of a bundle list, and each of the others alone."""
    folder = top.place.removesuffix(f"/{TOP}")
    if top.error or not top.subject:
        yield folder, [top._replace(place=folder, error=top.error or MISSING)]
        return
    there: dict[str, list[ArtifactRow]] = {}
    for row in artifacts:
        there.setdefault(row.place.removeprefix(f"{folder}/"), []).append(row)
    members = []
    for version, found in taken(there, _listed(top)):
        one = [row for rows in found for row in rows]
        fits = any(row.error or row.claimed == version for row in one)
        members += one if fits else [top._replace(place=folder, inside=version, error=MISSING)]
    yield folder, members
    yield from (("", rows) for rows in there.values())


def _listed(top: ArtifactRow) -> dict[str, list[str]]:
    try:
        found = parse_json((top.subject or "").encode())
        if all(isinstance(path, str) for paths in found.values() for path in paths):
            return dict(found)
    except (AttributeError, TypeError, ValueError):
        pass  # no JSON, or of another shape
    raise FleetError("a bundle's row is not what an audit writes", hint="audit again")


def taken(
    there: dict[str, T], listed: Mapping[str, Iterable[str]]
) -> Iterator[tuple[str, list[T]]]:
    """Yield what is there of each Version, and leave what no document lists."""
    found = {version: [there[p] for p in paths if p in there] for version, paths in listed.items()}
    for path in {path for paths in listed.values() for path in paths}:
        there.pop(path, None)
    yield from found.items()


def together(found: Iterable[tuple[str, str, T]]) -> Iterator[tuple[T | None, list[T]]]:
    """Yield objects in the order of a listing: each alone, and the blobs of a bundle together.

    A bundle is known by its `index.json`, which is listed after its blobs.

    Args:
        found: Their places, what they are (`OTHER`, `BUNDLE` or anything else), and the objects.

    Yields:
        The `index.json` of a bundle, or nothing; and what it has, without its documents.
    """
    held: dict[str, list[T]] = {}
    for place, kind, one in found:
        for folder in [one for one in held if not place.startswith(one)]:
            yield from ((None, [blob]) for blob in held.pop(folder))
        folder, blob, _ = place.partition(_BLOBS)
        if blob and kind != OTHER:
            held.setdefault(f"{folder}/", []).append(one)
        elif kind == BUNDLE:
            yield one, held.pop(place.removesuffix(TOP), [])
        else:
            yield None, [one]
    yield from ((None, [blob]) for blobs in held.values() for blob in blobs)
