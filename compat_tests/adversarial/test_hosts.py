"""The library in processes of others: their signals and their streams change no answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What a process does before it calls the library, or becomes the command.
HOSTS = {
    "ignores": "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "reaps": """
def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
signal.signal(signal.SIGCHLD, reap)""",
}
_FAILS = """
import os, signal, sys
{host}
from portable.system.children import ChildFailed, run
try:
    print(run(("program", "sh", "-c", "sleep 0.2; exit 3"), timeout=60).returncode)
except ChildFailed as error:
    print(error)
"""


def _python(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python of its own, which finds this package."""
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd="/",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )


@pytest.mark.parametrize("host", HOSTS)
def test_a_program_whose_end_is_not_known_has_not_succeeded(host: str) -> None:
    """Python says 0 where somebody else has, or has refused, the status of a child."""
    done = _python(_FAILS.format(host=HOSTS[host]))
    assert done.stdout.strip() not in {"", "0"}, done.stderr
    assert done.stdout.strip() == "3" or "SIGCHLD" in done.stdout


_CHILD = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
from portable.system.children import call
print(int(call(signal.getsignal, signal.SIGCHLD, timeout=60)))
print(int(call(signal.getsignal, signal.SIGXCPU, timeout=60)))
print(call(signal.pthread_sigmask, signal.SIG_BLOCK, (), timeout=60))
"""


def test_a_child_takes_no_signals_of_its_host_over() -> None:
    """It would take each program that it starts for one that succeeds, and pass its limits."""
    done = _python(_CHILD)
    assert done.stdout.split("\n")[:3] == ["0", "0", "set()"], done.stderr


_COMMAND = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "portable", *sys.argv[1:]])
"""


def test_a_command_whose_starter_ignores_its_children_knows_how_they_end(tmp_path: Path) -> None:
    """Supervisors do, and what is ignored is inherited: here a check that no program passes."""
    pytest.importorskip("jaxlib")
    program = tmp_path / "m.mlir"
    program.write_text(
        "func.func @main(%a: tensor<f32>) -> tensor<f32> { return %a : tensor<f32> }"
    )
    done = _python(_COMMAND, "reduce", str(program), "--check", "false", "-o", str(tmp_path / "x"))
    assert done.returncode == 2
    assert "exited with 1" in done.stderr


_CLOSED = """
import os, sys
report = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT)
for number in sys.argv[1]:
    os.close(int(number))
os.dup2(report, 9)
os.close(report)
from portable.system.children import call, run
for _ in range(2):
    done = run(("program", "sh", "-c", "echo out; echo err >&2; exit 3"), timeout=60)
    os.write(9, f"{done.returncode} {done.stdout.strip()} {done.stderr.strip()} ".encode())
    os.write(9, call(os.path.join, "a", "b", timeout=60).encode() + b" ")
"""


@pytest.mark.parametrize("closed", ["0", "1", "2", "01", "02", "12", "012"])
def test_children_of_a_process_without_streams_answer(closed: str, tmp_path: Path) -> None:
    """As a daemon may have closed them: no pipe of ours gets between those of a child."""
    _python(_CLOSED, closed, str(tmp_path / "report"))
    assert (tmp_path / "report").read_text() == "3 out err a/b " * 2
