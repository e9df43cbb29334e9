"""The one way to start a process, and to call a function in another one.

Every child is started by `boot.py`: an isolated Python (`-I`) that takes limits and ends together
with this process, however that ends. Nothing in the working directory is run: a child of our own
gets the absolute entries of `sys.path`, without that folder.

`call` has a function done by a child that is kept for the next call. Native code that crashes,
hangs or eats memory there does it to the child alone, and becomes an exception here.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import pickle
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import weakref
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from portable.errors import PortableError
from portable.system.places import cache_folder, named_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import IO, Any

__all__ = [
    "CLIENTS",
    "LOST",
    "Child",
    "ChildCrashed",
    "ChildEnded",
    "ChildFailed",
    "ChildHung",
    "ChildLate",
    "Limits",
    "call",
    "ending",
    "expendable",
    "module",
    "patience",
    "run",
    "signal_name",
    "variables",
]

_Made = TypeVar("_Made")

# What native code and its runtimes read; no token of the caller's is among it.
_NEEDED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "TERM", "COLUMNS", "LINES"),
    *("LANG", "LANGUAGE", "LC_*", "XDG_*", "LD_LIBRARY_PATH", "DYLD_*", "MALLOC_*"),
    # How a library computes, which the user chose for all processes of a machine.
    *("OMP_*", "OPENBLAS_*", "MKL_*", "BLIS_*", "VECLIB_*", "NPY_*"),
    *("XLA_*", "TF_*", "JAX_*", "PJRT_*", "MLIR_*", "IREE_*", "TORCH_*", "TPU_*", "LIBTPU_*"),
    *("CUDA_*", "NVIDIA_*", "HIP_*", "ROCM_*", "COVERAGE_*", "PYTHONHASHSEED", "CI"),
)
# What a package client needs beside that: where its indexes are, and the way to them.
CLIENTS = ("PIP_*", "UV_*", "*_PROXY", "*_proxy", "SSL_*", "REQUESTS_CA_BUNDLE", "NETRC")

# Where programs and libraries are looked for.
_SEARCHED = frozenset(
    {
        "PATH",
        *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"),
        *("DYLD_FRAMEWORK_PATH", "DYLD_FALLBACK_FRAMEWORK_PATH"),
    }
)

# What one native step may take by default: this, and a second for each so many bytes it works on.
PATIENCE_S = 60.0
BYTES_PER_S = 1 << 20

# What a child may take of the machine's memory: the rest is for whoever started it.
MEMORY_SHARE = 0.75
# What a child may write to any one file, its own stderr included.
MOST_FILE_BYTES = 1 << 30

LOST = 256
"""The exit status of a process for which somebody else has waited; no process has it."""

_BOOT = Path(__file__).with_name("boot.py")
_PACKAGE = Path(__file__).parent.parent
_CHUNK = 1 << 16
_SAID_BYTES = 2000
_SIZE_BYTES = 8
# How often a process is asked whether it has ended, as the standard library does.
_SHORTEST_S, _LONGEST_S = 0.0005, 0.05
_CORES = os.cpu_count() or 1


def variables(*more: str) -> dict[str, str]:
    """Return what another program may know of this process's environment variables.

    Args:
        more: Patterns of names, beside what every program needs.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if any(fnmatchcase(name, pattern) for pattern in (*_NEEDED, *more))
    }


