"""ATen's histograms, segments, medians and other counts, in terms of simpler ops."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["counting_ops"]

_REDUCED = {"sum": "sum", "prod": "prod", "mean": "sum", "max": "amax", "min": "amin"}
_EMPTY = {"sum": 0.0, "prod": 1.0, "mean": 0.0, "max": -float("inf"), "min": float("inf")}
_MEAN, _SUM = 1, 2


def counting_ops() -> dict[Any, Callable[..., Any]]:
    """Return what `ExportedProgram.run_decompositions` takes.

    Returns:
        The op -> the function that does the same.
    """
    import torch

    aten = torch.ops.aten
    return {
        aten._histogramdd_bin_edges.default: _edges,
        aten._histogramdd_from_bin_cts.default: _of_counts,
        aten._histogramdd_from_bin_tensors.default: _histogram,
        aten.histogram.bin_ct: _of_count,
        aten.histogram.bins_tensor: _of_edges,
        aten.index_reduce.default: _index_reduce,
        aten.median.default: functools.partial(_whole_median, ignored=False),
        aten.median.dim: functools.partial(_median, ignored=False),
        aten.multilabel_margin_loss_forward.default: _multilabel_margin,
        aten.nanmedian.default: functools.partial(_whole_median, ignored=True),
        aten.nanmedian.dim: functools.partial(_median, ignored=True),
        aten.segment_reduce.default: _segment_reduce,
    }


def _edges(x: Any, bins: Sequence[int], *, range: Any = None, **_: Any) -> list[Any]:  # noqa: A002 - ATen's name
    """Return the edges of bins of one width, along each axis of points of so many."""
    import torch

    made, points = [], x.reshape(-1, len(bins))
    for axis, count in enumerate(bins):
        if range is None:
            low, high = points[:, axis].aminmax()
        else:
            low, high = (x.new_full((), range[2 * axis + end]) for end in (0, 1))
        flat = low == high  # then PyTorch takes a bin of width one
        low, high = torch.where(flat, low - 0.5, low), torch.where(flat, high + 0.5, high)
        step, place = (high - low) / count, torch.arange(count + 1)
        # From both ends, as torch.linspace counts.
        near = place < (count + 1) // 2
        made.append(torch.where(near, low + step * place, high - step * (count - place)))
    return made


def _histogram(x: Any, bins: Sequence[Any], *, weight: Any = None, density: bool = False) -> Any:
    """Count the points in each bin; the last bin of an axis has its right edge in it."""
    import torch

    points = x.reshape(-1, len(bins))
    flat, inside = torch.zeros_like(points[:, 0], dtype=torch.int64), None
    for axis, edges in enumerate(bins):
        values, last = points[:, axis].contiguous(), edges.shape[0] - 2
        place = torch.bucketize(values, edges, right=True) - 1
        within = (values >= edges[0]) & (values <= edges[-1])
        flat = flat * (last + 1) + place.clamp(0, last)
        inside = within if inside is None else inside & within
    weights = torch.ones_like(points[:, 0]) if weight is None else weight.reshape(-1)
    sizes = [edges.shape[0] - 1 for edges in bins]
    made = points.new_zeros(functools.reduce(lambda a, b: a * b, sizes))
    made = made.index_add(0, flat, torch.where(inside, weights, 0).to(made.dtype)).reshape(sizes)
    if density:
        made = made / made.sum()
        for axis, edges in enumerate(bins):
            widths = edges.diff()
            made = made / widths.reshape([-1 if axis == a else 1 for a in range(len(bins))])
    return made


def _of_counts(x: Any, bins: Sequence[int], *, range: Any = None, **named: Any) -> Any:  # noqa: A002 - ATen's name
    return _histogram(x, _edges(x, bins, range=range), **named)


def _of_count(x: Any, bins: int = 100, *, range: Any = None, **named: Any) -> tuple[Any, Any]:  # noqa: A002 - ATen's name
    edges = _edges(x, [bins], range=range)
    return _histogram(x, edges, **named), edges[0]


def _of_edges(x: Any, bins: Any, **named: Any) -> tuple[Any, Any]:
    return _histogram(x, [bins], **named), bins.clone()


def _index_reduce(
    x: Any, axis: int, index: Any, source: Any, reduce: str, *, include_self: bool = True
) -> Any:
    if x.dim() == 0:
        index, source = index.reshape(()), source.reshape(())
    else:
        shape = [-1 if dimension == axis % x.dim() else 1 for dimension in range(x.dim())]
        index = index.reshape(shape).expand(source.shape)
    return x.scatter_reduce(axis, index, source, reduce, include_self=include_self)


def _segment_reduce(x: Any, reduce: str, **named: Any) -> Any:
    """Reduce the rows of each segment, by the lengths of segments or by where they begin."""
    import torch

    lengths, offsets, initial = (named.get(key) for key in ("lengths", "offsets", "initial"))
    sizes = lengths if offsets is None else offsets.diff()
    if sizes is None or sizes.dim() != 1 or named.get("axis", 0) != 0:
        return NotImplemented
    ends = sizes.cumsum(0)
    rows = torch.arange(x.shape[0], dtype=ends.dtype)
    segment = torch.bucketize(rows, ends, right=True)
    segment = segment.reshape(-1, *[1] * (x.dim() - 1)).expand(x.shape)
    first = _EMPTY[reduce] if initial is None else initial
    made = x.new_full((sizes.shape[0], *x.shape[1:]), first)
    made = made.scatter_reduce(0, segment, x, _REDUCED[reduce])
    if reduce == "mean":
        counts = sizes.reshape(-1, *[1] * (x.dim() - 1))
        nothing = float("nan") if initial is None else initial
        made = torch.where(counts == 0, nothing, made / counts.clamp(min=1))
    return made.to(x.dtype)


def _median(x: Any, axis: int, keepdim: bool = False, *, ignored: bool) -> tuple[Any, Any]:
    """Take the lower of two medians, and its place.

    Args:
        x: The values.
        axis: Along which.
        keepdim: Whether the axis stays.
        ignored: Whether NaN is left out; otherwise one makes the median NaN.
    """
    import torch

    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    ordered, places = x.sort(dim=axis, stable=True)  # NaN comes last
    nan = ordered.isnan()
    count = x.shape[axis]
    at = (
        (~nan).sum(axis, keepdim=True)
        if ignored
        else torch.full_like(nan, count, dtype=torch.int64).amax(axis, keepdim=True)
    )
    at = (at - 1).clamp(min=0) // 2
    if not ignored:
        at = torch.where(nan.any(axis, keepdim=True), (~nan).sum(axis, keepdim=True), at)
    found = ordered.gather(axis, at), places.gather(axis, at)
    return found if keepdim else tuple(one.squeeze(axis) for one in found)


def _whole_median(x: Any, *, ignored: bool) -> Any:
    return _median(x.flatten(), 0, ignored=ignored)[0]


def _multilabel_margin(x: Any, target: Any, reduction: int) -> tuple[Any, Any]:
    """Sum margins to the targets before the first -1; PyTorch's own decomposition adds the rest."""
    import torch

    rows, wanted = torch.atleast_2d(x), torch.atleast_2d(target)
    count = rows.shape[1]
    before = (wanted < 0).cumsum(1) == 0
    place = torch.where(before, wanted, 0)
    is_target = ((torch.arange(count) == place[..., None]) & before[..., None]).any(1)
    margin = (1.0 - rows.gather(1, place)[..., None] + rows[:, None, :]).clamp(min=0)
    counted = before[..., None] & ~is_target[:, None, :]
    made = torch.where(counted, margin, 0).sum((1, 2)) / count
    if reduction == _MEAN:
        made = made.mean()
    elif reduction == _SUM:
        made = made.sum()
    elif x.dim() < 2:
        made = made[0]
    return made, is_target.to(x.dtype).reshape(target.shape)
