"""torch_xla: its XLA device on the CPU, as it runs a saved StableHLOGraphModule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.executors.child import open_child
from portable.executors.executor import Capabilities
from portable.worker import Family

if TYPE_CHECKING:
    from portable.executors.child import ChildExecutor
    from portable.executors.executor import Setting

__all__ = ["NAME", "open_executor"]

NAME = "torch_xla"
# torch has no such dtypes, or its device does not take them; of complex<f64> it loses the
# imaginary part on the way to the device.
_EXCLUDED = frozenset(
    {"token", "complex<f64>", "i2", "ui2", "i4", "ui4", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN"}
    | {"f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E8M0FNU"}
)
_CAPABILITIES = Capabilities(platforms=("cpu",), excluded=_EXCLUDED, dynamic=False)
_HINT = "pip install 'stablehlo-portable[torch_xla]'"


def open_executor(setting: Setting) -> ChildExecutor:
    """Open the Executor; nothing is started before it is used.

    Args:
        setting: With the environment of a torch_xla.

    Returns:
        The Executor.

    Raises:
        PlatformMissing: It does not run on that platform.
    """
    return open_child(
        NAME,
        setting,
        family=Family.TORCH_XLA,
        distributions=("torch-xla", "torch"),
        capabilities=_CAPABILITIES,
        hint=_HINT,
    )
