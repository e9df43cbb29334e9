"""What a child process takes to do something with a file: processor time, memory, output."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["JOBS", "ON_LINUX", "Taken", "measured", "size_of"]

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc for the peak of memory")
"""What a test is marked with that asks for the memory of `Taken`; elsewhere it is not known."""

_ROOT = Path(__file__).parents[2]
# Far above what anything here takes, far below what the machine has.
_MEMORY, _SECONDS = 4 << 30, 60

_PREDICT = (
    "from portable.prediction import predict; import json;"
    "print(json.dumps(predict(path, 'jaxlib 0.10.2').record()))"
)
# Not `ru_maxrss`, which a child begins with what its parent has. Linux only.
_PEAK = (
    "import atexit, pathlib; atexit.register(lambda: pathlib.Path(path).with_suffix('.peak')"
    ".write_text(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0]));"
)
_CLI = "from portable.cli import main; sys.argv = ['portable', *{arguments}]; sys.exit(main())"


def _command(*arguments: str) -> str:
    shown = ", ".join("path" if one == "PATH" else repr(one) for one in arguments)
    return _CLI.format(arguments=f"[{shown}]")


JOBS = {
    "inspect": _command("inspect", "PATH"),
    "inspect --ops": _command("inspect", "PATH", "--ops"),
    "inspect json": _command("inspect", "PATH", "--fingerprint", "--format", "json"),
    "minimum": _command("minimum", "PATH"),
    "minimum json": _command("minimum", "PATH", "--format", "json"),
    "check": _command("check", "PATH", "--for", "jaxlib==0.10.2"),
    "check json": _command("check", "PATH", "--for", "jaxlib==0.10.2", "--format", "json"),
    "gate json": _command("gate", "PATH", "--for", "jaxlib==0.10.2", "--format", "json"),
    "predict": _PREDICT,
}
"""What is done with a file, each as the code that a child runs."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a child took.

    Args:
        seconds: Processor time.
        resident: The most bytes of memory that it had at once.
        printed: Bytes that it printed.
        status: Its exit status.
        said: The end of what it printed to standard error.
    """

    seconds: float
    resident: int
    printed: int
    status: int
    said: str


def measured(job: str, path: Path) -> Taken:
    """Do a job in a child and measure it; a child that is out of bounds is killed.

    Args:
        job: Its name in `JOBS`.
        path: The file.
    """
    code = (
        f"import sys; sys.path.insert(0, {str(_ROOT)!r}); path = {str(path)!r};"
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({_MEMORY}, {_MEMORY}));"
        f"resource.setrlimit(resource.RLIMIT_CPU, ({_SECONDS}, {_SECONDS}));{_PEAK}{JOBS[job]}"
    )
    out, err, peak = (path.with_suffix(suffix) for suffix in (".out", ".err", ".peak"))
    with out.open("wb") as stdout, err.open("wb") as stderr:
        child = subprocess.Popen([sys.executable, "-I", "-c", code], stdout=stdout, stderr=stderr)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    taken = Taken(
        usage.ru_utime + usage.ru_stime,
        int(peak.read_text()) * 1024 if peak.exists() else _MEMORY,
        out.stat().st_size,
        child.returncode,
        err.read_text("utf-8", "replace")[-400:],
    )
    for file in (out, err, peak):
        file.unlink(missing_ok=True)
    return taken


def size_of(container: Path) -> int:
    """Return the bytes of a container, those of the names of its files included."""
    files = [container] if container.is_file() else [*container.rglob("*")]
    return sum(len(str(one.relative_to(container))) + one.lstat().st_size for one in files)
