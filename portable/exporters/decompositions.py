"""ATen ops in terms of simpler ones, where the backends have no lowering."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

from portable.exporters.counting import counting_ops
from portable.exporters.derivatives import derivative_decompositions
from portable.exporters.images import floats_alone
from portable.exporters.lists import list_ops
from portable.exporters.losses import alignment_loss, loss_ops
from portable.exporters.quantization import quantized_ops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["all_decompositions", "decompositions", "replacements"]


def all_decompositions() -> dict[Any, Callable[..., Any]]:
    """Return `decompositions`, and those of PyTorch and torchax."""
    from torch.export import default_decompositions
    from torchax.decompositions import DECOMPOSITIONS

    table = {**default_decompositions(), **DECOMPOSITIONS, **decompositions()}
    return table | floats_alone(table)


def decompositions() -> dict[Any, Callable[..., Any]]:
    """Return what `ExportedProgram.run_decompositions` takes.

    Returns:
        The op -> the function that does the same.
    """
    import torch

    aten = torch.ops.aten
    return {
        aten._upsample_bicubic2d_aa.default: functools.partial(_resampled, _cubic, 2.0),
        aten._upsample_bilinear2d_aa.default: functools.partial(_resampled, _linear, 1.0),
        aten.adaptive_max_pool2d.default: _adaptive_maxima,
        aten.adaptive_max_pool3d.default: _adaptive_maxima,
        aten.cholesky_inverse.default: _cholesky_inverse,
        aten.embedding_renorm.default: _shortened,
        aten.fractional_max_pool2d.default: functools.partial(_fractional_maxima, (1, 0)),
        aten.fractional_max_pool3d.default: functools.partial(_fractional_maxima, (0, 1, 2)),
        aten.fake_quantize_per_tensor_affine_cachemask.default: _by_tensor,
        aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default: _by_tensor_tensors,
        aten.fake_quantize_per_channel_affine_cachemask.default: _by_channel,
        aten._neg_view.default: torch.neg,
        aten.kthvalue.default: _kth,
        aten.ldexp.Tensor: lambda x, power: x * torch.pow(2.0, power),
        aten.linalg_pinv.atol_rtol_tensor: _pseudo_inverse,
        aten.ormqr.default: _reflected,
        aten.put.default: _put,
        aten.rrelu_with_noise_functional.default: _randomly_leaking,
        aten.scatter.value_reduce: _scattered_value,
        # PyTorch's own decomposition takes the arguments of another overload.
        aten.std_mean.dim: lambda x, axes, unbiased=True, keepdim=False: (
            x.std(axes, unbiased, keepdim),
            x.mean(axes or list(range(x.dim())), keepdim),
        ),
        aten.take.default: lambda x, index: aten.index(x.reshape(-1), [index.reshape(-1)]).reshape(
            index.shape
        ),
        # PyTorch 2.14 has it no more.
        **({aten.cholesky.default: _cholesky} if hasattr(aten, "cholesky") else {}),
        **_of_pytorch(),
        **counting_ops(),
        **derivative_decompositions(),
        **list_ops(),
        **loss_ops(),
        **quantized_ops(),
    }


def _of_pytorch() -> dict[Any, Callable[..., Any]]:
    """Return PyTorch's own decompositions that `torch.export` leaves out."""
    import torch

    table = torch._decomp.decomposition_table
    return {op: how for op, how in table.items() if str(op) in _NOT_IN_EXPORT}


_NOT_IN_EXPORT = {
    "aten._addmm_activation.default",
    "aten._batch_norm_no_update.default",
    "aten._batch_norm_with_update_functional.default",
}


def replacements() -> dict[Any, Callable[..., Any]]:
    """Return what to call in the place of functions of which PyTorch traces nothing.

    Returns:
        The function -> one that does the same, without a look at values.
    """
    import torch

    return {
        torch.corrcoef: _correlations,
        torch.cov: _covariance,
        torch.Tensor.corrcoef: _correlations,
        torch.Tensor.cov: _covariance,
        torch.nn.functional.ctc_loss: alignment_loss,
    }


