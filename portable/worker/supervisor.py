"""The parent's side: starts the process, feeds it, times it, buries it, starts it again."""

from __future__ import annotations

import contextlib
import enum
import fcntl
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from portable.errors import PortableError
from portable.worker.answer import Answer, Status, diagnostic, printed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Family", "Worker", "WorkerFailed"]

# One job; reading an artifact takes milliseconds, and 20 s is what a hang was measured against.
LIMIT_S = 30.0
# Importing a cold 300 MB library from a slow disk.
LOAD_LIMIT_S = 120.0
# What a Release may write to any one file, its own stderr included, before the kernel ends it. The
# limit is a soft one: what we write for it, the outputs, may be larger.
MOST_FILE_BYTES = 1 << 30
STDERR_TAIL_BYTES = 8192
CHUNK_BYTES = 1 << 16

# What a Release may take of the machine's memory: the rest is for whoever asks it.
MEMORY_SHARE = 0.75

_INSIDE = Path(__file__).parent / "inside"
# The folder is put on the path under its own name: `portable` itself need not run there.
_BOOT = (
    "import resource, sys; sys.path.insert(0, sys.argv[1]);"
    "files = resource.RLIMIT_FSIZE;"
    f"resource.setrlimit(files, ({MOST_FILE_BYTES}, resource.getrlimit(files)[1]));"
    "resource.setrlimit(resource.RLIMIT_CORE, (0, 0));"
    "most = int(sys.argv[4]); resource.setrlimit(resource.RLIMIT_DATA, (most, most));"
    "from inside.main import main; main(sys.argv[2], sys.argv[3])"
)
_QUIET = {
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "JAX_PLATFORMS": "cpu",
    "PJRT_DEVICE": "CPU",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Family(enum.Enum):
    """How a Release is driven."""

    JAXLIB = "jaxlib"
    TENSORFLOW = "tensorflow"
    TORCH_MLIR = "torch-mlir"
    IREE = "iree"
    PLUGIN = "plugin"
    TORCH_XLA = "torch-xla"

    def __str__(self) -> str:
        return self.value


class WorkerFailed(PortableError):
    """The worker itself failed: a Python that does not run, or a defect in a door."""


class _Gone(Exception):
    """The process ended, or said something that is not an answer."""


class _Late(Exception):
    """The time limit of the job is over."""


class Worker:
    """One Release in a process of its own, for as many jobs as there are.

    A job that kills the process is answered as crashed, one that runs past its limit as hung;
    the next job gets a new process. Not for use by two threads at once.

    Args:
        python: The interpreter of the Release's environment.
        family: How the Release is driven.
        library: The shared library, for the families that are one file.
        limit: Seconds that one job may take.
        load_limit: Seconds that loading the native code may take.
        memory: Bytes that the process, and each that it starts, may take; by default three
            quarters of the machine's.
    """

    def __init__(
        self,
        python: str | os.PathLike[str] | None,
        family: Family,
        *,
        library: str | os.PathLike[str] = "",
        limit: float = LIMIT_S,
        load_limit: float = LOAD_LIMIT_S,
        memory: int | None = None,
    ) -> None:
        self.python = os.fspath(python or sys.executable)
        self.family = family
        self.library = os.fspath(library)
        self.limit = limit
        self.load_limit = load_limit
        self.memory = memory or int(_machine_memory() * MEMORY_SHARE)
        self.starts = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._unusable: Answer | None = None
        self._received = bytearray()
        self._sent = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, if there is one."""
        self._bury()
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def ask(self, job: Mapping[str, Any], *, limit: float | None = None) -> Answer:
        """Have one job done.

        Args:
            job: `kind` and its arguments: `probe`; `read`, `roundtrip` and `rewrite` of an
                artifact (`path` or `data` as base64); `write` of a program (`text`, `path` or
                `data`) for a `target`. `out` names a file for the result, `want` lists what to
                return as base64: `module`, `artifact`. `compile` and `execute` of an artifact
                or program name an `engine`; the latter takes `inputs`, each the `path` of a
                `.npy` file and its `dtype`, and writes the outputs into the folder `out`, where
                those of the numbers `over` may be written over; it tells `path`, `dtype` and
                `shape` of each.
            limit: Seconds, if not the worker's own.

        Returns:
            The answer, whatever became of the job.

        Raises:
            WorkerFailed: The interpreter does not run, or the job is malformed.
        """
        if self._process is None or self._process.poll() is not None:
            self._bury()
            self._start()
        if self._unusable is not None:
            return self._unusable
        return self._ask(job, self.limit if limit is None else limit)

    def ask_all(self, jobs: Iterable[Mapping[str, Any]]) -> Iterator[Answer]:
        """Have many jobs done, in order.

        Args:
            jobs: As for `ask`.

        Yields:
            One answer for each job.
        """
        for job in jobs:
            yield self.ask(job)

    def _start(self) -> None:
        if self._unusable is not None:
            return
        if self._stderr is None:
            self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
            # Emptied before every job: the process must then write at the new end.
            flags = fcntl.fcntl(self._stderr, fcntl.F_GETFL)
            fcntl.fcntl(self._stderr, fcntl.F_SETFL, flags | os.O_APPEND)
        command = [self.python, "-I", "-c", _BOOT, str(_INSIDE.parent), str(self.family)]
        try:
            self._process = subprocess.Popen(
                [*command, self.library, str(self.memory)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                cwd=tempfile.gettempdir(),
                env={**os.environ, **_QUIET},
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise WorkerFailed(
                f"cannot start {self.python}: {error.strerror}", hint="make the environment again"
            ) from error
        assert self._process.stdin is not None  # noqa: S101 - asked for above
        self.starts += 1
        os.set_blocking(self._process.stdin.fileno(), False)
        loaded = self._ask({"kind": "load"}, self.load_limit)
        if not loaded.ok:
            # A Release that does not load once does not load for the next job either.
            self._unusable = loaded

    def _ask(self, job: Mapping[str, Any], limit: float) -> Answer:
        assert self._stderr is not None  # noqa: S101 - opened by `_start`
        os.ftruncate(self._stderr.fileno(), 0)
        self._sent += 1
        line = json.dumps({**job, "id": self._sent, "limit": limit}).encode() + b"\n"
        began = time.monotonic()
        try:
            raw = self._exchange(line, began + limit)
            answer = _answer(raw, self._sent)
        except _Late:
            self._bury()
            answer = Answer(Status.HUNG, error=f"timed out after {limit:g} s")
        except _Gone as gone:
            words = self._last_words()
            answer = Answer(Status.CRASHED, error=str(gone) or words)
        stderr = self._tail()
        heard = answer.diagnostics or (() if answer.ok else printed(stderr))
        seconds = time.monotonic() - began
        return replace(answer, diagnostics=heard, stderr=stderr, seconds=seconds)

    def _exchange(self, line: bytes, deadline: float) -> bytes:
        """Send a line while receiving one: a large job must not wait for a large answer."""
        process = self._process
        assert process is not None  # noqa: S101 - started by `ask`
        assert process.stdin is not None  # noqa: S101 - a pipe
        assert process.stdout is not None  # noqa: S101 - a pipe
        self._received.clear()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            waiting.register(process.stdin, selectors.EVENT_WRITE)
            rest = memoryview(line)
            while True:
                ready = waiting.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise _Late
                for key, events in ready:
                    if events & selectors.EVENT_WRITE:
                        rest = rest[_write(process.stdin.fileno(), rest) :]
                        if not rest:
                            waiting.unregister(process.stdin)
                    elif self._receive(key.fd):
                        return bytes(self._received)

    def _receive(self, descriptor: int) -> bool:
        chunk = os.read(descriptor, CHUNK_BYTES)
        if not chunk:
            raise _Gone
        self._received += chunk
        return chunk.endswith(b"\n")

    def _last_words(self) -> str:
        """End a process that closed or spoilt its answers; say which signal or status ended it."""
        process = self._process
        assert process is not None  # noqa: S101 - it has just been asked
        try:
            # The answers are closed a moment before the status is there.
            code = process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            code = 0
        self._bury()
        if code < 0:
            return signal.Signals(-code).name
        return f"exit status {code}"

    def _bury(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None  # noqa: S101 - both are pipes
            stream.close()

    def _tail(self) -> str:
        assert self._stderr is not None  # noqa: S101 - opened by `_start`
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - STDERR_TAIL_BYTES))
        return self._stderr.read(STDERR_TAIL_BYTES).decode(errors="replace")


def _machine_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _write(descriptor: int, data: memoryview) -> int:
    try:
        return os.write(descriptor, data[:CHUNK_BYTES])
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        raise _Gone from None


def _answer(raw: bytes, number: int) -> Answer:
    try:
        told = json.loads(raw)
        status, heard = told["status"], told["diagnostics"]
        if told["id"] != number:
            raise ValueError(told["id"])
    except (ValueError, KeyError, TypeError) as garbage:
        raise _Gone(f"wrote something that is not an answer: {raw[:80]!r}") from garbage
    error = told.get("error", "")
    if status == "broken":
        raise WorkerFailed(f"a job could not be done: {error}")
    found = tuple(diagnostic(record) for record in heard)
    hint = told.get("hint", "")
    return Answer(Status(status), told.get("payload", {}), error, found, hint=hint)
