"""Executors: run a program, and compare what it computes."""

from __future__ import annotations

from portable.runtime.executors.compare import (
    Comparison,
    Difference,
    compare,
    compare_all,
)
from portable.runtime.executors.executor import (
    Capabilities,
    Executable,
    ExecutionFailed,
    Executor,
    ExecutorMissing,
    PlatformMissing,
    failure,
)
from portable.runtime.executors.inputs import random_inputs
from portable.runtime.executors.running import (
    EXECUTORS,
    UnknownExecutor,
    check_executor,
    executor_of,
    find_executor,
    run,
)
from portable.runtime.executors.signature import (
    InputMismatch,
    NoMain,
    Signature,
    TensorType,
    UnsupportedType,
    signature,
)
from portable.tolerance import BITS, Tolerance

__all__ = [
    "BITS",
    "EXECUTORS",
    "Capabilities",
    "Comparison",
    "Difference",
    "Executable",
    "ExecutionFailed",
    "Executor",
    "ExecutorMissing",
    "InputMismatch",
    "NoMain",
    "PlatformMissing",
    "Signature",
    "TensorType",
    "Tolerance",
    "UnknownExecutor",
    "UnsupportedType",
    "check_executor",
    "compare",
    "compare_all",
    "executor_of",
    "failure",
    "find_executor",
    "random_inputs",
    "run",
    "signature",
]
