"""What StableHLO's verifier refuses of the types of operands and results, and of dimensions.

No serializer writes it, since programs are verified before; damaged artifacts have it. A rule
speaks only where it knows: not of elements that are quantized, of types and attributes that are
too long to be looked into, or of values that are used before they are defined.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, TypeAlias

from portable.bytecode.entries import Blob
from portable.bytecode.layouts import VHLO
from portable.bytecode.vhlo import END, FUNCTION, has_op
from portable.prediction.dimensions import INDEXED, RULES, WITHOUT_OPERANDS
from portable.prediction.tensors import I64, INDEX, RankedTensor, TensorTypes, TypedOp, _Unclear

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading

__all__ = ["is_right", "mistyped"]

_FUNCTION, _RETURN, _CALL = f"{VHLO}.{FUNCTION}", f"{VHLO}.{END}", f"{VHLO}.call_v1"
_WHILE = f"{VHLO}.while_v1"
# Ops with groups of devices, each of which is in one; a negative number fills up a group.
_GROUPED = frozenset(
    f"{VHLO}.{op}"
    for op in ("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "reduce_scatter")
)
# How `result_accuracy_mode_v1` numbers the modes DEFAULT and HIGHEST.
_WITHOUT_TOLERANCE = (0, 1)
# In place of the type of a function of which there is not one.
_UNKNOWN = ""

_Sides: TypeAlias = "tuple[Sequence[int | None], Sequence[int | None]]"


def mistyped(reading: Reading) -> str:
    """Return the first thing that StableHLO's verifier refuses of types, in words.

    Args:
        reading: The ops, with the types of their operands; what else the verifier demands is so.

    Returns:
        Nothing if there is none.

    Raises:
        MalformedArtifact: Something does not make sense.
    """
    types = TensorTypes(reading)
    ruled = {
        at: kind.removeprefix(f"{VHLO}.")
        for at, kind in enumerate(reading.kinds)
        if kind.startswith(f"{VHLO}.") and has_op(reading.content.names[at].name)
    }
    for signature in reading.signatures:
        kind = ruled.get(signature.name, "")
        if kind in RULES and not is_right(types, kind, signature):
            return f"{kind} of types or dimensions that do not fit"
    check = _WholeCheck(types)
    return check.of_loops() or check.of_functions() or check.of_attributes()


def is_right(types: TensorTypes, kind: str, signature: OpSignature) -> bool:
    """Say whether an op is as its rule demands, as far as it is looked into.

    Args:
        types: The types of the artifact.
        kind: The op, without dialect and version.
        signature: The op.
    """
    count = signature.operands
    found = [
        types.tensor(type_) for type_ in (*(signature.operand_types or ()), *signature.results)
    ]
    known = [one for one in found if not isinstance(one, bool)]
    # Of what readers make of an op that may have any number of operands, and has none, nothing is
    # known here.
    if not signature.results or (not count and kind not in WITHOUT_OPERANDS):
        return True
    if len(known) < len(found):
        return False not in found
    if kind not in INDEXED and any(one.element == INDEX for one in known):
        return False
    try:
        return RULES[kind](TypedOp(types, signature, known[:count], known[count:]))
    except _Unclear:
        return True


class _WholeCheck:
    """What concerns several ops, or attributes."""

    def __init__(self, types: TensorTypes) -> None:
        self.types = types
        self.reading = types.reading

    def of_loops(self) -> str:
        """Return what is wrong with loops, which may have tokens: they give what they take."""
        for loop in self.reading.of(_WHILE):
            pairs = [*zip(loop.operand_types or (), loop.results, strict=False)]
            if loop.operands != len(loop.results) or not all(self._fits(*pair) for pair in pairs):
                return "a loop that gives other types than it takes"
        return ""

    def _fits(self, taken: int | None, given: int) -> bool:
        one, other = self.types.tensor(taken), self.types.tensor(given)
        if isinstance(one, RankedTensor) and isinstance(other, RankedTensor):
            return one.like(other) and one.of(other)
        return taken is None or self.types.identity(taken) == self.types.identity(given)

    def of_attributes(self) -> str:
        """Return what is wrong with groups of devices and with how exact results are to be."""
        reading, pool = self.reading, self.reading.content.pool
        for index in {
            reading.attribute(one, "replica_groups")
            for name in reading.ops
            if name.rpartition("_v")[0] in _GROUPED
            for one in reading.of(name)
        }:
            if index is not None and self._repeats(index):
                return "a device that is in two groups"
        for index in reading.attribute_names.get("result_accuracy_v1", ()):
            fields = pool.attribute(index).fields
            mode = fields["mode"]
            value = pool.attribute(mode).fields.get("value") if isinstance(mode, int) else None
            if value in _WITHOUT_TOLERANCE and any(fields[one] for one in ("atol", "rtol", "ulps")):
                return "a result accuracy with tolerances that its mode does not have"
        return ""

    def _repeats(self, index: int) -> bool:
        fields = self.reading.content.pool.attribute(index).fields
        type_, data = fields.get("type"), fields.get("data")
        held = self.types.tensor(type_ if isinstance(type_, int) else None)
        if isinstance(held, bool) or held.element != I64 or not isinstance(data, Blob):
            return False
        raw = bytes(self.reading.data[data.offset : data.offset + data.size // 8 * 8])
        found = [one for (one,) in struct.iter_unpack("<q", raw) if one >= 0]
        count = self.reading.content.pool.count(type_) or 0
        # One number can stand for all of them.
        return len({*found}) < len(found) or (len(raw) // 8 < count and bool(found))

    def of_functions(self) -> str:
        """Return what is wrong with calls and with what functions return."""
        reading = self.reading
        sides: dict[object, _Sides] = {}
        types: dict[object, object] = {}
        # Any number of functions can be of one type.
        for one in reading.of(_FUNCTION):
            type_ = reading.value(one, "function_type").get("value")
            if type_ not in sides:
                inputs, outputs = reading.sides(type_)
                sides[type_] = tuple(inputs), tuple(outputs)
            name = reading.value(one, "sym_name").get("value")
            # In a module in a module there may be another of that name.
            types[name] = type_ if types.get(name, type_) == type_ else _UNKNOWN
        called: dict[int | None, _Sides | None] = {}
        for call in reading.of(_CALL):
            # Any number of calls can be of one function.
            callee = reading.attribute(call, "callee")
            if callee not in called:
                called[callee] = sides.get(
                    types.get(reading.value(call, "callee").get("value"), _UNKNOWN)
                )
            expected = called[callee]
            given = call.operand_types or (), call.results
            if expected is not None and expected != given and not self._fit(given, expected):
                return "a call of other types than those of the function"
        return "" if self._returned() else "a function that returns other types than it says"

    def _fit(self, given: _Sides, expected: _Sides) -> bool:
        return self._equal(given[0], expected[0]) and self._equal(given[1], expected[1])

    def _returned(self) -> bool:
        """Whether what functions return is what some function returns."""
        reading = self.reading
        bodies = reading.content.scan().bodies
        returned = (
            one.operand_types or ()
            for at, name in enumerate(reading.names)
            if name == _FUNCTION
            for one in bodies.get(at, ())
            if reading.names[one.name] == _RETURN
        )
        outputs = {
            tuple(map(self.types.identity, reading.sides(type_)[1]))
            for type_ in reading.function_types
        }
        return all(
            None in one or tuple(map(self.types.identity, one)) in outputs for one in returned
        )

    def _equal(self, some: Sequence[int | None], others: Sequence[int | None]) -> bool:
        """Whether types are the same, as far as they are known."""
        return len(some) == len(others) and all(
            one is None or one == other or self.types.identity(one) == self.types.identity(other)
            for one, other in zip(some, others, strict=True)
        )
