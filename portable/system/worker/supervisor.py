"""The parent's side: starts the process, feeds it, times it, buries it, starts it again."""

from __future__ import annotations

import errno
import fcntl
import functools
import json
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from portable.errors import PortableError
from portable.system.children import Child, ChildEnded, ChildLate, Limits, ending, variables
from portable.system.holding import open_lock
from portable.system.worker.answer import Answer, Status, diagnostic, printed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Driver", "Worker", "WorkerFailed", "drivers"]

# One job; reading an artifact takes milliseconds, and 20 s is what a hang was measured against.
LIMIT_S = 30.0
# Importing a cold 300 MB library from a slow disk.
LOAD_LIMIT_S = 120.0
STDERR_TAIL_BYTES = 8192

# The folder is put on the path under its own name: `portable` itself need not run there.
_FOLDER = str(Path(__file__).parent)
_QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "JAX_PLATFORMS": "cpu",
    "PJRT_DEVICE": "CPU",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Driver(str):
    """How a Release is driven: an adapter, `NAME_adapter.py` in `portable/system/worker/inside`."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """Find a driver.

        Args:
            name: The name of its adapter, with `-` for `_`.

        Raises:
            ValueError: There is no such adapter.
        """
        if name not in drivers():
            raise ValueError(f"{name!r} is not a driver; known are {', '.join(sorted(drivers()))}")
        return super().__new__(cls, name)


@functools.cache
def drivers() -> frozenset[str]:
    """Return the names of all drivers."""
    found = (path.stem for path in Path(_FOLDER).glob("*/*_adapter.py"))
    return frozenset(name.removesuffix("_adapter").replace("_", "-") for name in found)


class WorkerFailed(PortableError):
    """The worker itself failed: a Python that does not run, or a defect in an adapter."""


class Worker:
    """One Release in a process of its own, for as many jobs as there are.

    A job that kills the process is answered as crashed, one that runs past its limit as hung;
    the next job gets a new process. A crash after other jobs is not believed: one of them may
    have spoilt the memory, so that the job is done again in a new process. Not for use by two
    threads at once.

    Args:
        python: The interpreter of the Release's environment.
        driver: How the Release is driven.
        library: The shared library, for the drivers that are one file.
        limit: Seconds that one job may take.
        load_limit: Seconds that loading the native code may take.
        memory: Bytes that the process, and each that it starts, may take; by default three
            quarters of the machine's.
        lock: A file that is locked, shared with others, from the first job until it is closed:
            whoever removes the Release locks it for himself alone.
    """

    def __init__(
        self,
        python: str | os.PathLike[str] | None,
        driver: Driver,
        *,
        library: str | os.PathLike[str] = "",
        limit: float = LIMIT_S,
        load_limit: float = LOAD_LIMIT_S,
        memory: int | None = None,
        lock: Path | None = None,
    ) -> None:
        self.python = os.fspath(python or sys.executable)
        self.driver = driver
        self.library = os.fspath(library)
        self.limit = limit
        self.load_limit = load_limit
        self.limits = Limits(memory=memory or 0)
        self.starts = 0
        self._lock = lock
        self._held: int | None = None
        self._child: Child | None = None
        self._unusable: Answer | None = None
        self._sent = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if there is one, and let go of the Release."""
        self._end()
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def ask(self, job: Mapping[str, Any], *, limit: float | None = None) -> Answer:
        """Have one job done.

        Args:
            job: `kind` and its arguments: `probe`; `read`, `roundtrip` and `rewrite` of an
                artifact (`path` or `data` as base64); `write` of a program (`text`, `path` or
                `data`) for a `target`. `out` names a file for the result, `want` lists what to
                return as base64: `module`, `artifact`. `compile` and `execute` of an artifact
                or program name an `engine`; the latter takes `inputs`, each the `path` of a
                `.npy` file and its `dtype`, and writes the outputs into the folder `out`, where
                those of the numbers `over` may be written over; it has `path`, `dtype` and
                `shape` of each. `spread` over several devices, `replicas`, `partitions` and
                `shardy`, is for `pjrt` on the CPU.
            limit: Seconds, if not the worker's own.

        Returns:
            The answer, whatever became of the job.

        Raises:
            WorkerFailed: The interpreter does not run, or the job is malformed.
        """
        alone = self._ready()
        unusable = self._unusable
        if unusable is None:
            answer = self._ask(job, self.limit if limit is None else limit)
            crashed = answer.status is Status.CRASHED
            return self.ask(job, limit=limit) if crashed and not alone else answer
        if job["kind"] == "probe" or unusable.status is Status.UNAVAILABLE:
            return unusable
        # How a Release ends that does not load says nothing about an artifact.
        said = f"does not load: {unusable.status} {unusable.error}"
        return replace(unusable, status=Status.UNAVAILABLE, error=said)

    def ask_all(self, jobs: Iterable[Mapping[str, Any]]) -> Iterator[Answer]:
        """Have many jobs done, in order.

        Args:
            jobs: As for `ask`.

        Yields:
            One answer for each job.
        """
        for job in jobs:
            yield self.ask(job)

    def _ready(self) -> bool:
        """Have a process that runs; return whether it is new."""
        if self._unusable is not None or (self._child is not None and self._child.running):
            return False
        self._end()
        self._hold()
        self._start()
        return True

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _hold(self) -> None:
        if self._lock is None or self._held is not None:
            return
        try:
            self._held = open_lock(self._lock, os.O_RDONLY)
            fcntl.flock(self._held, fcntl.LOCK_SH)
        except OSError as error:
            # A folder that cannot be written needs no lock.
            if error.errno not in {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT}:
                raise

    def _start(self) -> None:
        try:
            self._child = Child(
                ["worker", _FOLDER, str(self.driver), self.library],
                python=self.python,
                limits=self.limits,
                environment=variables() | _QUIET,
                folder=tempfile.gettempdir(),
            )
        except OSError as error:
            raise WorkerFailed(
                f"cannot start {self.python}: {error.strerror}", hint="make the environment again"
            ) from error
        self.starts += 1
        loaded = self._ask({"kind": "load"}, self.load_limit)
        if not loaded.ok:
            # A Release that does not load once does not load for the next job either.
            self._unusable = loaded

    def _ask(self, job: Mapping[str, Any], limit: float) -> Answer:
        child = self._child
        assert child is not None  # noqa: S101 - started by `ask`
        self._sent += 1
        line = json.dumps({**job, "id": self._sent, "limit": limit}).encode() + b"\n"
        began = time.monotonic()
        try:
            answer = _answer(child.exchange(line, _is_whole, limit), self._sent)
        except ChildLate:
            answer = Answer(Status.HUNG, error=f"timed out after {limit:g} s")
        except ChildEnded as gone:
            # The answers are closed a moment before the status is there.
            answer = Answer(Status.CRASHED, error=str(gone) or ending(child.wait(1.0) or 0))
        except BaseException:  # an interrupt, or what a signal's handler raises
            self._end()  # its answer would be taken for that to the next job
            raise
        stderr = child.said(STDERR_TAIL_BYTES)
        if answer.status in {Status.HUNG, Status.CRASHED}:
            child.end()
        heard = answer.diagnostics or (() if answer.ok else printed(stderr))
        seconds = time.monotonic() - began
        return replace(answer, diagnostics=heard, stderr=stderr, seconds=seconds)


def _is_whole(received: bytearray) -> bool:
    return received.endswith(b"\n")


def _answer(raw: bytearray, number: int) -> Answer:
    try:
        told = json.loads(raw)
        status, heard = told["status"], told["diagnostics"]
        if told["id"] != number:
            raise ValueError(told["id"])
    except (ValueError, KeyError, TypeError) as garbage:
        text = bytes(raw[:80])
        raise ChildEnded(f"wrote something that is not an answer: {text!r}") from garbage
    error = told.get("error", "")
    if status == "broken":
        raise WorkerFailed(f"a job could not be done: {error}")
    found = tuple(diagnostic(record) for record in heard)
    hint = told.get("hint", "")
    return Answer(Status(status), told.get("payload", {}), error, found, hint=hint)
