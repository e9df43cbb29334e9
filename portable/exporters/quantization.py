"""PT2E's ops of quantized tensors as arithmetic of ATen: `quantized_decomposed`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HOME", "quantized_ops"]

# Registers the ops, and has each as a function of tensors under the name of the op.
HOME = "torch.ao.quantization.fx._decomposed"
_FUNCTIONS = (
    "choose_qparams_per_token",
    "choose_qparams_per_token_asymmetric",
    "dequantize_per_channel",
    "dequantize_per_channel_group",
    "dequantize_per_tensor",
    "dequantize_per_token",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_token",
)
_ZERO_OF_BYTES = 128


def quantized_ops() -> dict[Any, Callable[..., Any]]:
    """Return what `ExportedProgram.run_decompositions` takes; empty where PT2E is not imported.

    Returns:
        The op -> the function that does the same.
    """
    home = sys.modules.get(HOME)
    if home is None:  # no program can have the ops
        return {}
    import torch

    ops = torch.ops.quantized_decomposed
    table = {getattr(ops, name).default: getattr(home, name) for name in _FUNCTIONS}
    # Those that take scales as tensors read them as Python's numbers, which only eager mode can do.
    for overload in ("tensor", "tensor2"):
        for name in ("quantize_per_tensor", "dequantize_per_tensor"):
            function = _with_numbers(getattr(home, name))
            table[getattr(getattr(ops, name), overload)] = function
    table[ops.choose_qparams.tensor] = _affine
    table[ops.choose_qparams_symmetric.tensor] = _symmetric
    return table


def _with_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function tensors without dimensions instead of numbers."""

    def called(x: Any, scale: Any, zero: Any, *rest: Any, **named: Any) -> Any:
        import torch

        *bounds, dtype = rest
        # As PyTorch rounds a number that it multiplies a tensor by.
        numbers = [scale.reshape(()).to(torch.float32), zero.reshape(()).to(torch.float32)]
        return function(x, *numbers, *bounds, dtype, **named)

    return called


def _affine(x: Any, low: int, high: int, eps: float, _: Any) -> tuple[Any, Any]:
    import torch

    least, most = _range(x)
    scale = ((most - least) / float(high - low)).clamp(min=eps)
    zero = (low - torch.round(least / scale).to(torch.int32)).clamp(low, high)
    return scale.to(torch.float64), zero.to(torch.int64)


def _symmetric(x: Any, low: int, high: int, eps: float, dtype: Any) -> tuple[Any, Any]:
    import torch

    least, most = _range(x)
    scale = (torch.maximum(-least, most) / (float(high - low) / 2)).clamp(min=eps)
    zero = _ZERO_OF_BYTES if dtype == torch.uint8 else 0
    return scale.to(torch.float64), torch.full_like(scale, zero, dtype=torch.int64)


def _range(x: Any) -> tuple[Any, Any]:
    """Return the least value and the largest, or zero beyond it, in one dimension."""
    least, most = (value.reshape(1) for value in x.aminmax())
    return least.clamp(max=0), most.clamp(min=0)
