"""Quantized types as the arithmetic on their storage that they stand for.

Upstream has a pass for it, `stablehlo-legalize-quant-to-math`. It takes unsigned storage for
signed, so that a stored `u8` above 127 becomes another number, and wraps around at the ends of 32
bits. Here another of its passes writes each op out between a dequantization and a quantization, and
those two are written as the specification defines them, which adds the zero point before it rounds
since https://github.com/openxla/stablehlo/pull/2234 (2024).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.pinning.rewrites.editor import Editor, Operation

__all__ = ["arithmetic", "is_quantized"]

# An op of quantized types is, by the specification, that of what they express, between a
# dequantization and a quantization: those are written out.
_WRITE_OUT = "builtin.module(func.func(stablehlo-legalize-quantized-op-to-qdq))"
_QUANTIZE, _DEQUANTIZE = "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"
_ENDS = frozenset({_QUANTIZE, _DEQUANTIZE})
_CONSTANT, _FUNCTION, _SIGNATURE = "stablehlo.constant", "func.func", "function_type"
# The type that is expressed; others are refused.
_FLOAT = "f32"
# What computes nothing of its own: it moves values, or hands them to what is in its regions.
_MOVES = frozenset({
    "builtin.module", "func.call", "func.func", "func.return",
    "stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all",
    "stablehlo.bitcast_convert", "stablehlo.broadcast", "stablehlo.broadcast_in_dim",
    "stablehlo.case", "stablehlo.collective_broadcast", "stablehlo.collective_permute",
    "stablehlo.concatenate", "stablehlo.constant", "stablehlo.dynamic_broadcast_in_dim",
    "stablehlo.dynamic_gather", "stablehlo.dynamic_pad", "stablehlo.dynamic_reshape",
    "stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice", "stablehlo.gather",
    "stablehlo.get_dimension_size", "stablehlo.if", "stablehlo.map",
    "stablehlo.optimization_barrier", "stablehlo.pad", "stablehlo.real_dynamic_slice",
    "stablehlo.reduce", "stablehlo.reduce_scatter", "stablehlo.reduce_window",
    "stablehlo.reshape", "stablehlo.return", "stablehlo.reverse", "stablehlo.scatter",
    "stablehlo.select", "stablehlo.select_and_scatter", "stablehlo.set_dimension_size",
    "stablehlo.slice", "stablehlo.sort", "stablehlo.torch_index_select", "stablehlo.transpose",
    "stablehlo.while",
})  # fmt: skip
# These give what they take to bodies, which may take another type that it is promoted to.
_COMBINES = frozenset({
    "stablehlo.all_reduce", "stablehlo.reduce", "stablehlo.reduce_scatter",
    "stablehlo.reduce_window", "stablehlo.scatter", "stablehlo.select_and_scatter",
})  # fmt: skip
_TYPE = re.compile(
    r"!quant\.uniform<(?P<sign>[iu])(?P<width>\d+)(<(?P<low>-?\d+):(?P<high>-?\d+)>)?"
    r":(?P<expressed>\w+)(:(?P<axis>\d+))?, (\{(?P<many>[^{}]+)\}|(?P<one>[^{},<>]+))>"
)
# f32 counts as far as so many bits and more; a sum of two of 32 bits takes 64.
_NARROW = 16
# Beyond all that 32 bits hold, and within what 64 do.
_FAR = float(1 << 40)


@dataclass(frozen=True, slots=True)
class _Quantization:
    """What a type says: a value is (stored - zero) * scale."""

    signed: bool
    width: int
    low: int
    high: int
    axis: int | None
    scales: tuple[float, ...]
    zeros: tuple[int, ...]

    @property
    def counted(self) -> str:
        """The element type that holds all that is stored."""
        return _FLOAT if self.width <= _NARROW else "i64"

    @property
    def storage(self) -> str:
        """The element type of what is stored."""
        return f"{'i' if self.signed else 'ui'}{self.width}"


def is_quantized(editor: Editor, _module: Any) -> bool:
    """Say whether a program has values of quantized types."""
    return any(map(_touches, editor.operations()))


def arithmetic(editor: Editor, modules: Sequence[Any]) -> None:
    """Write quantized types as their storage, and what is done with them as arithmetic."""
    editor.run(editor.module, _WRITE_OUT)
    for operation in filter(_touches, editor.operations()):
        if operation.name not in _MOVES | _ENDS:
            raise editor.refuse(operation, "it is not known what it computes of quantized values")
        if operation.name in _COMBINES and not _is_of_one(editor, operation):
            raise editor.refuse(operation, "it combines several quantized types")
    for operation in editor.operations(_ENDS):
        value = operation.operands[0]
        if _is_quantized(value.type):
            writer = _Writer(editor, operation, _parsed(editor, operation, value.type))
            value = writer.dequantized(value)
        if operation.name == _QUANTIZE:
            given = operation.results[0].type
            writer = _Writer(editor, operation, _parsed(editor, operation, given))
            value = writer.quantized(value, given)
        editor.replace(operation, [value])
    for operation in filter(_touches, editor.operations()):
        _store(editor, operation)
    if is_quantized(editor, modules[0]):
        raise editor.refuse(modules[0], "quantized types are left in it")


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the arithmetic of one type in front of an op."""

    editor: Editor
    before: Operation
    how: _Quantization

    def quantized(self, value: Any, given: Any) -> Any:
        """Return what is stored of a value, of the quantized type that is given."""
        steps = self._by("add", self._by("divide", value, self.how.scales), self.how.zeros)
        stored = self._emit("stablehlo.round_nearest_even", [steps], steps.type)
        if self.how.counted != _FLOAT:
            stored = self._counted(self._clamped(stored, -_FAR, _FAR))
        stored = self._clamped(stored, self.how.low, self.how.high)
        return self._emit("stablehlo.convert", [stored], given)

    def dequantized(self, value: Any) -> Any:
        """Return what a value of that type expresses."""
        steps = self._by("subtract", self._counted(value), self.how.zeros)
        steps = self.editor.convert(self.before, steps, self.editor.ir.Type.parse(_FLOAT))
        return self._by("multiply", steps, self.how.scales)

    def _emit(self, name: str, operands: Sequence[Any], type_: Any, **attributes: str) -> Any:
        return self.editor.emit(self.before, name, operands, [type_], attributes).result

    def _counted(self, value: Any) -> Any:
        return self.editor.convert(self.before, value, self.editor.ir.Type.parse(self.how.counted))

    def _by(self, name: str, value: Any, numbers: Sequence[float]) -> Any:
        """Return a value divided by the scales, or moved by the zero points, of its slices."""
        if not self.editor.ir.ShapedType(value.type).has_static_shape:
            raise self.editor.refuse(self.before, "quantized values of a dynamic shape")
        along = [] if self.how.axis is None else [self.how.axis]
        by = self._constant(value, numbers, [len(numbers)] * len(along))
        dimensions = f"array<i64: {along[0]}>" if along else "array<i64>"
        spread = self._emit(
            "stablehlo.broadcast_in_dim", [by], value.type, broadcast_dimensions=dimensions
        )
        return self._emit(f"stablehlo.{name}", [value, spread], value.type)

    def _clamped(self, value: Any, low: float, high: float) -> Any:
        ends = (self._constant(value, [end], []) for end in (low, high))
        return self._emit("stablehlo.clamp", [next(ends), value, next(ends)], value.type)

    def _constant(self, like: Any, numbers: Sequence[float], shape: Sequence[int]) -> Any:
        """Return a constant with the element type of a value."""
        element = self.editor.element(like)
        type_ = self.editor.tensor(shape, element)
        # As many digits as tell each f32 from the next.
        form = "{:.9e}" if str(element) == _FLOAT else "{:d}"
        listed = ", ".join(map(form.format, numbers))
        value = f"dense<{f'[{listed}]' if shape else listed}> : {type_}"
        return self._emit(_CONSTANT, [], type_, value=value)


