"""Run a matrix: observe what is not known yet, predict every Cell, compare the two."""

from __future__ import annotations

import datetime
import os
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from portable.errors import PortableError
from portable.matrix.batch import Batch, Benches, Observation, observe_batch, packed
from portable.matrix.cell import Agreement, Cell, Role
from portable.matrix.inputs import with_expected
from portable.matrix.listed import listed
from portable.matrix.result import Matrix
from portable.matrix.store import Key, key
from portable.prediction import examine, predict_all
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import failure
from portable.runtime.executors.signature import ordered
from portable.runtime.executors.tensors import arrays_in
from portable.system.shares import Threads
from portable.verdict import Basis, Outcome, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor, Future
    from pathlib import Path

    from portable.matrix.item import Item
    from portable.matrix.store import Store
    from portable.releases import Release
    from portable.runtime.executors.tensors import Array


__all__ = ["LIMIT_S", "Run"]

# What was observed, by Release and by artifact.
_Known: TypeAlias = dict[str, dict[Key, Observation]]
_Task: TypeAlias = tuple[str, tuple[Key, ...]]

LIMIT_S = 30.0
# How many artifacts a task has: enough to make up for loading a library, few enough that little is
# lost when a run is interrupted. Reading takes less than a millisecond, executing some fifty. On
# this machine the next task has the same process, so that an execution may be one of few.
_JOBS = {Stage.DECODE: 2000, Stage.ROUNDTRIP: 1000, Stage.EXECUTE: 100}
_JOBS_HERE = _JOBS | {Stage.EXECUTE: 20}


def _quiet(done: int, total: int) -> None:
    del done, total


