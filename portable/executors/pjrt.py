"""The PJRT client of a jaxlib, on the CPU: XLA as JAX programs meet it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from typing import TYPE_CHECKING

from portable.executors.child import ChildExecutor
from portable.executors.executor import Capabilities
from portable.worker import Family, Worker

if TYPE_CHECKING:
    from portable.environments import Environment

__all__ = ["NAME", "installed_jaxlib", "open_executor"]

NAME = "pjrt"
_CAPABILITIES = Capabilities(platforms=("cpu",), excluded=frozenset({"token"}), dynamic=False)
_HINT = "pip install 'stablehlo-portable[jaxlib]'"


def open_executor(environment: Environment | None, *, limit: float) -> ChildExecutor:
    """Open the Executor; nothing is started before it is used.

    Args:
        environment: The jaxlib to execute on, 0.4.13 or later; by default the installed one.
        limit: Seconds that one compilation or execution may take.

    Returns:
        The Executor.
    """
    if environment is not None:
        worker = environment.worker(limit=limit)
        return ChildExecutor(NAME, environment.consumer, worker, _CAPABILITIES, _HINT)
    worker = Worker(None, Family.JAXLIB, limit=limit)
    return ChildExecutor(NAME, installed_jaxlib(), worker, _CAPABILITIES, _HINT)


def installed_jaxlib() -> str:
    """Return the installed jaxlib as `jaxlib 0.10.2`; empty when there is none."""
    if importlib.util.find_spec("jaxlib") is None:
        return ""
    return f"jaxlib {importlib.metadata.version('jaxlib')}"
