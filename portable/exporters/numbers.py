"""Numbers that Python takes out of tensors, `x.item()` and `x[i]`, as arrays without dimensions.

They may choose places and be computed with; sizes cannot depend on them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from portable.exporters.frameworks import dtype_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["is_number", "number_lowerings", "number_of", "numbers_as_arrays"]


def number_of(x: Any) -> Any:
    """Return the only value of an array, in the type of a number of Python."""
    import jax.numpy as jnp

    if jnp.issubdtype(x.dtype, jnp.floating):
        return x.reshape(()).astype(jnp.float64)
    return (
        x.reshape(()).astype(jnp.int64) if jnp.issubdtype(x.dtype, jnp.integer) else x.reshape(())
    )


def is_number(node: Any) -> bool:
    """Say whether a node of a graph makes a number that depends on data."""
    import torch
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    value = getattr(node, "meta", {}).get("val")
    kinds = torch.SymInt, torch.SymFloat, torch.SymBool
    return isinstance(value, kinds) and bool(free_unbacked_symbols(value))


def number_lowerings() -> Mapping[Any, Callable[..., Any]]:
    """Return the lowerings of ops that take such numbers as no number in Python can be taken.

    Returns:
        The op -> a function of what PyTorch knows of its result, and of the arguments of the op.
    """
    import jax.numpy as jnp
    import torch

    aten = torch.ops.aten
    return {
        aten.arange.start_step: _counted,
        aten.full.default: lambda like, sizes, value, **_: jnp.full(
            tuple(sizes), value, dtype_name(like.dtype)
        ),
        aten.scalar_tensor.default: lambda like, value, **_: jnp.asarray(
            value, dtype_name(like.dtype)
        ),
        aten.select.int: lambda _, x, axis, place: jnp.take(
            x, _from_first(place, x, axis), axis, mode="clip"
        ),
        aten.select_scatter.default: lambda _, x, values, axis, place: _put(
            x, jnp.expand_dims(values, axis), axis, place
        ),
        aten.slice.Tensor: _cut,
        aten.slice_scatter.default: _put_slice,
        torch.sym_max: lambda _, a, b: jnp.maximum(a, b),
        torch.sym_min: lambda _, a, b: jnp.minimum(a, b),
        torch.sym_not: lambda _, a: jnp.logical_not(a),
        torch.sym_ite: lambda _, a, b, c: jnp.where(a, b, c),
    }


def _from_first(place: Any, x: Any, axis: int) -> Any:
    """Return a place that is counted from the first; those below zero are from the last."""
    import jax.numpy as jnp

    return jnp.where(place < 0, place + x.shape[axis], place)


def _counted(like: Any, start: Any, _: Any, step: Any = 1, **__: Any) -> Any:
    import jax.numpy as jnp

    return (start + jnp.arange(_size(like, 0)) * step).astype(dtype_name(like.dtype))


def _cut(like: Any, x: Any, axis: int = 0, start: Any = None, *rest: Any) -> Any:
    import jax.numpy as jnp

    step = rest[1] if len(rest) > 1 else 1  # the end is known by the size
    first = 0 if start is None else _from_first(start, x, axis)
    places = first + jnp.arange(_size(like, axis)) * step
    return jnp.take(x, places, axis, mode="clip")


def _size(like: Any, axis: int) -> int:
    size = like.shape[axis]
    if not isinstance(size, int):
        raise NotImplementedError("a dynamic dimension that begins where data say")
    return size


def _put_slice(
    _: Any,
    x: Any,
    values: Any,
    axis: int = 0,
    start: Any = None,
    end: Any = None,
    step: int = 1,
) -> Any:
    del end  # it is known by the size
    return _put(x, values, axis, 0 if start is None else start, step)


def _put(x: Any, values: Any, axis: int, start: Any, step: int = 1) -> Any:
    import jax.numpy as jnp

    places = _from_first(start, x, axis) + jnp.arange(values.shape[axis]) * step
    return x.at[(*[slice(None)] * (axis % x.ndim), places)].set(values)


def numbers_as_arrays(args: Any, nodes: Any) -> Any:
    """Return numbers, and tensors without dimensions, as PyTorch computes with them beside others.

    They do not widen those: beside floats they are floats of that type, integers beside integers
    integers of that type; a float that was taken out of a tensor is float32 beside integers.

    Args:
        args: What a pointwise op is called with.
        nodes: The same, in the graph.
    """
    import jax.numpy as jnp

    taken = list(map(is_number, nodes))
    arrays = [hasattr(arg, "dtype") for arg in args]
    one = [
        t or (is_array and not a.ndim) for t, is_array, a in zip(taken, arrays, args, strict=True)
    ]
    kinds = [
        a.dtype for a, is_array, no in zip(args, arrays, one, strict=True) if is_array and not no
    ]
    if not kinds:  # none has dimensions
        kinds = [
            a.dtype
            for a, is_array, t in zip(args, arrays, taken, strict=True)
            if is_array and not t
        ]
        one = taken
    if not kinds or not any(one):
        return args
    held = functools.reduce(jnp.promote_types, kinds)

    def typed(value: Any, number: bool) -> Any:
        floats = jnp.issubdtype(value.dtype, jnp.floating)
        whole = jnp.issubdtype(value.dtype, jnp.integer)
        if (floats or whole) and jnp.issubdtype(held, jnp.inexact):
            return value.astype(held)
        if floats and number:
            return value.astype(jnp.float32)
        return value.astype(held) if whole and jnp.issubdtype(held, jnp.integer) else value

    return tuple(typed(a, t) if o else a for a, t, o in zip(args, taken, one, strict=True))