def _store(editor: Editor, operation: Operation) -> None:
    """Give what an op has of quantized types that of what is stored."""
    if operation.name == _CONSTANT:
        _store_constant(editor, operation)
        return
    for value in _given(operation):
        value.set_type(_stored(editor, operation, value.type))
    if operation.name == _FUNCTION:
        types = editor.ir.FunctionType(operation.attributes[_SIGNATURE].value)
        given, made = (
            [_stored(editor, operation, type_) for type_ in of]
            for of in (types.inputs, types.results)
        )
        signature = editor.ir.FunctionType.get(given, made)
        operation.attributes[_SIGNATURE] = editor.ir.TypeAttr.get(signature)


def _store_constant(editor: Editor, operation: Operation) -> None:
    """Take the bits, which are written without a sign, for what is stored."""
    value = operation.attributes["value"]
    stored = _stored(editor, operation, operation.results[0].type)
    made = editor.emit(operation, _CONSTANT, [], [value.type], {"value": value}).result
    if made.type != stored:
        made = editor.emit(operation, "stablehlo.bitcast_convert", [made], [stored]).result
    editor.replace(operation, [made])


def _stored(editor: Editor, operation: Operation, type_: Any) -> Any:
    """Return the type of what is stored of a value of a quantized type; another as it is."""
    if not _is_quantized(type_):
        return type_
    element = editor.ir.Type.parse(_parsed(editor, operation, type_).storage)
    whole = editor.ir.RankedTensorType(type_)
    return editor.ir.RankedTensorType.get(whole.shape, element, whole.encoding)


