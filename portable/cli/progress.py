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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import rich.status

__all__ = ["counting", "running", "waiting"]

_EVERY_S = 10.0
_AFTER_S = 2.0


@contextlib.contextmanager
def counting(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show how much is done: a bar on a terminal, else a line every ten seconds.

    Args:
        what: What is counted, in the plural.

    Yields:
        What to call with how many are done, and how many there are, if that is known.
    """
    if not has_bars():
        yield _lines(what)
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

    Args:
        command: Its name.
    """
    shown = show(_Late(f"portable {command}"), delay=_AFTER_S)
    with shown if is_terminal() else contextlib.nullcontext():
        yield


def _done(done: int, total: int | None, what: str) -> str:
    return f"{done:,} {what}" if total is None else f"{done:,} of {total:,} {what}"


def _left(done: int, total: int | None, rate: float) -> str:
    if total is None or total < done or not rate:
        return ""
    return f", {datetime.timedelta(seconds=round((total - done) / rate))} left"


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


def _status(what: str) -> rich.status.Status | _Line:
    if not has_bars():
        return _Line(what)
    from rich.console import Console  # an extra, and only for a terminal
    from rich.text import Text

    return Console(stderr=True).status(Text(line(what)))


def _lines(what: str) -> Callable[[int, int | None], None]:
    started = told = time.monotonic()

    def tell(done: int, total: int | None) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= _EVERY_S:
            told = now
            rate = done / (now - started)
            said = f"{rate:,.0f}" if rate >= 100 else f"{rate:.2g}"
            note(f"{_done(done, total, what)}, {said} a second{_left(done, total, rate)}")

    return tell
