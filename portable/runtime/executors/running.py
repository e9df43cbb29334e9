"""Executors by name, and one call that runs a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from portable.artifact import Artifact
from portable.errors import PortableError
from portable.runtime.environments.recipe import Recipe
from portable.runtime.executors.child import ExecutorKind
from portable.runtime.executors.executor import Capabilities, ExecutorMissing, Setting
from portable.runtime.executors.signature import ordered
from portable.system.arguments import demand_positive
from portable.system.worker import Driver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.artifact import ArtifactLike
    from portable.releases import Release
    from portable.runtime.environments import Environment
    from portable.runtime.executors.executor import Executor
    from portable.runtime.executors.tensors import Array

__all__ = ["EXECUTORS", "UnknownExecutor", "check_executor", "executor_of", "find_executor", "run"]

_CPU = ("cpu",)
_KINDS = (
    # The PJRT client of a jaxlib, for the CPU or of a plugin: XLA as JAX programs meet it. Any
    # jaxlib, 0.4.13 or later.
    ExecutorKind(
        name="pjrt",
        drivers=(Driver("jaxlib"),),
        distributions=("jaxlib",),
        capabilities=Capabilities(("cpu", "cuda", "tpu", "*.so"), devices=8),
        hint="pip install 'stablehlo-portable[jaxlib]'",
    ),
    # StableHLO's reference interpreter: slow, and the meaning of every op by definition. Any
    # jaxlib, 0.4.33 or later, and torch-mlir in an environment of its own.
    ExecutorKind(
        name="interpreter",
        drivers=(Driver("jaxlib"), Driver("torch-mlir")),
        distributions=("jaxlib",),
        capabilities=Capabilities(_CPU),
        hint="pip install 'stablehlo-portable[jaxlib]'",
    ),
    # IREE's compiler and runtime: nothing in it is XLA. Any IREE, 2.9.0 or later. Of some types its
    # Python API has no arrays; what its compiler makes of a program with them is seen all the same.
    ExecutorKind(
        name="iree",
        drivers=(Driver("iree"),),
        distributions=("iree-base-compiler", "iree-base-runtime"),
        capabilities=Capabilities(_CPU),
        hint="pip install 'stablehlo-portable[iree]'",
    ),
    # The op XlaCallModule, which is how a SavedModel carries an artifact. Any TensorFlow with its
    # whole wheel, 2.14 or later. What it has no dtype of, no program of TensorFlow can give it.
    ExecutorKind(
        name="tensorflow",
        drivers=(Driver("tensorflow"),),
        distributions=("tensorflow",),
        capabilities=Capabilities(_CPU, ahead=False),
        hint="pip install 'stablehlo-portable[tensorflow]'",
    ),
    # torch_xla's device, as it runs a saved StableHLOGraphModule. Any torch_xla. It is given
    # no arrays of types that torch has no dtype of, or that its device does not take.
    ExecutorKind(
        name="torch_xla",
        drivers=(Driver("torch-xla"),),
        distributions=("torch-xla", "torch"),
        capabilities=Capabilities(_CPU, ahead=False),
        hint="pip install 'stablehlo-portable[torch_xla]'",
    ),
)
EXECUTORS = {kind.name: kind for kind in _KINDS}
"""Every Executor by its name."""

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
    processes: int = 1,
) -> Executor:
    """Open an Executor.

    Args:
        name: A key of `EXECUTORS`.
        environment: The Release to execute on; by default what is installed here.
        limit: Seconds that one compilation or execution may take.
        memory: Bytes that its process may take; by default three quarters of the machine's.
        platform: `cpu`; PJRT also has `cuda`, `tpu`, and the path of any PJRT plugin. A Release
            that is such a plugin executes on its own.
        processes: Over how many processes a program for several devices is spread, each with its
            share of the devices.

    Returns:
        The Executor; close it, or use it in a `with` statement.

    Raises:
        UnknownExecutor: There is no such Executor.
        PlatformMissing: It does not run on that platform.
        ValueError: The limit, the memory or the number of processes is not above 0.
    """
    for what, value in (("limit", limit), ("memory", memory), ("processes", processes)):
        if value is not None:
            demand_positive(what, value)
    return check_executor(name, platform).open(
        Setting(environment, limit, memory, platform, processes)
    )


def check_executor(
    name: str, platform: str = "cpu", release: Release | None = None
) -> ExecutorKind:
    """Refuse an Executor that cannot be opened, before an environment is made for it.

    Args:
        name: As for `find_executor`.
        platform: As there.
        release: The Release to execute on; by default the installed library.

    Returns:
        What opens it.

    Raises:
        UnknownExecutor: There is no such Executor.
        PlatformMissing: It does not run on that platform.
        ExecutorMissing: The Release has no such Executor.
        UnsupportedDistribution: No environment can be made of the Release.
    """
    if name not in EXECUTORS:
        raise UnknownExecutor(
            f"unknown executor {name!r}", hint=f"known are {', '.join(EXECUTORS)}"
        )
    kind = EXECUTORS[name]
    kind.check(platform)
    if release is None:
        return kind
    recipe = Recipe.of(release, to_execute=True)
    if recipe.driver not in kind.drivers:
        others = [one.name for one in _KINDS if recipe.driver in one.drivers]
        raise ExecutorMissing(
            f"{release} has no {name}",
            hint=f"use {' or '.join(others)}" if others else "it cannot execute programs",
        )
    kind.check(recipe.platform)
    return kind


def executor_of(driver: Driver) -> str:
    """Return the name of the first Executor that executes on Releases with this driver.

    Raises:
        ExecutorMissing: No Executor does.
    """
    for kind in _KINDS:
        if driver in kind.drivers:
            return kind.name
    raise ExecutorMissing(f"no executor for a release that is driven as {driver}")


def run(
    artifact: ArtifactLike,
    inputs: Sequence[Array] | Mapping[str, Array] = (),
    executor: str | Executor = "pjrt",
) -> list[Array]:
    """Execute an artifact in a child process.

    Args:
        artifact: The artifact, its bytes or its path.
        inputs: One array for each argument of `main`, in order or by number.
        executor: The name of an Executor, or an open one, which keeps its process and the program
            that it compiled last.

    Returns:
        One array for each result.

    Raises:
        ExecutorMissing: The Executor's library is not installed; the error says how to install it.
        InputMismatch: The inputs do not match the arguments of `main`.
        ExecutionFailed: The Executor refused the program, crashed or timed out.
        UnknownExecutor: There is no Executor of that name.
        NotAnArtifact: It is something else.
        MalformedArtifact: It is damaged.
        FileError: The path cannot be read.
    """
    artifact = Artifact.of(artifact)
    given = ordered(inputs) if isinstance(inputs, Mapping) else list(inputs)
    if not isinstance(executor, str):
        return executor.compile(artifact).run(given)
    with find_executor(executor) as opened:
        return opened.compile(artifact).run(given)
