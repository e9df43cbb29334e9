"""The exporters as one call that a child process can be given: names in, files out."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.exporters.frameworks import ExportFailed, first_line, to_torch
from portable.exporters.jax import export_jax, import_jax
from portable.exporters.oracle import verify_export
from portable.exporters.requests import (
    BadInput,
    InputSpec,
    NoSuchProgram,
    example,
    find_program,
    parse_inputs,
)
from portable.exporters.torch import DEFAULT, export_torch, find_backend
from portable.pinning.options import PinOptions
from portable.runtime.executors.tensors import stored_arrays
from portable.system.files import write_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.exporters.exported import Argument, ExportedArtifact, Result
    from portable.runtime.executors import Tolerance

__all__ = ["FRAMEWORKS", "Request", "agree", "export"]


@dataclass(frozen=True, slots=True)
class Request:
    """One export.

    Args:
        framework: A key of `FRAMEWORKS`.
        program: `MODULE:ATTR`.
        folder: Where modules are looked for last.
        wants: What `resolve_target` takes.
        inputs: The descriptions of the inputs; None when the program comes with its own.
        options: What else the exporter takes.
        evaluate: Call `.eval()` of a PyTorch module first.
        pipeline: As for `portable.serialize`.
    """

    framework: str
    program: str
    folder: str
    wants: tuple[str, ...]
    inputs: tuple[str, ...] | None
    options: dict[str, Any] = field(default_factory=dict)
    evaluate: bool = False
    pipeline: PinOptions = field(default_factory=PinOptions)


def export(request: Request, output: str, weights: str | None, *, whole: bool) -> dict[str, Any]:
    """Export a program into files.

    Args:
        request: What to export, for whom.
        output: The directory or the artifact to write.
        weights: An `.npz` file for the weights.
        whole: Write a directory, not an artifact alone.

    Returns:
        What was written, as plain data.

    Raises:
        PortableError: As the exporter; nothing is written then.
    """
    exported = FRAMEWORKS[request.framework](request)
    if exported.weights and not whole and weights is None:
        raise ExportFailed(
            f"main takes {len(exported.weights)} weights before its inputs",
            hint="keep them with --weights FILE.npz, or write to a directory",
        )
    if whole:
        exported.save(output)
    else:
        exported.artifact.save(output)
    if weights is not None:
        write_file(weights, stored_arrays(exported.weights))
    return _record(exported)


def agree(request: Request, seeds: int, tolerance: Tolerance) -> dict[str, Any]:
    """Export a PyTorch model and compare it with eager PyTorch and AOTInductor.

    Args:
        request: What to export, for whom.
        seeds: How many sets of random inputs.
        tolerance: What counts as the same.

    Returns:
        The agreement, as plain data.

    Raises:
        PortableError: As `verify_export`.
    """
    value, args, kwargs, shapes = _torch_program(request)
    if kwargs:
        raise BadInput("the oracle passes inputs by position", where=request.program)
    return verify_export(
        value,
        args,
        target=list(request.wants),
        dynamic_shapes=shapes,
        seeds=range(seeds),
        tolerance=tolerance,
        backend=request.options.get("backend", DEFAULT),
        **request.pipeline,
    ).record()


def _export_torch(request: Request) -> ExportedArtifact:
    value, args, kwargs, shapes = _torch_program(request)
    exported = export_torch(
        value,
        args,
        kwargs,
        target=list(request.wants),
        dynamic_shapes=shapes,
        **request.options,
        **request.pipeline,
    )
    return _renamed(exported, parse_inputs(request.inputs or ())) if shapes else exported


def _torch_program(request: Request) -> tuple[Any, tuple[Any, ...], dict[str, Any], Any]:
    """Return the model, its inputs, and what `torch.export` wants to know of dynamic dimensions."""
    find_backend(request.options.get("backend", DEFAULT))  # says what is missing, and how to get it
    import torch

    value, args, kwargs = _program(request, torch.nn.Module, torch.export.ExportedProgram)
    shapes: Any = None
    specs, sizes = parse_inputs(request.inputs or ()), dict[str, int]()
    if request.inputs is not None:
        tensors = [(spec, to_torch(example(spec, sizes))) for spec in specs]
        args = tuple(tensor for spec, tensor in tensors if not spec.name)
        kwargs = {spec.name: tensor for spec, tensor in tensors if spec.name}
        shapes = _dynamic_shapes(value, specs) if sizes else None
    if request.evaluate and isinstance(value, torch.nn.Module):
        value.eval()
    return value, args, kwargs, shapes


def _renamed(exported: ExportedArtifact, specs: Sequence[InputSpec]) -> ExportedArtifact:
    """Give dynamic dimensions the names they were described by: PyTorch calls them s77."""
    names: dict[str, str] = {}
    named = {argument.name: argument for argument in exported.inputs}
    for spec, argument in zip(specs, exported.inputs, strict=False):
        # PyTorch has its own order of inputs that are passed by name.
        sizes = named.get(spec.name, argument).shape
        pairs = zip(sizes, spec.shape, strict=False)
        names |= {str(old): new for old, new in pairs if isinstance(new, str)}

    def shape(sizes: tuple[int | str, ...]) -> tuple[int | str, ...]:
        return tuple(size if isinstance(size, int) else names.get(size, size) for size in sizes)

    return dataclasses.replace(
        exported,
        arguments=tuple(dataclasses.replace(a, shape=shape(a.shape)) for a in exported.arguments),
        results=tuple(dataclasses.replace(r, shape=shape(r.shape)) for r in exported.results),
    )


def _export_jax(request: Request) -> ExportedArtifact:
    jax = import_jax()

    value, args, kwargs = _program(request)
    wide = False
    if request.inputs is not None:
        specs, scope = parse_inputs(request.inputs), jax.export.SymbolicScope()

        def shaped(spec: InputSpec) -> Any:
            shape = jax.export.symbolic_shape(",".join(map(str, spec.shape)), scope=scope)
            return jax.ShapeDtypeStruct(shape, spec.dtype)

        args = tuple(shaped(spec) for spec in specs if not spec.name)
        kwargs = {spec.name: shaped(spec) for spec in specs if spec.name}
        wide = any(spec.dtype.name in _WIDE for spec in specs)
    return export_jax(
        value,
        *args,
        kwargs=kwargs,
        target=list(request.wants),
        x64=wide,
        **request.options,
        **request.pipeline,
    )


_WIDE = frozenset(("float64", "complex128", "int64", "uint64"))

FRAMEWORKS = {"torch": _export_torch, "jax": _export_jax}
"""What each framework is exported by."""


def _program(request: Request, *kinds: type) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Return the program that is named, with the inputs that come with it.

    With inputs described, the name is that of the program itself, or, where programs have `kinds`
    of their own, of what makes one. Without, it is that of what comes with inputs.
    """
    value = find_program(request.program, request.folder)
    described = request.inputs is not None
    if kinds:
        made = value if isinstance(value, (*kinds, tuple)) else _called(value, request)
    else:
        made = value if described or isinstance(value, tuple) else _called(value, request)
    if not isinstance(made, tuple):
        if described or (kinds and isinstance(made, kinds[1:])):
            return made, (), {}
        raise BadInput(
            "missing example inputs",
            where=request.program,
            hint="describe them with --args, or name a function that returns (program, args)",
        )
    if described:
        raise BadInput("already has inputs", where=request.program, hint="drop --args")
    if len(made) not in {2, 3}:
        raise BadInput(
            f"gives {len(made)} values", where=request.program, hint="return (program, args)"
        )
    args = made[1] if isinstance(made[1], (tuple, list)) else (made[1],)
    return made[0], tuple(args), dict(made[2]) if len(made) > 2 else {}


