"""What is computed from constants alone, which IREE computes once and keeps beside the constants.

Up to 3.11 it loses some of that: what a body gives, and what is left of complex numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.operations import IN_FUNCTION
from portable.prediction.constants import is_one_number
from portable.prediction.form import FormRule, kinds, ops, taken, types

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.bytecode.operations import Source
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["HOISTED"]

_COMPLEX = "complex_v1"
_CONSTANT, _RETURN = "vhlo.constant_v1", "vhlo.return_v1"
_BODIES = ("vhlo.case_v1", "vhlo.if_v1", "vhlo.while_v1")
_PARTS = ("vhlo.convert_v1", "vhlo.imag_v1", "vhlo.real_v1")
# What was seen to be kept, of a constant of different numbers. Others may be folded.
_KEPT = kinds(
    "abs cbrt convert dot exponential exponential_minus_one floor imag log log_plus_one logistic"
    " negate optimization_barrier popcnt power real reduce rsqrt sign sine sqrt tanh transpose"
)
# What makes one number of several, or of no constant: that may be kept too.
_COLLECTING = kinds("dot dot_general convolution reduce reduce_window sort")


def _gives_what_it_computes(reading: Reading) -> bool | None:
    """Find a body of a conditional or loop that gives what it computes from constants.

    Of one number, or of the same everywhere, that is folded. Perhaps it is so of other ops than
    those that were seen to be kept.
    """
    around, folded = reading.walk.around, reading.folded
    given = {
        source[0]
        for visit in _ends_of_bodies(reading)
        for source in visit.sources
        if source and source[0] in folded and source[0] not in visit.constants
        if around[source[0]] == around[visit.number]
    }
    varied = _varied(reading) if given else {}
    answers = {varied[number] for number in given}
    return True if True in answers else None if None in answers else False


def _ends_of_bodies(reading: Reading) -> Iterator[Visit]:
    """Yield what ends the bodies of conditionals and loops."""
    walk = reading.walk
    for visit in walk.of([_RETURN]):
        around = walk.around[visit.number]
        if visit.operation.depth > IN_FUNCTION and walk[around].name in _BODIES:
            yield visit


def _varied(reading: Reading) -> dict[int, bool | None]:
    """Say of what is computed from constants whether it is kept; None where it may be folded."""
    walk = reading.walk
    found: dict[int, bool | None] = {}
    differing: set[int] = set()
    for number in sorted(reading.folded):
        visit = walk[number]
        kind = reading.kinds[visit.operation.name]
        before = {source[0] for source in visit.sources if source}
        if visit.name == _CONSTANT:
            different = not is_one_number(reading, visit.operation)
        else:
            different = kind in _COLLECTING or not differing.isdisjoint(before)
        if different:
            differing.add(number)
        direct = any(one in visit.constants and one in differing for one in before)
        kept = kind in _KEPT and (direct or any(found[one] for one in before))
        found[number] = True if kept else None if different else False
    return found


def _returns_a_part(reading: Reading) -> bool:
    """Find what is left of a complex constant, that main returns and something else takes."""
    parts = _parts(reading)
    main = reading.functions.main
    returned: set[Source | None] = set()
    used: set[Source | None] = set()
    for visit in reading.walk if parts else ():
        is_end = visit.name == _RETURN and reading.walk.around[visit.number] == main
        if is_end:
            returned.update(visit.sources)
        elif visit.number not in reading.folded:
            used.update(visit.sources)
    return any(source is not None and source[0] in parts for source in returned & used)


def _parts(reading: Reading) -> set[int]:
    """Return what is computed from real numbers that are made of complex constants."""
    found: set[int] = set()
    for number in sorted(reading.folded):
        visit = reading.walk[number]
        before = {source[0] for source in visit.sources if source}
        made = visit.name in _PARTS and any(
            reading.element(type_) == _COMPLEX
            for one in before
            for type_ in reading.walk.head(one).results
        )
        if made or not found.isdisjoint(before):
            found.add(number)
    return found


def _computes_complex(reading: Reading) -> bool | None:
    """Find perhaps what is computed from complex constants."""
    computed = (visit for visit in reading.walk if visit.number in reading.folded)
    found = any(_COMPLEX in taken(reading, one) for one in computed if one.name != _CONSTANT)
    return None if found else False


HOISTED: dict[str, FormRule] = {
    "body that gives what it computes from a constant of different numbers": FormRule(
        _gives_what_it_computes, (ops(*_BODIES), ops(_CONSTANT)), across=True
    ),
    "op of complex numbers that are computed from constants": FormRule(
        _computes_complex, (types([_COMPLEX]), ops(_CONSTANT))
    ),
    "real number made of a complex constant, returned and used": FormRule(
        _returns_a_part, (types([_COMPLEX]), ops(*_PARTS), ops(_CONSTANT)), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
