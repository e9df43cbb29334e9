"""Batches: many artifacts on one Release, in one process of that Release.

A Batch and its results are plain values, so that any `concurrent.futures.Executor` can carry them
to another process or machine. On this machine `Benches` keep a process for the next batch.
"""

from __future__ import annotations

import base64
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from portable.corpus import Tensor
from portable.corpus.tensors import load_tensor
from portable.errors import PortableError
from portable.releases import find_release
from portable.runtime.environments import Environments
from portable.runtime.executors import (
    ExecutionFailed,
    Tolerance,
    compare_all,
    executor_of,
    find_executor,
)
from portable.runtime.executors.tensors import stored_arrays
from portable.system import scratch
from portable.system.files import read_file
from portable.system.worker import WorkerFailed
from portable.system.worker.answer import CouldNotObserve
from portable.verdict import Basis, Diagnostic, Outcome, Severity, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from portable.matrix.item import Item, TensorFile
    from portable.runtime.environments import Environment
    from portable.runtime.executors import Executor
    from portable.runtime.executors.tensors import Array

__all__ = ["Batch", "Benches", "Observation", "observe_batch", "packed"]

_MOST_DIAGNOSTICS = 8
# What a store takes is one string of bytes of SQLite's, of 10**9 at most.
_MOST_OUTPUT_BYTES = 900_000_000


