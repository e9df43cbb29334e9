"""The backend torchax: every ATen op as a JAX function, lowered by `jax.export`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from portable.exporters.exported import ArgumentKind
from portable.exporters.frameworks import ExportFailed, first_line
from portable.exporters.lowered import Lowered, cleaned
from portable.exporters.traced import inspect_program, place, refuse_losses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.exporters.exported import Argument
    from portable.exporters.traced import Placeholder, Traced

__all__ = ["lower"]


def lower(traced: Traced, platform: str) -> Lowered:
    """Lower a traced program; see `portable.exporters.export_torch`.

    Args:
        traced: The program; not changed.
        platform: What it is lowered for.

    Returns:
        The program, with its weights.

    Raises:
        ExportFailed: It cannot be lowered, or not without losing something.
    """
    import jax
    import torchax  # renames a backend of PyTorch

    torchax.default_env()  # registers the lowerings
    try:
        ready = inspect_program(_decomposed(traced.program))
        refuse_losses(ready.program)
        _refuse_unknown(ready.program)
        used = _used(ready)
        arguments = tuple(p.argument for p in used if p.argument is not None)
        # Without this JAX makes int32 of every int64.
        with jax.enable_x64(True):
            function = jax.jit(_function(ready, used), keep_unused=True)
            export = jax.export.export(function, platforms=[platform])
            data = export(*_avals(arguments, traced.program)).mlir_module_serialized
    except ExportFailed:
        raise
    except Exception as error:  # lowering runs two frameworks: anything may come
        raise ExportFailed(f"torchax cannot lower the model: {first_line(error)}") from error
    weights = ready.weights(a.name for a in arguments if a.kind is not ArgumentKind.INPUT)
    return Lowered(cleaned(data), arguments, ready.results, weights, traced.pytree_specs)


def _decomposed(program: Any) -> Any:
    from torchax import decompositions

    from portable.exporters.decompositions import decompositions as ours

    with warnings.catch_warnings():
        # PyTorch warns of its own use of a class that it renamed.
        warnings.simplefilter("ignore", FutureWarning)
        functional = program.run_decompositions()
        return functional.run_decompositions({**decompositions.DECOMPOSITIONS, **ours()})


def _refuse_unknown(program: Any) -> None:
    """Refuse what torchax has no lowering for, before its tracing stumbles over it."""
    import torch
    from torchax.ops import ops_registry

    known = ops_registry.all_aten_ops
    for node in program.graph.nodes:
        target = node.target
        if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload):  # noqa: SLF001 - its only home
            continue
        if target not in known and target.overloadpacket not in known:
            raise ExportFailed(
                f"torchax has no lowering of {target}",
                where=place(node),
                hint="decompose it: program.run_decompositions({op: function})",
            )


def _used(traced: Traced) -> list[Placeholder]:
    """Return the placeholders without the weights that nothing reads."""
    nodes = [node for node in traced.program.graph.nodes if node.op == "placeholder"]
    pairs = zip(nodes, traced.placeholders, strict=True)
    return [p for node, p in pairs if p.tensor is None or node.users]


def _function(traced: Traced, used: Sequence[Placeholder]) -> Callable[..., Any]:
    """Return the program as a function of its arguments for JAX to trace."""
    import jax.numpy as jnp
    from torchax.export import JaxInterpreter

    taken = {id(p) for p in used if p.argument is not None}
    dtypes = [result.dtype for result in traced.results]

    def forward(*arguments: Any) -> list[Any]:
        given = iter(arguments)
        values = [next(given) if id(p) in taken else p.constant for p in traced.placeholders]
        interpreter = JaxInterpreter(traced.program.graph_module)
        outputs = interpreter.run(*values, enable_io_processing=False)
        returned = [value for value in outputs if value is not None]
        # Some lowerings answer in another width than PyTorch does.
        return [jnp.asarray(v).astype(d) for v, d in zip(returned, dtypes, strict=True)]

    return forward


def _avals(arguments: Sequence[Argument], program: Any) -> list[Any]:
    """Return what JAX traces with; dynamic dimensions share one scope."""
    import jax

    scope = jax.export.SymbolicScope(_constraints(program))

    def size(dimension: int | str) -> Any:
        if isinstance(dimension, int):
            return dimension
        return jax.export.symbolic_shape(dimension, scope=scope)[0]

    return [
        jax.ShapeDtypeStruct(tuple(map(size, a.shape)), jax.numpy.dtype(a.dtype)) for a in arguments
    ]


def _constraints(program: Any) -> list[str]:
    """Return the ranges of dynamic dimensions as JAX writes them, who knows that they are >= 1."""
    found = []
    for symbol, values in program.range_constraints.items():
        if values.lower.is_finite and values.lower > 1:
            found.append(f"{symbol} >= {int(values.lower)}")
        if values.upper.is_finite and values.upper.is_Integer:
            found.append(f"{symbol} <= {int(values.upper)}")
    return found
