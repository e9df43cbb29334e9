"""What PyTorch computes derivatives by: ops of their own, most of which have no lowering.

They are JAX's derivatives of what the op itself is lowered to; those of maxima put what they get
where the maxima were.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from portable.exporters.frameworks import parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["derivative_decompositions", "derivative_ops", "pulled_back"]

# Of the framework, which has no types here and is imported where it is used.
_Op = Any

_DIFFERENTIATED = (
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool3d",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_upsample_bicubic2d_aa",
    "_upsample_bilinear2d_aa",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d",
    "_weight_norm_interface",
    "avg_pool2d",
    "avg_pool3d",
    "convolution",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "hardshrink",
    "mish",
    "multi_margin_loss",
    "multilabel_margin_loss_forward",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "silu",
    "softshrink",
    "upsample_bicubic2d",
    "upsample_bilinear2d",
    "upsample_linear1d",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_trilinear3d",
)
_MEAN, _BEST = 1, 2


def derivative_ops() -> dict[_Op, _Op]:
    """Return the ops that are JAX's derivatives of others -> those others."""
    return {
        _default(f"{name.removesuffix('_forward')}_backward"): _default(name)
        for name in _DIFFERENTIATED
    }


def pulled_back(
    op: _Op,
    forward: _Op,
    call: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> Any:
    """Return what an op of `derivative_ops` makes.

    Args:
        op: The op.
        forward: The op that it is the derivative of.
        call: Computes another op on JAX arrays: takes the op and its arguments.
        args: What the op is called with; first the gradient by its result.
        kwargs: The same, by name.

    Returns:
        The derivative by each tensor, None where `output_mask` leaves it out.
    """
    import jax

    names = [parameter.name.removeprefix("saved_") for parameter in parameters(op)]
    defaults = {p.name: p.default_value for p in parameters(op) if p.has_default_value()}
    given = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
    gradient = args[0]
    taken = {p.name: _taken(p, given, gradient) for p in parameters(forward)}
    count = len(op._schema.returns)
    tensors = [p.name for p in parameters(forward) if "Tensor" in str(p.type)][:count]
    wanted = given.get("output_mask", [True] * count)
    chosen = [name for name, one in zip(tensors, wanted, strict=True) if one]

    def result(*values: Any) -> Any:
        changed = taken | dict(zip(chosen, values, strict=True))
        made = call(
            forward,
            *(changed[p.name] for p in parameters(forward) if not p.kwarg_only),
            **{p.name: changed[p.name] for p in parameters(forward) if p.kwarg_only},
        )
        return made[0] if isinstance(made, (tuple, list)) else made

    made, pull = jax.vjp(result, *(taken[name] for name in chosen))
    derivatives = dict(zip(chosen, pull(gradient.astype(made.dtype)), strict=True))
    return derivatives[tensors[0]] if count == 1 else tuple(map(derivatives.get, tensors))


def _taken(parameter: Any, given: Mapping[str, Any], gradient: Any) -> Any:
    """Return an argument of an op; its derivative does not get all of them.

    What is linear in its input does not get the input, but its sizes.
    """
    import jax.numpy as jnp

    name = parameter.name
    if name in given:
        return given[name]
    if name == "output_size":
        return list(gradient.shape[-parameter.N :])
    if name == "self":
        return jnp.zeros(given["input_size"], gradient.dtype)
    if name == "bias" and given["output_mask"][-1]:
        return jnp.zeros(given["bias_sizes"], gradient.dtype)
    return None


def derivative_decompositions() -> dict[_Op, Callable[..., Any]]:
    """Return what `ExportedProgram.run_decompositions` takes.

    Returns:
        The op -> the function that does the same.
    """
    import torch
    from torch._decomp import decomposition_table

    aten = torch.ops.aten
    return {
        aten._cdist_backward.default: _of_distances,
        aten._pdist_backward.default: _of_pairs,
        aten.max_pool2d_with_indices_backward.default: _of_maxima(2),
        aten.max_pool3d_with_indices_backward.default: _of_maxima(3),
        aten.adaptive_max_pool2d_backward.default: _of_maxima(2),
        aten.adaptive_max_pool3d_backward.default: _of_maxima(3),
        aten.fractional_max_pool2d_backward.default: _of_maxima(2),
        aten.fractional_max_pool3d_backward.default: _of_maxima(3),
        aten.masked_scatter_backward.default: _of_scattered,
        aten._embedding_bag_backward.default: _of_bags,
        # PyTorch can decompose these, and leaves them as they are for its own compilers.
        aten.batch_norm_backward.default: decomposition_table[aten.batch_norm_backward.default],
        aten.rrelu_with_noise_backward.default: decomposition_table[
            aten.rrelu_with_noise_backward.default
        ],
    }


def _default(name: str) -> _Op:
    import torch

    return getattr(torch.ops.aten, name).default


def _of_maxima(axes: int) -> Callable[..., Any]:
    """Return the derivative of maxima over so many axes, whose places come last."""

    def derivative(gradient: Any, x: Any, *rest: Any) -> Any:
        flat, places = x.new_zeros(x.shape).flatten(-axes), rest[-1]
        return flat.scatter_add(-1, places.flatten(-axes), gradient.flatten(-axes)).view(x.shape)

    return derivative


def _of_scattered(gradient: Any, mask: Any, sizes: Any) -> Any:
    """Take what lies where the mask is true, in order; the rest of the source was not taken."""
    import torch

    count = math.prod(sizes)
    chosen = mask.expand_as(gradient).flatten()
    place = torch.where(chosen, chosen.cumsum(0) - 1, count)
    taken = gradient.new_zeros(count + 1).scatter_add(0, place, gradient.flatten())
    return taken[:count].view(sizes)


def _of_bags(gradient: Any, indices: Any, offsets: Any, *rest: Any) -> Any:
    """Hand what each bag gets to the rows in it: `aten._embedding_bag_backward`."""
    import torch

    _, _, best, rows, by_frequency, mode, _, weights, *padding = rest
    made = gradient.new_zeros(rows, gradient.shape[1])
    bag = torch.searchsorted(offsets, torch.arange(len(indices)), right=True) - 1
    counted = indices != (padding[0] if padding else -1)
    size = gradient.new_zeros(len(gradient)).index_add(0, bag, counted.to(gradient.dtype))
    if mode == _BEST:
        return made.scatter_add(0, best.long(), torch.where(size[:, None] > 0, gradient, 0))
    share = counted.to(gradient.dtype)
    if weights is not None:
        share = share * weights
    if mode == _MEAN:
        share = share / size.clamp(min=1)[bag]
    if by_frequency:
        share = (
            share / gradient.new_zeros(rows).index_add(0, indices, torch.ones_like(share))[indices]
        )
    return made.index_add(0, indices, gradient[bag] * share[:, None])


def _of_distances(gradient: Any, one: Any, other: Any, norm: float, distance: Any) -> Any:
    """Return the derivative of the distances of all points to all others, by the first ones."""
    import torch

    apart = one[..., :, None, :] - other[..., None, :, :]
    gradient, distance = gradient[..., None], distance[..., None]
    if norm == math.inf:
        share = torch.where(apart.abs() == distance, apart.sign(), 0)
    else:
        share = apart.sign() * (apart.abs() / distance) ** (norm - 1)
    # Where a distance has no derivative, between equal points, PyTorch takes zero.
    equal = (distance == 0) | (apart == 0)
    return torch.where(equal, 0, share * gradient).sum(-2) if norm else torch.zeros_like(one)


def _of_pairs(gradient: Any, x: Any, norm: float, distance: Any) -> Any:
    """Return the derivative of the distances of the points to those after them."""
    import torch

    count = x.shape[0]
    pairs = torch.triu_indices(count, count, 1).unbind()

    def both_ways(values: Any) -> Any:
        above = x.new_zeros(count, count).index_put(pairs, values)
        return above + above.T

    return _of_distances(both_ways(gradient), x, x, norm, both_ways(distance))
