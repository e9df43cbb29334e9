"""Forms that are read well everywhere, and that some Releases compute wrongly or not at all."""

from __future__ import annotations

import itertools
import math
import struct
from typing import TYPE_CHECKING, TypeVar

from portable.bytecode.entries import Blob
from portable.bytecode.layouts import VHLO
from portable.bytecode.operations import IN_FUNCTION, like
from portable.prediction.corners import UNSIGNED_INTEGERS
from portable.prediction.flow import by_the_first
from portable.prediction.form import (
    AMOUNTS,
    CONVOLUTIONS,
    NEGATIVE,
    SCATTERS,
    SIXTEEN_BITS,
    FormRule,
    kinds,
    ops,
    repeated,
    signed,
    taken,
    types,
    weaken,
)
from portable.prediction.functions import HANDING_ON
from portable.prediction.windows import sums_up
from portable.releases import capability

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from portable.bytecode.operations import Head, OpSignature, Source
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = [
    "COMMUNICATING",
    "COMPUTED",
    "F8",
    "KEPT_UNUSED",
    "NARROW",
    "TWO_BITS",
    "WHOLE",
    "channel",
    "complex_splat",
    "ends_of",
    "first_of",
    "integers",
]

_T = TypeVar("_T")

_COLLECTIVES = (
    "vhlo.all_reduce_v1",
    "vhlo.all_reduce_v2",
    "vhlo.reduce_scatter_v1",
)
KEPT_UNUSED = (*_COLLECTIVES, "vhlo.all_gather_v1", "vhlo.all_gather_v2")
"""Collective ops that only XLA removes where nothing uses them, after they are lowered."""
COMMUNICATING = frozenset(f"vhlo.{op}" for op in capability.COMMUNICATING)
"""The ops by which devices communicate, without their versions; most may name a channel."""
_FUNCTION = "vhlo.func_v1"
# The powers that IREE computes by products and roots, and the floats of which it rounds little.
_RIGHT_POWERS = frozenset({0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5})
_WIDE = frozenset({"f32_v1", "f64_v1"})
# A half, of the floats of a byte that IREE computes with; the highest bit is the sign, if any.
_HALVES = {
    "f8E4M3FN_v1": 0x30,
    "f8E4M3FNUZ_v1": 0x38,
    "f8E5M2_v1": 0x38,
    "f8E5M2FNUZ_v1": 0x3C,
    "f8E8M0FNU_v1": 0x7E,
}
_ZEROS, _POWER, _PAD = "vhlo.count_leading_zeros_v1", "vhlo.power_v1", "vhlo.pad_v1"
# The exponents by which integers are raised, from 0 to one below.
_POWERS = 64
_CONVERT, _CONVOLUTION = "vhlo.convert_v1", "vhlo.convolution_v1"
_ABS, _IOTA = "vhlo.abs_v1", "vhlo.iota_v1"
_IOTAS = (_IOTA, "vhlo.dynamic_iota_v1")
_ADD = "vhlo.add_v1"
_REDUCE, _MAXIMUM = "vhlo.reduce_v1", "vhlo.maximum_v1"
_CONCATENATE = "vhlo.concatenate_v1"
_DYNAMIC_PAD = "vhlo.dynamic_pad_v1"
# What may pad by a constant, by amounts that are no attribute.
_PADDING_DYNAMICALLY = ("vhlo.dynamic_conv_v1", "vhlo.dynamic_conv_v2", _DYNAMIC_PAD)
_SORT = "vhlo.sort_v1"
_GREATEST = (_MAXIMUM, "vhlo.minimum_v1")
_DIVIDE, _TRANSFORM = "vhlo.divide_v1", "vhlo.fft_v1"
_NARROW_SIGNED = frozenset(f"i{bits}_v1" for bits in (2, 4, 8, 16, 32))
# Of two and four bits no number is as great as 64.
_INTEGERS = frozenset(f"{sign}{bits}_v1" for sign in ("i", "ui") for bits in (8, 16, 32, 64))
# What has a body, and what ends one.
_BODY = (_FUNCTION, "vhlo.return_v1")
# More are not followed: what an op is computed from would be as many for each op.
_MOST_CHANNELS = 16
_SIZES = ("vhlo.get_dimension_size_v1",)
_REDUCE_WINDOW = "vhlo.reduce_window_v1"
# What pads its first operand by its second, and the attributes that say by how many.
_PADDING = {
    _PAD: ("edge_padding_low", "edge_padding_high"),
    _REDUCE_WINDOW: ("padding",),
}
_BITS, _RETURN = "vhlo.rng_bit_generator_v1", "vhlo.return_v1"
_WHILE, _CONSTANT = "vhlo.while_v1", "vhlo.constant_v1"
_DEVICES = ("vhlo.partition_id_v1", "vhlo.replica_id_v1")


# Ops whose operands have to be of one element type in XLA, and those that take signed numbers only
# or have a body for numbers of their operand's type.
_ALIKE = kinds(
    "add and atan2 clamp compare concatenate divide maximum minimum multiply or pad power remainder"
    " shift_left shift_right_arithmetic shift_right_logical subtract xor"
)
_UNCHANGED = HANDING_ON | kinds("optimization_barrier return")
_ON_SIGNED = kinds("abs reduce select_and_scatter sign sort")
# Those that return what they take in another shape.
_RESHAPED = kinds("broadcast broadcast_in_dim optimization_barrier reshape reverse slice transpose")
# What makes another iota of one, and what is left out, or replaced by its operand, in many cases.
_SPREADING = kinds("broadcast broadcast_in_dim transpose")
_SIMPLIFIED = kinds(
    "add and clamp complex concatenate convert divide dynamic_broadcast_in_dim dynamic_reshape"
    " dynamic_slice dynamic_update_slice gather imag maximum minimum multiply negate or pad power"
    " real reshape reverse select slice subtract"
)

