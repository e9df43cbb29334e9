"""Forms of what stands in bodies that ops apply to scalars, and in functions that these call.

A compiler makes other code of them than of the same ops elsewhere: XLA:CPU computes them by one
element, IREE makes arithmetic of what is in a sort or a scatter. What is known of an op that stands
alone does not tell what becomes of it there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.operations import like
from portable.prediction.bodies import CONSTRAINING
from portable.prediction.form import FormRule, kinds, ops, taken, types, weaken
from portable.prediction.functions import CALLS
from portable.prediction.signatures import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from portable.bytecode.operations import Source
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["APPLIED", "APPLYING"]

_COMPARE, _RETURN = "vhlo.compare", "vhlo.return"
_CASE, _CONVERT, _WHILE = "vhlo.case", "vhlo.convert", "vhlo.while"
_BARRIER, _CUSTOM_CALL, _POWER = "vhlo.optimization_barrier", "vhlo.custom_call", "vhlo.power"
_SCATTER, _SORT = "vhlo.scatter", "vhlo.sort"
_NOT, _SELECT = "vhlo.not", "vhlo.select"
# What gives what it takes, where it takes that twice.
_SAME_OF_ONE = kinds("and maximum minimum or")
APPLYING = kinds(
    "all_reduce map reduce reduce_scatter reduce_window scatter select_and_scatter sort"
)
"""The ops that apply their bodies to scalars, without their versions."""
_CONDITIONALS = kinds("case if")
_IN_ORDER = frozenset({_SCATTER, _SORT})
# What computes nothing.
_HOLDING = frozenset({"builtin.module", "vhlo.constant_v1", "vhlo.func_v1", "vhlo.return_v1"})
_BFLOAT16 = "bf16_v1"

# What every jaxlib that was tried, of each era, compiles in any of them, of arrays too. What XLA
# has a library for, or a loop, is none of it.
_PLAIN = kinds(
    "abs add and atan2 broadcast_in_dim case cbrt ceil clamp compare complex concatenate constant"
    " convert cosine count_leading_zeros divide dynamic_slice dynamic_update_slice exponential"
    " exponential_minus_one floor gather if imag iota is_finite log log_plus_one logistic map"
    " maximum minimum multiply negate not optimization_barrier or pad popcnt power real reduce"
    " reduce_precision remainder reshape return reverse round_nearest_afz round_nearest_even rsqrt"
    " scatter select shift_left shift_right_arithmetic shift_right_logical sign sine slice sort"
    " sqrt subtract tan tanh transpose xor"
).union(CALLS)
# What they compile there of scalars: what it does with arrays differs.
_OF_SCALARS = frozenset({"vhlo.bitcast_convert", _CUSTOM_CALL})
# What IREE has no arithmetic for in a sort or scatter.
_NO_ARITHMETIC = kinds(
    "case cbrt concatenate convolution count_leading_zeros dot_general dynamic_slice"
    " dynamic_update_slice fft gather if map optimization_barrier pad popcnt reduce"
    " reduce_precision reduce_window round_nearest_afz round_nearest_even scatter slice sort while"
)
_INTEGERS = frozenset(f"{sign}{bits}_v1" for sign in ("i", "ui") for bits in (2, 4, 8, 16, 32, 64))


class _Inner(NamedTuple):
    """An operation in a body that is applied to scalars.

    Args:
        visit: The operation.
        called: Whether it stands in a function that such a body calls.
    """

    visit: Visit
    called: bool


def _inside(reading: Reading, applying: Collection[str]) -> Iterator[_Inner]:
    """Yield what stands in the bodies of some ops, and in what they call, each operation once."""
    calls: list[Visit] = []
    end = 0
    for owner in reading.walk.of(applying):
        if owner.number < end:  # in the body of another
            continue
        for visit in reading.walk.below(owner.number):
            end = visit.number + 1
            if reading.kinds[visit.operation.name] in CALLS:
                calls.append(visit)
            yield _Inner(visit, called=False)
    if calls:
        yield from _called(reading, calls)


def _called(reading: Reading, calls: list[Visit]) -> Iterator[_Inner]:
    """Yield what stands in the functions that are called, and that these call."""
    seen: set[int] = set()
    while calls:
        called = {*reading.functions.called(calls.pop().number)} - seen
        seen |= called
        for number in called:
            for visit in reading.walk.below(number):
                if reading.kinds[visit.operation.name] in CALLS:
                    calls.append(visit)
                yield _Inner(visit, called=True)


def _has(
    applying: Collection[str], is_such: Callable[[Reading, Visit], bool | None]
) -> Callable[[Reading], bool | None]:
    """Find an operation in the bodies of some ops that is used.

    Perhaps it is one where a body calls a function in which it stands.
    """

    def found(reading: Reading) -> bool | None:
        perhaps = False
        for visit, called in _inside(reading, applying):
            such = is_such(reading, visit)
            if such is False or like(visit.operation) not in reading.used:
                continue
            if such and not called:
                return True
            perhaps = True
        return None if perhaps else False

    return found


def _decides(reading: Reading) -> bool:
    """Find a conditional in a body, whether or not it is used."""
    inner = (reading.kinds[one.visit.operation.name] for one in _inside(reading, APPLYING))
    return any(kind in _CONDITIONALS for kind in inner)


def _is(kind: str) -> Callable[[Reading, Visit], bool | None]:
    return lambda reading, visit: reading.kinds[visit.operation.name] == kind


def _chooses(reading: Reading, visit: Visit) -> bool | None:
    """Say whether an operation is a case by what is not constant; None by what may be."""
    if reading.kinds[visit.operation.name] != _CASE or not visit.sources:
        return False
    if visit.constant(visit.sources[0]):
        return False
    return None if visit.first in reading.folded else True


def _is_of_arrays(reading: Reading, visit: Visit) -> bool:
    """Say whether an operation takes or gives what is no scalar."""
    given = (reading.walk.type(source) for source in visit.sources if source)
    return any(reading.dimensions(type_) != [] for type_ in (*visit.operation.results, *given))


def _is_more(reading: Reading, visit: Visit) -> bool:
    """Say whether an operation is none of those that compile in any body."""
    kind = reading.kinds[visit.operation.name]
    is_other = kind not in _PLAIN and visit.name not in CONSTRAINING
    return is_other and (kind not in _OF_SCALARS or _is_of_arrays(reading, visit))


def _is_no_arithmetic(reading: Reading, visit: Visit) -> bool | None:
    """Say whether IREE makes no arithmetic of scalars of an operation.

    Perhaps it makes none of one that gives arrays: a reshape there and back is dropped.
    """
    operation = visit.operation
    kind = reading.kinds[operation.name]
    of_integers = kind == _POWER and _gives(reading, visit) <= _INTEGERS
    if of_integers or kind in _NO_ARITHMETIC:
        return None if visit.number in reading.folded else True
    return None if kind != _RETURN and _is_of_arrays(reading, visit) else False


def _is_called_in_scatter(reading: Reading) -> bool:
    """Find a custom_call that stands in the body of a scatter itself."""
    walk = reading.walk
    around = (walk.around[visit.number] for visit in walk.of([_CUSTOM_CALL]))
    return any(one >= 0 and reading.kinds[walk.head(one).name] == _SCATTER for one in around)


def _is_stable_by_more(reading: Reading) -> bool | None:
    """Find a stable sort of one operand by more than a comparison: what ties may not be equal."""
    for sort in reading.walk.of([_SORT]):
        if len(sort.operands) == 1 and reading.value(sort.operation, "is_stable").get("value"):
            inner = {reading.kinds[one.operation.name] for one in reading.walk.below(sort.number)}
            if inner - {_COMPARE, _RETURN}:
                return None
    return False


def _may_fold(reading: Reading) -> bool | None:
    """Find a sort whose comparison is computed from constants, or perhaps is by what it takes.

    Perhaps, where an operation of what are no floats takes one value twice, a constant, or a
    boolean and what is not so.
    """
    walk, perhaps = reading.walk, False
    for sort in walk.of([_SORT]):
        floats = all(reading.element(type_).startswith(FLOATS) for type_ in sort.operation.results)
        known: dict[Source | None, object] = {}
        for visit in walk.below(sort.number):
            operation, kind = visit.operation, reading.kinds[visit.operation.name]
            if kind == _RETURN and walk.around[visit.number] == sort.number:
                if visit.first in reading.folded:
                    return True
                continue
            taken = [
                known.get(source, source) if source else value
                for source, value in zip(visit.sources, visit.operands, strict=True)
            ]
            made: object = (like(operation), *taken)
            if kind in _SAME_OF_ONE and len({*taken}) == 1:
                made = taken[0]
            elif not _is_of_floats(reading, visit, floats=floats):
                perhaps |= _may_be_constant(reading, visit, taken)
            known[visit.number, 0] = made
    return None if perhaps else False


def _is_of_floats(reading: Reading, visit: Visit, *, floats: bool) -> bool:
    """Say whether an operation takes floats, where what is sorted are floats or may not be."""
    kind = reading.kinds[visit.operation.name]
    if kind == _COMPARE:
        asked = reading.case(visit.operation, "compare_type")
        return asked == "FLOAT" or (asked == "NOTYPE" and floats)
    if kind == _SELECT and visit.first in reading.folded:
        return False
    return all(reading.element(type_).startswith(FLOATS) for type_ in visit.operation.results)


def _may_be_constant(reading: Reading, visit: Visit, taken: Sequence[object]) -> bool:
    """Say whether an operation takes a value twice, a constant, or a boolean and its opposite."""
    if len(taken) < len(("left", "right")) or visit.number in reading.folded:
        return False
    denied = {one[1] for one in taken if isinstance(one, tuple) and _is_not(reading, one)}
    one_is_constant = any(source and source[0] in reading.folded for source in visit.sources)
    return one_is_constant or len({*taken}) < len(taken) or not denied.isdisjoint(taken)


def _is_not(reading: Reading, made: tuple[object, ...]) -> bool:
    """Say whether what is known of a value is that it is what another is not."""
    head = made[0]
    return isinstance(head, tuple) and reading.kinds[head[0]] == _NOT


def _narrows(reading: Reading, visit: Visit) -> bool:
    """Say whether an operation converts to bf16."""
    converts = reading.kinds[visit.operation.name] == _CONVERT
    return converts and _BFLOAT16 in _gives(reading, visit)


def _gives(reading: Reading, visit: Visit) -> set[str]:
    """Return the element types of what an operation gives."""
    return {reading.element(type_) for type_ in visit.operation.results}


def _computes_two_bits(reading: Reading) -> bool | None:
    """Find perhaps an op that applies a body to i2 that is neither an argument nor a constant."""
    for visit in reading.walk.of(APPLYING):
        sources = [one for one in visit.sources if one and visit.constant(one) is None]
        if any(reading.element(reading.walk.type(one)) == "i2_v1" for one in sources):
            return None
    return False


def _computes_from_two_bits(reading: Reading) -> bool | None:
    """Find perhaps several ops of which one takes or gives ui2."""
    computing = [visit for visit in reading.walk if visit.name not in _HOLDING]
    if len(computing) < len(("one", "another")):
        return False
    elements = {reading.element(type_) for type_ in reading.sides_of_main[0]}
    for visit in computing:
        elements |= _gives(reading, visit) | {*taken(reading, visit)}
    return None if "ui2_v1" in elements else False


APPLIED: dict[str, FormRule] = {
    "while in a body applied to scalars": FormRule(
        _has(APPLYING, _is(_WHILE)), (ops(_WHILE), ops(*APPLYING))
    ),
    "conditional in a body applied to scalars": FormRule(
        _decides, (ops(*_CONDITIONALS), ops(*APPLYING))
    ),
    "case in a body applied to scalars": FormRule(
        _has(APPLYING, _chooses), (ops(_CASE), ops(*APPLYING))
    ),
    "optimization_barrier in a body applied to scalars": FormRule(
        _has(APPLYING, _is(_BARRIER)), (ops(_BARRIER), ops(*APPLYING))
    ),
    "body applied to scalars that computes with more than scalars": weaken(
        FormRule(_has(APPLYING, _is_more), (ops(*APPLYING),))
    ),
    "custom_call in the body of a scatter": FormRule(
        _is_called_in_scatter, (ops(_CUSTOM_CALL), ops(_SCATTER))
    ),
    "sort or scatter by more than arithmetic of scalars": FormRule(
        _has(_IN_ORDER, _is_no_arithmetic), (ops(*_IN_ORDER),)
    ),
    "sort or scatter by what is converted to bf16": weaken(
        FormRule(_has(_IN_ORDER, _narrows), (ops(*_IN_ORDER), types([_BFLOAT16])))
    ),
    "sort by a comparison that folds to a constant": FormRule(
        _may_fold, (ops(_SORT),), across=True
    ),
    "stable sort of one operand by more than a comparison": FormRule(
        _is_stable_by_more, (ops(_SORT),)
    ),
    "ui2 in a program of several ops": FormRule(
        _computes_from_two_bits, (types(["ui2_v1"]),), across=True
    ),
    "body applied to i2 that is computed": FormRule(
        _computes_two_bits, (types(["i2_v1"]), ops(*APPLYING))
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
