"""Lowerings of our own where torchax has none, or one that does not trace: ATen ops on JAX arrays.

What can be said in ATen stands in `portable.exporters.decompositions`.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from portable.exporters.frameworks import ExportFailed, dtype_name
from portable.exporters.numbers import number_of
from portable.exporters.special_functions import special_functions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["lowerings", "stored_lowerings"]

_SUM, _MEAN = 0, 1
_WIDE = 4  # bytes
_ROOTED = ("float32", "float64", "bfloat16")


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
        "_is_all_true": jnp.all,
        "_is_any_true": jnp.any,
        "_linalg_eigh": _eigen,
        "_linalg_solve_ex": _solved,
        "_linalg_svd": _singular_values,
        "_scaled_mm": _scaled_product,
        "_weight_int8pack_mm": lambda x, rows, scales: x @ rows.T.astype(x.dtype) * scales,
        "avg_pool1d": _average,
        "avg_pool2d": _average,
        "avg_pool3d": _average,
        "convolution": _convolution,
        "cummax": lambda x, axis: _running_best(jnp.greater_equal, x, axis),
        "cummin": lambda x, axis: _running_best(jnp.less_equal, x, axis),
        "cumprod": lambda x, axis, dtype=None: _running(jnp.prod, x, axis, dtype),
        "cumsum": lambda x, axis, dtype=None: _running(jnp.sum, x, axis, dtype),
        "diagonal_scatter": _diagonal,
        "full_like": _filled,
        "hash_tensor": _hashed,
        "flip": lambda x, axes: jnp.flip(x, tuple(axes)) if x.ndim else x,
        "geqrf": _reflections,
        "index_put": _put_at,
        "linalg_cholesky_ex": _cholesky,
        "linalg_inv_ex": _inverse,
        "linalg_lu": _factored,
        "linalg_matrix_exp": _exponential,
        "logcumsumexp": _running_sum_of_powers,
        "lu_unpack": _unpacked,
        "max_pool2d_with_indices": functools.partial(_maxima, 2),
        "max_pool3d_with_indices": functools.partial(_maxima, 3),
        "mode": _most_frequent,
        "nonzero_static": _places,
        "slice_scatter": _sliced,
        "topk": _best,
    }
    for axes in (1, 2, 3):
        table[f"upsample_nearest{axes}d"] = functools.partial(_nearest, 0.0)
        table[f"_upsample_nearest_exact{axes}d"] = functools.partial(_nearest, 0.5)
    found = {getattr(aten, name).default: how for name, how in table.items() if hasattr(aten, name)}
    found |= {
        aten.item.default: number_of,
        aten._local_scalar_dense.default: number_of,
        aten.arange.start_step: _counted,
        aten.div.Scalar_mode: _quotient,
        aten.div.Tensor_mode: _quotient,
        # torchax subtracts multiples, which loses digits of floats.
        aten.fmod.Scalar: _remainder,
        aten.fmod.Tensor: _remainder,
        aten.mean.default: _mean,
        aten.mean.dim: _mean,
        aten.pow.Scalar: _powers,
        aten.pow.Tensor_Scalar: _powers,
        aten.pow.Tensor_Tensor: _powers,
        aten.repeat_interleave.Tensor: _repeated,
        torch.ops.prims.convert_element_type.default: _converted,
        aten._to_copy.default: lambda x, dtype=None, **_: _converted(x, dtype),
        aten.scalar_tensor.default: _held,
        aten.view.dtype: _bits,
        aten.scatter_reduce.two: _scattered,
        aten.searchsorted.Scalar: _searched,
        aten.searchsorted.Tensor: _searched,
        torch.sym_float: lambda size: (
            size * 1.0
        ),  # what is a number of the program where it is open
        **special_functions(),
        # A program asserts nothing, of a singular matrix or a class that is out of range.
        **{
            getattr(packet, overload): lambda *_, **__: None
            for packet in (
                aten._assert_async,
                aten._assert_scalar,
                aten._linalg_check_errors,
                aten.sym_constrain_range,
                aten.sym_constrain_range_for_size,
            )
            for overload in packet.overloads()
        },
    }
    if hasattr(torch.ops.transformers, "grouped_mm_fallback"):  # where transformers is imported
        found[torch.ops.transformers.grouped_mm_fallback.default] = _grouped_product
    return found


def stored_lowerings() -> dict[Any, Callable[..., Any]]:
    """Return the lowerings of ops that depend on how PyTorch stores their first argument.

    Returns:
        The op -> a function of what PyTorch knows of that tensor, and of the arguments of the op.
    """
    import torch

    aten = torch.ops.aten
    return {
        aten._linalg_det.default: _determinant,
        aten._linalg_slogdet.default: _log_determinant,
        aten.as_strided.default: _strided,
        aten.resize.default: _resized,
    }


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
    size = best = jnp.zeros(bags, jnp.int64).at[bag].add(counted)
    if mode in {_SUM, _MEAN}:
        kept = jnp.where(counted[:, None], rows, 0)
        made = jnp.zeros((bags, weight.shape[1]), rows.dtype).at[bag].add(kept)
        if mode == _MEAN:
            made = made / jnp.maximum(size, 1).astype(made.dtype)[:, None]
    else:
        kept = jnp.where(counted[:, None], rows, -jnp.inf)
        made = jax.ops.segment_max(kept, bag, bags)
        first = jnp.where(kept == made[bag], places[:, None], len(places) - 1)
        best = indices[jax.ops.segment_min(first, bag, bags)]
        made = jnp.where(size[:, None] > 0, made, 0)
    # The rest is for derivatives.
    return made, bag.astype(indices.dtype), size, best


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


def _average(
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
        zero = np.zeros((), values.dtype)  # of numpy: JAX differentiates sums, known by their zero
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


def _maxima(
    axes: int,
    x: Any,
    kernel: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Any:
    """Return the largest value of each window, and its place: of equals the first, of NaN the last.

    torchax makes int32 of integers, and takes any of equals, as XLA happens to meet them.
    """
    import jax
    import jax.numpy as jnp

    outer, sizes = (1,) * (x.ndim - axes), x.shape[-axes:]
    kernel, steps = _each(kernel, axes), _each(dilation, axes)
    strides, paddings = _each(stride or kernel, axes), _each(padding, axes)
    beyond = [0] * axes
    if ceil_mode:
        reach = [step * (size - 1) + 1 for step, size in zip(steps, kernel, strict=True)]
        beyond = list(map(_beyond, sizes, reach, strides, paddings))
    floats = jnp.issubdtype(x.dtype, jnp.floating)
    least = np.array(-np.inf if floats else jnp.iinfo(x.dtype).min, x.dtype)
    place = jnp.zeros(x.shape, jnp.int64)
    for axis, size in enumerate(sizes, len(outer)):
        place = place * size + jax.lax.broadcasted_iota(jnp.int64, x.shape, axis)

    def better(one: Any, other: Any) -> Any:
        (a, i), (b, j) = one, other
        nan, no = a != a, b == b  # noqa: PLR0124 - NaN
        kept = jnp.where(nan, no | (i > j), no & ((a > b) | ((a == b) & (i < j))))
        return jnp.where(kept, a, b), jnp.where(kept, i, j)

    edges = [(0, 0)] * len(outer)
    edges += [(low, low + more) for low, more in zip(paddings, beyond, strict=True)]
    window = {
        "window_dimensions": (*outer, *kernel),
        "window_strides": (*outer, *strides),
        "padding": edges,
        "window_dilation": (*outer, *steps),
    }
    first = least, np.array(np.iinfo(np.int64).max)
    _, places = jax.lax.reduce_window((jax.lax.stop_gradient(x), place), first, better, **window)
    return jax.lax.reduce_window(x, least, jax.lax.max, **window), places


def _most_frequent(x: Any, axis: int = -1, keepdim: bool = False) -> Any:
    """Return what occurs most often, and where it is last, as PyTorch does of up to 16 values."""
    import jax.numpy as jnp
    import torch
    from torchax.ops.ops_registry import all_aten_ops

    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)
    value, _ = all_aten_ops[torch.ops.aten.mode].func(x, axis, True)
    last = x.shape[axis] - 1 - jnp.argmax(jnp.flip(x == value, axis), axis, keepdims=True)
    return (value, last) if keepdim else (value.squeeze(axis), last.squeeze(axis))


def _powers(x: Any, y: Any) -> Any:
    """Raise integers to the power of integers exactly; torchax does it in float64."""
    import jax
    import jax.numpy as jnp
    import torch
    from torchax.ops.ops_registry import all_aten_ops

    whole = all(
        jnp.issubdtype(v.dtype, jnp.integer) if hasattr(v, "dtype") else isinstance(v, int)
        for v in (x, y)
    )
    root = {0.5: jax.lax.sqrt, -0.5: jax.lax.rsqrt}.get(y) if isinstance(y, float) else None
    if root is not None and x.dtype in _ROOTED:
        return root(x)  # as PyTorch on a CPU: NaN of -inf, which a power makes infinite
    if not whole:
        return all_aten_ops[torch.ops.aten.pow].func(x, y)
    if not hasattr(y, "dtype"):
        return jax.lax.integer_pow(x, y)
    dtype = jnp.result_type(x, y)
    base, power = jnp.broadcast_arrays(jnp.asarray(x, dtype), jnp.asarray(y, dtype))

    def squared(values: Any) -> Any:
        made, factor, left = values
        made = jnp.where(left & 1 == 1, made * factor, made)
        return made, factor * factor, left >> 1

    start = jnp.ones_like(base), base, jnp.maximum(power, 0)
    made, _, _ = jax.lax.while_loop(lambda values: (values[2] > 0).any(), squared, start)
    odd = jnp.where(power & 1 == 1, base, 1)
    below = jnp.where(abs(base) == 1, odd, 0)  # 1 / base, without what comes behind the point
    return jnp.where(power < 0, below, made)


def _repeated(repeats: Any, *, output_size: int | None = None) -> Any:
    import jax.numpy as jnp

    places = jnp.arange(repeats.shape[0], dtype=repeats.dtype)
    return jnp.repeat(places, repeats, total_repeat_length=output_size)


def _scattered(
    x: Any, axis: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """Reduce what comes to each place; torchax has infinity as the least and largest integer."""
    import jax.numpy as jnp
    import torch
    from torchax.ops.ops_registry import all_aten_ops

    scatter = all_aten_ops[torch.ops.aten.scatter_reduce].func
    if reduce in {"amin", "amax"} and not include_self and jnp.issubdtype(x.dtype, jnp.integer):
        bounds = jnp.iinfo(x.dtype)
        worst = bounds.max if reduce == "amin" else bounds.min
        x, include_self = scatter(x, axis, index, jnp.full_like(source, worst)), True
    return scatter(x, axis, index, source, reduce, include_self=include_self)


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


def _nearest(middle: float, x: Any, sizes: Sequence[int], *scales: float | None) -> Any:
    """Take what is at each place of the last axes once resized; counted in float32, as PyTorch."""
    import jax.numpy as jnp

    first = x.ndim - len(sizes)
    for axis, (new, scale) in enumerate(itertools.zip_longest(sizes, scales), first):
        old = x.shape[axis]
        step = np.float32(1 / scale if scale else old / new)
        places = np.floor((np.arange(new, dtype=np.float32) + np.float32(middle)) * step)
        x = jnp.take(x, np.minimum(places.astype(np.int64), old - 1), axis)
    return x


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


def _running_best(better: Callable[..., Any], x: Any, axis: int) -> Any:
    """Return the best value up to each place and where it is: the last of equals, NaN above all."""
    import jax
    import jax.numpy as jnp

    if x.ndim == 0:
        return x, jnp.zeros((), jnp.int64)

    def later(one: Any, other: Any) -> Any:
        (old, _), (new, _) = one, other
        taken = (new != new) | ((old == old) & better(new, old))  # noqa: PLR0124 - NaN
        return jax.tree.map(lambda a, b: jnp.where(taken, b, a), one, other)

    place = jax.lax.broadcasted_iota(jnp.int64, x.shape, axis % x.ndim)
    if isinstance(x.shape[axis], int):
        return jax.lax.associative_scan(later, (x, place), axis=axis)
    rows = [jnp.moveaxis(value, axis, 0) for value in (x, place)]
    first = tuple(row[0] for row in rows)

    def turn(best: Any, row: Any) -> Any:
        best = later(best, row)
        return best, best

    _, made = jax.lax.scan(turn, first, tuple(rows))
    return tuple(jnp.moveaxis(value, 0, axis) for value in made)


def _searched(
    ordered: Any,
    value: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """Find where values belong in rows that are sorted: one row for all, or one for each row."""
    import jax
    import jax.numpy as jnp

    if sorter is not None:
        ordered = jnp.take_along_axis(ordered, sorter, -1)
    values = jnp.asarray(value)
    dtype = jnp.promote_types(ordered.dtype, values.dtype) if values.ndim else ordered.dtype
    if not values.ndim and jnp.issubdtype(values.dtype, jnp.floating):
        dtype = jnp.promote_types(ordered.dtype, jnp.float32)
    ordered, values = ordered.astype(dtype), values.astype(dtype)
    end = "right" if right or side == "right" else "left"

    def found(row: Any, wanted: Any) -> Any:
        if isinstance(row.shape[0], int):
            return jnp.searchsorted(row, wanted, side=end)
        passed = jnp.less_equal if end == "right" else jnp.less
        nan = jnp.isnan(wanted[..., None]) & ((end == "right") | ~jnp.isnan(row))
        return (passed(row, wanted[..., None]) | nan).sum(-1)

    for _ in range(ordered.ndim - 1):
        found = jax.vmap(found)
    return found(ordered, values).astype(jnp.int32 if out_int32 else jnp.int64)


def _places(x: Any, *, size: int, fill_value: int = -1) -> Any:
    """Return where values are not zero, as many as there is room for."""
    import jax.numpy as jnp

    if x.ndim == 0:
        return jnp.zeros((size, 0), jnp.int64)
    if 0 in x.shape:  # of which JAX fills with zeros
        return jnp.full((size, x.ndim), fill_value, jnp.int64)
    return jnp.argwhere(x, size=size, fill_value=fill_value).astype(jnp.int64)


def _counted(start: Any, end: Any, step: Any = 1, *, dtype: Any = None, **_: Any) -> Any:
    """Count from `start` to `end`, which may depend on dynamic dimensions."""
    import jax.numpy as jnp
    import torch

    if all(isinstance(value, (int, float)) for value in (start, end, step)):
        kind = None if dtype is None else dtype_name(dtype)
        if dtype is None or dtype.is_floating_point:
            return jnp.arange(start, end, step, dtype=kind)
        # Before 2.14 PyTorch truncates to int64 before it finds how many there are.
        (count,) = torch.arange(start, end, step, dtype=dtype, device="meta").shape
        # A whole number: what is below zero in floats, XLA makes 0 of in an unsigned type.
        return (jnp.arange(count) * int(step) + int(start)).astype(kind)
    made = jnp.arange(-((start - end) // step)) * step + start
    return made if dtype is None else made.astype(dtype_name(dtype))


def _remainder(x: Any, divisor: Any) -> Any:
    import jax
    import jax.numpy as jnp

    whole = jnp.issubdtype(x.dtype, jnp.integer)
    if not hasattr(divisor, "dtype") and not isinstance(divisor, float) and whole:
        return jax.lax.rem(x, jnp.broadcast_to(jnp.asarray(divisor, x.dtype), x.shape))
    return jnp.fmod(x, divisor)


def _quotient(x: Any, y: Any, *, rounding_mode: str | None = None) -> Any:
    """Divide integers as integers; torchax truncates quotients of floats, which have fewer bits."""
    import jax
    import jax.numpy as jnp
    import torch
    from torchax.ops.ops_registry import all_aten_ops

    whole = all(
        jnp.issubdtype(v.dtype, jnp.integer) if hasattr(v, "dtype") else type(v) is int
        for v in (x, y)
    )
    if whole and rounding_mode == "trunc":
        dtype = jnp.result_type(x, y)
        return jax.lax.div(*jnp.broadcast_arrays(*(jnp.asarray(v, dtype) for v in (x, y))))
    return all_aten_ops[torch.ops.aten.div].func(x, y, rounding_mode or "")


def _mean(x: Any, axes: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    import jax.numpy as jnp

    axes = tuple(axes) if axes and x.ndim else None
    return jnp.mean(x, axes, None if dtype is None else dtype_name(dtype), keepdims=keepdim)


def _best(x: Any, count: int, axis: int = -1, largest: bool = True, *_: Any) -> tuple[Any, Any]:
    """Return the largest or the smallest values in order, and their places; NaN above all.

    torchax negates to find the smallest, which the least integer has no place for. XLA orders NaN
    by its sign, which x86 sets where it makes one.
    """
    import jax
    import jax.numpy as jnp

    if not x.ndim:
        return x, jnp.zeros((), jnp.int64)
    turned = x if largest else -x if jnp.issubdtype(x.dtype, jnp.floating) else ~x
    if jnp.issubdtype(x.dtype, jnp.floating):
        turned = jnp.where(jnp.isnan(x), np.copysign(np.nan, 1 if largest else -1), turned)
    _, places = jax.lax.top_k(jnp.moveaxis(turned, axis, -1), count)
    places = jnp.moveaxis(places, -1, axis)
    return jnp.take_along_axis(x, places, axis), places


def _put_at(x: Any, places: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    """Put values at places, or where a mask is true, before which axes may be whole."""
    import jax.numpy as jnp
    import torch
    from torchax.ops.ops_registry import all_aten_ops

    put = all_aten_ops[torch.ops.aten.index_put].func
    given = [n for n, place in enumerate(places) if place is not None]
    if all(places[n].dtype != jnp.bool_ for n in given):
        return put(x, places, values, accumulate)
    if len(given) > 1:
        raise ExportFailed("a mask beside other places", hint="use torch.where(mask, values, x)")
    first, mask = given[0], places[given[0]]
    axes, front = range(first, first + mask.ndim), range(mask.ndim)
    moved = jnp.moveaxis(x, axes, front)
    rest = moved.shape[mask.ndim :]
    # One row of values for each place of the mask, or one for all.
    values = values.reshape((1,) * (len(rest) + 1 - values.ndim) + values.shape)
    rows = jnp.moveaxis(values, first, 0)
    rows = jnp.broadcast_to(rows, (rows.shape[0], *rest))
    made = put(moved, [mask], rows[0] if rows.shape[0] == 1 else rows, accumulate)
    return jnp.moveaxis(made, front, axes)


def _diagonal(x: Any, values: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Replace a diagonal as torchax, which counts axes from the first alone."""
    import torch
    from torchax.ops.ops_registry import all_aten_ops

    replace = all_aten_ops[torch.ops.aten.diagonal_scatter].func
    return replace(x, values, offset, dim1 % x.ndim, dim2 % x.ndim)


