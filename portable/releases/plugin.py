"""PJRT plugins, queried for their StableHLO Version: in a child process, without a device.

A vendor's plugin may abort, hang or print when it is loaded without its driver. Whatever it does,
it does it to the child.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.system.files import is_file
from portable.system.worker import Driver, Status, Worker, WorkerFailed
from portable.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Mapping

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


class PluginError(PortableError):
    """A PJRT plugin did not answer."""


class PluginUnreadable(PluginError):
    """It cannot be loaded, is no plugin, or does not say which StableHLO it has."""


class PluginCrashed(PluginError):
    """It crashed the process that queried it."""


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
    """Query the attributes of a plugin (`PJRT_Plugin_Attributes`).

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
    if not is_file(where):
        raise PluginUnreadable("no such file", where=where or "''", hint=_HINT)
    answer = _ask(str(Path(where).absolute()), where, timeout)
    if "error" in answer:
        raise PluginUnreadable(str(answer["error"]), where=where, hint=_HINT)
    try:
        minimum = Version.parse(str(answer["minimum"])) if "minimum" in answer else None
        return PluginAnswer(
            where, Version.parse(str(answer["current"])), minimum, str(answer["pjrt_api"])
        )
    except (KeyError, InvalidVersion) as error:
        raise PluginUnreadable(f"invalid answer: {error}", where=where) from error


_HINT = "name the plugin's shared library; vendors' plugins may need their driver to load"


def _ask(path: str, where: str, timeout: float) -> Mapping[str, object]:
    try:
        with Worker(
            None, Driver("plugin"), library=path, limit=timeout, load_limit=timeout
        ) as worker:
            answer = worker.ask({"kind": "probe"})
    except WorkerFailed as failure:
        raise PluginUnreadable(f"no answer: {failure}", where=where) from None
    said = " ".join(answer.stderr.split())[-_SAID_LIMIT:] or "no output"
    if answer.status is Status.HUNG:
        raise PluginHung(answer.error, where=where, hint="it may be waiting for its device")
    if answer.status is Status.CRASHED and answer.error.startswith("SIG"):
        raise PluginCrashed(
            f"crashed with {answer.error} while its attributes were queried: {said}",
            where=where,
            hint=_HINT,
        )
    if answer.status is Status.CRASHED:
        raise PluginUnreadable(f"no answer: {said}", where=where)
    return answer.payload if answer.ok else {"error": answer.error}
