"""Forms of what depends on how tensors lie in memory, in which order of their dimensions.

XLA:CPU computed a reduction in vectors where the last dimension there is kept, and that of booleans
by code for bytes, which LLVM refuses. What is returned beside other results lies as its type says:
where it did not, numbers of less than a byte were copied as if each had one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.bodies import INLINED, applied_bodies
from portable.prediction.form import ELEMENTWISE, FormRule, kinds, ops, types
from portable.prediction.functions import CALLS
from portable.prediction.identities import ORDERS
from portable.prediction.returned import ends
from portable.prediction.windows import made_products

if TYPE_CHECKING:
    from portable.bytecode.operations import OpSignature
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["LAYOUTS"]

_BOOLEAN = "bool_v1"
_REDUCE, _CONVOLUTION = "vhlo.reduce_v1", "vhlo.convolution_v1"
_MULTIPLY = "vhlo.multiply"
_BROADCAST, _TRANSPOSE = "vhlo.broadcast_in_dim", "vhlo.transpose"
_BELOW_A_BYTE = frozenset({"i2_v1", "ui2_v1", "i4_v1", "ui4_v1", "f4E2M1FN_v1"})
# What computes one element from those in its place, and so has them lie as these do.
_ALONG = ELEMENTWISE | kinds("bitcast_convert optimization_barrier reshape")
# Around these tensors stay in memory as their types have them.
_IN_ORDER = (
    ELEMENTWISE
    | CALLS.keys()
    | {"builtin.module"}
    | kinds(
        "broadcast broadcast_in_dim case concatenate constant convolution dynamic_slice"
        " dynamic_iota dynamic_update_slice func if iota map optimization_barrier pad reduce"
        " reduce_window reshape return reverse select_and_scatter slice while"
    )
)
# How many ops one after the other are looked through.
_MOST_MAKERS = 8
# What XLA computes a reduction of in parts, or together with another.
_JOINED = kinds("concatenate reduce")


def _multiplies(reading: Reading) -> bool | None:
    """Find a reduce of booleans by multiply that keeps the last dimension.

    Perhaps it does where a tensor may lie otherwise in memory, or it is computed with others.
    """
    found = {
        like(one): kept
        for one in reading.of(_REDUCE)
        if [*map(reading.element, one.results)] == [_BOOLEAN] and like(one) in reading.used
        if (kept := _keeps_last(reading, one)) is not None
    }
    if not found:
        return False
    ordered, surely = _is_in_order(reading), False
    for one in applied_bodies(reading, _REDUCE):
        root = one.roots[0] if one.roots else ""
        if root not in INLINED | {_MULTIPLY} or like(one.op) not in found:
            continue
        start = one.starts[0] if one.starts else None
        joined = start is not None and reading.kinds[start.name] in _JOINED
        if not ordered or root in INLINED or joined or any(one.folded[:1]):
            return None
        surely |= found[like(one.op)]
    return surely


def _keeps_last(reading: Reading, one: OpSignature) -> bool | None:
    """Say whether a reduce keeps the last dimension; None where it reduces nothing or all."""
    shape = reading.dimensions((one.operand_types or (None,))[0])
    over = {*reading.numbers(one, "dimensions")}
    if shape is None:
        return True
    # A dimension of one element that is reduced is left out first.
    left = [at for at, size in enumerate(shape) if at not in over or size != 1]
    if over.isdisjoint(left) or over.issuperset(left) or 0 in shape:
        return None
    return left[-1] not in over


def _is_in_order(reading: Reading) -> bool:
    """Say whether every tensor lies in memory as its type has it."""
    names = {kind or name for kind, name in zip(reading.kinds, reading.names, strict=True)}
    return names <= _IN_ORDER and not any(
        _turns(reading, visit) for visit in reading.walk.of([_BROADCAST])
    )


def _turns(reading: Reading, visit: Visit) -> bool:
    """Say whether an op puts dimensions of several elements into another order."""
    if len(visit.operands) != 1:
        return False
    kind = reading.kinds[visit.operation.name]
    (operand,) = reading.flow.operands(visit)
    shape = reading.dimensions(reading.flow.type(operand)) or ()
    order = [*reading.numbers(visit.operation, ORDERS[kind])]
    if kind == _TRANSPOSE:
        long = [at for at in order if at >= len(shape) or shape[at] != 1]
    else:
        long = [to for to, size in zip(order, shape, strict=False) if size != 1]
    return long != sorted(long)


def _makes_products(reading: Reading) -> bool | None:
    """Find a convolution of booleans that XLA makes a product, whose features stand last."""
    perhaps = False
    for one, windows in made_products(reading):
        if reading.element(one.results[0]) == _BOOLEAN and any(w.size > 1 for w in windows):
            shape = reading.dimensions((one.operand_types or (None,))[0]) or ()
            places = reading.numbers(one, "input_spatial_dimensions")
            if len(shape) - 1 not in places and _is_in_order(reading):
                return True
            perhaps = True
    return None if perhaps else False


def _returns_what_turns(reading: Reading) -> bool | None:
    """Find numbers below a byte that lie in another order as they are returned beside others.

    Perhaps where another op than a transpose may have them lie so, or not all that is computed from
    does.
    """
    flow, perhaps = reading.flow, False
    alone = flow.before.get((reading.functions.main, 0), ())
    along = {*reading.kinds} - _ALONG
    for given in ends(reading):
        few = {value for value in given if _is_below_a_byte(reading, value)}
        if not few or ([*given] == [*alone] and len(reading.sides_of_main[1]) == 1):
            continue
        if any(_is_turned(reading, value) for value in few):
            return True
        makers = {number for number, at in flow.behind(few, along) if at >= 0}
        for visit in map(reading.walk.__getitem__, makers):
            kind = reading.kinds[visit.operation.name]
            perhaps |= _turns(reading, visit) if kind in ORDERS else kind not in _IN_ORDER
    return None if perhaps else False


def _is_turned(reading: Reading, value: Value) -> bool:
    """Say whether a value is a transpose, or what an op of one operand makes of it."""
    for _ in range(_MOST_MAKERS):
        visit = reading.walk[value[0]]
        kind = reading.kinds[visit.operation.name]
        if value[1] < 0 or kind == _TRANSPOSE:
            return value[1] >= 0 and _turns(reading, visit)
        if kind not in ELEMENTWISE or len(visit.operands) != 1:
            return False
        (value,) = reading.flow.operands(visit)
    return False


def _is_below_a_byte(reading: Reading, value: Value) -> bool:
    """Say whether a value is of several dimensions, and of numbers below a byte."""
    type_ = reading.flow.type(value)
    if type_ is None or reading.element(type_) not in _BELOW_A_BYTE:
        return False
    long = [size for size in reading.dimensions(type_) or () if size != 1]
    return len(long) > 1 and 0 not in long


LAYOUTS: dict[str, FormRule] = {
    "reduce of booleans by multiply that keeps the last dimension": FormRule(
        _multiplies, (ops(_REDUCE), ops("vhlo.multiply_v1"), types([_BOOLEAN]))
    ),
    "convolution of booleans that is one product": FormRule(
        _makes_products, (ops(_CONVOLUTION), types([_BOOLEAN]))
    ),
    "numbers below a byte in another order returned beside others": FormRule(
        _returns_what_turns, (types(_BELOW_A_BYTE),)
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
