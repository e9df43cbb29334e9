"""torch_xla: it reads an artifact only to run it, on its XLA device."""

from __future__ import annotations

import importlib
import importlib.metadata
from typing import TYPE_CHECKING

from .engines import Engines

if TYPE_CHECKING:
    from .answer import Job, Payload
    from .engines import Engine

__all__ = ["load"]


class TorchXlaAdapter:
    """One torch_xla with its torch."""

    def __init__(self) -> None:
        self._engines = Engines({"torch_xla": _engine})

    def probe(self, job: Job) -> Payload:
        """Report the version of torch; torch_xla does not say which StableHLO it has."""
        del job
        return {"torch": importlib.metadata.version("torch")}

    def compile(self, job: Job) -> Payload:
        """Take a program."""
        return self._engines.compile(job)

    def execute(self, job: Job) -> Payload:
        """Execute a program on inputs."""
        return self._engines.execute(job)


def load(library: str, limit: float) -> TorchXlaAdapter:
    """Import torch_xla.

    Returns:
        The adapter.
    """
    del library, limit
    importlib.import_module("torch_xla")
    return TorchXlaAdapter()


def _engine(_platform: str) -> Engine:
    made: Engine = importlib.import_module(".torch_xla_device", __package__).TorchXlaDevice()
    return made
