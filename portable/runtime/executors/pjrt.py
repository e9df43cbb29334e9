"""The PJRT client of a jaxlib, for the CPU or of a plugin: XLA as JAX programs meet it."""

from __future__ import annotations

from portable.runtime.executors.child import ExecutorKind
from portable.runtime.executors.executor import Capabilities
from portable.worker import Driver

__all__ = ["ENGINE"]


# Any jaxlib, 0.4.13 or later.
ENGINE = ExecutorKind(
    name="pjrt",
    driver=Driver.JAXLIB,
    distributions=("jaxlib",),
    capabilities=Capabilities(
        platforms=("cpu", "cuda", "tpu", "*.so"), excluded=frozenset({"token"}), dynamic=False
    ),
    hint="pip install 'stablehlo-portable[jaxlib]'",
)
