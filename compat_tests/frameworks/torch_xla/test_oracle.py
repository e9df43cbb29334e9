"""The oracle where torch_xla is installed: it runs the artifact too, by an XLA of its own."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from portable.exporters.oracle import verify_export

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)


class Scorer(nn.Module):
    """Sums, so that compilers differ in the last bits."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(64, 8)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the best three scores, and the sums over the batch."""
        scores = torch.softmax(self.layer(x).tanh(), -1)
        return torch.topk(scores, 3)[0], scores.sum(0)


def test_all_four_agree() -> None:
    """Eager PyTorch, AOTInductor, PJRT and torch_xla; on every output of every set of inputs."""
    found = verify_export(
        Scorer().eval(),
        (torch.randn(4, 64),),
        target="0.9.0",
        backend="torch_xla",
        allow=["exact"],
        seeds=(0, 1),
    )
    assert found.same
    assert [opinion.runner for opinion in found.opinions] == 2 * [
        "aotinductor",
        "pjrt",
        "torch_xla",
    ]
    assert all(len(opinion.comparisons) == 2 for opinion in found.opinions)
    assert any(c.worst for opinion in found.opinions for c in opinion.comparisons)
