"""The first thing that every child runs: limits, and an end together with whoever started it.

Usage: `python -I boot.py LINE CPU MEMORY FILES ACTION ...`, see `portable.system.children`. Started
by its path in any Python from 3.8 on, that of a Release too: nothing but the standard library.
"""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Take the limits and become what was requested."""
    _forget_signals()
    line, *limits = map(int, sys.argv[1:5])
    action, words = sys.argv[5], sys.argv[6:]
    kinds = (resource.RLIMIT_CPU, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE)
    for kind, most in zip((resource.RLIMIT_CORE, *kinds), (0, *limits)):  # noqa: B905 - Python 3.8
        _limit(kind, most)
    _end_with(line)
    _ACTIONS[action](words)


def _forget_signals() -> None:
    """Undo what the process that started this one does with signals, and was inherited.

    Where SIGCHLD is ignored every program that is started here would seem to succeed; where the
    others are ignored or blocked no limit of time would end this process.
    """
    for number in (signal.SIGCHLD, signal.SIGXCPU, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _limit(kind: int, most: int) -> None:
    """Set a soft limit, which native code that requests less keeps; below 0 is none."""
    hard = resource.getrlimit(kind)[1]
    if most >= 0:
        resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))


def _end_with(line: int) -> None:
    """Have the kernel end this process group when the other end of a pipe is closed.

    That happens when the parent ends, however it does, and while native code holds the interpreter.
    """
    os.set_blocking(line, False)
    if hasattr(fcntl, "F_SETSIG"):  # Linux; elsewhere the limits end what is left
        fcntl.fcntl(line, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(line, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(line, fcntl.F_SETFL, fcntl.fcntl(line, fcntl.F_GETFL) | os.O_ASYNC)
    try:
        os.read(line, 1)
    except BlockingIOError:
        return
    os._exit(1)  # the parent had ended before that


def _program(words: list[str]) -> None:
    """Become another program."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and a program inherits
        signal.signal(number, signal.SIG_DFL)
    os.execvp(words[0], words)  # noqa: S606 - that is what it is for


def _worker(words: list[str]) -> None:
    """Do the jobs of a Release: FOLDER FAMILY LIBRARY."""
    sys.path.insert(0, words[0])
    from inside.main import main as work  # type: ignore[import-not-found]  # of FOLDER

    work(*words[1:])


def _module(words: list[str]) -> None:
    """Run a module as `python -m` does: COUNT PATH... NAME ARGUMENT..."""
    import runpy

    name, *sys.argv[1:] = _take_path(words)
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _serve(words: list[str]) -> None:
    """Answer calls: COUNT PATH... PACKAGE MODULE, the folder of `portable` and what has `serve`.

    The package is loaded from there, whatever else on the path has its name.
    """
    import importlib.util

    folder, name = _take_path(words)
    spec = importlib.util.spec_from_file_location("portable", os.path.join(folder, "__init__.py"))
    assert spec is not None  # noqa: S101 - it ends in .py
    assert spec.loader is not None  # noqa: S101 - as above
    sys.modules["portable"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["portable"])
    importlib.import_module(name).serve()


def _take_path(words: list[str]) -> list[str]:
    """Put the parent's path before what this Python has by itself; return the other words."""
    end = 1 + int(words[0])
    sys.path[:] = dict.fromkeys((*words[1:end], *sys.path))
    return words[end:]


_ACTIONS = {"program": _program, "worker": _worker, "module": _module, "serve": _serve}

if __name__ == "__main__":
    main()
