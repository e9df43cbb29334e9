"""PT2E's ops of quantized tensors as StableHLO's quantized types.

JAX has no such types: an op is lowered to a composite that names its type and does the arithmetic,
and the composite is replaced in the module that JAX made.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from portable import bindings
from portable.exporters.frameworks import dtype_name, from_torch
from portable.exporters.quantization import HOME
from portable.exporters.traced import Placeholder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from portable.bindings import Module
    from portable.exporters.traced import Traced

__all__ = ["type_lowerings", "with_fixed_scales", "with_types"]

_QUANTIZE, _DEQUANTIZE = "portable.quantize", "portable.dequantize"
# Not of unsigned ones: upstream's arithmetic of these saturates as that of signed ones.
_STORED = {"int8": "i8", "int16": "i16", "int32": "i32"}


def type_lowerings() -> Mapping[Any, Callable[..., Any]]:
    """Return the lowerings, as `export_torch` takes them; none where PT2E is not imported.

    Where a scale is computed, or an op is not between float32 and integers, it is arithmetic.
    """
    if HOME not in sys.modules:
        return {}
    import torch

    ops = torch.ops.quantized_decomposed

    def by_tensor(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, scale, zero, low, high, dtype, **out: function(
            x, _Scheme(scale, zero, None, (low, high)), dtype, **out
        )

    def by_channel(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, scale, zero, axis, low, high, dtype, **out: function(
            x, _Scheme(scale, zero, axis, (low, high)), dtype, **out
        )

    return {
        ops.quantize_per_tensor.default: by_tensor(_quantized),
        ops.quantize_per_channel.default: by_channel(_quantized),
        ops.dequantize_per_tensor.default: by_tensor(_dequantized),
        ops.dequantize_per_channel.default: by_channel(_dequantized),
    }


def with_fixed_scales(traced: Traced) -> Traced:
    """Take the scales and zero points that a program holds into it: types have them as numbers."""
    ops = type_lowerings()

    def fixed(node: Any, placeholder: Placeholder) -> Placeholder:
        scales = node.users and all(u.target in ops and u.args[0] is not node for u in node.users)
        if placeholder.tensor is None or not scales:
            return placeholder
        return Placeholder(None, from_torch(placeholder.tensor))

    nodes = [node for node in traced.program.graph.nodes if node.op == "placeholder"]
    pairs = zip(nodes, traced.placeholders, strict=True)
    return dataclasses.replace(traced, placeholders=tuple(fixed(*pair) for pair in pairs))


def with_types(module: Module) -> Module:
    """Replace, in place, the composites of these lowerings by ops of quantized types.

    Args:
        module: Owned by the caller.

    Returns:
        The module.
    """
    library = bindings.library_of(module) or bindings.find()
    found: list[Any] = []
    with library.editing(module) as ir:

        def visit(operation: Any) -> Any:
            if operation.name == "stablehlo.composite":
                name = ir.StringAttr(operation.attributes["name"]).value
                if name in {_QUANTIZE, _DEQUANTIZE}:
                    found.append((operation, name))
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        for operation, name in found:
            _replace(operation, name, ir)
    library.run(module, "builtin.module(symbol-dce,cse)")  # what computed the composites
    return module


def _replace(operation: Any, name: str, ir: Any) -> None:
    """Write one composite as an op of quantized types, and their bits as integers."""
    # Before it stand arrays that the arithmetic holds.
    given, made = list(operation.operands)[-1], operation.results[0]
    said = ir.DictAttr(operation.attributes["composite_attributes"])["type"]
    shape = "x".join(map(str, [*ir.RankedTensorType(given.type).shape, ""])).replace(
        str(ir.ShapedType.get_dynamic_size()), "?"
    )
    quantized = ir.Type.parse(f"tensor<{shape}{ir.StringAttr(said).value}>")

    def op(kind: str, kind_of_result: Any, operand: Any) -> Any:
        with ir.InsertionPoint(operation), operation.location:
            return ir.Operation.create(
                f"stablehlo.{kind}", results=[kind_of_result], operands=[operand]
            ).results[0]

    if name == _QUANTIZE:
        value = op("bitcast_convert", made.type, op("uniform_quantize", quantized, given))
    else:
        whole = given.owner
        same = getattr(whole, "name", "") == "stablehlo.bitcast_convert"
        if same and whole.operands[0].type == quantized:
            value = op("uniform_dequantize", made.type, whole.operands[0])
        else:
            bits = op("bitcast_convert", quantized, given)
            value = op("uniform_dequantize", made.type, bits)
    made.replace_all_uses_with(value)
    operation.erase()


@dataclass(frozen=True, slots=True)
class _Scheme:
    """How floats are integers: `scale * (integer - zero)`, along an axis or with one of each."""

    scale: Any
    zero: Any
    axis: int | None
    bounds: tuple[int, int]

    def along(self, value: Any, dimensions: int) -> Any:
        """Give a scale or a zero point the shape that meets a tensor of so many dimensions."""
        import jax.numpy as jnp

        value = jnp.asarray(0 if value is None else value, np.float32)
        if self.axis is None or value.ndim == 0:
            return value
        return value.reshape([-1 if at == self.axis else 1 for at in range(dimensions)])

    def type(self, stored: str) -> str | None:
        """Return the type as MLIR writes it; None where there is none."""
        zero = np.zeros(np.shape(self.scale)) if self.zero is None else self.zero
        if stored not in _STORED or not all(map(_is_known, (self.scale, zero))):
            return None
        scales, zeros = np.atleast_1d(np.asarray(self.scale, np.float32)), np.atleast_1d(zero)
        if not (np.isfinite(scales) & (scales > 0) & (zeros == np.rint(zeros))).all():
            return None
        low, high = self.bounds
        limits = np.iinfo(stored)
        bounds = "" if (low, high) == (limits.min, limits.max) else f"<{low}:{high}>"
        pairs = [f"{s:.9e}:{int(z)}" for s, z in zip(scales.tolist(), zeros.tolist(), strict=True)]
        along = f", {pairs[0]}" if self.axis is None else f":{self.axis}, {{{','.join(pairs)}}}"
        return f"!quant.uniform<{_STORED[stored]}{bounds}:f32{along}>"


def _quantized(x: Any, scheme: _Scheme, dtype: Any) -> Any:
    import jax.numpy as jnp

    stored = dtype_name(dtype)

    def arithmetic(x: Any, **_: Any) -> Any:
        scale, zero = (scheme.along(v, x.ndim) for v in (scheme.scale, scheme.zero))
        return jnp.clip(jnp.round(x * (1.0 / scale)) + zero, *scheme.bounds).astype(stored)

    said = scheme.type(stored) if x.dtype == np.float32 else None
    return _composite(_QUANTIZE, arithmetic, said)(x)


def _dequantized(x: Any, scheme: _Scheme, _: Any, out_dtype: Any = None) -> Any:
    made = "float32" if out_dtype is None else dtype_name(out_dtype)

    def arithmetic(x: Any, **_: Any) -> Any:
        scale, zero = (scheme.along(v, x.ndim) for v in (scheme.scale, scheme.zero))
        return ((x.astype(np.float32) - zero) * scale).astype(made)

    said = scheme.type(x.dtype.name) if made == "float32" else None
    return _composite(_DEQUANTIZE, arithmetic, said)(x)


def _composite(name: str, arithmetic: Callable[..., Any], said: str | None) -> Callable[[Any], Any]:
    import jax

    if said is None:
        return arithmetic
    return lambda x: jax.lax.composite(arithmetic, name)(x, type=said)


def _is_known(value: Any) -> bool:
    return isinstance(value, (int, float, np.ndarray))
