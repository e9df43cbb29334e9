"""JAX functions to portable artifacts: `export_jax`, `repin_exported`."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import os
from typing import TYPE_CHECKING, Any, Unpack

from portable.exporters.exported import Argument, ArgumentKind, ExportedArtifact, Result, wanted
from portable.exporters.frameworks import ExporterMissing, ExportFailed, dotted, first_line
from portable.exporters.lowered import Lowered, cleaned
from portable.pinning import pipeline as pin
from portable.pinning.repinning import repin
from portable.system import scratch
from portable.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from portable.pinning.options import PinOptions
    from portable.releases import Target
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
    **options: Unpack[PinOptions],
) -> ExportedArtifact:
    """Export a JAX function as an artifact for named consumers.

    `jax.export` always writes for WEEK_4; this writes for whom you name.

    Args:
        function: A function, jitted or not.
        args: Example inputs: arrays or `jax.ShapeDtypeStruct`, in any nesting. Shapes may be
            symbolic, as `jax.export.symbolic_shape` makes them.
        target: A Version, a Target, or anything `resolve_target` takes; several: the lowest wins.
        kwargs: Example inputs by name.
        platforms: What it is lowered for, as for `jax.export.export`. With several, `main` takes
            the number of the platform first.
        options: As for `portable.serialize`: `locations`, `expand`, `allow`, `allow_dialects`,
            `library`. Composites, which some functions lower to, need
            `allow=["composites-to-calls"]` below 0.19.0.

    Returns:
        The artifact, and what it takes and returns; arguments that nothing reads are left out.

    Raises:
        ExporterMissing: JAX is not installed.
        ExportFailed: The function cannot be exported, or an input would change its dtype.
        NotExpressible: It needs more than the target.
        PortableError: As `portable.serialize`.
    """
    wants = wanted(target)
    jax = import_jax()
    given = dict(kwargs or {})
    _refuse_narrowing(function, args, given)
    try:
        jitted = function if hasattr(function, "lower") else jax.jit(function)
        exported = jax.export.export(jitted, platforms=platforms)(*args, **given)
    except Exception as error:  # tracing runs the user's code: anything may come
        title = getattr(function, "__name__", type(function).__name__)
        raise ExportFailed(f"jax.export cannot export {title}: {first_line(error)}") from error
    lowered = Lowered(
        cleaned(exported.mlir_module_serialized),
        tuple(_arguments(exported, function)),
        tuple(_results(exported)),
        {},
    )
    return lowered.pinned(wants, options)


def repin_exported(
    exported: _Exported,
    target: str | Version | Target | Sequence[str],
    **options: Unpack[PinOptions],
) -> _Exported:
    """Rewrite the artifact inside a `jax.export.Exported` for named consumers.

    It can be called and serialized as before, its derivatives too.

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
    derivative = exported._get_vjp  # noqa: SLF001 - its only home

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


def _refuse_narrowing(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Refuse what JAX would silently make narrower: 64-bit arrays while it is configured for 32."""
    import jax

    leaves, _ = jax.tree_util.tree_flatten_with_path((args, dict(kwargs)))
    for path, leaf in leaves:
        dtype = getattr(leaf, "dtype", None)
        if dtype is None or jax.dtypes.issubdtype(dtype, jax.dtypes.extended):
            continue
        becomes = jax.dtypes.canonicalize_dtype(dtype)
        if becomes != dtype:
            raise ExportFailed(
                f"{_name(path, function)!r} is {dtype}, which JAX would convert to {becomes}",
                hint="jax.config.update('jax_enable_x64', True), or convert it",
            )


def _arguments(exported: _Exported, function: Callable[..., Any]) -> Iterator[Argument]:
    """Yield what `main` takes: the leaves that are read, after the number of the platform."""
    import jax

    if len(exported.platforms) > 1:
        yield Argument("platform", ArgumentKind.INPUT, (), "int32")
    leaves = jax.tree_util.tree_unflatten(exported.in_tree, range(exported.in_tree.num_leaves))
    names = [_name(path, function) for path, _ in jax.tree_util.tree_flatten_with_path(leaves)[0]]
    for index in exported.module_kept_var_idx:
        shape, dtype = _typed(exported.in_avals[index])
        yield Argument(names[index], ArgumentKind.INPUT, shape, dtype, index)


def _results(exported: _Exported) -> Iterator[Result]:
    import jax

    leaves = jax.tree_util.tree_unflatten(exported.out_tree, range(exported.out_tree.num_leaves))
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(leaves)[0]]
    for path, aval in zip(paths, exported.out_avals, strict=True):
        yield Result(dotted(path) or "output", *_typed(aval))


def _typed(aval: Any) -> tuple[tuple[int | str, ...], str]:
    import jax

    shape = tuple(size if isinstance(size, int) else str(size) for size in aval.shape)
    if jax.dtypes.issubdtype(aval.dtype, jax.dtypes.extended):  # keys of random numbers
        key = jax.ShapeDtypeStruct((), aval.dtype)
        inner = jax.eval_shape(jax.random.key_data, key)
        return (*shape, *inner.shape), str(inner.dtype)
    return shape, str(aval.dtype)


def _name(path: tuple[Any, ...], function: Callable[..., Any]) -> str:
    """Return the name of a leaf of `(args, kwargs)`: `x`, or `params.w` inside of one."""
    group, first, *rest = path
    name = dotted([first])
    if dotted([group]) == "0":
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []  # built in, without a signature
        number = int(name)
        named = number < len(parameters) and parameters[number].kind is not _VARIADIC
        name = parameters[number].name if named else f"arg{number}"
    return ".".join([name, *filter(None, [dotted(rest)])])


_VARIADIC = inspect.Parameter.VAR_POSITIONAL
