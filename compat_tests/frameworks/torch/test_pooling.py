"""Averages over windows that end beyond the padding, which torchax divides by the whole window."""

import pytest
import torch
from torch import nn

from portable.exporters import ExportFailed, export_torch

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")

IMAGE = torch.linspace(-1, 1, 3 * 16 * 16).reshape(1, 3, 16, 16)


def test_other_values_are_not_exported() -> None:
    """PyTorch cuts the last window, torchax does not: the op is refused by its name."""
    with pytest.raises(ExportFailed, match=r"avg_pool2d.*ceil_mode.*count_include_pad=False"):
        export_torch(nn.AvgPool2d(3, 2, ceil_mode=True).eval(), (IMAGE,), target="1.0.0")


@pytest.mark.parametrize(
    "pool",
    [
        nn.AvgPool2d(2, 2, ceil_mode=True),
        nn.AvgPool2d(3, 2, ceil_mode=True, count_include_pad=False),
        nn.AvgPool2d(3, 2, 1),
    ],
    ids=["the stride divides", "padding is not counted", "no ceil_mode"],
)
def test_the_same_values_are(pool: nn.Module) -> None:
    """Where torchax does as PyTorch does."""
    exported = export_torch(pool.eval(), (IMAGE,), target="1.0.0")
    assert torch.allclose(exported(IMAGE), pool(IMAGE), atol=1e-6)
