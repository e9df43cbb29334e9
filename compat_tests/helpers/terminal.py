"""Run a command whose standard error, or output too, is a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Shown", "on_terminal"]


class Shown(NamedTuple):
    """What came of a command.

    Args:
        code: The exit code.
        out: Standard output, where it was a pipe.
        terminal: What the terminal got.
    """

    code: int
    out: str
    terminal: bytes


def on_terminal(
    words: Sequence[str], first: str = "", *, output: bool = False, **environment: str
) -> Shown:
    """Run `portable` with standard error on a terminal.

    Args:
        words: The command and its options.
        first: What its Python executes before.
        output: Whether standard output is the terminal too.
        environment: Variables that are set.

    Returns:
        What came of it.
    """
    ours, theirs = pty.openpty()
    run = f"{first}\nimport sys; from portable.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", run, *words]
    # What a terminal can show is the terminal's, not that of whoever runs the tests.
    terminal = {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "40"}
    running = subprocess.Popen(
        command,
        stdout=theirs if output else subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, **terminal, **environment},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    out, _ = running.communicate()
    os.close(ours)
    return Shown(running.returncode, out or "", shown)