class Run:
    """One run of a matrix: its Stage, its limits, and where observations are kept.

    Args:
        store: What is known already; what is observed goes there task by task, so that an
            interrupted run loses at most the tasks under way and the next one continues from there.
        stage: How far to go: `decode`, `roundtrip` or `execute`.
        environments: Where the Releases are, or are made. The machines of an `executor` use
            their own.
        executor: What runs the tasks; by default as many threads as there are cores. Each task
            has a process of its Release. A task for an `executor` carries its files with it.
        limit: Seconds that a Release may take for one step with one artifact.
        fresh: Whether to observe again what is known already.
        on: What executes on each Release, a key of `EXECUTORS`; by default its first.
        benches: Where processes of this machine are kept for the next run; by default for none.
        progress: Called with how many artifacts x Releases are known, and how many there are.
    """

    def __init__(
        self,
        store: Store,
        stage: Stage = Stage.DECODE,
        *,
        environments: Environments | None = None,
        executor: Executor | None = None,
        limit: float = LIMIT_S,
        fresh: bool = False,
        on: str = "",
        benches: Benches | None = None,
        progress: Callable[[int, int], None] = _quiet,
    ) -> None:
        self.store = store
        self.stage = max(stage, Stage.DECODE)
        self.environments = environments or Environments()
        self.executor = executor
        self.limit = limit
        self.fresh = fresh
        self.on = on
        self.benches = benches
        self.progress = progress

    def observe(self, items: Sequence[Item], releases: Sequence[Release]) -> Matrix:
        """Let Releases read, write or execute artifacts, and compare that with predictions.

        Args:
            items: The artifacts.
            releases: The consumers.

        Returns:
            Every Cell. One whose Release is not available has no observation and says why.
        """
        cells = tuple(self.cells(items, releases))
        today = datetime.datetime.now(tz=datetime.UTC).date()
        return Matrix(self.stage, tuple(items), tuple(releases), cells, today)

    def cells(self, items: Sequence[Item], releases: Sequence[Release]) -> Iterator[Cell]:
        """Do the same without keeping every Cell at once.

        Args:
            items: The artifacts.
            releases: The consumers.

        Yields:
            Every Cell, artifact by artifact.
        """
        keys = [key(item, self.stage) for item in items]
        known = self._observe(dict(zip(keys, items, strict=True)), releases, self.progress)
        for item, name in zip(items, keys, strict=True):
            yield from _cells(item, releases, [known[str(release)][name] for release in releases])

    def judged(
        self,
        items: Sequence[Item],
        release: Release,
        folder: Path,
        *,
        absolute: float | None = None,
        progress: Callable[[int, int], None] = _quiet,
    ) -> tuple[Item, ...]:
        """Let a Release compute the results that are expected of the others.

        Args:
            items: The artifacts; those that need no judgement are returned as they are.
            release: The Release whose results count as right.
            folder: Where they are kept as files, as long as the items are used.
            absolute: As for `with_expected`.
            progress: Called with how many artifacts are judged, and how many there are.

        Returns:
            The items with what is expected; where the Release cannot say it, with the reason.
        """
        # What it computes does not depend on what is near enough.
        keys = [
            key(replace(item, relative=0.0, absolute=0.0, ulps=0), Stage.EXECUTE)
            if item.inputs is not None and not item.expected
            else None
            for item in items
        ]
        distinct = {name: item for name, item in zip(keys, items, strict=True) if name is not None}
        seen = self._observe(distinct, [release], progress, judging=True)[str(release)]

        def judged(item: Item, name: Key) -> Item:
            item = replace(item, reference=f"{release.distribution}=={release.version}")
            verdict, note = seen[name].verdict, seen[name].note
            if verdict is not None and verdict.compatible:
                outputs = arrays_in(self.store.outputs(self._kept(str(release)), name))
                return with_expected(item, folder, ordered(outputs), absolute)
            why = note if verdict is None else f"{release} {failure(verdict)}"
            return replace(item, unjudged=f"nothing to compare with: {why}")

        pairs = zip(items, keys, strict=True)
        return tuple(item if name is None else judged(item, name) for item, name in pairs)

    def computed(
        self, items: Sequence[Item], releases: Sequence[Release]
    ) -> Iterator[tuple[Item, Release, Observation, list[Array]]]:
        """Let Releases execute artifacts, without a comparison.

        Args:
            items: The artifacts, with inputs.
            releases: The Releases.

        Yields:
            What each Release did with each artifact, and its outputs where it executed it.
        """
        keys = [key(item, Stage.EXECUTE) for item in items]
        distinct = dict(zip(keys, items, strict=True))
        known = self._observe(distinct, releases, self.progress, judging=True)
        for item, name in zip(items, keys, strict=True):
            for release in releases:
                seen = known[str(release)][name]
                works = seen.verdict is not None and seen.verdict.compatible
                data = self.store.outputs(self._kept(str(release)), name) if works else b""
                yield item, release, seen, ordered(arrays_in(data)) if data else []

    def _kept(self, release: str) -> str:
        """Return what the Observations of a Release are kept under."""
        return f"{release} ({self.on})" if self.on else release

    def _observe(
        self,
        distinct: Mapping[Key, Item],
        releases: Sequence[Release],
        progress: Callable[[int, int], None],
        *,
        judging: bool = False,
    ) -> _Known:
        """Have Releases read, write or execute artifacts, as far as that is not known."""
        reusable = frozenset() if self.fresh else distinct.keys()
        known = {
            str(r): _settled(
                self.store.find(self._kept(str(r)), self.stage, reusable, judging=judging),
                self.limit,
            )
            for r in releases
        }

        def keep(name: str, found: Mapping[Key, Observation]) -> None:
            self.store.keep(self._kept(name), self.stage, found, judging=judging)
            known[name] |= {one: replace(seen, outputs=b"") for one, seen in found.items()}
            progress(sum(map(len, known.values())), len(known) * len(distinct))

        jobs = (_JOBS_HERE if self.executor is None else _JOBS)[self.stage]
        tasks: list[_Task] = []
        for name, found in known.items():
            wanted = [one for one in distinct if one not in found]
            note = self._unobtainable(name) if wanted else ""
            if note:
                keep(name, dict.fromkeys(wanted, Observation(None, note)))
            else:
                tasks += [(name, part) for part in _parts(wanted, jobs)]
        with self._pool() as submit:
            futures = {
                submit(self._batch(name, [distinct[k] for k in part], judging=judging)): (
                    name,
                    part,
                )
                for name, part in tasks
            }
            _settle(futures, keep)
        return known

    @contextmanager
    def _pool(self) -> Iterator[Callable[[Batch], Future[tuple[Observation, ...]]]]:
        """Open what runs batches; yield what to hand them to."""
        if self.executor is not None:
            executor = self.executor
            yield lambda batch: executor.submit(observe_batch, batch)
            return
        cores = _cores()
        with Benches(cores) as own, Threads(cores) as pool:
            benches = own if self.benches is None else self.benches
            yield lambda batch: pool.submit(observe_batch, batch, benches)

    def _unobtainable(self, name: str) -> str:
        """Make the environment of a Release; return why that cannot be done."""
        if self.executor is not None:
            return ""
        try:
            self.environments.get(find_release(name), to_execute=self.stage >= Stage.EXECUTE)
        except PortableError as error:
            return str(error)
        return ""

    def _batch(self, name: str, items: Sequence[Item], *, judging: bool) -> Batch:
        batch = Batch(name, self.stage, tuple(items), self.limit, judging=judging, executor=self.on)
        if self.executor is not None:
            return packed(batch)
        directory, offline = str(self.environments.directory), self.environments.offline
        return replace(batch, directory=directory, offline=offline)


