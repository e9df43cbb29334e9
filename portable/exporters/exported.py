"""What an exporter returns: an artifact, what its `main` takes and returns, and its weights.

On disk it is a directory as torch_xla writes them: `functions/NAME.bytecode`, `NAME.meta` and
`NAME.mlir`; weights in `data/`, by name, and tensors of the code in `constants/`, by number, as
`numpy.save` writes them. Unlike torch_xla, which writes "0.0.0", ours says the true
`stablehlo_version`.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import os
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from portable.artifact import Artifact
from portable.containers import Kind, MalformedContainer, NotAContainer, open_container
from portable.errors import PortableError
from portable.escaping import line
from portable.exporters.conventions import convention_of, overwrite, share_memory
from portable.exporters.frameworks import ExportFailed, as_array
from portable.exporters.weights import load_weights, save_weights
from portable.pinning import program
from portable.pinning.baking import bake
from portable.pinning.extraction import extract_constants
from portable.pinning.specialization import specialize
from portable.releases import resolve_target
from portable.runtime.executors import InputMismatch, run, signature
from portable.runtime.executors.tensors import dtype_named
from portable.system.documents import demand_form, parse_json
from portable.system.files import new_directory, read_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Unpack

    from portable.exporters.conventions import Convention
    from portable.pinning.options import PinOptions
    from portable.releases import Target
    from portable.runtime.executors import Executor, Signature
    from portable.runtime.executors.signature import TensorType
    from portable.runtime.executors.tensors import Array
    from portable.version import Version

__all__ = [
    "Argument",
    "ArgumentKind",
    "ExportedArtifact",
    "PytreeSpecs",
    "Result",
]


_DEFAULT = "forward"
_STATE = ".state"
_OPEN = -1
# From this size on weights stay in their file until they are read.
_MAPPED = 1 << 20


class ArgumentKind(enum.Enum):
    """Where an argument of `main` comes from, in the words of torch_xla's directories."""

    PARAMETER = "parameter"
    """A weight with a name: a parameter or a buffer."""
    CONSTANT = "constant"
    """A tensor that the code of the model holds."""
    INPUT = "input_arg"
    """What the caller passes."""
    SEED = "seed"
    """What random numbers come from, which the caller passes too."""


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

    @property
    def is_weight(self) -> bool:
        """Whether it belongs to the model, and no caller passes it."""
        return self.kind in {ArgumentKind.PARAMETER, ArgumentKind.CONSTANT}


@dataclass(frozen=True, slots=True)
class Result:
    """One result of `main`.

    Args:
        name: Where it stands in what the model returns: `0`, `scores`, `0.logits`.
        shape: As for `Argument`.
        dtype: By its numpy name.
        mutates: The buffer or the input whose new value it is; empty for what the model returns.
    """

    name: str
    shape: tuple[int | str, ...]
    dtype: str
    mutates: str = ""


@dataclass(frozen=True, slots=True)
class PytreeSpecs:
    """How the framework nests what the model takes and returns, as PyTorch writes it to JSON.

    Args:
        arguments: Of `(args, kwargs)`; None where not given.
        results: Of what the model returns.
    """

    arguments: str | None = None
    results: str | None = None


Range: TypeAlias = "tuple[int, int | None]"
"""The least and the largest size of a dynamic dimension; None where it has no largest."""


