"""Containers with large weights: memory and size of what is rewritten."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tools.benches.figure import ROOT, Figure

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["bench_containers"]

_WEIGHTS = 1 << 30
_REPLACE = """
import re, sys
from portable.containers import open_container
container = open_container(sys.argv[1])
name = container.artifacts()[0].name
container.replace({name: bytes(container.artifacts()[0])}, to=sys.argv[2])
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""
_PIN = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-I", "-m", "portable", "pin", *sys.argv[1:]], check=True, stdout=2)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def bench_containers() -> Iterator[Figure]:
    """Rewrite containers with 1 GB of weights."""
    small = {
        "torch_xla directory": ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container",
        "SavedModel": _CONTAINERS / "graph-tensorflow-2.20.0",
        "Exported": _CONTAINERS / "gate-vjp2-jax-0.10.2.exported",
    }
    weights = {"torch_xla directory": "data/large", "SavedModel": "variables/large"}
    with tempfile.TemporaryDirectory() as folder:
        for kind, original in small.items():
            path, copy = Path(folder, "original"), Path(folder, "copy")
            if original.is_dir():
                shutil.copytree(original, path)
                path.joinpath(weights[kind]).parent.mkdir(exist_ok=True)
                with path.joinpath(weights[kind]).open("wb") as stream:
                    stream.truncate(_WEIGHTS)
            else:
                _large_exported(original, path)
            peak = _peak(_REPLACE, path, copy)
            yield Figure(f"memory to rewrite {kind} with 1 GB", peak, 64, "MB")
            yield Figure(f"size of that copy / {kind}", _size(copy) / _size(path), 1.01)
            _remove(copy)
            if kind == "torch_xla directory" and importlib.util.find_spec("jaxlib"):
                words = "--target", "0.9.0", "-o"
                heavy = _peak(_PIN, path, *words, copy)
                light = _peak(_PIN, original, *words, Path(folder, "light"))
                detail = f"{heavy:.0f} MB against {light:.0f} MB"
                yield Figure("memory to pin with 1 GB / without", heavy / light, 1.1, detail=detail)
                _remove(copy)
            _remove(path)


_CONTAINERS = ROOT / "compat_tests" / "data" / "containers"


def _peak(code: str, *words: str | Path) -> float:
    """Run a program that prints kilobytes; return megabytes."""
    command = [sys.executable, "-I", "-c", code, *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout) / 1024


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _large_exported(original: Path, to: Path) -> None:
    """Give the derivative an artifact of 1 GB, which only begins as one."""
    from portable.bytecode import MAGIC
    from portable.containers import open_container

    container = open_container(original)
    container.replace({"vjp": MAGIC + bytes(5_000_000)}, to=to)
    data = to.read_bytes()
    at = data.rindex(MAGIC + bytes(16)) - 4
    with to.open("r+b") as stream:
        stream.seek(at)
        stream.write(_WEIGHTS.to_bytes(4, "little"))
        stream.truncate(at + 4 + _WEIGHTS)
