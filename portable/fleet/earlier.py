"""What an earlier audit knows, compared with a listing and handed on without being copied."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portable.fleet.rows import batches_of, parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


__all__ = ["Former", "Known", "known_runs"]


@dataclass(frozen=True, slots=True)
class Known:
    """Objects that have not changed, neighbours in a file of an earlier audit.

    Args:
        page: Some rows of that file.
        start: The first of these objects.
        stop: Behind the last.
    """

    page: _Page
    start: int
    stop: int

    @property
    def objects(self) -> int:
        """How many there are."""
        return self.stop - self.start

    def rows(self) -> Any:
        """Return their rows, a table of pyarrow; nothing is copied."""
        return parquet().Table.from_batches([self.page.rows(self.start, self.stop)])


class Former:
    """What an earlier audit knows, asked in the order of its places.

    Args:
        paths: The fleet files of one audit, one after another.
        depth: The depth that is wanted; what was looked into less is not used again.
    """

    def __init__(self, paths: Sequence[str], depth: str) -> None:
        self._pages = (_Page(rows, depth) for path in paths for rows in _whole_objects(path))
        self._page = next(self._pages, None)

    def known(self, places: Sequence[str], etags: Sequence[str]) -> Known | bool:
        """Return the rows of neighbours in a listing, if none of them has changed.

        Args:
            places: Objects, none of which comes before the first of the last call.
            etags: As they are now.

        Returns:
            Their rows; True if fewer of them may be known, False if none is.
        """
        page, count = self._page, len(places)
        while page is not None and page.places[-1] < places[0]:
            page = self._page = next(self._pages, None)
        if page is None:
            return False
        start = bisect_left(page.places, places[0])
        stop = start + count
        if page.places[start:stop] == places and page.etags[start:stop] == etags:
            return Known(page, start, stop)
        return count > 1 and page.places[start] <= places[-1]


def known_runs(
    formers: Sequence[Former], names: list[str], etags: list[str]
) -> Iterator[tuple[Known | None, int]]:
    """Yield what is known of neighbours in a listing, as few runs as there are.

    Args:
        formers: What is known.
        names: The places of the objects, in order.
        etags: As they are now.

    Yields:
        What is known, or None, and how many objects that is.
    """
    last: Known | None = None
    for known, count in _halved(formers, names, etags):
        if last and known and known.page is last.page and known.start == last.stop:
            last = Known(last.page, last.start, known.stop)
            continue
        if last:
            yield last, last.objects
        last = known
        if known is None:
            yield None, count
    if last:
        yield last, last.objects


def _halved(
    formers: Sequence[Former], names: list[str], etags: list[str]
) -> Iterator[tuple[Known | None, int]]:
    """Yield what is known of all together, else of both halves."""
    # Every one of them has to be asked: they go forward together.
    found = [former.known(names, etags) for former in formers]
    known = next((one for one in found if isinstance(one, Known)), None)
    if known is not None or not any(found):
        yield known, len(names)
        return
    half = len(names) // 2
    yield from _halved(formers, names[:half], etags[:half])
    yield from _halved(formers, names[half:], etags[half:])


class _Page:
    """Some rows of a file; of each object its place, and its etag where its rows are of use."""

    def __init__(self, batch: Any, depth: str) -> None:
        import numpy as np

        compute = parquet().compute
        self._batch = batch
        places = batch.column("place").to_numpy(zero_copy_only=False)
        etags = batch.column("etag")
        # What is odd has no etag: it is looked at again.
        useful = compute.and_(
            compute.equal(batch.column("depth").cast("string"), depth),
            compute.not_equal(etags, ""),
        )
        etags = compute.if_else(useful, etags, None).to_numpy(zero_copy_only=False)
        first = np.ones(len(places), bool)
        first[1:] = places[1:] != places[:-1]
        starts = np.flatnonzero(first)
        self.places: list[str] = places[starts].tolist()
        self.etags: list[str | None] = etags[starts].tolist()
        self._starts = [*starts.tolist(), len(places)]

    def rows(self, start: int, stop: int) -> Any:
        """Return the rows of some objects."""
        first = self._starts[start]
        return self._batch.slice(first, self._starts[stop] - first)


def _whole_objects(path: str) -> Iterator[Any]:
    """Yield the rows of a file, some at a time; those of one object together."""
    rest = None
    for batch in batches_of(path):
        rows = batch if rest is None else _one_batch([rest, batch])
        places = rows.column("place")
        cut = len(places) - 1
        while cut and places[cut - 1] == places[-1]:
            cut -= 1
        if cut:
            yield rows.slice(0, cut)
        rest = rows.slice(cut)
    if rest is not None:
        yield rest


def _one_batch(batches: Sequence[Any]) -> Any:
    whole = parquet().Table.from_batches(batches).unify_dictionaries().combine_chunks()
    return whole.to_batches()[0]
