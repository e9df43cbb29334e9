"""The loop: one JSON line in, one JSON line out, the native code in between.

Usage: `python -I -c BOOT ROOT FAMILY LIBRARY MEMORY`, see `portable.worker.supervisor`.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys

from .answer import KINDS, Crashed, Door, Hung, Job, Payload, Refused, Unavailable

__all__ = ["main"]

# The parent kills a worker that is late. This alarm is for the case that the parent is gone: the
# kernel ends the process even while native code holds the interpreter lock.
ORPHAN_GRACE_S = 10.0

LOADS = "check that it loads on this machine"

FAMILIES = {
    "jaxlib": "jaxlib_door",
    "tensorflow": "tensorflow_door",
    "torch-mlir": "torch_mlir_door",
    "iree": "iree_door",
    "plugin": "plugin_door",
    "torch-xla": "torch_xla_door",
}


def main(family: str, library: str) -> None:
    """Answer jobs until standard input ends.

    Args:
        family: Which door to open, a key of `FAMILIES`.
        library: The shared library of the Release, for the families that are one file.
    """
    # Native code, and many an import, prints to stdout: from here on that goes to stderr and the
    # answers have a descriptor of their own.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    bench = _Bench(family, library)
    for line in sys.stdin.buffer:
        job: Job = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, float(job["limit"]) + ORPHAN_GRACE_S)
        answer = _do(bench, job)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        sys.stdout.flush()
        sys.stderr.flush()
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


class _Bench:
    """The door, once a `load` job has opened it."""

    def __init__(self, family: str, library: str) -> None:
        self._family = family
        self._library = library
        self._door: Door | None = None

    def do(self, job: Job) -> Payload:
        kind = str(job["kind"])
        if kind == "load":
            module = importlib.import_module(f".{FAMILIES[self._family]}", __package__)
            self._door = module.load(self._library, float(job["limit"]))
            return {}
        if self._door is None:
            raise Unavailable("nothing is loaded")
        method = getattr(self._door, kind, None) if kind in KINDS else None
        if method is None:
            raise Unavailable(f"a release of {self._family} cannot {kind}")
        answer: Payload = method(job)
        return answer


def _do(bench: _Bench, job: Job) -> Payload:
    answer: Payload = {"id": job["id"], "diagnostics": []}
    try:
        answer |= {"status": "ok", "payload": bench.do(job)}
    except Refused as refusal:
        answer |= {"status": "refused", "error": str(refusal)}
        answer["diagnostics"] = refusal.diagnostics
    except Unavailable as lack:
        answer |= {"status": "unavailable", "error": str(lack), "hint": lack.hint}
    except (ImportError, MemoryError) as reason:
        answer |= {"status": "unavailable", "error": f"{type(reason).__name__}: {reason}"}
        answer["hint"] = LOADS
    except (Crashed, Hung) as end:
        answer |= {"status": type(end).__name__.lower(), "error": str(end)}
    except Exception as defect:  # noqa: BLE001 - whatever it is, the parent must hear of it
        answer |= {"status": "broken", "error": f"{type(defect).__name__}: {defect}"}
    return answer
