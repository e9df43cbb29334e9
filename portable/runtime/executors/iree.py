"""IREE's compiler and runtime, on the CPU: nothing in it is XLA."""

from __future__ import annotations

from portable.runtime.executors.child import ExecutorKind
from portable.runtime.executors.executor import Capabilities
from portable.worker import Driver

__all__ = ["ENGINE"]

# Its runtime has no arrays of these.
_EXCLUDED = frozenset(
    {"token", "i2", "ui2", "i4", "ui4", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN"}
    | {"f8E3M4", "f8E4M3", "f8E4M3B11FNUZ"}
)

# Any IREE, 3.0.0 or later.
ENGINE = ExecutorKind(
    name="iree",
    driver=Driver.IREE,
    distributions=("iree-base-compiler", "iree-base-runtime"),
    capabilities=Capabilities(platforms=("cpu",), excluded=_EXCLUDED, dynamic=True),
    hint="pip install 'stablehlo-portable[iree]'",
)
