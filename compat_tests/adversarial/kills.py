"""Send signals to commands at random times; count what is torn, lost, twice, late or left behind.

  python -m compat_tests.adversarial.kills 500 --seed 1 --signal KILL TERM

After each signal every output is absent, as it was before, or whole. A command that can still act
(SIGTERM, SIGINT, SIGHUP) cleans up at once, prints at most one line and exits with 128 + signal;
SIGPIPE and a pause (SIGSTOP, SIGCONT) change nothing. After the next run of the command nothing of
those before is left: no process, no temporary file, no shared memory, no half-made environment.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
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
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import portable
from compat_tests.helpers.binaries import library, names_of
from compat_tests.helpers.registry import serving, tagged

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BAD", "KINDS", "SIGNALS", "Killer", "Kind"]

ROOT = Path(__file__).parents[2]
DATA = ROOT / "compat_tests" / "data"
RELEASE = "jaxlib==0.10.2"
PROGRAM = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %a : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
"""
POLICY = '[consumers]\nall = ["jaxlib>=0.11"]\n'
MODEL = "import jax.numpy as jnp\n\ndef f(x):\n    return jnp.tanh(x)\n"
REPORTS = ("gate.json", "gate.html", "gate.xml", "gate.md")
SIGNALS = {
    name: signal.Signals[f"SIG{name}"] for name in ("KILL", "TERM", "INT", "HUP", "PIPE", "STOP")
}
"""What is sent; STOP is followed by SIGCONT."""
BAD = ("torn", "lost", "twice", "left behind", "late", "odd exit", "traceback")
"""What must not be found."""
_ENDING = {"TERM", "INT", "HUP"}
_OLD = b"what was there before"
_WHOLE_EVERY = 10
_LATE_S = 5.0
_MARK = "PORTABLE_KILLED_RUN"
# What Python says of a signal that comes before it runs anything.
_STARTING = "Fatal Python error: init"


