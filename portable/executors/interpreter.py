"""The reference interpreter of StableHLO: slow, and the meaning of every op by definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.executors.child import open_child
from portable.executors.executor import Capabilities
from portable.worker import Family

if TYPE_CHECKING:
    from portable.environments import Environment
    from portable.executors.child import ChildExecutor

__all__ = ["NAME", "open_executor"]

NAME = "interpreter"
_CAPABILITIES = Capabilities(platforms=("cpu",), excluded=frozenset({"token"}), dynamic=True)
_HINT = "pip install 'stablehlo-portable[jaxlib]'"


def open_executor(environment: Environment | None, *, limit: float) -> ChildExecutor:
    """Open the Executor; nothing is started before it is used.

    Args:
        environment: The jaxlib whose interpreter it is, 0.4.33 or later; by default the installed
            one.
        limit: Seconds that one compilation or execution may take.

    Returns:
        The Executor.
    """
    return open_child(
        NAME,
        environment,
        family=Family.JAXLIB,
        distributions=("jaxlib",),
        capabilities=_CAPABILITIES,
        hint=_HINT,
        limit=limit,
    )
