"""Exporting a PyTorch model against the backends' own calls."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tools.benches.figure import TARGET, Figure, compare, ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


__all__ = ["bench_export"]


def bench_export() -> Iterator[Figure]:
    """Time `export_torch` of a ResNet-18 against the own call of each backend that is installed."""
    import warnings

    import torch

    from portable.exporters import ExporterMissing, export_torch
    from portable.exporters.torch import find_backend
    from tools.zoo import ResNet18

    warnings.simplefilter("ignore")  # PyTorch warns of itself
    traced = torch.export.export(ResNet18().eval(), (torch.randn(4, 3, 224, 224),))
    for backend, find in _CALLS.items():
        try:
            find_backend(backend)
        except ExporterMissing:
            continue
        mine, theirs = compare(
            partial(partial, export_torch, traced, target=TARGET, backend=backend),
            partial(partial, find(), traced),
            rounds=5,
        )
        yield ratio(f"export_torch of ResNet-18 / {backend}'s own call", 1.3, mine, theirs)


def _torchax() -> Callable[[Any], object]:
    from torchax import default_env
    from torchax.export import exported_program_to_stablehlo

    default_env()
    call: Callable[[Any], object] = exported_program_to_stablehlo
    return call


def _torch_xla() -> Callable[[Any], object]:
    from torch_xla.stablehlo import exported_program_to_stablehlo

    call: Callable[[Any], object] = exported_program_to_stablehlo
    return call


def _torch_mlir() -> Callable[[Any], object]:
    from torch_mlir import fx

    return lambda program: fx.export_and_import(program, output_type="stablehlo")


_CALLS = {"torchax": _torchax, "torch_xla": _torch_xla, "torch_mlir": _torch_mlir}
