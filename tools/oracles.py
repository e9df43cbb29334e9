"""What a program should compute, from three parties that are none of ours.

numpy evaluates an expression; StableHLO's reference interpreter and XLA's CPU backend run the
program. The native two run in a child process: some programs kill it.
"""

from __future__ import annotations

import math
import re
import zlib
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, Self

import ml_dtypes
import numpy as np

from portable.runtime.executors.tensors import dtype_named
from tools.full_scan import Scanner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "Array",
    "Native",
    "NotExecutable",
    "Signature",
    "evaluate",
    "random_inputs",
    "signature",
]

Array = np.ndarray[Any, np.dtype[Any]]

# MLIR's element types by their numpy or ml_dtypes names.
DTYPES = {
    "i1": "bool", "i2": "int2", "i4": "int4", "i8": "int8", "i16": "int16", "i32": "int32",
    "i64": "int64", "ui2": "uint2", "ui4": "uint4", "ui8": "uint8", "ui16": "uint16",
    "ui32": "uint32", "ui64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32",
    "f64": "float64", "complex<f32>": "complex64", "complex<f64>": "complex128",
    "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2FNUZ": "float8_e5m2fnuz", "f8E4M3B11FNUZ": "float8_e4m3b11fnuz",
    "f8E4M3": "float8_e4m3", "f8E3M4": "float8_e3m4", "f4E2M1FN": "float4_e2m1fn",
    "f6E2M3FN": "float6_e2m3fn", "f6E3M2FN": "float6_e3m2fn", "f8E8M0FNU": "float8_e8m0fnu",
}  # fmt: skip
# Represents an unbounded dimension.
_SOME_SIZE = 3


class NotExecutable(Exception):
    """The program has no meaning on arrays, or the executor will not run it; says why."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Arguments and results of `@main`.

    Args:
        arguments: Name, dtype and shape of each.
        results: dtype and shape of each; the shape is empty of meaning where it is dynamic.
        dynamic: Whether any dimension is unknown.
    """

    arguments: tuple[tuple[str, np.dtype[Any], tuple[int, ...]], ...]
    results: tuple[np.dtype[Any], ...]
    dynamic: bool


def signature(scanner: Scanner, text: str) -> Signature:
    """Find the arguments and results of `@main`.

    Args:
        scanner: Parses the program.
        text: MLIR text.

    Raises:
        NotExecutable: There is no `@main`, or a type is not a tensor of plain elements.
    """
    main = scanner.function_type(text, "main")
    if main is None:
        raise NotExecutable("the program has no main function")
    if not main.results:
        raise NotExecutable("the program returns nothing")
    header = text[text.index("@main(") :].splitlines()[0]
    names = re.findall(r"%(\w+):", header)
    arguments = [(name, *_tensor(str(kind))) for name, kind in zip(names, main.inputs, strict=True)]
    results = tuple(_tensor(str(kind))[0] for kind in main.results)
    dynamic = any("?" in str(kind) for kind in (*main.inputs, *main.results))
    return Signature(tuple(arguments), results, dynamic)


