"""Servers of other people on this machine: started on free ports, ended with the tests."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["free_ports", "own_python", "started", "wait_for"]


def free_ports(count: int) -> list[int]:
    """Return ports of the loopback that are free."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def own_python() -> dict[str, str]:
    """Return variables for a program that has a Python of its own, whichever this one is."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@contextlib.contextmanager
def started(words: Sequence[str], log: Path) -> Iterator[None]:
    """Run a server until the end; what it prints is in the log."""
    with (
        log.open("w") as stream,
        subprocess.Popen(words, stdout=stream, stderr=stream, env=own_python()) as child,
    ):
        try:
            yield
        finally:
            child.terminate()


def wait_for(port: int) -> None:
    """Wait until somebody listens on a port of the loopback, a minute at most."""
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
