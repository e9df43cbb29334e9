"""Executors by name, and one call that runs a program."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.errors import PortableError
from portable.executors.executor import Setting
from portable.executors.signature import ordered

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from portable.environments import Environment
    from portable.executors.executor import Executor
    from portable.executors.tensors import Array

__all__ = ["EXECUTORS", "UnknownExecutor", "find_executor", "run"]

# One module each, with its `ENGINE`.
EXECUTORS = {
    "pjrt": "portable.executors.pjrt",
    "interpreter": "portable.executors.interpreter",
    "iree": "portable.executors.iree",
    "tensorflow": "portable.executors.tensorflow",
    "torch_xla": "portable.executors.torch_xla",
}
LIMIT_S = 300.0


class UnknownExecutor(PortableError):
    """There is no Executor of this name."""


def find_executor(
    name: str,
    environment: Environment | None = None,
    *,
    limit: float = LIMIT_S,
    memory: int | None = None,
    platform: str = "cpu",
) -> Executor:
    """Open an Executor.

    Args:
        name: A key of `EXECUTORS`.
        environment: The Release to execute on; by default what is installed here.
        limit: Seconds that one compilation or execution may take.
        memory: Bytes that its process may take; by default three quarters of the machine's.
        platform: `cpu`; PJRT also has `cuda`, `tpu`, and the path of any PJRT plugin.

    Returns:
        The Executor; close it, or use it in a `with` statement.

    Raises:
        UnknownExecutor: There is no such Executor.
        PlatformMissing: It does not run on that platform.
    """
    home = EXECUTORS.get(name)
    if home is None:
        raise UnknownExecutor(f"no executor {name!r}", hint=f"known are {', '.join(EXECUTORS)}")
    setting = Setting(environment, limit, memory, platform)
    opened: Executor = importlib.import_module(home).ENGINE.open(setting)
    return opened


def run(
    artifact: Artifact | bytes | str | os.PathLike[str],
    inputs: Sequence[Array] | Mapping[str, Array] = (),
    executor: str | Executor = "pjrt",
) -> list[Array]:
    """Execute an artifact in a child process.

    Args:
        artifact: The artifact, its bytes or its path.
        inputs: One array for each argument of `main`, in order or by number.
        executor: The name of an Executor, or an open one to be used again: it keeps its process
            and the program it compiled last.

    Returns:
        One array for each result.

    Raises:
        ExecutorMissing: What the Executor runs on is not installed; says how to install it.
        InputMismatch: The inputs are not what `main` takes.
        ExecutionFailed: The Executor refused the program, crashed or hung.
        NotAnArtifact: The bytes are something else.
    """
    if isinstance(artifact, (bytes, bytearray, memoryview)):
        artifact = Artifact.from_bytes(bytes(artifact))
    elif not isinstance(artifact, Artifact):
        artifact = Artifact.load(artifact)
    given = ordered(inputs) if isinstance(inputs, Mapping) else list(inputs)
    if not isinstance(executor, str):
        return executor.compile(artifact).run(given)
    with find_executor(executor) as opened:
        return opened.compile(artifact).run(given)
