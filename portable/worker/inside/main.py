"""The loop: one JSON line in, one JSON line out, the native code in between.

Usage: `python -I -c BOOT ROOT FAMILY [LIBRARY]`, see `portable.worker.supervisor`.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
from typing import Any

from .answer import Crashed, Door, Hung, Job, Payload, Refused, Unavailable

__all__ = ["main"]

# The parent kills a worker that is late. This alarm is for the case that the parent is gone: the
# kernel ends the process even while native code holds the interpreter lock.
ORPHAN_GRACE_S = 10.0

FAMILIES = {
    "jaxlib": "jaxlib_door",
    "tensorflow": "tensorflow_door",
    "torch-mlir": "torch_mlir_door",
    "iree": "iree_door",
    "plugin": "plugin_door",
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
    door: Door = importlib.import_module(f".{FAMILIES[family]}", __package__).open_door(library)
    for line in sys.stdin.buffer:
        job: Job = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, float(job["limit"]) + ORPHAN_GRACE_S)
        answer = _do(door, job)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        sys.stdout.flush()
        sys.stderr.flush()
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _do(door: Door, job: Job) -> Payload:
    answer: Payload = {"id": job["id"], "diagnostics": []}
    try:
        answer |= {"status": "ok", "payload": _method(door, str(job["kind"]))(job)}
    except Refused as refusal:
        answer |= {"status": "refused", "error": str(refusal)}
        answer["diagnostics"] = refusal.diagnostics
    except (Unavailable, ImportError, MemoryError) as reason:
        answer |= {"status": "unavailable", "error": f"{type(reason).__name__}: {reason}"}
    except (Crashed, Hung) as end:
        answer |= {"status": type(end).__name__.lower(), "error": str(end)}
    except Exception as defect:  # noqa: BLE001 - whatever it is, the parent must hear of it
        answer |= {"status": "broken", "error": f"{type(defect).__name__}: {defect}"}
    return answer


def _method(door: Door, kind: str) -> Any:
    method = getattr(door, kind, None) if kind.isidentifier() and kind[0] != "_" else None
    if method is None:
        raise Unavailable(f"this family cannot {kind}")
    return method
