"""Images of uint8, resized as PyTorch does on a CPU: axis by axis, by whole numbers."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["byte_images", "floats_alone"]


def byte_images() -> dict[Any, Callable[..., Any]]:
    """Return the lowerings for images of uint8.

    Returns:
        The op -> a function of JAX arrays, with the arguments of the op.
    """
    import torch

    aten = torch.ops.aten
    keys, pil = (functools.partial(_cubic, a) for a in (-0.75, -0.5))
    return {
        aten.upsample_bilinear2d.default: functools.partial(_resized, (_linear, 1, False)),
        aten.upsample_bicubic2d.default: functools.partial(_resized, (keys, 2, False)),
        aten._upsample_bilinear2d_aa.default: functools.partial(_resized, (_linear, 1, True)),
        aten._upsample_bicubic2d_aa.default: functools.partial(_resized, (pil, 2, True)),
    }


def floats_alone(table: Mapping[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """Return decompositions of these ops that leave those of images of uint8 as they are.

    Args:
        table: The decompositions for images of any type.
    """
    import torch

    def chosen(op: Any, other: Callable[..., Any] | None, x: Any, *args: Any) -> Any:
        if x.dtype is not torch.uint8:
            return other(x, *args) if other else NotImplemented
        return NotImplemented if op is op.overloadpacket.default else _by_sizes(op, x, *args)

    packets = [op.overloadpacket for op in byte_images()]
    ops = [getattr(packet, name) for packet in packets for name in ("default", "vec")]
    return {op: functools.partial(chosen, op, table.get(op)) for op in ops}


def _by_sizes(
    op: Any,
    x: Any,
    sizes: Sequence[int] | None,
    align_corners: bool,
    scales: Sequence[float] | None = None,
) -> Any:
    """Call the overload of an op that takes the sizes of the result."""
    if sizes is None and scales:
        sizes = [math.floor(old * scale) for old, scale in zip(x.shape[-2:], scales, strict=True)]
    return op.overloadpacket.default(x, sizes, align_corners, *(scales or (None, None)))


_Kernel = tuple["Callable[[Any], Any]", int, bool]
"""The weight of what is so many steps away, from how far away it is above zero, and whether it
grows where images get smaller."""


def _resized(
    kernel: _Kernel, x: Any, sizes: Sequence[int], align_corners: bool, *scales: float | None
) -> Any:
    """Resize images, the width before the height.

    Args:
        kernel: By what pixels are weighed.
        x: The images.
        sizes: Of the result, height and width.
        align_corners: Whether the scale is that between the outermost pixels.
        scales: Of both axes, where the caller gave them.
    """
    import jax.numpy as jnp

    made = x.astype(jnp.int32)
    for axis in (-1, -2):
        old, new, scale = x.shape[axis], sizes[axis], (scales or (None, None))[axis]
        if not isinstance(old, int):
            raise NotImplementedError("images of uint8 of dynamic sizes")
        if old == new:
            continue
        step = 1 / scale if scale else old / new
        if align_corners:
            step = (old - 1) / (new - 1) if new > 1 else 0.0
        middle = 0.0 if align_corners and not kernel[2] else 0.5
        weights, bits = _weights(kernel, old, new, step, middle)
        summed = jnp.moveaxis(made, axis, -1) @ weights.T + (1 << (bits - 1))
        made = jnp.moveaxis(jnp.clip(summed >> bits, 0, 255), -1, axis)
    return made.astype(jnp.uint8)


def _weights(kernel: _Kernel, old: int, new: int, step: float, middle: float) -> tuple[Any, int]:
    """Return how much of each old pixel is in each new one, and by how many bits too much."""
    weigh, reach, antialias = kernel
    wider = max(step, 1.0) if antialias else 1.0
    center = step * (np.arange(new)[:, None] + middle)
    first, end = (
        np.floor(center + side * reach * wider + 1 - middle).astype(int) for side in (-1, 1)
    )
    if antialias:  # otherwise the pixels at the edges are seen for those beyond
        first, end = np.maximum(first, 0), np.minimum(end, old)
    place = first + np.arange(int((end - first).max()))
    weights = np.where(place < end, weigh(np.abs((place - center + middle) / wider)), 0.0)
    weights /= weights.sum(-1, keepdims=True)
    made = np.zeros((new, old))
    np.add.at(made, (np.arange(new)[:, None], np.clip(place, 0, old - 1)), weights)
    # As many bits as 16 hold of the largest one.
    bits = next(
        n
        for n in itertools.count()
        if n == _BITS or int(0.5 + np.max(made) * 2 ** (n + 1)) >= 2**15
    )
    return np.trunc(made * 2**bits + np.copysign(0.5, made)).astype(np.int32), bits


_BITS = 22


def _linear(x: Any) -> Any:
    return np.maximum(1 - x, 0)


def _cubic(a: float, x: Any) -> Any:
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, near, np.where(x < _REACH, far, 0))


_REACH = 2