@dataclass(frozen=True, slots=True, repr=False)
class ExportedArtifact:
    """A model as a portable artifact, with its weights beside it.

    Args:
        artifact: The program.
        target: The Version it was written for, and why; None when it was loaded.
        arguments: What `main` takes, in order.
        results: What it returns, in order: first what the model does, then the new values of
            what it changes.
        weights: The arrays of all arguments that are no inputs, by name; never changed.
        pytree_specs: How the framework nests arguments and results.
        name: The name of the function.
        convention: How the framework's user calls it; None when it was loaded.
        ranges: The least and the largest size that dynamic dimensions were traced for, by name.
        state: The buffers that calls have changed, by name, which the next call takes. Programs
            of one model share it: `dataclasses.replace(step, state=prefill.state)`.
    """

    artifact: Artifact
    target: Target | None
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    weights: Mapping[str, Array] = field(repr=False)
    pytree_specs: PytreeSpecs = field(default_factory=PytreeSpecs)
    name: str = "forward"
    convention: Convention | None = field(default=None, compare=False)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    state: dict[str, Array] = field(default_factory=dict, compare=False)

    def __repr__(self) -> str:
        """Return what it is, takes and returns, in three lines."""
        held = [a for a in self.arguments if a.is_weight]
        size = sum(math.prod(map(int, a.shape)) * dtype_named(a.dtype).itemsize for a in held)
        changes = f", changes {len(self.mutated)} values" if self.mutated else ""
        return (
            f"{self.name}: StableHLO {self.artifact.version}, {len(self.artifact):,} bytes, "
            f"{len(self.weights)} weights of {size:,} bytes{changes}\n"
            f"  takes   {_listed(self.inputs)}\n"
            f"  returns {_listed([r for r in self.results if not r.mutates])}"
        )

    @property
    def signature(self) -> Signature:
        """What `main` takes and returns, read from the bytes."""
        return signature(self.artifact)

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """What the caller passes: the model's own arguments in their order, then the seed."""
        found = [a for a in self.arguments if not a.is_weight]
        return tuple(sorted(found, key=lambda a: a.position))

    @property
    def takes(self) -> Signature:
        """What the caller passes, as `main` takes it: `signature` without the weights."""
        whole = self.signature
        types = {a.name: one for a, one in zip(self.arguments, whole.arguments, strict=True)}
        return dataclasses.replace(whole, arguments=tuple(types[a.name] for a in self.inputs))

    @property
    def mutated(self) -> tuple[str, ...]:
        """The buffers and inputs that the model changes: their new values are its last results."""
        return tuple(result.mutates for result in self.results if result.mutates)

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
            raise InputMismatch(f"{len(inputs)} inputs given, but the model takes {takes}")
        self._check_sizes(inputs)
        given = {a.position: array for a, array in zip(wanted, inputs, strict=True)}
        return [self._weight(a) if a.is_weight else given[a.position] for a in self.arguments]

    def __call__(self, *args: Any, executor: str | Executor = "pjrt", **kwargs: Any) -> Any:
        """Execute the program in a child process, called as the model is.

        Buffers that the model changes are kept in `state` for the next call; inputs that it
        changes are changed.

        Args:
            args: What the model takes, nested as it was exported; or one value for each input.
            executor: As for `portable.run`.
            kwargs: What the model takes by name; `seed` of a model that draws random numbers.

        Returns:
            Tensors of PyTorch, or arrays of JAX, nested as the model returns them. For arrays that
            are given to a model of PyTorch or to what was loaded, a list with one for each result.

        Raises:
            InputMismatch: The inputs are not what the model takes.
            PortableError: As `portable.run`.
        """
        convention = self.convention or convention_of(self)
        seeds = [a.name for a in self.inputs if a.kind is ArgumentKind.SEED and a.name in kwargs]
        named = {name: value for name, value in kwargs.items() if name not in seeds}
        given = convention.flat(self, args, named)
        given += [np.asarray(kwargs[name], np.uint64) for name in seeds]
        changed = self._changed_inputs(given)
        made = self._executed(given, executor)
        pairs = list(zip(self.results, made, strict=True))
        for result, array in pairs:
            if result.mutates in changed:
                overwrite(changed[result.mutates], array)
            elif result.mutates:
                array.setflags(write=False)
                self.state[result.mutates] = array
        return convention.nested([a for result, a in pairs if not result.mutates], given)

    def _changed_inputs(self, given: Sequence[Any]) -> dict[str, Any]:
        """Return the inputs that the program changes, by name."""
        pairs = list(zip(self.inputs, given, strict=False))  # what is missing is said later
        found = {a.name: value for a, value in pairs if a.name in self.mutated}
        for name, value in found.items():
            for argument, other in pairs:
                if argument.name != name and share_memory(value, other):
                    raise InputMismatch(
                        f"{name!r}, which the model changes, shares memory with {argument.name!r}",
                        hint="pass a copy: the program takes values",
                    )
        return found

    def _executed(self, given: Sequence[Any], executor: str | Executor) -> list[Array]:
        """Return the results of `main`."""
        passed = self.call_arguments([as_array(value) for value in given])
        artifact = self.artifact
        if any(None in argument.shape for argument in self.signature.arguments):
            kinds = zip(self.signature.arguments, passed, strict=True)
            shapes = [_type(a.element, array.shape) for a, array in kinds]
            artifact = specialize(artifact, shapes)
        return run(artifact, passed, executor)

    def save(
        self,
        directory: str | os.PathLike[str],
        *,
        text: bool = True,
        safetensors: bool = False,
        existing: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        """Write a directory as torch_xla does; torch_xla and TensorFlow's converter read it.

        Args:
            directory: A new place or an empty directory.
            text: Write the program as text too, for people.
            safetensors: Write the weights into one file of safetensors, which torch_xla does not
                read, instead of a file for each.
            existing: Files of safetensors: what they hold, bit by bit, is not written again but
                named by the digest of its file. The rest is written as safetensors.

        Raises:
            ExportFailed: A weight cannot be written, or has changed since the export.
            FileError: It cannot be written, or the destination exists; nothing is left behind.
            MalformedContainer: One of `existing` is not a safetensors file.
        """
        with new_directory(directory) as staged:
            beside = existing if safetensors or existing else None
            _write(self, Path(staged), text=text, beside=beside)

    @classmethod
    def load(
        cls,
        directory: str | os.PathLike[str],
        name: str | None = None,
        *,
        existing: Sequence[str | os.PathLike[str]] = (),
    ) -> ExportedArtifact:
        """Read a directory that `save` or any torch_xla wrote; pickles are refused.

        Args:
            directory: The directory.
            name: The function; by default `forward`, or the only one.
            existing: The files that hold weights which `save` left there, known by their digests.

        Returns:
            The artifact with its weights.

        Raises:
            MalformedContainer: It is damaged, half written, or no such directory.
            PortableError: It has no such function.
        """
        return _load(directory, name, existing)

    def baked(self) -> ExportedArtifact:
        """Return the model with its weights as constants, except those that it changes.

        Consumers take programs of up to 2 GB, and many are slow with less.

        Raises:
            InputMismatch: A weight is not there.
            PortableError: As `portable.serialize`.
        """
        fixed = [
            n for n, a in enumerate(self.arguments) if a.is_weight and a.name not in self.mutated
        ]
        values = {number: self._weight(self.arguments[number]) for number in fixed}
        left = tuple(a for n, a in enumerate(self.arguments) if n not in values)
        return dataclasses.replace(
            self,
            artifact=bake(self.artifact, values) if values else self.artifact,
            arguments=left,
            weights=frozen({a.name: self._weight(a) for a in left if a.is_weight}),
        )

    @classmethod
    def extracted(cls, source: program.Program, **options: Unpack[PinOptions]) -> ExportedArtifact:
        """Return a program with its large constants beside it: the reverse of `baked`.

        Args:
            source: As for `portable.serialize`.
            options: The same.

        Raises:
            NothingLarge: It has none.
            PortableError: As `portable.serialize`; its signature has what no array holds.
        """
        found = extract_constants(source, **options)
        types = signature(found.artifact).arguments
        first = len(types) - len(found.values)
        inputs = _numbered(ArgumentKind.INPUT, types[:first])
        constants = _numbered(ArgumentKind.CONSTANT, types[first:])
        weights = {
            one.name: np.frombuffer(data, dtype_named(one.dtype)).reshape(
                tuple(map(int, one.shape))
            )
            for one, data in zip(constants, found.values, strict=True)
        }
        results = tuple(_results(found.artifact))
        return cls(found.artifact, None, inputs + constants, results, frozen(weights))

    def _weight(self, argument: Argument) -> Array:
        if argument.name in self.state:
            return self.state[argument.name]
        if argument.name not in self.weights:
            raise InputMismatch(
                f"the weight {argument.name!r} was not saved with the program",
                hint="load it with existing=[...] where weights.json names the file, export again "
                "with weights, or pass all arguments to portable.run",
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
                least, most = self.ranges.get(str(name), (0, None))
                if size < least or (most is not None and size > most):
                    bounds = f"at least {least}" if size < least else f"at most {most}"
                    raise InputMismatch(
                        f"dimension {name!r} of {argument.name!r} is {size}, it was exported for "
                        f"{bounds}",
                        hint="export again with another min or max of its torch.export.Dim",
                    )
                if isinstance(name, str) and known.setdefault(name, size) != size:
                    raise InputMismatch(
                        f"dimension {name!r} is {known[name]} in another input and {size} in "
                        f"{argument.name!r}"
                    )


def wanted(target: str | Version | Target | Sequence[str]) -> list[str | Version | Target]:
    """Return what was requested as `resolve_target` takes it, or raise what it raises.

    A mistake in the target is reported before anything slow.
    """
    if isinstance(target, (list, tuple)):
        wants: list[str | Version | Target] = list(target)
    else:
        wants = [target]  # type: ignore[list-item]  # any other sequence is refused below
    resolve_target(*wants)
    return wants


def frozen(weights: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return weights that are read-only."""
    if not isinstance(weights, dict):
        return weights  # read-only, and too large to be looked at
    for array in weights.values():
        array.setflags(write=False)
    return types.MappingProxyType(dict(weights))


_LISTED = 8


def _listed(values: Sequence[Argument | Result]) -> str:
    shown = [f"{line(v.name)}: {v.dtype}[{','.join(map(str, v.shape))}]" for v in values[:_LISTED]]
    more = [f"and {len(values) - _LISTED} more"] if len(values) > _LISTED else []
    return ", ".join(shown + more) or "nothing"


def _type(element: str, shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def _load(
    directory: str | os.PathLike[str],
    name: str | None,
    existing: Sequence[str | os.PathLike[str]],
) -> ExportedArtifact:
    container = open_container(directory)  # checks every file against the descriptions
    if container.kind is not Kind.TORCH_XLA:
        raise NotAContainer(container.kind, where=os.fspath(directory))
    found = {entry.name: entry for entry in container.artifacts()}
    chosen = name or (_DEFAULT if _DEFAULT in found else min(found))
    if chosen not in found or (name is None and chosen != _DEFAULT and len(found) > 1):
        raise PortableError(
            f"no function {name or _DEFAULT!r}",
            where=os.fspath(directory),
            hint=f"it has {', '.join(found)}",
        )
    where = Path(directory)
    meta = parse_json(read_file(where / "functions" / f"{chosen}.meta"))
    artifact = Artifact.from_bytes(bytes(found[chosen]), where=f"{where}: {chosen}")
    arguments = tuple(_arguments(artifact, meta, str(where)))
    weights = dict(_weights(arguments, where, with_data=(where / "data").is_dir()))
    weights |= _checked(load_weights(where, existing), arguments, str(where))
    loaded = ExportedArtifact(
        artifact,
        None,
        arguments,
        tuple(_results(artifact)),
        frozen(weights),
        PytreeSpecs(meta.get("input_pytree_spec"), meta.get("output_pytree_spec")),
        chosen,
    )
    state = where / "functions" / f"{chosen}{_STATE}"
    return _with_state(loaded, state) if state.is_file() else loaded


def _checked(
    weights: Mapping[str, Array], arguments: tuple[Argument, ...], where: str
) -> Iterator[tuple[str, Array]]:
    """Yield the weights that `main` takes, of the types that it takes."""
    for argument in arguments:
        if argument.kind is ArgumentKind.PARAMETER and argument.name in weights:
            array = weights[argument.name]
            if (array.dtype, array.shape) != (dtype_named(argument.dtype), argument.shape):
                held = f"{array.dtype}{list(array.shape)}"
                taken = f"{argument.dtype}{list(argument.shape)}"
                raise MalformedContainer(
                    f"the weight {argument.name!r} is {held}, main takes {taken}", where=where
                )
            yield argument.name, array


def _write(
    exported: ExportedArtifact,
    directory: Path,
    *,
    text: bool,
    beside: Sequence[str | os.PathLike[str]] | None,
) -> None:
    arrays = beside is None
    for folder in ("functions", "constants", *(("data",) if arrays else ())):
        (directory / folder).mkdir()
    stem = directory / "functions" / exported.name
    stem.with_suffix(".bytecode").write_bytes(exported.artifact.data)
    meta = json.dumps(_described(exported))
    stem.with_suffix(".meta").write_text(meta, encoding="utf-8")
    if exported.mutated or exported.ranges or _has_seed(exported):
        stem.with_suffix(_STATE).write_text(json.dumps(_state(exported)), encoding="utf-8")
    if text:
        stem.with_suffix(".mlir").write_text(program.text(exported.artifact), encoding="utf-8")
    if beside is not None:
        parameters = [a.name for a in exported.arguments if a.kind is ArgumentKind.PARAMETER]
        save_weights(directory, parameters, exported.weights, beside)
    for argument, file in _files(exported.arguments, with_data=arrays):
        if argument.kind is ArgumentKind.CONSTANT or arrays:
            with (directory / file).open("xb") as stream:
                np.save(stream, exported.weights[argument.name], allow_pickle=False)


def _files(arguments: tuple[Argument, ...], *, with_data: bool) -> Iterator[tuple[Argument, str]]:
    """Yield each weight and the file that it is in, or would be in."""
    constants = 0
    for argument in arguments:
        if argument.kind is ArgumentKind.PARAMETER:
            odd = argument.name in {"", ".", ".."} or any(m in argument.name for m in "/\\\0")
            if odd and with_data:
                raise ExportFailed(
                    f"the weight {argument.name!r} cannot be the name of a file",
                    hint="save the weights as safetensors",
                )
            yield argument, f"data/{argument.name}"
        elif argument.kind is ArgumentKind.CONSTANT:
            yield argument, f"constants/{constants}"
            constants += 1


def _described(exported: ExportedArtifact) -> dict[str, Any]:
    files = _files(exported.arguments, with_data=False)
    positions = {a.name: int(file[10:]) for a, file in files if file < "d"}
    return {
        "name": exported.name,
        "stablehlo_version": str(exported.artifact.version),
        "input_signature": [_signature(a) for a in exported.arguments],
        "output_signature": [_signature(r) for r in exported.results],
        "input_locations": [
            {
                "type_": _THEIRS.get(a.kind, a.kind).value,
                "position": positions.get(a.name, a.position),
                "name": a.name if a.kind is ArgumentKind.PARAMETER else "",
            }
            for a in exported.arguments
        ],
        "unused_inputs": [],
        "input_pytree_spec": exported.pytree_specs.arguments,
        "output_pytree_spec": exported.pytree_specs.results,
    }


# torch_xla, which reads the description too, knows no seeds.
_THEIRS = {ArgumentKind.SEED: ArgumentKind.INPUT}


def _has_seed(exported: ExportedArtifact) -> bool:
    return any(a.kind is ArgumentKind.SEED for a in exported.arguments)


def _state(exported: ExportedArtifact) -> dict[str, Any]:
    """Return what torch_xla's description has no place for.

    Names, the sizes that dynamic dimensions may have, what is changed, the seed.
    """
    return {
        "shapes": [a.shape for a in exported.arguments],
        "ranges": dict(exported.ranges),
        "arguments": [a.name for a in exported.arguments],
        "seed": [a.name for a in exported.arguments if a.kind is ArgumentKind.SEED],
        "results": [r.name for r in exported.results],
        "mutates": [r.mutates for r in exported.results],
    }


_TOLD = {
    "arguments": [str],
    "results": [str],
    "mutates": [str],
    "seed": [str],
    "shapes?": [[frozenset({int, str, type(None)})]],
    "ranges?": {"*": (int, frozenset({int, type(None)}))},
}


def _with_state(exported: ExportedArtifact, path: Path) -> ExportedArtifact:
    """Return a loaded program with what `_state` says of it."""
    try:
        told = parse_json(read_file(path))
        demand_form(told, _TOLD)
        if len(set(told["arguments"])) < len(told["arguments"]):
            raise ValueError("two arguments have one name")
        seeds = set(told["seed"])
        shapes = told.get("shapes", [a.shape for a in exported.arguments])
        arguments = tuple(
            dataclasses.replace(
                a,
                name=name,
                kind=ArgumentKind.SEED if name in seeds else a.kind,
                shape=_named(a.shape, shape),
            )
            for a, name, shape in zip(exported.arguments, told["arguments"], shapes, strict=True)
        )
        ranges = {name: (least, most) for name, (least, most) in told.get("ranges", {}).items()}
        results = tuple(
            dataclasses.replace(result, name=name, mutates=mutates)
            for result, name, mutates in zip(
                exported.results, told["results"], told["mutates"], strict=True
            )
        )
    except ValueError as error:
        raise MalformedContainer(
            "does not describe the program beside it", where=str(path)
        ) from error
    weights = {
        new.name: exported.weights[old.name]
        for old, new in zip(exported.arguments, arguments, strict=True)
        if old.name in exported.weights
    }
    return dataclasses.replace(
        exported, arguments=arguments, results=results, weights=frozen(weights), ranges=ranges
    )


def _named(shape: Sequence[int | str], names: Sequence[object]) -> tuple[int | str, ...]:
    """Return a shape of the artifact with the names that its dynamic dimensions had."""
    pairs = zip(shape, names, strict=True)
    return tuple(size if isinstance(size, int) else str(name) for size, name in pairs)


def _signature(value: Argument | Result) -> dict[str, Any]:
    return {
        "shape": [size if isinstance(size, int) else _OPEN for size in value.shape],
        "dtype": value.dtype,
        "dynamic_dims": [at for at, size in enumerate(value.shape) if isinstance(size, str)],
    }


def _arguments(artifact: Artifact, meta: Mapping[str, Any], where: str) -> Iterator[Argument]:
    """Yield what `main` takes: the types from the artifact, the names from the description."""
    types = signature(artifact).arguments
    locations = meta["input_locations"]
    if len(types) != len(locations):
        raise MalformedContainer(
            f"main takes {len(types)} arguments, {meta['name']}.meta describes {len(locations)}",
            where=where,
        )
    inputs = [one.get("position", -1) for one in locations if one["type_"] == "input_arg"]
    if len(set(inputs)) < len(inputs):
        raise MalformedContainer(f"two inputs of {meta['name']} have one position", where=where)
    for location, kind in zip(locations, types, strict=True):
        source = ArgumentKind(location["type_"])
        position = location.get("position", -1)
        name = location.get("name") or f"{_UNNAMED[source]}{position}"
        yield Argument(name, source, _shape(kind.shape), kind.dtype.name, position)


_UNNAMED = {
    ArgumentKind.INPUT: "input",
    ArgumentKind.CONSTANT: "constant",
    ArgumentKind.PARAMETER: "weight",
}


def _numbered(kind: ArgumentKind, types: Sequence[TensorType]) -> tuple[Argument, ...]:
    """Return arguments of one kind that have no names."""
    return tuple(
        Argument(f"{_UNNAMED[kind]}{at}", kind, _shape(one.shape), one.dtype.name, at)
        for at, one in enumerate(types)
    )


def _results(artifact: Artifact) -> Iterator[Result]:
    types = signature(artifact).results
    for number, kind in enumerate(types):
        name = str(number) if len(types) > 1 else "output"
        yield Result(name, _shape(kind.shape), kind.dtype.name)


def _shape(sizes: tuple[int | None, ...]) -> tuple[int | str, ...]:
    # Which dynamic dimensions must agree is not recorded: each gets its own name.
    return tuple(f"?{at}" if size is None else size for at, size in enumerate(sizes))


def _weights(
    arguments: tuple[Argument, ...], directory: Path, *, with_data: bool
) -> Iterator[tuple[str, Array]]:
    for argument in arguments:
        if argument.kind is ArgumentKind.INPUT or (
            argument.kind is ArgumentKind.PARAMETER and not with_data
        ):
            continue
        lifted = argument.kind is ArgumentKind.CONSTANT
        file = f"constants/{argument.position}" if lifted else f"data/{argument.name}"
        yield argument.name, _array(directory / file, argument.dtype)


def _array(path: Path, dtype: str) -> Array:
    mapped = path.stat().st_size >= _MAPPED
    try:
        array: Array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise MalformedContainer(f"no array: {error}", where=str(path)) from error
    wanted = dtype_named(dtype)
    if array.dtype.kind == "V" and array.dtype.itemsize == wanted.itemsize:
        array = array.view(wanted)  # numpy keeps no names for the types of ml_dtypes
    if array.dtype != wanted:
        raise MalformedContainer(f"holds {array.dtype}, main takes {wanted}", where=str(path))
    return array
