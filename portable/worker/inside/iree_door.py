"""IREE's compiler: it has no reader of its own, so compiling the artifact is reading it."""

from __future__ import annotations

import importlib
import signal
import subprocess
from pathlib import Path

from .answer import Crashed, Hung, Job, Payload, Refused, Unavailable
from .content import given

__all__ = ["open_door"]

ARGUMENTS = ("--iree-input-type=stablehlo", "--iree-hal-target-backends=llvm-cpu", "-o", "-", "-")
# Stops after the input dialect is gone: all the reading and nothing of the code generation.
READ_ONLY = "--compile-to=input"
# The compiler's own alarm rings before the worker's.
SHORTER_S = 1.0


class IreeDoor:
    """One iree-base-compiler."""

    def __init__(self) -> None:
        self._compiler = Path()

    def load(self, job: Job) -> Payload:
        """Find the compiler in the wheel and run it once."""
        package = Path(importlib.import_module("iree.compiler").__file__ or "").parent
        self._compiler = package / "_mlir_libs" / "iree-compile"
        if not self._compiler.exists():
            raise Unavailable(f"no iree-compile in {package}")
        return {"compiler": self._run(job, ("--version",), b"").decode(errors="replace")[:400]}

    def read(self, job: Job) -> Payload:
        """Compile an artifact as far as its input conversion."""
        self._run(job, (READ_ONLY, *ARGUMENTS), given(job))
        return {}

    def _run(self, job: Job, arguments: tuple[str, ...], data: bytes) -> bytes:
        limit = max(1.0, float(job["limit"]) - SHORTER_S)
        try:
            done = subprocess.run(
                [str(self._compiler), *arguments],
                input=data,
                capture_output=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Hung(f"iree-compile ran past {limit:.0f} s") from None
        said = done.stderr.decode(errors="replace")[:4000]
        if done.returncode < 0:
            raise Crashed(signal.Signals(-done.returncode).name)
        if done.returncode:
            raise Refused(" ".join(said.split())[:2000] or f"exit status {done.returncode}")
        return done.stdout


def open_door(library: str) -> IreeDoor:
    """Open the door; nothing is started yet."""
    del library
    return IreeDoor()