def _sliced(
    x: Any,
    values: Any,
    axis: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Any:
    """Replace a slice; torchax counts axes from the first alone."""
    return x.at[(*[slice(None)] * (axis % x.ndim), slice(start, end, step))].set(values)


def _running_sum_of_powers(x: Any, axis: int) -> Any:
    import jax

    return jax.lax.cumlogsumexp(x, axis % x.ndim) if x.ndim else x


def _converted(x: Any, dtype: Any) -> Any:
    """Convert as PyTorch does on x86: of a float, integers keep the lowest bits; XLA saturates."""
    import jax.numpy as jnp

    if dtype is None:
        return x
    wanted = jnp.dtype(dtype_name(dtype))
    if jnp.issubdtype(x.dtype, jnp.floating) and jnp.issubdtype(wanted, jnp.integer):
        x = x.astype(jnp.int64 if wanted.itemsize < _WIDE else wanted)
    return x.astype(wanted)


def _held(value: Any, *, dtype: Any = None, **_: Any) -> Any:
    """Return a number as PyTorch holds it, without the bits that its type has no place for."""
    import jax.numpy as jnp

    if isinstance(value, int) and dtype is not None and not dtype.is_floating_point:
        return jnp.asarray(np.asarray(value).astype(dtype_name(dtype)))
    return jnp.asarray(value, None if dtype is None else dtype_name(dtype))


def _filled(x: Any, value: Any, *, dtype: Any = None, **_: Any) -> Any:
    import jax.numpy as jnp

    return jnp.full_like(x, value, None if dtype is None else dtype_name(dtype))


def _integer_product(a: Any, b: Any) -> Any:
    import jax
    import jax.numpy as jnp

    dimensions = (((1,), (0,)), ((), ()))
    return jax.lax.dot_general(a, b, dimensions, preferred_element_type=jnp.int32)


def _scaled_product(
    a: Any,
    b: Any,
    scale_a: Any,
    scale_b: Any,
    bias: Any = None,
    scale: Any = None,
    *_: Any,
    **__: Any,
) -> Any:
    """Multiply matrices of float8, each with one scale, or one for each row and each column."""
    import jax.numpy as jnp

    rows, columns = (a.shape[0], 1), (1, b.shape[1])
    if scale_a.shape not in {(), (1,), (1, 1), rows} or scale_b.shape not in {
        (),
        (1,),
        (1, 1),
        columns,
    }:
        raise NotImplementedError("scales of blocks")
    if scale is not None:
        raise NotImplementedError("a scale of the result")
    made = jnp.matmul(a.astype(jnp.float32), b.astype(jnp.float32)) * scale_a * scale_b
    return made if bias is None else made + bias.astype(jnp.float32)


def _factors(a: Any) -> tuple[Any, Any]:
    """Return the LU factors and the pivots as PyTorch counts them, from one."""
    import jax

    factors, pivots, _ = jax.lax.linalg.lu(a)
    return factors, pivots + 1


def _factored(a: Any, *, pivot: bool = True) -> tuple[Any, Any, Any]:
    factors, pivots = _factors(a)
    if not pivot:
        raise NotImplementedError("pivot=False")
    return _unpacked(factors, pivots)


def _unpacked(
    factors: Any, pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Any, Any, Any]:
    """Return the permutation, the lower and the upper triangle of what `_factors` returns."""
    import jax
    import jax.numpy as jnp

    rows, columns = factors.shape[-2:]
    least = min(rows, columns)
    permutation = lower = upper = jnp.zeros((0,), factors.dtype)
    if unpack_pivots:
        order = jax.lax.linalg.lu_pivots_to_permutation(pivots - 1, rows)
        permutation = (order[..., None, :] == jnp.arange(rows)[:, None]).astype(factors.dtype)
    if unpack_data:
        one = jnp.eye(rows, least, dtype=factors.dtype)
        lower = jnp.tril(factors[..., :least], -1) + one
        upper = jnp.triu(factors[..., :least, :])
    return permutation, lower, upper


def _no_errors(a: Any) -> Any:
    import jax.numpy as jnp

    return jnp.zeros(a.shape[:-2], jnp.int32)


def _kept(stored: Any, a: Any) -> tuple[Any, Any]:
    """Return the factors for derivatives: of the transpose where PyTorch takes that."""
    is_transposed = stored.is_contiguous() and not stored.is_complex()
    return _factors(a.mT if is_transposed else a)


def _determinant(stored: Any, a: Any) -> Any:
    import jax.numpy as jnp

    return jnp.linalg.det(a), *_kept(stored, a)


def _log_determinant(stored: Any, a: Any) -> Any:
    import jax.numpy as jnp

    return *jnp.linalg.slogdet(a), *_kept(stored, a)


def _strided(base: Any, x: Any, sizes: Any, strides: Any, offset: int | None = None) -> Any:
    """Read memory by strides: what lies there is the base in the order in which PyTorch stores it.

    Args:
        base: What PyTorch knows of the tensor that is read.
        x: Its value.
        sizes: Of the result.
        strides: Of the result.
        offset: Where it begins; by default where the base does.
    """
    import jax.numpy as jnp

    order = sorted(range(base.dim()), key=lambda axis: (-base.stride(axis), axis))
    if base.storage_offset() or not base.permute(order).is_contiguous():
        raise ExportFailed(
            "as_strided of a tensor that does not lie in its memory whole and in one piece",
            hint="call .contiguous() before",
        )
    places = jnp.full((), offset or 0, jnp.int64)
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        shape = [1] * axis + [size] + [1] * (len(sizes) - axis - 1)
        places = places + jnp.arange(size, dtype=jnp.int64).reshape(shape) * stride
    return jnp.transpose(x, order).ravel()[places]


def _resized(base: Any, x: Any, sizes: Sequence[int], **_: Any) -> Any:
    """Read the memory of a tensor from its beginning in another shape."""
    import torch

    count = math.prod(sizes)
    if count > base.numel():
        raise ExportFailed(
            f"resize of {base.numel()} elements to {count}: the rest has no values",
            hint="pad it: torch.nn.functional.pad",
        )
    return _strided(base, x, sizes, torch.empty(sizes, device="meta").stride())


def _bits(x: Any, dtype: Any) -> Any:
    """Read the bits of a tensor as another type; its last axis gets as much longer or shorter."""
    import jax
    import jax.numpy as jnp

    wanted = jnp.dtype(dtype_name(dtype))
    real = jnp.finfo(wanted).dtype if jnp.issubdtype(wanted, jnp.complexfloating) else wanted
    if jnp.iscomplexobj(x):
        x = jnp.stack([x.real, x.imag], -1).reshape(*x.shape[:-1], -1)
    if x.dtype == jnp.bool_:
        x = x.astype(jnp.uint8)
    held = jnp.dtype(jnp.uint8) if real == jnp.bool_ else real
    old, new = x.dtype.itemsize, held.itemsize
    if old < new:
        x = x.reshape(*x.shape[:-1], -1, new // old)
    x = jax.lax.bitcast_convert_type(x, held)
    if old > new:
        x = x.reshape(*x.shape[:-2], -1)
    if real == jnp.bool_:
        return x != 0
    return x if real == wanted else jax.lax.complex(x[..., ::2], x[..., 1::2])


def _hashed(
    x: Any, axes: Sequence[int] = (), *, keepdim: bool = False, mode: int = 0, **_: Any
) -> Any:
    """Combine the bits of all elements, as float64 or int64, by exclusive or."""
    import jax
    import jax.numpy as jnp

    if mode:  # PyTorch knows no other mode than 0 either
        raise NotImplementedError(f"mode={mode}")
    wide = jnp.float64 if jnp.issubdtype(x.dtype, jnp.floating) else jnp.int64
    bits = jax.lax.bitcast_convert_type(x.astype(wide), jnp.uint64)
    axes = tuple(axis % x.ndim for axis in axes) or tuple(range(x.ndim))
    made = jax.lax.reduce(bits, np.uint64(0), jax.lax.bitwise_xor, axes)
    return jnp.expand_dims(made, axes) if keepdim else made


def _eigen(a: Any, half: str = "L", compute_v: bool = True) -> tuple[Any, Any]:
    """Read one half of each matrix, as PyTorch does; torchax takes the mean of both."""
    import jax
    import jax.numpy as jnp

    lower = half.upper() == "L"
    vectors, values = jax.lax.linalg.eigh(a, lower=lower, symmetrize_input=False)
    return values, vectors if compute_v else jnp.zeros((0,), a.dtype)


def _cholesky(a: Any, *, upper: bool = False, check_errors: bool = False) -> tuple[Any, Any]:
    """Read one half of each matrix, as `_eigen`."""
    import jax
    import jax.numpy as jnp

    del check_errors  # nothing can be raised by a program
    below = jnp.conj(a.mT) if upper else a
    made = jnp.tril(jax.lax.linalg.cholesky(below, symmetrize_input=False))
    return jnp.conj(made.mT) if upper else made, _no_errors(a)


def _solved(a: Any, b: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    import jax.numpy as jnp

    del check_errors  # nothing can be raised by a program
    vector = b.ndim == a.ndim - 1
    right = b[..., None] if vector else b
    made = jnp.linalg.solve(a, right) if left else jnp.linalg.solve(a.mT, right.mT).mT
    return made[..., 0] if vector else made, *_factors(a), _no_errors(a)


def _reflections(a: Any) -> tuple[Any, Any]:
    import jax.numpy as jnp

    vectors, factors = jnp.linalg.qr(a, mode="raw")
    return vectors.mT, factors


def _exponential(a: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.scipy.linalg.expm(a.astype(jnp.promote_types(a.dtype, jnp.float32)))


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
