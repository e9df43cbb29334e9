"""Which values no compiler can fold: they are another number for each that an argument may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from portable.prediction.computing import WHOLE
from portable.prediction.estimates import EACH, Estimates
from portable.prediction.form import kinds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.prediction.flow import Value
    from portable.prediction.walk import Visit

    Arguments: TypeAlias = frozenset[Value]

__all__ = ["Varying"]

# What gives what its first operand is, elsewhere.
_FIRST = kinds(
    "abs bitcast_convert broadcast broadcast_in_dim convert count_leading_zeros custom_call"
    " dynamic_gather dynamic_slice gather negate not popcnt real_dynamic_slice reshape reverse"
    " set_dimension_size sign slice torch_index_select transpose"
)
_SIGNED_SHIFT = "vhlo.shift_right_arithmetic"
# What varies where all operands do, and beside constants too.
_TOGETHER = kinds(
    "clamp compare concatenate divide maximum minimum pad power remainder shift_left"
    " shift_right_arithmetic shift_right_logical"
)
_BESIDE = kinds("add subtract xor")
# What is the same number however far it is moved, at least; 0 is so everywhere.
_MOVED = {**dict.fromkeys(kinds("shift_left shift_right_logical"), 0), _SIGNED_SHIFT: -1}
# Beside constants that are not this number throughout; of a product none may be zero.
_MULTIPLY = "vhlo.multiply"
_SUMMED = kinds("convolution dot dot_general dynamic_conv einsum")
_ABSORBING = {**dict.fromkeys(_SUMMED, 0), "vhlo.and": 0, "vhlo.or": -1}
_SELECT, _UPDATE = "vhlo.select", "vhlo.dynamic_update_slice"
_CUSTOM_CALL, _SHARDING = "vhlo.custom_call", "Sharding"
_COMPUTED = EACH | _FIRST | _TOGETHER | _BESIDE | _ABSORBING.keys() | {_MULTIPLY, _SELECT, _UPDATE}
_SIGNED = frozenset(one for one in WHOLE if one.startswith("i"))
_TWO = 2
_MOST_ARGUMENTS = 4
_NONE: Arguments = frozenset()


class Varying(Estimates["Arguments"]):
    """The arguments of the program with which values vary; none where they may not.

    Two that vary with different arguments vary together, whatever is computed of both: x - y does
    where x - x does not.

    Args:
        reading: An artifact's ops.
    """

    @property
    def computed(self) -> frozenset[str]:
        """The ops of whose results something may be known."""
        return _COMPUTED

    def at(self, value: Value) -> Arguments:
        """Return the arguments with which a value varies."""
        known = self._known.get(value, _NONE)
        return frozenset({value}) if self._reading.flow.is_argument(value) else known

    def _joined(self, ones: Sequence[Arguments]) -> Arguments | None:
        together = _NONE.union(*ones)
        return together if ones and all(ones) and len(together) <= _MOST_ARGUMENTS else None

    def _given(self, visit: Visit) -> Sequence[Arguments | None]:
        kind, taken = self._reading.kinds[visit.operation.name], self.of(visit)
        if kind in EACH:
            return [one or None for one in taken[: len(visit.operation.results)]]
        if kind == _CUSTOM_CALL and not self._is_shared_out(visit):
            return [None]
        if kind in _FIRST:
            return [one or None for one in taken[:1]]
        if kind == _SELECT:
            return [self._joined(taken[1:])]
        if kind == _UPDATE:
            return [self._joined(taken[:_TWO])]
        if kind in _SUMMED:
            taken = taken[:_TWO]
        operands = self._reading.flow.operands(visit)
        varying = [
            one
            for one, value in zip(taken, operands, strict=False)
            if one or not self._is_left(kind, visit, value)
        ]
        together = self._joined(varying)
        apart = together is not None and len(together) == sum(map(len, varying))
        return [together if apart else None]

    def _is_shared_out(self, visit: Visit) -> bool:
        """Say whether a custom call says how its operand is shared out, and gives that."""
        return self._reading.value(visit.operation, "call_target_name").get("value") == _SHARDING

    def _is_left(self, kind: str, visit: Visit, value: Value) -> bool:
        """Say whether an operand is the same each time, and another beside it makes the result."""
        constant = visit.constants.get(value[0])
        if kind in _BESIDE:
            if constant is not None or value[0] in self._reading.folded:
                return True
            least, most = self._reading.ranges.at(value)
            return least == most
        if constant is None:
            return False
        if self._reading.element(constant.results[0]) not in _SIGNED:
            return False
        least, most = self._reading.ends(constant)
        if kind == _MULTIPLY:
            return not least <= 0 <= most
        if kind in _MOVED:
            moved = self._reading.flow.operands(visit)[0] == value
            return moved and not _MOVED[kind] <= least <= most <= 0
        return kind in _ABSORBING and not least == most == _ABSORBING[kind]
