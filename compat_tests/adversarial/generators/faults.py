"""What may be wrong with a process when it starts, and every command to start with it."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "ADD",
    "ARTIFACT",
    "COMMANDS",
    "COMPILING",
    "CORPUS",
    "FAULTS",
    "LIMIT_S",
    "WORDS",
    "Ended",
    "Fault",
    "json_documents",
    "start",
    "toml_documents",
]

ROOT = Path(__file__).parents[3]
ADD = ROOT / "compat_tests/data/artifacts/add_f32+1.17.0.mlir.bc"
ARTIFACT = ROOT / "compat_tests/data/artifacts/custom_calls+1.0.0.mlir.bc"
EXPORTED = ROOT / "compat_tests/data/containers/gate-vjp0-jax-0.10.2.exported"
CORPUS = ROOT / "corpus"
LIMIT_S = 120

# For each command line what it is called in a test; FOLDER is a folder of the test's own, with
# `policy.toml`, `matrix.json` and `program.mlir`.
COMMANDS: Mapping[str, str] = {
    "inspect": f"inspect {ARTIFACT} --ops",
    "inspect json": f"inspect {EXPORTED} --format json",
    "inspect stdin": "inspect -",
    "check": f"check {ARTIFACT} --for jaxlib==0.10.2",
    "check json": f"check {EXPORTED} --for jaxlib==0.10.2 --format json",
    "minimum": f"minimum {ARTIFACT}",
    "gate text": f"gate {ARTIFACT} --policy FOLDER/policy.toml",
    "gate json": f"gate {ARTIFACT} --policy FOLDER/policy.toml --format json",
    "gate junit": f"gate {ARTIFACT} --policy FOLDER/policy.toml --format junit",
    "gate github": f"gate {ARTIFACT} --policy FOLDER/policy.toml --format github",
    "gate file": f"gate {ARTIFACT} --policy FOLDER/policy.toml -o FOLDER/report",
    "gate found": f"gate {ARTIFACT}",
    "matrix html": "matrix --merge FOLDER/matrix.json --format html",
    "matrix file": "matrix --merge FOLDER/matrix.json -o FOLDER/page.html",
    "matrix text": "matrix --merge FOLDER/matrix.json",
    "target": "target --for jaxlib>=0.5",
    "versions": "versions",
    "releases": "releases --format json",
    "env": "env list",
    "corpus": f"corpus list --corpus {CORPUS}",
    "corpus found": "corpus list",
    "help": "check --help",
    "overview": "",
    "bad usage": "check",
    "no such file": "check FOLDER/none --for jaxlib",
}

COMPILING: Mapping[str, str] = {
    "pin": "pin FOLDER/program.mlir --target 1.0.0 -o FOLDER/new.mlir.bc",
    "serialize": "serialize FOLDER/program.mlir --target 1.0.0 -o FOLDER/new.mlir.bc",
    "serialize stdout": "serialize FOLDER/program.mlir --target 1.0.0",
    "deserialize": f"deserialize {ARTIFACT}",
    "explain": "explain FOLDER/program.mlir --target 1.0.0",
    "minimum": "minimum FOLDER/program.mlir",
    "check": f"check {ARTIFACT} --observe",
    "run": "run FOLDER/program.mlir --random 0",
    "run file": "run FOLDER/program.mlir --random 0 -o FOLDER/out.npz",
    "verify": "verify FOLDER/program.mlir --against FOLDER/program.mlir --seeds 1",
    "export": "export jax none:such --target 1.0.0 -o FOLDER/new",
    "pin container": f"pin {EXPORTED} --target 1.9.0 -o FOLDER/new.exported",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a process.

    Args:
        closed: Numbers of the standard streams that are closed.
        full: Numbers of those that lead to a full device.
        gone: Whether its current folder has been removed.
        folder: Its current folder.
        environment: Variables; None removes one.
        limits: Resource limits.
        deaf: Whether nobody reads its output.
        quiet: Whether it may say nothing: where it cannot, or nobody is there.
    """

    closed: Sequence[int] = ()
    full: Sequence[int] = ()
    gone: bool = False
    folder: str | None = None
    environment: Mapping[str, str | None] = field(default_factory=dict)
    limits: Mapping[int, int] = field(default_factory=dict)
    deaf: bool = False

    @property
    def quiet(self) -> bool:
        """Whether it may end with 2 and say nothing: it cannot, or nobody is there."""
        return self.deaf or 2 in self.closed or 2 in self.full