def _parsed(editor: Editor, operation: Operation, type_: Any) -> _Quantization:
    """Return what the type of a tensor says, for which the bindings have no classes."""
    tensor = str(type_).startswith("tensor<")
    said = _TYPE.fullmatch(str(editor.ir.ShapedType(type_).element_type)) if tensor else None
    if not said or said["expressed"] != _FLOAT:
        raise editor.refuse(operation, f"{type_} is not a tensor of quantized {_FLOAT}")
    width, signed = int(said["width"]), said["sign"] == "i"
    pairs = [one.partition(":") for one in (said["many"] or said["one"]).split(",")]
    return _Quantization(
        signed=signed,
        width=width,
        low=int(said["low"] or (-(1 << width - 1) if signed else 0)),
        high=int(said["high"] or (1 << width - signed) - 1),
        axis=int(said["axis"]) if said["axis"] else None,
        scales=tuple(float(scale) for scale, _, _ in pairs),
        zeros=tuple(int(zero or "0") for _, _, zero in pairs),
    )


def _touches(operation: Operation) -> bool:
    """Say whether an op takes or makes quantized values, or has arguments that are some."""
    return any(_quantized(operation)) or (
        operation.name == _FUNCTION and _is_quantized(operation.attributes[_SIGNATURE])
    )


def _quantized(operation: Operation) -> Iterator[Any]:
    """Yield the quantized values that an op takes, makes, or gives its bodies."""
    for value in (*operation.operands, *_given(operation)):
        if _is_quantized(value.type):
            yield value


def _is_of_one(editor: Editor, operation: Operation) -> bool:
    """Say whether all quantized values of an op, which are tensors, are of one type."""
    return len({str(editor.element(value)) for value in _quantized(operation)}) == 1


def _given(operation: Operation) -> Iterator[Any]:
    """Yield what an op makes, and what it gives its bodies."""
    yield from operation.results
    for region in operation.regions:
        yield from (argument for block in region for argument in block.arguments)


def _is_quantized(type_: Any) -> bool:
    return "!quant." in str(type_)
