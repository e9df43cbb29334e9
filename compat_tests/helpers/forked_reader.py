"""Reads artifacts with a jaxlib, one after another, by copies of a process: `IN.pickle OUT`.

Run with the Python of a Release that has contexts (jaxlib 0.4.33 and later). A crash ends a copy,
and the next goes on behind it: a crash costs milliseconds and not the start of a process.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import signal
import sys
from pathlib import Path
from typing import IO, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

_SECONDS = 0.5
_PER_CONTEXT = 200
_MEMORY = 4 << 30


def _context() -> Any:
    context = ir.Context()
    # The threads of a context are not there in a copy.
    context.enable_multithreading(False)
    if hasattr(stablehlo, "register_dialect"):
        stablehlo.register_dialect(context)
    with contextlib.suppress(ImportError):
        from jaxlib.mlir.dialects import sdy

        sdy.register_dialect(context)
    context.attach_diagnostic_handler(lambda _: True)
    return context


def _read(artifacts: list[bytes], context: Any, answers: IO[bytes]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for at, artifact in enumerate(artifacts, 1):
        if at % _PER_CONTEXT == 0:
            context = _context()
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)  # ends it: readers may loop for ever
        try:
            str(stablehlo.deserialize_portable_artifact(context, artifact))
        except (SystemError, RuntimeError, ValueError, ir.MLIRError):
            answers.write(b"-")
        else:
            answers.write(b"+")
        answers.flush()


def main() -> None:
    """Read every artifact of a list; write a mark for each: `+` read, `-` refused, `x` crashed."""
    source, target = map(Path, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    artifacts = pickle.loads(source.read_bytes())
    context = _context()  # made once: it takes longer than to read most artifacts
    found: list[str] = []
    while len(found) < len(artifacts):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            status = 1  # unless all were read, whatever is raised: what is too large for memory too
            try:
                with open(writing, "wb") as answers:  # noqa: PTH123 - a descriptor
                    _read(artifacts[len(found) :], context, answers)
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        with open(reading, "rb") as answers:  # noqa: PTH123 - a descriptor
            found += answers.read().decode()
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            found.append("x")
    target.write_text("".join(found))


main()
