"""Executing on IREE: its compiler makes a module for its virtual machine, which runs it here.

The compiler is a process of its own, the runtime is in this one.
"""

from __future__ import annotations

import hashlib
import importlib
from typing import TYPE_CHECKING, Any

from .answer import Refused, Unavailable
from .tensors import dtype_named, stored_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .answer import Payload

__all__ = ["Iree"]

DRIVER = "local-task"
# What the runtime raises when the compiled module says no, or an array does not fit.
REFUSALS = (RuntimeError, ValueError, TypeError, IndexError)
# What its Python API says of a result of which it has no array: of bf16 and f8 up to 3.11.
_NO_ARRAY = "numpy dtype mapping"
# What IREE calls the types of which numpy has none, and its Python API takes no array up to 3.8.
_ELEMENTS = {
    "bfloat16": "BFLOAT_16",
    "float8_e4m3fn": "FLOAT_8_E4M3_FN",
    "float8_e4m3fnuz": "FLOAT_8_E4M3_FNUZ",
    "float8_e5m2": "FLOAT_8_E5M2",
    "float8_e5m2fnuz": "FLOAT_8_E5M2_FNUZ",
    "float8_e8m0fnu": "FLOAT_8_E8M0_FNU",
}


class Iree:
    """The module that was compiled last.

    Args:
        compile_module: Compile a program to the bytes of a module.
    """

    device = "cpu"

    def __init__(self, compile_module: Callable[[bytes], bytes]) -> None:
        try:
            self._runtime = importlib.import_module("iree.runtime")
        except ImportError:
            raise Unavailable("iree-base-runtime is not installed beside the compiler") from None
        self._compile_module = compile_module
        self._begin()

    def _begin(self) -> None:
        """Open a device of its own, on which nothing has run."""
        device = self._runtime.get_device(DRIVER, cache=False)
        self._config = self._runtime.Config(device=device)
        self._digest = b""
        self._main: Any = None

    def compile(self, program: bytes) -> Any:
        """Compile a program, unless it is the one that was compiled last.

        Args:
            program: A portable artifact, MLIR bytecode or MLIR text.

        Returns:
            The function `main`.

        Raises:
            Refused: The compiler says no, or the runtime, as of types that it does not have.
        """
        digest = hashlib.sha256(program).digest()
        if digest == self._digest:
            return self._main
        self._main, self._digest = None, b""
        compiled = self._compile_module(program)
        context = self._runtime.SystemContext(config=self._config)
        try:
            context.add_vm_module(self._runtime.VmModule.copy_buffer(context.instance, compiled))
        except REFUSALS as refusal:
            raise _refused(refusal) from None
        (name,) = (name for name in context.modules.keys() if name != "hal")  # noqa: SIM118 - no dict
        self._main = context.modules[name]["main"]
        self._digest = digest
        return self._main

    def run(self, program: bytes, inputs: list[Any], results: list[Payload]) -> list[Any]:
        """Execute a program.

        Args:
            program: A portable artifact, MLIR bytecode or MLIR text.
            inputs: One array for each argument of its `main`.
            results: The dtype of each: integers come back without a sign.

        Returns:
            One array for each result.

        Raises:
            Refused: The compiler or the runtime says no.
            Unavailable: The runtime has no array of an input or result.
        """
        main = self.compile(program)
        _demand_arrays(array.dtype for array in inputs)
        _demand_arrays(dtype_named(told["dtype"]) for told in results)
        try:
            given = main(*map(self._given, inputs))
            several = given if isinstance(given, (list, tuple)) else [given] * bool(results)
            # Only now it is known whether what was queued went well.
            taken = [
                _to_host(one, told) if hasattr(one, "to_host") else one
                for one, told in zip(several, results, strict=True)
            ]
        except REFUSALS as refusal:
            # Up to 3.11 a device ends whatever follows a program that failed on its queue.
            self._begin()
            raise _refused(refusal) from None
        return [_array(one, told) for one, told in zip(taken, results, strict=True)]

    def _given(self, array: Any) -> Any:
        """Return an input as the Python API takes it, by its bits where that has no such type."""
        runtime = self._runtime
        name = array.dtype.name
        if name not in _ELEMENTS:
            return array
        element = getattr(runtime.HalElementType, _ELEMENTS[name], None)
        if element is None:
            raise Unavailable(f"its runtime has no array of {name}")
        device = self._config.device
        view = device.allocator.allocate_buffer_copy(
            memory_type=runtime.MemoryType.DEVICE_LOCAL,
            allowed_usage=runtime.BufferUsage.DEFAULT | runtime.BufferUsage.MAPPING,
            device=device,
            buffer=array.view(stored_dtype(array.dtype)),
            element_type=element,
        )
        return runtime.DeviceArray(device, view)


def _demand_arrays(dtypes: Iterable[Any]) -> None:
    """Say which of some types of ml_dtypes no runtime has a name of."""
    for dtype in dtypes:
        if stored_dtype(dtype) != dtype and dtype.name not in _ELEMENTS:
            raise Unavailable(f"its runtime has no array of {dtype.name}")


def _to_host(result: Any, told: Payload) -> Any:
    """Return a result as an array, of its bits where the Python API has no such type."""
    try:
        return result.to_host()
    except REFUSALS as refusal:
        if _NO_ARRAY not in str(refusal):
            raise
    view = result._buffer_view  # noqa: SLF001 (nothing else leads to it)
    return view.map().asarray(view.shape, stored_dtype(dtype_named(told["dtype"]))).copy()


def _refused(refusal: Exception) -> Refused:
    words = " ".join(str(refusal)[:2000].split())
    return Refused(f"{type(refusal).__name__}: {words}")


def _array(value: Any, told: Payload) -> Any:
    numpy = importlib.import_module("numpy")
    array = numpy.asarray(value)
    dtype = dtype_named(told["dtype"])
    return array if array.dtype == dtype else array.view(dtype)
