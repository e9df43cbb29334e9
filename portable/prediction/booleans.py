"""Forms by which XLA:CPU multiplies or adds booleans in vectors, which LLVM refuses.

It computes a reduction in vectors where the last dimension in memory is kept, and that of booleans
by code for bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.bodies import INLINED, applied_bodies
from portable.prediction.corners import made_products
from portable.prediction.form import ELEMENTWISE, FormRule, kinds, ops, types
from portable.prediction.functions import CALLS

if TYPE_CHECKING:
    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading

__all__ = ["BOOLEANS"]

_BOOLEAN = "bool_v1"
_REDUCE, _CONVOLUTION = "vhlo.reduce_v1", "vhlo.convolution_v1"
_MULTIPLY = "vhlo.multiply"
# Around these tensors stay in memory as their types have them.
_IN_ORDER = (
    ELEMENTWISE
    | CALLS.keys()
    | {"builtin.module"}
    | kinds(
        "broadcast broadcast_in_dim case concatenate constant convolution dynamic_slice"
        " dynamic_update_slice func if iota optimization_barrier pad reduce reduce_window reshape"
        " return reverse slice while"
    )
)
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
    ordered, surely = _is_in_order(reading), False
    for one in applied_bodies(reading, _REDUCE) if found else ():
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
    spread = (
        [*reading.numbers(one, "broadcast_dimensions")]
        for one in reading.of("vhlo.broadcast_in_dim_v1")
    )
    names = {kind or name for kind, name in zip(reading.kinds, reading.names, strict=True)}
    return names <= _IN_ORDER and all(places == sorted(places) for places in spread)


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


BOOLEANS: dict[str, FormRule] = {
    "reduce of booleans by multiply that keeps the last dimension": FormRule(
        _multiplies, (ops(_REDUCE), ops("vhlo.multiply_v1"), types([_BOOLEAN]))
    ),
    "convolution of booleans that is one product": FormRule(
        _makes_products, (ops(_CONVOLUTION), types([_BOOLEAN]))
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
