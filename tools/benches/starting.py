"""Starting: the command as a process, and a Target by the table."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.benches.figure import ROOT, TARGET, Figure, compare, ratio
from tools.benches.reading import HEADER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["bench_process", "bench_resolve"]


def bench_process() -> Iterator[Figure]:
    """Time `portable inspect` as a process against a bare Python."""
    from portable.system.files import write_file

    example = ROOT / "docs" / "examples" / "encoder.mlir"
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.mlir.bc"
        if importlib.util.find_spec("jaxlib"):
            from portable.pin import serialize

            serialize(example, TARGET).save(path)
        else:
            write_file(path, HEADER)
        # An installed package has its modules compiled; a checkout gets there in the first round.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "env": environment}

        def run(*words: str) -> Callable[[], Callable[[], object]]:
            return lambda: lambda: subprocess.run([sys.executable, *words], check=True, **quiet)

        # The command as pip and uv install it; `python -m` adds what importing `runpy` takes.
        command = str(Path(sys.executable).with_name("portable"))
        base, inspect = compare(run("-c", "pass"), run(command, "inspect", path), rounds=40)
        yield ratio("portable inspect / python -c pass", 2.5, inspect, base)
        resolve = "import portable; portable.resolve_target('jaxlib>=0.5')"
        yield Figure(
            "resolve_target as a process", compare(run("-c", resolve), rounds=20)[0] * 1e3, 60, "ms"
        )


def bench_resolve() -> Iterator[Figure]:
    """Time `resolve_target` after import."""
    import portable

    portable.resolve_target("jaxlib>=0.5")
    best = compare(lambda: lambda: portable.resolve_target("jaxlib>=0.5,<0.11", "180d"), rounds=50)[
        0
    ]
    yield Figure("resolve_target after import", best * 1e3, 1, "ms")
