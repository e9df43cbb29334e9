"""Forms that are read well everywhere, and that some Releases compute wrongly or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.entries import Blob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from portable.bytecode.operations import Operation
    from portable.prediction.forms import Reading

__all__ = ["COMPUTED", "TWO_BITS", "TYPED"]

_COLLECTIVES = (
    "vhlo.all_reduce_v1",
    "vhlo.all_reduce_v2",
    "vhlo.reduce_scatter_v1",
)
_SCATTERS = ("vhlo.scatter_v1", "vhlo.scatter_v2")
# Those that may name a channel, without their versions.
_COMMUNICATING = frozenset(
    f"vhlo.{op}"
    for op in (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("collective_reduce", "reduce_scatter"),
    )
)
_FUNCTION = "vhlo.func_v1"
_ZEROS, _POWER = "vhlo.count_leading_zeros_v1", "vhlo.power_v1"
_NARROW_SIGNED = frozenset(f"i{bits}_v1" for bits in (2, 4, 8, 16, 32))
# Of two and four bits no number is as great as 64.
_INTEGERS = frozenset(f"{sign}{bits}_v1" for sign in ("i", "ui") for bits in (8, 16, 32, 64))
_RESHAPING = frozenset({"vhlo.broadcast_in_dim_v1", "vhlo.reshape_v1"})
# How deep the ops of a function are that are in no other op.
_IN_FUNCTION = 2
_SIZES = ("vhlo.get_dimension_size_v1",)
TYPED = (*_COLLECTIVES, *_SCATTERS, *_SIZES)
"""The ops whose operand types a form depends on."""

TWO_BITS = frozenset({"i2_v1", "ui2_v1"})
_FOUR_BITS = frozenset({"i4_v1", "ui4_v1"})
_COMPLEX = frozenset({"complex_v1"})
_SIX_BITS = frozenset({"f6E2M3FN_v1", "f6E3M2FN_v1"})
# Rounding to these is what a compiler may leave out.
_NARROW = frozenset(
    {"bf16_v1", "f16_v1", "f4E2M1FN_v1", *_SIX_BITS}
    | {f"f8{kind}_v1" for kind in ("E3M4", "E4M3", "E4M3FN", "E4M3FNUZ", "E4M3B11FNUZ")}
    | {f"f8{kind}_v1" for kind in ("E5M2", "E5M2FNUZ", "E8M0FNU")}
)
_FLOATS = _NARROW | {"f32_v1", "f64_v1"}
_REAL = _INTEGERS | _FLOATS | _FOUR_BITS | TWO_BITS | {"bool_v1"}
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
    for index in _function_types(reading):
        function = pool.type(index)
        for field in ("inputs", "outputs"):
            for type_ in _listed(function.fields.get(field)):
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


def _pads_convolutions_by_less_than_nothing(reading: Reading) -> bool | None:
    """Find a convolution of floating-point numbers that pads by a negative amount.

    Whether XLA computes it by the library that is wrong depends on its sizes.
    """
    paddings = {
        reading.attribute(signature, "padding")
        for signature in reading.of("vhlo.convolution_v1")
        if not reading.element(reading.result(signature)).startswith(("i", "ui"))
    }
    return _perhaps(any(_has_negative(reading, index) for index in paddings))


def _has_negative(reading: Reading, index: int | None) -> bool:
    """Say whether an attribute is a tensor of i64 with a negative element."""
    data = None if index is None else reading.content.pool.attribute(index).fields.get("data")
    if not isinstance(data, Blob):
        return False
    amounts = bytes(reading.data[data.offset : data.offset + data.size])
    # Little-endian i64: the sign is in the last byte of each.
    return any(last >= 0x80 for last in amounts[7::8])


def _expands(reading: Reading) -> bool:
    """Find a dynamic_broadcast_in_dim that says which dimensions it expands."""
    for signature in reading.of("vhlo.dynamic_broadcast_in_dim_v1"):
        data = reading.value(signature, "known_expanding_dimensions").get("data")
        if isinstance(data, Blob) and data.size:
            return True
    return False


def _takes_nothing(reading: Reading) -> bool:
    """Find a function that takes a tensor without elements."""
    pool = reading.content.pool
    return any(
        0 in (reading.dimensions(type_) or ())
        for function in _function_types(reading)
        for type_ in _listed(pool.type(function).fields.get("inputs"))
    )


def _function_types(reading: Reading) -> Iterator[int]:
    """Yield the types of functions; any number of functions, and of attributes, may be of one."""
    indices = {
        reading.value(signature, "function_type").get("value")
        for signature in reading.of(_FUNCTION)
    }
    for index in indices:
        if not isinstance(index, int):
            raise reading.malformed("the type of a function is none")
        yield index


def _listed(field: object) -> list[int]:
    return field if isinstance(field, list) else []


def _pads_by_less_than_nothing(reading: Reading) -> bool:
    """Find a pad that takes elements away."""
    # Any number of ops may pad by the same amounts.
    sides = {
        reading.attribute(signature, side)
        for signature in reading.of("vhlo.pad_v1")
        for side in ("edge_padding_low", "edge_padding_high")
    }
    return any(_has_negative(reading, index) for index in sides)


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


def _channels(reading: Reading) -> Iterator[set[tuple[str, int]]]:
    """Yield for each channel the collective ops that use it, with the ranks of their results."""
    users: dict[object, set[tuple[str, int]]] = {}
    for name in reading.ops:
        kind = name.rpartition("_v")[0]
        for signature in reading.of(name) if kind in _COMMUNICATING else ():
            channel = reading.value(signature, "channel_id").get("value")
            rank = len(reading.dimensions(reading.result(signature)) or ())
            users.setdefault(channel, set()).add((kind, rank))
    users.pop(0, None)  # as good as none
    users.pop(None, None)
    yield from users.values()


def _constant_operands(
    reading: Reading, name: str, operand: int, elements: frozenset[str]
) -> Iterator[tuple[Operation, bool, Operation | None]]:
    """Yield the ops of a name with results of some element types, and what an operand of each is.

    Yields:
        The op, whether the operand is an argument of a block, and the constant that it is, also
        where that was given another shape.
    """
    content = reading.content
    constants: dict[int | None, Operation] = {}
    for number, (operation, sources) in enumerate(content.uses()):
        op = str(content.names[operation.name])
        if op == "vhlo.constant_v1":
            constants[number] = operation
        elif op in _RESHAPING and sources[:1] and sources[0] in constants:
            constants[number] = constants[sources[0]]
        elif op == name and any(reading.element(type_) in elements for type_ in operation.results):
            given = sources[operand] if operand < len(sources) else None
            yield operation, given is None, constants.get(given)


def _numbers(reading: Reading, constant: Operation) -> Iterator[int]:
    """Yield the elements of a constant of integers."""
    index = reading.content.inherent(constant, "value")
    data = None if index is None else reading.content.pool.attribute(index).fields.get("data")
    if isinstance(data, Blob):
        name = reading.element(constant.results[0]).removesuffix("_v1")
        bits = int(name.lstrip("ui"))
        size, modulus = max(bits // 8, 1), 1 << bits
        for at in range(data.offset, data.offset + data.size, size):
            number = int.from_bytes(reading.data[at : at + size], "little") % modulus
            yield number - modulus if name[0] == "i" and number >= modulus >> 1 else number


def _counts_zeros_of_a_constant(reading: Reading) -> bool | None:
    """Find a count_leading_zeros of a negative constant with fewer than 64 bits.

    Perhaps there is one where anything else is counted in than an argument of the only function:
    XLA may fold it.
    """
    if not _gives(reading, (_ZEROS,), _NARROW_SIGNED):
        return False
    functions = sum(reading.signatures[one] for one in reading.of(_FUNCTION))
    perhaps = False
    for operation, given, constant in _constant_operands(reading, _ZEROS, 0, _NARROW_SIGNED):
        if constant is None:
            perhaps |= functions > 1 or not given or operation.depth > _IN_FUNCTION
        elif any(number < 0 for number in _numbers(reading, constant)):
            return True
    return _perhaps(perhaps)


def _converts_complex_splat(reading: Reading) -> bool:
    """Find a convert of one complex number throughout to another type than a complex one."""
    if "type:complex" not in reading.present:
        return False
    found = _constant_operands(reading, "vhlo.convert_v1", 0, _REAL)
    return any(constant is not None and _complex_splat(reading, constant) for *_, constant in found)


def _complex_splat(reading: Reading, constant: Operation) -> bool:
    pool = reading.content.pool
    element = pool.type(constant.results[0]).fields.get("element")
    part = pool.type(element).fields.get("element") if isinstance(element, int) else None
    if not isinstance(part, int):
        return False
    index = reading.content.inherent(constant, "value")
    data = None if index is None else pool.attribute(index).fields.get("data")
    both = 16 if pool.type(part).name == "f64_v1" else 8
    return isinstance(data, Blob) and data.size <= both


def _raises_to_64(reading: Reading) -> bool | None:
    """Find a power of integers by a constant of 64 or more; perhaps by what is no constant."""
    if not _gives(reading, (_POWER,), _INTEGERS):
        return False
    perhaps = False
    for _, _, constant in _constant_operands(reading, _POWER, 1, _INTEGERS):
        if constant is None:
            perhaps = True
        elif any(number >= 64 for number in _numbers(reading, constant)):
            return True
    return _perhaps(perhaps)


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
    "convolution of floating-point numbers that pads by a negative amount": (
        _pads_convolutions_by_less_than_nothing
    ),
    "get_dimension_size of a known dimension": _asks_what_is_known,
    "count_leading_zeros of a negative constant": _counts_zeros_of_a_constant,
    "convert of a complex splat constant to a real type": _converts_complex_splat,
    "power of integers by 64 or more": _raises_to_64,
    "power of floating-point numbers": lambda reading: _perhaps(
        _gives(reading, (_POWER,), _FLOATS)
    ),
    "argument without elements": _takes_nothing,
    "negative i4": lambda reading: _perhaps("type:i4" in reading.present),
    "constant of i4 or ui4": lambda reading: _perhaps(
        _gives(reading, ("vhlo.constant_v1",), _FOUR_BITS)
    ),
    "i4 or ui4 in more than constants and conversions": _computes_four_bits,
    "concatenate of i2 or ui2": lambda reading: _gives(reading, ("vhlo.concatenate_v1",), TWO_BITS),
    "concatenate of i4 or ui4": lambda reading: _gives(
        reading, ("vhlo.concatenate_v1",), _FOUR_BITS
    ),
    "maximum or minimum of complex numbers": lambda reading: _gives(
        reading, ("vhlo.maximum_v1", "vhlo.minimum_v1"), _COMPLEX
    ),
    "reduce_scatter of a complex constant": lambda reading: _perhaps(
        all(
            _gives(reading, (op,), _COMPLEX)
            for op in ("vhlo.reduce_scatter_v1", "vhlo.constant_v1")
        )
    ),
    "function without a body": _declaration,
    "channel of different collective ops": lambda reading: any(
        len({kind for kind, _ in users}) > 1 for users in _channels(reading)
    ),
    "channel of collective ops that differ in kind or rank": lambda reading: _perhaps(
        any(len(users) > 1 for users in _channels(reading))
    ),
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
