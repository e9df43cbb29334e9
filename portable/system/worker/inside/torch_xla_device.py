"""Executing on torch_xla's XLA device, as a saved `StableHLOGraphModule` is executed."""

from __future__ import annotations

import dataclasses
import importlib
from typing import TYPE_CHECKING, Any

from .answer import Refused
from .tensors import dtype_named, stored_dtype

if TYPE_CHECKING:
    from .answer import Payload

__all__ = ["TorchXlaDevice"]

METHOD = "forward"
# What the device raises when it does not compile or execute.
REFUSALS = (RuntimeError, ValueError, IndexError)


class TorchXlaDevice:
    """torch and torch_xla, imported once."""

    device = "cpu"

    def __init__(self) -> None:
        self._numpy = importlib.import_module("numpy")
        self._torch = importlib.import_module("torch")
        self._stablehlo = importlib.import_module("torch_xla.stablehlo")

    def compile(self, program: bytes) -> None:
        """Do nothing: the device compiles whenever it runs a program.

        Args:
            program: A portable artifact, MLIR bytecode or MLIR text.
        """

    def run(self, program: bytes, inputs: list[Any], results: list[Payload]) -> list[Any]:
        """Execute a program.

        Args:
            program: A portable artifact, MLIR bytecode or MLIR text.
            inputs: One array for each argument of its `main`.
            results: The dtype of each: wide integers come back with a sign.

        Returns:
            One array for each result.

        Raises:
            Refused: torch has no such dtype, or the compiler or the runtime says no.
        """
        tensors = [self._tensor(array) for array in inputs]
        module = self._module(program, len(inputs))
        try:
            outputs = [output.cpu() for output in module(*tensors)]
        except REFUSALS as refusal:
            words = " ".join(str(refusal)[:2000].split())
            raise Refused(f"{type(refusal).__name__}: {words}") from None
        told = [dtype_named(result["dtype"]) for result in results]
        return [self._array(*pair) for pair in zip(outputs, told, strict=True)]

    def _module(self, program: bytes, count: int) -> Any:
        home = self._stablehlo
        given = {
            "name": METHOD,
            "stablehlo_version": "",
            "input_signature": [],
            "output_signature": [],
            "input_locations": [home.InputLocation.input_arg(number) for number in range(count)],
            "unused_inputs": [],
        }
        # torch_xla 2.1 has no unused inputs yet.
        known = {field.name for field in dataclasses.fields(home.StableHLOFunctionMeta)}
        meta = home.StableHLOFunctionMeta(**{k: v for k, v in given.items() if k in known})
        function = home.StableHLOFunc(meta, program, None)
        return home.StableHLOGraphModule(home.StableHLOModelBundle({}, [], [function]))

    def _tensor(self, array: Any) -> Any:
        """Make a tensor of an array; torch takes those of ml_dtypes as bytes of the same width."""
        dtype = getattr(self._torch, array.dtype.name, None)
        if dtype is None or not isinstance(dtype, self._torch.dtype):
            raise Refused(f"torch has no {array.dtype.name}")
        whole = self._numpy.array(array, order="C")
        if stored_dtype(array.dtype) != array.dtype:
            whole = whole.view(f"i{array.dtype.itemsize}")
        return self._torch.from_numpy(whole).view(dtype)

    def _array(self, tensor: Any, dtype: Any) -> Any:
        if stored_dtype(dtype) != dtype:
            tensor = tensor.view(getattr(self._torch, f"int{8 * dtype.itemsize}"))
        array = tensor.numpy()
        return array if array.dtype == dtype else array.view(dtype)