def _absolute(environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables that have nothing taken from the folder in which a child starts.

    An empty entry, as a colon at an end makes it, is that folder, as is every relative one.
    """
    found = dict(environment)
    for name in _SEARCHED & found.keys():
        folders = [one for one in re.split("[:;]", found[name]) if os.path.isabs(one)]
        found[name] = ":".join(folders)
        if not folders:  # an empty one is an empty entry
            del found[name]
    return found


class ChildFailed(PortableError):
    """The child process ended without an answer."""

    def __init__(self, what: str, *, said: str = "", hint: str | None = None) -> None:
        super().__init__(what, hint=hint)
        self.said = said

    def record(self) -> dict[str, object]:
        """Return the fields as plain data, with what the child said before it ended."""
        return super().record() | {"said": self.said}


class ChildCrashed(ChildFailed):
    """Native code killed the child process; `signal` is the name of what ended it."""

    signal = ""


class ChildHung(ChildFailed):
    """The child process did not answer within its time limit."""


class ChildEnded(PortableError):
    """A process ended, or closed its answers, in the middle of an exchange."""


class ChildLate(PortableError):
    """The time limit of an exchange is over."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process, and each that it starts, may take; None is no limit.

    Args:
        seconds: Of processor time, on every core.
        memory: Bytes of data; 0 for three quarters of the machine's memory.
        file: Bytes in any one file.
    """

    seconds: float | None = None
    memory: int | None = 0
    file: int | None = MOST_FILE_BYTES

    def words(self) -> list[str]:
        """Return them as `boot.py` takes them."""
        memory = int(_machine_memory() * MEMORY_SHARE) if self.memory == 0 else self.memory
        seconds = None if self.seconds is None else int(self.seconds * _CORES) + 1
        return [str(-1 if most is None else most) for most in (seconds, memory, self.file)]


class _Process(subprocess.Popen[bytes]):
    """A process whose end is known, or not known.

    The standard library takes it for a success where this process ignores SIGCHLD, or where a
    handler of it waits for every child.
    """

    def poll(self) -> int | None:
        """Return how it ended; None if it has not, and `LOST` where that cannot be known."""
        if self.returncode is None:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                self.returncode = LOST
            else:
                self.returncode = os.waitstatus_to_exitcode(status) if ended else None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends; return as `poll`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        pause = _SHORTEST_S
        while self.poll() is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_S)
        return self.returncode


class Child:
    """A process that answers what it is sent, in a group of its own.

    Args:
        action: What it does, an action of `boot.py` and its words.
        python: The interpreter; by default the running one.
        limits: What it may take.
        environment: Its variables; by default those of this process.
        folder: Its working directory; by default that of this process.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(
        self,
        action: Sequence[str],
        *,
        python: str = sys.executable,
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
        folder: str | None = None,
    ) -> None:
        begin = partial(self._begin, action, python, limits or Limits(), environment, folder)
        _uninterrupted(begin, undo=Child.end)

    def _begin(
        self,
        action: Sequence[str],
        python: str,
        limits: Limits,
        environment: Mapping[str, str] | None,
        folder: str | None,
    ) -> Child:
        # What is said on descriptor 2 goes to a file, so that it need not be read all the time. It
        # is emptied before every exchange: the process must then write at the new end.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        flags = fcntl.fcntl(self._stderr, fcntl.F_GETFL)
        fcntl.fcntl(self._stderr, fcntl.F_SETFL, flags | os.O_APPEND)
        try:
            self._process, self._line = _start(
                action,
                python=python,
                limits=limits,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                environment=_absolute(os.environ if environment is None else environment),
                folder=folder,
                unbuffered=True,
            )
        except OSError:
            self._stderr.close()
            raise
        assert self._process.stdin is not None  # noqa: S101 - requested above
        assert self._process.stdout is not None  # noqa: S101 - the same
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)
        _LIVING.add(self)
        return self

    @property
    def pid(self) -> int:
        """The number of the process, and of the group that it leads."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def exchange(self, data: bytes, whole: Callable[[bytearray], bool], limit: float) -> bytearray:
        """Send what it is to do, and receive its answer meanwhile.

        Args:
            data: What to send.
            whole: Returns whether all of the answer has been received.
            limit: Wall-clock limit in seconds.

        Returns:
            The answer.

        Raises:
            ChildLate: The time was up.
            ChildEnded: It ended, or takes no more.
        """
        os.ftruncate(self._stderr.fileno(), 0)
        deadline = time.monotonic() + limit
        received = bytearray()
        rest = memoryview(data)
        rest = rest[_write(self._in.fileno(), rest) :]  # most is taken at once
        # Two descriptors, for a moment: epoll would ask the kernel five times as much.
        with selectors.PollSelector() as waiting:
            waiting.register(self._out, selectors.EVENT_READ)
            if rest:
                waiting.register(self._in, selectors.EVENT_WRITE)
            while True:
                ready = waiting.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise ChildLate("")
                for key, events in ready:
                    if events & selectors.EVENT_WRITE:
                        rest = rest[_write(key.fd, rest) :]
                        if not rest:
                            waiting.unregister(self._in)
                        continue
                    chunk = os.read(key.fd, _CHUNK)
                    if not chunk:
                        raise ChildEnded("")
                    received += chunk
                    if whole(received):
                        return received

    def said(self, most: int = _SAID_BYTES) -> str:
        """Return the end of what it wrote to its standard error since the last exchange began."""
        size = os.fstat(self._stderr.fileno()).st_size
        if not size:
            return ""
        self._stderr.seek(max(0, size - most))
        return self._stderr.read(most).decode("utf-8", "replace").strip()

    def wait(self, seconds: float) -> int | None:
        """Return how it ended, as `subprocess` says it; None if it has not in so many seconds."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def end(self) -> None:
        """End it and all that it started, and close what belongs to it; again does nothing."""
        if not self._line.closed:
            _end(self._process)
            self._close()

    def forget(self) -> None:
        """Close what belongs to it in a copy of this process, which must not hold on to it."""
        self._process.returncode = 0  # it is none of that copy's children
        self._close()

    def _close(self) -> None:
        for stream in (self._line, self._in, self._out, self._stderr):
            stream.close()


