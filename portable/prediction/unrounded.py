"""Floats that are made narrower, and that compilers do not round.

XLA and IREE leave out a conversion to a narrower float and back. On a CPU XLA computes most ops of
bf16, and all of narrower floats, in f32: a conversion stands before them that is such a way back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.prediction.computing import NARROW, WHOLE
from portable.prediction.flow import by_the_first
from portable.prediction.form import SIXTEEN_BITS, FormRule, kinds, ops, taken, types
from portable.prediction.simplified import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["UNROUNDED"]

_CONVERT = "vhlo.convert"
_FLOAT, _DOUBLE, _BFLOAT16, _HALF = "f32_v1", "f64_v1", "bf16_v1", "f16_v1"
_BOOLEAN, _EXPONENT = "bool_v1", "f8E8M0FNU_v1"  # which has no zero
_RETURN = kinds("return")
_MOVING = kinds("broadcast_in_dim reshape slice transpose")
# What XLA:CPU computes in f32 of narrower floats but f16, so that what it gives is another number.
_WIDENED = kinds(
    "add atan2 cbrt ceil cosine divide exponential exponential_minus_one floor log log_plus_one"
    " logistic multiply power remainder round_nearest_even rsqrt sine sqrt subtract tanh"
)
# What it computes of f16 as it is.
_NATIVE = _WIDENED | kinds(
    "abs bitcast_convert clamp compare concatenate dynamic_update_slice gather is_finite maximum"
    " minimum negate pad reduce_precision reverse round_nearest_afz select sign"
)
# Of which a number that is not rounded makes no difference.
_ALIKE = kinds("bitcast_convert is_finite")


def _narrowed(reading: Reading, elements: Collection[str]) -> set[Value]:
    """Return what is converted to narrow floats, if that rounds anything."""
    return {
        (visit.number, 0)
        for visit in reading.walk.of([_CONVERT])
        if (to := reading.element(reading.result(visit.operation))) in elements
        and not _is_exact(reading, visit, to)
    }


def _is_exact(reading: Reading, visit: Visit, to: str) -> bool:
    """Say whether a narrow float has every number that a conversion to it may take."""
    of = "".join(taken(reading, visit))
    if of == _BOOLEAN:
        return to != _EXPONENT
    if to not in SIXTEEN_BITS:
        return False
    if of in WHOLE:
        (ends,) = reading.ranges.of(visit)
        return max(map(abs, ends)) <= 1 << FLOATS[to].digits
    return of in NARROW - SIXTEEN_BITS - {_EXPONENT}


def _takers(reading: Reading, made: set[Value]) -> Iterator[tuple[Visit, Value]]:
    """Yield the ops that take what is made narrower, or moved behind that, each with what it takes.

    Those are left out that move it on, or return it: it is rounded where it is returned.
    """
    if not made:
        return
    reached = reading.flow.reached(made, by_the_first, _MOVING)
    for visit in reading.walk:
        if reading.kinds[visit.operation.name] not in _MOVING | _RETURN:
            for value in reached.intersection(reading.flow.operands(visit)):
                yield visit, value


def _rounds(elements: Collection[str]) -> Callable[[Reading], bool | None]:
    """Find what is converted to narrow floats and not only returned; it is perhaps not rounded."""

    def find(reading: Reading) -> bool | None:
        return None if any(_takers(reading, _narrowed(reading, elements))) else False

    return find


def _widens_again(reading: Reading) -> bool | None:
    """Find what is converted to f32, and what is perhaps that as it is converted to f64."""
    made: set[Value] = set()
    wider: list[Visit] = []
    for visit in reading.walk.of([_CONVERT]):
        to = reading.element(reading.result(visit.operation))
        if to == _FLOAT and {*taken(reading, visit)} != {_FLOAT}:
            made.add((visit.number, 0))
        elif to == _DOUBLE:
            wider.append(visit)
    if not made or not wider:
        return False
    flow = reading.flow
    reached = flow.reached(made, lambda _: True, reading.kinds)
    return None if any(not reached.isdisjoint(flow.operands(one)) for one in wider) else False


def _narrows_or_widens(reading: Reading) -> bool | None:
    finds = (_rounds(NARROW), _widens_again)
    return None if any(find(reading) is None for find in finds) else False


def _is_computed_wider(reading: Reading) -> bool | None:
    """Find what is made narrower, and taken by an op that XLA:CPU computes in f32."""
    made, perhaps = _narrowed(reading, NARROW), _widens_again(reading) is None
    kept = None if _leaves_half(reading) else False
    for visit, value in _takers(reading, made):
        computed = _takes_unrounded(reading, visit, value, kept)
        if computed and value in made and _are_together(reading, visit, value):
            return True
        perhaps |= computed is not False
    return None if perhaps else False


def _are_together(reading: Reading, visit: Visit, value: Value) -> bool:
    return reading.walk.around[visit.number] == reading.walk.around[value[0]]


def _leaves_half(reading: Reading) -> bool:
    """Say whether f16 are converted to other floats anywhere.

    Ops of which nothing is left, as of two negations, may be all that is between two conversions.
    """
    return any(
        reading.element(reading.result(visit.operation)) not in WHOLE | {_BOOLEAN}
        for visit in reading.walk.of([_CONVERT])
        if _HALF in taken(reading, visit)
    )


def _takes_unrounded(
    reading: Reading, visit: Visit, value: Value, kept: bool | None
) -> bool | None:
    """Say whether an op takes a narrow float as it was before; None where that is not known.

    Args:
        reading: An artifact's ops.
        visit: The op.
        value: The narrow float.
        kept: What is said of an op that is computed of f16 as it is.
    """
    kind, type_ = reading.kinds[visit.operation.name], reading.flow.type(value)
    if kind == _CONVERT:
        to = reading.element(reading.result(visit.operation))
        return True if to in {_FLOAT, _DOUBLE} else False if to in WHOLE | {_BOOLEAN} else None
    if type_ is None:
        return None
    if reading.element(type_) == _HALF:
        return kept if kind in _NATIVE else None
    if kind in _WIDENED:
        # x - x, or x / x, is what it is of any number.
        return True if len({*visit.operands}) == len(visit.operands) else None
    return False if kind in _ALIKE else None


UNROUNDED: dict[str, FormRule] = {
    "convert to a narrower float and back": FormRule(
        _narrows_or_widens, (types(NARROW | {_DOUBLE}), ops(_CONVERT)), across=True
    ),
    "convert to a narrower float and back, also in an op": FormRule(
        _is_computed_wider, (types(NARROW | {_DOUBLE}), ops(_CONVERT)), across=True
    ),
    "convert to bf16 and back": FormRule(
        _rounds([_BFLOAT16]), (types([_BFLOAT16]), ops(_CONVERT)), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
