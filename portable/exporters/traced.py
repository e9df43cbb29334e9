"""A program that `torch.export` traced, checked for what would be lost in StableHLO."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portable.exporters.exported import Argument, ArgumentKind, PytreeSpecs, Result
from portable.exporters.frameworks import (
    ExportFailed,
    dtype_name,
    first_line,
    from_torch,
    leaf_names,
    tree_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from portable.runtime.executors.tensors import Array

__all__ = ["Placeholder", "Traced", "inspect_program", "refuse_losses", "trace"]

# `torch.export.ExportedProgram`; the framework is imported where it is used.
_ExportedProgram = Any
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One placeholder of the traced graph.

    Args:
        argument: The argument of `main` that it becomes; None when it becomes none.
        constant: Its value where it is not an input: the one traced with.
        tensor: The weight, when it is one.
    """

    argument: Argument | None
    constant: object = None
    tensor: Any = None


@dataclass(frozen=True, slots=True)
class Traced:
    """What every backend starts from.

    Args:
        program: The `ExportedProgram`.
        placeholders: One for each of its graph, in order.
        results: What it returns.
        pytree_specs: How arguments and results are nested.
    """

    program: _ExportedProgram
    placeholders: tuple[Placeholder, ...]
    results: tuple[Result, ...]
    pytree_specs: PytreeSpecs

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """What `main` will take when nothing reorders it."""
        return tuple(p.argument for p in self.placeholders if p.argument is not None)

    def weights(self, kept: Iterable[str] | None = None) -> dict[str, Array]:
        """Copy the weights into arrays.

        Args:
            kept: The names of those that are wanted; all by default.

        Returns:
            The arrays by name.
        """
        names = None if kept is None else set(kept)
        return {
            p.argument.name: from_torch(p.tensor, p.argument.name)
            for p in self.placeholders
            if p.argument is not None and p.argument.kind is not ArgumentKind.INPUT
            if names is None or p.argument.name in names
        }


def trace(
    program: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any] | None, shapes: Any
) -> _ExportedProgram:
    """Trace a module, unless it is traced already.

    Args:
        program: A `torch.nn.Module` or an `ExportedProgram`.
        args: Example inputs.
        kwargs: Example inputs by name.
        shapes: The `dynamic_shapes` of `torch.export.export`.

    Returns:
        The `ExportedProgram`.

    Raises:
        ExportFailed: The module cannot be traced, or `program` is something else.
    """
    import torch

    if isinstance(program, torch.export.ExportedProgram):
        return program
    if not isinstance(program, torch.nn.Module):
        raise ExportFailed(
            f"cannot export {type(program).__name__}",
            hint="pass a torch.nn.Module or what torch.export.export returned",
        )
    try:
        return torch.export.export(program, args, dict(kwargs or {}), dynamic_shapes=shapes)
    except Exception as error:
        raise ExportFailed(
            f"torch.export cannot trace {type(program).__name__}: {first_line(error)}",
            hint=_why_not(program),
        ) from error


def _why_not(module: Any) -> str:
    """Return what to do about a module that cannot be traced."""
    replaced = [name for name, m in module.named_modules() if _of_torch_xla(m)]
    if replaced:
        return (
            f"{replaced[0] or 'it'!r} is the GRU that torch_xla puts in the place of torch.nn.GRU "
            "when it is imported: build the model before that, or of torch.nn.GRU._orig"
        )
    return (
        "torch.export.export shows the whole report; call it in a new process when the "
        "model branches: torchax, once imported, breaks the tracing of torch.cond"
    )


def _of_torch_xla(module: Any) -> bool:
    return type(module).__module__.startswith("torch_xla.")


def inspect_program(program: _ExportedProgram) -> Traced:
    """Read the signature of a traced program.

    Args:
        program: An `ExportedProgram`.

    Returns:
        It, with what it takes and returns.

    Raises:
        ExportFailed: It takes or returns what is no tensor.
    """
    spec = program.call_spec
    return Traced(
        program,
        tuple(_placeholders(program)),
        tuple(_results(program, spec.out_spec)),
        PytreeSpecs(tree_json(spec.in_spec), tree_json(spec.out_spec)),
    )


