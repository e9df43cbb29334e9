"""Executing in TensorFlow: one XlaCallModule op, as a SavedModel from JAX has it.

Its kernel compiles the artifact with TensorFlow's own XLA, inside `tf.function(jit_compile=True)`
or not: the values are the same, so it is called as it is.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from .answer import Refused, Unavailable
from .tensors import dtype_named

if TYPE_CHECKING:
    from .answer import Payload

__all__ = ["XlaCallModule"]

OP = "tensorflow.compiler.tf2xla.ops.gen_xla_ops"
# The version of the op: the first with all the attributes used here; 2.14 has it too.
VERSION = 6
PLATFORM = "CPU"


class XlaCallModule:
    """TensorFlow, imported once. It keeps the kernels that it has made."""

    device = "cpu"

    def __init__(self) -> None:
        # The wheel has CUDA in it, and complains where no device is.
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
        self._tensorflow = importlib.import_module("tensorflow")
        self._call = importlib.import_module(OP).xla_call_module

    def compile(self, program: bytes) -> None:
        """Do nothing: the kernel compiles when it first runs.

        Args:
            program: A portable artifact, MLIR bytecode or MLIR text.
        """

    def run(self, program: bytes, inputs: list[Any], results: list[Payload]) -> list[Any]:
        """Execute a program.

        Args:
            program: A portable artifact, MLIR bytecode or MLIR text.
            inputs: One array for each argument of its `main`.
            results: The dtype and shape of each.

        Returns:
            One array for each result.

        Raises:
            Refused: TensorFlow has no such dtype, or the compiler or the runtime says no.
            Unavailable: TensorFlow takes no such array.
        """
        tensorflow = self._tensorflow
        types = [self._dtype(dtype_named(told["dtype"])) for told in results]
        for array in inputs:
            self._dtype(array.dtype)
        try:
            tensors = [tensorflow.constant(array) for array in inputs]
        except (TypeError, ValueError) as error:
            raise Unavailable(str(error)) from None
        try:
            outputs = self._call(
                tensors,
                version=VERSION,
                module=program,
                Sout=[tensorflow.TensorShape(told["shape"]) for told in results],
                Tout=types,
                platforms=[PLATFORM],
                function_list=[],
            )
        except tensorflow.errors.OpError as refusal:
            words = " ".join(refusal.message[:2000].split())
            raise Refused(f"{type(refusal).__name__}: {words}") from None
        numpy = importlib.import_module("numpy")
        return [numpy.asarray(output.numpy()) for output in outputs]

    def _dtype(self, dtype: Any) -> Any:
        try:
            return self._tensorflow.as_dtype(dtype)
        except TypeError:
            raise Refused(f"TensorFlow has no dtype for {dtype}") from None