@dataclass(frozen=True, slots=True)
class Batch:
    """What one task does.

    Args:
        release: The Release, as `jaxlib 0.4.33`.
        stage: How far to go.
        items: The artifacts.
        limit: Seconds that one job may take.
        directory: The folder of environments; empty for the usual one of the machine it runs on.
        offline: Whether the network must not be used; None for what that machine says.
        files: The content of every file that the items name, for a machine without them; None
            where the paths are good.
        judging: Whether outputs are requested, and nothing is compared.
        executor: What executes, a key of `EXECUTORS`; empty for the first one of the Release.
    """

    release: str
    stage: Stage
    items: tuple[Item, ...]
    limit: float
    directory: str = ""
    offline: bool | None = None
    files: Mapping[str, bytes] | None = None
    judging: bool = False
    executor: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a Release did with one artifact.

    Args:
        verdict: The observed Verdict; None when the Release could not be run.
        note: Why there is none, or why it goes less far than requested.
        seconds: How long it took.
        outputs: Of a batch that is judging: an `.npz` of what it computed.
    """

    verdict: Verdict | None
    note: str = ""
    seconds: float = 0.0
    outputs: bytes = b""


def packed(batch: Batch) -> Batch:
    """Return a batch that carries its files with it.

    Args:
        batch: One with paths of this machine.

    Returns:
        The same with their content.
    """
    files = {name: read_file(name) for item in batch.items for name in _tensors(item)}
    files |= {_name(item): item.artifact().data for item in batch.items}
    return replace(batch, files=files)


def observe_batch(batch: Batch, benches: Benches | None = None) -> tuple[Observation, ...]:
    """Have one Release do all of a batch.

    Args:
        batch: What to do.
        benches: Where its process is kept for the next batch; None to end it with this one.

    Returns:
        One Observation for each item. A Release that is not available, or does not load, or a disk
        that is full, gives Observations without a Verdict; it raises nothing.
    """
    found: list[Observation] = []
    try:
        with ExitStack() as stack:
            folder = stack.enter_context(scratch.folder())
            items = _unpacked(batch, Path(folder))
            bench = stack.enter_context((benches or stack.enter_context(Benches(0))).lent(batch))
            found.extend(map(bench.judge if batch.judging else bench.observe, items))
    except (PortableError, OSError) as error:
        # What was seen until then stands.
        rest = len(batch.items) - len(found)
        found += [Observation(None, str(error))] * rest
    return tuple(found)


def _tensors(item: Item) -> list[str]:
    return [tensor.path for tensor in (*(item.inputs or ()), *item.expected)]


def _name(item: Item) -> str:
    return f"{item.path}\0{item.inside}"


def _unpacked(batch: Batch, folder: Path) -> tuple[Item, ...]:
    if batch.files is None:
        return batch.items
    here = {path: str(folder / str(number)) for number, path in enumerate(batch.files)}
    for path, data in batch.files.items():
        Path(here[path]).write_bytes(data)

    def moved(tensors: tuple[TensorFile, ...]) -> tuple[TensorFile, ...]:
        return tuple(replace(tensor, path=here[tensor.path]) for tensor in tensors)

    return tuple(
        replace(
            item,
            path=here[_name(item)],
            inside="",
            inputs=None if item.inputs is None else moved(item.inputs),
            expected=moved(item.expected),
        )
        for item in batch.items
    )


def _given(item: Item) -> dict[str, str]:
    """Return how the artifact is passed to a worker."""
    if item.inside:
        return {"data": base64.b64encode(item.artifact().data).decode()}
    # The process of a Release works in another folder.
    return {"path": str(Path(item.path).absolute())}


class Benches:
    """The processes of Releases that one run has started, kept for its next batches.

    Args:
        most: How many may rest at a time; those that rested longest are ended first.
        artifacts: After how many artifacts one is ended; by default never. What executes may leak.
    """

    def __init__(self, most: int, artifacts: int | None = None) -> None:
        self._most = most
        self._artifacts = artifacts
        self._resting: list[tuple[Batch, _Bench]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._rest(0)

    @contextmanager
    def lent(self, batch: Batch) -> Iterator[_Bench]:
        """Lend the Release of a batch at work.

        Args:
            batch: Any batch of the run.

        Yields:
            A bench for exclusive use.

        Raises:
            PortableError: The Release is not available.
        """
        kind = replace(batch, items=(), files=None)
        with self._lock:
            place = next((n for n, (one, _) in enumerate(self._resting) if one == kind), None)
            bench = None if place is None else self._resting.pop(place)[1]
        bench = bench or _bench(batch)
        try:
            yield bench
        except BaseException:
            bench.close()
            raise
        bench.done += len(batch.items)
        if self._artifacts is not None and bench.done >= self._artifacts:
            bench.close()
            return
        with self._lock:
            self._resting.append((kind, bench))
        self._rest(self._most)

    def _rest(self, most: int) -> None:
        with self._lock:
            count = max(0, len(self._resting) - most)
            ended, self._resting = self._resting[:count], self._resting[count:]
        for _, bench in ended:
            bench.close()


def _bench(batch: Batch) -> _Bench:
    environments = Environments(batch.directory or None, offline=batch.offline)
    release = find_release(batch.release)
    return _Bench(environments.get(release, to_execute=batch.stage >= Stage.EXECUTE), batch)


class _Bench:
    """One Release at work, and how far it is to go."""

    def __init__(self, environment: Environment, batch: Batch) -> None:
        self._environment = environment
        self._release = batch.release
        self._stage = batch.stage
        self._limit = batch.limit
        self._chosen = batch.executor
        self._worker = environment.worker(limit=batch.limit)
        self._executor: Executor | None = None
        self.done = 0

    def close(self) -> None:
        """End the processes."""
        self._worker.close()
        if self._executor is not None:
            self._executor.close()

    def observe(self, item: Item) -> Observation:
        """Go as far as requested, or as the Release can."""
        began, passed, note = time.monotonic(), None, ""
        for stage, step in _STEPS.items():
            if stage > self._stage or (passed is not None and not passed.compatible):
                break
            try:
                passed, note = step(self, item), ""
            except (CouldNotObserve, WorkerFailed) as reason:
                # A Release that can read and not execute has still been seen to read; torch_xla
                # reads only to execute. A defect of ours is no Verdict either, and costs no other.
                note = str(reason)
        return Observation(passed, note, time.monotonic() - began)

    def read(self, item: Item) -> Verdict:
        """Read the artifact."""
        answer = self._worker.ask({"kind": "read", **_given(item)})
        return _short(answer.verdict(self._release, Stage.DECODE))

    def roundtrip(self, item: Item) -> Verdict:
        """Read it, write it, and see that doing so again changes nothing."""
        answer = self._worker.ask({"kind": "roundtrip", **_given(item)})
        verdict = answer.verdict(self._release, Stage.ROUNDTRIP)
        if answer.ok and not answer.payload["stable"]:
            return self._failed(Outcome.INCOMPATIBLE, Stage.ROUNDTRIP, [_UNSTABLE])
        return _short(verdict)

    def execute(self, item: Item) -> Verdict:
        """Execute it, and compare with what is expected."""
        try:
            outputs = self._outputs(item)
        except ExecutionFailed as failed:
            return self._refusal(failed)
        if item.unjudged:
            raise CouldNotObserve(item.unjudged)
        wrong = _differences(item, outputs)
        if wrong:
            return self._failed(Outcome.WRONG_RESULT, Stage.EXECUTE, wrong)
        return self._works()

    def judge(self, item: Item) -> Observation:
        """Execute it, for what it computes."""
        began = time.monotonic()
        verdict, note, outputs = None, "", b""
        try:
            outputs = stored_arrays(self._outputs(item))
            if len(outputs) > _MOST_OUTPUT_BYTES:
                raise CouldNotObserve(f"its outputs are too large to keep: {len(outputs):,} bytes")
            verdict = self._works()
        except ExecutionFailed as failed:
            verdict = self._refusal(failed)
        except CouldNotObserve as reason:
            note, outputs = str(reason), b""
        return Observation(verdict, note, time.monotonic() - began, outputs)

    def _outputs(self, item: Item) -> list[Array]:
        if item.inputs is None:
            raise CouldNotObserve(item.unjudged or "there are no inputs to execute it with")
        try:
            program = self._engine().compile(item.artifact())
            return program.run([_loaded(tensor) for tensor in item.inputs])
        except ExecutionFailed:
            raise
        except PortableError as error:
            # The Executor has no such type, or is not there: that says nothing of the Release.
            raise CouldNotObserve(str(error)) from error

    def _engine(self) -> Executor:
        if self._executor is None:
            name = self._chosen or executor_of(self._environment.recipe.driver)
            self._executor = find_executor(name, self._environment, limit=self._limit)
        return self._executor

    def _works(self) -> Verdict:
        return Verdict(self._release, Outcome.COMPATIBLE, Stage.EXECUTE, Basis.OBSERVED)

    def _refusal(self, failed: ExecutionFailed) -> Verdict:
        seen = failed.verdict
        told = (self._release, seen.outcome, seen.stage, Basis.OBSERVED, seen.reason)
        return _short(Verdict(*told, seen.diagnostics))

    def _failed(self, outcome: Outcome, stage: Stage, errors: Sequence[str]) -> Verdict:
        told = tuple(Diagnostic(Severity.ERROR, text) for text in errors)
        return Verdict(self._release, outcome, stage, Basis.OBSERVED, errors[0], told)


_STEPS = {
    Stage.DECODE: _Bench.read,
    Stage.ROUNDTRIP: _Bench.roundtrip,
    Stage.EXECUTE: _Bench.execute,
}
_UNSTABLE = "what it writes after reading changes when that is read and written again"


def _short(verdict: Verdict) -> Verdict:
    """Keep the first diagnostics: some Releases repeat theirs a thousand times."""
    told = verdict.diagnostics[:_MOST_DIAGNOSTICS]
    return Verdict(
        verdict.consumer, verdict.outcome, verdict.stage, verdict.basis, verdict.reason, told
    )


def _loaded(tensor: TensorFile) -> Array:
    return load_tensor(Tensor("", tensor.dtype, Path(tensor.path)))


def _differences(item: Item, outputs: Sequence[Array]) -> list[str]:
    if not item.expected:
        return []
    expected = [_loaded(tensor) for tensor in item.expected]
    near = Tolerance(item.ulps, item.relative, item.absolute)
    return [str(one) for one in compare_all(expected, outputs, near) if not one.same]
