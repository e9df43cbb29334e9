"""Batches: many artifacts on one Release, in one process of that Release.

A Batch and its results are plain values, so that any `concurrent.futures.Executor` can carry them
to another process or machine. Nothing here is remembered between batches.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from portable.corpus import Tensor
from portable.corpus.tensors import load_tensor
from portable.environments import Environments
from portable.errors import PortableError
from portable.executors import Tolerance, compare_all
from portable.executors.tensors import dtype_named
from portable.releases import find_release
from portable.verdict import Basis, Diagnostic, Outcome, Severity, Stage, Verdict
from portable.worker.answer import CouldNotObserve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from portable.matrix.item import Item, TensorFile
    from portable.worker import Worker

__all__ = ["Batch", "Observation", "observe_batch", "packed"]

_MOST_DIAGNOSTICS = 8


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
    """

    release: str
    stage: Stage
    items: tuple[Item, ...]
    limit: float
    directory: str = ""
    offline: bool | None = None
    files: Mapping[str, bytes] | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What a Release did with one artifact.

    Args:
        verdict: The observed Verdict; None when the Release could not be asked.
        note: Why there is none, or why it goes less far than was asked for.
        seconds: How long it took.
    """

    verdict: Verdict | None
    note: str = ""
    seconds: float = 0.0


def packed(batch: Batch) -> Batch:
    """Return a batch that carries its files with it.

    Args:
        batch: One with paths of this machine.

    Returns:
        The same with their content.
    """
    paths = {path for item in batch.items for path in _paths(item)}
    return replace(batch, files={path: Path(path).read_bytes() for path in sorted(paths)})


def observe_batch(batch: Batch) -> tuple[Observation, ...]:
    """Have one Release do all of a batch.

    Args:
        batch: What to do.

    Returns:
        One Observation for each item. A Release that cannot be had, or does not load, gives
        Observations without a Verdict; it raises nothing.
    """
    with tempfile.TemporaryDirectory(prefix="portable-") as folder:
        try:
            items = _unpacked(batch, Path(folder))
            environments = Environments(batch.directory or None, offline=batch.offline)
            environment = environments.get(find_release(batch.release))
            with environment.worker(limit=batch.limit) as worker:
                bench = _Bench(worker, batch, Path(folder) / "out")
                return tuple(bench.observe(item) for item in items)
        except PortableError as error:
            return (Observation(None, str(error)),) * len(batch.items)


def _paths(item: Item) -> list[str]:
    return [item.path, *(tensor.path for tensor in (*(item.inputs or ()), *item.expected))]


def _unpacked(batch: Batch, folder: Path) -> tuple[Item, ...]:
    if batch.files is None:
        # The process of a Release works in another folder.
        here = {path: str(Path(path).absolute()) for item in batch.items for path in _paths(item)}
    else:
        here = {path: str(folder / str(number)) for number, path in enumerate(batch.files)}
        for path, data in batch.files.items():
            Path(here[path]).write_bytes(data)

    def moved(tensors: tuple[TensorFile, ...]) -> tuple[TensorFile, ...]:
        return tuple(replace(tensor, path=here[tensor.path]) for tensor in tensors)

    return tuple(
        replace(
            item,
            path=here[item.path],
            inputs=None if item.inputs is None else moved(item.inputs),
            expected=moved(item.expected),
        )
        for item in batch.items
    )


class _Bench:
    """One worker, and how far it is to go."""

    def __init__(self, worker: Worker, batch: Batch, out: Path) -> None:
        self._worker = worker
        self._release = batch.release
        self._stage = batch.stage
        self._out = out

    def observe(self, item: Item) -> Observation:
        """Go as far as was asked for, or as the Release can."""
        passed, note, seconds = None, "", 0.0
        for stage, step in _STEPS.items():
            if stage > self._stage:
                break
            try:
                verdict, took = step(self, item)
            except CouldNotObserve as reason:
                if passed is None:
                    return Observation(None, str(reason))
                # A Release that can read and not execute has still been seen to read.
                note = str(reason)
                continue
            seconds += took
            passed = verdict
            if not verdict.compatible:
                break
        return Observation(passed, note, seconds)

    def read(self, item: Item) -> tuple[Verdict, float]:
        """Read the artifact."""
        return self._asked({"kind": "read", "path": item.path}, Stage.DECODE)

    def roundtrip(self, item: Item) -> tuple[Verdict, float]:
        """Read it, write it, and see that doing so again changes nothing."""
        job = {"kind": "roundtrip", "path": item.path}
        return self._asked(job, Stage.ROUNDTRIP, lambda told: _UNSTABLE[told["stable"]])

    def execute(self, item: Item) -> tuple[Verdict, float]:
        """Execute it, and compare with what is expected."""
        if item.inputs is None:
            raise CouldNotObserve("there are no inputs to execute it with")
        shutil.rmtree(self._out, ignore_errors=True)
        self._out.mkdir()
        inputs = [{"path": tensor.path, "dtype": tensor.dtype} for tensor in item.inputs]
        job = {"kind": "execute", "path": item.path, "inputs": inputs, "out": str(self._out)}
        return self._asked(job, Stage.EXECUTE, lambda told: _differences(item, told["outputs"]))

    def _asked(
        self,
        job: Mapping[str, Any],
        stage: Stage,
        wrong: Callable[[Mapping[str, Any]], Sequence[str]] = lambda told: (),  # noqa: ARG005 - nothing can be
    ) -> tuple[Verdict, float]:
        answer = self._worker.ask(job)
        verdict = answer.verdict(self._release, stage)
        errors = wrong(answer.payload) if answer.ok else ()
        if errors:
            outcome, reason = _WRONG[stage], errors[0]
            told = tuple(Diagnostic(Severity.ERROR, text) for text in errors)
        else:
            # Some Releases repeat theirs a thousand times.
            told = verdict.diagnostics[:_MOST_DIAGNOSTICS]
            outcome, reason = verdict.outcome, verdict.reason
        return Verdict(self._release, outcome, stage, Basis.OBSERVED, reason, told), answer.seconds


_STEPS = {
    Stage.DECODE: _Bench.read,
    Stage.ROUNDTRIP: _Bench.roundtrip,
    Stage.EXECUTE: _Bench.execute,
}


_UNSTABLE = {
    True: (),
    False: ("what it writes after reading changes when that is read and written again",),
}
# What an answer that is not as it should be amounts to.
_WRONG = {Stage.ROUNDTRIP: Outcome.INCOMPATIBLE, Stage.EXECUTE: Outcome.WRONG_RESULT}


def _differences(item: Item, outputs: Sequence[Mapping[str, Any]]) -> list[str]:
    if not item.expected:
        return []
    actual = [
        np.load(told["path"], allow_pickle=False).view(dtype_named(told["dtype"]))
        for told in outputs
    ]
    expected = [load_tensor(Tensor("", t.dtype, Path(t.path))) for t in item.expected]
    near = Tolerance(0, item.relative, item.absolute)
    return [str(one) for one in compare_all(expected, actual, near) if not one.same]
