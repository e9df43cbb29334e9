"""The loop: one JSON line in, one JSON line out, the native code in between.

Usage: `python -I -c BOOT ROOT FAMILY LIBRARY MEMORY`, see `portable.system.worker.supervisor`.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys

from .answer import KINDS, Adapter, Crashed, Hung, Job, Payload, Refused, Unavailable

__all__ = ["main"]

# The parent kills a worker that is late. This alarm, and the limit of processor time, are for the
# case that the parent is not there: the kernel ends the process even while native code holds the
# interpreter lock.
ORPHAN_GRACE_S = 10.0

LOADS = "check that it loads on this machine"


def main(driver: str, library: str) -> None:
    """Answer jobs until standard input ends.

    Args:
        driver: Which adapter to load: `torch-xla` is driven by `torch_xla_adapter`.
        library: The shared library of the Release, for the drivers that are one file.
    """
    # Native code, and many an import, prints to stdout: from here on that goes to stderr and the
    # answers have a descriptor of their own.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    driven = _Driven(driver, library)
    for line in sys.stdin.buffer:
        job: Job = json.loads(line)
        limit = float(job["limit"])
        _allow(limit)
        signal.setitimer(signal.ITIMER_REAL, limit + ORPHAN_GRACE_S)
        answer = _do(driven, job)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        sys.stdout.flush()
        sys.stderr.flush()
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _allow(seconds: float) -> None:
    """Allow so much more processor time on every core; what was used before counts."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds * (os.cpu_count() or 1)) + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard < 0 else min(most, hard), hard))


class _Driven:
    """The adapter, once a `load` job has loaded it."""

    def __init__(self, driver: str, library: str) -> None:
        self._driver = driver
        self._library = library
        self._adapter: Adapter | None = None

    def do(self, job: Job) -> Payload:
        kind = str(job["kind"])
        if kind == "load":
            name = f".{self._driver.replace('-', '_')}_adapter"
            module = importlib.import_module(name, __package__)
            self._adapter = module.load(self._library, float(job["limit"]))
            return {}
        if self._adapter is None:
            raise Unavailable("nothing is loaded")
        method = getattr(self._adapter, kind, None) if kind in KINDS else None
        if method is None:
            raise Unavailable(f"a release of {self._driver} cannot {kind}")
        answer: Payload = method(job)
        return answer


def _do(driven: _Driven, job: Job) -> Payload:
    answer: Payload = {"id": job["id"], "diagnostics": []}
    try:
        answer |= {"status": "ok", "payload": driven.do(job)}
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
