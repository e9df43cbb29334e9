"""Tensors of PyTorch as arrays, with their dtypes kept: int64 stays int64, bfloat16 bfloat16."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.exporters.exported import ExportFailed
from portable.runtime.executors.tensors import dtype_named

if TYPE_CHECKING:
    from portable.runtime.executors.tensors import Array

__all__ = ["dtype_name", "from_torch"]


def dtype_name(dtype: Any) -> str:
    """Return the numpy name of a dtype of PyTorch.

    Args:
        dtype: For example `torch.float32`.

    Returns:
        For example `float32`; the types that numpy lacks by their names in ml_dtypes.
    """
    return str(dtype).removeprefix("torch.")


def from_torch(tensor: Any, name: str = "a tensor") -> Array:
    """Copy a tensor into an array.

    Args:
        tensor: A dense tensor on any device.
        name: What to call it in an error.

    Returns:
        A new array of the same dtype.

    Raises:
        ExportFailed: No array can hold it: it is sparse, quantized, or has no data.
    """
    import torch  # noqa: PLC0415 - a framework

    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.device.type == "meta":
        kind = "quantized" if tensor.is_quantized else f"{tensor.layout} on {tensor.device.type}"
        raise ExportFailed(f"{name} is {kind}: no plain array can hold it")
    whole = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    try:
        copied: Array = whole.numpy().copy()
        return copied
    except TypeError:
        pass  # numpy lacks the dtype: the bytes are the same, their name is not
    # A scalar cannot be viewed as another dtype of another width, but as one of the same.
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    raw: Array = whole.view(integers[whole.element_size()]).numpy().copy()
    return raw.view(dtype_named(dtype_name(tensor.dtype)))