def _bytes(path: Path) -> object:
    """Return what there is: the digest of each file by its name."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return [
        (str(one.relative_to(path)), hashlib.sha256(one.read_bytes()).hexdigest()) for one in files
    ]


def _json(path: Path) -> object:
    """Return what a document says; times differ from run to run."""
    try:
        document = json.loads(path.read_bytes())
    except ValueError:
        return "torn"
    several = [len(document.get(name, [1])) for name in ("items", "consumers")]
    document.pop("date", None)
    document.pop("results", None)
    return len(document), several, document.get("cells")


def _size(path: Path) -> object:
    """Return how many files there are, none of them empty: what is in them has times in it."""
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    return [(one.name, one.stat().st_size > 0) for one in files]


@dataclass(frozen=True, slots=True)
class Kind:
    """A command.

    Args:
        words: What it is started with.
        outputs: What it writes.
        before: Commands that have to have run.
        replaces: Whether outputs that are there are replaced.
        read: Returns the content of an output, equal for each whole one.
        resumes: What it keeps on purpose when it is ended, for the next run.
        cache: Whether it has environments of its own.
        shares: Whether it executes programs, whose arrays are in shared memory.
        sends: Whether it speaks to a registry, whose port stands for PORT.
    """

    words: str
    outputs: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    replaces: bool = True
    read: Callable[[Path], object] = _bytes
    resumes: tuple[str, ...] = ()
    cache: bool = False
    shares: bool = False
    sends: bool = False


_READ = "jaxlib==0.9.1"
_AUDIT = "audit tree -o fleet.parquet --depth content"
KINDS = {
    "pin": Kind("pin m.mlir --target 1.9.0 -o out.bc", ("out.bc",)),
    "container": Kind("pin in.exported --target 1.9.0 -o out.exported", ("out.exported",)),
    "gate": Kind(
        f"gate tree --format text -o gate.txt {' '.join(f'--report {one}' for one in REPORTS)} "
        "--policy portable.toml",
        ("gate.txt", *REPORTS),
    ),
    "matrix": Kind(
        f"matrix tree/a.mlir.bc --for {RELEASE} --format json -o matrix.json",
        ("matrix.json",),
        read=_json,
        cache=True,
        shares=True,
    ),
    "env": Kind(f"env make {RELEASE}", cache=True),
    "audit": Kind(_AUDIT, ("fleet.parquet",), replaces=False, resumes=("fleet.parquet.parts",)),
    "plan": Kind(
        "plan fleet.parquet --from jaxlib==0.9.1 --to jaxlib==0.4.33 "
        "--report plan.html --report plan.json",
        ("plan.html", "plan.json"),
        before=(_AUDIT,),
    ),
    "repin-all": Kind(
        "repin-all fleet.parquet --for jaxlib==0.4.33 -o copies",
        ("copies",),
        before=(_AUDIT,),
        replaces=False,
        resumes=("copies",),
    ),
    "bundle": Kind("bundle m.mlir --for jaxlib>=0.5 -o bundled", ("bundled",), replaces=False),
    "pick": Kind(
        "pick bundle --for jaxlib==0.5.3 -o picked.bc",
        ("picked.bc",),
        before=("bundle m.mlir --for jaxlib>=0.5 -o bundle",),
    ),
    "attest": Kind(
        "attest sign tree/a.mlir.bc --for jaxlib==0.9.1 --key key.pem -o said.json",
        ("said.json",),
        read=_size,
    ),
    "attest-verify": Kind(
        f"attest verify tree/a.mlir.bc --key pub.pem --attestation said.json --for {_READ}",
        before=(f"attest sign tree/a.mlir.bc --for {_READ} --key key.pem -o said.json",),
    ),
    "push": Kind(
        "push bundle oci://127.0.0.1:PORT/a:one",
        ("registry/tags/one",),
        before=("bundle m.mlir --for jaxlib>=0.5 -o bundle",),
        replaces=False,
        read=tagged,
        resumes=("registry/blobs", "registry/tags/one.type"),
        sends=True,
    ),
    "pick-registry": Kind(
        "pick oci://127.0.0.1:PORT/a:one --for jaxlib==0.5.3 -o picked.bc",
        ("picked.bc",),
        before=(
            "bundle m.mlir --for jaxlib>=0.5 -o bundle",
            "push bundle oci://127.0.0.1:PORT/a:one",
        ),
        sends=True,
    ),
    "query": Kind(
        "audit fleet.parquet --query unread --for jaxlib==0.4.33 --format json", before=(_AUDIT,)
    ),
    "completion": Kind("completion zsh"),
    "corpus-verify": Kind("corpus verify --corpus other", before=("corpus seal --corpus other",)),
    "export": Kind(
        "export jax model:f --args f32[4] --target 1.9.0 -o exported.mlir.bc",
        ("exported.mlir.bc",),
    ),
    "export-folder": Kind(
        "export jax model:f --args f32[4] --target 1.9.0 -o exported --weights weights.npz",
        ("exported", "weights.npz"),
        replaces=False,
        read=_size,
    ),
    "generate": Kind("fuzz generate --count 40 -o programs", ("programs",), replaces=False),
    "reduce": Kind(
        "reduce m.mlir --check grep -q add {} -o small.mlir",
        ("small.mlir",),
        read=lambda path: b"stablehlo.add" in path.read_bytes(),
    ),
    "corpus-new": Kind(
        "corpus new ours --program m.mlir --corpus corpus",
        ("corpus/own/ours",),
        replaces=False,
        shares=True,
    ),
    "corpus-seal": Kind("corpus seal --corpus other", ("other/SEALS",), replaces=False),
    "releases-add": Kind(
        "releases add libours.so --name ours==1.0", ("cache/releases.toml",),
        replaces=False, read=_size, cache=True,
    ),
    "observe": Kind("check tree/a.mlir.bc --for jaxlib==0.10.2 --observe"),
    "verify": Kind("verify tree/a.mlir.bc --against tree/a.mlir.bc", shares=True),
    "verify-on": Kind(
        f"verify tree/a.mlir.bc --against tree/a.mlir.bc --reference-on {RELEASE}", shares=True
    ),
    "hunt": Kind(
        f"fuzz hunt --for {RELEASE} --hours 0.0001 -o hunted",
        ("hunted",),
        replaces=False,
        read=lambda path: (path / "README.md").exists(),
        resumes=("hunted",),
        shares=True,
    ),
}  # fmt: skip


@dataclass
class Killer:
    """One command in a folder of its own, ended again and again.

    Args:
        kind: A key of `KINDS`.
        folder: Where.
        seed: Of the times.
        sent: A key of `SIGNALS`.
    """

    kind: str
    folder: Path
    seed: int
    sent: str = "KILL"
    counts: Counter[str] = field(default_factory=Counter)
    _stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _port: str = ""

    def __post_init__(self) -> None:
        self._what = KINDS[self.kind]
        self._before = self._shared()
        self._words = self._what.words.split()
        if self.kind == "reduce":
            self._words[3:7] = ["grep -q add {}"]
        self._random = random.Random(self.seed)  # noqa: S311 - not a secret
        for name in ("tree/more", "tmp", "corpus"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "m.mlir").write_text(PROGRAM)
        (self.folder / "model.py").write_text(MODEL)
        (self.folder / "portable.toml").write_text(POLICY)
        (self.folder / "libours.so").write_bytes(library(*names_of("1.9.0")))
        for path in sorted((DATA / "artifacts").glob("*+1.*.mlir.bc"))[:20]:
            shutil.copy(path, self.folder / "tree" / "more")
        shutil.copy(DATA / "artifacts/mesh_inline+1.16.0.mlir.bc", self.folder / "tree/a.mlir.bc")
        shutil.copy(DATA / "containers/gate-vjp0-jax-0.10.2.exported", self.folder / "in.exported")
        if self.kind in {"corpus-seal", "corpus-verify"}:
            shutil.copytree(ROOT / "corpus" / "shapes", self.folder / "other" / "shapes")
        if self.kind.startswith("attest"):
            _make_keys(self.folder / "key.pem", self.folder / "pub.pem")
        if self._what.sends:
            self._port = str(self._stack.enter_context(serving(self.folder / "registry")))
        self._environment = {
            **os.environ,
            "TMPDIR": str(self.folder / "tmp"),
            "JAX_PLATFORMS": "cpu",
            _MARK: str(self.folder),
        }
        if self._what.cache:
            self._environment["PORTABLE_CACHE"] = str(self.folder / "cache")
        for words in self._what.before:
            self._run(words.split()).wait(600)
        if self.kind == "matrix":
            self._complete()  # makes the environment
        began = time.monotonic()
        self._whole = self._complete()
        assert self._whole[0] in {0, 1}, (self.folder / "stderr").read_text()
        self._seconds = time.monotonic() - began
        self._listed = self._listing()

    def kill(self, times: int) -> Counter[str]:
        """Signal it so many times; return what was found."""
        with self._stack:
            for number in range(times):
                self._once(number)
                if (number + 1) % _WHOLE_EVERY == 0 or number + 1 == times:
                    self._next_run()
        return self.counts

    def _once(self, number: int) -> None:
        old = self._prepare(number)
        process = self._run(self._words)
        time.sleep(self._random.random() * self._seconds * 1.1)
        process.send_signal(SIGNALS[self.sent])
        if self.sent == "STOP":
            time.sleep(0.05)
            process.send_signal(signal.SIGCONT)
        try:
            code = process.wait(_LATE_S if self.sent in _ENDING | {"KILL"} else 600)
        except subprocess.TimeoutExpired:
            self._found("late")
            process.kill()
            code = process.wait()
        ended = code in {-SIGNALS[self.sent], 128 + SIGNALS[self.sent]}
        self.counts["killed" if ended else "too late"] += 1
        if not ended and code != self._whole[0] and not self._said().startswith(_STARTING):
            self._found("odd exit", code, self._said())
        if self.sent != "KILL" and not _is_plain(self._said()):
            self._found("traceback", code, self._said())
        self._judge(old=old)
        if self.sent in _ENDING:
            self._demand_clean()

    def _prepare(self, number: int) -> bool:
        """Remove what was written, or put old outputs there; return whether those are there."""
        if self.kind == "matrix":
            (self.folder / "cache" / "observations.sqlite").unlink(missing_ok=True)
        if self.kind == "env":
            shutil.rmtree(self.folder / "cache", ignore_errors=True)
        self._clear()
        old = number % 2 == 1 and self._what.replaces
        for name in self._what.outputs if old else ():
            (self.folder / name).write_bytes(_OLD)
        return old

    def _judge(self, *, old: bool) -> None:
        """Look at the outputs: each is absent, as it was, or whole."""
        for name in self._what.outputs:
            path = self.folder / name
            if not path.exists():
                self.counts["lost"] += old
            elif name in self._what.resumes or (old and path.read_bytes() == _OLD):
                continue
            elif self._what.read(path) != dict(self._whole[1])[name]:
                self._found("torn", path, self._what.read(path))

    def _found(self, what: str, *about: object) -> None:
        self.counts[what] += 1
        print(f"{what}:", self.kind, self.sent, *about, file=sys.stderr)

    def _clear(self) -> None:
        for name in (*self._what.outputs, *self._what.resumes):
            path = self.folder / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def _said(self) -> str:
        return (self.folder / "stderr").read_text("utf-8", "replace")

    def _next_run(self) -> None:
        """Run it to its end, and look for what is left of those that were ended."""
        if not self._what.replaces:
            for name in self._what.outputs:
                if name not in self._what.resumes and (self.folder / name).exists():
                    self._clear()
        if self._complete() != self._whole:
            self._found("torn", "after the next run", self._said())
        self.counts["next runs"] += 1
        self._demand_clean()
        if self.kind == "env":
            homes = self.folder / "cache" / "environments"
            half = [
                p for p in homes.glob("[!.]*") if not (p / "portable-environment.json").exists()
            ]
            self.counts["left behind"] += len(half)

    def _demand_clean(self) -> None:
        """Look for processes and files that are left behind."""
        deadline = time.monotonic() + 10
        while (left := _processes(str(self.folder))) and time.monotonic() < deadline:
            time.sleep(0.05)
        files = self._shared() - self._before
        if files:  # one that is made at this moment is not held yet
            time.sleep(0.5)
            files &= self._shared()
        files |= self._listing() - self._listed
        for path in (*files, *left):
            self._found("left behind", path)
        for path in files:
            if path.is_file():
                path.unlink()

    def _shared(self) -> set[Path]:
        """Return what is left in shared memory, which other programs of the machine use too."""
        return {*_unheld()} if self._what.shares else set()

    def _listing(self) -> set[Path]:
        """Return what is in the folder, but for outputs and what is kept on purpose.

        Nor what Python's `tempfile` makes to see whether it can write to TMPDIR.
        """
        kept = tuple(f"{self.folder / name}" for name in (*self._what.outputs, *self._what.resumes))
        kept += (f"{self.folder / 'cache'}/",)
        found = {one for one in self.folder.rglob("*") if not str(one).startswith(kept)}
        found -= {one for one in (self.folder / "tmp").glob("?" * 8) if one.is_file()}
        return found | {*self.folder.rglob(".portable-*.tmp")}

    def _run(self, words: list[str]) -> subprocess.Popen[bytes]:
        said = [word.replace("PORT", self._port) for word in words]
        command = [str(Path(sys.executable).with_name("portable")), *said, "--quiet"]
        with (self.folder / "stderr").open("wb") as errors:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=self._environment,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def _complete(self) -> tuple[int, list[tuple[str, object]]]:
        if not self._what.resumes:
            self._clear()
        code = self._run(self._words).wait(600)
        read = self._what.read
        return code, [
            (name, read(path) if (path := self.folder / name).exists() else None)
            for name in self._what.outputs
        ]


def _is_plain(said: str) -> bool:
    """Say whether that is at most one line, or Python's own words before our code ran."""
    started = "from portable.cli import main" not in said and "<frozen site>" not in said
    return (
        not started
        or said.startswith(_STARTING)
        or (said.count("\n") <= 1 and "Traceback" not in said)
    )


