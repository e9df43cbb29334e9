"""TensorFlow: the op XlaCallModule, which is how a SavedModel carries an artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.executors.child import open_child
from portable.executors.executor import Capabilities
from portable.worker import Family

if TYPE_CHECKING:
    from portable.executors.child import ChildExecutor
    from portable.executors.executor import Setting

__all__ = ["NAME", "open_executor"]

NAME = "tensorflow"
# TensorFlow has no such dtypes, or keeps four bits in a byte where XLA expects two in it.
_EXCLUDED = frozenset(
    {"token", "i2", "ui2", "i4", "ui4", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN"}
    | {"f8E3M4", "f8E4M3", "f8E8M0FNU"}
)
_CAPABILITIES = Capabilities(platforms=("cpu",), excluded=_EXCLUDED, dynamic=True)
_HINT = "pip install 'stablehlo-portable[tensorflow]'"


def open_executor(setting: Setting) -> ChildExecutor:
    """Open the Executor; nothing is started before it is used.

    Args:
        setting: With the environment of a TensorFlow with its whole wheel, 2.14 or later.

    Returns:
        The Executor.

    Raises:
        PlatformMissing: It does not run on that platform.
    """
    return open_child(
        NAME,
        setting,
        family=Family.TENSORFLOW,
        distributions=("tensorflow",),
        capabilities=_CAPABILITIES,
        hint=_HINT,
    )
