"""Gathers and scatters by indices that may be out of bounds: not every compiler looks at them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from portable.bytecode.operations import like
from portable.prediction.computing import WHOLE
from portable.prediction.corners import is_wide
from portable.prediction.form import GATHERS, SCATTERS, FormRule, kinds, ops, types

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

    Ends: TypeAlias = tuple[float, float]

__all__ = ["INDICES"]

_CLAMP, _CONVERT, _IOTA = "vhlo.clamp", "vhlo.convert", "vhlo.iota"
_EXTREMES = {"vhlo.maximum": max, "vhlo.minimum": min}
# What gives the integers that it takes.
_PASSING = kinds(
    "broadcast broadcast_in_dim concatenate convert optimization_barrier reshape reverse slice"
    " transpose"
)
_ANY = (-math.inf, math.inf)
_NONE = (math.inf, -math.inf)
_SLICE, _UPDATE = "vhlo.dynamic_slice_v1", "vhlo.dynamic_update_slice_v1"
_OF_IREE: Mapping[str, Ends] = {
    **dict.fromkeys(("i8_v1", "i16_v1"), (0, math.inf)),
    "ui64_v1": (0, (1 << 63) - 1),
}
# Those of 64 bits hold any place, those of 32 one that fits in memory.
_NARROW = WHOLE - {"i64_v1", "ui64_v1"}
_NARROW_UNSIGNED = frozenset({"ui8_v1", "ui16_v1"})


def _may_leave(
    names: Sequence[str], greatest: Callable[[Reading, OpSignature], float]
) -> Callable[[Reading], bool | None]:
    """Find perhaps an op by indices of which constants do not say that they are in bounds.

    Args:
        names: The op, in its versions.
        greatest: Returns the greatest index that is in bounds in every dimension.
    """

    def find(reading: Reading) -> bool | None:
        known = {
            like(one): greatest(reading, one)
            for one in reading.of(*names)
            if like(one) in reading.used
        }
        if all(most == math.inf for most in known.values()):
            return False
        given = _given(reading)
        for visit in reading.walk.of(names):
            source = visit.sources[len(visit.sources) // 2] if visit.sources else None
            least, most = given.get(source[0], _ANY) if source else _ANY
            if least < 0 or most > known.get(like(visit.operation), math.inf):
                return None
        return False

    return find


def _greatest_gathered(reading: Reading, gather: OpSignature) -> float:
    sizes = reading.numbers(gather, "slice_sizes")
    chosen = reading.numbers(gather, "start_index_map")
    windows = {at: sizes[at] if 0 <= at < len(sizes) else math.inf for at in chosen}
    return _greatest(reading, gather, windows)


def _greatest_scattered(reading: Reading, scatter: OpSignature) -> float:
    # A window that is partly outside is another matter.
    size = math.inf if is_wide(reading, scatter) else 1
    chosen = reading.numbers(scatter, "scatter_dims_to_operand_dims")
    return _greatest(reading, scatter, dict.fromkeys(chosen, size))


def _greatest(reading: Reading, op: OpSignature, windows: Mapping[int, float]) -> float:
    """Return the greatest index at which a window is inside, in each dimension that is chosen.

    Args:
        reading: An artifact's ops.
        op: The op.
        windows: How large a window is in each of these dimensions.
    """
    shape = reading.dimensions((op.operand_types or (None,))[0]) or ()
    inside = (shape[at] - size if 0 <= at < len(shape) else -1 for at, size in windows.items())
    return min(inside, default=math.inf)


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
            if like(one) in reading.used and {*(found := ranges(reading, one))} - {_ANY}:
                known.setdefault(like(one), []).append(found)
        given = _given(reading) if known else {}
        for visit in reading.walk.of(names) if known else ():
            for found in known.get(like(visit.operation), ()):
                sources = visit.sources[_first_index(visit.name, len(visit.sources)) :]
                for source, (least, most) in zip(sources, found, strict=False):
                    low, high = given.get(source[0], _ANY) if source else _ANY
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
        return _ANY
    bits = int(element.removesuffix("_v1").lstrip("ui")) - (signed or element.startswith("i"))
    return _ANY if place < 1 << bits else _NONE


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
        dimension = reading.value(scatter, "index_vector_dim").get("value")
        updates = math.prod(size for at, size in enumerate(places) if at != dimension)
        if one and updates != 1:
            return [_ANY]
        chosen = reading.numbers(scatter, "scatter_dims_to_operand_dims")
        last = max((shape[at] - 1 for at in chosen if at < len(shape)), default=0)
        return [_held(reading, indices, last, signed=False)]

    return ranges


def _held_by_updates(reading: Reading, update: OpSignature) -> Sequence[Ends]:
    """Return what is right of a dynamic_update_slice."""
    operand, window, *starts = update.operand_types or (None, None)
    shape, sizes = reading.dimensions(operand) or (), reading.dimensions(window) or ()
    return [
        _held(reading, type_, whole - size, signed=False)
        for type_, whole, size in zip(starts, shape, sizes, strict=False)
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
        _NONE if type_ is None else _OF_IREE.get(reading.element(type_), _ANY)
        for type_ in types[_first_index(reading.names[op.name], len(types)) :]
    ]


def _given(reading: Reading) -> dict[int, Ends]:
    """Return the least and the greatest integer that ops give, as far as constants say."""
    found: dict[int, Ends] = {}
    for visit in reading.walk:
        results = visit.operation.results
        if len(results) != 1 or reading.element(results[0]) not in WHOLE:
            continue
        if visit.number in visit.constants:
            passed: Ends = reading.ends(visit.constants[visit.number])
        else:
            passed = _passed(
                reading, visit, [found.get(one[0], _ANY) if one else _ANY for one in visit.sources]
            )
        if passed != _ANY:
            found[visit.number] = passed
    return found


def _passed(reading: Reading, visit: Visit, taken: Sequence[Ends]) -> Ends:
    """Return the ends of what an op gives, by those of what it takes."""
    kind = reading.kinds[visit.operation.name]
    if kind == _IOTA:
        return 0, _counted(reading, visit)
    if kind in _PASSING and taken:
        passed = min(taken)[0], max(most for _, most in taken)
        fits = kind != _CONVERT or _fits(passed, reading.element(visit.operation.results[0]))
        return passed if fits else _ANY
    if kind in _EXTREMES and taken:
        least, most = map(_EXTREMES[kind], zip(*taken, strict=True))
        return least, most
    if kind == _CLAMP and len(taken) == len(("min", "operand", "max")):
        least, most = (min(max(one, low), high) for low, one, high in zip(*taken, strict=True))
        return least, most
    return _ANY


def _counted(reading: Reading, iota: Visit) -> float:
    """Return the greatest number that an iota gives."""
    shape = reading.dimensions(iota.operation.results[0])
    at = reading.value(iota.operation, "iota_dimension").get("value")
    if shape is None or not isinstance(at, int) or not 0 <= at < len(shape) or shape[at] < 0:
        return math.inf
    return shape[at] - 1


def _fits(ends: Ends, element: str) -> bool:
    """Say whether a type has integers, so that none becomes another."""
    bits = int(element.removesuffix("_v1").lstrip("ui"))
    most = (1 << bits - element.startswith("i")) - 1
    return -most * element.startswith("i") <= ends[0] and ends[1] <= most


INDICES: dict[str, FormRule] = {
    "gather by indices that may be out of bounds": FormRule(
        _may_leave(GATHERS, _greatest_gathered), (ops(*GATHERS),)
    ),
    "scatter by indices that may be out of bounds": FormRule(
        _may_leave(SCATTERS, _greatest_scattered), (ops(*SCATTERS),)
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
