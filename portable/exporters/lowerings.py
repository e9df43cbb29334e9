"""Lowerings of our own where torchax has none, or one that does not trace: ATen ops on JAX arrays.

What can be said in ATen stands in `portable.exporters.decompositions`.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from portable.exporters.frameworks import dtype_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["lowerings"]

_SUM, _MEAN = 0, 1
_WIDE = 4  # bytes


def lowerings() -> dict[Any, Callable[..., Any]]:
    """Return the lowerings.

    Returns:
        The op -> a function of JAX arrays, with the arguments of the op.
    """
    import jax.numpy as jnp
    import torch

    aten = torch.ops.aten
    table: dict[str, Callable[..., Any]] = {
        "_embedding_bag": _embedding_bag,
        "_embedding_bag_forward_only": _embedding_bag,
        "_grouped_mm": _grouped_product,
        "_int_mm": _integer_product,
        "_linalg_det": _determinant,
        "_linalg_slogdet": _log_determinant,
        "_linalg_solve_ex": _solved,
        "_linalg_svd": _singular_values,
        "avg_pool1d": _average,
        "avg_pool2d": _average,
        "avg_pool3d": _average,
        "convolution": _convolution,
        "cumprod": lambda x, axis, dtype=None: _running(jnp.prod, x, axis, dtype),
        "cumsum": lambda x, axis, dtype=None: _running(jnp.sum, x, axis, dtype),
        "linalg_inv_ex": _inverse,
    }
    found = {getattr(aten, name).default: how for name, how in table.items() if hasattr(aten, name)}
    if hasattr(torch.ops.transformers, "grouped_mm_fallback"):  # where transformers is imported
        found[torch.ops.transformers.grouped_mm_fallback.default] = _grouped_product
    return found


def _embedding_bag(weight: Any, indices: Any, offsets: Any, *rest: Any) -> Any:
    """Sum, average or maximize the rows of each bag; a bag begins where `offsets` says."""
    import jax
    import jax.numpy as jnp

    given = dict(enumerate(rest))
    mode, weights = given.get(1, _SUM), given.get(3)
    last, padding = given.get(4, False), given.get(5, -1)
    bags = offsets.shape[0] - bool(last)
    places = jnp.arange(indices.shape[0])
    bag = jnp.searchsorted(offsets[:bags], places.astype(offsets.dtype), side="right") - 1
    rows = weight[indices]
    if weights is not None:
        rows = rows * weights[:, None]
    counted = indices != padding
    size = jnp.zeros(bags, jnp.int64).at[bag].add(counted)
    if mode in {_SUM, _MEAN}:
        kept = jnp.where(counted[:, None], rows, 0)
        made = jnp.zeros((bags, weight.shape[1]), rows.dtype).at[bag].add(kept)
        if mode == _MEAN:
            made = made / jnp.maximum(size, 1).astype(made.dtype)[:, None]
    else:
        kept = jnp.where(counted[:, None], rows, -jnp.inf)
        made = jax.ops.segment_max(kept, bag, bags)
        made = jnp.where(size[:, None] > 0, made, 0)
    # The rest is for derivatives.
    return made, bag.astype(indices.dtype), size, jnp.zeros_like(size)


def _grouped_product(a: Any, b: Any, ends: Any = None, bias: Any = None, dtype: Any = None) -> Any:
    """Multiply the rows of each group by the matrix of the group; `ends` says where groups end."""
    import jax.numpy as jnp

    del bias, dtype  # PyTorch takes none yet; the dtype of the result is PyTorch's
    if ends is None:
        return jnp.matmul(a, b)
    if (a.ndim, b.ndim) != (2, 3):
        raise NotImplementedError(f"operands of {a.ndim} and {b.ndim} dimensions")
    group = jnp.searchsorted(ends, jnp.arange(a.shape[0], dtype=ends.dtype), side="right")
    made = jnp.zeros((a.shape[0], b.shape[2]), a.dtype)
    for number in range(b.shape[0]):
        made = jnp.where((group == number)[:, None], a @ b[number], made)
    return made


def _average(  # noqa: PLR0917 - ATen's signature
    x: Any,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """Average windows; those that end beyond the padding are cut there, unlike in torchax."""
    import jax
    import jax.numpy as jnp

    axes = len(kernel)
    outer, sizes = (1,) * (x.ndim - axes), x.shape[-axes:]
    strides = _each(stride or kernel, axes)
    paddings = _each(padding, axes)
    beyond = [0] * axes
    if ceil_mode:
        beyond = list(map(_beyond, sizes, kernel, strides, paddings))

    def summed(values: Any, before: Sequence[int]) -> Any:
        edges = [(low, low + more) for low, more in zip(before, beyond, strict=True)]
        zero = jnp.zeros((), values.dtype)
        window, steps = (*outer, *kernel), (*outer, *strides)
        return jax.lax.reduce_window(
            values, zero, jax.lax.add, window, steps, [(0, 0)] * len(outer) + edges
        )

    # PyTorch adds narrow floats in a wider one.
    narrow = jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.itemsize < _WIDE
    total = summed(x.astype(jnp.float32) if narrow else x, paddings)
    counted: Any = divisor_override
    if counted is None and count_include_pad and not any(beyond):
        counted = math.prod(kernel)
    elif counted is None:
        within = [2 * p if count_include_pad else 0 for p in paddings]
        ones = jnp.ones((*outer, *map(operator.add, sizes, within)), total.dtype)
        counted = summed(ones, [0] * axes if count_include_pad else paddings)
    counted = jnp.broadcast_to(jnp.asarray(counted, total.dtype), total.shape)
    return jax.lax.div(total, counted).astype(x.dtype)


def _convolution(x: Any, weight: Any, *rest: Any) -> Any:
    """Convolve as torchax, which takes the rows of a transposed weight from the wrong groups."""
    import torch
    from torchax.ops.ops_registry import all_aten_ops

    *_, transposed, _, groups = rest
    if transposed and groups > 1:
        shape = weight.shape
        rows = weight.reshape(groups, shape[0] // groups, *shape[1:])
        weight = rows.swapaxes(0, 1).reshape(shape)
    return all_aten_ops[torch.ops.aten.convolution].func(x, weight, *rest)


def _each(values: Sequence[int], axes: int) -> tuple[int, ...]:
    """Return one value for each axis, where PyTorch may give one for all."""
    return tuple(values) * (axes // len(values))


def _beyond(size: Any, kernel: int, stride: int, padding: int) -> int:
    """Return how far the last window of `ceil_mode` ends behind the padding."""
    if not isinstance(size, int):
        raise NotImplementedError("ceil_mode over a dynamic dimension")
    last = -(-(size + 2 * padding - kernel) // stride) * stride
    if last >= size + padding:  # PyTorch leaves out windows that see padding alone
        last -= stride
    return max(last + kernel - size - 2 * padding, 0)


def _running(reduce: Callable[..., Any], x: Any, axis: int, dtype: Any) -> Any:
    """Reduce what stands before each place and at it.

    JAX does it by windows as large as the axis, which XLA does not run once the axis was open:
    there, each place reduces a row of a triangle.
    """
    import jax
    import jax.numpy as jnp

    if dtype is not None:
        x = x.astype(dtype_name(dtype))
    elif not jnp.issubdtype(x.dtype, jnp.inexact):
        x = x.astype(jnp.int64)
    if x.ndim == 0:
        return x
    size = x.shape[axis]
    if isinstance(size, int):
        return (jnp.cumsum if reduce is jnp.sum else jnp.cumprod)(x, axis, dtype=x.dtype)
    rows = jnp.moveaxis(x, axis, -1)[..., None, :]
    place, other = (jax.lax.broadcasted_iota(jnp.int64, (size, size), at) for at in (0, 1))
    neutral = 0 if reduce is jnp.sum else 1
    made = reduce(jnp.where(other <= place, rows, neutral), axis=-1, dtype=x.dtype)
    return jnp.moveaxis(made, -1, axis)


def _integer_product(a: Any, b: Any) -> Any:
    import jax
    import jax.numpy as jnp

    dimensions = (((1,), (0,)), ((), ()))
    return jax.lax.dot_general(a, b, dimensions, preferred_element_type=jnp.int32)


def _factors(a: Any) -> tuple[Any, Any]:
    """Return the LU factors and the pivots as PyTorch counts them, from one."""
    import jax

    factors, pivots, _ = jax.lax.linalg.lu(a)
    return factors, pivots + 1


def _no_errors(a: Any) -> Any:
    import jax.numpy as jnp

    return jnp.zeros(a.shape[:-2], jnp.int32)


def _determinant(a: Any) -> Any:
    import jax.numpy as jnp

    return jnp.linalg.det(a), *_factors(a)


def _log_determinant(a: Any) -> Any:
    import jax.numpy as jnp

    return *jnp.linalg.slogdet(a), *_factors(a)


def _solved(a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    import jax.numpy as jnp

    del check_errors  # nothing can be raised by a program
    vector = b.ndim == a.ndim - 1
    right = b[..., None] if vector else b
    made = jnp.linalg.solve(a, right) if left else jnp.linalg.solve(a.mT, right.mT).mT
    return made[..., 0] if vector else made, *_factors(a), _no_errors(a)


def _inverse(a: Any, *, check_errors: bool = False) -> Any:
    import jax.numpy as jnp

    del check_errors  # as above
    return jnp.linalg.inv(a), _no_errors(a)


def _singular_values(a: Any, full_matrices: bool = False, compute_uv: bool = True, **_: Any) -> Any:
    import jax.numpy as jnp

    if compute_uv:
        return tuple(jnp.linalg.svd(a, full_matrices=full_matrices))
    values = jnp.linalg.svd(a, compute_uv=False)
    return jnp.zeros((0,), a.dtype), values, jnp.zeros((0,), a.dtype)
