"""What `main` of an artifact takes and returns, read from its bytes; inputs checked against it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from portable.artifact import Artifact
from portable.bytecode import read
from portable.bytecode.text import attribute_text, type_text
from portable.errors import PortableError
from portable.features.bridges import SHARDY
from portable.features.devices import replicas_and_partitions
from portable.runtime.executors.index_bounds import index_bounds
from portable.runtime.executors.tensors import dtype_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portable.artifact import ArtifactLike
    from portable.bytecode import Bytecode
    from portable.runtime.executors.tensors import Array

__all__ = [
    "InputMismatch",
    "NoMain",
    "Signature",
    "TensorType",
    "UnsupportedType",
    "check_inputs",
    "ordered",
    "signature",
]

_TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)(complex<\w+>|\w+)>")
_NUMBERED = re.compile(r"(?:arr_|arg|input_?)?(\d{1,9})")
_MODULE, _FUNCTION = "module", "func_v1"
_MAIN = "main"


class NoMain(PortableError):
    """The program has no function `main`, so there is nothing to execute."""


class UnsupportedType(PortableError):
    """Arrays cannot have the type of an argument or result of `main`, such as a token."""


class InputMismatch(PortableError):
    """The inputs do not match the arguments of `main`."""


@dataclass(frozen=True, slots=True)
class TensorType:
    """The type of one argument or result.

    Args:
        text: As StableHLO writes it.
        shape: The sizes; None where one is not known before the program runs.
        element: The element type, for example `bf16`; empty unless it is a plain tensor.
    """

    text: str
    shape: tuple[int | None, ...]
    element: str

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The dtype of arrays of this type.

        Raises:
            UnsupportedType: There is none.
        """
        dtype = dtype_of(self.element)
        if dtype is None:
            raise UnsupportedType(
                f"numpy has no array for {self.text}",
                hint="wrap main in a function of plain tensors",
            )
        return dtype

    def accepts(self, shape: tuple[int, ...]) -> bool:
        """Return whether an array of this shape may be passed."""
        return len(shape) == len(self.shape) and all(
            want in {None, have} for want, have in zip(self.shape, shape, strict=True)
        )

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments and results of `main`.

    Args:
        arguments: The types of the arguments.
        results: The types of the results.
        index_bounds: How many indices are in range, by element type; see `index_bounds`.
        replicas: The number of replicas in the module.
        partitions: The number of partitions in the module.
        shardy: Whether Shardy partitions it.
    """

    arguments: tuple[TensorType, ...]
    results: tuple[TensorType, ...]
    index_bounds: Mapping[str, int] = field(default_factory=dict, compare=False)
    replicas: int = field(default=1, compare=False)
    partitions: int = field(default=1, compare=False)
    shardy: bool = field(default=False, compare=False)


def signature(artifact: ArtifactLike, *, bounds: bool = True) -> Signature:
    """Read the signature of `main` from an artifact.

    Args:
        artifact: The artifact, its bytes or its path; no compiler is needed.
        bounds: Whether to look for `index_bounds`, in every op that indexes.

    Returns:
        The signature.

    Raises:
        NoMain: There is no such function.
        MalformedArtifact: The artifact is damaged.
        NotAnArtifact: It is something else.
        FileError: The path cannot be read.
    """
    artifact = Artifact.of(artifact)
    content = read(artifact.data)
    functions = 0
    module: dict[str, int] = {}
    for operation in content.operations():
        name_of = content.names[operation.name].name
        if name_of == _MODULE:
            module = content.attributes_of(operation)
        if name_of != _FUNCTION:
            continue
        functions += 1
        attributes = content.attributes_of(operation)
        name = attributes.get("sym_name")
        if name is not None and attribute_text(content.pool, name) == _MAIN:
            wanted = _signature(content, attributes["function_type"])
            replicas, partitions = replicas_and_partitions(content, module)
            return replace(
                wanted,
                index_bounds=index_bounds(content, artifact.data) if bounds else {},
                replicas=replicas,
                partitions=partitions,
                shardy=any(dialect.name == SHARDY for dialect in content.dialects),
            )
    raise NoMain(f"none of its {functions} functions is named main", hint="rename the entry point")


def check_inputs(inputs: Sequence[Array], wanted: Signature) -> list[Array]:
    """Check inputs against a signature.

    Args:
        inputs: The arrays, in the order of the arguments.
        wanted: The signature.

    Returns:
        The inputs; unnamed bytes, which is how numpy reads the types of ml_dtypes from a file, get
        the dtype of their argument.

    Raises:
        InputMismatch: Their number, a shape or a dtype is another.
        UnsupportedType: An argument is nothing that an array can hold.
    """
    if len(inputs) != len(wanted.arguments):
        takes = ", ".join(map(str, wanted.arguments)) or "nothing"
        raise InputMismatch(
            f"main takes {len(wanted.arguments)} inputs ({takes}), got {len(inputs)}"
        )
    pairs = enumerate(zip(inputs, wanted.arguments, strict=True))
    return [_checked(number, array, argument) for number, (array, argument) in pairs]


def ordered(named: Mapping[str, Array]) -> list[Array]:
    """Put arrays that are named by the number of their argument in order.

    Args:
        named: By `0`, `arr_0` (numpy's own names), `arg0` or `input_0`.

    Returns:
        The arrays.

    Raises:
        InputMismatch: A name is not a number, or the numbers have gaps.
    """
    numbers = {}
    for name, array in named.items():
        match = _NUMBERED.fullmatch(name)
        if match is None:
            raise InputMismatch(
                f"{name!r} is not an argument number",
                hint="name the arrays 0, 1, ... or use numpy.savez(path, x, y)",
            )
        numbers[int(match[1])] = array
    if sorted(numbers) != list(range(len(named))):
        raise InputMismatch(f"the arguments {', '.join(named)} are not 0 to {len(named) - 1}")
    return [numbers[number] for number in range(len(numbers))]


def _checked(number: int, array: Array, argument: TensorType) -> Array:
    dtype = argument.dtype
    if not isinstance(getattr(array, "dtype", None), np.dtype):
        raise InputMismatch(
            f"input {number} is of type {type(array).__name__}, not an array",
            hint=f"make one: numpy.asarray(x, {dtype.name!r})",
        )
    if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
        array = array.view(dtype)
    if array.dtype != dtype:
        raise InputMismatch(
            f"input {number} has dtype {array.dtype}, main takes {dtype} ({argument})",
            hint=f"convert it: x.astype({dtype.name!r})",
        )
    if not argument.accepts(array.shape):
        shape = "x".join(map(str, array.shape)) or "scalar"
        raise InputMismatch(f"input {number} has shape {shape}, main takes {argument}")
    return array


def _signature(content: Bytecode, attribute: int) -> Signature:
    function = content.pool.type(_number(content.pool.attribute(attribute).fields["value"]))
    return Signature(
        tuple(_tensor(content, index) for index in _numbers(function.fields["inputs"])),
        tuple(_tensor(content, index) for index in _numbers(function.fields["outputs"])),
    )


def _tensor(content: Bytecode, index: int) -> TensorType:
    # VHLO calls i1 by another name.
    text = type_text(content.pool, index).replace("bool>", "i1>")
    match = _TENSOR.fullmatch(text)
    if match is None:
        return TensorType(text, (), "")
    sizes = match[1].split("x")[:-1]
    return TensorType(text, tuple(None if s == "?" else int(s) for s in sizes), match[2])


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _numbers(value: object) -> list[int]:
    return value if isinstance(value, list) else []