TWO_BITS = frozenset({"i2_v1", "ui2_v1"})
_FOUR_BITS = frozenset({"i4_v1", "ui4_v1"})
_COMPLEX = frozenset({"complex_v1"})
_BOOLEAN = frozenset({"bool_v1"})
_SIX_BITS = frozenset({"f6E2M3FN_v1", "f6E3M2FN_v1"})
F8 = frozenset(
    f"f8{kind}_v1"
    for kind in ("E3M4", "E4M3", "E4M3FN", "E4M3FNUZ", "E4M3B11FNUZ", "E5M2", "E5M2FNUZ", "E8M0FNU")
)
"""The element types that are floats of a byte."""
NARROW = F8 | SIXTEEN_BITS | {"f4E2M1FN_v1", *_SIX_BITS}
"""The floats narrower than f32; some compilers leave out rounding to them."""
# What XLA:CPU has no reduction of between devices.
_FEW_BITS = TWO_BITS | _FOUR_BITS | (NARROW - SIXTEEN_BITS)
_FLOATS = NARROW | {"f32_v1", "f64_v1"}
WHOLE = _INTEGERS | _FOUR_BITS | TWO_BITS
"""The element types that are integers."""
# As `struct` calls signed integers of so many bytes; so many bytes are decoded at once.
_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}
_PART = 1 << 16
_REAL = WHOLE | _FLOATS | _BOOLEAN
# What XLA compiled of four-bit integers from the beginning; functions and regions are no ops of it.
_ALWAYS_FOUR_BITS = frozenset(
    f"vhlo.{name}" for name in ("constant_v1", "convert_v1", "func_v1", "return_v1")
) | {"builtin.module"}


def _giving(reading: Reading, giving: Iterable[str], elements: frozenset[str]) -> list[OpSignature]:
    """Return the signatures of some ops that have a result of some element types."""
    return [signature for signature in reading.of(*giving) if reading.gives(signature, elements)]


def _gives(giving: Iterable[str], elements: frozenset[str]) -> FormRule:
    """Find an op with a result of some element types."""
    return FormRule(
        lambda reading: bool(_giving(reading, giving, elements)), (types(elements), ops(*giving))
    )


def _lowers(*kinds: str) -> FormRule:
    """Find what is lowered though nothing uses it, of some element types."""
    elements = frozenset(f"{kind}_v1" for kind in kinds)

    def find(reading: Reading) -> bool:
        taken = any(reading.element(one) in elements for one in reading.edges)
        return taken or bool(_giving(reading, KEPT_UNUSED, elements))

    return FormRule(find, (types(elements),))


def _greatest_of_complex(reading: Reading) -> bool | None:
    """Find a maximum or minimum of complex numbers that is used.

    Perhaps there is none where each is of a number and itself, which some Releases leave out.
    """
    found = {*map(like, _giving(reading, _GREATEST, _COMPLEX))} & reading.used
    visits = reading.walk.of(_GREATEST) if found else ()
    operands = [{*one.operands} for one in visits if like(one.operation) in found]
    return any(len(one) > 1 for one in operands) or (None if operands else False)


def _promotes(*promoting: str) -> FormRule:
    """Find an op whose results are of another element type than its operands."""

    def find(reading: Reading) -> bool:
        for signature in reading.of(*promoting):
            pairs = zip(signature.operand_types or (), signature.results, strict=False)
            if any(
                operand is not None and reading.element(operand) != reading.element(result)
                for operand, result in pairs
            ):
                return True
        return False

    return FormRule(find, (ops(*promoting),))


def _several_operands(*several: str) -> FormRule:
    return FormRule(
        lambda reading: any(one.operands > 1 for one in reading.of(*several)), (ops(*several),)
    )


def _keeps_four_bits(reading: Reading) -> bool | None:
    """Find four bits in the type of a used function; perhaps elsewhere: XLA may fold them away.

    What it folds depends on the values an op is computed from, and on limits of size.
    """
    functions = [one for one in reading.of(_FUNCTION) if like(one) in reading.used]
    sides = [reading.sides(reading.value(one, "function_type").get("value")) for one in functions]
    edges = {type_ for side in itertools.chain(*sides) for type_ in side}
    return any(reading.element(type_) in _FOUR_BITS for type_ in edges) or None


def _computes_four_bits(reading: Reading) -> bool | None:
    """Find an op on four-bit integers that is no conversion.

    Perhaps it only takes them, or is folded away; see `_keeps_four_bits`.
    """
    others = reading.ops - _ALWAYS_FOUR_BITS
    if not others:
        return False
    given = {*map(like, _giving(reading, others, _FOUR_BITS))} & reading.used
    kept = given or _giving(reading, KEPT_UNUSED, _FOUR_BITS)
    return True if kept and _keeps_four_bits(reading) else None


def _pads_convolutions_by_less_than_nothing(reading: Reading) -> bool:
    """Find a convolution of floating-point numbers that pads by a negative amount.

    Whether XLA computes it by the library that is wrong depends on its sizes.
    """
    paddings = {
        reading.attribute(signature, "padding")
        for signature in reading.of(_CONVOLUTION)
        if not reading.element(reading.result(signature)).startswith(("i", "ui"))
    }
    return any(_has_negative(reading, index) for index in paddings)


