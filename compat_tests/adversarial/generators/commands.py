"""Command lines in a process of their own, many in one, with limits of time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from portable.cli import COMMANDS, load
from portable.cli.parser import build

__all__ = ["Said", "actions", "run_all"]

_RUNNER = """
import contextlib, io, json, resource, signal, sys
from portable.cli import main

class Hung(BaseException):
    pass

def hung(*_):
    raise Hung

limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
signal.signal(signal.SIGALRM, hung)
for words in json.load(sys.stdin):
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    signal.alarm(limit)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(words)
    except Hung:
        code = "hung"
    except SystemExit as ended:
        code = ended.code
    signal.alarm(0)
    out.flush()
    said = [code, out.buffer.getvalue().decode("utf-8", "replace"), err.getvalue()]
    sys.__stdout__.write(json.dumps(said) + "\\n")
    sys.__stdout__.flush()
"""


@dataclass(frozen=True, slots=True)
class Said:
    """What became of one command line.

    Args:
        code: The exit code; `hung` when it had to be stopped.
        out: Standard output.
        err: Standard error.
    """

    code: int | str
    out: str
    err: str


def actions() -> set[str]:
    """Return every command, those whose first word is one of a few with each of them."""
    found = set()
    for command in COMMANDS:
        first = next(iter(build(command, load(command))._get_positional_actions()), None)
        found |= (
            {f"{command} {word}" for word in first.choices}
            if first and first.choices
            else {command}
        )
    return found


def run_all(lines: list[list[str]], cwd: Path, *, limit: int = 10) -> list[Said]:
    """Run command lines one after another in one process.

    Args:
        lines: The words of each, without the program's name.
        cwd: Where.
        limit: Seconds that one may take.

    Returns:
        What each said. A process that died has said nothing more.
    """
    done = subprocess.run(
        [sys.executable, "-c", _RUNNER, str(limit)],
        input=json.dumps(lines), cwd=cwd, capture_output=True, text=True, check=False,
        timeout=60 + limit * len(lines),
    )  # fmt: skip
    said = [Said(*json.loads(line)) for line in done.stdout.splitlines()]
    assert len(said) == len(lines), f"died of {lines[len(said)]}: {done.stderr[-2000:]}"
    return said
