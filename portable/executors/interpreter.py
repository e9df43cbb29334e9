"""The reference interpreter of StableHLO: slow, and the meaning of every op by definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.executors.child import open_child
from portable.executors.executor import Capabilities
from portable.worker import Family

if TYPE_CHECKING:
    from portable.executors.child import ChildExecutor
    from portable.executors.executor import Setting

__all__ = ["NAME", "open_executor"]

NAME = "interpreter"
_CAPABILITIES = Capabilities(platforms=("cpu",), excluded=frozenset({"token"}), dynamic=True)
_HINT = "pip install 'stablehlo-portable[jaxlib]'"


def open_executor(setting: Setting) -> ChildExecutor:
    """Open the Executor; nothing is started before it is used.

    Args:
        setting: With the environment of a jaxlib, 0.4.33 or later.

    Returns:
        The Executor.

    Raises:
        PlatformMissing: It does not run on that platform.
    """
    return open_child(
        NAME,
        setting,
        family=Family.JAXLIB,
        distributions=("jaxlib",),
        capabilities=_CAPABILITIES,
        hint=_HINT,
    )