def _pads_complex_by_a_constant(reading: Reading) -> bool | None:
    """Find complex numbers that are padded by a constant on an edge, and not between elements.

    A convolution pads by zero. IREE sums up what comes before without padding. Of a dynamic_pad
    or dynamic_conv the amounts are no attribute.
    """
    summing = {
        like(one) for one in reading.of(_REDUCE_WINDOW) if one.results and sums_up(reading, one)
    }
    for signature in reading.of(_CONVOLUTION):
        complex_ = reading.element(reading.result(signature)) in _COMPLEX
        if complex_ and any(reading.numbers(signature, "padding")):
            return True
    for op, sides in _PADDING.items():
        for visit, constant in _constant_operands(reading, op, 1, _COMPLEX):
            operation = visit.operation
            if constant is None or any(reading.numbers(operation, "interior_padding")):
                continue
            if like(operation) in summing:
                continue
            amounts = [n for side in sides for n in reading.numbers(operation, side)]
            if any(0 < amount < NEGATIVE for amount in amounts):
                return True
    return None if _giving(reading, _PADDING_DYNAMICALLY, _COMPLEX) else False


def _scatters_nothing(reading: Reading) -> bool:
    """Find a scatter of updates without elements into a tensor that has some."""
    for signature in reading.of(*SCATTERS):
        sizes = [reading.dimensions(type_) or () for type_ in signature.operand_types or ()]
        if 0 in itertools.chain(*sizes[-1:]) and 0 not in itertools.chain(*sizes[:1]):
            return True
    return False


def _has_negative(reading: Reading, index: int | None) -> bool:
    """Say whether an attribute is a tensor of i64 with a negative element."""
    return index is not None and max(reading.numbers_at(index), default=0) >= NEGATIVE


def _takes_nothing(reading: Reading) -> bool:
    """Find a function that takes a tensor without elements."""
    return any(
        0 in (reading.dimensions(type_) or ())
        for function in reading.function_types
        for type_ in set(reading.sides(function)[0])
    )


