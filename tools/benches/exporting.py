"""Exporting a PyTorch model against torchax's own call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.benches.figure import TARGET, Figure, compare, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["bench_export"]


def bench_export() -> Iterator[Figure]:
    """Time `export_torch` of a ResNet-18 against torchax's own call."""
    import warnings

    import torch

    from tools.zoo import ResNet18

    warnings.simplefilter("ignore")  # PyTorch warns of itself
    traced = torch.export.export(ResNet18().eval(), (torch.randn(4, 3, 224, 224),))

    from torchax import default_env
    from torchax.export import exported_program_to_stablehlo

    from portable.exporters import export_torch

    default_env()
    mine, theirs = compare(
        lambda: lambda: export_torch(traced, target=TARGET),
        lambda: lambda: exported_program_to_stablehlo(traced),
        rounds=5,
    )
    yield ratio("export_torch of ResNet-18 / torchax's own call", 1.3, mine, theirs)