def _cores() -> int:
    """Return how many cores this process may use, or the machine has where that is unknown."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _settled(found: dict[Key, Observation], limit: float) -> dict[Key, Observation]:
    """Leave out what hung and was given less time than there is now."""
    return {
        name: seen
        for name, seen in found.items()
        if seen.verdict is None or seen.verdict.outcome is not Outcome.HUNG or seen.seconds >= limit
    }


def _parts(keys: Sequence[Key], size: int) -> Iterator[tuple[Key, ...]]:
    for start in range(0, len(keys), size):
        yield tuple(keys[start : start + size])


def _settle(
    futures: Mapping[Future[tuple[Observation, ...]], _Task],
    keep: Callable[[str, Mapping[Key, Observation]], None],
) -> None:
    """Keep what the tasks observe, also of an interrupted or failing run."""
    left = dict(futures)

    def settle(future: Future[tuple[Observation, ...]]) -> None:
        name, part = left[future]
        keep(name, dict(zip(part, future.result(), strict=True)))
        del left[future]

    try:
        for future in as_completed(futures):
            settle(future)
    finally:
        for future in left:
            future.cancel()
        for future in tuple(left):
            # Waits for the tasks that are under way.
            if not future.cancelled() and future.exception() is None:
                settle(future)


def _cells(
    item: Item, releases: Sequence[Release], observations: Sequence[Observation]
) -> Iterator[Cell]:
    predictions = _predictions(item, releases)
    for release, predicted, seen in zip(releases, predictions, observations, strict=True):
        cell = Cell(item, release, _role(item, release), predicted, seen.verdict, seen.note)
        if cell.agreement is Agreement.CONTRADICTS:
            cell = replace(cell, listed=listed(cell))
        yield cell


def _predictions(item: Item, releases: Sequence[Release]) -> list[Verdict]:
    try:
        subject = examine(item.artifact())
    except PortableError as error:
        why, stage = str(error), Stage.DECODE
        return [
            Verdict(str(release), Outcome.INCOMPATIBLE, stage, Basis.PREDICTED, why)
            for release in releases
        ]
    return [*predict_all(subject, releases)]


def _role(item: Item, release: Release) -> Role:
    written = item.producer_version or item.claimed
    newer = written is not None and written.target > release.target
    return Role.FORWARD if newer else Role.BACKWARD
