"""Progress of making environments, on standard error: a bar on a terminal, else lines."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from portable.cli.live import show
from portable.cli.output import has_bars, note
from portable.escaping import line
from portable.runtime.environments import Download, Phase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["making", "tell_line"]


@contextlib.contextmanager
def making(total: int) -> Iterator[Callable[[str, Phase | Download], None]]:
    """Show the progress of making environments.

    Args:
        total: How many are wanted.

    Yields:
        What to call with the name of an environment and its Phase; also for those that exist.
    """
    if not has_bars():
        yield tell_line
        return
    from rich.console import Console  # an extra, and only for a terminal
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    ready: set[str] = set()
    columns = (
        SpinnerColumn(),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task = progress.add_task("", total=total)

    def tell(name: str, phase: Phase | Download) -> None:
        if isinstance(phase, Download):
            progress.console.print(line(f"{name}: {phase}"), markup=False, highlight=False)
        if phase is Phase.READY:
            ready.add(name)
        progress.update(task, completed=len(ready), description=line(f"{name}: {phase}"))

    with show(progress):
        yield tell


def tell_line(name: str, phase: Phase | Download) -> None:
    """Print what is being done with an environment as a line on standard error.

    Args:
        name: Which environment.
        phase: What is done.
    """
    # Those that exist already are not mentioned.
    if phase is not Phase.READY:
        note(f"{name}: {phase}")
