"""Executors by name, and one call that runs a program."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.errors import PortableError
from portable.runtime.executors.executor import ExecutorMissing, Setting
from portable.runtime.executors.signature import ordered

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from portable.releases import Release
    from portable.runtime.environments import Environment
    from portable.runtime.executors.child import ExecutorKind
    from portable.runtime.executors.executor import Executor
    from portable.runtime.executors.tensors import Array

__all__ = ["EXECUTORS", "UnknownExecutor", "check_executor", "find_executor", "run"]

# One module each, with its `ENGINE`.
EXECUTORS = {
    "pjrt": "portable.runtime.executors.pjrt",
    "interpreter": "portable.runtime.executors.interpreter",
    "iree": "portable.runtime.executors.iree",
    "tensorflow": "portable.runtime.executors.tensorflow",
    "torch_xla": "portable.runtime.executors.torch_xla",
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
    return check_executor(name, platform).open(Setting(environment, limit, memory, platform))


def check_executor(
    name: str, platform: str = "cpu", release: Release | None = None
) -> ExecutorKind:
    """Refuse an Executor that cannot be opened, before an environment is made for it.

    Args:
        name: As for `find_executor`.
        platform: As there.
        release: What it is to execute on, if not on what is installed here.

    Returns:
        What opens it.

    Raises:
        UnknownExecutor: There is no such Executor.
        PlatformMissing: It does not run on that platform.
        ExecutorMissing: The Release has no such Executor.
    """
    if name not in EXECUTORS:
        raise UnknownExecutor(f"no executor {name!r}", hint=f"known are {', '.join(EXECUTORS)}")
    engine = _engine(name)
    engine.check(platform)
    if release is not None and release.distribution not in engine.distributions:
        others = [one for one in EXECUTORS if release.distribution in _engine(one).distributions]
        raise ExecutorMissing(
            f"{release} has no {name}",
            hint=f"it executes by {' or '.join(others)}" if others else "it executes nothing",
        )
    return engine


def _engine(name: str) -> ExecutorKind:
    engine: ExecutorKind = importlib.import_module(EXECUTORS[name]).ENGINE
    return engine


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
