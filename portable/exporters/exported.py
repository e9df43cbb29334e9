"""What an exporter returns: an artifact, what its `main` takes and returns, and its weights."""

from __future__ import annotations

import enum
import types
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.pinning import program
from portable.pinning.specialization import specialize
from portable.releases import resolve_target
from portable.runtime.executors import InputMismatch, run, signature

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from portable.artifact import Artifact
    from portable.releases import Target
    from portable.runtime.executors import Executor, Signature
    from portable.runtime.executors.tensors import Array
    from portable.version import Version

__all__ = [
    "Argument",
    "ArgumentKind",
    "ExportFailed",
    "ExportedArtifact",
    "ExporterMissing",
    "PytreeSpecs",
    "Result",
    "array",
]


class ExporterMissing(PortableError):
    """What an exporter runs on is not installed, or there is no exporter of this name."""


class ExportFailed(PortableError):
    """A framework's program cannot be exported, or not without losing something."""


class ArgumentKind(enum.Enum):
    """Where an argument of `main` comes from, in the words of torch_xla's directories."""

    PARAMETER = "parameter"
    """A weight with a name: a parameter or a buffer."""
    CONSTANT = "constant"
    """A tensor that the code of the model holds."""
    INPUT = "input_arg"
    """What the caller passes."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of `main`.

    Args:
        name: Of the weight, or of the model's argument.
        kind: Where it comes from.
        shape: The sizes; a name or an expression of names where one is dynamic.
        dtype: By its numpy name.
        position: Of an input: which leaf of the model's own arguments it is.
    """

    name: str
    kind: ArgumentKind
    shape: tuple[int | str, ...]
    dtype: str
    position: int = -1


