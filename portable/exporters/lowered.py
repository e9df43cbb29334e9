"""What a backend hands back: a StableHLO program, and what its `main` takes and returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from portable import bindings
from portable.exporters.exported import ExportedArtifact, PytreeSpecs, frozen
from portable.exporters.frameworks import ExportFailed
from portable.features.bridges import SHARDY
from portable.pinning import pipeline as pin
from portable.pinning.rewrites import shardings
from portable.pinning.rewrites.editor import Editor
from portable.releases import resolve_target
from portable.runtime.executors import signature
from portable.runtime.executors.tensors import dtype_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portable.bindings import Library, Module
    from portable.bindings.library import Context
    from portable.exporters.exported import Argument, Result
    from portable.pinning.options import PinOptions
    from portable.pinning.program import Program
    from portable.releases import Target
    from portable.runtime.executors.tensors import Array
    from portable.version import Version

__all__ = ["Lowered", "cleaned"]

_ASSERTION = "shape_assertion"
_EMPTY_MESH = "empty_mesh"
_RULE = "sdy.sharding_rule"


@dataclass(frozen=True, slots=True)
class Lowered:
    """A framework's program, lowered.

    Args:
        program: The program, as `portable.serialize` takes it.
        arguments: What its `main` takes, in order.
        results: What it returns, in order.
        weights: The arrays of all arguments that are no inputs, by name.
        pytree_specs: How the framework nests arguments and results.
    """

    program: Program
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    weights: Mapping[str, Array] = field(repr=False)
    pytree_specs: PytreeSpecs = field(default_factory=PytreeSpecs)

    def pinned(
        self, wants: Sequence[str | Version | Target], options: PinOptions
    ) -> ExportedArtifact:
        """Write the artifact, and check what the model takes and returns against its bytes.

        Args:
            wants: What `resolve_target` takes; the lowest wins.
            options: As for `portable.serialize`.

        Returns:
            The artifact, with the weights that are read-only.

        Raises:
            ExportFailed: A dtype changed on the way.
            PortableError: As `portable.serialize`.
        """
        library = bindings.library_of(self.program) or bindings.find()
        target = resolve_target(*wants, current=library.current, minimum=library.minimum)
        made = ExportedArtifact(
            pin.serialize(self.program, target.version, **options),
            target,
            self.arguments,
            self.results,
            frozen(self.weights),
            self.pytree_specs,
        )
        _check_signature(made)
        return made


def cleaned(data: bytes, devices: int = 1) -> Module:
    """Read what jax.export wrote, and take out what it puts in for its own callers alone.

    Assertions of dynamic dimensions: `ExportedArtifact` checks the sizes instead.
    Shardings over one device; of several those over a mesh without devices, which constrain
    nothing, and rules how to shard custom calls where nothing is sharded.

    Args:
        data: An artifact that jax.export wrote in this process: no child tries it first.
        devices: How many it is for.

    Returns:
        A module of its own.
    """
    library = bindings.find()
    module = library.deserialize(data, _context(library, len(data)))
    if _ASSERTION.encode() in data:
        library.erase_calls(module, _ASSERTION)
        library.run(module, "builtin.module(cse)")  # what only the assertions used
    if devices == 1 and SHARDY.encode() in data:
        with library.editing(module) as ir:
            editor = Editor(ir, module, library.current, library.run)
            shardings.remove(editor, [module.operation])
    elif any(mark.encode() in data for mark in (_EMPTY_MESH, _RULE)):
        _unshard(library, module)
    return module


def _context(library: Library, size: int) -> Context:
    """Return a context for a program of so many bytes: that of small ones before it, if it can.

    To make one takes longer than to read a small program. It keeps the constants of all its
    programs, therefore one is left after `_SHARED` bytes of them.
    """
    last, context, spent = _kept.get(library.distribution, (library, None, _SHARED))
    if context is None or last != library or spent + size > _SHARED:
        context, spent = library.context(), 0
    _kept[library.distribution] = library, context, spent + size
    return context


_SHARED = 1 << 20
_kept: dict[str, tuple[Library, Context, int]] = {}


def _unshard(library: Library, module: Module) -> None:
    with library.editing(module) as ir:
        meshes = [o for o in module.body.operations if o.operation.name == "sdy.mesh"]
        empty = [mesh for mesh in meshes if _named(mesh, ir) == _EMPTY_MESH]
        sharded = len(meshes) > len(empty)
        for mesh in empty:
            mesh.operation.erase()
        found: list[Any] = []

        def visit(operation: Any) -> Any:
            found.append(operation)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)  # which nothing may be erased from
        for operation in found:
            _unshard_operation(operation, sharded=sharded)


def _unshard_operation(operation: Any, *, sharded: bool) -> None:
    if not sharded and _RULE in operation.attributes:
        del operation.attributes[_RULE]
    constrains = operation.name == "sdy.sharding_constraint"
    if constrains and f"<@{_EMPTY_MESH}," in str(operation.attributes["sharding"]):
        operation.results[0].replace_all_uses_with(operation.operands[0])
        operation.erase()


def _named(operation: Any, ir: Any) -> str:
    return str(ir.StringAttr(operation.attributes["sym_name"]).value)


def _check_signature(made: ExportedArtifact) -> None:
    found = signature(made.artifact, bounds=False)
    told = [(argument.name, argument.dtype) for argument in made.arguments]
    told += [(result.name, result.dtype) for result in made.results]
    types = (*found.arguments, *found.results)
    if len(told) != len(types):
        raise ExportFailed(f"main has {len(types)} tensors where the model has {len(told)}")
    for (name, dtype), kind in zip(told, types, strict=True):
        if dtype_named(dtype) != kind.dtype:
            raise ExportFailed(f"{name!r} is {dtype} in the model and {kind} in main")
