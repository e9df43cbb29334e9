"""The audit: every object of folders and buckets, read again only where it changed."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from portable.containers.finding import Fate, Found, look_at
from portable.errors import PortableError
from portable.fleet.bundles import bundle_row
from portable.fleet.earlier import Former, Known, known_runs
from portable.fleet.places import PlaceError, open_place
from portable.fleet.rows import OTHER, FleetError, batched, rows_of
from portable.fleet.stores import DEFAULT
from portable.fleet.writing import Audit, Writer
from portable.policy import Depth
from portable.system.shares import Threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor

    from portable.fleet.places import Object, Place
    from portable.fleet.rows import Row
    from portable.fleet.stores import Politeness

__all__ = ["Audit", "audit"]

_TASK = 50
"""How many objects one task of a thread or of a cluster looks into, one after another."""
_AHEAD = 4
"""How many tasks there are for each thread."""


def audit(
    urls: Sequence[str],
    to: str | os.PathLike[str],
    *,
    depth: Depth | str = Depth.HEADER,
    limits: Politeness = DEFAULT,
    executor: Executor | None = None,
    tell: Callable[[Audit], object] = lambda _: None,
) -> Audit:
    """Read the objects of folders and buckets, and write a row for each artifact.

    Objects that `to` has from an earlier audit are read again only if they changed. An audit that
    was killed continues where it stopped: its rows are in `TO.parts` until the file is complete.

    Args:
        urls: As for `open_place`; none lies inside another.
        to: The Parquet file; replaced when the audit is complete.
        depth: What is read: `header`, the first bytes of each artifact, or `content`.
        limits: How many requests a server gets. With an executor `at_once` is how many tasks there
            are, and `per_second` holds for each of its tasks.
        executor: What runs the tasks, as Dask's; each finds the places under the same names. By
            default threads where a server is read, else nothing beside this thread.
        tell: Called with the progress, after every part.

    Returns:
        What was done.

    Raises:
        PlaceError: A place cannot be listed, or holds no object.
        FleetError: `to` is there and is something else; pyarrow is not installed.
        FileError: `to` cannot be written.
    """
    places = sorted((open_place(url, limits) for url in urls), key=lambda place: _prefix(place.url))
    _demand_apart([place.url for place in places])
    remote = any(place.remote for place in places)
    with Writer(os.fspath(to)) as writer, contextlib.ExitStack() as stack:
        ahead = limits.at_once if executor or remote else 0
        if executor is None and remote:
            executor = Threads(limits.at_once)
            ahead *= _AHEAD  # none of the threads waits for the slowest
            stack.callback(executor.shutdown, cancel_futures=True)
        formers = [Former(files, str(depth)) for files in writer.earlier]
        pieces = itertools.chain.from_iterable(_pieces(place, formers) for place in places)
        count = _Count(places, writer.done.expected)
        stack.callback(count.stop.set)
        for rows, objects in _looked(pieces, str(depth), executor, ahead):
            if writer.add(rows, objects):
                tell(replace(writer.done, expected=count.total))
        return writer.finish()


class _Count(threading.Thread):
    """Counts the objects beside a first audit, so that its progress has an end.

    Args:
        places: Where they are.
        total: How many there may be, by an earlier audit; then nothing is counted.
    """

    def __init__(self, places: Sequence[Place], total: int | None) -> None:
        super().__init__(name="count", daemon=True)
        self.total, self.stop, self._places = total, threading.Event(), places
        if total is None:
            self.start()

    def run(self) -> None:
        """Count; what cannot be listed is an error of the audit itself."""
        total = 0
        with contextlib.suppress(PortableError):
            for count in itertools.chain.from_iterable(place.counts() for place in self._places):
                total += count
                if self.stop.is_set():
                    return
            self.total = total


_Task: TypeAlias = "tuple[Place, list[Object]]"
_Piece: TypeAlias = "Known | _Task"


def _prefix(url: str) -> str:
    return url.rstrip("/") + "/"


def _demand_apart(urls: Sequence[str]) -> None:
    for one, other in itertools.pairwise(urls):
        if _prefix(other).startswith(_prefix(one)):
            raise FleetError(f"{other} lies inside {one}", hint="name each place once")


def _pieces(place: Place, formers: Sequence[Former]) -> Iterator[_Piece]:
    """Yield the objects of a place: those that are known with their rows, the others to look at.

    Raises:
        PlaceError: There are none: as likely as not the place is another one.
    """
    page = None
    for page in place.pages():
        at = 0
        new: list[Object] = []
        for known, count in known_runs(formers, _names(place.url, page.keys), page.etags):
            if known is None:
                new += page.objects(at, at + count)
            else:
                yield from _tasks(place, new)
                new = []
                yield known
            at += count
        yield from _tasks(place, new)
    if page is None:
        raise PlaceError("no object there", where=place.url, hint="check the name and the prefix")


def _tasks(place: Place, objects: Sequence[Object]) -> Iterator[_Task]:
    return ((place, part) for part in batched(objects, _TASK))


def _looked(
    pieces: Iterable[_Piece], depth: str, executor: Executor | None, ahead: int
) -> Iterator[tuple[Any, int]]:
    """Yield the rows of everything, in order, and of how many objects they are.

    Each task reads one object after another. The first of those under way is waited for once there
    are more than `ahead`.
    """
    waiting: deque[tuple[Any, int]] = deque()
    for piece in pieces:
        if isinstance(piece, Known):
            waiting.append((piece, piece.objects))
        elif executor is None:
            waiting.append((_look(*piece, depth), len(piece[1])))
        else:
            waiting.append((executor.submit(_look, *piece, depth), len(piece[1])))
        while len(waiting) > ahead:
            yield _result(*waiting.popleft())
    yield from itertools.starmap(_result, waiting)


def _result(rows: Any, objects: int) -> tuple[Any, int]:
    if not isinstance(rows, Future):
        return rows, objects
    try:
        return rows.result(), objects
    except PortableError:
        raise
    except Exception as error:
        raise FleetError(
            f"a task was lost: {error!r:.200}", hint="audit again: what is done is kept"
        ) from error


def _look(place: Place, objects: Sequence[Object], depth: str) -> list[Row]:
    """Return the rows of some objects; what a task of a cluster does."""
    rows = []
    for found in objects:
        name = _name(place.url, found)
        known = rows_of(_found(place, name, found), found, name, depth)
        if known[0]["kind"] == OTHER:
            known[0] |= bundle_row(place, found)
        rows += known
    return rows


def _names(url: str, keys: Sequence[str]) -> list[str]:
    top = f"{url.rstrip('/')}/"
    names = [top + key for key in keys]
    if all(map(str.isascii, names)):  # as nearly all are
        return names
    return list(map(_in_parquet, names))


def _name(url: str, found: Object) -> str:
    """Return the object's URL."""
    return _names(url, [found.key])[0]


def _in_parquet(name: str) -> str:
    """Return a name with escapes for what is not UTF-8, which Parquet lacks."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _found(place: Place, name: str, found: Object) -> Found:
    if found.odd:
        return Found(name, Fate.NOT_JUDGED, why=found.odd)
    return look_at(name, lambda: place.open(found))