# So that a copy of this process closes its end of their pipes, those in use too.
_LIVING: weakref.WeakSet[Child] = weakref.WeakSet()


def _start(
    action: Sequence[str],
    *,
    python: str,
    limits: Limits,
    environment: Mapping[str, str] | None,
    folder: str | None,
    unbuffered: bool = False,
    **streams: Any,
) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Start a process, and return it with the end of the pipe whose closing ends it."""
    line, other = map(_above_streams, os.pipe())
    ours = open(other, "wb", buffering=0)  # noqa: SIM115 - a descriptor, held with it
    try:
        command = [python, "-I", str(_BOOT), str(line), *limits.words(), *action]
        process = _Process(
            command,
            pass_fds=(line,),
            start_new_session=True,
            env=environment,
            cwd=folder,
            bufsize=0 if unbuffered else -1,
            **streams,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        os.close(line)
    return process, ours


def _above_streams(descriptor: int) -> int:
    """Move a descriptor that has the number of a standard stream, which this process has closed."""
    if descriptor > 2:  # standard error
        return descriptor
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def _uninterrupted(make: Callable[[], _Made], undo: Callable[[_Made], object]) -> _Made:
    """Have something made by a thread of its own: signals interrupt the main thread alone.

    An interrupt in the middle of a start would leave a process that is never waited for, and pipes.
    """
    if threading.current_thread() is not threading.main_thread():
        return make()
    made: list[_Made] = []
    failed: list[BaseException] = []
    unwanted = threading.Event()

    def undone() -> None:
        with contextlib.suppress(IndexError):  # it failed, or the other thread has it
            undo(made.pop())

    def work() -> None:
        try:
            made.append(make())
        except BaseException as error:  # noqa: BLE001 - raised again by the caller
            failed.append(error)
        if unwanted.is_set():
            undone()

    # An interrupt while it starts may leave it waiting for ever. As a daemon it does not keep this
    # process from ending, and the children that it began end with that.
    thread = threading.Thread(target=work, daemon=True)
    try:
        thread.start()
        thread.join()
    except RuntimeError:  # there are too many threads, or Python is about to end
        return make()
    except BaseException:
        unwanted.set()
        undone()
        raise
    if failed:
        raise failed[0]
    return made[0]


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _end_whole(process: subprocess.Popen[bytes], line: IO[bytes]) -> None:
    """End a process with all that it started, and close what belongs to it."""
    _end(process)
    for stream in filter(None, (line, process.stdin, process.stdout, process.stderr)):
        stream.close()


def run(
    action: Sequence[str],
    *,
    timeout: float,
    limits: Limits | None = None,
    environment: Mapping[str, str] | None = None,
    folder: str = "/",
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end.

    Args:
        action: `("program", PATH, ARGUMENT...)`, or what `module` returns.
        timeout: Wall-clock limit in seconds.
        limits: What it may take; by default as much as it likes.
        environment: Its variables; by default those of this process.
        folder: Its working directory; by default not that of this process.

    Returns:
        How it ended and what it printed.

    Raises:
        OSError: It cannot be started.
        ChildHung: The time was up; it was ended with all that it started.
        ChildFailed: It is not known how it ended.
    """
    start = partial(
        _start,
        action,
        python=sys.executable,
        limits=limits or Limits(memory=None, file=None),
        environment=environment,
        folder=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process, line = _uninterrupted(start, undo=lambda started: _end_whole(*started))
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ChildHung(f"{action[1]} timed out after {timeout:g} s") from None
    finally:
        _end_whole(process, line)
    if process.returncode == LOST:
        raise ChildFailed(f"{action[1]}: {ending(LOST)}")
    texts = (text.decode("utf-8", "replace") for text in (output, errors))
    return subprocess.CompletedProcess(list(action), process.returncode, *texts)


def module(name: str, *arguments: str) -> list[str]:
    """Return the action that runs a module with the running Python: `module("pip", "download")`."""
    return ["module", *_path(), name, *arguments]


def call(
    function: Callable[..., Any],
    *arguments: object,
    timeout: float,
    fresh: Limits | None = None,
    **keywords: object,
) -> Any:
    """Call a module-level function in a child process.

    Args:
        function: Importable by its module and name.
        arguments: Picklable.
        timeout: Wall-clock limit in seconds.
        fresh: Have it done by a process of its own with these limits, that is ended afterwards; by
            default one that has answered other calls, and will answer more.
        keywords: Picklable.

    Returns:
        What the function returned.

    Raises:
        PortableError: The function raised it.
        ChildCrashed: The process was killed by a signal.
        ChildHung: The time was up.
        ChildFailed: The process ended in any other way, or the function raised something else.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    here = _here()
    # Where it is gone, or cannot be entered again, only a new child stands in the same folder.
    here = here if os.access(here, os.X_OK) else ""
    asked = (here, named_table.get(), function, arguments, keywords, timeout)
    request = pickle.dumps(asked, pickle.HIGHEST_PROTOCOL)
    framed = len(request).to_bytes(_SIZE_BYTES, "little") + request
    kind = _Kind(_path(), cache_folder())
    shared = fresh is None and bool(here)
    with _POOL.turn():
        child = _POOL.take(kind) if shared else _serving(kind.path, fresh or Limits())
        kept = False
        try:
            answer = child.exchange(framed, _is_whole, timeout)
            kept = shared
        except ChildLate:
            raise ChildHung(f"{name} timed out after {timeout:g} s", said=child.said()) from None
        except ChildEnded:
            raise _ended(name, child, timeout) from None
        finally:
            if kept:
                _POOL.give_back(kind, child)
            else:
                child.end()
    # The answer comes from our own code in the child, over a pipe that nothing else writes to.
    succeeded, value = pickle.loads(memoryview(answer)[_SIZE_BYTES:])  # noqa: S301 - see above
    if not succeeded:
        raise value
    return value


def patience(size: int) -> float:
    """Return how many seconds one native step on so many bytes may take."""
    return PATIENCE_S + size / BYTES_PER_S


def expendable() -> bool:
    """Return whether this process is a child made for native code on foreign input."""
    return _INSIDE.is_set()


def signal_name(number: int) -> str:
    """Return the name of a signal: `SIGSEGV`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def ending(code: int) -> str:
    """Say how a process ended: `SIGSEGV`, `exit status 1`.

    Args:
        code: As `Child.wait` returns it.
    """
    if code == LOST:
        return "it is not known how it ended, because this process ignores or handles SIGCHLD"
    return signal_name(-code) if code < 0 else f"exit status {code}"


def serve() -> None:
    """Answer calls until there are no more: the child's side."""
    # Whatever prints to standard output, from Python or from native code, goes to descriptor 2.
    asked, answers = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _INSIDE.set()
    with open(asked, "rb") as requests, open(answers, "wb") as stream:  # descriptors
        while size := requests.read(_SIZE_BYTES):
            answer = _answer(requests.read(int.from_bytes(size, "little")))
            stream.write(len(answer).to_bytes(_SIZE_BYTES, "little") + answer)
            stream.flush()
    # Native libraries may crash while they are torn down; the answers are out.
    os._exit(0)


def _answer(request: bytes) -> bytes:
    try:
        here, table, function, arguments, keywords, seconds = pickle.loads(request)  # noqa: S301 - from `call`
        named_table.set(table)
        if here:  # the caller may have gone elsewhere since this process was started
            os.chdir(here)
        _allow(seconds)
        return pickle.dumps((True, function(*arguments, **keywords)), pickle.HIGHEST_PROTOCOL)
    except PortableError as error:
        return pickle.dumps((False, error))
    except Exception as error:  # noqa: BLE001 - it ends the call, and is reported to the caller
        what = f"the child process failed: {type(error).__name__}: {error}".removesuffix(": ")
        said = traceback.format_exc()[-_SAID_BYTES:]
        return pickle.dumps((False, ChildFailed(what, said=said)))


def _allow(seconds: float) -> None:
    """Allow this process so much more processor time; what it has used in its life counts."""
    import resource  # the child alone needs it

    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds * _CORES) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard < 0 else min(most, hard), hard))


