"""IREE: its compiler has no reader of its own, so compiling the artifact is reading it."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from .answer import Crashed, Hung, Job, Payload, Refused, Unavailable
from .content import given
from .engines import Engines

if TYPE_CHECKING:
    from .engines import Engine

__all__ = ["load"]

ARGUMENTS = ("--iree-input-type=stablehlo", "--iree-hal-target-backends=llvm-cpu", "-o", "-", "-")
# Stops after the input dialect is gone: all the reading and nothing of the code generation.
READ_ONLY = "--compile-to=input"
# By default it computes f64 in f32, and so also takes and returns f32.
EXACT = "--iree-input-demote-f64-to-f32=false"
# Errors in the bytes have a place in them, an op that VHLO does not have is unregistered, and the
# one verifier that knows algorithms says so. All other words are about what became of the program
# after it was read: the compiler has no lowering for it, or a wrong one.
NOT_READ = re.compile(
    r"<stdin>:|unregistered operation 'vhlo\.|dot algorithm not known|failed to deserialize"
)
# Naming the functions of a crash takes seconds, and nothing here shows them.
_QUIET = {"LLVM_DISABLE_SYMBOLIZATION": "1"}
# The compiler's own alarm rings before the worker's.
SHORTER_S = 1.0


class IreeAdapter:
    """One `iree-compile`."""

    def __init__(self, compiler: Path) -> None:
        self._compiler = compiler
        self._engines = Engines({"iree": self._engine})

    def probe(self, job: Job) -> Payload:
        """Report the compiler's own version; it does not say which StableHLO it has."""
        said = self._run(float(job["limit"]), ("--version",), b"").decode(errors="replace")
        return {"compiler": " ".join(said.split())[:400]}

    def read(self, job: Job) -> Payload:
        """Compile an artifact as far as its input conversion.

        Reading and lowering are one step of the compiler, but not one question: what it read and
        cannot lower is answered as read, with the reason it went no further.
        """
        try:
            self._run(float(job["limit"]), (READ_ONLY, *ARGUMENTS), given(job))
        except Refused as refusal:
            if NOT_READ.search(str(refusal)):
                raise
            return {"lowered": False, "reason": str(refusal)[:400]}
        return {"lowered": True}

    def compile(self, job: Job) -> Payload:
        """Compile a program for the virtual machine."""
        return self._engines.compile(job)

    def execute(self, job: Job) -> Payload:
        """Execute a program on inputs."""
        return self._engines.execute(job)

    def _engine(self, _platform: str) -> Engine:
        # The parent ends both processes when a compilation or execution takes too long.
        made: Engine = importlib.import_module(".iree_vm", __package__).Iree(
            lambda program: self._run(None, (EXACT, *ARGUMENTS), program)
        )
        return made

    def _run(self, limit: float | None, arguments: tuple[str, ...], data: bytes) -> bytes:
        seconds = None if limit is None else max(1.0, limit - SHORTER_S)
        try:
            done = subprocess.run(
                [str(self._compiler), *arguments],
                input=data,
                capture_output=True,
                timeout=seconds,
                check=False,
                env=os.environ | _QUIET,
            )
        except subprocess.TimeoutExpired:
            raise Hung(f"iree-compile ran past {seconds:.0f} s") from None
        said = done.stderr.decode(errors="replace")[:4000]
        if done.returncode < 0:
            raise Crashed(signal.Signals(-done.returncode).name)
        if done.returncode:
            raise Refused(" ".join(said.split())[:2000] or f"exit status {done.returncode}")
        return done.stdout


def load(library: str, limit: float) -> IreeAdapter:
    """Find the compiler in the wheel.

    Returns:
        The adapter.
    """
    del library, limit
    package = Path(importlib.import_module("iree.compiler").__file__ or "").parent
    compiler = package / "_mlir_libs" / "iree-compile"
    if not compiler.exists():
        raise Unavailable(f"no iree-compile in {package}")
    return IreeAdapter(compiler)
