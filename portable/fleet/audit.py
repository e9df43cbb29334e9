"""The audit: every object of folders and buckets, read again only where it changed."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import operator
import os
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from portable.containers.finding import Fate, Found, look_at
from portable.fleet.places import open_place
from portable.fleet.rows import (
    OTHER,
    FleetError,
    Former,
    Known,
    batched,
    join_files,
    rows_of,
    write_rows,
)
from portable.policy import Depth
from portable.system.files import demand_output, file_error, write_through

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from portable.fleet.places import Object, Place
    from portable.fleet.rows import Piece

__all__ = ["Audit", "audit"]

_PART = 1000
"""How many objects are looked into before their rows are safe on the disk."""
_COUNTED = operator.itemgetter("kind", "error")
_AT_ONCE = 16
"""How many requests a server has to answer at once."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit did.

    Args:
        objects: How many there are.
        unchanged: How many were known and are the same.
        artifacts: How many artifacts they hold.
        damaged: How many could not be read, in whole or in part.
        kinds: How many there are of each kind.
    """

    objects: int = 0
    unchanged: int = 0
    artifacts: int = 0
    damaged: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)

    def with_parts(self, pieces: Iterable[Piece]) -> Audit:
        """Count the rows of some more objects."""
        rows: list[tuple[str | None, str | None]] = []
        objects = unchanged = 0
        for piece in pieces:
            if isinstance(piece, Known):
                objects += piece.objects
                unchanged += piece.objects
                rows += piece.counted
            else:
                objects += 1
                rows += map(_COUNTED, piece)
        good = sum(error is None and kind != OTHER for kind, error in rows)
        return Audit(
            self.objects + objects,
            self.unchanged + unchanged,
            self.artifacts + good,
            self.damaged + sum(error is not None for _, error in rows),
            Counter(self.kinds) + Counter(kind or "unreadable" for kind, _ in rows),
        )

    def record(self) -> dict[str, object]:
        """Return it as plain data for JSON."""
        return {
            "objects": self.objects,
            "unchanged": self.unchanged,
            "artifacts": self.artifacts,
            "damaged": self.damaged,
            "kinds": dict(self.kinds),
        }


def audit(
    urls: Sequence[str],
    to: str | os.PathLike[str],
    *,
    depth: Depth | str = Depth.HEADER,
    at_once: int = _AT_ONCE,
    tell: Callable[[Audit], object] = lambda _: None,
) -> Audit:
    """Look into every object of some folders and buckets, and write a row for each artifact.

    What `to` knows from an earlier audit is looked into only where it changed. An audit that was
    killed goes on where it was: its rows lie in `TO.parts` until the file is whole.

    Args:
        urls: As for `open_place`; none lies inside of another.
        to: The Parquet file; replaced when the audit is complete.
        depth: What is looked at: `header`, the first bytes of each artifact, or `content`.
        at_once: How many requests a server has to answer at once.
        tell: Called with what is done so far, after every part.

    Returns:
        What was done.

    Raises:
        PlaceError: A place cannot be listed.
        FleetError: `to` is there and is something else; pyarrow is not installed.
        FileError: `to` cannot be written.
    """
    target = os.fspath(to)
    demand_output(target)
    places = sorted(map(open_place, urls), key=lambda place: _prefix(place.url))
    _demand_apart([place.url for place in places])
    done = Audit()
    with contextlib.closing(_Parts(target)) as parts, _workers(places, at_once) as work:
        known = [*parts.earlier, [target] if Path(target).exists() else []]
        formers = [Former(files, str(depth)) for files in known]
        look = _Look(str(depth), formers, work)
        for place in places:
            for group in batched(place.objects(), _PART):
                pieces = look.part(place, group)
                parts.keep(pieces)
                done = done.with_parts(pieces)
                tell(done)
        parts.finish(target)
    return done


def _prefix(url: str) -> str:
    return url.rstrip("/") + "/"


def _demand_apart(urls: Sequence[str]) -> None:
    for one, other in itertools.pairwise(urls):
        if _prefix(other).startswith(_prefix(one)):
            raise FleetError(f"{other} lies inside of {one}", hint="name each place once")


@contextlib.contextmanager
def _workers(places: Sequence[Place], at_once: int) -> Iterator[Callable[..., Iterable[Piece]]]:
    """Yield what maps a function: by threads where reading waits for a server."""
    if any(place.remote for place in places):
        with ThreadPoolExecutor(at_once) as pool:
            yield pool.map
    else:
        yield map


@dataclass(frozen=True, slots=True)
class _Look:
    """How objects are looked into.

    Args:
        depth: As for `audit`.
        formers: What is known of them.
        work: Maps a function over them.
    """

    depth: str
    formers: Sequence[Former]
    work: Callable[..., Iterable[Piece]]

    def part(self, place: Place, group: Sequence[Object]) -> list[Piece]:
        """Return the rows of some objects, which are in the order of their keys."""
        names = [_name(place, found) for found in group]
        known = list(self._known(names, [found.etag for found in group]))
        new, at = [], 0
        for piece in known:
            if piece is None:
                new.append(at)
            at += piece.objects if piece else 1
        look = partial(self._rows, place)
        rows = iter(self.work(look, [names[at] for at in new], [group[at] for at in new]))
        return [piece or next(rows) for piece in known]

    def _known(self, names: list[str], etags: list[str]) -> Iterator[Known | None]:
        """Yield what is known of neighbours: of all together, else of both halves."""
        # Every one of them has to be asked: they go forward together.
        known = [former.known(names, etags) for former in self.formers]
        if any(known) or len(names) == 1:
            yield next(filter(None, known), None)
            return
        half = len(names) // 2
        yield from self._known(names[:half], etags[:half])
        yield from self._known(names[half:], etags[half:])

    def _rows(self, place: Place, name: str, found: Object) -> Piece:
        return rows_of(_found(place, name, found), found, name, self.depth)


def _name(place: Place, found: Object) -> str:
    """Return the object's URL; names that are not UTF-8 with escapes, which Parquet lacks."""
    name = f"{place.url.rstrip('/')}/{found.key}"
    if name.isascii():  # as nearly all are
        return name
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _found(place: Place, name: str, found: Object) -> Found:
    if found.odd:
        return Found(name, Fate.NOT_JUDGED, why=found.odd)
    return look_at(name, lambda: place.open(found))


class _Parts:
    """The rows of an audit that is not complete: a file for each part, in a folder for each try.

    They are Arrow's own files, which cost a tenth of what Parquet does.
    What a try that was killed has found is read as what is known, and written again by the next.
    """

    def __init__(self, target: str) -> None:
        self._folder = folder = Path(f"{target}.parts")
        try:
            folder.mkdir(exist_ok=True)
            self._lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            tries = sorted(int(each.name) for each in folder.iterdir())
            self.earlier = [_files(folder / str(number)) for number in tries]
            self._now = folder / str(tries[-1] + 1 if tries else 0)
            self._now.mkdir()
        except BlockingIOError:
            raise FleetError("another audit writes it", where=target) from None
        except (OSError, ValueError) as error:
            raise file_error("write", error, folder) from error
        self._count = 0

    def keep(self, rows: Iterable[Piece]) -> None:
        """Write the rows of one part."""
        path = self._now / f"{self._count:08}.arrow"
        write_through(path, lambda stream: write_rows(stream, rows))
        self._count += 1

    def finish(self, target: str) -> None:
        """Write everything to its place, and remove the parts."""
        write_through(target, lambda stream: join_files(stream, _files(self._now)))
        shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """Let another audit write."""
        os.close(self._lock)


def _files(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.glob("*.arrow"))