def _called(value: Any, request: Request) -> Any:
    if not callable(value):
        raise NoSuchProgram(f"is {type(value).__name__}, not a program", where=request.program)
    try:
        return value()
    except PortableError:
        raise
    except Exception as error:  # the user's code: anything may come
        raise NoSuchProgram(
            f"calling it failed: {first_line(error)}",
            where=request.program,
            hint="give --args if it is the function to export",
        ) from error


def _dynamic_shapes(program: Any, specs: Sequence[InputSpec]) -> Any:
    """Return what `torch.export` wants to know about dynamic dimensions, input by input."""
    import inspect  # only for dynamic dimensions

    import torch

    names = list(inspect.signature(program.forward).parameters)
    dimensions: dict[str, Any] = {}
    shapes = {}
    for number, spec in enumerate(specs):
        open_sizes = {at: size for at, size in enumerate(spec.shape) if isinstance(size, str)}
        shapes[spec.name or names[number]] = {
            at: dimensions.setdefault(size, torch.export.Dim(size))
            for at, size in open_sizes.items()
        }
    return shapes


def _record(exported: ExportedArtifact) -> dict[str, Any]:
    target = exported.target
    return {
        "version": str(exported.artifact.version),
        "size": len(exported.artifact),
        "digest": exported.artifact.digest,
        "target": target.record() if target else None,
        "weights": len(exported.weights),
        "inputs": [_shown(value) for value in exported.inputs],
        "results": [_shown(value) for value in exported.results],
    }


def _shown(value: Argument | Result) -> dict[str, Any]:
    return {"name": value.name, "dtype": value.dtype, "shape": list(value.shape)}
