"""Narrow floats that are returned beside themselves as the wider floats that compute them.

XLA:CPU computes bf16 as f32, and f8 as f16. Of a result that is returned as both it once gave one
another type than what returns it has, which its verifier refuses.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from portable.prediction.corners import as_written
from portable.prediction.form import ELEMENTWISE, FormRule, kinds, ops, types
from portable.prediction.functions import CALLS
from portable.prediction.identities import CHANGING, changes_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading

__all__ = ["RETURNED", "ends"]

_CONVERT, _RETURN = "vhlo.convert", "vhlo.return"
_F8 = frozenset(f"f8{of}_v1" for of in ("E4M3B11FNUZ", "E4M3FN", "E4M3FNUZ", "E5M2", "E5M2FNUZ"))
# What computes each narrow float, and what else has all its values.
_COMPUTED = {"bf16_v1": "f32_v1", **dict.fromkeys(_F8, "f16_v1")}
_EXACT = {
    "bf16_v1": frozenset({"bf16_v1", "f32_v1", "f64_v1"}),
    **{one: frozenset({one, "bf16_v1", "f16_v1", "f32_v1", "f64_v1"}) for one in _F8},
}
_BODIES = kinds("case if while")
# What hands on what functions and branches return.
_HANDING = kinds("case func if") | CALLS.keys()
# What gives a narrow float as one, and what computes it; by programs of one op on jaxlib 0.4.13 and
# 0.4.23.
_FINE = kinds(
    "batch_norm_grad batch_norm_training bitcast_convert case constant convert custom_call if"
    " optimization_barrier rng while"
)
_PADDED = 2  # the operands of a pad, of what may change nothing the one with most
# What may give what it takes otherwise.
_MOVING = kinds(
    "broadcast concatenate dynamic_broadcast_in_dim dynamic_reshape dynamic_slice reduce"
)
_IOTA, _SELECT = "vhlo.iota", "vhlo.select"
_COMPUTING = (
    ELEMENTWISE
    | CHANGING
    | _MOVING
    | kinds(
        "all_gather all_to_all batch_norm_inference cholesky collective_permute dynamic_gather"
        " dynamic_iota dynamic_update_slice einsum gather iota map scatter select_and_scatter sort"
        " torch_index_select triangular_solve unary_einsum"
    )
)


def _returns_both(reading: Reading) -> bool | None:
    """Find a narrow float that is returned beside itself as what computes it.

    Perhaps where its op was not tried alone, or another gives the same.
    """
    origins, perhaps = _Origins(reading), False
    for given in ends(reading):
        found: dict[Value, set[str]] = defaultdict(set)
        for start, element in map(origins.of, given):
            found[start].add(element)
        alike: dict[object, set[str]] = defaultdict(set)
        for start, elements in found.items():
            alike[_as_written(reading, start)] |= elements
        computed = {_is_computed(reading, one) for one, of in found.items() if _are_both(of)}
        if True in computed:
            return True
        perhaps |= None in computed or (not computed and any(map(_are_both, alike.values())))
    return None if perhaps else False


def _are_both(elements: set[str]) -> bool:
    return any(narrow in elements and wide in elements for narrow, wide in _COMPUTED.items())


def ends(reading: Reading) -> Iterator[Sequence[Value]]:
    """Yield what main returns, and what branches and loops do.

    Args:
        reading: An artifact's ops.
    """
    flow, main = reading.flow, reading.functions.main
    returned = [flow.before.get((main, at)) for at in range(len(reading.sides_of_main[1]))]
    yield [one[0] for one in returned if one]
    for visit in reading.walk.of([_RETURN]):
        around = reading.walk.around[visit.number]
        if around >= 0 and reading.kinds[reading.walk.head(around).name] in _BODIES:
            yield flow.operands(visit)


class _Origins:
    """What values are before conversions that lose nothing, wherever they are handed on.

    Args:
        reading: An artifact's ops.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._known: dict[Value, Value] = {}

    def of(self, value: Value) -> tuple[Value, str]:
        """Return where a value comes from, and its element type."""
        way: dict[Value, Value | None] = {}
        following: Value | None = value
        while following is not None and following not in self._known and following not in way:
            way[following] = before = self._before(following)
            following = before
        for one, before in reversed(way.items()):
            start = one if before is None else self._known.get(before, one)
            holds = _EXACT.get(self._element(start), frozenset())
            kept = not self._converts(one) or self._element(one) in holds
            self._known[one] = start if kept else one
        return self._known[value], self._element(value)

    def _before(self, value: Value) -> Value | None:
        """Return what a value is handed on from, or converted from; None for nothing alone."""
        flow = self._reading.flow
        if self._converts(value) or self._is_kept(value):
            return flow.operands(self._reading.walk[value[0]])[0]
        handed = flow.before.get(value, ()) if value[1] < 0 or self._kind(value) in _HANDING else ()
        return handed[0] if len(handed) == 1 else None

    def _converts(self, value: Value) -> bool:
        single = value[1] == 0 and len(self._reading.walk[value[0]].operands) == 1
        return single and self._kind(value) == _CONVERT

    def _is_kept(self, value: Value) -> bool:
        """Say whether a value is what an op takes that changes nothing."""
        kind, visit = self._kind(value), self._reading.walk[value[0]]
        if value[1] != 0 or kind not in CHANGING or not 1 <= len(visit.operands) <= _PADDED:
            return False
        taken = self._reading.flow.type(self._reading.flow.operands(visit)[0])
        return changes_nothing(self._reading, kind, visit.operation, taken)

    def _kind(self, value: Value) -> str:
        return self._reading.kinds[self._reading.walk.head(value[0]).name]

    def _element(self, value: Value) -> str:
        type_ = self._reading.flow.type(value)
        return "" if type_ is None else self._reading.element(type_)


def _is_computed(reading: Reading, value: Value) -> bool | None:
    """Say whether a narrow float is computed as a wider one.

    None where that was not tried, or what is computed may be one of the operands.
    """
    number, at = value
    if at < 0:
        return False
    visit = reading.walk[number]
    kind = reading.kinds[visit.operation.name]
    if kind in _FINE or len(visit.operation.results) > 1:
        return False
    if kind == _IOTA:
        return True
    folded = (source is not None and source[0] in reading.folded for source in visit.sources)
    if kind not in _COMPUTING or number in reading.folded:
        return None
    if kind in _MOVING:
        taken = reading.flow.type(reading.flow.operands(visit)[0]) if visit.operands else None
        same = visit.operation.results[0] == taken
    else:
        operands = visit.operands[1:] if kind == _SELECT else ()
        same = kind in ELEMENTWISE and (any(folded) or len({*operands}) < len(operands))
    return None if same else True


def _as_written(reading: Reading, value: Value) -> object:
    """Return what is the same for results of operations that are, without what has bodies."""
    number, at = value
    if at < 0 or reading.walk.head(number).regions:
        return value
    return as_written(reading.walk[number]), at


RETURNED: dict[str, FormRule] = {
    "narrow float returned beside itself as what computes it": FormRule(
        _returns_both, (types(_COMPUTED), ops(_CONVERT))
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
