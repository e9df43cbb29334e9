"""Forms of ops that are valid and whose sizes, or numbers of dimensions, few programs have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.features.devices import replicas_and_partitions
from portable.prediction.form import FormRule, ops, types
from portable.prediction.products import dimension_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading

__all__ = ["CORNERS"]

_BITS, _SORT, _MODULE = "vhlo.rng_bit_generator_v1", "vhlo.sort_v1", "builtin.module"
_COMPARE = "vhlo.compare_v1"
# As VHLO numbers what compare asks: equal, and not equal.
_EQUALITY = (0, 1)
_SCATTERS = ("vhlo.scatter_v1", "vhlo.scatter_v2")
# Collective ops that every device of a group has its own part in.
_DIVIDING = (
    *("vhlo.all_gather_v1", "vhlo.all_gather_v2"),
    *("vhlo.all_to_all_v1", "vhlo.all_to_all_v2"),
    "vhlo.reduce_scatter_v1",
)
# The words of 64 bits that the state of an algorithm has, by its number in VHLO.
_STATES = {0: (2, 3), 1: (2,), 2: (2, 3)}


def _used(reading: Reading, *names: str) -> Iterator[OpSignature]:
    """Yield the op signatures of some ops, without those that a compiler removes before."""
    return (one for one in reading.of(*names) if like(one) in reading.used)


def _other_state(reading: Reading) -> bool:
    """Find a rng_bit_generator whose state has another number of words than its algorithm's."""
    for signature in _used(reading, _BITS):
        algorithm = reading.value(signature, "rng_algorithm").get("value")
        state = (signature.operand_types or (None,))[0]
        sizes = reading.dimensions(state)
        if state is None or sizes is None or reading.element(state) != "ui64_v1":
            continue
        if isinstance(algorithm, int) and math.prod(sizes) not in _STATES.get(algorithm, ()):
            return True
    return False


def _into_a_scalar(*, several: bool) -> Callable[[Reading], bool]:
    """Find a scatter into a scalar, of several updates or of any number."""

    def found(reading: Reading) -> bool:
        for signature in _used(reading, *_SCATTERS):
            types = signature.operand_types or ()
            updates = types[len(types) // 2 + 1 :]
            if reading.dimensions(types[0] if types else None) != []:
                continue
            if not several or any(reading.dimensions(one) not in ([], [1]) for one in updates):
                return True
        return False

    return found


def _without_components(reading: Reading) -> bool:
    """Find a scatter whose indices have no components, so that all updates go to one place."""
    return any(
        not dimension_numbers(reading, signature, "scatter_dims_to_operand_dims")
        for signature in _used(reading, *_SCATTERS)
    )


def _from_the_end(first: int) -> Callable[[Reading], bool]:
    """Find a sort of a dimension that is counted from the end, at least so far from it."""

    def found(reading: Reading) -> bool:
        for signature in _used(reading, _SORT):
            value = reading.value(signature, "dimension").get("value")
            if isinstance(value, int) and value <= -first:
                return True
        return False

    return found


def _orders_complex_numbers(reading: Reading) -> bool:
    """Find a compare of complex numbers for more than whether they are equal."""
    return any(
        reading.value(one, "comparison_direction").get("value") not in _EQUALITY
        for one in _used(reading, _COMPARE)
        for type_ in (one.operand_types or ())[:1]
        if type_ is not None and reading.element(type_) == "complex_v1"
    )


def _more_devices(reading: Reading) -> bool:
    """Find a collective op of groups that are greater than the number of devices."""
    collectives = [*_used(reading, *_DIVIDING)]
    if not collectives:
        return False
    content = reading.content
    modules = (content.attributes_of(module) for module in reading.of(_MODULE))
    counts = (math.prod(replicas_and_partitions(content, one)) for one in modules)
    devices = max(counts, default=1)
    for one in collectives:
        type_ = reading.value(one, "replica_groups").get("type")
        sizes = reading.dimensions(type_ if isinstance(type_, int) else None)
        if sizes is not None and len(sizes) > 1 and sizes[1] > devices:
            return True
    return False


CORNERS: dict[str, FormRule] = {
    "rng_bit_generator with a state that its algorithm does not have": FormRule(
        _other_state, (ops(_BITS),)
    ),
    "compare of complex numbers by their order": FormRule(
        _orders_complex_numbers, (types(["complex_v1"]), ops(_COMPARE))
    ),
    "scatter into a scalar": FormRule(_into_a_scalar(several=False), (ops(*_SCATTERS),)),
    "scatter of several updates into a scalar": FormRule(
        _into_a_scalar(several=True), (ops(*_SCATTERS),)
    ),
    "scatter of indices without components": FormRule(_without_components, (ops(*_SCATTERS),)),
    "sort of a dimension that is counted from the end": FormRule(_from_the_end(1), (ops(_SORT),)),
    "sort of a dimension before the last one that is counted from the end": FormRule(
        _from_the_end(2), (ops(_SORT),)
    ),
    "all_gather, all_to_all or reduce_scatter over more devices than there are": FormRule(
        _more_devices, (ops(*_DIVIDING),)
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