FAULTS: Mapping[str, Fault] = {
    "none": Fault(),
    "no stdin": Fault(closed=[0]),
    "no stdout": Fault(closed=[1]),
    "no stderr": Fault(closed=[2]),
    "no streams": Fault(closed=[0, 1, 2]),
    "full stdout": Fault(full=[1]),
    "full stderr": Fault(full=[2]),
    "full both": Fault(full=[1, 2]),
    "nobody reads": Fault(deaf=True),
    "folder gone": Fault(gone=True),
    "folder nobody writes to": Fault(folder="/proc"),
    "C locale": Fault(environment={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "ascii": Fault(environment={"PYTHONIOENCODING": "ascii"}),
    "no home": Fault(environment={"HOME": None, "XDG_CACHE_HOME": None, "PORTABLE_CACHE": None}),
    "bad home": Fault(environment={"HOME": "/dev/null", "PORTABLE_CACHE": None}),
    "bad cache": Fault(environment={"PORTABLE_CACHE": "/dev/null/cache"}),
    "no temporary folder": Fault(environment={"TMPDIR": "/nowhere"}),
    "dumb": Fault(environment={"TERM": "dumb", "COLUMNS": "0"}),
    "no variables": Fault(environment=dict.fromkeys(os.environ)),
    "no room for files": Fault(limits={resource.RLIMIT_FSIZE: 100}),
    "few files": Fault(limits={resource.RLIMIT_NOFILE: 12}),
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended."""

    code: int
    out: bytes
    err: bytes


def start(words: Sequence[str | bytes], fault: Fault, folder: Path, given: bytes = b"") -> Ended:
    """Run the command line with something wrong.

    Args:
        words: The command and its options.
        fault: What is wrong.
        folder: A folder of its own to stand in.
        given: What it gets on standard input.
    """
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    # As users have it: what is written waits in a buffer, and may be lost as late as at the end.
    environment.pop("PYTHONUNBUFFERED", None)
    for name, value in fault.environment.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    here = Path(fault.folder or folder)
    if fault.gone:
        here = folder / "gone"
        here.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "portable", *words],
        cwd=here,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_prepared(fault, here),  # noqa: PLW1509 - this process has one thread
    )
    if fault.deaf:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
    with contextlib.suppress(BrokenPipeError):
        out, err = process.communicate(given, timeout=LIMIT_S)
        return Ended(process.returncode, out or b"", err)
    return Ended(process.wait(LIMIT_S), b"", b"")


def _prepared(fault: Fault, here: Path) -> Callable[[], None]:
    def prepare() -> None:
        if fault.gone:
            here.rmdir()
        for number in fault.full:
            os.dup2(os.open("/dev/full", os.O_WRONLY), number)
        for number in fault.closed:
            os.close(number)
        for limit, value in fault.limits.items():
            resource.setrlimit(limit, (value, value))

    return prepare


HUGE = "9" * 5000
"""More digits than Python converts."""

WORDS = (
    "", " ", "\0", "-", "--", "=", HUGE, f"-{HUGE}", f"1.{HUGE}.0", f"jaxlib=={HUGE}",
    f"jaxlib>=0.{HUGE}", f"jaxlib~=0.{HUGE}.1", f"{HUGE}d", f"{HUGE}w", "9999999999d", "1e400",
    "1e300", "nan", "inf", "-0", "0x10", "1_000", "\u0661\u0662", "9999-12-31", "0001-01-01",
    "0000-00-00", f"{HUGE}-01-01", "2026-W01-1", "20260101", "plugin:", "plugin:/dev/null",
    "plugin:\0", "@", "@a", "installed", "jaxlib[x]", "jaxlib @ file:///etc/passwd", "jaxlib;x",
    "jaxlib==0.5.*.1", "jaxlib===x", "jaxlib<1!2", "x" * 100_000, "a/" * 3000, "\udcff",
    "/dev/null", "/proc/self/mem", "/", "..", "tcp://\udcff:x", "[" * 5000, "(" * 5000, "1e9999999",
)  # fmt: skip
"""What the command line of a script may hold where a variable was expanded."""

DEEP = 100_000


def json_documents() -> Mapping[str, bytes]:
    """Return what JSON can be made to be."""
    return {
        "empty": b"",
        "not UTF-8": b'{"a": "\xff"}',
        "NUL": b"\0",
        "huge": b'{"schema": ' + HUGE.encode() + b"}",
        "float": b'{"schema": 1e999999}',
        "NaN": b'{"schema": NaN}',
        "deep lists": b"[" * DEEP,
        "whole deep lists": b"[" * DEEP + b"]" * DEEP,
        "nearly too deep": b"[" * 900 + b"]" * 900,
        "deep objects": b'{"a":' * DEEP,
        "surrogate": b'"\\ud800"',
        "UTF-16": '{"a": 1}'.encode("utf-16"),
        "a number": b"1",
    }


def toml_documents() -> Mapping[str, bytes]:
    """Return what TOML can be made to be."""
    return {
        "empty": b"",
        "not UTF-8": b'a = "\xff"',
        "UTF-16": "a = 1".encode("utf-16"),
        "NUL": b"a = \0",
        "huge": b"a = " + HUGE.encode(),
        "hexadecimal": b"a = 0x" + b"f" * 10_000,
        "deep lists": b"a = " + b"[" * 3000 + b"]" * 3000,
        "deeper lists": b"a = " + b"[" * DEEP,
        "deep tables": b"a = " + b"{a = " * 3000 + b"1" + b"}" * 3000,
        "dotted": b".".join([b"a"] * 3000) + b" = 1",
        "a dotted table": b"[" + b".".join([b"a"] * 3000) + b"]",
        "dotted consumers": b"consumers." + b".".join([b"a"] * 3000) + b" = 1",
        "a deep set": b"[consumers]\na = " + b"[" * 300 + b"]" * 300,
        "a day": b"a = 2026-99-99",
        "a long day": b"[[waivers]]\nexpires = 0001-01-01",
        "circular sets": b'[consumers]\na = ["@b"]\nb = ["@a"]',
        "many sets": b"[consumers]\n"
        + b"".join(b'a%d = ["@a%d"]\n' % (n, n + 1) for n in range(3000))
        + b'a3000 = ["jaxlib>=0.5"]\n',
    }
