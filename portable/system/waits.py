"""What this process waits for: requests to servers, told to who listens where they take long."""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import threading
import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["told", "waited", "waiting", "within"]

_AFTER_S, _EVERY_S, _LOOK_S = 2.0, 30.0, 0.5
_ENDING = frozenset({signal.SIGHUP, signal.SIGINT, signal.SIGTERM})

T = TypeVar("T")


@contextlib.contextmanager
def told(tell: Callable[[str], object]) -> Iterator[None]:
    """Tell in one line what is waited for while the block runs.

    A signal that ends the process does so after two seconds, with 128 + signal, where a library
    that waits for a server does not let Python see it.

    Args:
        tell: Called from another thread, once a request has taken two seconds and then every
            thirty.
    """
    global _watch  # noqa: PLW0603 - what a process waits for is one thing
    with _signals() as signals:
        before, _watch = _watch, _Watch(tell, signals)
        try:
            yield
        finally:
            _watch.stopped.set()
            _watch = before


@contextlib.contextmanager
def _signals() -> Iterator[int]:
    """Yield a descriptor that has the number of each signal as soon as it comes."""
    reading, writing = os.pipe()
    for one in (reading, writing):
        os.set_blocking(one, False)
    before = None
    try:
        with contextlib.suppress(ValueError):  # in another thread than the first
            before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        yield reading
    finally:
        if before is not None:
            signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)


@contextlib.contextmanager
def waiting(what: str, most: float) -> Iterator[None]:
    """Mark the block as one that waits for a server.

    Args:
        what: What was requested.
        most: After how many seconds without an answer it is given up.
    """
    watch = _watch
    if watch is None:
        yield
        return
    number = watch.begin(what, most)
    try:
        yield
    finally:
        watch.end(number)


def waited(pieces: Iterable[T], what: str, most: float) -> Iterator[T]:
    """Yield what a server sends piece by piece, each of which is waited for as in `waiting`."""
    rest = iter(pieces)
    while True:
        with waiting(what, most):
            try:
                piece = next(rest)
            except StopIteration:
                return
        yield piece


def within(ask: Callable[[], T], most: float) -> T:
    """Return what a function of a library returns that may wait without a limit of its own.

    Args:
        ask: The function; a thread that it is left in ends with the process.
        most: For how many seconds it is waited for.

    Raises:
        TimeoutError: It took longer.
    """
    from concurrent.futures import Future  # with logging: every command would start with it

    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            answer.set_exception(error)

    threading.Thread(target=run, name="request", daemon=True).start()
    try:
        return answer.result(most)
    except TimeoutError:
        raise TimeoutError(f"no answer for {most:.0f} s") from None


class _Request(NamedTuple):
    """A request that is under way: since when, what was requested, its limit."""

    since: float
    what: str
    most: float
    is_late: bool
    """Whether a signal had come when it began: it cleans up, and takes as long as it needs."""


class _Watch:
    """The requests that are under way, and a thread that looks how long they take."""

    def __init__(self, tell: Callable[[str], object], signals: int) -> None:
        self.stopped = threading.Event()
        self._signals = signals
        self._tell, self._numbers, self._lock = tell, itertools.count(), threading.Lock()
        self._open: dict[int, _Request] = {}
        self._ending = 0
        self._thread: threading.Thread | None = None

    def begin(self, what: str, most: float) -> int:
        number = next(self._numbers)
        self._open[number] = _Request(time.monotonic(), what, most, self._has_come())
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="waits", daemon=True)
                self._thread.start()
        return number

    def end(self, number: int) -> None:
        del self._open[number]

    def _look(self) -> None:
        due, came = 0.0, 0.0
        while not self.stopped.wait(_LOOK_S):
            now, requests = time.monotonic(), [*self._open.copy().values()]
            if not self._ending:
                self._ending, came = self._signal(), now
            elif now - came >= _AFTER_S and not all(one.is_late for one in requests):
                os._exit(128 + self._ending)
            oldest = min(requests, default=None)
            if oldest and now - oldest.since >= _AFTER_S and now >= due:
                due, took = now + _EVERY_S, now - oldest.since
                waits = f"no answer for {took:.0f} s; given up after {oldest.most:.0f} s at most"
                self._tell(f"{oldest.what}: {waits}")

    def _signal(self) -> int:
        """Return the signal by which the process is to end, or 0."""
        with contextlib.suppress(OSError):  # none came, or what listens is over
            return next(filter(_ENDING.__contains__, os.read(self._signals, 64)), 0)
        return 0

    def _has_come(self) -> bool:
        """Say whether there is such a signal, read or not."""
        with contextlib.suppress(OSError, ValueError):  # what listens is over
            return bool(self._ending or select.select([self._signals], [], [], 0)[0])
        return False


_watch: _Watch | None = None
