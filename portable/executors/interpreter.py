"""The reference interpreter of StableHLO: slow, and the meaning of every op by definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.executors.child import ChildExecutor
from portable.executors.executor import Capabilities
from portable.executors.pjrt import installed_jaxlib
from portable.worker import Family, Worker

if TYPE_CHECKING:
    from portable.environments import Environment

__all__ = ["NAME", "open_executor"]

NAME = "interpreter"
_CAPABILITIES = Capabilities(platforms=("cpu",), excluded=frozenset({"token"}), dynamic=True)
_HINT = "pip install 'stablehlo-portable[jaxlib]'"


def open_executor(environment: Environment | None, *, limit: float) -> ChildExecutor:
    """Open the Executor; nothing is started before it is used.

    Args:
        environment: The jaxlib whose interpreter it is, 0.4.33 or later; by default the installed
            one.
        limit: Seconds that one execution may take.

    Returns:
        The Executor.
    """
    if environment is not None:
        worker = environment.worker(limit=limit)
        return ChildExecutor(NAME, environment.consumer, worker, _CAPABILITIES, _HINT)
    worker = Worker(None, Family.JAXLIB, limit=limit)
    return ChildExecutor(NAME, installed_jaxlib(), worker, _CAPABILITIES, _HINT)
