"""A Release that does what the artifact in front of it says: crash, hang, print, refuse.

A module that looks like TensorFlow's extension to the adapter. The real adapter, loop and
supervisor run it, in a real environment; only the native code is pretended.
"""

from __future__ import annotations

import sys
from pathlib import Path

from portable.releases import find_release
from portable.runtime.environments import Environment, Environments, Recipe
from portable.runtime.environments.cache import _mark

__all__ = ["RELEASE", "environments", "library"]

RELEASE = find_release("tensorflow 2.18.1")
_SOURCE = """
import os, resource, signal, sys, tempfile, time

poisoned = False

def get_current_version(): return "1.7.3"
def get_minimum_version(): return "0.9.0"
def get_api_version(): return 9

def deserialize_portable_artifact_str(artifact):
    global poisoned
    what = bytes(artifact).decode()
    if poisoned: os.abort()
    poisoned = what == "poison"
    if what == "abort": os.abort()
    if what == "segfault": os.kill(os.getpid(), signal.SIGSEGV)
    if what == "exit": os._exit(3)
    if what == "hang": time.sleep(1000)
    if what == "deaf":
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
        time.sleep(1000)
    if what == "limits":
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = resource.getrlimit(resource.RLIMIT_CPU)[0] - used.ru_utime - used.ru_stime
        return b"%d %d" % (most, resource.getrlimit(resource.RLIMIT_DATA)[0])
    if what == "spend":
        end = time.process_time() + 1.2
        while time.process_time() < end: pass
    if what == "grow":
        kept = []
        while True: kept.append(bytes(1 << 24))
    if what.startswith("busy "):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        with open(what[5:], "w") as told: told.write(str(os.getpid()))
        while True: pass
    if what == "print":
        print("garbage" * 10000)
        os.write(1, b"{}\\n" * 1000)
    if what.startswith("answer"):
        said = b'{"id": 0, "status": "ok", "payload": {}, "diagnostics": []}'
        for descriptor in range(3, 20):
            try: os.write(descriptor, (b"not json" if what == "answer-itself" else said) + b"\\n")
            except OSError: pass
        time.sleep(1000)
    if what == "full":
        try:
            tempfile.TemporaryFile().truncate(1 << 40)
        except OSError as full: raise SystemError(full.strerror)
    if what == "flood":
        try:
            while True: os.write(2, b"noise" * 100000)
        except OSError as full: raise SystemError(full.strerror)
    if what == "refuse":
        os.write(2, b'loc("-":1:73): error: custom op \\'x.y\\' is unknown\\n')
        raise SystemError("returned a result with an exception set")
    if what == "defect": raise KeyError("a bug")
    if what == "big": return b"x" * 3_000_000
    return b"module " + bytes(artifact)

def serialize_portable_artifact_str(module, target):
    return b"artifact for " + target.encode()
"""


def library(folder: Path) -> Path:
    """Write the extension."""
    path = folder / "stablehlo_extension.py"
    path.write_text(_SOURCE, encoding="utf-8")
    return path


def environments(folder: Path) -> Environments:
    """Make a folder of environments in which `RELEASE` misbehaves."""
    recipe = Recipe.of(RELEASE)
    home = folder / recipe.name
    home.mkdir(parents=True)
    _mark(Environment(recipe, home, Path(sys.executable), library(home)))
    return Environments(folder, offline=True)
