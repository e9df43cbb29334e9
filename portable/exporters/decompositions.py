"""ATen ops in terms of simpler ones, where the backends have no lowering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.exporters.quantization import quantized_ops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["decompositions"]


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Return what `ExportedProgram.run_decompositions` takes.

    Returns:
        The op -> the function that does the same.
    """
    import torch

    aten = torch.ops.aten
    return {
        aten.adaptive_max_pool2d.default: _adaptive_maxima,
        aten.adaptive_max_pool3d.default: _adaptive_maxima,
        aten.fake_quantize_per_tensor_affine_cachemask.default: _by_tensor,
        aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default: _by_tensor_tensors,  # noqa: SLF001 - ATen's name
        aten.fake_quantize_per_channel_affine_cachemask.default: _by_channel,
        aten.rrelu_with_noise_functional.default: _randomly_leaking,
        **quantized_ops(),
    }


def _adaptive_maxima(x: Any, counts: Sequence[int]) -> Any:
    """Take the largest value of each window, and its place; windows may differ by one in size."""
    import torch

    axes = len(counts)
    sizes = x.shape[-axes:]
    if not all(isinstance(size, int) for size in sizes):
        return NotImplemented
    chosen: list[Any] = []
    for axis, (size, count) in enumerate(zip(sizes, counts, strict=True)):
        starts = [number * size // count for number in range(count)]
        ends = [-(-(number + 1) * size // count) for number in range(count)]
        widest = max(end - start for start, end in zip(starts, ends, strict=True))
        window = torch.arange(count)[:, None]
        first, last = window * size // count, ((window + 1) * size + count - 1) // count - 1
        # A narrower window sees its last value twice.
        places = torch.minimum(first + torch.arange(widest), last)
        shape = [1] * (2 * axes)
        shape[axis], shape[axes + axis] = count, widest
        chosen.append(places.view(shape))
    flat = chosen[0]
    for size, places in zip(sizes[1:], chosen[1:], strict=True):
        flat = flat * size + places
    windows = x[(..., *chosen)].flatten(-axes)
    values, at = windows.max(-1)
    flat = flat.flatten(-axes).expand(windows.shape)
    return values, flat.gather(-1, at[..., None])[..., 0]


def _by_tensor(x: Any, scale: float, zero: int, low: int, high: int) -> tuple[Any, Any]:
    import torch

    # PyTorch multiplies by the inverse of the scale, in float32.
    held = torch.full((), scale, dtype=torch.float32)
    return _fake_quantized(x, held, zero, (low, high))


def _by_tensor_tensors(x: Any, scale: Any, zero: Any, *rest: Any) -> tuple[Any, Any]:
    import torch

    enabled, low, high = rest
    quantized, mask = _fake_quantized(x, scale, zero, (low, high))
    on = enabled != 0
    return torch.where(on, quantized, x), torch.where(on, mask, torch.ones_like(mask))


def _by_channel(x: Any, scale: Any, zero: Any, *rest: Any) -> tuple[Any, Any]:
    axis, low, high = rest
    shape = [-1 if dimension == axis else 1 for dimension in range(x.dim())]
    return _fake_quantized(x, scale.view(shape), zero.view(shape), (low, high))


def _fake_quantized(x: Any, scale: Any, zero: Any, bounds: tuple[int, int]) -> tuple[Any, Any]:
    import torch

    low, high = bounds
    whole = torch.round(x * (1.0 / scale) + zero)  # half to even, as PyTorch rounds
    mask = (whole >= low) & (whole <= high)
    return ((torch.clamp(whole, low, high) - zero) * scale).to(x.dtype), mask


def _randomly_leaking(
    x: Any, noise: Any, low: float = 1 / 8, high: float = 1 / 3, training: bool = False, *_: Any
) -> tuple[Any, Any]:
    """Scale what is negative by a random factor, and by the mean of the bounds in eval mode."""
    import torch

    if not training:
        return torch.nn.functional.leaky_relu(x, (low + high) / 2), noise
    factor = torch.where(x <= 0, torch.rand_like(x) * (high - low) + low, 1)
    return x * factor, factor
