"""Where the last bits of a float, which each Release rounds as it does, become an integer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.prediction.form import FormRule, kinds, ops, types
from portable.prediction.functions import HANDING_ON
from portable.prediction.simplified import FLOATS

if TYPE_CHECKING:
    from portable.prediction.forms import Reading

__all__ = ["ROUNDED"]

_BITCAST = "vhlo.bitcast_convert"
_MULTIPLY, _SUMS = "vhlo.multiply", kinds("add subtract")
# What gives no number that is rounded: it moves numbers, chooses one, or makes others of them.
_EXACT = kinds(
    "abs after_all all_gather all_to_all bitcast_convert broadcast broadcast_in_dim ceil clamp"
    " collective_broadcast collective_permute compare complex concatenate constant"
    " convert count_leading_zeros create_token dynamic_broadcast_in_dim dynamic_gather dynamic_iota"
    " dynamic_pad dynamic_reshape dynamic_slice dynamic_update_slice floor gather"
    " get_dimension_size get_tuple_element imag iota is_finite maximum minimum negate"
    " optimization_barrier pad partition_id real real_dynamic_slice reduce_precision replica_id"
    " reshape reverse rng rng_bit_generator round_nearest_afz round_nearest_even select"
    " set_dimension_size sign slice sort torch_index_select transpose tuple"
)
# What Releases round alike, if at all; a sum of products some of them round once. The quotient by a
# constant is a product with its reciprocal to some.
_ALIKE = _EXACT | HANDING_ON | kinds("multiply sqrt")
# By way of these nothing is left of how a float was rounded.
_ENDING = kinds("bitcast_convert compare count_leading_zeros is_finite")


def _takes_rounded_bits(reading: Reading) -> bool | None:
    """Find perhaps a bitcast_convert to integers of floats that Releases round otherwise."""
    walk, flow = reading.walk, reading.flow
    casts = [
        visit
        for visit in walk.of([_BITCAST])
        if any(reading.element(type_) not in FLOATS for type_ in visit.operation.results)
    ]
    if not casts:
        return False
    products = flow.reached(
        {(visit.number, 0) for visit in walk.of([_MULTIPLY])}, lambda _: True, _EXACT - _ENDING
    )
    rounded = {
        (visit.number, at)
        for visit in walk
        if reading.kinds[visit.operation.name] not in _ALIKE
        for at, type_ in enumerate(visit.operation.results)
        if reading.element(type_) in FLOATS
        if reading.kinds[visit.operation.name] not in _SUMS
        or not products.isdisjoint(flow.operands(visit))
    }
    reached = flow.reached(rounded, lambda _: True, {*reading.kinds} - _ENDING)
    for value in (value for visit in casts for value in flow.operands(visit)):
        type_ = flow.type(value)  # of what a body takes it is not known
        if (type_ is None or reading.element(type_) in FLOATS) and value in reached:
            return None
    return False


ROUNDED: dict[str, FormRule] = {
    "bits of floats that are rounded, as an integer": FormRule(
        _takes_rounded_bits, (ops(_BITCAST), types(FLOATS)), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
