"""JAX functions to portable artifacts: `export_jax`, `repin_exported`."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import os
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from portable.exporters.exported import Argument, ArgumentKind, ExportedArtifact, Result, wanted
from portable.exporters.frameworks import ExporterMissing, ExportFailed, dotted, first_line
from portable.exporters.functions import JaxConvention, function_of, is_key
from portable.exporters.lowered import Lowered, cleaned
from portable.pinning import pipeline as pin
from portable.pinning.repinning import repin
from portable.system import scratch
from portable.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from portable.exporters.functions import Function
    from portable.pinning.options import PinOptions
    from portable.releases import Target
    from portable.runtime.executors.tensors import Array
    from portable.version import Version

__all__ = ["export_jax", "import_jax", "repin_exported"]

# `jax.export.Exported`; the framework is imported where it is used.
_Exported = Any


def export_jax(
    function: Callable[..., Any],
    *args: Any,
    target: str | Version | Target | Sequence[str],
    kwargs: Mapping[str, Any] | None = None,
    platforms: Sequence[str] | None = None,
    x64: bool = False,
    **options: Unpack[PinOptions],
) -> ExportedArtifact:
    """Export a JAX function as an artifact for named consumers.

    `jax.export` always writes for WEEK_4; this writes for the consumers you name.

    Args:
        function: A function, jitted or not, or a module that can be called, of equinox, flax nnx,
            flax linen (bound to its variables) or any class that is a pytree: its arrays become
            weights beside the artifact. What a module changes of them is kept in the `state` of the
            export, as of modules of PyTorch.
        args: Example inputs: arrays or `jax.ShapeDtypeStruct`, in any nesting. Shapes may be
            symbolic, as `jax.export.symbolic_shape` makes them. What is static to `jax.jit`, or
            neither an array nor a number, is fixed at its value.
        target: A Version, a Target, or anything `resolve_target` takes; several: the lowest wins.
        kwargs: Example inputs by name.
        platforms: What it is lowered for, as for `jax.export.export`. With several, `main` takes
            the number of the platform first, which a call of the export passes.
        x64: Keep 64 bits, as `jax_enable_x64` does, for this export alone.
        options: As for `portable.serialize`: `locations`, `expand`, `allow`, `allow_dialects`,
            `library`. Composites, which some functions lower to, need
            `allow=["composites-to-calls"]` below 0.19.0.

    Returns:
        The artifact, and what it takes and returns; arguments that nothing reads are left out of
        `main`. It is called as the function is, and returns what the function does.

    Raises:
        ExporterMissing: JAX is not installed.
        ExportFailed: The function cannot be exported, changes what it takes, or an input would
            change its dtype.
        NotExpressible: It needs more than the target.
        PortableError: As `portable.serialize`.
    """
    wants = wanted(target)
    jax = import_jax()
    given = function_of(function, args, kwargs or {})
    _refuse_narrowing(given, x64=x64)
    try:
        with jax.enable_x64(True) if x64 else contextlib.nullcontext():
            export = jax.export.export(given.jitted, platforms=platforms)
            exported = export(*given.args, **given.kwargs)
    except ExportFailed:
        raise
    except Exception as error:  # tracing runs the user's code: anything may come
        title = getattr(function, "__name__", type(function).__name__)
        raise ExportFailed(
            f"jax.export cannot export {title}: {first_line(error)}",
            hint=next((hint for words, hint in _HINTS.items() if words in str(error)), None),
        ) from error
    arguments = tuple(_arguments(exported, given))
    lowered = Lowered(
        cleaned(exported.mlir_module_serialized, exported.nr_devices),
        arguments,
        tuple(_results(exported, given)),
        {a.name: _copied(given.weights[a.name], a.name) for a in arguments if a.is_weight},
    )
    made = lowered.pinned(wants, options)
    return dataclasses.replace(made, convention=_convention(exported, given))


_HINTS = {
    "host_callback": "an artifact cannot call Python: take out jax.debug.print, jax.pure_callback "
    "and io_callback; set EQX_ON_ERROR=nan for eqx.error_if",
    "Cannot update variable": "export functools.partial(module.apply, mutable=[...]), with the "
    "variables as an input",
    "Memory kinds passed to jax.jit": "what an AbstractMesh shards is on no device: pass "
    "jax.ShapeDtypeStruct(x.shape, x.dtype) for each array",
}
"""What JAX says of what it cannot export -> what to do."""


def repin_exported(
    exported: _Exported,
    target: str | Version | Target | Sequence[str],
    **options: Unpack[PinOptions],
) -> _Exported:
    """Rewrite the artifact inside a `jax.export.Exported` for named consumers.

    The result can be called, differentiated and serialized as before.

    Args:
        exported: What `jax.export.export` returned, or the path of a file that it was serialized
            to, by any version of JAX; for that JAX need not be installed. Not changed.
        target: As for `export_jax`.
        options: As for `export_jax`: `locations`, `expand`, `allow`, `allow_dialects`, `library`.

    Returns:
        A new `Exported`; of a file, the bytes of a new one.

    Raises:
        ExportFailed: It is no `Exported`.
        PortableError: As `portable.repin`, of a file.
        PortableError: As `portable.serialize`.
    """
    wants = wanted(target)
    if isinstance(exported, (str, os.PathLike)):
        with scratch.folder() as folder:
            made = f"{folder}/exported"
            repin(exported, *wants, to=made, **options)
            return read_file(made)
    jax = import_jax()
    if not isinstance(exported, jax.export.Exported):
        raise ExportFailed(
            f"cannot re-pin {type(exported).__name__}",
            hint="pass what jax.export.export returned, or the path of a file of it",
        )
    pinned = pin.pin(exported.mlir_module_serialized, *wants, **options)
    derivative = exported._get_vjp

    def repinned(primal: _Exported) -> _Exported:
        return repin_exported(derivative(primal), target, **options)

    changes = {"_get_vjp": repinned} if derivative is not None else {}
    return dataclasses.replace(exported, mlir_module_serialized=pinned.artifact.data, **changes)


def import_jax() -> Any:
    """Import JAX with its `jax.export`.

    Raises:
        ExporterMissing: JAX is not installed.
    """
    if importlib.util.find_spec("jax") is None:
        raise ExporterMissing("JAX is not installed", hint="install it: pip install jax")
    import jax
    import jax.export

    return jax


def _refuse_narrowing(given: Function, *, x64: bool) -> None:
    """Refuse what JAX would silently make narrower: 64-bit arrays while it is configured for 32."""
    import jax

    passed = ((given.taken.names[number], leaf) for number, leaf in given.leaves.items())
    for name, leaf in (*given.weights.items(), *passed):
        dtype = getattr(leaf, "dtype", None)
        if x64 or dtype is None or jax.dtypes.issubdtype(dtype, jax.dtypes.extended):
            continue
        becomes = jax.dtypes.canonicalize_dtype(dtype)
        if becomes != dtype:
            raise ExportFailed(
                f"{name!r} is {dtype}, which JAX would convert to {becomes}",
                hint="x64=True keeps it, or convert it",
            )


def _arguments(exported: _Exported, given: Function) -> Iterator[Argument]:
    """Yield what `main` takes of the weights and the leaves, after the number of the platform."""
    if len(exported.platforms) > 1:
        yield Argument("platform", ArgumentKind.INPUT, (), "int32")
    weights, leaves = list(given.weights), list(given.leaves)
    for index in exported.module_kept_var_idx:
        shape, dtype = _typed(exported.in_avals[index])
        if index < len(weights):
            yield Argument(weights[index], ArgumentKind.PARAMETER, shape, dtype)
        else:
            leaf = leaves[index - len(weights)]
            yield Argument(given.taken.names[leaf], ArgumentKind.INPUT, shape, dtype, leaf)


def _convention(exported: _Exported, given: Function) -> JaxConvention:
    """Return how the export is called as the function is."""
    first, leaves = len(given.weights), list(given.leaves)
    kept = [index for index in exported.module_kept_var_idx if index >= first]
    returned = exported.out_tree.children()[0] if given.changes else exported.out_tree
    return JaxConvention(
        given.taken,
        {leaves[index - first]: exported.in_avals[index] for index in kept},
        exported.platforms if len(exported.platforms) > 1 else (),
        returned,
        exported.out_avals[: returned.num_leaves],
    )


def _copied(leaf: Any, name: str) -> Array:
    """Return a weight as an array: JAX's own never change, others are copied."""
    import jax

    if isinstance(leaf, jax.ShapeDtypeStruct):
        raise ExportFailed(f"the weight {name!r} has no values", hint="pass it as an input")
    if not isinstance(leaf, jax.Array):
        return np.array(leaf)
    return np.asarray(jax.random.key_data(leaf) if is_key(leaf) else leaf)


def _results(exported: _Exported, given: Function) -> Iterator[Result]:
    import jax

    leaves = jax.tree_util.tree_unflatten(exported.out_tree, range(exported.out_tree.num_leaves))
    returned, changed = leaves if given.changes else (leaves, {})
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(returned)[0]]
    names = [dotted(path) or "output" for path in paths]
    told = [(name, "") for name in names] + [(name, name) for name in sorted(changed)]
    for (name, mutates), aval in zip(told, exported.out_avals, strict=True):
        yield Result(name, *_typed(aval), mutates)


def _typed(aval: Any) -> tuple[tuple[int | str, ...], str]:
    import jax

    shape = tuple(size if isinstance(size, int) else str(size) for size in aval.shape)
    if is_key(aval):
        key = jax.ShapeDtypeStruct((), aval.dtype)
        inner = jax.eval_shape(jax.random.key_data, key)
        return (*shape, *inner.shape), str(inner.dtype)
    # The derivatives of integers, which have no values, are truths in a program.
    return shape, "bool" if aval.dtype == jax.dtypes.float0 else str(aval.dtype)