@dataclass(frozen=True, slots=True)
class Result:
    """One result of `main`.

    Args:
        name: Where it stands in what the model returns: `0`, `scores`, `0.logits`.
        shape: As for `Argument`.
        dtype: By its numpy name.
    """

    name: str
    shape: tuple[int | str, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class PytreeSpecs:
    """How the framework nests what the model takes and returns, as PyTorch writes it to JSON.

    Args:
        arguments: Of `(args, kwargs)`; None where nobody said.
        results: Of what the model returns.
    """

    arguments: str | None = None
    results: str | None = None


@dataclass(frozen=True, slots=True)
class ExportedArtifact:
    """A model as a portable artifact, with its weights beside it.

    Args:
        artifact: The program.
        target: The Version it was written for, and why; None when it was loaded.
        arguments: What `main` takes, in order.
        results: What it returns, in order.
        weights: The arrays of all arguments that are no inputs, by name; never changed.
        pytree_specs: How the framework nests arguments and results.
        name: The name of the function.
    """

    artifact: Artifact
    target: Target | None
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    weights: Mapping[str, Array] = field(repr=False)
    pytree_specs: PytreeSpecs = field(default_factory=PytreeSpecs, repr=False)
    name: str = "forward"

    @property
    def signature(self) -> Signature:
        """What `main` takes and returns, read from the bytes."""
        return signature(self.artifact)

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """What the caller passes, in the order of the model's own arguments."""
        found = [a for a in self.arguments if a.kind is ArgumentKind.INPUT]
        return tuple(sorted(found, key=lambda a: a.position))

    def get_stablehlo_text(self, name: str | None = None) -> str:
        """Return the program as StableHLO text.

        Args:
            name: The function, `forward` by default.

        Returns:
            The text, as the installed libStablehlo prints it.

        Raises:
            PortableError: There is no such function.
        """
        self._check_name(name)
        return program.text(self.artifact)

    def get_stablehlo_bytecode(self, name: str | None = None) -> bytes:
        """Return the bytes of the artifact.

        Args:
            name: The function, `forward` by default.

        Returns:
            The bytes.

        Raises:
            PortableError: There is no such function.
        """
        self._check_name(name)
        return self.artifact.data

    def call_arguments(self, inputs: Sequence[Array]) -> list[Array]:
        """Return what to pass to `main`: the weights where they belong, and the inputs.

        Args:
            inputs: One array for each input.

        Returns:
            One array for each argument.

        Raises:
            InputMismatch: There are more or fewer, or sizes that must agree do not.
        """
        wanted = self.inputs
        if len(inputs) != len(wanted):
            takes = ", ".join(a.name for a in wanted) or "nothing"
            raise InputMismatch(f"the model takes {takes}; {len(inputs)} inputs were given")
        self._check_sizes(inputs)
        given = {a.position: array for a, array in zip(wanted, inputs, strict=True)}
        return [
            given[a.position] if a.kind is ArgumentKind.INPUT else self._weight(a)
            for a in self.arguments
        ]

    def __call__(self, *inputs: Array, executor: str | Executor = "pjrt") -> list[Array]:
        """Execute the program in a child process.

        Args:
            inputs: One array for each input; tensors of PyTorch and JAX are taken as arrays.
            executor: As for `portable.run`.

        Returns:
            One array for each result.

        Raises:
            InputMismatch: The inputs are not what the model takes.
            PortableError: As `portable.run`.
        """
        passed = self.call_arguments([array(value) for value in inputs])
        artifact = self.artifact
        if any(None in argument.shape for argument in self.signature.arguments):
            kinds = zip(self.signature.arguments, passed, strict=True)
            shapes = [_type(a.element, array.shape) for a, array in kinds]
            artifact = specialize(artifact, shapes)
        return run(artifact, passed, executor)

    def save(self, directory: str | os.PathLike[str], *, text: bool = True) -> None:
        """Write a directory as torch_xla does; torch_xla and TensorFlow's converter read it.

        Args:
            directory: A new place or an empty directory.
            text: Write the program as text too, for people.

        Raises:
            FileError: It cannot be written, or something is there; nothing is left behind.
        """
        from portable.exporters.directory import save  # noqa: PLC0415 - it imports this module

        save(self, directory, text=text)

    @classmethod
    def load(cls, directory: str | os.PathLike[str], name: str | None = None) -> ExportedArtifact:
        """Read a directory that `save` or any torch_xla wrote; pickles are refused.

        Args:
            directory: The directory.
            name: The function; by default `forward`, or the only one.

        Returns:
            The artifact with its weights.

        Raises:
            MalformedContainer: It is damaged, half written, or no such directory.
            PortableError: It has no such function.
        """
        from portable.exporters.directory import load  # noqa: PLC0415 - it imports this module

        return load(directory, name)

    def _weight(self, argument: Argument) -> Array:
        if argument.name not in self.weights:
            raise InputMismatch(
                f"the weight {argument.name!r} was not saved with the program",
                hint="export again with weights, or pass all arguments to portable.run",
            )
        return self.weights[argument.name]

    def _check_name(self, name: str | None) -> None:
        if name not in {None, self.name}:
            raise PortableError(f"no function {name!r}", hint=f"the only one is {self.name!r}")

    def _check_sizes(self, inputs: Sequence[Array]) -> None:
        known: dict[str, int] = {}
        for argument, array in zip(self.inputs, inputs, strict=True):
            if len(argument.shape) != array.ndim:
                continue  # the signature says it better
            for name, size in zip(argument.shape, array.shape, strict=True):
                if isinstance(name, str) and known.setdefault(name, size) != size:
                    raise InputMismatch(
                        f"dimension {name!r} is {known[name]} in another input and {size} in "
                        f"{argument.name!r}"
                    )


def wanted(target: str | Version | Target | Sequence[str]) -> list[str | Version | Target]:
    """Return what was asked for as `resolve_target` takes it, or raise what it raises.

    A mistake in the target is told before anything slow.
    """
    if isinstance(target, (list, tuple)):
        wants: list[str | Version | Target] = list(target)
    else:
        wants = [target]  # type: ignore[list-item]  # any other sequence is refused below
    resolve_target(*wants)
    return wants


def frozen(weights: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return weights that nobody can change by accident."""
    for array in weights.values():
        array.setflags(write=False)
    return types.MappingProxyType(dict(weights))


def array(value: Any) -> Array:
    """Return a tensor of PyTorch or JAX, or what else holds numbers, as an array."""
    import numpy as np  # noqa: PLC0415 - only to execute

    if hasattr(value, "detach"):  # a tensor of PyTorch, bf16 and float8 included
        from portable.exporters.tensors import from_torch  # noqa: PLC0415 - as above

        return from_torch(value)
    return np.asarray(value)


def _type(element: str, shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"
