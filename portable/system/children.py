"""Run one function in a child process: what native code does there, it does to the child alone.

A crash or a hang becomes an exception with what the child said on file descriptor 2; the calling
process lives on.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["ChildCrashed", "ChildFailed", "ChildHung", "call"]

_SAID_LIMIT = 2000


class ChildFailed(PortableError):
    """The child process ended without an answer."""

    def __init__(self, what: str, *, said: str = "", hint: str | None = None) -> None:
        super().__init__(what, hint=hint)
        self.said = said

    def record(self) -> dict[str, object]:
        """Return the fields as plain data, with what the child said before it ended."""
        return super().record() | {"said": self.said}


class ChildCrashed(ChildFailed):
    """Native code killed the child process."""


class ChildHung(ChildFailed):
    """The child process did not answer within its time limit."""


def call(
    function: Callable[..., Any], *arguments: object, timeout: float, **keywords: object
) -> Any:
    """Call a module-level function in a child process.

    Args:
        function: Importable by its module and name.
        arguments: Picklable.
        timeout: Wall-clock limit in seconds.
        keywords: Picklable.

    Returns:
        What the function returned.

    Raises:
        PortableError: The function raised it.
        ChildCrashed: The process was killed by a signal.
        ChildHung: The time was up.
        ChildFailed: The process ended in any other way.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    try:
        done = subprocess.run(
            [sys.executable, "-c", "from portable.system.children import _serve; _serve()"],
            input=pickle.dumps((sys.path, function, arguments, keywords)),
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ChildHung(
            f"{name} gave no answer in {timeout:g} s", said=_said(error.stderr or b"")
        ) from None
    said = _said(done.stderr)
    if done.returncode < 0:
        raise ChildCrashed(f"{name} died of {_signal(-done.returncode)}", said=said)
    if done.returncode:
        last = said.splitlines()[-1] if said else f"exit status {done.returncode}"
        raise ChildFailed(f"{name} failed: {last}", said=said)
    # The answer comes from our own code in the child, over a pipe that nothing else writes to.
    succeeded, value = pickle.loads(done.stdout)  # noqa: S301 - see the line above
    if not succeeded:
        raise value
    return value


def _serve() -> None:
    """Answer one request: the child's side."""
    # Whatever prints to standard output, from Python or from native code, goes to descriptor 2.
    answer = os.dup(1)
    os.dup2(2, 1)
    _no_core_dump()
    requested = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by `call`
    path, function, arguments, keywords = requested
    sys.path[:] = path
    try:
        outcome = (True, function(*arguments, **keywords))
    except PortableError as error:
        outcome = (False, error)
    with os.fdopen(answer, "wb") as stream:
        stream.write(pickle.dumps(outcome))
        stream.flush()
    # Native libraries may crash while they are torn down; the answer is out.
    os._exit(0)


def _no_core_dump() -> None:
    import resource  # noqa: PLC0415 - the child alone needs it

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _said(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip()[-_SAID_LIMIT:]
