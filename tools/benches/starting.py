"""Starting: the command as a process, and a Target by the table."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools.benches.figure import ROOT, Figure, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["bench_process", "bench_resolve"]


# Milliseconds of CPU that the short commands may take as a process on an idle machine.
BUDGETS = {
    "inspect {artifact}": 70,
    "check {artifact} --for jaxlib>=0.5": 110,
    "target --for jaxlib>=0.5": 110,
}


def bench_process() -> Iterator[Figure]:
    """Measure the CPU time of the short commands as processes, as pip and uv install them."""
    artifact = ROOT / "compat_tests" / "data" / "artifacts" / "mesh_inline+1.16.0.mlir.bc"
    # An installed package has its modules compiled; a checkout gets there in the first round.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = str(Path(sys.executable).with_name("portable"))

    def run(words: list[str]) -> Callable[[], Callable[[], object]]:
        def call() -> None:
            status = subprocess.call(words, stdout=subprocess.DEVNULL, env=environment)
            if status > 1:  # 1 says that a consumer does not read it
                raise RuntimeError(f"{words} ended with {status}")

        return lambda: call

    nothing = [sys.executable, "-I", "-c", "pass"]
    ours = [[command, *line.format(artifact=artifact).split()] for line in BUDGETS]
    bare, *taken = compare(*map(run, (nothing, *ours)), rounds=20, clock=_children_cpu)
    for line, budget, seconds in zip(BUDGETS, BUDGETS.values(), taken, strict=True):
        name = f"CPU of portable {line.format(artifact='F')}"
        yield Figure(name, seconds * 1e3, budget, "ms", detail=f"{seconds / bare:.1f}x python")


def _children_cpu() -> float:
    """Return the CPU time of all children that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bench_resolve() -> Iterator[Figure]:
    """Time `resolve_target` after import."""
    import portable

    portable.resolve_target("jaxlib>=0.5")
    best = compare(lambda: lambda: portable.resolve_target("jaxlib>=0.5,<0.11", "180d"), rounds=50)[
        0
    ]
    yield Figure("resolve_target after import", best * 1e3, 1, "ms")
