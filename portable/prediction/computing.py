"""Forms that are read well everywhere, and that some Releases compute wrongly or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.entries import Blob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from portable.prediction.forms import Reading

__all__ = ["COMPUTED", "TWO_BITS", "TYPED"]

_COLLECTIVES = (
    "vhlo.all_reduce_v1",
    "vhlo.all_reduce_v2",
    "vhlo.reduce_scatter_v1",
)
_SCATTERS = ("vhlo.scatter_v1", "vhlo.scatter_v2")
_FUNCTION = "vhlo.func_v1"
_SIZES = ("vhlo.get_dimension_size_v1",)
TYPED = (*_COLLECTIVES, *_SCATTERS, *_SIZES)
"""The ops whose operand types a form depends on."""

TWO_BITS = frozenset({"i2_v1", "ui2_v1"})
_FOUR_BITS = frozenset({"i4_v1", "ui4_v1"})
_SIX_BITS = frozenset({"f6E2M3FN_v1", "f6E3M2FN_v1"})
# Rounding to these is what a compiler may leave out.
_NARROW = frozenset(
    {"bf16_v1", "f16_v1", "f4E2M1FN_v1", *_SIX_BITS}
    | {f"f8{kind}_v1" for kind in ("E3M4", "E4M3", "E4M3FN", "E4M3FNUZ", "E4M3B11FNUZ")}
    | {f"f8{kind}_v1" for kind in ("E5M2", "E5M2FNUZ", "E8M0FNU")}
)
# What XLA compiled of four-bit integers from the beginning; functions and regions are no ops of it.
_ALWAYS_FOUR_BITS = frozenset(
    f"vhlo.{name}" for name in ("constant_v1", "convert_v1", "func_v1", "return_v1")
) | {"builtin.module"}


def _gives(reading: Reading, ops: Iterable[str], elements: frozenset[str]) -> bool:
    """Find an op with a result of some element types."""
    signatures = reading.of(*ops)
    return any(
        reading.element(type_) in elements
        for signature in signatures
        for type_ in signature.results
    )


def _promotes(reading: Reading, ops: Iterable[str]) -> bool:
    """Find an op whose results are of another element type than its operands."""
    for signature in reading.of(*ops):
        pairs = zip(signature.operand_types or (), signature.results, strict=False)
        if any(
            operand is not None and reading.element(operand) != reading.element(result)
            for operand, result in pairs
        ):
            return True
    return False


def _rounds(reading: Reading) -> bool | None:
    """Find a convert to a narrower float; whether the value is widened again is not looked for."""
    return _perhaps(_gives(reading, ("vhlo.convert_v1",), _NARROW))


def _four_bits(reading: Reading) -> bool:
    return not reading.present.isdisjoint({"type:i4", "type:ui4"})


def _keeps_four_bits(reading: Reading) -> bool | None:
    """Find four bits in the type of a function; perhaps elsewhere, where XLA may fold them away.

    What it folds depends on the values an op is computed from, and on limits of size.
    """
    if not _four_bits(reading):
        return False
    pool = reading.content.pool
    # Any number of functions, and of attributes, may be of one type.
    indices = {
        reading.value(signature, "function_type").get("value")
        for signature in reading.of(_FUNCTION)
    }
    for index in indices:
        if not isinstance(index, int):
            raise reading.malformed("the type of a function is none")
        function = pool.type(index)
        for types in (function.fields.get("inputs"), function.fields.get("outputs")):
            for type_ in types if isinstance(types, list) else ():
                if reading.element(type_) in _FOUR_BITS:
                    return True
    return None


def _computes_four_bits(reading: Reading) -> bool | None:
    """Find an op on four-bit integers that is no conversion.

    Perhaps it only takes them, or is folded away; see `_keeps_four_bits`.
    """
    others = reading.ops - _ALWAYS_FOUR_BITS
    if not others or not _four_bits(reading):
        return False
    return True if _gives(reading, others, _FOUR_BITS) and _keeps_four_bits(reading) else None


def _constants_of_complex_f64(reading: Reading) -> bool:
    """Find a constant of complex numbers of two f64 that is not one value throughout."""
    pool = reading.content.pool
    for signature in reading.of("vhlo.constant_v1"):
        if reading.element(reading.result(signature)) != "complex_v1":
            continue
        element = pool.type(reading.result(signature)).fields.get("element")
        part = pool.type(element).fields.get("element") if isinstance(element, int) else None
        data = reading.value(signature, "value").get("data")
        several = isinstance(data, Blob) and data.size > 2 * 8
        if several and isinstance(part, int) and pool.type(part).name == "f64_v1":
            return True
    return False


def _expands(reading: Reading) -> bool:
    """Find a dynamic_broadcast_in_dim that says which dimensions it expands."""
    for signature in reading.of("vhlo.dynamic_broadcast_in_dim_v1"):
        data = reading.value(signature, "known_expanding_dimensions").get("data")
        if isinstance(data, Blob) and data.size:
            return True
    return False


def _pads_by_less_than_nothing(reading: Reading) -> bool:
    """Find a pad that takes elements away."""
    # Any number of ops may pad by the same amounts.
    sides = {
        reading.attribute(signature, side)
        for signature in reading.of("vhlo.pad_v1")
        for side in ("edge_padding_low", "edge_padding_high")
    }
    for index in sides:
        data = None if index is None else reading.content.pool.attribute(index).fields.get("data")
        if isinstance(data, Blob):
            amounts = bytes(reading.data[data.offset : data.offset + data.size])
            # Little-endian i64: the sign is in the last byte of each.
            if any(last >= 0x80 for last in amounts[7::8]):
                return True
    return False


def _open_dimension(reading: Reading) -> bool:
    """Find a tensor of which neither the type nor bounds say how large it may be."""
    pool, arguments = reading.content.pool, reading.content.scan().arguments
    results = {type_ for signature in reading.signatures for type_ in signature.results}
    for index in results | arguments:
        fields = pool.type(index).fields
        shape = fields.get("shape")
        if fields.get("encoding") is None and isinstance(shape, list) and min(shape, default=0) < 0:
            return True
    return False


def _asks_what_is_known(reading: Reading) -> bool:
    """Find a get_dimension_size of a dimension whose size is static in the type."""
    for signature in reading.of(*_SIZES):
        sizes = reading.dimensions((signature.operand_types or (None,))[0])
        dimension = reading.value(signature, "dimension").get("value")
        if sizes is None or not isinstance(dimension, int):
            continue
        if not 0 <= dimension < len(sizes):
            raise reading.malformed(f"dimension {dimension} of a tensor that has {len(sizes)}")
        if sizes[dimension] >= 0:
            return True
    return False


def _perhaps(found: bool) -> bool | None:
    """Weaken an answer: what was found is necessary and not sufficient."""
    return None if found else False


def _declaration(reading: Reading) -> bool:
    """Find a function without a body: bodies and regions end with a return, one each."""
    functions = returns = regions = 0
    for signature, count in reading.signatures.items():
        match reading.content.names[signature.name][:2]:
            case "vhlo", "func_v1":
                functions += count
            case "vhlo", "return_v1":
                returns += count
            case "vhlo", _:
                regions += count * signature.regions
    return functions + regions > returns


COMPUTED: dict[str, Callable[[Reading], bool | None]] = {
    "all_reduce or reduce_scatter to a promoted type": lambda reading: _promotes(
        reading, _COLLECTIVES
    ),
    "scatter to a promoted type": lambda reading: _promotes(reading, _SCATTERS),
    "convert to a narrower float and back": _rounds,
    "i4 or ui4 that is not folded away": _keeps_four_bits,
    "convert to bf16 and back": lambda reading: _perhaps(
        _gives(reading, ("vhlo.convert_v1",), frozenset({"bf16_v1"}))
    ),
    "reduce of several operands by maximum": lambda reading: _perhaps(
        "vhlo.maximum_v1" in reading.ops
        # Beside each operand stands its initial value.
        and any(signature.operands > 2 for signature in reading.of("vhlo.reduce_v1"))
    ),
    "dynamic dimension without bounds": _open_dimension,
    "pad by a negative amount": _pads_by_less_than_nothing,
    "get_dimension_size of a known dimension": _asks_what_is_known,
    "negative i4": lambda reading: _perhaps("type:i4" in reading.present),
    "constant of i4 or ui4": lambda reading: _perhaps(
        _gives(reading, ("vhlo.constant_v1",), _FOUR_BITS)
    ),
    "i4 or ui4 in more than constants and conversions": _computes_four_bits,
    "concatenate of i2 or ui2": lambda reading: _gives(reading, ("vhlo.concatenate_v1",), TWO_BITS),
    "concatenate of i4 or ui4": lambda reading: _gives(
        reading, ("vhlo.concatenate_v1",), _FOUR_BITS
    ),
    "function without a body": _declaration,
    "constant of several complex<f64>": _constants_of_complex_f64,
    "dynamic_broadcast_in_dim with known expanding dimensions": _expands,
    "all_gather or all_to_all of several operands": lambda reading: any(
        signature.operands > 1
        for op in ("vhlo.all_gather_v2", "vhlo.all_to_all_v2")
        for signature in reading.of(op)
    ),
    "all_to_all of several operands": lambda reading: any(
        signature.operands > 1 for signature in reading.of("vhlo.all_to_all_v2")
    ),
    "constant of f6E2M3FN or f6E3M2FN": lambda reading: _gives(
        reading, ("vhlo.constant_v1",), _SIX_BITS
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