def _covariance(x: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Return the covariance of rows, each weighed by how often it counts and how much."""
    import torch

    rows = x.reshape(1, -1) if x.dim() < 2 else x
    count = torch.full((), rows.shape[1])
    weights = torch.ones_like(rows[0], dtype=torch.int64) if fweights is None else fweights
    if aweights is not None:
        weights = weights * aweights
    total = count if fweights is None and aweights is None else weights.sum()
    fewer = total - correction
    if aweights is not None and correction:
        fewer = total - correction * (weights * aweights).sum() / total
    apart = rows - ((rows * weights).sum(1) / total)[:, None]
    made = apart @ (apart * weights).mH / fewer.clamp(min=0)
    return made.squeeze()


def _correlations(x: Any) -> Any:
    import torch

    made = _covariance(x)
    if made.dim() == 0:
        return made / made
    spread = made.diagonal().real.sqrt()
    made = made / spread[:, None] / spread
    if not made.is_complex():
        return made.clip(-1, 1)
    return torch.complex(made.real.clip(-1, 1), made.imag.clip(-1, 1))


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


def _fractional_maxima(
    order: Sequence[int], x: Any, kernel: Sequence[int], counts: Sequence[int], samples: Any
) -> Any:
    """Take the largest value of windows that begin at random places, and its place.

    Args:
        order: Which sample each axis begins by.
        x: The images; their sizes are fixed.
        kernel: The sizes of a window.
        counts: How many windows there are along each axis.
        samples: Numbers between 0 and 1, one for each axis of each channel.
    """
    import torch

    axes = len(kernel)
    sizes, outer = x.shape[-axes:], x.shape[:-axes]
    if not all(isinstance(size, int) for size in sizes):
        return NotImplemented
    # PyTorch may have more of them than channels, where there is no batch.
    samples = samples.reshape(-1, axes)[: math.prod(outer)].reshape(*outer, axes)
    flat: Any = 0
    for axis, (size, width, count) in enumerate(zip(sizes, kernel, counts, strict=True)):
        drawn, number = samples[..., order[axis], None], torch.arange(count)
        step = torch.full((), (size - width) / max(count - 1, 1), dtype=samples.dtype)
        first = ((number + drawn) * step).to(torch.int64) - (drawn * step).to(torch.int64)
        first = torch.where(number == count - 1, size - width, first)
        shape = [1] * (2 * axes)
        shape[axis], shape[axes + axis] = count, width
        flat = flat * size + (first[..., None] + torch.arange(width)).view(*outer, *shape)
    windows = flat.flatten(-axes)
    values, at = x.flatten(-axes).gather(-1, flat.flatten(len(outer))).view(windows.shape).max(-1)
    return values, windows.gather(-1, at[..., None])[..., 0]


def _kth(x: Any, k: int, axis: int = -1, keepdim: bool = False) -> Any:
    """Take the k-th smallest value, and its place; NaN is above all."""
    ordered = x.sort(dim=axis, stable=True)
    if not x.dim():
        return ordered
    found = [part.narrow(axis, k - 1, 1) for part in ordered]
    return tuple(found) if keepdim else tuple(part.squeeze(axis) for part in found)


def _cholesky(x: Any, upper: bool = False) -> Any:
    import torch

    return torch.linalg.cholesky_ex(x, upper=upper).L


def _cholesky_inverse(x: Any, upper: bool = False) -> Any:
    """Read one half of each matrix, as PyTorch does."""
    import torch

    one = torch.eye(x.shape[-1], dtype=x.dtype).expand(x.shape)
    inverse = torch.linalg.solve_triangular(x, one, upper=upper)
    return inverse @ inverse.mH if upper else inverse.mH @ inverse


def _pseudo_inverse(x: Any, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Any:
    """Invert what is above both tolerances; of a matrix that is hermitian, read one half."""
    import torch

    if 0 in x.shape:
        return x.new_zeros(x.mT.shape)
    if hermitian:
        values, left = torch.linalg.eigh(x)
        right = left.mH
    else:
        left, values, right = torch.linalg.svd(x, full_matrices=False)
    size = values.abs()
    relative = torch.finfo(x.dtype).eps * max(x.shape[-2:]) if rtol is None else rtol
    if atol is not None and rtol is None:
        relative = torch.where(atol > 0, 0.0, relative)
    least = relative * size.amax(-1)
    least = least if atol is None else torch.maximum(least, atol.to(least.dtype))
    inverse = torch.where(size > least[..., None], 1 / values, 0)
    return (right.mH * inverse[..., None, :]) @ left.mH


def _reflected(a: Any, factors: Any, other: Any, left: bool = True, transpose: bool = False) -> Any:
    """Multiply by the whole Q of the reflections that `aten.geqrf` returns."""
    import torch

    size, count = other.shape[-2 if left else -1], factors.shape[-1]
    pad = torch.nn.functional.pad
    vectors, factors = pad(a[..., :count], (0, size - count)), pad(factors, (0, size - count))
    q = torch.linalg.householder_product(vectors, factors)
    q = q.mH if transpose else q
    return q @ other if left else other @ q


def _put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Put values at places of the flat tensor; torchax adds one where several have one place."""
    places = (index.reshape(-1),)
    return x.reshape(-1).index_put(places, source.reshape(-1), accumulate).view(x.shape)


def _shortened(weight: Any, indices: Any, most: float, norm: float) -> Any:
    """Scale the rows that are read, and longer than that, down to a length."""
    import torch

    length = torch.linalg.vector_norm(weight, norm, 1, keepdim=True)
    read = torch.zeros_like(length).index_fill(0, indices.reshape(-1), 1) > 0
    return torch.where(read & (length > most), weight * (most / (length + 1e-7)), weight)


def _scattered_value(x: Any, axis: int, index: Any, value: Any, *, reduce: str) -> Any:
    import torch

    source = torch.full_like(index, value, dtype=x.dtype)
    return x.scatter_reduce(axis, index, source, {"add": "sum", "multiply": "prod"}[reduce])


def _resampled(
    kernel: Callable[[Any], Any],
    reach: float,
    x: Any,
    sizes: Sequence[int],
    align_corners: bool,
    *scales: float | None,
) -> Any:
    """Resize images, with a kernel that grows where they get smaller.

    Args:
        kernel: The weight of what is so many steps away.
        reach: From how far away it is above zero.
        x: The images; their sizes are fixed.
        sizes: Of the result, height and width.
        align_corners: Whether the scale is that between the outermost pixels.
        scales: Of both axes, where the caller gave them.
    """
    if not x.is_floating_point() or not all(isinstance(size, int) for size in x.shape[-2:]):
        return NotImplemented
    wide = x if x.dtype == _float64() else x.float()
    steps = [
        _step(old, new, align_corners, scale)
        for old, new, scale in zip(x.shape[-2:], sizes, scales or (None, None), strict=True)
    ]
    rows, columns = (
        _shares(kernel, reach, old, new, step).to(wide.dtype)
        for old, new, step in zip(x.shape[-2:], sizes, steps, strict=True)
    )
    return (rows @ (wide @ columns.T)).to(x.dtype)


def _float64() -> Any:
    import torch

    return torch.float64


def _step(old: int, new: int, align_corners: bool, scale: float | None) -> float:
    """Return how many pixels of the old image one of the new is wide."""
    if align_corners:
        return (old - 1) / (new - 1) if new > 1 else 0.0
    return 1 / scale if scale else old / new


def _shares(kernel: Callable[[Any], Any], reach: float, old: int, new: int, step: float) -> Any:
    """Return how much of each old pixel is in each new one, by rows of the new ones."""
    import torch

    wider = max(step, 1.0)
    center = step * (torch.arange(new, dtype=torch.float64)[:, None] + 0.5)
    first = (center - reach * wider + 0.5).to(torch.int64).clamp(min=0)
    end = (center + reach * wider + 0.5).to(torch.int64).clamp(max=old)
    place = torch.arange(old)
    weights = kernel(((place + 0.5 - center) / wider).abs())
    weights = torch.where((place >= first) & (place < end), weights, 0)
    return weights / weights.sum(-1, keepdim=True)


def _linear(x: Any) -> Any:
    return (1.0 - x).clamp(min=0)


def _cubic(x: Any) -> Any:
    """Weigh by the cubic of Keys with a = -0.5, as PyTorch does where it antialiases."""
    import torch

    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return torch.where(x < 1, near, torch.where(x < 2, far, 0))


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
