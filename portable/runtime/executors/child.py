"""Executors whose native code is a Release in a child process: what they share."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import weakref
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from portable.artifact import Artifact
from portable.errors import PortableError
from portable.runtime.executors.executor import (
    Capabilities,
    ExecutionFailed,
    ExecutorMissing,
    PlatformMissing,
    Setting,
)
from portable.runtime.executors.signature import check_inputs, signature
from portable.runtime.executors.tensors import dtype_named, load_array, stored
from portable.system import scratch
from portable.system.files import is_file
from portable.system.worker import Worker
from portable.system.worker.inside.mapped import MAPPED_BYTES, MappedFiles
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portable.artifact import ArtifactLike
    from portable.runtime.executors.signature import Signature
    from portable.runtime.executors.tensors import Array
    from portable.system.worker import Answer, Driver

__all__ = ["ChildExecutor", "ExecutorKind"]

# Files here are memory; a container may have little of it.
_SHARED = Path("/dev/shm")  # noqa: S108 - each folder in it is made for its owner alone
_MARGIN_BYTES = 1 << 30
# What a Release executes on that says nothing else.
_CPU = "cpu"


class UnevenProcesses(PortableError):
    """The devices of a program cannot be shared out evenly."""


class ChildExecutor:
    """Hands programs and arrays to a worker, as files.

    Args:
        engine: Which of the worker's ways to execute.
        release: The Release, as `distribution version`; empty when it is not installed.
        worker: The worker of that Release; this Executor closes it.
        capabilities: What it can run.
        hint: How to install what is missing.
        platform: What it runs on.
        processes: Over how many processes a program for several devices is spread.
    """

    def __init__(
        self,
        engine: str,
        release: str,
        worker: Worker,
        capabilities: Capabilities,
        *,
        hint: str,
        platform: str = _CPU,
        processes: int = 1,
    ) -> None:
        self.engine = engine
        self._processes = processes
        self.platform = platform
        self.capabilities = capabilities
        self._release = release
        self._worker = worker
        self._hint = hint
        self._folders: list[weakref.finalize[..., _ChildExecutable]] = []
        self._last: _ChildExecutable | None = None

    @property
    def name(self) -> str:
        """Its name and Release: `jaxlib 0.10.2 (pjrt)`."""
        where = "" if self.platform == _CPU else f" on {self.platform}"
        return f"{self._release or 'nothing'} ({self.engine}{where})"

    def available(self) -> bool:
        """Return whether its library is installed."""
        return bool(self._release)

    def compile(self, artifact: ArtifactLike) -> _ChildExecutable:
        """Compile a program, unless it was the last one; see `Executor.compile`."""
        artifact = Artifact.of(artifact)
        if self._last is not None and self._last.program == artifact.data:
            return self._last
        if not self.available():
            raise ExecutorMissing(f"no executor for {self.engine}", hint=self._hint)
        wanted = signature(artifact)
        self._last = None
        handle, made = scratch.make_folder(_home(wanted))
        executable = _ChildExecutable(self, artifact.data, Path(made), wanted)
        # Many programs on one Executor: what an earlier one was given goes with it.
        self._folders.append(weakref.finalize(executable, scratch.remove_folder, handle, made))
        Path(executable.path).write_bytes(artifact.data)
        told = self.ask({"kind": "compile", "path": executable.path, **executable.spread})
        executable.device = str(told.payload["device"])
        self._last = executable
        return executable

    def spread(self, wanted: Signature) -> dict[str, Any]:
        """Return what a job says of a program for several devices that are there; else nothing."""
        counts = sorted((wanted.replicas, wanted.partitions))
        if self.platform != _CPU or counts[0] > 1 or not 1 < counts[1] <= self.capabilities.devices:
            return {}
        if counts[1] % self._processes:
            raise UnevenProcesses(
                f"{counts[1]} devices do not divide into {self._processes} processes"
            )
        told = {"replicas": wanted.replicas, "partitions": wanted.partitions}
        if self._processes > 1:
            told["processes"] = self._processes
        return {"spread": told | {"shardy": wanted.shardy}}

    def ask(self, job: Mapping[str, Any]) -> Answer:
        """Have a job done by the worker; raise ExecutionFailed unless it was."""
        answer = self._worker.ask({"engine": self.engine, "platform": self.platform, **job})
        if not answer.ok:
            stage = Stage.COMPILE if job["kind"] == "compile" else Stage.EXECUTE
            raise ExecutionFailed(answer.verdict(self.name, stage), str(job["kind"]))
        return answer

    def close(self) -> None:
        """End the child process and remove its files."""
        self._worker.close()
        self._last = None
        for remove in self._folders:
            remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class ExecutorKind:
    """A kind of Executor whose native code is a Release in a child process.

    Args:
        name: Which of the worker's ways to execute.
        drivers: How the Releases are driven that have it, first what is installed here.
        distributions: What must be installed here, first the one that counts as the Release.
        capabilities: What it can run.
        hint: How to install what is missing.
    """

    name: str
    drivers: tuple[Driver, ...]
    distributions: tuple[str, ...]
    capabilities: Capabilities
    hint: str

    def check(self, platform: str) -> None:
        """Refuse a platform that it does not run on.

        Args:
            platform: Its name, or the path of a PJRT plugin.

        Raises:
            PlatformMissing: It does not run there, or there is no such plugin.
        """
        platforms = self.capabilities.platforms
        if not any(fnmatch(platform, pattern) for pattern in platforms):
            raise PlatformMissing(
                f"{self.name} does not run on {platform}", hint=f"it runs on {', '.join(platforms)}"
            )
        if platform.endswith(".so") and not is_file(platform):
            raise PlatformMissing("no such PJRT plugin", where=platform)

    def open(self, setting: Setting) -> ChildExecutor:
        """Open it on a Release in an environment of its own, or on what is installed here.

        Args:
            setting: The environment, the platform and the limits.

        Returns:
            The Executor; nothing is started before it is used.

        Raises:
            PlatformMissing: It does not run on this platform.
        """
        environment, limit, memory = setting.environment, setting.limit, setting.memory
        platform = setting.platform
        if environment is not None and environment.recipe.platform != _CPU:
            platform = environment.recipe.platform
        self.check(platform)
        if environment is not None:
            release, worker = environment.consumer, environment.worker(limit=limit, memory=memory)
        else:
            release = _installed(self.distributions)
            worker = Worker(None, self.drivers[0], limit=limit, memory=memory)
        return ChildExecutor(
            self.name,
            release,
            worker,
            self.capabilities,
            hint=self.hint,
            platform=platform,
            processes=setting.processes,
        )


def _installed(distributions: Sequence[str]) -> str:
    """Return the first distribution with its version; empty unless all are installed."""
    try:
        versions = [importlib.metadata.version(name) for name in distributions]
    except importlib.metadata.PackageNotFoundError:
        return ""
    return f"{distributions[0]} {versions[0]}"


class _ChildExecutable:
    """A program that the worker has compiled, or compiles again after a crash."""

    def __init__(
        self, executor: ChildExecutor, program: bytes, folder: Path, wanted: Signature
    ) -> None:
        self.signature = wanted
        self.device = ""
        self.spread = executor.spread(wanted)
        self.program = program
        self.path = str(folder / "program")
        self._executor = executor
        self._folder = folder
        self._inputs = MappedFiles()
        self._lent: dict[int, weakref.ref[Any]] = {}

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Execute the program; see `Executable.run`."""
        given = []
        for number, array in enumerate(check_inputs(inputs, self.signature)):
            path = str(self._folder / f"input-{number}.npy")
            self._inputs.write(path, stored(array))
            given.append({"path": path, "dtype": array.dtype.name})
        results = [
            {"dtype": result.dtype.name, "shape": list(result.shape)}
            for result in self.signature.results
        ]
        job = {"kind": "execute", "path": self.path, "inputs": given, "results": results}
        job |= self.spread
        back = [number for number, lent in self._lent.items() if lent() is None]
        answer = self._executor.ask({**job, "out": str(self._folder), "over": back})
        return [self._taken(number, told) for number, told in enumerate(answer.payload["outputs"])]

    def _taken(self, number: int, told: Mapping[str, str]) -> Array:
        """Take an output over: a large one is mapped, until it is no longer referenced."""
        if Path(told["path"]).stat().st_size < MAPPED_BYTES:
            array = load_array(Path(told["path"]))
        else:
            array = load_array(Path(told["path"]), mapped=True)
            self._lent[number] = weakref.ref(array.base)
        return np.asarray(array).view(dtype_named(told["dtype"]))


def _home(wanted: Signature) -> str | None:
    """Return where memory is shared, if there is room for the arrays; else None: wherever."""
    size = sum(
        prod(size or 1 for size in tensor.shape) * (tensor.dtype.itemsize if tensor.element else 0)
        for tensor in (*wanted.arguments, *wanted.results)
    )
    with suppress(OSError):
        if os.access(_SHARED, os.W_OK) and shutil.disk_usage(_SHARED).free > size + _MARGIN_BYTES:
            return str(_SHARED)
    return None
