"""PyTorch's ops on lists of tensors, which optimizers and the clipping of gradients call."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["list_ops"]


def list_ops() -> dict[Any, Callable[..., Any]]:
    """Return what `ExportedProgram.run_decompositions` takes.

    Returns:
        The op -> the function that calls one of tensors for each of the list.
    """
    import torch

    table: dict[str, Callable[..., Any]] = {name: getattr(torch, name) for name in _OF_TORCH}
    table |= {
        "copy": torch.ops.aten.copy.default,
        "maximum": torch.clamp_min,  # which takes numbers too
        "minimum": torch.clamp_max,
        "norm": torch.linalg.vector_norm,
        "powsum": lambda x, power, dtype=None: x.abs().pow(power).sum(dtype=dtype),
        "zero": torch.zeros_like,
    }
    called = {name: functools.partial(_each, function) for name, function in table.items()}
    for name in ("addcdiv", "addcmul"):
        called[name] = functools.partial(_scaled, getattr(torch, name))
    aten = torch.ops.aten
    return {
        getattr(packet, overload): how
        for name, how in called.items()
        if (packet := getattr(aten, f"_foreach_{name}", None)) is not None
        for overload in packet.overloads()
        if "out" not in overload and (name, overload) not in _UNTRACED
    }


_OF_TORCH = (
    *("abs", "acos", "add", "asin", "atan", "ceil", "clamp_max", "clamp_min", "clone", "cos"),
    *("cosh", "div", "erf", "erfc", "exp", "expm1", "floor", "frac", "lerp", "lgamma", "log"),
    *("log10", "log1p", "log2", "max", "mm", "mul", "neg", "pow", "reciprocal", "round", "rsqrt"),
    *("sigmoid", "sign", "sin", "sinh", "sqrt", "sub", "tan", "tanh", "trunc"),
)


# By scales in one tensor, of which torch.export traces none.
_UNTRACED = {("addcdiv", "Tensor"), ("addcmul", "Tensor")}


def _each(function: Callable[..., Any], *args: Any, **kwargs: Any) -> list[Any]:
    """Call a function for each tensor; what is no list is the same for all."""
    count = next(len(arg) for arg in args if isinstance(arg, (list, tuple)))
    columns = [arg if isinstance(arg, (list, tuple)) else [arg] * count for arg in args]
    return [function(*row, **kwargs) for row in zip(*columns, strict=True)]


def _scaled(function: Callable[..., Any], *args: Any) -> list[Any]:
    """Do the same for sums with what is scaled, by a number or by one for each."""
    lists, scales = args[:_LISTS], args[_LISTS:] or (1,)
    return _each(lambda x, one, other, by: function(x, one, other, value=by), *lists, *scales)


_LISTS = 3
