"""How far long work has come: a bar on a terminal, else a line now and then, on standard error."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from portable.cli.output import has_bars, note
from portable.escaping import line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["counting", "waiting"]

_EVERY_S = 10.0


@contextlib.contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how much is done.

    Args:
        what: What is counted, in the plural.

    Yields:
        What to call with how many are done, and how many there are.
    """
    if has_bars():
        with _bar(what) as tell:
            yield tell
    else:
        yield _lines(what)


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on a terminal that something goes on of which nobody knows how long it takes.

    Args:
        what: What goes on.
    """
    with contextlib.ExitStack() as stack:
        if has_bars():
            from rich.console import Console  # noqa: PLC0415 - an extra, and only for a terminal
            from rich.text import Text  # noqa: PLC0415 - as above

            stack.enter_context(Console(stderr=True).status(Text(line(what))))
        yield


@contextlib.contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    from rich.console import Console  # noqa: PLC0415 - an extra, and only for a terminal
    from rich.progress import (  # noqa: PLC0415 - the same
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(line(what), markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _lines(what: str) -> Callable[[int, int], None]:
    told = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= _EVERY_S:
            told = time.monotonic()
            note(f"{done:,} of {total:,} {what}")

    return tell