def _pads_by_less_than_nothing(reading: Reading) -> bool:
    """Find a pad that takes elements away."""
    # Any number of ops may pad by the same amounts.
    sides = {
        reading.attribute(signature, side)
        for signature in reading.of(_PAD)
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
    for kind, name in reading.communicating:
        for signature in reading.of(name):
            if (number := channel(reading, signature)) is not None:
                rank = len(reading.dimensions(reading.result(signature)) or ())
                users.setdefault(number, set()).add((kind, rank))
    yield from users.values()


def _several_ranks(op: str) -> FormRule:
    """Find a channel that ops of one kind use for tensors of several ranks."""

    def find(reading: Reading) -> bool:
        ranks = ({rank for kind, rank in users if kind == op} for users in _channels(reading))
        return any(len(of_one) > 1 for of_one in ranks)

    return FormRule(find, (ops(op),))


def _chained(reading: Reading) -> bool | None:
    """Find a collective op that is computed from another one of the same channel.

    Perhaps there is one where so many channels are used that they are not told apart.
    """
    if not any(True for _ in _channels(reading)):
        return False
    known: set[object] = set()
    before: list[frozenset[object]] = []
    for visit in reading.walk:
        operation = visit.operation
        found = frozenset().union(*(before[source[0]] for source in visit.sources if source))
        kind = reading.kinds[operation.name]
        own = channel(reading, operation) if kind in COMMUNICATING else None
        if own is not None:
            if own in found:
                return True
            known.add(own)
            if len(known) > _MOST_CHANNELS:
                return None
            found |= {own}
        before.append(found)
    return False


def _takes_two_bits(*taking: str) -> FormRule:
    """Find an op on two-bit integers of whose first two operands one is no constant."""

    def find(reading: Reading) -> bool:
        return any(
            constant is None
            for op in taking
            for operand in (0, 1)
            for _, constant in _constant_operands(reading, op, operand, TWO_BITS)
        )

    return FormRule(find, (types(TWO_BITS), ops(*taking)))


def _scatters_two_bits(reading: Reading) -> bool:
    """Find a scatter into two-bit integers that is not removed before."""
    return any(
        reading.gives(one, TWO_BITS) for one in reading.of(*SCATTERS) if like(one) in reading.used
    )


def _pads_two_bits(reading: Reading) -> bool | None:
    """Find a pad of two-bit integers that adds to an argument of main, and is returned as it is.

    Perhaps one that adds to, or is taken by, what else is computed: XLA compiles that as one. Where
    nothing is added, or all is constant, it pads nothing. A dynamic_pad becomes a pad.
    """
    walk, perhaps = reading.walk, bool(_giving(reading, [_DYNAMIC_PAD], TWO_BITS))
    taken = {
        source[0] for visit in walk for source in visit.sources if source and visit.name != _RETURN
    }
    for visit in walk.of([_PAD]) if _giving(reading, [_PAD], TWO_BITS) else ():
        operation = visit.operation
        amounts = [signed(n) for name in AMOUNTS for n in reading.numbers(operation, name)]
        adds = max(amounts, default=0) > 0 and not all(map(visit.constant, visit.sources))
        if adds and reading.element(reading.result(operation)) in TWO_BITS:
            perhaps = True
            is_direct = visit.sources[:1] == (None,) and visit.number not in taken
            in_main = walk.around[visit.number] == reading.functions.main
            if is_direct and in_main and min(amounts) >= 0 and _pads_some(reading, operation):
                return True
    return None if perhaps else False


def _pads_some(reading: Reading, pad: Head) -> bool:
    """Say whether a pad that only adds has an operand with two elements at least in a dimension."""
    shape = reading.dimensions(pad.results[0]) or ()
    low, high, between = (repeated(reading.numbers(pad, name), len(shape), 0) for name in AMOUNTS)
    sizes = [
        (of - before - behind + apart) // (apart + 1)
        for of, before, behind, apart in zip(shape, low, high, between, strict=True)
    ]
    return min(sizes, default=0) > 0 and max(sizes) > 1


def _sorts_two_bits(reading: Reading) -> bool | None:
    """Find a sort of two-bit integers; perhaps one of constants, which is done before it runs."""
    folded = [
        source is not None and source[0] in reading.folded
        for visit in reading.walk.of([_SORT])
        for result, source in zip(visit.operation.results, visit.sources, strict=False)
        if reading.element(result) in TWO_BITS
    ]
    return None if folded and all(folded) else bool(folded)


def channel(reading: Reading, op: Head | OpSignature) -> object:
    """Return the channel that a collective op names; None if it names none, or 0."""
    return reading.value(op, "channel_id").get("value") or None


def _constant_operands(
    reading: Reading, name: str, operand: int, elements: frozenset[str]
) -> Iterator[tuple[Visit, Head | None]]:
    """Yield the ops of a name with results of some element types, and what an operand of each is.

    Yields:
        The op, and the constant that the operand is, also where that was given another shape.
    """
    for visit in reading.walk.of([name]) if _giving(reading, [name], elements) else ():
        if reading.gives(visit.operation, elements):
            source = visit.sources[operand] if operand < len(visit.sources) else None
            yield visit, visit.constant(source)


def integers(reading: Reading, constant: Head) -> Iterator[int]:
    """Yield the elements of a constant of integers; none of what a damaged file calls one.

    Any number of ops may take the same constant: do not walk through it for each.

    Args:
        reading: An artifact's ops.
        constant: The constant.
    """
    return itertools.chain.from_iterable(_parts(reading, constant))


def _parts(reading: Reading, constant: Head) -> Iterator[Sequence[int]]:
    """Yield the elements of a constant of integers, so many at once as take little memory."""
    index = reading.content.inherent(constant, "value")
    data = None if index is None else reading.content.pool.attribute(index).fields.get("data")
    elements = {reading.element(type_) for type_ in constant.results[:1]} & WHOLE
    if not isinstance(data, Blob) or not elements:
        return
    name = elements.pop().removesuffix("_v1")
    bits = int(name.lstrip("ui"))
    size, half = max(bits // 8, 1), 1 << bits - 1 if name[0] == "i" else 0
    code = _CODES[size] if half else _CODES[size].upper()
    for start in range(data.offset, data.offset + data.size, _PART):
        stop = min(start + _PART, data.offset + data.size)
        raw = bytes(reading.data[start : stop - (stop - start) % size])
        found = struct.unpack(f"<{len(raw) // size}{code}", raw)
        # Below a byte only the lowest bits count.
        yield found if bits >= 8 else [(one + half) % (1 << bits) - half for one in found]


def _truths(reading: Reading, constant: Head) -> Iterator[Collection[int]]:
    """Yield whether elements of a constant of booleans are false and true, of so many at once.

    Each has a byte, or a bit, of which a byte may have both.
    """
    data = reading.value(constant, "value").get("data")
    if not isinstance(data, Blob):
        return
    # True for all has all bits set; where each has a byte, as one alone does, it may be 1.
    count = reading.content.pool.count(constant.results[0]) or 1
    true = {0xFF, 1} if data.size >= count else {0xFF}
    for start in range(data.offset, data.offset + data.size, _PART):
        found = {*bytes(reading.data[start : min(start + _PART, data.offset + data.size)])}
        mixed = bool(found - true - {0})
        yield [truth for truth, one in enumerate(({0}, true)) if mixed or found & one]


def ends_of(reading: Reading) -> Callable[[Head], tuple[int, int]]:
    """Return what tells the least and the largest integer of a constant, 0 where it has none.

    A boolean counts as 0 or 1. Each is read once: any number of ops may take the same.

    Args:
        reading: An artifact's ops.
    """

    def ends(constant: Head) -> tuple[int, int]:
        is_boolean = reading.element((*constant.results, -1)[0]) in _BOOLEAN
        parts = _truths(reading, constant) if is_boolean else _parts(reading, constant)
        pairs = [(min(part), max(part)) for part in parts if part]
        return min((one for one, _ in pairs), default=0), max((one for _, one in pairs), default=0)

    return _once(reading, ends)


def first_of(reading: Reading) -> Callable[[Head], int | None]:
    """Return what tells the first integer of a constant, None where it has none.

    Each is read once, as by `ends_of`.

    Args:
        reading: An artifact's ops.
    """
    return _once(reading, lambda constant: next(integers(reading, constant), None))


def _once(reading: Reading, tell: Callable[[Head], _T]) -> Callable[[Head], _T]:
    """Have a constant read once, however many ops are it."""
    known: dict[tuple[int | None, tuple[int, ...]], _T] = {}

    def told(constant: Head) -> _T:
        key = reading.attribute(constant, "value"), constant.results[:1]
        if key not in known:
            known[key] = tell(constant)
        return known[key]

    return told


def _counts_zeros_of_a_constant(reading: Reading) -> bool | None:
    """Find a count_leading_zeros of a negative constant with fewer than 64 bits.

    Perhaps there is one where anything else is counted in that may be negative than an argument of
    the program, or what is another number for each that it is: XLA may fold it, and much of what
    is not computed from constants alone.
    """
    perhaps: list[Value] = []
    for visit, constant in _constant_operands(reading, _ZEROS, 0, _NARROW_SIGNED):
        if constant is None:
            # Of a damaged file the operand may be missing.
            operands = zip(reading.ranges.of(visit), reading.flow.operands(visit), strict=True)
            perhaps += (one for (least, _), one in itertools.islice(operands, 1) if least < 0)
        elif reading.ends(constant)[0] < 0:
            return True
    return None if perhaps and not all(map(reading.varying.at, perhaps)) else False


def _tests_constants(reading: Reading) -> bool | None:
    """Find a convert to booleans of integers that end in a zero bit, or of floats below 1.

    They are constants. Of integers the last bit is all that is left; floats below 1 become 0, and
    so does NaN. Perhaps of what XLA may fold.
    """
    # Each constant is read once: any number of ops may convert the same.
    known: dict[tuple[int | None, tuple[int, ...]], bool] = {}
    perhaps = False
    for visit in reading.walk.of([_CONVERT]) if _giving(reading, [_CONVERT], _BOOLEAN) else ():
        if not reading.gives(visit.operation, _BOOLEAN):
            continue
        source = visit.sources[0] if visit.sources else None
        constant = visit.constant(source)
        if constant is None:
            folded = source is not None and source[0] in reading.folded
            perhaps |= folded and not _BOOLEAN.issuperset(taken(reading, visit))
            continue
        key = reading.attribute(constant, "value"), constant.results[:1]
        if key not in known:
            known[key] = _loses_truth(reading, constant)
        if known[key]:
            return True
    return None if perhaps else False


def _loses_truth(reading: Reading, constant: Head) -> bool:
    """Say whether an element is no zero, and becomes one as an integer of one bit."""
    element = reading.element(constant.results[0]) if constant.results else ""
    if element in WHOLE:
        return any(one and not one & 1 for one in integers(reading, constant))
    if element not in _FLOATS:
        return False
    numbers = reading.floats(constant)
    return numbers.smallest < 1 or numbers.least < 0 or numbers.has_nan


def _adds_constant_booleans(reading: Reading) -> bool | None:
    """Find an add of two constants of booleans, of which one is true throughout.

    Perhaps there is one where both have a true somewhere, or are computed from constants.
    """
    perhaps = False
    for visit in reading.walk.of([_ADD]) if _giving(reading, [_ADD], _BOOLEAN) else ():
        if not reading.gives(visit.operation, _BOOLEAN):
            continue
        if not all(source and source[0] in reading.folded for source in visit.sources):
            continue
        constants = [visit.constant(source) for source in visit.sources]
        held = [reading.ends(one) for one in constants if one is not None]
        if len(held) < len(constants):
            perhaps = True
        elif all(most for _, most in held):
            if any(least == most for least, most in held):
                return True
            perhaps = True
    return None if perhaps else False


def _takes_abs_of_a_complex_iota(reading: Reading) -> bool | None:
    """Find the abs of an iota of complex numbers, which is taken for the iota, of another type.

    An iota that is spread or turned is another one. Perhaps other ops on the way are simplified.
    """
    iotas = {
        (visit.number, 0)
        for visit in reading.walk.of(_IOTAS)
        if reading.element(reading.result(visit.operation)) in _COMPLEX
        and _counts_up(reading, visit.operation)
    }
    spread = reading.flow.reached(iotas, by_the_first, _SPREADING)
    near = reading.flow.reached(iotas, lambda _: True, _SPREADING | _SIMPLIFIED)
    taken = {one for visit in reading.walk.of([_ABS]) for one in reading.flow.operands(visit)}
    return True if taken & spread else None if taken & near else False


def _counts_up(reading: Reading, iota: Head) -> bool:
    """Say whether an iota has more than one number; perhaps, of a dynamic shape."""
    along = reading.value(iota, "iota_dimension").get("value")
    shape = reading.dimensions(reading.result(iota)) or ()
    return any(size != 1 for at, size in enumerate(shape) if at == along)


def _computes_six_bits(reading: Reading) -> bool | None:
    """Find perhaps a constant of six bits that is computed: a convert, or an iota of one number.

    XLA:CPU has no such constants. Perhaps what is computed of it is folded, too.
    """
    for visit in reading.walk:
        results = visit.operation.results
        if visit.number not in reading.folded or visit.name == _CONSTANT or not results:
            continue
        if (
            reading.element(results[0]) not in _SIX_BITS
            or like(visit.operation) not in reading.used
        ):
            continue
        if visit.name not in _IOTAS or not _counts_up(reading, visit.operation):
            return None
    return False


def _converts_complex_splat(reading: Reading) -> bool:
    """Find a convert of one complex number throughout to another type than a complex one."""
    found = _constant_operands(reading, _CONVERT, 0, _REAL)
    return any(constant is not None and complex_splat(reading, constant) for _, constant in found)


def complex_splat(reading: Reading, constant: Head) -> bool:
    """Say whether a constant is one complex number throughout.

    Args:
        reading: An artifact's ops.
        constant: The constant.
    """
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
    """Find a power of integers by a constant of 64 or more; perhaps by what may be as much."""
    perhaps = False
    for visit, constant in _constant_operands(reading, _POWER, 1, _INTEGERS):
        if constant is None:
            perhaps |= any(most >= _POWERS for _, most in reading.ranges.of(visit)[1:2])
        elif reading.ends(constant)[1] >= _POWERS:
            return True
    return None if perhaps else False


def _reduces_over_a_channel(reading: Reading) -> bool | None:
    """Find an all_reduce or reduce_scatter of numbers of few bits that names a channel.

    Without one it is removed where there is one replica; of two bits it is only where its operand
    is constant.
    """
    perhaps = False
    for signature in reading.of(*_COLLECTIVES):
        elements = {reading.element(type_) for type_ in signature.results}
        if not elements.isdisjoint(_FEW_BITS) and channel(reading, signature) is not None:
            return True
        perhaps |= not elements.isdisjoint(TWO_BITS)
    return None if perhaps else False


def _signed_bits(reading: Reading) -> set[Source]:
    """Return the random bits of another type than an unsigned one."""
    return {
        (visit.number, 1)
        for visit in reading.walk.of([_BITS])
        if visit.operation.results[1:]
        if not reading.element(visit.operation.results[1]).startswith("ui")
    }


def _returns_signed_bits(reading: Reading) -> bool:
    """Find random bits of another type than an unsigned one that main returns.

    Or what ops make of them that give the type that they take.
    """
    made, main = _signed_bits(reading), reading.functions.main
    of = (_RESHAPED | _ALIKE) - kinds("compare")
    reached = reading.flow.reached(made, lambda _: True, of) if made else ()
    return any(number == main and at >= 0 for number, at in reached)


def _computes_with_signed_bits(reading: Reading) -> bool | None:
    """Find random bits of another type than an unsigned one that meet other values in an op.

    XLA gives them as unsigned integers, whatever their type says. Perhaps something else is
    computed from them alone, or another function or region takes or returns them.
    """
    unsigned = _signed_bits(reading)
    if not unsigned:
        return False
    perhaps = False
    for visit in reading.walk:
        operation = visit.operation
        if visit.name == _BITS and len(operation.results) > 1:
            continue
        taken = [source in unsigned for source in visit.sources]
        if not any(taken):
            continue
        kind = reading.kinds[operation.name]
        if (kind in _ALIKE and not all(taken)) or kind in _ON_SIGNED:
            return True
        elements = {reading.element(type_) for type_ in operation.results[:1]}
        if kind in _ALIKE | _RESHAPED and not elements & _BOOLEAN:
            unsigned |= {(visit.number, at) for at in range(len(operation.results))}
        elif visit.name != _RETURN or operation.depth > IN_FUNCTION:
            perhaps = True
    return None if perhaps else False


def _asks_for_the_device_in_a_loop(reading: Reading) -> bool | None:
    """Find a replica_id or partition_id in a while that counts from a constant to another.

    Perhaps it is in one of which it cannot be told how often it turns, or in what it calls.
    """
    functions = sum(reading.signatures[one] for one in reading.of(_FUNCTION))
    constants: set[int] = set()
    # The ops around an op; of each while whether it begins at a constant, and ends at one.
    around: list[str] = []
    begins: list[bool] = []
    ends: list[bool | None] = []
    # Whether each of them is in a while, and in one from a constant to another.
    inside: list[tuple[bool, bool]] = []
    perhaps = False
    for visit in reading.walk:
        name, depth = visit.name, visit.operation.depth
        del around[depth:], begins[depth:], ends[depth:], inside[depth:]
        if name == _CONSTANT:
            constants.add(visit.number)
        in_condition = bool(around) and around[-1] == _WHILE and ends[-1] is None
        constant = (in_condition or name == _WHILE) and any(
            source is not None and source[0] in constants for source in visit.sources
        )
        if in_condition:
            ends[-1] = True if constant else (False if name == _RETURN else None)
        loops, known = inside[-1] if inside else (False, False)
        if around and around[-1] == _WHILE:
            loops, known = True, known or (begins[-1] and ends[-1] is not False)
        if name in _DEVICES:
            if known:
                return True
            perhaps |= loops or functions > 1
        inside.append((loops, known))
        around.append(name)
        begins.append(constant)
        ends.append(None)
    return None if perhaps else False


def _carries_six_bits(reading: Reading) -> bool | None:
    """Find a while that makes other values of six bits each turn.

    Perhaps it keeps the value, which an argument of its body may be, turns once at most, or nothing
    uses what it gives: XLA then compiles no loop of it. Perhaps it does not carry what an op in it
    takes.
    """
    walk = reading.walk
    returns: dict[int, list[Visit]] = {}  # of each while, what its condition and its body return
    for visit in walk.of([_RETURN]):
        around = walk.around[visit.number]
        if around >= 0 and reading.names[walk.head(around).name] == _WHILE:
            returns.setdefault(around, []).append(visit)
    used: set[Source | None] = set()
    once: set[int] = set()
    for visit in walk:
        used.update(visit.sources)
        around = walk.around[visit.number]
        if around in returns and visit.number < returns[around][0].number:
            bounds = filter(None, map(visit.constant, visit.sources))
            once.update(around for one in bounds if reading.ends(one)[1] <= 1)
    perhaps = False
    for around, found in returns.items():
        for at, type_ in enumerate(walk.head(around).results):
            if reading.element(type_) in _SIX_BITS:
                made = found[-1].sources[at : at + 1] not in {(), (None,)}
                if made and (around, at) in used and around not in once:
                    return True
                perhaps = True
    return None if perhaps or _takes_six_bits_in_a_loop(reading) else False


def _takes_six_bits_in_a_loop(reading: Reading) -> bool:
    """Find an op that takes values of six bits in a while, and does more than hand them on."""
    walk, flow = reading.walk, reading.flow
    taken = (
        flow.type(value)
        for number in walk.within(_WHILE)
        if reading.kinds[walk.head(number).name] not in _UNCHANGED
        for value in flow.operands(walk[number])
    )
    return any(one is not None and reading.element(one) in _SIX_BITS for one in taken)


def _normal_of_others(reading: Reading) -> bool:
    """Find random numbers of the normal distribution in another type than f32."""
    return any(
        reading.case(signature, "rng_distribution") == "NORMAL"
        and reading.element(reading.result(signature)) != "f32_v1"
        for signature in reading.of("vhlo.rng_v1")
    )


def _top_by_nothing(reading: Reading) -> bool:
    """Find a call of TopK that names no computation to compare by."""
    for signature in reading.of("vhlo.custom_call_v1", "vhlo.custom_call_v2"):
        if reading.value(signature, "call_target_name").get("value") != "TopK":
            continue
        if not reading.value(signature, "called_computations").get("elements"):
            return True
    return False


def _top_of_others(reading: Reading) -> bool:
    """Find a call of TopK that returns another type than f32."""
    return any(
        reading.value(signature, "call_target_name").get("value") == "TopK"
        and {reading.element(type_) for type_ in signature.results[:1]} != {"f32_v1"}
        for signature in reading.of("vhlo.custom_call_v1", "vhlo.custom_call_v2")
    )


def _raises_otherwise(reading: Reading) -> bool | None:
    """Find perhaps a power of floats that IREE does not compute by products and roots.

    It is the exponential of a multiple of the logarithm then, which is another number where that is
    of a number below zero, of one to infinity, or of zero to zero.
    """
    for visit in reading.walk.of([_POWER]):
        # Of a damaged file there may be no result.
        element = next(map(reading.element, visit.operation.results), "")
        if element not in _FLOATS:
            continue
        base, power, *_ = (
            *(reading.floats(visit.constant(one)).only for one in visit.sources),
            *(None, None),  # of a damaged file operands may be missing
        )
        # Of sixteen bits a number beside one is one, and a large one infinite.
        positive = base is not None and 0 < base < math.inf and base != 1 and element in _WIDE
        if not positive and power not in _RIGHT_POWERS:
            return None
    return False


def _takes_roots_of_f8(reading: Reading) -> bool | None:
    """Find a power of f8 by a half, or by minus a half, that is used.

    IREE makes a root of it, which it does not have of f8. Perhaps another op computes the exponent
    from constants.
    """
    perhaps = False
    for visit in reading.walk.of([_POWER]):
        half = _HALVES.get(next(map(reading.element, visit.operation.results), ""))
        source = visit.sources[-1] if visit.sources else None
        if half is None or source is None or like(visit.operation) not in reading.used:
            continue
        constant = visit.constant(source)
        if constant is None:
            perhaps |= source[0] in reading.folded
            continue
        data = reading.value(constant, "value").get("data")
        if isinstance(data, Blob) and data.size == 1 and reading.data[data.offset] & 0x7F == half:
            return True
    return None if perhaps else False


def _declaration(reading: Reading) -> bool:
    """Find a function without a body: bodies and regions end with a return, one each."""
    counts, names = reading.signatures, reading.content.names
    functions, returns = (sum(counts[one] for one in reading.of(op)) for op in _BODY)
    regions = sum(
        count * one.regions
        for one, count in counts.items()
        if one.regions and names[one.name].dialect == VHLO and reading.names[one.name] not in _BODY
    )
    return functions + regions > returns


_FOURS = (types(_FOUR_BITS),)
_CHANNELS = (ops(*COMMUNICATING),)
COMPUTED: dict[str, FormRule] = {
    "all_reduce or reduce_scatter to a promoted type": _promotes(*_COLLECTIVES),
    "scatter to a promoted type": _promotes(*SCATTERS),
    "i4 or ui4 that is not folded away": FormRule(_keeps_four_bits, _FOURS),
    "reduce of several operands by maximum": weaken(
        # Beside each operand stands its initial value.
        FormRule(
            lambda reading: any(one.operands > 2 for one in reading.of(_REDUCE)),
            (ops(_REDUCE), ops(_MAXIMUM)),
        )
    ),
    "dynamic dimension without bounds": FormRule(_open_dimension),
    "pad by a negative amount": FormRule(_pads_by_less_than_nothing, (ops(_PAD),)),
    "convolution of floating-point numbers that pads by a negative amount": weaken(
        FormRule(_pads_convolutions_by_less_than_nothing, (ops(_CONVOLUTION),))
    ),
    "pad or convolution of complex numbers by a constant": FormRule(
        _pads_complex_by_a_constant,
        (types(_COMPLEX), ops(_CONVOLUTION, *_PADDING_DYNAMICALLY, *_PADDING)),
        across=True,
    ),
    "scatter of updates without elements into a tensor that has some": FormRule(
        _scatters_nothing, (ops(*SCATTERS),)
    ),
    "get_dimension_size of a known dimension": FormRule(_asks_what_is_known, (ops(*_SIZES),)),
    "count_leading_zeros of a negative constant": FormRule(
        _counts_zeros_of_a_constant, (ops(_ZEROS), types(_NARROW_SIGNED))
    ),
    "convert of constants to booleans that loses all but their last bit": FormRule(
        _tests_constants, (ops(_CONVERT), types(_BOOLEAN), ops(_CONSTANT)), across=True
    ),
    "add of constants of booleans": FormRule(
        _adds_constant_booleans, (ops(_ADD), types(_BOOLEAN), ops(_CONSTANT)), across=True
    ),
    "convert of a complex splat constant to a real type": FormRule(
        _converts_complex_splat, (types(_COMPLEX), ops(_CONVERT), ops(_CONSTANT)), across=True
    ),
    "abs of an iota of complex numbers": FormRule(
        _takes_abs_of_a_complex_iota, (types(_COMPLEX), ops(_ABS), ops(*_IOTAS)), across=True
    ),
    "constant of f6E2M3FN or f6E3M2FN that is computed": FormRule(
        _computes_six_bits, (types(_SIX_BITS),), across=True
    ),
    "power of integers by 64 or more": FormRule(_raises_to_64, (ops(_POWER), types(_INTEGERS))),
    "power of floating-point numbers": weaken(_gives([_POWER], _FLOATS)),
    "reduce_window of i2 or ui2": weaken(_gives([_REDUCE_WINDOW], TWO_BITS)),
    "reduce or reduce_window of unsigned integers": weaken(
        _gives(["vhlo.reduce_v1", _REDUCE_WINDOW], UNSIGNED_INTEGERS)
    ),
    "power of floats other than by 0, 1, 2, 3, -1, -2 or 0.5, or of a positive constant": FormRule(
        _raises_otherwise, (ops(_POWER), types(_FLOATS))
    ),
    "power of f8 by 0.5 or -0.5": FormRule(
        _takes_roots_of_f8, (ops(_POWER), types(_HALVES)), across=True
    ),
    "argument without elements": FormRule(_takes_nothing),
    "negative i4": weaken(FormRule(lambda _: True, (types({"i4_v1"}),))),
    "i4 or ui4 in more than constants and conversions": FormRule(_computes_four_bits, _FOURS),
    "all_gather, all_reduce or reduce_scatter of i2, ui2, i4 or ui4": _gives(
        KEPT_UNUSED, TWO_BITS | _FOUR_BITS
    ),
    "f8E3M4 or f8E4M3 of an argument, result or collective op": _lowers("f8E3M4", "f8E4M3"),
    "f8E4M3FNUZ or f8E5M2FNUZ of an argument, result or collective op": _lowers(
        "f8E4M3FNUZ", "f8E5M2FNUZ"
    ),
    "concatenate of i2 or ui2": _gives([_CONCATENATE], TWO_BITS),
    "concatenate of i4 or ui4": _gives([_CONCATENATE], _FOUR_BITS),
    "maximum or minimum of complex numbers": FormRule(
        _greatest_of_complex, (types(_COMPLEX), ops(*_GREATEST))
    ),
    "all_reduce or reduce_scatter over a channel of a type below f16 and i8": FormRule(
        _reduces_over_a_channel, (ops(*_COLLECTIVES), types(_FEW_BITS))
    ),
    "rng_bit_generator of signed integers or floats that are computed with": FormRule(
        _computes_with_signed_bits, (ops(_BITS),), across=True
    ),
    "rng_bit_generator of signed integers or floats that is returned": FormRule(
        _returns_signed_bits, (ops(_BITS),), across=True
    ),
    "replica_id or partition_id in a while of a known number of turns": FormRule(
        _asks_for_the_device_in_a_loop, (ops(_WHILE), ops(*_DEVICES))
    ),
    "while that computes with f6E2M3FN or f6E3M2FN": FormRule(
        _carries_six_bits, (types(_SIX_BITS), ops(_WHILE)), across=True
    ),
    "custom call of TopK without a computation": FormRule(
        _top_by_nothing, (ops("vhlo.custom_call"),)
    ),
    "custom call of TopK of another type than f32": FormRule(
        _top_of_others, (ops("vhlo.custom_call"),)
    ),
    "rng of the normal distribution in another type than f32": FormRule(
        _normal_of_others, (ops("vhlo.rng_v1"),)
    ),
    "function without a body": FormRule(_declaration),
    "channel of different collective ops": FormRule(
        lambda reading: any(len({kind for kind, _ in users}) > 1 for users in _channels(reading)),
        _CHANNELS,
    ),
    "channel of all_reduces of several ranks": _several_ranks("vhlo.all_reduce"),
    "channel of all_gathers of several ranks": _several_ranks("vhlo.all_gather"),
    "collective op computed from another of its channel": FormRule(_chained, _CHANNELS),
    "convolution of i2 or ui2": _takes_two_bits(*CONVOLUTIONS),
    # Perhaps of what is small enough.
    "scatter into i2 or ui2": weaken(
        FormRule(_scatters_two_bits, (types(TWO_BITS), ops(*SCATTERS)))
    ),
    "pad of i2 or ui2": FormRule(_pads_two_bits, (types(TWO_BITS), ops(_PAD, _DYNAMIC_PAD))),
    "sort of i2 or ui2": FormRule(_sorts_two_bits, (types(TWO_BITS), ops(_SORT))),
    "all_gather or all_to_all of several operands": _several_operands(
        "vhlo.all_gather_v2", "vhlo.all_to_all_v2"
    ),
    "all_to_all of several operands": _several_operands("vhlo.all_to_all_v2"),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
