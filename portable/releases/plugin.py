"""PJRT plugins, asked which StableHLO they have: in a child process, without a device.

A vendor's plugin may abort, hang or print when it is loaded without its driver. Whatever it does,
it does it to the child.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from portable.errors import PortableError
from portable.version import InvalidVersion, Version

__all__ = [
    "PluginAnswer",
    "PluginCrashed",
    "PluginError",
    "PluginHung",
    "PluginUnreadable",
    "ask_plugin",
]

_LIMIT_S = 60.0
_SAID_LIMIT = 300
# The description of the C structures is the worker's; it needs the standard library alone and is
# run by its path, so nothing is imported from above. Answers leave on a descriptor of their own,
# since native code prints to standard output.
_DOORS = Path(__file__).parent.parent / "worker"
_CHILD = """
import json, os, resource, sys
answers = os.dup(1)
os.dup2(2, 1)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sys.path.insert(0, sys.argv[1])
from inside.answer import Refused, Unavailable
from inside.plugin_door import load
try:
    answer = load(sys.argv[2], 0).probe({})
except (Refused, Unavailable) as error:
    answer = {"error": str(error)}
os.write(answers, json.dumps(answer).encode())
os._exit(0)  # some plugins crash while they are torn down; the answer is out
"""


class PluginError(PortableError):
    """A PJRT plugin gave no answer."""


class PluginUnreadable(PluginError):
    """It cannot be loaded, is no plugin, or does not say which StableHLO it has."""


class PluginCrashed(PluginError):
    """It killed the process that asked it."""


class PluginHung(PluginError):
    """It did not answer in time."""


@dataclass(frozen=True, slots=True)
class PluginAnswer:
    """What a plugin says about itself.

    Args:
        path: The shared library.
        current: The newest StableHLO Version it reads.
        minimum: The oldest, if it says so.
        pjrt_api: Its version of the PJRT C API.
    """

    path: str
    current: Version
    minimum: Version | None
    pjrt_api: str


def ask_plugin(path: str | os.PathLike[str], *, timeout: float = _LIMIT_S) -> PluginAnswer:
    """Ask a plugin for its attributes (`PJRT_Plugin_Attributes`).

    Args:
        path: The shared library.
        timeout: Wall-clock limit in seconds.

    Returns:
        What it says.

    Raises:
        PluginUnreadable: There is no such file, it cannot be loaded (a missing driver, say), it is
            no plugin, or it does not say its Version.
        PluginCrashed: It killed the child process.
        PluginHung: The time was up.
    """
    where = os.fspath(path)
    if "\0" in where or not Path(where).is_file():
        raise PluginUnreadable("there is no such file", where=where or "''", hint=_HINT)
    answer = _ask(str(Path(where).absolute()), where, timeout)
    if "error" in answer:
        raise PluginUnreadable(str(answer["error"]), where=where, hint=_HINT)
    try:
        minimum = Version.parse(str(answer["minimum"])) if "minimum" in answer else None
        return PluginAnswer(
            where, Version.parse(str(answer["current"])), minimum, str(answer["pjrt_api"])
        )
    except (KeyError, InvalidVersion) as error:
        raise PluginUnreadable(f"its answer makes no sense: {error}", where=where) from error


_HINT = "name the plugin's shared library; vendors' plugins may need their driver to load"


def _ask(path: str, where: str, timeout: float) -> dict[str, object]:
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _CHILD, str(_DOORS), path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that what the plugin starts can be ended with it
    )
    try:
        output, errors = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise PluginHung(
            f"gave no answer in {timeout:g} s", where=where, hint="it may wait for its device"
        ) from None
    finally:
        _end(child)
    said = " ".join(errors.decode("utf-8", "replace").split())[-_SAID_LIMIT:]
    if child.returncode < 0:
        name = signal.Signals(-child.returncode).name
        raise PluginCrashed(
            f"died of {name} when it was asked: {said or 'without a word'}", where=where, hint=_HINT
        )
    try:
        answer = json.loads(output)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise PluginUnreadable(f"gave no answer: {said or 'without a word'}", where=where)
    return answer


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it started that is still there."""
    with contextlib.suppress(ProcessLookupError):  # the whole group has ended by itself
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    # Not communicate(): a process that left the group may hold the pipes open for ever.
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    child.wait()