class _Kind(NamedTuple):
    """What a child has in common with its callers: where they import from, and their cache."""

    path: list[str]
    cache: str


class _Pool:
    """The children that wait for the next call, each with what it was started for."""

    def __init__(self) -> None:
        self._waiting: list[tuple[_Kind, Child]] = []
        # One to be held during a call: no more children than there are cores. An interrupt between
        # taking a semaphore and knowing that would take it for ever; `with` a lock is one step.
        self._turns = [threading.Lock() for _ in range(_CORES)]

    def turn(self) -> threading.Lock:
        """Wait for a lock that is free, and return it."""
        while (free := next((one for one in self._turns if not one.locked()), None)) is None:
            time.sleep(_SHORTEST_S)
        return free

    def take(self, kind: _Kind) -> Child:
        while self._waiting:
            known, child = self._waiting.pop()
            if known == kind and child.running:
                return child
            child.end()
        return _serving(kind.path, Limits())

    def give_back(self, kind: _Kind, child: Child) -> None:
        self._waiting.append((kind, child))

    def end(self) -> None:
        while self._waiting:
            self._waiting.pop()[1].end()


_POOL = _Pool()
_INSIDE = threading.Event()


def _begin_anew() -> None:
    """In a copy of the process: the children are those of the original."""
    for child in list(_LIVING):
        child.forget()
    _POOL.__init__()  # type: ignore[misc]  # all of it, the lock too


