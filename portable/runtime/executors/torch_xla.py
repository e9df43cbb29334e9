"""torch_xla: its XLA device on the CPU, as it runs a saved StableHLOGraphModule."""

from __future__ import annotations

from portable.runtime.executors.child import ExecutorKind
from portable.runtime.executors.executor import Capabilities
from portable.worker import Driver

__all__ = ["ENGINE"]

# torch has no such dtypes, or its device does not take them; of complex<f64> it loses the
# imaginary part on the way to the device.
_EXCLUDED = frozenset(
    {"token", "complex<f64>", "i2", "ui2", "i4", "ui4", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN"}
    | {"f8E3M4", "f8E4M3", "f8E4M3B11FNUZ", "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E8M0FNU"}
)

# Any torch_xla.
ENGINE = ExecutorKind(
    name="torch_xla",
    driver=Driver.TORCH_XLA,
    distributions=("torch-xla", "torch"),
    capabilities=Capabilities(platforms=("cpu",), excluded=_EXCLUDED, dynamic=False),
    hint="pip install 'stablehlo-portable[torch_xla]'",
)
