"""Sums of many narrow floats, which a compiler may add up in their own type.

IREE does. Of 64 numbers its result is a few roundings off; of 4,096 products of f16 it is a twelfth
less than the sum, and of 4,096 rows of bf16 the sum has stopped to grow after a few hundred.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.form import CONVOLUTIONS, SIXTEEN_BITS, FormRule, kinds, ops, types, weaken
from portable.prediction.products import CONTRACTING, DOTS
from portable.prediction.tensors import DYNAMIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading

__all__ = ["SUMMED"]

_DOT, _WINDOW = "vhlo.dot_v1", "vhlo.reduce_window_v1"
_REDUCING = ("vhlo.reduce_v1", _WINDOW)
# The attribute that says over which dimensions of the first operand.
_OVER = dict.fromkeys(DOTS, "lhs_contracting_dimensions") | {"vhlo.reduce_v1": "dimensions"}
_PRODUCTS = (*CONVOLUTIONS, *CONTRACTING)
# What rounds nothing.
_CHOOSING = kinds("and compare constant maximum minimum not or return select xor")
# Up to so many, results are less than eight roundings off.
_FEW = 64


def _sums_many(reading: Reading) -> bool:
    """Find what computes each narrow float from more of them than are few."""
    return any(
        (count := _summed(reading, one)) is None or count > _FEW
        for one in (*_narrow(reading, *_PRODUCTS), *_reductions(reading))
    )


def _narrow(reading: Reading, *names: str) -> Iterator[OpSignature]:
    for one in reading.of(*names):
        if any(reading.part(type_) in SIXTEEN_BITS for type_ in one.results):
            yield one


def _reductions(reading: Reading) -> Iterator[OpSignature]:
    """Yield the reductions of narrow floats that do more than choose one."""
    found, walk = [*_narrow(reading, *_REDUCING)], reading.walk
    summing = {
        like(walk.head(around))
        for visit in (walk if found else ())
        if reading.kinds[visit.operation.name] not in _CHOOSING
        if (around := walk.around[visit.number]) >= 0
    }
    yield from (one for one in found if like(one) in summing)


def _summed(reading: Reading, one: OpSignature) -> int | None:
    """Return from how many numbers each of a result is computed; None where it is not known."""
    name, sides = reading.names[one.name], one.operand_types or ()
    if name == _WINDOW:
        return math.prod(reading.numbers(one, "window_dimensions"))
    side = int(name in CONVOLUTIONS)
    taken = reading.dimensions(sides[side]) if len(sides) > side else None
    if taken is None:
        return None
    if name in CONVOLUTIONS:
        left = reading.value(one, "kernel_output_feature_dimension").get("value")
        over = [at for at in range(len(taken)) if at != left]
    elif name in _OVER:
        over = [at for at in reading.numbers(one, _OVER[name]) if at < len(taken)]
    else:  # an einsum contracts no more than all
        over = [*range(len(taken))][-1 if name == _DOT else 0 :]
    sizes = [taken[at] for at in over]
    return None if DYNAMIC in sizes else math.prod(sizes)


SUMMED: dict[str, FormRule] = {
    "product or sum of more than 64 numbers of bf16 or f16": weaken(
        FormRule(_sums_many, (types(SIXTEEN_BITS), ops(*_PRODUCTS, *_REDUCING)))
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