def _make_keys(private: Path, public: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    key = ec.generate_private_key(ec.SECP256R1())
    private.write_bytes(key.private_bytes(*form, serialization.NoEncryption()))
    form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    public.write_bytes(key.public_key().public_bytes(*form))


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
    """Signal each kind its share of times; exit with 1 when anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("times", type=int, help="how many signals in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=KINDS, nargs="*", default=list(KINDS))
    parser.add_argument("--signal", choices=SIGNALS, nargs="*", default=["KILL"])
    chosen = parser.parse_args()
    names = ("killed", "too late", "next runs", *BAD)
    total: Counter[str] = Counter()
    pairs = [(kind, sent) for kind in chosen.only for sent in chosen.signal]
    for number, (kind, sent) in enumerate(pairs):
        share = chosen.times // len(pairs) + (number < chosen.times % len(pairs))
        if not share:
            continue
        with tempfile.TemporaryDirectory() as folder:
            counts = Killer(kind, Path(folder, "work"), chosen.seed + number, sent).kill(share)
        print(kind, sent, *(f"{name}: {counts[name]}" for name in names), sep="  ", flush=True)
        total += counts
    print("all", *(f"{name}: {total[name]}" for name in names), sep="  ")
    bad = sum(total[name] for name in BAD)
    print(f"portable {portable.__version__}: {bad or 'nothing'} found")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
