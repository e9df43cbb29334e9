"""End a command, or refuse what it does, at each of its steps on the file system, one by one.

  python -m compat_tests.adversarial.steps --only pin gate --fault KILL ENOSPC

The steps are what Python audits: opening a file to write, making, renaming and removing. `KILL`
ends the process before the step, any other fault is the error that the step fails with. Expected is
what `kills` expects; of an error one line and exit code 2, unless it did not matter.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from compat_tests.adversarial.kills import BAD, KINDS, Killer

__all__ = ["FAULTS", "Stepper"]

FAULTS = ("KILL", "ENOSPC", "EACCES", "EROFS", "EIO", "EDQUOT")
_MOST = 400
_REMOVES = ("os.remove", "os.rmdir")

_HOOK = """
import os, signal, sys
fault, at = sys.argv[1], int(sys.argv[2])
del sys.argv[1:3]
seen = -1
def hook(event, arguments):
    global seen
    if event == "open":
        path, _, flags = arguments
        if not isinstance(path, (str, bytes)) or not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
        if os.fsdecode(path).startswith(("/dev/null", "/proc/")):
            return
    elif event not in {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.truncate"}:
        return
    seen += 1
    if seen == at:
        with open(os.environ["STEP_REACHED"], "w") as told:
            told.write(f"{event} {arguments[:1]}")
        if fault == "KILL":
            os.kill(os.getpid(), signal.SIGKILL)
        import errno
        number = getattr(errno, fault)
        path = arguments[0] if isinstance(arguments[0], (str, bytes)) else None
        raise OSError(number, os.strerror(number), path)
from portable.cli import main
sys.addaudithook(hook)
sys.argv[0] = "portable"
sys.exit(main())
"""


class Stepper(Killer):
    """One command, whose steps are refused one after another."""

    def step(self, fault: str) -> Counter[str]:
        """Refuse each step in its turn; return what was found."""
        self.sent = fault
        reached = self.folder / "reached"
        self._environment["STEP_REACHED"] = str(reached)
        for at in range(_MOST):
            old = self._prepare(at)
            code = self._stepped(fault, at)
            if not reached.exists():
                break
            self.counts["steps"] += 1
            step = reached.read_text()
            reached.unlink()
            before = self.counts.total()
            self._demand_told(code)
            self._judge(old=old)
            if fault != "KILL" and not step.startswith(_REMOVES):
                self._demand_clean()  # what cannot be removed is for the next run
            self._next_run()
            if self.counts.total() != before + 1:
                print("  at step", at, step, file=sys.stderr)
        return self.counts

    def _stepped(self, fault: str, at: int) -> int:
        command = [sys.executable, "-c", _HOOK, fault, str(at), *self._words, "--quiet"]
        with (self.folder / "stderr").open("wb") as errors:
            return subprocess.run(
                command, cwd=self.folder, env=self._environment, stdout=subprocess.DEVNULL,
                stderr=errors, timeout=300, check=False,
            ).returncode  # fmt: skip

    def _demand_told(self, code: int) -> None:
        said = self._said()
        if self.sent == "KILL":
            fine = code == -9
        else:
            told = said.count("\n") == 1 and said.startswith("error: ")
            fine = code == self._whole[0] or (code == 2 and told)
        if not fine:
            self._found("odd exit", code, said[-2000:])
        if "Traceback" in said or "internal error" in said:
            self._found("traceback", code, said[-2000:])


def main() -> int:
    """Refuse the steps of each kind; exit with 1 when anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=KINDS, nargs="*", default=list(KINDS))
    parser.add_argument("--fault", choices=FAULTS, nargs="*", default=["KILL", "ENOSPC"])
    chosen = parser.parse_args()
    names = ("steps", *BAD)
    total: Counter[str] = Counter()
    for kind in chosen.only:
        for fault in chosen.fault:
            with tempfile.TemporaryDirectory() as folder:
                counts = Stepper(kind, Path(folder, "work"), 0).step(fault)
            print(kind, fault, *(f"{name}: {counts[name]}" for name in names), sep="  ", flush=True)
            total += counts
    bad = sum(total[name] for name in BAD)
    print("all", *(f"{name}: {total[name]}" for name in names), sep="  ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
