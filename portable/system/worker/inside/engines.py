"""What a Release can execute programs with."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from .answer import Refused, Unavailable
from .content import given

if TYPE_CHECKING:
    from collections.abc import Callable

    from .answer import Job, Payload

__all__ = ["Engine", "Engines"]

DEFAULT, CPU = "pjrt", "cpu"


class Engine(Protocol):
    """Executes programs, and keeps the one that was compiled last.

    `device` is what it executes on, in the words of the runtime, once a program was compiled.
    """

    device: str

    def compile(self, program: bytes) -> Any:
        """Compile a program: a portable artifact, MLIR bytecode or MLIR text."""
        ...

    def run(self, program: bytes, inputs: list[Any], results: list[Payload]) -> list[Any]:
        """Execute a program on arrays.

        Args:
            program: As for `compile`.
            inputs: One array for each argument of its `main`.
            results: `dtype` and `shape` of each result, with None for sizes that are not known;
                empty where the asker did not say and the engine need not know.
        """
        ...


class Engines:
    """The engines of a Release by name, each made on first use.

    What they need, numpy to begin with, is not there in every environment.

    Args:
        made_by: How to make each, for a platform: the same one in all jobs.
    """

    def __init__(self, made_by: dict[str, Callable[[str], Engine]]) -> None:
        self._made_by = made_by
        self._made: dict[str, Engine] = {}
        self._exchange: Any = None

    def compile(self, job: Job) -> Payload:
        """Compile the program of a job; report the device."""
        engine = self._engine(job)
        try:
            engine.compile(given(job))
        except MemoryError as full:
            raise Refused(f"out of memory: {full}") from None
        return {"device": engine.device}

    def execute(self, job: Job) -> Payload:
        """Execute the program of a job on its inputs."""
        if self._exchange is None:
            self._exchange = importlib.import_module(".tensors", __package__).Exchange()
        inputs = self._exchange.load(job["inputs"])
        try:
            outputs = self._engine(job).run(given(job), inputs, job.get("results", []))
            return {"outputs": self._exchange.save(job["out"], outputs, job.get("over", []))}
        except MemoryError as full:
            raise Refused(f"out of memory: {full}") from None

    def _engine(self, job: Job) -> Engine:
        name = job.get("engine", DEFAULT)
        if name not in self._made_by:
            raise Unavailable(
                f"this release has no {name}", f"it executes by {' or '.join(self._made_by)}"
            )
        spread = job.get("spread")
        key = f"{name} {spread}"
        if key not in self._made:
            made: Any = self._made_by[name](job.get("platform", CPU))
            if spread:
                made.spread(spread)
            self._made[key] = made
        return self._made[key]