def _tensor(kind: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    match = re.fullmatch(r"tensor<((?:[0-9?]+x)*)(complex<f\d+>|[a-zA-Z0-9]+)>", kind)
    if match is None or match[2] not in DTYPES:
        raise NotExecutable(f"{kind} is not a tensor of numbers")
    shape = [_SOME_SIZE if d == "?" else int(d) for d in match[1].split("x")[:-1]]
    return dtype_named(DTYPES[match[2]]), tuple(shape)


def random_inputs(
    name: str, of: Signature, bounds: tuple[float, float], given: Mapping[str, object]
) -> dict[str, Array]:
    """Make inputs that are the same every time.

    Args:
        name: The program; seeds the generator.
        of: Its signature.
        bounds: Least and greatest value.
        given: Values for arguments that must not be random.
    """
    inputs = {}
    for argument, dtype, shape in of.arguments:
        rng = np.random.default_rng(zlib.crc32(f"{name}/{argument}".encode()))
        if argument in given:
            inputs[argument] = np.array(given[argument]).astype(dtype).reshape(shape)
        else:
            inputs[argument] = _random(rng, dtype, shape, bounds)
    return inputs


def _random(
    rng: np.random.Generator,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    bounds: tuple[float, float],
) -> Array:
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "c":
        return (rng.uniform(*bounds, shape) + 1j * rng.uniform(*bounds, shape)).astype(dtype)
    if (info := _integers(dtype)) is not None:
        low, high = max(math.ceil(bounds[0]), info[0]), min(math.floor(bounds[1]), info[1])
        return rng.integers(low, high + 1, shape).astype(dtype)
    return rng.uniform(*bounds, shape).astype(np.float32).astype(dtype)


def _integers(dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Return the bounds of an integer type, None for other types."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return int(info.min), int(info.max)
    if dtype.kind == "V" and "int" in dtype.name:
        small = ml_dtypes.iinfo(dtype)
        return int(small.min), int(small.max)
    return None


def evaluate(expression: str, inputs: Mapping[str, Array], of: Signature) -> tuple[Array, ...]:
    """Compute a numpy expression, more precisely than the type where numpy can, and round once.

    Args:
        expression: Over the arguments by name; a tuple for several results.
        inputs: The arguments.
        of: The signature.
    """
    names = {name: _widened(array) for name, array in inputs.items()}
    with np.errstate(all="ignore"):
        value = eval(expression, {"np": np}, names)  # noqa: S307 - our own table of expressions
    values = value if isinstance(value, tuple) else (value,)
    return tuple(_rounded(v, dtype) for v, dtype in zip(values, of.results, strict=True))


def _widened(array: Array) -> Array:
    if array.dtype == np.float32:
        return array.astype(np.float64)
    if array.dtype == np.complex64:
        return array.astype(np.complex128)
    if array.dtype.kind == "V" or array.dtype == np.float16:
        return array.astype(np.int8 if _integers(array.dtype) else np.float64)
    return array


def _rounded(value: Any, dtype: np.dtype[Any]) -> Array:
    array = np.asarray(value)
    with np.errstate(all="ignore"):
        if dtype.kind == "V" and not _integers(dtype) and array.dtype.kind == "f":
            return array.astype(np.float32).astype(dtype)
        return array.astype(dtype)


class Native:
    """The interpreter and XLA of the installed jaxlib, in a child process."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, executor: str, text: str, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Execute a program.

        Args:
            executor: `interpreter` or `xla`.
            text: MLIR text.
            inputs: The arguments.

        Raises:
            NotExecutable: It refuses, or dies of it.
        """
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
        try:
            result = self._pool.submit(_execute, executor, text, list(inputs)).result(timeout=60)
        except BrokenProcessPool:
            self._pool = None
            raise NotExecutable("the process dies") from None
        except TimeoutError:
            self._pool = None
            raise NotExecutable("no answer within a minute") from None
        if isinstance(result, str):
            raise NotExecutable(result)
        return tuple(result)


def _execute(executor: str, text: str, inputs: list[Array]) -> list[Array] | str:
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    try:
        return {"interpreter": _interpret, "xla": _compile}[executor](text, inputs)
    except Exception as error:  # noqa: BLE001 - whatever a compiler raises is its answer
        first = str(error).strip().splitlines() or [type(error).__name__]
        return first[0].partition(" (Attribute(")[0][:160]


def _compile(text: str, inputs: list[Array]) -> list[Array]:
    import jax
    from jax.extend.backend import get_backend
    from jaxlib import _jax

    device = jax.devices()[0]
    executable = get_backend().compile_and_load(
        text, _jax.DeviceList((device,)), _jax.CompileOptions()
    )
    arguments = [jax.device_put(array, device) for array in inputs]
    shards = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
    return [np.asarray(shard[0]) for shard in shards]


def _interpret(text: str, inputs: list[Array]) -> list[Array]:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    scanner = Scanner()
    with scanner.context:
        module = scanner.parse(text)
        attributes = [ir.Attribute.parse(_literal(array)) for array in inputs]
        return [_array(str(result)) for result in stablehlo.eval_module(module, attributes)]


def _literal(array: Array) -> str:
    kind = {name: mlir for mlir, name in DTYPES.items()}[array.dtype.name]
    shape = "".join(f"{size}x" for size in array.shape)
    if array.size == 0:
        return f"dense<> : tensor<{shape}{kind}>"
    if array.dtype == bool or _integers(array.dtype):
        wide: Any = array.astype(object if array.dtype.kind in "iu" else np.int64)
        values = str(wide.tolist()).lower() if array.dtype != bool else str(array.tolist()).lower()
        return f"dense<{values}> : tensor<{shape}{kind}>"
    return (
        f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"> : tensor<{shape}{kind}>'
    )


def _array(attribute: str) -> Array:
    """Read a printed DenseElementsAttr: the bindings refuse bf16, f8, i4 and complex."""
    match = re.fullmatch(r"dense<(.*)> : tensor<(.*)>", attribute, re.DOTALL)
    if match is None:
        raise NotExecutable(f"cannot read {attribute[:60]}")
    dtype, shape = _tensor(f"tensor<{match[2]}>")
    words = re.findall(r'"0x[0-9A-F]*"|[^\s\[\],()]+', match[1])
    if len(words) == 1 and words[0].startswith('"'):
        return np.frombuffer(bytes.fromhex(words[0][3:-1]), dtype).reshape(shape)
    if dtype.kind == "c":
        parts = np.array([_number(word, np.empty(0, dtype).real.dtype) for word in words])
        values = (parts[0::2] + 1j * parts[1::2]).astype(dtype)
    else:
        values = np.array([_number(word, dtype) for word in words], dtype)
    # MLIR prints a splat as the one value.
    return np.full(shape, values[0], dtype) if len(values) == 1 else values.reshape(shape)


def _number(word: str, dtype: np.dtype[Any]) -> Any:
    if word in {"true", "false"}:
        return word == "true"
    if word.startswith("0x") and not _integers(dtype):
        bits = int(word, 16).to_bytes(dtype.itemsize, "little")
        return np.frombuffer(bits, dtype)[0]
    return dtype.type(int(word)) if _integers(dtype) else dtype.type(float(word))
