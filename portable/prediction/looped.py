"""Ops that XLA:CPU compiles, but not in a loop: what stands in one other code of it computes.

What a loop does not change is moved out of it, which is not looked into: it is perhaps so.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.prediction.form import FormRule, ops, types

if TYPE_CHECKING:
    from collections.abc import Mapping

    from portable.prediction.forms import Reading

__all__ = ["LOOPED"]

_REDUCE, _WHILE = "vhlo.reduce", "vhlo.while"
_BOOLEAN, _COMPLEX = "bool_v1", "complex_v1"
_TWO_BITS = ("i2_v1", "ui2_v1")


def _stands_in_a_loop(
    elements: Mapping[str, tuple[str, ...]], in_a: str | None, reading: Reading
) -> bool | None:
    """Find perhaps an op in a loop that gives elements of some types.

    Args:
        elements: The types, by the names of the ops.
        in_a: In the body of which op it has to stand too, if in any.
        reading: An artifact's ops.
    """
    walk, inside = reading.walk, reading.walk.within(_WHILE)
    if in_a:
        inside &= walk.within(in_a)
    for visit in walk.of(elements):
        kept = like(visit.operation) in reading.used and visit.number not in reading.folded
        of = elements[reading.kinds[visit.operation.name]]
        if kept and visit.number in inside and reading.gives(visit.operation, of):
            return None
    return False


def _looped(elements: Mapping[str, tuple[str, ...]], in_a: str | None = None) -> FormRule:
    """Return how to find ops in a loop, see `_stands_in_a_loop`."""
    which = {one for each in elements.values() for one in each}
    needs = [ops(_WHILE), ops(*elements), types(which), *([ops(in_a)] if in_a else [])]
    return FormRule(partial(_stands_in_a_loop, elements, in_a), tuple(needs), across=True)


LOOPED: dict[str, FormRule] = {
    "clamp of booleans, or order of complex numbers, in a loop": _looped(
        {
            "vhlo.clamp": (_BOOLEAN, _COMPLEX),
            "vhlo.maximum": (_COMPLEX,),
            "vhlo.minimum": (_COMPLEX,),
        }
    ),
    "fft in a loop": _looped({"vhlo.fft": (_COMPLEX, "f32_v1", "f64_v1")}),
    "reduce of i2 or ui2 in a loop": _looped({_REDUCE: _TWO_BITS}),
    "reduce of booleans by multiply or add in a loop": _looped(
        {"vhlo.add": (_BOOLEAN,), "vhlo.multiply": (_BOOLEAN,)}, in_a=_REDUCE
    ),
    "convolution of booleans in a loop": _looped(
        {"vhlo.convolution": (_BOOLEAN,), "vhlo.dynamic_conv": (_BOOLEAN,)}
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