def refuse_losses(program: _ExportedProgram) -> None:
    """Refuse, by name, what would be dropped silently on the way to StableHLO.

    Args:
        program: An `ExportedProgram` after decomposition, which lists what it changes.

    Raises:
        ExportFailed: It changes its state or an input, draws random numbers, or branches.
    """
    import torch

    returned = torch.export.graph_signature.OutputKind.USER_OUTPUT
    changed = [s for s in program.graph_signature.output_specs if s.kind is not returned]
    if changed:
        names = ", ".join(repr(s.target or s.arg.name) for s in changed)
        raise ExportFailed(
            f"the model changes {names} while it runs, which StableHLO cannot express",
            hint="call .eval() before exporting, or return the new value",
        )
    for node in program.graph.nodes:
        if node.op == "call_function":
            _refuse_node(node)


def _refuse_node(node: Any) -> None:
    import torch

    target = node.target
    if isinstance(target, torch._ops.HigherOrderOperator):  # noqa: SLF001 - its only home
        raise ExportFailed(
            f"the model uses torch.{target.name()}, which has no lowering",
            where=place(node),
            hint="write both branches and choose with torch.where",
        )
    if torch.Tag.nondeterministic_seeded in getattr(target, "tags", ()):
        raise ExportFailed(
            f"the model draws random numbers by {target}, which would be constants in the artifact",
            where=place(node),
            hint="call .eval() before exporting, or pass the numbers as an input",
        )


def place(node: Any) -> str | None:
    """Return the line of the model that a node comes from, as `file:line`."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    # Generated code is in no file.
    written = [":".join(frame) for frame in frames if not frame[0].startswith("<")]
    return written[-1] if written else None


def _placeholders(program: _ExportedProgram) -> Iterator[Placeholder]:
    import torch

    kinds = torch.export.graph_signature
    nodes = [node for node in program.graph.nodes if node.op == "placeholder"]
    leaves = itertools.count()  # of what the caller passes, constants among them
    for node, spec in zip(nodes, program.graph_signature.input_specs, strict=True):
        position = next(leaves) if spec.kind is kinds.InputKind.USER_INPUT else -1
        if isinstance(spec.arg, kinds.ConstantArgument):
            yield Placeholder(None, spec.arg.value)
        elif not isinstance(spec.arg, kinds.TensorArgument):
            raise ExportFailed(
                f"the model takes {spec.arg.name!r}, not a tensor: {spec.kind.name.lower()}",
                hint="pass it as a tensor, or fix its value",
            )
        elif spec.kind is kinds.InputKind.USER_INPUT:
            yield Placeholder(_argument(node, spec.arg.name, ArgumentKind.INPUT, position))
        else:
            lifted = spec.kind is kinds.InputKind.CONSTANT_TENSOR
            kind = ArgumentKind.CONSTANT if lifted else ArgumentKind.PARAMETER
            held = program.constants if spec.target in program.constants else program.state_dict
            yield Placeholder(_argument(node, spec.target, kind), tensor=held[spec.target])


def _argument(node: Any, name: str, kind: ArgumentKind, position: int = -1) -> Argument:
    value = node.meta["val"]
    return Argument(name, kind, _shape(value), dtype_name(value.dtype), position)


def _shape(value: Any) -> tuple[int | str, ...]:
    return tuple(size if isinstance(size, int) else str(size) for size in value.shape)


def _results(program: _ExportedProgram, tree: Any) -> Iterator[Result]:
    import torch

    kinds = torch.export.graph_signature
    (output,) = (node for node in program.graph.nodes if node.op == "output")
    specs = program.graph_signature.output_specs
    pairs = [
        (node, spec)
        for node, spec in zip(output.args[0], specs, strict=True)
        if spec.kind is kinds.OutputKind.USER_OUTPUT
    ]
    for name, (node, spec) in zip(leaf_names(tree), pairs, strict=True):
        if isinstance(spec.arg, kinds.ConstantArgument) and spec.arg.value is None:
            continue  # nothing is lost with a None
        if not isinstance(spec.arg, kinds.TensorArgument):
            raise ExportFailed(
                f"the model returns {name!r}, which is not a tensor", hint="return tensors only"
            )
        value = node.meta["val"]
        yield Result(name, _shape(value), dtype_name(value.dtype))
