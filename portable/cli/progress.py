"""Progress of long work, on standard error: live on a terminal where rich is installed, else lines.

Whatever a command does, a terminal shows after two seconds that it is running (`running`).
"""

from __future__ import annotations

import contextlib
import datetime
import time
from typing import TYPE_CHECKING

from portable.cli.live import show
from portable.cli.output import has_bars, is_terminal, note
from portable.escaping import line
from portable.system.waits import told

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import rich.status
    import rich.text

__all__ = ["counting", "running", "waiting"]

_EVERY_S = 10.0
_AFTER_S = 2.0


@contextlib.contextmanager
def counting(
    what: str, *, lasting: float | None = None
) -> Iterator[Callable[[int, int | None], None]]:
    """Show how much is done: a bar on a terminal, else a line every ten seconds.

    Args:
        what: What is counted, in the plural.
        lasting: For how many seconds, where the time says when it ends and not how many there are:
            shown at once, without a bar.

    Yields:
        What to call with how many are done, and how many there are, if that is known.
    """
    counted = _Counted(what, lasting)
    if not has_bars():
        yield _lines(counted)
        return
    if lasting is not None:
        with show(_status(counted)):
            yield counted.count
        return
    from rich.console import Console  # an extra, and only for a terminal
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(line(what), markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(show_speed=True),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task(what, total=None)
    with show(progress):
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on a terminal what is being done, where nothing can be counted.

    Args:
        what: What is being done.
    """
    with show(_status(what)) if is_terminal() else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def running(command: str) -> Iterator[None]:
    """Show on a terminal that a command is running, once it has printed nothing for two seconds.

    What waits for a server says so everywhere, after as long.

    Args:
        command: Its name.
    """
    shown = show(_Late(f"portable {command}"), delay=_AFTER_S)
    with told(note), shown if is_terminal() else contextlib.nullcontext():
        yield


class _Counted:
    """How much of something is done, how fast, and how long it takes still.

    Args:
        what: What is counted, in the plural.
        lasting: For how many seconds, where that is known.
    """

    def __init__(self, what: str, lasting: float | None) -> None:
        self._what = what
        self.lasting = lasting
        self.started = time.monotonic()
        self._done = 0
        self._total: int | None = None

    def count(self, done: int, total: int | None) -> None:
        """Take how many are done, and how many there are, if that is known."""
        self._done, self._total = done, total

    def said(self, now: float) -> str:
        """Return all of it at a time of `time.monotonic`."""
        took = now - self.started
        of = "" if self._total is None else f" of {self._total:,}"
        rate = self._done / took if took else 0.0
        parts = [f"{self._done:,}{of} {self._what}"]
        if took:
            parts.append(f"{rate:,.0f} a second" if rate >= 100 else f"{rate:.2g} a second")
        left = self._left(took, rate)
        if left is not None:
            parts.append(f"{datetime.timedelta(seconds=round(left))} left")
        return ", ".join(parts)

    def _left(self, took: float, rate: float) -> float | None:
        """Return how many seconds are left; None where that is not known, or it is over."""
        if self.lasting is not None:
            return self.lasting - took if took < self.lasting else None
        if self._total is None or self._total < self._done or not rate:
            return None
        return (self._total - self._done) / rate

    def __rich__(self) -> rich.text.Text:
        from rich.text import Text  # an extra, and only for a terminal

        return Text(line(self.said(time.monotonic())))


class _Late:
    """A status that is made when it is first drawn: short commands do not import rich."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._status: rich.status.Status | _Line | None = None

    def start(self) -> None:
        self._status = self._status or _status(self._what)
        self._status.start()

    def stop(self) -> None:
        if self._status is not None:
            self._status.stop()


class _Line:
    """A status where rich is not installed: one line."""

    def __init__(self, what: str) -> None:
        self._what = what

    def start(self) -> None:
        note(f"{self._what} ...")

    def stop(self) -> None:
        """Lines stay."""


def _status(what: str | _Counted) -> rich.status.Status | _Line:
    if isinstance(what, str) and not has_bars():
        return _Line(what)
    from rich.console import Console  # an extra, and only for a terminal
    from rich.text import Text

    return Console(stderr=True).status(Text(line(what)) if isinstance(what, str) else what)


def _lines(counted: _Counted) -> Callable[[int, int | None], None]:
    told = counted.started
    if counted.lasting is not None:
        note(counted.said(told))

    def tell(done: int, total: int | None) -> None:
        nonlocal told
        counted.count(done, total)
        now = time.monotonic()
        if now - told >= _EVERY_S:
            told = now
            note(counted.said(now))

    return tell
