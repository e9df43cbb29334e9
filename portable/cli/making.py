"""What is being done with environments: a bar on a terminal, else lines, on standard error."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from portable.cli.output import has_bars, note
from portable.escaping import line
from portable.runtime.environments import Download, Phase

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

__all__ = ["making", "require_hashes_option", "tell_line"]


def require_hashes_option(parser: argparse._ActionsContainer) -> None:
    """Add `--require-hashes`."""
    parser.add_argument(
        "--require-hashes",
        action="store_true",
        help="refuse what has no recorded digest, dependencies too (PORTABLE_REQUIRE_HASHES=1)",
    )


@contextlib.contextmanager
def making(total: int) -> Iterator[Callable[[str, Phase | Download], None]]:
    """Show how the making of environments goes on.

    Args:
        total: How many are wanted.

    Yields:
        What to call with the name of an environment and its Phase; also for those that were there.
    """
    if has_bars():
        with _bar(total) as tell:
            yield tell
    else:
        yield tell_line


@contextlib.contextmanager
def _bar(total: int) -> Iterator[Callable[[str, Phase | Download], None]]:
    from rich.console import Console  # noqa: PLC0415 - an extra, and only for a terminal
    from rich.progress import (  # noqa: PLC0415 - the same
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
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)

        def tell(name: str, phase: Phase | Download) -> None:
            if isinstance(phase, Download):
                progress.console.print(line(f"{name}: {phase}"), markup=False, highlight=False)
            if phase is Phase.READY:
                ready.add(name)
            progress.update(task, completed=len(ready), description=line(f"{name}: {phase}"))

        yield tell


def tell_line(name: str, phase: Phase | Download) -> None:
    """Print what is being done with an environment as a line on standard error.

    Args:
        name: Which.
        phase: What.
    """
    # Those that were there already are no news.
    if phase is not Phase.READY:
        note(f"{name}: {phase}")
