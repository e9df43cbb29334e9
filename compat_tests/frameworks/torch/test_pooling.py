"""Averages and maxima over windows, among them those that end beyond the padding."""

import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

from compat_tests.helpers.thorough import some
from portable.exporters import ExportFailed, export_torch

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

IMAGE = torch.linspace(-1, 1, 3 * 16 * 16).reshape(1, 3, 16, 16)

POOLS: dict[str, tuple[nn.Module, torch.Tensor]] = {
    "the last window is cut": (nn.AvgPool2d(3, 2, ceil_mode=True), IMAGE),
    "cut in the padding": (nn.AvgPool2d(4, 3, 1, ceil_mode=True), IMAGE),
    "no window in the padding alone": (nn.AvgPool2d(2, 2, 1, ceil_mode=True), IMAGE[..., :15]),
    "the stride divides": (nn.AvgPool2d(2, 2, ceil_mode=True), IMAGE),
    "padding is not counted": (
        nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False),
        IMAGE,
    ),
    "padding is not counted, without ceil_mode": (
        nn.AvgPool2d(3, 2, 1, count_include_pad=False),
        IMAGE,
    ),
    "no ceil_mode": (nn.AvgPool2d(3, 2, 1), IMAGE),
    "a divisor": (nn.AvgPool2d(3, 2, 1, ceil_mode=True, divisor_override=5), IMAGE),
    "one dimension": (nn.AvgPool1d(3, 2, 1, ceil_mode=True), IMAGE[0]),
    "three dimensions": (nn.AvgPool3d((2, 3, 3), 2, 1, ceil_mode=True), IMAGE[None]),
    "without a batch": (nn.AvgPool2d(3, 2, ceil_mode=True), IMAGE[0]),
    "bfloat16": (nn.AvgPool2d(3, 2, ceil_mode=True), IMAGE.bfloat16()),
    "adaptive maxima": (nn.AdaptiveMaxPool2d((4, 8)), IMAGE),
    "adaptive maxima of uneven windows": (nn.AdaptiveMaxPool2d((3, 5)), -IMAGE),
    "adaptive maxima with their places": (
        nn.AdaptiveMaxPool2d((3, 5), return_indices=True),
        IMAGE.sin(),
    ),
    "adaptive maxima in one dimension": (nn.AdaptiveMaxPool1d(3), IMAGE[0]),
    "adaptive maxima in three": (
        nn.AdaptiveMaxPool3d((2, None, 5), return_indices=True),
        (9 * IMAGE).sin(),
    ),
    "the first of equal maxima": (
        nn.MaxPool3d(3, 2, ceil_mode=True, return_indices=True),
        (IMAGE * 3).round().reshape(1, 3, 4, 8, 8),
    ),
    "maxima of integers beyond 32 bits": (
        nn.MaxPool2d((2, 3), 2, 1, return_indices=True),
        -(2**40) - IMAGE.mul(99).long(),
    ),
    "maxima with NaN, and of nothing else than -inf": (
        nn.MaxPool2d(3, 2, 1, dilation=2, return_indices=True),
        torch.where(IMAGE < -0.7, -float("inf"), torch.where(IMAGE > 0.96, float("nan"), IMAGE)),
    ),
    "maxima of bfloat16 without a batch": (
        nn.MaxPool1d(3, 2, return_indices=True),
        IMAGE[0, 0].bfloat16(),
    ),
    "maxima": (nn.MaxPool2d(3, 2, 1, ceil_mode=True), IMAGE),
    "maxima of every other": (nn.MaxPool2d(3, 2, 1, dilation=2, ceil_mode=True), IMAGE),
}


@pytest.mark.parametrize("name", some(POOLS, each=6))
def test_the_values_are_pytorch_s(name: str) -> None:
    """Of every window, in the dtype of the image."""
    pool, image = POOLS[name]
    exported = export_torch(pool.eval(), (image,), target="1.0.0")
    for got, wanted in zip(*map(pytree.tree_leaves, (exported(image), pool(image))), strict=True):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        assert torch.allclose(got, wanted, atol=1e-6, equal_nan=True)


def test_an_open_size() -> None:
    """One artifact averages images of every height."""
    shapes = ({2: torch.export.Dim("h", min=8)},)
    pool = nn.AvgPool2d(3, 2, 1, count_include_pad=False).eval()
    exported = export_torch(pool, (IMAGE,), target="1.0.0", dynamic_shapes=shapes, allow=["exact"])
    for image in (IMAGE, IMAGE[:, :, :9]):
        assert torch.allclose(exported(image), pool(image), atol=1e-6)


def test_an_open_size_cannot_be_rounded_up() -> None:
    """How far the last window reaches depends on it."""
    pool, shapes = nn.AvgPool2d(3, 2, ceil_mode=True).eval(), ({2: 2 * torch.export.Dim("h")},)
    with pytest.raises(ExportFailed, match="ceil_mode over a dynamic dimension"):
        export_torch(pool, (IMAGE,), target="1.0.0", dynamic_shapes=shapes)
