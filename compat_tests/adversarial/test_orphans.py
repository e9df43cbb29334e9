"""Whatever ends a process, nothing of it goes on: no child, and in the end no file."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

import pytest

from portable.system import scratch
from portable.system.files import new_directory, write_file

WAIT_S = 60.0
# Native code that never lets go of the interpreter, and a grandchild. Both numbers are written.
HANG = """
import ctypes, os, subprocess, sys

def hang(path):
    grandchild = subprocess.Popen(["sleep", "600"])
    with open(path + "~", "w") as stream:
        stream.write(f"{os.getpid()} {grandchild.pid}")
    os.rename(path + "~", path)
    ctypes.PyDLL(None).sleep(600)
"""
# How the parent calls it: from its main thread, or from one of a pool that ends before the child.
CALLERS = {
    "call": "children.call(hang, sys.argv[1], timeout=600)",
    "fresh": "children.call(hang, sys.argv[1], timeout=600, fresh=children.Limits())",
    "thread": (
        "import threading, time\n"
        "threading.Thread(target=children.call, args=(hang, sys.argv[1]), "
        "kwargs={'timeout': 600}).start()\ntime.sleep(600)"
    ),
    "program": (
        "code = 'import sys; sys.path.append(sys.argv[1]); import hanging; "
        "hanging.hang(sys.argv[2])'\n"
        "children.run(('program', sys.executable, '-I', '-c', code, "
        "os.path.dirname(hanging.__file__), sys.argv[1]), timeout=600)"
    ),
    "nested": "children.call(hanging.nested, sys.argv[1], timeout=600)",
}
NESTED = """
def nested(path):
    from portable.system import children
    children.call(hang, path, timeout=600)
"""


def _alive(number: int) -> bool:
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"  # a zombie runs no more


def _wait(condition: object, seconds: float = WAIT_S) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(condition())


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM], ids=lambda s: s.name)
@pytest.mark.parametrize("caller", CALLERS)
def test_children_end_with_their_parent(caller: str, end: signal.Signals, tmp_path: Path) -> None:
    """Also while native code holds the interpreter, and what a child has started, too."""
    (tmp_path / "hanging.py").write_text(HANG + NESTED)
    code = (
        f"import os, sys; sys.path.append({str(tmp_path)!r}); import hanging\n"
        f"from hanging import hang\nfrom portable.system import children\n{CALLERS[caller]}\n"
    )
    told = tmp_path / "told"
    parent = subprocess.Popen([sys.executable, "-c", code, str(told)], cwd="/")
    try:
        assert _wait(told.exists)
        family = [int(number) for number in told.read_text().split()]
        assert all(map(_alive, family))
        parent.send_signal(end)
        parent.wait(WAIT_S)
        assert _wait(lambda: not any(map(_alive, family)), 10.0)
    finally:
        parent.kill()


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM], ids=lambda s: s.name)
def test_a_run_that_is_ended_leaves_nothing_that_the_next_does_not_sweep(
    end: signal.Signals, tmp_path: Path
) -> None:
    """Neither a process nor shared memory: after SIGTERM at once, after SIGKILL by the next run."""
    pytest.importorskip("jaxlib")
    program = tmp_path / "loop.mlir"
    program.write_text(_ENDLESS)
    command = [
        str(Path(sys.executable).with_name("portable")),
        "run",
        str(program),
        "--random",
        "1",
    ]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    running = subprocess.Popen(
        [*command, "--timeout", "600"], env=environment, stdout=subprocess.DEVNULL
    )
    try:
        assert _wait(lambda: bool(_held(running.pid)))
        assert _wait(lambda: descendants(running.pid) != [])
        family = descendants(running.pid)
        left = _held(running.pid)
        running.send_signal(end)
        running.wait(WAIT_S)
    finally:
        running.kill()
    assert _wait(lambda: not any(map(_alive, family)), 10.0)
    if end == signal.SIGTERM:
        assert [path for path in left if path.exists()] == []
    quick = tmp_path / "quick.mlir"
    quick.write_text(_ENDLESS.replace("stablehlo.constant dense<true>", _FALSE))
    command[2] = str(quick)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True, timeout=300)
    assert [path for path in left if path.exists()] == []


_FALSE = "stablehlo.constant dense<false>"
_ENDLESS = """func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%i = %a) : tensor<f32> cond {
    %t = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %t : tensor<i1>
  } do {
    stablehlo.return %i : tensor<f32>
  }
  return %0 : tensor<f32>
}
"""


def _held(process: int) -> list[Path]:
    """Return the temporary files and folders that a process holds, shared memory included."""
    found = []
    for link in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed since
            path = link.readlink()
            found += [path] if fnmatch(path.name, ".portable-*.tmp") else []
    return found


def descendants(number: int) -> list[int]:
    """Return the processes that one has started, and those that they have."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == number:
            child = int(path.parent.name)
            found += [child, *descendants(child)]
    return found


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_a_killed_writer_leaves_is_swept_by_the_next(what: str, tmp_path: Path) -> None:
    """Only what nobody holds any more: another writer in the same folder is left alone."""
    code = (
        "import os, sys, time\nfrom portable.system.files import new_directory, write_through\n"
        "def stay(stream): print(flush=True); time.sleep(600)\n"
        "if sys.argv[2] == 'file': write_through(sys.argv[1], stay)\n"
        "with new_directory(sys.argv[1]) as made: stay(made)\n"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / name), what], stdout=subprocess.PIPE
        )
        for name in ("killed", "alive")
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    assert len(list(tmp_path.iterdir())) == 2
    writers[0].kill()
    writers[0].wait()
    scratch.forget()  # as if this were a new process
    if what == "file":
        write_file(tmp_path / "new", b"new")
    else:
        with new_directory(tmp_path / "new"):
            pass
    left = {path.name for path in tmp_path.iterdir()} - {"new"}
    writers[1].kill()
    writers[1].wait()
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.close()
    assert len(left) == 1


