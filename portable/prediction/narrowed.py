"""Floats that are made narrower, for which IREE has no means.

It converts an integer to bf16 by a call of a function that it does not link. It leaves out the
wider float between them, and does not call where it makes arithmetic of it in the same loop.

One number of f16 or bf16 that is computed from constants it keeps as a value of its host, which has
none of that type. It does so of what it cannot fold, where an op takes the number and not a tensor.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.computing import WHOLE
from portable.prediction.flow import INSIDE, by_the_first
from portable.prediction.form import SIXTEEN_BITS, FormRule, adds_some, kinds, ops, taken, types

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from portable.bytecode.operations import Source
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["NARROWED"]

_CONVERT, _BFLOAT16 = "vhlo.convert", "bf16_v1"
_FLOAT, _DOUBLE = "f32_v1", "f64_v1"
_FOUR_BITS, _GREATEST = "f4E2M1FN_v1", 6
_WIDER = frozenset({_FLOAT, _DOUBLE})
_INTEGERS = WHOLE | {"bool_v1"}
_RETURN = kinds("return")
_IOTAS = kinds("dynamic_iota iota")
_MOVING = kinds("broadcast_in_dim reshape slice transpose")
# What was seen to compute with an iota in one loop with it.
_ARITHMETIC = kinds(
    "abs add atan2 cbrt ceil clamp compare convert cosine divide exponential exponential_minus_one"
    " floor is_finite log log_plus_one logistic maximum minimum multiply negate power"
    " reduce_precision remainder round_nearest_afz round_nearest_even rsqrt select sign sine sqrt"
    " subtract tan tanh"
)
# What takes one number, and what is not computed before it is known.
_CLAMP, _PAD, _REDUCE = "vhlo.clamp", "vhlo.pad", "vhlo.reduce"
_SELECT = "vhlo.select_and_scatter"
_TAKING = frozenset({_CLAMP, _PAD, _REDUCE, _SELECT, "vhlo.dynamic_pad"})
_BARRIER = "vhlo.optimization_barrier"
_FOLDING = _MOVING | kinds(
    "abs add bitcast_convert ceil clamp constant convert divide floor iota maximum minimum multiply"
    " negate reduce_precision remainder round_nearest_even select sign subtract"
)
_CUTTING = kinds("dynamic_slice slice")
_NOT_FOLDED = kinds(
    "atan2 cbrt compare cosine dot dot_general exponential exponential_minus_one imag log"
    " log_plus_one logistic power real reduce round_nearest_afz rsqrt sine sqrt tan tanh"
)
# What IREE folds of these up to 3.1, and what it does not.
_ONCE_FOLDING = _MOVING | kinds("add constant iota multiply subtract")
_ONCE_KEPT = _NOT_FOLDED | kinds("abs divide floor maximum minimum negate remainder sign")
_CONVOLUTION = "vhlo.convolution_v1"
_BITS = re.compile(r"(bf|f|u?i)(\d+)")
# Of so many elements an iota is a constant.
_FOLDED = 8


def _rounds_four_bits(reading: Reading) -> bool:
    """Find f4E2M1FN converted to an integer, of which it is not known that it is no 6."""
    for visit in reading.walk.of([_CONVERT]):
        to = reading.element(reading.result(visit.operation))
        if to in WHOLE and {*taken(reading, visit)} == {_FOUR_BITS}:
            (value,) = reading.flow.operands(visit)
            if value[0] not in reading.folded and reading.magnitudes.at(value) >= _GREATEST:
                return True
    return False


def _narrows_integers(reading: Reading) -> bool | None:
    """Find integers that are bf16 where they are returned; perhaps, where an op takes them."""
    perhaps = False
    for made, fine in ((_iotas(reading), _ARITHMETIC), (_converted(reading), frozenset[str]())):
        reached = reading.flow.reached({*made}, by_the_first, _MOVING)
        returned = any(number == reading.functions.main and at >= 0 for number, at in reached)
        # What is handed on inside of a body is not told apart there.
        if returned and all(at != INSIDE for _, at in reached):
            return True
        perhaps |= returned or any(_takes(reading, reached, fine | _MOVING | _RETURN))
    return None if perhaps else False


def _takes(reading: Reading, made: set[Value], passing: frozenset[str]) -> Iterator[bool]:
    """Say of each op but some whether it takes one of some values."""
    for visit in reading.walk:
        if reading.kinds[visit.operation.name] not in passing:
            yield not made.isdisjoint(reading.flow.operands(visit))


def _iotas(reading: Reading) -> Iterator[Value]:
    """Yield each iota of bf16 that is no constant."""
    for visit in reading.walk.of(_IOTAS):
        is_such = reading.element(reading.result(visit.operation)) == _BFLOAT16
        if is_such and _is_long(reading, visit):
            yield visit.number, 0


def _converted(reading: Reading) -> Iterator[Value]:
    """Yield each value that is converted to bf16 from a wider float, and that from integers."""
    wide = [*_widened(reading)]
    for value in reading.flow.reached(wide, by_the_first, [_CONVERT, *_MOVING]):
        type_ = reading.flow.type(value) if value[1] >= 0 else None
        if type_ is not None and reading.element(type_) == _BFLOAT16:
            yield value


def _widened(reading: Reading) -> Iterator[Value]:
    """Yield the wider floats that integers are converted to, or of which an iota is."""
    for visit in reading.walk.of([_CONVERT, *_IOTAS]):
        if reading.element(reading.result(visit.operation)) not in _WIDER:
            continue
        is_iota = reading.kinds[visit.operation.name] != _CONVERT
        if _is_long(reading, visit) if is_iota else _is_of_integers(reading, visit):
            yield visit.number, 0


def _is_of_integers(reading: Reading, visit: Visit) -> bool:
    """Say whether what an op takes are integers, and no constant."""
    for value, source in zip(reading.flow.operands(visit)[:1], visit.sources, strict=False):
        type_ = reading.flow.type(value)
        if type_ is None or reading.element(type_) not in _INTEGERS:
            return False
        folded = source is not None and source[0] in reading.folded
        return visit.constant(source) is None and not (folded and not _is_long(reading, visit))
    return False


def _is_long(reading: Reading, visit: Visit) -> bool:
    shape = reading.dimensions(reading.result(visit.operation))
    return shape is None or not 0 <= math.prod(shape) <= _FOLDED


def _takes_a_computed_number(
    taking: Collection[str], kept: Collection[str], folding: Collection[str]
) -> Callable[[Reading], bool | None]:
    """Find a number of 16 bits that is computed from constants, and taken as one.

    Perhaps of some ops it folds what they compute.

    Args:
        taking: The ops that take it.
        kept: Those of which what they compute is not folded.
        folding: Those of which it is.
    """

    def find(reading: Reading) -> bool | None:
        given = {
            source[0]
            for visit in reading.walk.of(taking)
            for source in _numbers(reading, visit)
            if source and source[0] not in visit.constants and source[0] in reading.folded
            if like(visit.operation) in reading.used and _is_filled(reading, visit)
        }
        computed = _computed(reading, kept, folding) if given else {}
        found = {computed[number] for number in given & computed.keys()}
        return True if True in found else None if found else False

    return find


def _computed(
    reading: Reading, kept: Collection[str], folding: Collection[str]
) -> dict[int, bool | None]:
    """Return the ops that are computed from constants and not folded; None where it may be."""
    found: dict[int, bool | None] = {}
    for number in sorted(reading.folded):
        kind = reading.kinds[reading.walk.head(number).name]
        before = [source[0] for source in reading.walk[number].sources if source]
        if kind in kept or (kind in _CUTTING and not _is_one(reading, before[:1])):
            found[number] = True
        elif kind in folding:
            inherited = [found[one] for one in before if one in found]
            if inherited:
                found[number] = True if True in inherited else None
        elif kind != _BARRIER:
            found[number] = None
    return found


def _is_one(reading: Reading, numbers: Sequence[int]) -> bool:
    """Say whether an op gives one number."""
    return all(
        reading.content.pool.count(type_) == 1
        for number in numbers
        for type_ in reading.walk.head(number).results
    )


def _numbers(reading: Reading, visit: Visit) -> Iterator[Source | None]:
    """Yield what is taken as one number of 16 bits."""
    several = len(visit.sources)
    places = {_CLAMP: (0, 2), _REDUCE: range(several // 2, several), _SELECT: (2,)}
    for at in places.get(reading.kinds[visit.operation.name], (1,)):
        source = visit.sources[at] if at < several else None
        type_ = reading.walk.type(source) if source else None
        if type_ is None or reading.element(type_) not in SIXTEEN_BITS:
            continue
        if not reading.dimensions(type_):
            yield source


def _is_filled(reading: Reading, visit: Visit) -> bool:
    """Say whether an op takes a number for each of several: a clamp, a reduction, what pads."""
    kind = reading.kinds[visit.operation.name]
    if kind == _CLAMP:
        return bool(reading.dimensions(reading.result(visit.operation)))
    if kind != _PAD:
        return True
    return visit.number not in reading.folded and adds_some(reading, visit.operation)


def _convolves_what_it_widens(reading: Reading) -> bool:
    """Find a convolution of what a conversion makes wider, and of what it does not, or not so.

    IREE leaves the conversion to the convolution, of which both operands have one type then.
    """
    for visit in reading.walk.of([_CONVOLUTION]):
        if like(visit.operation) in reading.used:
            before = [_before_widening(reading, source) for source in visit.sources]
            if len({*before}) > 1:
                return True
    return False


def _before_widening(reading: Reading, source: Source | None) -> str:
    """Return the element type of what a conversion makes wider; empty of another op."""
    made = None if source is None else reading.walk[source[0]]
    if made is None or reading.kinds[made.operation.name] != _CONVERT:
        return ""
    narrow = "".join(taken(reading, made))
    kind, bits = _size(narrow)
    to, wide = _size(reading.element(reading.result(made.operation)))
    return narrow if bits < wide and ("f" in to or "f" not in kind) else ""


def _size(element: str) -> tuple[str, int]:
    """Return of what kind a type is, and how many bits it has."""
    found = _BITS.match("i1_v1" if element == "bool_v1" else element)
    return (found[1], int(found[2])) if found else ("", 0)


NARROWED: dict[str, FormRule] = {
    "bf16 made of integers by way of a wider float, or an iota of it": FormRule(
        _narrows_integers, (types([_BFLOAT16]), ops(_CONVERT, *_IOTAS))
    ),
    "number of f16 or bf16 computed from constants that pads, begins a reduce or clamps": FormRule(
        _takes_a_computed_number(_TAKING, _NOT_FOLDED, _FOLDING),
        (types(SIXTEEN_BITS), ops(*_TAKING)),
        across=True,
    ),
    "number of f16 or bf16 computed other than by sums and products that pads or begins a reduce": (
        FormRule(
            _takes_a_computed_number(_TAKING - {_CLAMP}, _ONCE_KEPT, _ONCE_FOLDING),
            (types(SIXTEEN_BITS), ops(*_TAKING)),
            across=True,
        )
    ),
    "f4E2M1FN converted to an integer that may be 6": FormRule(
        _rounds_four_bits, (types([_FOUR_BITS]), ops(_CONVERT))
    ),
    "convolution of what one conversion makes wider": FormRule(
        _convolves_what_it_widens, (ops(_CONVOLUTION), ops(_CONVERT)), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
