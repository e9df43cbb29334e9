"""The reference interpreter of StableHLO: slow, and the meaning of every op by definition."""

from __future__ import annotations

from portable.runtime.executors.child import ExecutorKind
from portable.runtime.executors.executor import Capabilities
from portable.worker import Driver

__all__ = ["ENGINE"]


# Any jaxlib, 0.4.33 or later, and torch-mlir in an environment of its own.
ENGINE = ExecutorKind(
    name="interpreter",
    driver=Driver.JAXLIB,
    distributions=("jaxlib",),
    capabilities=Capabilities(platforms=("cpu",), excluded=frozenset({"token"}), dynamic=True),
    hint="pip install 'stablehlo-portable[jaxlib]'",
)
