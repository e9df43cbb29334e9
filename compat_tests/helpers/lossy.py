"""PyTorch models that lose something on the way to StableHLO, for the tests of every backend."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

__all__ = ["LOSSES", "Everything"]


class Counting(nn.Module):
    """Counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Count."""
        self.calls += 1
        return x * self.calls


class InPlace(nn.Module):
    """Changes what it is given."""

    def forward(self, x: Tensor) -> Tensor:
        """Change it."""
        x.add_(1)
        return x * 2


LOSSES: dict[str, tuple[nn.Module, str]] = {
    "mutated buffer": (Counting(), "'calls'"),
    "batch norm in training": (nn.BatchNorm1d(4), "'running_mean', 'running_var'"),
    "changed input": (InPlace(), "'x'"),
    "dropout in training": (nn.Dropout(), "random numbers"),
}
"""What is lost -> a model that takes `f32[3,4]`, and what its refusal must say."""


class Everything(nn.Module):
    """Has a weight, a buffer, a tensor of its own code, an unused weight and an unused input.

    Two weights and two inputs have the same shape and are used differently, so that swapping them
    changes the result.
    """

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = (nn.Parameter(torch.randn(4, 4)) for _ in range(2))
        self.spare = nn.Linear(2, 2)
        self.register_buffer("gain", torch.arange(1, 5, dtype=torch.int64))

    def forward(self, x: Tensor, unused: Tensor, y: Tensor, count: Tensor) -> Any:
        """Return a pair that PyTorch names, and integers beyond int32."""
        del unused
        z = (x @ self.first - y @ self.second) * self.gain - torch.tensor([1.0, -2.0, 3.0, 0.5])
        return torch.max(z, 1), count * 2**40 + self.gain

    def inputs(self) -> tuple[Tensor, ...]:
        """Make inputs, always the same."""
        torch.manual_seed(1)
        x, y = torch.randn(2, 4), torch.randn(2, 4)
        return x, torch.ones(5), y, torch.tensor([1, 2, 3, 4])

    def used(self) -> tuple[Tensor, ...]:
        """Return those inputs that are read."""
        x, _, y, count = self.inputs()
        return x, y, count

    def wanted(self) -> list[Any]:
        """Return what eager PyTorch makes of them, as arrays."""
        with torch.no_grad():
            (values, indices), wide = self(*self.inputs())
        return [values.numpy(), indices.numpy(), wide.numpy()]
