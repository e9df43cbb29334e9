"""Numbers of a byte and less, which compilers compute as wider ones and do not always bring back.

IREE computes floats of a byte as f32, XLA as f16, and integers of four bits as those of eight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.applied import APPLYING
from portable.prediction.computing import F8
from portable.prediction.form import ELEMENTWISE, FormRule, kinds, ops, taken, types, weaken

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["FEW_BITS"]

_EXPONENT = "f8E8M0FNU_v1"
# It has two NaN, of which one is taken for a number.
_SIGNED_NAN = "f8E4M3FN_v1"
# What has no infinity becomes NaN where it is too great.
_ENDING = frozenset(
    f"f8{kind}_v1" for kind in ("E4M3B11FNUZ", "E4M3FN", "E4M3FNUZ", "E5M2FNUZ", "E8M0FNU")
)
_LOGISTIC = "vhlo.logistic_v1"
# What depends on which of two numbers is greater.
_ORDERING = ("vhlo.clamp_v1", "vhlo.compare_v1", "vhlo.maximum_v1", "vhlo.minimum_v1")
_NARROW = frozenset({"i2_v1", "i4_v1", "ui2_v1"})
_FOUR_BITS = {"i4_v1": "i8_v1", "ui4_v1": "ui8_v1"}
# What may give a number that the type does not hold.
_OVERFLOWING = kinds("abs add divide multiply negate not popcnt power shift_left subtract")
_WHOLE = ("i", "ui")
_CONVERT, _POPCNT, _POWER = "vhlo.convert_v1", "vhlo.popcnt_v1", "vhlo.power_v1"
# What gives one of the numbers that it takes.
_GIVING = kinds("clamp maximum minimum")
_ROUNDING = ELEMENTWISE - _GIVING - kinds("abs negate select") | kinds(
    "batch_norm_grad batch_norm_inference batch_norm_training convolution dot dot_general"
    " dynamic_conv dynamic_iota einsum fft iota reduce_precision rng unary_einsum"
)
# What looks into the parts of a float; see `_looks_into_halves`.
_LOOKING = kinds(
    "batch_norm_grad batch_norm_inference batch_norm_training convert exponential_minus_one"
    " is_finite log_plus_one rng"
)
_HALVES = F8 | {"f16_v1"}
_ELEVEN = "f8E4M3B11FNUZ_v1"
_FEW = 2
# What computes no numbers.
_BESIDE = kinds("call composite constant func return")
# What may give a negative number of positive ones: f8E8M0FNU has none.
_TO_NEGATIVE = kinds("cosine log negate sine subtract tan")


def _used(reading: Reading, *names: str) -> Iterator[Visit]:
    return (visit for visit in reading.walk.of(names) if like(visit.operation) in reading.used)


def _orders_exponents(reading: Reading) -> bool | None:
    """Find an op that compares numbers of f8E8M0FNU, or takes the greatest or least of them.

    Perhaps it compares them in a body, of whose arguments the types are not followed.
    """
    perhaps = False
    for visit in _used(reading, *_ORDERING):
        given = {reading.element(type_) for type_ in visit.operation.results}
        if _EXPONENT in given.union(taken(reading, visit)):
            return True
        perhaps |= None in map(reading.flow.type, reading.flow.operands(visit))
    return None if perhaps else False


def _computes(elements: Collection[str], *names: str) -> FormRule:
    """Find one of some ops that gives numbers of some types, and is not removed before."""

    def find(reading: Reading) -> bool:
        return any(
            reading.element(type_) in elements
            for visit in _used(reading, *names)
            for type_ in visit.operation.results
        )

    return FormRule(find, (types(elements), ops(*names)))


def _makes_negative_exponents(reading: Reading) -> bool | None:
    """Find perhaps an op of constants that gives a negative number, of a type without any."""
    made = (visit for visit in _used(reading, *_TO_NEGATIVE) if visit.number in reading.folded)
    types_ = (reading.element(type_) for visit in made for type_ in visit.operation.results)
    return None if _EXPONENT in types_ else False


def _reads_nan(reading: Reading) -> bool | None:
    """Find perhaps an op that computes with a NaN of f8E4M3FN.

    Of what a body takes the type is not followed; hardly an op gives another.
    """
    for visit in _used(reading, *_ROUNDING | _GIVING):
        elements = {*taken(reading, visit)}
        if not elements:
            elements = {*map(reading.element, visit.operation.results)}
        if _SIGNED_NAN in elements:
            return None
    return False


def _looks_into_halves(reading: Reading) -> bool | None:
    """Find perhaps an op that looks into parts of several f16 or f8, or an integer of them.

    LLVM does so with all of them at once, and where that ends a process depends on how many there
    are, in which shape, and beside what: 17 in a row always did, and two never.
    """
    for visit in _used(reading, *_LOOKING):
        given = {*taken(reading, visit)} or _HALVES  # of what a body takes it is not followed
        if _HALVES.isdisjoint(given) or not _are_several(reading, visit):
            continue
        made = reading.element(reading.result(visit.operation))
        if visit.name != _CONVERT or made.startswith(_WHOLE):
            return None
    return False


def _computes_elevens(reading: Reading) -> bool | None:
    """Find perhaps an op that computes several f8E4M3B11FNUZ, or takes them."""
    for visit in reading.walk:
        if reading.kinds[visit.operation.name] in _BESIDE or not _are_several(reading, visit):
            continue
        if _ELEVEN in {*map(reading.element, visit.operation.results), *taken(reading, visit)}:
            return None
    return False


def _are_several(reading: Reading, visit: Visit) -> bool:
    """Say whether an op computes more than two numbers, or stands in a body that is applied.

    What is computed from constants alone is a constant before.
    """
    around = reading.walk.around[visit.number]
    if around >= 0 and reading.kinds[reading.walk.head(around).name] in APPLYING:
        return True
    shapes = (reading.dimensions(type_) for type_ in visit.operation.results)
    several = any(shape is None or not 0 <= math.prod(shape) <= _FEW for shape in shapes)
    return several and visit.number not in reading.folded


def _widens_what_overflows(reading: Reading) -> bool | None:
    """Find perhaps a convert to a byte of integers of four bits that an op computes.

    XLA has them in bytes, and takes these for the numbers.
    """
    for visit in _used(reading, _CONVERT):
        maker = None if visit.first is None else reading.walk[visit.first]
        if maker is None or reading.kinds[maker.operation.name] not in _OVERFLOWING:
            continue
        made, given = ([*map(reading.element, one.operation.results)] for one in (maker, visit))
        if any(_FOUR_BITS.get(one) == other for one, other in zip(made, given, strict=False)):
            return None
    return False


FEW_BITS: dict[str, FormRule] = {
    "comparison or greatest or least of f8E8M0FNU": FormRule(
        _orders_exponents, (types([_EXPONENT]), ops(*_ORDERING))
    ),
    "op that rounds to f8E8M0FNU": _computes({_EXPONENT}, *_ROUNDING),
    "negate of f8E8M0FNU": weaken(_computes({_EXPONENT}, "vhlo.negate")),
    "op of constants that may give a negative f8E8M0FNU": FormRule(
        _makes_negative_exponents, (types([_EXPONENT]), ops(*_TO_NEGATIVE)), across=True
    ),
    # Perhaps to the least normal one, from below.
    "op that rounds to a float of a byte": weaken(_computes(F8 - {_EXPONENT}, *_ROUNDING)),
    # Perhaps of less than -6.
    "logistic of floats of a byte that have no infinity": weaken(_computes(_ENDING, _LOGISTIC)),
    "convert to integers of a byte of what an op computes of i4 or ui4": FormRule(
        _widens_what_overflows, (types(_FOUR_BITS), ops(_CONVERT)), across=True
    ),
    "integers, parts or norms of several f16 or f8": FormRule(
        _looks_into_halves, (types(_HALVES), ops(*_LOOKING)), across=True
    ),
    "computation of several f8E4M3B11FNUZ": FormRule(_computes_elevens, (types([_ELEVEN]),)),
    # Perhaps of a negative number.
    "popcnt of i4": weaken(_computes({"i4_v1"}, _POPCNT)),
    # Perhaps of -1 to a negative power.
    "power of i2, ui2 or i4": weaken(_computes(_NARROW, _POWER)),
    "op of f8E4M3FN that may be NaN": FormRule(_reads_nan, (types([_SIGNED_NAN]),)),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
