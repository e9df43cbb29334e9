"""Forms of ops that a compiler has not for all numbers: infinities, zeros, equal real parts."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.computing import F8, WHOLE, complex_splat
from portable.prediction.form import FormRule, kinds, ops, taken, takes_its_opposite, types
from portable.prediction.simplified import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from portable.prediction.forms import Reading
    from portable.prediction.simplified import Numbers
    from portable.prediction.walk import Visit

__all__ = ["SPECIALS"]

_COMPLEX = "complex_v1"
# The comparisons that have a place for each number.
_TOTAL = ("SIGNED", "TOTALORDER", "UNSIGNED")
_COMPARE, _CONSTANT, _SORT = "vhlo.compare_v1", "vhlo.constant_v1", "vhlo.sort_v1"
_EXTREMES = ("vhlo.clamp_v1", "vhlo.maximum_v1", "vhlo.minimum_v1")
_ATAN2, _CBRT = "vhlo.atan2", "vhlo.cbrt"
_AND, _XOR = "vhlo.and", "vhlo.xor"
_SINES = ("vhlo.cosine", "vhlo.sine", "vhlo.tan")
_SCATTER, _REDUCE_SCATTER = "vhlo.scatter_v2", "vhlo.reduce_scatter"
# With those of a byte; and those of them that have infinities.
_SPECIAL = FLOATS.keys() | F8
_ENDLESS = FLOATS.keys() | {"f8E3M4_v1", "f8E4M3_v1", "f8E5M2_v1"}
_EQUALITY, _OR_EQUAL = frozenset({"EQ", "NE"}), frozenset({"GE", "LE"})
# Up to here sines are right to the third digit.
_MOST = 1e4
_ABS, _CONVERT = "vhlo.abs_v1", "vhlo.convert_v1"
_CLAMP, _MAXIMUM = "vhlo.clamp_v1", "vhlo.maximum_v1"
_KEEPING = kinds("broadcast broadcast_in_dim convert reshape reverse slice transpose")


def _may_have_equal_parts(reading: Reading) -> bool | None:
    """Find perhaps a maximum, minimum or clamp of complex numbers with equal real parts.

    The real parts alone are compared, and where they are equal the first operand is returned.
    """
    for visit in reading.walk.of(_EXTREMES):
        if reading.gives(visit.operation, (_COMPLEX,)) and len({*visit.operands}) > 1:
            return None
    return False


def _ordered(reading: Reading, asked: Callable[[object], bool]) -> Iterator[Visit]:
    """Yield the compares of complex numbers that ask for something."""
    found = {
        like(one)
        for one in reading.of(_COMPARE)
        for type_ in (one.operand_types or ())[:1]
        if type_ is not None and reading.element(type_) == _COMPLEX
        if asked(reading.case(one, "comparison_direction"))
    }
    for visit in reading.walk.of([_COMPARE]) if found else ():
        source = visit.sources[0] if visit.sources else None
        if like(visit.operation) in found and (
            source is None or reading.element(reading.walk.type(source)) == _COMPLEX
        ):
            yield visit


def _asks_or_equal(reading: Reading) -> bool | None:
    """Find perhaps a compare, by GE or LE, of complex numbers of which the real parts are equal."""
    return None if any(_ordered(reading, _OR_EQUAL.__contains__)) else False


def _orders_two(reading: Reading) -> bool | None:
    """Find a compare of complex numbers by their order, unless one side is one constant number.

    Perhaps what is computed from constants becomes such a one.
    """
    perhaps = False
    for visit in _ordered(reading, lambda asked: asked not in _EQUALITY):
        constants = [visit.constant(source) for source in visit.sources]
        folded = [source is not None and source[0] in reading.folded for source in visit.sources]
        results = visit.operation.results
        is_empty = bool(results) and reading.content.pool.count(results[0]) == 0
        if is_empty or like(visit.operation) not in reading.used:
            continue
        if all(folded) or not any(folded):
            return True
        one = constants[folded.index(True)]
        if one is not None and not complex_splat(reading, one):
            return True
        perhaps |= one is None
    return None if perhaps else False


def _orders_constants(reading: Reading) -> bool:
    """Find a compare of constants of complex numbers by their order."""
    return any(
        bool(visit.sources) and all(map(visit.constant, visit.sources))
        for visit in _ordered(reading, lambda asked: asked not in _EQUALITY)
    )


def _sorts_by_order(reading: Reading) -> bool:
    """Find a sort that compares complex numbers by their order."""
    around, walk = reading.walk.around, reading.walk
    return any(
        walk[around[visit.number]].name == _SORT
        for visit in _ordered(reading, lambda asked: asked not in _EQUALITY)
        if around[visit.number] >= 0
    )


def _sorts_nan(reading: Reading) -> bool | None:
    """Find perhaps a sort of what may be NaN, by an order in which that has no place."""
    around, walk = reading.walk.around, reading.walk
    for visit in walk.of([_COMPARE]):
        owner = walk[around[visit.number]] if around[visit.number] >= 0 else visit
        order = reading.case(visit.operation, "compare_type")
        if (
            owner.name == _SORT
            and order not in _TOTAL
            and reading.gives(owner.operation, FLOATS)
            and max(reading.finite.of(owner), default=math.inf) == math.inf
        ):
            return None
    return False


def _combines_nan(reading: Reading) -> bool | None:
    """Find perhaps a reduce_scatter by maximum or minimum of floats that may be NaN."""
    walk = reading.walk
    for visit in walk.of([_REDUCE_SCATTER]):
        if (
            reading.gives(visit.operation, _SPECIAL)
            and any(one.name in _EXTREMES for one in walk.below(visit.number))
            and max(reading.finite.of(visit), default=math.inf) == math.inf
        ):
            return None
    return False


def _takes_great(
    most: float, *names: str, of: Container[str] = FLOATS
) -> Callable[[Reading], bool | None]:
    """Find perhaps an op of floats that are not known to be below a number.

    Args:
        most: The number.
        names: The op.
        of: The types of the floats.
    """

    def find(reading: Reading) -> bool | None:
        for visit in reading.walk.of(names):
            if not reading.gives(visit.operation, of):
                continue
            if max(reading.magnitudes.of(visit), default=math.inf) > most:
                return None
        return False

    return find


def _takes_zeros(reading: Reading) -> bool | None:
    """Find perhaps an atan2 of two zeros or infinities, or of zero and a negative number."""
    numbers = reading.floats
    for visit in reading.walk.of([_ATAN2]):
        if reading.gives(visit.operation, _SPECIAL) and not any(
            _is_positive(numbers, visit, source) for source in visit.sources
        ):
            return None
    return False


def _takes_what_cancels(reading: Reading) -> bool | None:
    """Find perhaps an atan2 of zeros that are integers combined with themselves or complements.

    Of these XLA knows only some to be zero; what it generates code with folds the atan2 to NaN.
    """
    nothing: set[int] = set()
    for visit in reading.walk:
        kind, sources = reading.kinds[visit.operation.name], visit.sources
        kept = kind in _KEEPING and bool(sources and sources[0] and sources[0][0] in nothing)
        if kept or _cancels(reading, visit, kind) or _is_nothing(reading, visit):
            nothing.add(visit.number)
        # What is constant XLA folds itself, as it should.
        if kind == _ATAN2:
            taken = {one[0] if one else -1 for one in sources}
            if taken <= nothing and not taken <= reading.settled:
                return None
    return False


def _is_nothing(reading: Reading, visit: Visit) -> bool:
    """Say whether an operation is a constant of zeros."""
    constant = visit.constant((visit.number, 0))
    if constant is None:
        return False
    if reading.element(reading.result(constant)) in WHOLE:
        return reading.ends(constant) == (0, 0)
    return reading.floats(constant).only == 0


def _cancels(reading: Reading, visit: Visit, kind: str) -> bool:
    """Say whether an xor has one operand twice, or an and has it with its complement."""
    operands = visit.operands
    if len(operands) != 2 or kind not in {_AND, _XOR}:
        return False
    return operands[0] == operands[1] if kind == _XOR else takes_its_opposite(reading, visit)


def _becoming_integers(reading: Reading) -> Iterator[tuple[Visit, frozenset[str]]]:
    """Yield the converts of floats to integers, with the types of these."""
    for visit in reading.walk.of([_CONVERT]):
        to = WHOLE.intersection(map(reading.element, visit.operation.results))
        if to and not _SPECIAL.isdisjoint(taken(reading, visit)):
            yield visit, to


def _converts_beyond(reading: Reading) -> bool | None:
    """Find perhaps a convert of floats, NaN left out, to integers that may not hold them.

    An unsigned integer holds none below zero.
    """
    for visit, to in _becoming_integers(reading):
        size = max(reading.magnitudes.of(visit), default=math.inf)
        for one in to:
            bits, signed = int(one.removesuffix("_v1").lstrip("ui")), not one.startswith("u")
            most = 2.0 ** (bits - signed) if signed or _is_no_less(reading, visit) else 1.0
            if size >= most:
                return None
    return False


def _converts_nan(reading: Reading) -> bool | None:
    """Find perhaps a convert of floats of which it is not known that none is NaN."""
    for visit, _ in _becoming_integers(reading):
        if max(reading.finite.of(visit), default=math.inf) == math.inf:
            return None
    return False


def _is_no_less(reading: Reading, visit: Visit) -> bool:
    """Say whether what an op takes is known to be zero or more: by what clamps it, or makes it."""
    source = visit.sources[0] if visit.sources else None
    maker = reading.walk[source[0]] if source else None
    if maker is None or maker.name not in {_CLAMP, _MAXIMUM}:
        return maker is not None and maker.name == _ABS
    ends = maker.sources[:1] if maker.name == _CLAMP else maker.sources
    return any(reading.floats(one).least >= 0 for one in map(maker.constant, ends) if one)


def _is_positive(numbers: Numbers, visit: Visit, source: tuple[int, int] | None) -> bool:
    found = numbers(visit.constant(source))
    return found.finite and found.least > 0


def _is_subnormal(reading: Reading) -> bool | None:
    """Find perhaps a constant of a number too small to be normal, which is taken for zero."""
    for one in reading.of(_CONSTANT):
        type_ = FLOATS.get(reading.element(one.results[0])) if one.results else None
        if type_ is not None and reading.floats(one).smallest < type_.least:
            return None
    return False


def _scatters_in_batches(reading: Reading, *, into_one: bool = False) -> bool:
    """Find a scatter with batching dimensions, or one into one element."""
    return any(
        bool(reading.numbers(one, "input_batching_dims"))
        and (
            not into_one
            or math.prod(reading.dimensions((one.operand_types or (None,))[0]) or (0,)) == 1
        )
        for one in reading.of(_SCATTER)
        if like(one) in reading.used
    )


SPECIALS: dict[str, FormRule] = {
    "maximum, minimum or clamp of complex numbers with equal real parts": FormRule(
        _may_have_equal_parts, (types({_COMPLEX}), ops(*_EXTREMES))
    ),
    "compare of complex numbers with equal real parts by GE or LE": FormRule(
        _asks_or_equal, (types({_COMPLEX}), ops(_COMPARE))
    ),
    "compare by their order of complex numbers that are not one constant": FormRule(
        _orders_two, (ops(_COMPARE), types({_COMPLEX}))
    ),
    "compare of constants of complex numbers by their order": FormRule(
        _orders_constants, (types({_COMPLEX}), ops(_COMPARE), ops(_CONSTANT)), across=True
    ),
    "sort by a comparison of floats that may be NaN": FormRule(
        _sorts_nan, (ops(_COMPARE), ops(_SORT))
    ),
    "reduce_scatter by maximum or minimum of floats that may be NaN": FormRule(
        _combines_nan, (ops(_REDUCE_SCATTER), ops(*_EXTREMES), types(_SPECIAL))
    ),
    "sort by the order of complex numbers": FormRule(
        _sorts_by_order, (types({_COMPLEX}), ops(_COMPARE), ops(_SORT))
    ),
    "atan2 of zeros that cancel out": FormRule(
        _takes_what_cancels, (ops(_ATAN2), ops(_AND, _XOR)), across=True
    ),
    "convert of floats to integers that may not hold them": FormRule(
        _converts_beyond, (ops(_CONVERT), types(_SPECIAL), types(WHOLE))
    ),
    "convert of floats to integers that may be NaN": FormRule(
        _converts_nan, (ops(_CONVERT), types(_SPECIAL), types(WHOLE))
    ),
    "atan2 of zeros or infinities": FormRule(_takes_zeros, (ops(_ATAN2),)),
    "cbrt of what may be infinite": FormRule(
        _takes_great(math.nextafter(math.inf, 0), _CBRT, of=_ENDLESS), (ops(_CBRT),)
    ),
    "sine, cosine or tan of more than 10,000": FormRule(
        _takes_great(_MOST, *_SINES), (ops(*_SINES),)
    ),
    "constant of a subnormal number": FormRule(_is_subnormal, (ops(_CONSTANT), types(FLOATS))),
    "scatter with batching dimensions": FormRule(_scatters_in_batches, (ops(_SCATTER),)),
    "scatter with batching dimensions into one element": FormRule(
        partial(_scatters_in_batches, into_one=True), (ops(_SCATTER),)
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
