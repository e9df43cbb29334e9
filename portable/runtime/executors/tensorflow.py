"""TensorFlow: the op XlaCallModule, which is how a SavedModel carries an artifact."""

from __future__ import annotations

from portable.runtime.executors.child import ExecutorKind
from portable.runtime.executors.executor import Capabilities
from portable.worker import Driver

__all__ = ["ENGINE"]

# TensorFlow has no such dtypes, or keeps four bits in a byte where XLA expects two in it.
_EXCLUDED = frozenset(
    {"token", "i2", "ui2", "i4", "ui4", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN"}
    | {"f8E3M4", "f8E4M3", "f8E8M0FNU"}
)

# Any TensorFlow with its whole wheel, 2.14 or later.
ENGINE = ExecutorKind(
    name="tensorflow",
    driver=Driver.TENSORFLOW,
    distributions=("tensorflow",),
    capabilities=Capabilities(platforms=("cpu",), excluded=_EXCLUDED, dynamic=True),
    hint="pip install 'stablehlo-portable[tensorflow]'",
)