_AT_EACH_LINE = """
import os, sys
from portable.system import files, scratch
what, left, done = sys.argv[1], [], False
def write():
    if what == "file":
        files.write_file("written", b"new")
    else:
        with files.new_directory("written") as made:
            os.mkdir(made + "/inside")
def traced(most):
    lines = 0
    def tracer(frame, event, _):
        nonlocal lines
        ours = frame.f_code.co_filename in (files.__file__, scratch.__file__)
        lines += ours and event == "line"
        if lines == most:
            sys.settrace(None)
            sys.exit(143)
        return tracer if ours else None
    sys.settrace(tracer)
number = 0
while not done:
    number += 1
    if not (child := os.fork()):
        traced(number)
        write()
        sys.settrace(None)
        sys.exit(0)
    done = os.waitpid(child, 0)[1] == 0
    left += [(number, one) for one in os.listdir() if one != "written"]
    for name in os.listdir():
        os.system(f"rm -r {name}")
print(number, left)
"""


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_signal_at_any_line_leaves_nothing(what: str, tmp_path: Path) -> None:
    """The process ends in an orderly way, as the command line does, and no other has to sweep."""
    ran = subprocess.run(
        [sys.executable, "-c", _AT_EACH_LINE, what],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True, timeout=120,
    )  # fmt: skip
    number, left = ran.stdout.split(maxsplit=1)
    assert int(number) > 30
    assert left.strip() == "[]"


def test_processes_that_sweep_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each makes what it needs while the others look for what was left."""
    code = (
        "import os, sys\nfrom portable.system import scratch\n"
        "for _ in range(400):\n"
        "    scratch.forget()\n"
        "    with scratch.folder(sys.argv[1]) as made: open(made + '/file', 'x').close()\n"
        "    handle, path = scratch.make_file(sys.argv[1])\n"
        "    os.unlink(path), os.close(handle)\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(4)]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
    assert not list(tmp_path.iterdir())


def test_nothing_but_what_we_name_so_is_swept(tmp_path: Path) -> None:
    """A user's file is never taken for ours, nor what a link of such a name leads to."""
    (tmp_path / ".portable-notes.tmp").write_text("mine")
    (tmp_path / ".portable-abcdefgh").write_text("mine")
    (tmp_path / ".portable-abcdefgh.tmp.txt").write_text("mine")
    (tmp_path / "target").write_text("mine")
    (tmp_path / ".portable-12345678.tmp").symlink_to(tmp_path / "target")
    before = sorted(tmp_path.iterdir())
    scratch.forget()
    write_file(tmp_path / "new", b"new")
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "new"])


def test_a_copy_of_the_process_leaves_the_children_to_the_original() -> None:
    """After `os.fork` the copy starts children of its own, and its end ends none of the others."""
    code = (
        "import os\nfrom portable.system.children import call\nfrom os import getpid\n"
        "first = call(getpid, timeout=60)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(call(getpid, timeout=60) == first)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert call(getpid, timeout=60) == first\n"
        "assert first != getpid()\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=WAIT_S)
