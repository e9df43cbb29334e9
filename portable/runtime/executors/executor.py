"""What every Executor offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from portable.errors import PortableError
from portable.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.artifact import ArtifactLike
    from portable.runtime.environments import Environment
    from portable.runtime.executors.signature import Signature
    from portable.runtime.executors.tensors import Array
    from portable.verdict import Verdict

__all__ = [
    "Capabilities",
    "Executable",
    "ExecutionFailed",
    "Executor",
    "ExecutorMissing",
    "PlatformMissing",
    "Setting",
    "failure",
]


class ExecutorMissing(PortableError):
    """The library of the Executor is not installed."""


class PlatformMissing(PortableError):
    """The Executor does not run on this platform."""


class ExecutionFailed(PortableError):
    """A program was not compiled or not executed; `verdict` says how it ended."""

    def __init__(self, verdict: Verdict, doing: str = "execute") -> None:
        super().__init__(f"{verdict.consumer}: {failure(verdict, doing)}")
        self.verdict = verdict

    def record(self) -> dict[str, object]:
        """Return the fields as plain data, the Verdict among them."""
        return super().record() | {"verdict": self.verdict.record()}


def failure(verdict: Verdict, doing: str = "execute") -> str:
    """Return how an Executor failed, in words.

    Args:
        verdict: How it ended.
        doing: The step that failed: `compile` or `execute`.

    Returns:
        For example `timed out after 30 s while executing`.
    """
    return _FAILURES[verdict.outcome].format(verdict.reason, do=doing, doing=_DOING[doing])


_DOING = {"compile": "compiling", "execute": "executing"}
_FAILURES = {
    Outcome.INCOMPATIBLE: "refused to {do}: {}",
    Outcome.CRASHED: "crashed with {} while {doing}",
    Outcome.HUNG: "{} while {doing}",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """Where an Executor runs, and what it may take.

    Args:
        environment: The Release to execute on; None for what is installed here.
        limit: Seconds that one compilation or execution may take.
        memory: Bytes that its process may take; None for three quarters of the machine's.
        platform: `cpu`; PJRT also has `cuda`, `tpu`, and the path of any PJRT plugin.
        processes: Over how many processes the devices of the CPU are spread.
    """

    environment: Environment | None
    limit: float
    memory: int | None = None
    platform: str = "cpu"
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The programs that an Executor can run.

    Args:
        platforms: Its platforms, for example `cpu`; `*.so` stands for any PJRT plugin.
        devices: The most devices of the CPU that it runs one program on.
        ahead: Whether it compiles before it executes; what others refuse is seen when they execute.
    """

    platforms: tuple[str, ...]
    devices: int = 1
    ahead: bool = True


class Executable(Protocol):
    """A program that an Executor has compiled."""

    @property
    def signature(self) -> Signature:
        """The arguments and results of its `main`."""
        ...

    @property
    def device(self) -> str:
        """Its device, as the runtime names it: `NVIDIA H100 80GB HBM3`."""
        ...

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Execute the program.

        Args:
            inputs: One array for each argument of `main`; never changed.

        Returns:
            One array for each result.

        Raises:
            InputMismatch: The inputs are not what `main` takes.
            ExecutionFailed: The Executor refused, crashed or hung.
        """
        ...


class Executor(Protocol):
    """Runs programs. Whatever is native in it runs in a child process."""

    @property
    def name(self) -> str:
        """Its name and Release: `jaxlib 0.10.2 (pjrt)`."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can run."""
        ...

    def available(self) -> bool:
        """Return whether its library is installed."""
        ...

    def compile(self, artifact: ArtifactLike) -> Executable:
        """Compile a program.

        Args:
            artifact: The program.

        Returns:
            An executable, valid as long as the Executor is open.

        Raises:
            ExecutorMissing: What it runs on is not installed.
            NoMain: The program has no `main`.
            ExecutionFailed: The Executor refused, crashed or hung.
        """
        ...

    def close(self) -> None:
        """End the child process and remove its files."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
