"""Kill commands at random times, and count what is torn, lost, twice or left behind.

  python -m compat_tests.adversarial.kills 500 --seed 1

After each kill the output is absent, as it was before, or whole. After the next run of the command
nothing of the killed ones is left: no process, no temporary file, no half-made environment.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import portable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["KINDS", "Killer"]

DATA = Path(__file__).parents[1] / "data"
RELEASE = "jaxlib==0.10.2"
PROGRAM = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""
POLICY = '[consumers]\nall = ["jaxlib>=0.11"]\n'
# What is run, and what it writes.
KINDS = {
    "pin": ("pin m.mlir --target 1.9.0 -o out.bc", "out.bc"),
    "container": ("pin in.exported --target 1.9.0 -o out.exported", "out.exported"),
    "gate": ("gate tree --format json -o gate.json --policy portable.toml", "gate.json"),
    "matrix": (
        f"matrix tree/a.mlir.bc --for {RELEASE} --format json -o matrix.json",
        "matrix.json",
    ),
    "env": (f"env make {RELEASE}", ""),
}
_OLD = b"what was there before"
_WHOLE_EVERY = 10
_MARK = "PORTABLE_KILLED_RUN"


@dataclass
class Killer:
    """One command in a folder of its own, killed again and again.

    Args:
        kind: A key of `KINDS`.
        folder: Where.
        seed: Of the times.
    """

    kind: str
    folder: Path
    seed: int
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._before = {*_unheld()}
        self._words, self._output = KINDS[self.kind]
        self._random = random.Random(self.seed)  # noqa: S311 - not a secret
        (self.folder / "tree").mkdir(parents=True)
        (self.folder / "tmp").mkdir()
        (self.folder / "m.mlir").write_text(PROGRAM)
        (self.folder / "portable.toml").write_text(POLICY)
        shutil.copy(DATA / "artifacts/mesh_inline+1.16.0.mlir.bc", self.folder / "tree/a.mlir.bc")
        shutil.copy(DATA / "containers/gate-vjp0-jax-0.10.2.exported", self.folder / "in.exported")
        self._environment = {
            **os.environ,
            "TMPDIR": str(self.folder / "tmp"),
            _MARK: str(self.folder),
        }
        if self.kind in {"env", "matrix"}:
            self._environment["PORTABLE_CACHE"] = str(self.folder / "cache")
        if self.kind == "matrix":
            self._complete()  # makes the environment
        began = time.monotonic()
        self._whole = self._complete()
        self._seconds = time.monotonic() - began

    def kill(self, times: int) -> Counter[str]:
        """Kill it so many times; return what was found."""
        for number in range(times):
            self._once(number)
            if (number + 1) % _WHOLE_EVERY == 0 or number + 1 == times:
                self._next_run()
        return self.counts

    def _once(self, number: int) -> None:
        output = self.folder / self._output
        if self.kind == "matrix":
            (self.folder / "cache" / "observations.sqlite").unlink(missing_ok=True)
        old = number % 2 == 1 and self.kind != "env"
        if self.kind == "env":
            shutil.rmtree(self.folder / "cache", ignore_errors=True)
        elif old:
            output.write_bytes(_OLD)
        else:
            output.unlink(missing_ok=True)
        process = self._start()
        time.sleep(self._random.random() * self._seconds * 1.1)
        process.send_signal(signal.SIGKILL)
        self.counts["killed" if process.wait() < 0 else "too late"] += 1
        if self.kind == "env":
            return
        if not output.exists():
            self.counts["lost"] += old
        elif output.read_bytes() != _OLD or not old:
            self.counts["torn"] += self._content() != self._whole

    def _next_run(self) -> None:
        """Run it to its end, and look for what is left of those that were killed."""
        self.counts["torn"] += self._complete() != self._whole
        deadline = time.monotonic() + 10
        while (left := _processes(str(self.folder))) and time.monotonic() < deadline:
            time.sleep(0.1)
        files = list(self.folder.rglob(".portable-*.tmp"))
        files += (self.folder / "tmp").iterdir()
        files += set(_unheld()) - self._before
        if self.kind == "env":
            homes = self.folder / "cache" / "environments"
            files += [
                p for p in homes.glob("[!.]*") if not (p / "portable-environment.json").exists()
            ]
        self.counts["left behind"] += len(left) + len(files)
        self.counts["next runs"] += 1
        for path in files:
            print("left behind:", path, file=sys.stderr)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [str(Path(sys.executable).with_name("portable")), *self._words.split()]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            command, cwd=self.folder, env=self._environment, stdout=quiet, stderr=quiet
        )

    def _complete(self) -> object:
        code = self._start().wait(600)
        return (code, self._content()) if self.kind == "env" else self._content()

    def _content(self) -> object:
        """Return what the output says; times differ from run to run."""
        path = self.folder / self._output
        if self.kind == "env":
            return ""
        if self.kind not in {"matrix", "gate"}:
            return path.read_bytes()
        try:
            document = json.loads(path.read_bytes())
        except ValueError:
            return "torn"
        if self.kind == "matrix":
            several = len(document["items"]) - 1 + len(document["consumers"]) - 1
            self.counts["twice"] += several
            document.pop("date")
            document.pop("results", None)
        return len(document), document.get("cells")


def _unheld() -> Iterator[Path]:
    """Yield what is in shared memory under a name of ours, and is held by no process."""
    for path in Path("/dev/shm").glob(".portable-*.tmp"):  # noqa: S108 - only listed, nothing is written there
        with contextlib.suppress(OSError):  # gone since, or held
            handle = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
                yield path
            finally:
                os.close(handle)


def _processes(mark: str) -> list[int]:
    """Return the processes that were started by a run in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{_MARK}={mark}\0".encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def main() -> int:
    """Kill each kind its share of times; exit with 1 when anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("times", type=int, help="how many kills in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=KINDS, nargs="*", default=list(KINDS))
    chosen = parser.parse_args()
    names = ("killed", "too late", "next runs", "torn", "lost", "twice", "left behind")
    total: Counter[str] = Counter()
    for number, kind in enumerate(chosen.only):
        share = chosen.times // len(chosen.only) + (number < chosen.times % len(chosen.only))
        with tempfile.TemporaryDirectory() as folder:
            counts = Killer(kind, Path(folder, "work"), chosen.seed + number).kill(share)
        print(kind, *(f"{name}: {counts[name]}" for name in names), sep="  ", flush=True)
        total += counts
    print("all", *(f"{name}: {total[name]}" for name in names), sep="  ")
    bad = sum(total[name] for name in names[3:])
    print(f"portable {portable.__version__}: {bad or 'nothing'} found")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
