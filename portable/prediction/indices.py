"""Gathers and scatters by indices that may be out of bounds: not every compiler looks at them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from portable.bytecode.operations import like
from portable.prediction.computing import WHOLE
from portable.prediction.corners import is_wide
from portable.prediction.form import GATHERS, SCATTERS, FormRule, kinds, ops

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
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
