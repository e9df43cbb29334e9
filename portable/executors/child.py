"""Executors whose native code is a Release in a child process: what they share."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import tempfile
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from portable.executors.executor import (
    Capabilities,
    ExecutionFailed,
    ExecutorMissing,
    PlatformMissing,
    Setting,
)
from portable.executors.signature import UnsupportedType, check_inputs, signature
from portable.executors.tensors import dtype_named, stored
from portable.verdict import Stage
from portable.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portable.artifact import Artifact
    from portable.executors.signature import Signature
    from portable.executors.tensors import Array
    from portable.worker import Answer, Family

__all__ = ["ChildExecutor", "Engine"]

# Files here are memory; a container may have little of it.
_SHARED = Path("/dev/shm")  # noqa: S108 - each folder in it is made for its owner alone
_MARGIN_BYTES = 1 << 30
# Smaller outputs are copied: a mapping takes whole pages, and a process has not many.
_MAPPED_BYTES = 1 << 20


class ChildExecutor:
    """Hands programs and arrays to a worker, as files.

    Args:
        engine: Which of the worker's ways to execute.
        release: The Release, as `distribution version`; empty when it is not installed.
        worker: The worker of that Release; this Executor closes it.
        capabilities: What it can run.
        hint: How to install what is missing.
        platform: What it runs on.
    """

    def __init__(
        self,
        engine: str,
        release: str,
        worker: Worker,
        capabilities: Capabilities,
        *,
        hint: str,
        platform: str = "cpu",
    ) -> None:
        self.engine = engine
        self.platform = platform
        self.capabilities = capabilities
        self._release = release
        self._worker = worker
        self._hint = hint
        self._folders = ExitStack()

    @property
    def name(self) -> str:
        """What it is, with its Release: `jaxlib 0.10.2 (pjrt)`."""
        where = "" if self.platform == "cpu" else f" on {self.platform}"
        return f"{self._release or 'nothing'} ({self.engine}{where})"

    def available(self) -> bool:
        """Return whether what it runs on is installed."""
        return bool(self._release)

    def compile(self, artifact: Artifact) -> _ChildExecutable:
        """Compile a program; see `Executor.compile`."""
        if not self.available():
            raise ExecutorMissing(f"nothing to execute on by {self.engine}", hint=self._hint)
        wanted = signature(artifact)
        for tensor in (*wanted.arguments, *wanted.results):
            if tensor.element in self.capabilities.excluded:
                raise UnsupportedType(f"{self.name} cannot take or return {tensor}")
        made = tempfile.TemporaryDirectory(prefix="portable-", dir=_home(wanted))
        folder = Path(self._folders.enter_context(made))
        (folder / "program").write_bytes(artifact.data)
        self.ask({"kind": "compile", "path": str(folder / "program")})
        return _ChildExecutable(self, folder, wanted)

    def ask(self, job: Mapping[str, Any]) -> Answer:
        """Have a job done by the worker; raise ExecutionFailed unless it was."""
        answer = self._worker.ask({"engine": self.engine, "platform": self.platform, **job})
        if not answer.ok:
            raise ExecutionFailed(answer.verdict(self.name, Stage.EXECUTE))
        return answer

    def close(self) -> None:
        """End the child process and remove its files."""
        self._worker.close()
        self._folders.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Engine:
    """A kind of Executor whose native code is a Release in a child process.

    Args:
        name: Which of the worker's ways to execute.
        family: How the Release is driven.
        distributions: What must be installed, first the one that counts as the Release.
        capabilities: What it can run.
        hint: How to install what is missing.
    """

    name: str
    family: Family
    distributions: tuple[str, ...]
    capabilities: Capabilities
    hint: str

    def open(self, setting: Setting) -> ChildExecutor:
        """Open it on a Release in an environment of its own, or on what is installed here.

        Args:
            setting: The environment, the platform and the limits.

        Returns:
            The Executor; nothing is started before it is used.

        Raises:
            PlatformMissing: It does not run on this platform.
        """
        platform, platforms = setting.platform, self.capabilities.platforms
        if not any(fnmatch(platform, pattern) for pattern in platforms):
            raise PlatformMissing(
                f"{self.name} does not run on {platform}", hint=f"it does on {', '.join(platforms)}"
            )
        environment, limit, memory = setting.environment, setting.limit, setting.memory
        if environment is not None:
            release, worker = environment.consumer, environment.worker(limit=limit, memory=memory)
        else:
            release = _installed(self.distributions)
            worker = Worker(None, self.family, limit=limit, memory=memory)
        return ChildExecutor(
            self.name, release, worker, self.capabilities, hint=self.hint, platform=platform
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

    def __init__(self, executor: ChildExecutor, folder: Path, wanted: Signature) -> None:
        self.signature = wanted
        self._executor = executor
        self._folder = folder

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Execute the program; see `Executable.run`."""
        given = []
        for number, array in enumerate(check_inputs(inputs, self.signature)):
            path = self._folder / f"input-{number}.npy"
            _give(path, stored(array))
            given.append({"path": str(path), "dtype": array.dtype.name})
        results = [
            {"dtype": result.dtype.name, "shape": list(result.shape)}
            for result in self.signature.results
        ]
        program, out = str(self._folder / "program"), str(self._folder)
        answer = self._executor.ask(
            {"kind": "execute", "path": program, "inputs": given, "results": results, "out": out}
        )
        return [_taken(told) for told in answer.payload["outputs"]]


def _home(wanted: Signature) -> Path | None:
    """Return where memory is shared, if there is room for the arrays; else None: wherever."""
    size = sum(
        prod(size or 1 for size in tensor.shape) * (tensor.dtype.itemsize if tensor.element else 0)
        for tensor in (*wanted.arguments, *wanted.results)
    )
    with suppress(OSError):
        if os.access(_SHARED, os.W_OK) and shutil.disk_usage(_SHARED).free > size + _MARGIN_BYTES:
            return _SHARED
    return None


def _give(path: Path, array: Array) -> None:
    """Write an input; where the last one was like it, into the same memory."""
    if array.nbytes >= _MAPPED_BYTES and path.exists():
        kept = np.load(path, mmap_mode="r+", allow_pickle=False)
        if (kept.shape, kept.dtype) == (array.shape, array.dtype) and not kept.flags.fnc:
            kept[...] = array
            return
    np.save(path, array, allow_pickle=False)


def _taken(told: Mapping[str, str]) -> Array:
    """Take an output over: a large one is mapped, and its file has no name any more."""
    path = Path(told["path"])
    mode: Literal["c"] | None = "c" if path.stat().st_size >= _MAPPED_BYTES else None
    array = np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False))
    path.unlink()
    return array.view(dtype_named(told["dtype"]))