atexit.register(_POOL.end)
os.register_at_fork(after_in_child=_begin_anew)


def _serving(path: list[str], limits: Limits) -> Child:
    try:
        return Child(["serve", *path, str(_PACKAGE), __name__], limits=limits)
    except OSError as error:
        raise ChildFailed(f"cannot start {sys.executable}: {error.strerror}") from error


def _here() -> str:
    """Return the working directory; empty where it is gone."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""


def _path() -> list[str]:
    """Return the absolute entries of `sys.path` without the working directory, and their number."""
    here = _here()
    here = here and os.path.realpath(here)
    found = [p for p in sys.path if Path(p).is_absolute() and os.path.realpath(p) != here]
    return [str(len(found)), *found]


def _ended(name: str, child: Child, timeout: float) -> ChildFailed:
    code, said = child.wait(1.0), child.said()
    if code is not None and -code == signal.SIGXCPU:
        return ChildHung(f"{name} timed out after {timeout:g} s of processor time", said=said)
    if code is not None and code < 0:
        crash = ChildCrashed(f"{name} crashed with {signal_name(-code)}", said=said)
        crash.signal = signal_name(-code)
        return crash
    last = said.splitlines()[-1] if said else ending(code or 0)
    return ChildFailed(f"{name} failed: {last}", said=said)


def _is_whole(received: bytearray) -> bool:
    size = int.from_bytes(received[:_SIZE_BYTES], "little")
    return len(received) >= _SIZE_BYTES and len(received) >= size + _SIZE_BYTES


def _write(descriptor: int, data: memoryview) -> int:
    try:
        return os.write(descriptor, data[:_CHUNK])
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        raise ChildEnded("") from None


def _machine_memory() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
