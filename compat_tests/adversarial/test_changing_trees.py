"""A tree that somebody changes while it is read: nothing that lies outside of it is read or named.

Folders become links to others outside before each call by which the operating system is asked
about a path, for the length of one call or for good. `PORTABLE_RACES=300` lets so many gates race
with a process that does the same all the time, and tries each call, not one in thirteen.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat_tests.adversarial.test_mutants import LIBRARY
from portable.cli import main
from portable.containers.folder import copy_tree
from portable.errors import PortableError
from portable.inspection import inspect

ROOT = Path(__file__).parents[2]
DATA = ROOT / "compat_tests" / "data"
ARTIFACT = (DATA / "artifacts" / "mesh_inline+1.16.0.mlir.bc").read_bytes()
SAVED_MODEL = DATA / "containers" / "gate-jax2tf-0.7.1-tensorflow-2.20.0"
TORCH_XLA = ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container"
CONSUMER = ("--for", "jaxlib==0.12.0.1")
RACES = int(os.environ.get("PORTABLE_RACES", "2"))
STRIDE = 1 if RACES >= 100 else 13
MARK = "outside_of_it"
"""What the names of files outside have in them."""
FOLDERS = ("plain", "model", "xla")
CALLS = ("open", "scandir", "listdir", "stat", "lstat", "readlink")
"""The calls that follow paths, after each of which a path may lead elsewhere."""

RACE = f"""
import os, sys
tree, outside, aside = sys.argv[1:]
while True:
    for name in {FOLDERS}:
        os.rename(f"{{tree}}/{{name}}", f"{{aside}}/{{name}}")
        os.symlink(f"{{outside}}/{{name}}", f"{{tree}}/{{name}}")
    for name in {FOLDERS}:
        os.unlink(f"{{tree}}/{{name}}")
        os.rename(f"{{aside}}/{{name}}", f"{{tree}}/{{name}}")
"""


class Tree:
    """A tree with artifacts, containers and libraries; another outside; and who changes it.

    Attributes:
        calls: How many calls there were since it was whole.
        read: The files outside that were read from.
    """

    def __init__(self, folder: Path) -> None:
        self.inside, self.outside, self.aside = (folder / one for one in ("in", "out", "aside"))
        self._fill(self.inside, "")
        self._fill(self.outside, MARK)
        self.aside.mkdir()
        self.read: list[str] = []
        self.calls, self._steps = 0, frozenset[int]()
        self._elsewhere = False

    def _fill(self, top: Path, mark: str) -> None:
        shutil.copytree(SAVED_MODEL, top / "model")
        shutil.copytree(TORCH_XLA, top / "xla")
        (top / "xla" / "functions" / f"{mark}forward.mlir").touch()
        for name in ("plain", "plain/below", "model/below"):
            folder = top / name
            folder.mkdir(parents=True)
            for file in (f"{mark}one.mlir.bc", "same.mlir.bc"):
                (folder / file).write_bytes(ARTIFACT + mark.encode())
            (folder / f"{mark}lib.so").write_bytes(LIBRARY)

    def restore(self, *steps: int) -> None:
        """Make the tree whole, and change it before each of some calls to come."""
        if self._elsewhere:
            self._change()
        self.calls, self._steps, self.read = 0, frozenset(steps), []

    def before_call(self) -> None:
        """Change the tree, if it is time."""
        if self.calls in self._steps:
            self._change()
        self.calls += 1

    def _change(self) -> None:
        self._elsewhere = not self._elsewhere
        for name in FOLDERS:
            if self._elsewhere:
                (self.inside / name).rename(self.aside / name)
                (self.inside / name).symlink_to(self.outside / name)
            else:
                (self.inside / name).unlink()
                (self.aside / name).rename(self.inside / name)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A tree of which each call that follows a path, and each that reads, is seen."""
    made = Tree(tmp_path)
    read, place = os.pread, os.readlink

    def follows(call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any, **named: Any) -> Any:
            made.before_call()
            return call(*arguments, **named)

        return called

    def reads(handle: int, *rest: int) -> bytes:
        path = place(f"/proc/self/fd/{handle}")
        if path.startswith(f"{made.outside}/"):
            made.read.append(path)
        return read(handle, *rest)

    for name in CALLS:
        monkeypatch.setattr(os, name, follows(getattr(os, name)))
    monkeypatch.setattr(os, "pread", reads)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return made


def _gate(tree: Path) -> None:
    main(["gate", str(tree), *CONSUMER, "--format", "json"])


def _inspect(tree: Path) -> None:
    with contextlib.suppress(PortableError):
        print(inspect(tree).record())


def _audit(tree: Path) -> None:
    from portable.fleet.places import open_place

    place = open_place(str(tree))
    for page in place.pages():
        print(page.keys)
        for found in page.objects():
            with contextlib.suppress(PortableError):
                place.open(found).read()
    for key in ("plain/same.mlir.bc", "model/saved_model.pb"):
        with contextlib.suppress(PortableError):
            place.read(key, 1 << 20)


def _copy(tree: Path) -> None:
    copy = tree.parent / "copy"
    with contextlib.suppress(PortableError):
        copy_tree(str(tree), copy, {})
    for file in copy.rglob("*.*"):
        print(file.name, MARK if MARK.encode() in file.read_bytes() else "")
    shutil.rmtree(copy, ignore_errors=True)


@pytest.mark.parametrize("job", [_gate, _inspect, _audit, _copy])
def test_nothing_outside_is_read_when_folders_become_links(
    job: Callable[[Path], None], tree: Tree, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any call, for one call or for good; whatever is read instead is not said here."""
    tree.restore()
    job(tree.inside)
    calls = tree.calls
    assert calls > 10
    found = []
    for step in range(0, calls, STRIDE):
        for steps in ((step,), (step, step + 1)):
            tree.restore(*steps)
            job(tree.inside)
            said = "".join(capsys.readouterr())
            assert "internal error" not in said
            if tree.read or MARK in said:
                found.append((steps, tree.read[:1]))
    assert not found


def test_gates_that_race_with_changes_name_nothing_outside(tmp_path: Path) -> None:
    """Folders become links and folders again thousands of times a second."""
    tree = Tree(tmp_path)
    words = [str(one) for one in (tree.inside, tree.outside, tree.aside)]
    racing = subprocess.Popen([sys.executable, "-I", "-c", RACE, *words])
    gate = [sys.executable, "-m", "portable", "gate", words[0], *CONSUMER, "--format", "json"]
    try:
        ended = [
            subprocess.run(gate, check=False, capture_output=True, text=True, timeout=60)
            for _ in range(RACES)
        ]
    finally:
        racing.send_signal(signal.SIGKILL)
        racing.wait()
    said = [one.stdout + one.stderr for one in ended]
    assert sum(MARK in one for one in said) == 0
    assert not [one for one in said if "internal error" in one or "Traceback" in one]
