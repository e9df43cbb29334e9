"""Gathers, scatters and sorts by indices, or of memory, that not every compiler looks at."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.computing import F8, WHOLE
from portable.prediction.constants import is_one_number
from portable.prediction.flow import INSIDE
from portable.prediction.form import (
    GATHERS,
    SCATTERS,
    FormRule,
    kinds,
    ops,
    repeated,
    signed,
    types,
)
from portable.prediction.ranges import ANY
from portable.prediction.reduced import Reductions
from portable.prediction.scattered import is_wide
from portable.prediction.walk import CONSTANT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from portable.bytecode.operations import Head, OpSignature
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.ranges import Ends
    from portable.prediction.walk import Visit

__all__ = ["INDICES"]

_CONCATENATE, _IOTA = "vhlo.concatenate", "vhlo.iota"
_MOST = 1 << 63  # more than any dimension
_NONE = (math.inf, -math.inf)
_OF_ONE = 3  # operands: what is scattered into, indices, updates
_SORT, _SEVERAL = "vhlo.sort", 2
_SLICES = kinds("dynamic_slice real_dynamic_slice slice")
# What IREE stores otherwise than it computes with it.
_PACKED = F8 | {"bool_v1"}
# What is in memory before a part of it is looked at.
_WHOLE = kinds("sort while")
_MOST_KEPT = 16  # one after another
_RESHAPED = kinds("reshape")
_KEPT = _RESHAPED | kinds("optimization_barrier")
_SLICE, _UPDATE = "vhlo.dynamic_slice_v1", "vhlo.dynamic_update_slice_v1"
_SELECT = "vhlo.torch_index_select_v1"
_OF_IREE: Mapping[str, Ends] = {
    **dict.fromkeys(("i8_v1", "i16_v1"), (0, math.inf)),
    "ui64_v1": (0, (1 << 63) - 1),
}
# Those of 64 bits hold any place, those of 32 one that fits in memory.
_NARROW = WHOLE - {"i64_v1", "ui64_v1"}
_NARROW_UNSIGNED = frozenset({"ui8_v1", "ui16_v1"})


def _may_leave(
    names: Sequence[str], last: Callable[[Reading, OpSignature], Sequence[int]]
) -> Callable[[Reading], bool | None]:
    """Find perhaps an op by indices of which constants do not say that they are in bounds.

    Args:
        names: The op, in its versions.
        last: Returns the greatest index that is in bounds, of each component of an index.
    """

    def find(reading: Reading) -> bool | None:
        known = {
            like(one): last(reading, one) for one in reading.of(*names) if like(one) in reading.used
        }
        if all(min(most, default=math.inf) == math.inf for most in known.values()):
            return False
        for visit in reading.walk.of(names):
            most = known.get(like(visit.operation), ())
            given = _components(reading, visit, len(most))
            if any(low < 0 or high > one for (low, high), one in zip(given, most, strict=True)):
                return None
        return False

    return find


def _components(reading: Reading, op: Visit, count: int) -> Sequence[Ends]:
    """Return the ends of each component of an index, as far as they are known apart.

    Args:
        reading: An artifact's ops.
        op: The gather or scatter.
        count: How many components there are.
    """
    operands = reading.flow.operands(op)
    if not operands:
        return [ANY] * count
    indices = operands[len(operands) // 2]
    made = reading.walk[indices[0]] if indices[1] >= 0 else None
    if made is not None and reading.kinds[made.operation.name] == _CONCATENATE:
        parts = [reading.ranges.at(one) for one in reading.flow.operands(made)]
        along = reading.value(made.operation, "dimension").get("value")
        if len(parts) == count and along == _vector_dimension(reading, op.operation):
            return parts
    return [reading.ranges.at(indices)] * count


def _vector_dimension(reading: Reading, op: OpSignature | Head) -> object:
    return reading.value(op, "index_vector_dim").get("value")


def _last_gathered(reading: Reading, gather: OpSignature) -> Sequence[int]:
    sizes = reading.numbers(gather, "slice_sizes")
    return _last(reading, gather, reading.numbers(gather, "start_index_map"), sizes)


def _last_selected(reading: Reading, select: OpSignature) -> Sequence[int]:
    shape = reading.dimensions((select.operand_types or (None,))[0]) or ()
    at = reading.value(select, "dim").get("value")
    # It may be counted from the last dimension.
    if isinstance(at, int) and -len(shape) <= signed(at) < len(shape):
        return [shape[signed(at)] - 1]
    return [-1]


def _last_scattered(reading: Reading, scatter: OpSignature) -> Sequence[int]:
    # A window that is partly outside is another matter.
    size = _MOST if is_wide(reading, scatter) else 1
    return _last(reading, scatter, reading.numbers(scatter, "scatter_dims_to_operand_dims"), [size])


def _last(
    reading: Reading, op: OpSignature, chosen: Sequence[int], sizes: Sequence[int]
) -> Sequence[int]:
    """Return the greatest index at which a window is inside, of each component of an index.

    Args:
        reading: An artifact's ops.
        op: The op.
        chosen: In which dimension each component is.
        sizes: How large a window is in each dimension, or in all.
    """
    shape = reading.dimensions((op.operand_types or (None,))[0]) or ()
    each = repeated(sizes, len(shape))
    return [shape[at] - each[at] if 0 <= at < len(shape) else -1 for at in chosen]


def _may_exceed(
    names: Sequence[str], ranges: Callable[[Reading, OpSignature], Sequence[Ends]]
) -> Callable[[Reading], bool | None]:
    """Find perhaps an op with an index of which constants do not say that it is in a range.

    Args:
        names: The op, in its versions.
        ranges: Returns the range of each operand, of those from the first index on.
    """

    def find(reading: Reading) -> bool | None:
        known: dict[object, list[Sequence[Ends]]] = {}
        for one in reading.of(*names):
            if like(one) in reading.used and {*(found := ranges(reading, one))} - {ANY}:
                known.setdefault(like(one), []).append(found)
        for visit in reading.walk.of(names) if known else ():
            given = reading.ranges.of(visit)[_first_index(visit.name, len(visit.sources)) :]
            for found in known.get(like(visit.operation), ()):
                for (low, high), (least, most) in zip(given, found, strict=False):
                    if low < least or high > most:
                        return None
        return False

    return find


def _held(reading: Reading, type_: int | None, place: float, *, signed: bool) -> Ends:
    """Return the range of an index that XLA compares with a last place rightly.

    It makes that one of the type of the index: where it does not fit, another.
    """
    if type_ is None:
        return _NONE
    element = reading.element(type_)
    if element not in WHOLE or (signed and element not in _NARROW_UNSIGNED):
        return ANY
    bits = int(element.removesuffix("_v1").lstrip("ui")) - (signed or element.startswith("i"))
    return ANY if place < 1 << bits else _NONE


def _first_index(name: str, operands: int) -> int:
    """Return which operand is the first index of an op, by its name and how many it has."""
    return operands // 2 if name in SCATTERS else 1 + (name == _UPDATE)


def _held_by_scatters(*, one: bool) -> Callable[[Reading, OpSignature], Sequence[Ends]]:
    """Return what is right of scatters, or of those with one update."""

    def ranges(reading: Reading, scatter: OpSignature) -> Sequence[Ends]:
        types = scatter.operand_types or ()
        indices = types[len(types) // 2] if types else None
        shape = reading.dimensions((*types, None)[0]) or ()
        places = reading.dimensions(indices) or ()
        dimension = _vector_dimension(reading, scatter)
        updates = math.prod(size for at, size in enumerate(places) if at != dimension)
        if one and updates != 1:
            return [ANY]
        chosen = reading.numbers(scatter, "scatter_dims_to_operand_dims")
        last = max((shape[at] - 1 for at in chosen if at < len(shape)), default=0)
        return [_held(reading, indices, last, signed=False)]

    return ranges


def _held_by_updates(reading: Reading, update: OpSignature) -> Sequence[Ends]:
    """Return what is right of a dynamic_update_slice."""
    types = update.operand_types or ()
    shape, sizes = (reading.dimensions(one) or () for one in (*types, None, None)[:2])
    return [
        _held(reading, type_, whole - size, signed=False)
        for type_, whole, size in zip(types[2:], shape, sizes, strict=False)
    ]


def _held_with_signs(reading: Reading, op: OpSignature) -> Sequence[Ends]:
    """Return what is right where unsigned integers are compared as signed ones."""
    name, types = reading.names[op.name], op.operand_types or ()
    last = max(reading.dimensions((*types, None)[0]) or (), default=0) - 1
    first = _first_index(name, len(types))
    indices = types[first : first + 1] if name in SCATTERS else types[first:]
    return [_held(reading, type_, last, signed=True) for type_ in indices]


def _taken_by_iree(reading: Reading, op: OpSignature) -> Sequence[Ends]:
    """Return what is right where a narrow integer has no sign, and one of ui64 has one."""
    types = op.operand_types or ()
    return [
        _NONE if type_ is None else _OF_IREE.get(reading.element(type_), ANY)
        for type_ in types[_first_index(reading.names[op.name], len(types)) :]
    ]


def _scatters_into_itself(reading: Reading) -> bool | None:
    """Find a scatter of an argument into itself, of rows and columns, by what is computed.

    IREE puts the rows and columns of its updates together, and then has two of one buffer. Perhaps
    it is reduced to one, or is of what a loop gives.
    """
    reduced, perhaps = None, False
    for visit in reading.walk.of(SCATTERS):
        operands = reading.flow.operands(visit)
        if len(operands) != _OF_ONE or not _counts_several(reading, visit):
            continue
        number, at = _origin(reading, operands[1])
        if at < 0 or number in visit.constants:
            continue
        reduced = reduced or Reductions(reading)
        if not reduced.may_be_one(visit, 0, 2):
            continue
        into, updates = (_origin(reading, operands[at], _RESHAPED) for at in (0, 2))
        number, at = _origin(reading, into)
        of_main = number == reading.functions.main and INSIDE < at < 0
        if into == updates and of_main and reduced.is_computed(visit, 1):
            return True
        perhaps = True
    return None if perhaps else False


def _sorts_a_part(reading: Reading) -> bool | None:
    """Find a sort of several dimensions of a slice of an argument, or of a loop or another sort.

    IREE sorts in place what it only points into. Perhaps a slice is computed with what it is of.
    """
    walk, perhaps = reading.walk, False
    for visit in walk.of([_SORT]):
        for value in reading.flow.operands(visit):
            number, at = _origin(reading, value, _RESHAPED)  # a barrier keeps a copy
            given = reading.flow.operands(walk[number]) if at >= 0 else []
            shape = reading.dimensions(reading.flow.type(value)) or ()
            is_part = given and reading.kinds[walk.head(number).name] in _SLICES
            if not is_part or len(shape) < _SEVERAL:
                continue
            owner, at = _origin(reading, given[0])
            kept = (
                reading.kinds[walk.head(owner).name] in _WHOLE
                if at >= 0
                else owner == reading.functions.main and at > INSIDE
            )
            if kept and sum(size != 1 for size in shape) >= _SEVERAL:
                return True
            perhaps = True
    return None if perhaps else False


def _sorts_packed_constants(reading: Reading) -> bool | None:
    """Find a sort of several dimensions of a constant of different booleans or f8.

    These IREE stores otherwise than it computes with them, and sorts the constant itself. Perhaps
    what is computed from constants is one.
    """
    alike, perhaps = functools.cache(functools.partial(is_one_number, reading)), False
    count = reading.content.pool.count
    for visit in reading.walk.of([_SORT]):
        for source in visit.sources:
            if source is None or source[0] not in reading.folded:
                continue
            type_, constant = reading.walk.type(source), visit.constant(source)
            if reading.element(type_) not in _PACKED:
                continue
            if len(reading.dimensions(type_) or ()) < _SEVERAL:
                continue
            if constant is None or count(constant.results[0]) != count(type_):
                perhaps = True
            elif not alike(constant):
                return True
    return None if perhaps else False


def _sorts_one_number(reading: Reading) -> bool | None:
    """Find a sort of several dimensions of one constant number; perhaps of several operands."""
    alike, perhaps = functools.cache(functools.partial(is_one_number, reading)), False
    for visit in reading.walk.of([_SORT]):
        constants = [*map(visit.constant, visit.sources)]
        same = [one for one in constants if one is not None and alike(one)]
        shape = reading.dimensions((*visit.operation.results, None)[0])
        if same and len(shape or ()) >= _SEVERAL:
            if len(constants) == 1:
                return True
            perhaps = True
    return None if perhaps else False


def _sorts_constants_with_f8(reading: Reading) -> bool | None:
    """Find perhaps a sort of constants of which some are f8, and some neither that nor booleans.

    IREE computes it before it begins, and where something takes a result, in the wrong order.
    """
    for visit in reading.walk.of([_SORT]):
        if all(source and source[0] in reading.folded for source in visit.sources):
            elements = {*map(reading.element, visit.operation.results)}
            if elements & F8 and elements - _PACKED:
                return None
    return False


def _origin(reading: Reading, value: Value, through: Collection[str] = _KEPT) -> Value:
    """Return what a value is before it was only reshaped, or kept apart by a barrier."""
    for _ in range(_MOST_KEPT):
        number, at = value
        if at < 0 or reading.kinds[reading.walk.head(number).name] not in through:
            break
        operands = reading.flow.operands(reading.walk[number])
        if at >= len(operands):  # damaged
            break
        value = operands[at]
    return value


def _counts_several(reading: Reading, scatter: Visit) -> bool:
    """Say whether the indices of a scatter have several dimensions beside their components."""
    type_ = reading.flow.type(reading.flow.operands(scatter)[1])
    shape = [*(reading.dimensions(type_) or ())]
    along = _vector_dimension(reading, scatter.operation)
    counts = [size for at, size in enumerate(shape) if at != along and size != 1]
    return len(counts) > 1


def _sorts_beside(constants: Callable[[Reading, Visit], bool | None]) -> FormRule:
    """Find a sort of several dimensions, of what is not made of constants alone beside constants.

    Perhaps one whose other dimensions have one element is none.

    Args:
        constants: Says whether what is made of them is among the operands; None where perhaps.
    """

    def found(reading: Reading) -> bool | None:
        perhaps = False
        for visit in reading.walk.of([_SORT]):
            shape = reading.dimensions((*visit.operation.results, None)[0]) or ()
            alone = all(one and one[0] in reading.folded for one in visit.sources)
            if alone or len(shape) < _SEVERAL or like(visit.operation) not in reading.used:
                continue
            has = constants(reading, visit)
            if has and sum(size != 1 for size in shape) >= _SEVERAL:
                return True
            perhaps |= has is not False
        return None if perhaps else False

    return FormRule(found, (ops(_SORT),), across=True)


def _takes_different_numbers(reading: Reading, visit: Visit) -> bool:
    given = map(visit.constant, visit.sources)
    return any(one is not None and not is_one_number(reading, one) for one in given)


def _takes_what_is_computed(reading: Reading, visit: Visit) -> bool | None:
    walk = reading.walk
    made = {source[0] for source in visit.sources if source} - visit.constants.keys()
    computed = {one for one in made if reading.kinds[walk.head(one).name] != _IOTA}
    return False if reading.folded.isdisjoint(computed) else None


INDICES: dict[str, FormRule] = {
    "sort of several dimensions beside a constant of different numbers": _sorts_beside(
        _takes_different_numbers
    ),
    "sort of several dimensions beside what is computed from constants": _sorts_beside(
        _takes_what_is_computed
    ),
    "scatter of an argument into itself": FormRule(
        _scatters_into_itself, (ops(*SCATTERS),), across=True
    ),
    "sort of a slice of several dimensions": FormRule(
        _sorts_a_part, (ops(_SORT), ops(*_SLICES)), across=True
    ),
    "sort of a constant of booleans or f8, of several dimensions": FormRule(
        _sorts_packed_constants, (ops(_SORT), types(_PACKED), ops(CONSTANT)), across=True
    ),
    "sort of one number throughout, of several dimensions": FormRule(
        _sorts_one_number, (ops(_SORT),)
    ),
    "sort of constants of which some are f8 and some are not": FormRule(
        _sorts_constants_with_f8, (ops(_SORT), types(F8), ops(CONSTANT)), across=True
    ),
    "gather by indices that may be out of bounds": FormRule(
        _may_leave(GATHERS, _last_gathered), (ops(*GATHERS),)
    ),
    "torch_index_select by indices that may be out of bounds": FormRule(
        _may_leave([_SELECT], _last_selected), (ops(_SELECT),)
    ),
    "scatter by indices that may be out of bounds": FormRule(
        _may_leave(SCATTERS, _last_scattered), (ops(*SCATTERS),)
    ),
    "scatter by integers that do not hold the last place": FormRule(
        _may_exceed(SCATTERS, _held_by_scatters(one=False)), (ops(*SCATTERS), types(_NARROW))
    ),
    "scatter of one update by integers that do not hold the last place": FormRule(
        _may_exceed(SCATTERS, _held_by_scatters(one=True)), (ops(*SCATTERS), types(_NARROW))
    ),
    "dynamic_update_slice by integers that do not hold the last place": FormRule(
        _may_exceed([_UPDATE], _held_by_updates), (ops(_UPDATE), types(_NARROW))
    ),
    "scatter or dynamic slice by ui8 or ui16 that do not hold the last place with a sign": FormRule(
        _may_exceed([*SCATTERS, _SLICE, _UPDATE], _held_with_signs),
        (ops(*SCATTERS, _SLICE, _UPDATE), types(_NARROW_UNSIGNED)),
    ),
    "dynamic slice by i8 or i16 below zero, or by ui64 in the upper half": FormRule(
        _may_exceed([_SLICE, _UPDATE], _taken_by_iree), (ops(_SLICE, _UPDATE), types(_OF_IREE))
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
