"""Convolutions with everything that PyTorch's modules take."""

import pytest
import torch
from torch import nn

from portable.exporters import export_torch

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore:Using padding='same':UserWarning"
)

torch.manual_seed(0)
IMAGE = torch.randn(1, 4, 8, 9)

MODULES: dict[str, tuple[nn.Module, torch.Tensor]] = {
    "no padding, by its name": (nn.Conv2d(4, 6, 3, padding="valid"), IMAGE),
    "no padding, without a batch": (nn.Conv2d(4, 6, 3, padding="valid"), IMAGE[0]),
    "as large, dilated": (nn.Conv2d(4, 6, 3, padding="same", dilation=2), IMAGE),
    "as large, even": (nn.Conv2d(4, 6, (2, 4), padding="same"), IMAGE),
    "in groups": (nn.Conv2d(4, 6, 3, 2, 1, groups=2), IMAGE),
    "around": (nn.Conv2d(4, 6, 3, padding=2, padding_mode="circular"), IMAGE),
    "transposed": (nn.ConvTranspose2d(4, 6, 3, 2, 1, 1), IMAGE),
    "transposed in groups": (nn.ConvTranspose2d(4, 6, 3, groups=2), IMAGE),
    "transposed in groups, all else": (
        nn.ConvTranspose2d(4, 6, (2, 3), 2, 1, 1, groups=2, dilation=2, bias=False),
        IMAGE,
    ),
    "transposed by channel": (nn.ConvTranspose2d(4, 8, 3, groups=4), IMAGE),
    "transposed in groups, in one dimension": (
        nn.ConvTranspose1d(4, 6, 3, groups=2),
        IMAGE[:, :, 0],
    ),
    "transposed in groups, in three": (nn.ConvTranspose3d(4, 6, 3, groups=2), IMAGE[:, :, None]),
    "transposed in groups, without a batch": (nn.ConvTranspose2d(4, 6, 3, groups=2), IMAGE[0]),
}


@pytest.mark.parametrize("name", MODULES)
def test_the_values_are_pytorch_s(name: str) -> None:
    """In the shape that the module makes."""
    module, image = MODULES[name]
    exported = export_torch(module.eval(), (image,), target="0.9.0", allow=["exact"])
    got, wanted = exported(image), module(image)
    assert got.shape == wanted.shape
    assert torch.allclose(got, wanted, atol=2e-6)
