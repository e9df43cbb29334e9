"""A container's artifacts, all pinned for one target or none."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.containers import open_container
from portable.containers.container import place
from portable.errors import PortableError
from portable.pinning import locations as places
from portable.pinning import pipeline
from portable.pinning.program import text
from portable.prediction import opening
from portable.releases.requests import ResolveContext, candidates
from portable.version import Version

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from portable.containers import Container
    from portable.containers.container import Opener
    from portable.pinning.options import PinOptions
    from portable.pinning.pipeline import NotExpressible, Pinned
    from portable.releases import Release
    from portable.releases.requests import TargetRequest

__all__ = ["NotOpened", "Repinned", "perhaps_closed", "pin_all", "repin"]


class NotOpened(PortableError):
    """A consumer does not open the container, in any form of its envelope."""


@dataclass(frozen=True, slots=True)
class Repinned:
    """The new artifacts of a container, before a copy is written.

    Args:
        pinned: The new artifacts, by their names in the container.
        texts: The programs in them as MLIR text, where the container keeps that.
        widen: Whether its envelope has to be widened for consumers that do not open the old one.
    """

    pinned: Mapping[str, Pinned]
    texts: Mapping[str, str]
    widen: bool = False

    def __repr__(self) -> str:
        return f"<Repinned {len(self.pinned)} artifacts>"

    def write(self, container: Container, to: str | os.PathLike[str]) -> None:
        """Write a copy of the container with the new artifacts and matching descriptions.

        Args:
            container: The original; not changed.
            to: As for `Container.replace`.

        Raises:
            FileError: The copy cannot be written; nothing is left behind.
        """
        new = {name: pinned.artifact for name, pinned in self.pinned.items()}
        container.replace(new, to=to, texts=self.texts, widen=self.widen)


def repin(
    path: str | os.PathLike[str] | bytes,
    *requests: TargetRequest,
    to: str | os.PathLike[str],
    **options: Unpack[PinOptions],
) -> Repinned:
    """Write a copy of a container whose artifacts are all pinned for one target.

    Args:
        path: The container, or the bytes of one file; not changed.
        requests: As for `portable.pin`.
        to: The path of the copy, as for `Container.replace`.
        options: As for `portable.serialize`: `locations`, `expand`, `allow`, `allow_dialects`,
            `library`.

    Returns:
        The new artifacts, with the Versions that they need.

    Raises:
        PortableError: As `pin_all`, and FileError when the copy cannot be written.
    """
    found = pin_all(path, *requests, **options)
    found.write(open_container(path), to)
    return found


def pin_all(
    path: str | os.PathLike[str] | bytes,
    *requests: TargetRequest,
    **options: Unpack[PinOptions],
) -> Repinned:
    """Pin every artifact of a container; nothing is written.

    Args:
        path: As for `repin`.
        requests: As for `repin`.
        options: As for `repin`.

    Returns:
        The new artifacts.

    Raises:
        NotOpened: A consumer is known not to open the container, nor a copy with a wider envelope.
        NotExpressible: Some cannot reach the target. The error is that of the most demanding one,
            so that the Version it names does for all.
        PortableError: As `portable.pin`, and as `open_container`; `where` names the artifact.
    """
    container = open_container(path)
    widen = _must_widen(container, requests)
    pinned: dict[str, Pinned] = {}
    texts: dict[str, str] = {}
    refused: list[NotExpressible] = []
    for entry in container.artifacts():
        try:
            pinned[entry.name] = pipeline.pin(entry.data, *requests, **options)
        except PortableError as error:
            places.place(error, place(container.path, entry.name))
            if not isinstance(error, pipeline.NotExpressible):
                raise
            refused.append(error)
        else:
            if entry.has_text:
                texts[entry.name] = text(pinned[entry.name].artifact)
    if refused:
        raise max(refused, key=_demand)
    return Repinned(pinned, texts, widen)


def perhaps_closed(container: Container, requests: Iterable[TargetRequest]) -> tuple[Release, ...]:
    """Return the consumers of which it is not known whether they open a container.

    Args:
        container: What was written.
        requests: As for `repin`.
    """
    opener = container.opener
    if opener is None:
        return ()
    return tuple(one for one in _named(requests) if opening(opener, one)[0] is None)


def _named(requests: Iterable[TargetRequest]) -> tuple[Release, ...]:
    context = ResolveContext(datetime.date.today())
    named = [target.binding for request in requests for target in candidates(request, context)]
    return tuple(dict.fromkeys(release for release in named if release))


def _demand(error: NotExpressible) -> tuple[bool, Version]:
    """Order errors by what would do; what nothing is known to do for comes last."""
    return error.minimum is None, error.minimum or Version(0, 0, 0)


def _must_widen(container: Container, requests: tuple[TargetRequest, ...]) -> bool:
    """Say whether a consumer does not open the container as it is, but a copy that is widened."""
    if container.opener is None:
        return False
    releases = _named(requests)
    closed = _closed(container.opener, releases)
    if closed is None:
        return False
    wider = container.widened()
    if not isinstance(wider, str):
        obstacle = _closed(wider, releases)
        if obstacle is None:
            return True
        closed, wider = obstacle, ""
    release, why = closed
    raise NotOpened(
        f"{release} does not open it: {why}" + (f", {wider}" if wider else ""),
        where=container.path,
        hint="name consumers that open it, or export the model again with a release of "
        f"{container.opener.framework} whose containers they open",
    )


def _closed(opener: Opener, releases: Iterable[Release]) -> tuple[Release, str] | None:
    """Return the first Release that is known not to open a container, and why."""
    for release in releases:
        opens, why = opening(opener, release)
        if opens is False:
            return release, why
    return None
