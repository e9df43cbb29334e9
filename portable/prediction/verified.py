"""What StableHLO's verifier took until 2024, and refuses since.

Ranks that are not known, which StableHLO had then; and sizes, bits and types of bodies that do not
fit, which it did not look at.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from portable.bytecode.entries import TYPES
from portable.bytecode.layouts import VHLO, widths
from portable.prediction.applied import APPLYING
from portable.prediction.form import (
    DYNAMIC_CONVOLUTIONS,
    DYNAMIC_GATHERS,
    GATHERS,
    NEGATIVE,
    FormRule,
    kinds,
    ops,
    signed,
    types,
)
from portable.prediction.mistyped import is_right
from portable.prediction.plain import TWINS, elements
from portable.prediction.signatures import FLOATS
from portable.prediction.tensors import DYNAMIC, RankedTensor, TensorTypes, fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["VERIFIED"]

_UNRANKED = "unranked_tensor_v1"
# What takes and gives values of any type.
_ANY_TYPE = kinds("call custom_call func return")
_BITCAST, _IOTA = "vhlo.bitcast_convert_v1", "vhlo.dynamic_iota_v1"
_BROADCAST, _RESHAPE = "vhlo.dynamic_broadcast_in_dim_v1", "vhlo.dynamic_reshape_v1"
# Their last operand has the sizes of the result.
_SIZED = (_BROADCAST, _IOTA, _RESHAPE, "vhlo.rng_v1")
_RETURN = "vhlo.return"
_REDUCING = APPLYING - kinds("map sort")
_CUT = (*DYNAMIC_GATHERS, *DYNAMIC_CONVOLUTIONS)
_GIVEN = (*_CUT, "vhlo.dynamic_pad_v1")


def _unranked(reading: Reading) -> bool:
    concerned = {
        at
        for at, kind in enumerate(reading.kinds)
        if kind.startswith("vhlo.") and kind not in _ANY_TYPE
    }
    typed = {
        type_
        for signature in reading.signatures
        if signature.name in concerned
        for type_ in (*(signature.operand_types or ()), *signature.results)
    }
    return any(_is_unranked(reading, type_) for type_ in typed)


def _is_unranked(reading: Reading, type_: int | None) -> bool:
    return type_ is not None and reading.content.pool.outline(TYPES, type_).name == _UNRANKED


def _dynamic(reading: Reading, found: Iterable[OpSignature], place: slice) -> bool:
    """Whether an operand in some place has a dimension that is not known."""
    return any(
        DYNAMIC in (reading.dimensions(type_) or ())
        for signature in found
        for type_ in (signature.operand_types or ())[place]
    )


def _to_any_rank(reading: Reading) -> bool:
    """Find an op whose result has as many dimensions as its last operand has elements."""
    found = reading.of(*_SIZED)
    return _dynamic(reading, found, slice(-1, None)) or any(
        _is_unranked(reading, type_) for signature in found for type_ in signature.results
    )


def _by_any_sizes(reading: Reading) -> bool:
    """Find an op whose third operand, slice sizes or padding, has a dynamic number of elements."""
    return _dynamic(reading, reading.of(*_CUT), slice(2, 3))


def _unfit(reading: Reading) -> bool:
    """Find an op that cannot be, as the plain op that it becomes; or a slice of negative size."""
    made = None if reading.ops.isdisjoint(_GIVEN) else reading.made_plain(settled=False)
    return _cuts_less_than_nothing(made or reading) or (made is not None and _is_unfit(made))


def _is_unfit(made: Reading) -> bool:
    held = TensorTypes(made)
    return any(
        not is_right(held, twin.name.removeprefix("vhlo.").rpartition("_v")[0], signature)
        for twin in {TWINS[op].name: TWINS[op] for op in _GIVEN}.values()
        for signature in made.of(twin.name)
        if signature.operands >= twin.takes  # else it is damaged
    )


def _cuts_less_than_nothing(reading: Reading) -> bool:
    return any(
        size >= NEGATIVE
        for signature in reading.of(*GATHERS)
        for size in reading.numbers(signature, "slice_sizes")
    )


def _another_count(reading: Reading) -> bool:
    """Find a dynamic_reshape that has not as many elements as its result, or its sizes, say."""
    for visit in reading.walk.of([_RESHAPE]):
        shapes = [
            reading.dimensions(reading.flow.type(value))
            for value in reading.flow.operands(visit)[:1]
        ]
        shapes += [reading.dimensions(reading.result(visit.operation)), _sizes(reading, visit)]
        known = [one for one in shapes if one is not None and min(one, default=0) >= 0]
        if len({*map(prod, known)}) > 1:
            return True
    return False


def _sizes(reading: Reading, visit: Visit) -> Sequence[int] | None:
    """Return the sizes that an op is given by a constant as its last operand."""
    source = visit.sources[-1] if len(visit.sources) > 1 else None
    if source is None:
        return None
    found = elements(reading, visit.constant(source), reading.walk.type(source))
    return [*map(signed, found)] or None


def _recast(reading: Reading) -> bool:
    """Find a bitcast_convert whose result has not the bits of its operand, dimension for dimension.

    Of two types the wider is as many of the narrower, along one more dimension.
    """
    held = TensorTypes(reading)
    for signature in reading.of(_BITCAST):
        pair = [*map(held.tensor, (*(signature.operand_types or ()), *signature.results))]
        both = [one for one in pair if isinstance(one, RankedTensor) and _bits(one.element)]
        if len(both) == len(pair) == 2:
            narrow, wide = sorted(both, key=lambda one: _bits(one.element))
            parts = _bits(wide.element) // _bits(narrow.element)
            if not fit(wide.shape if parts == 1 else (*wide.shape, parts), narrow.shape):
                return True
    return False


def _bits(element: str) -> int:
    """Return how many bits a number has; 0 where that is not known."""
    kind, _, part = element.rpartition(" ")
    return widths(VHLO).get(part, 0) * (2 if kind else 1)


def _counts_beyond(reading: Reading) -> bool:
    """Find a dynamic_iota along a dimension that its result does not have."""
    for signature in reading.of(_IOTA):
        shape = reading.dimensions(reading.result(signature))
        along = reading.value(signature, "iota_dimension").get("value")
        if shape is not None and isinstance(along, int) and not 0 <= along < len(shape):
            return True
    return False


def _other_floats(reading: Reading) -> bool:
    """Find a reduction or scatter whose body gives other floats than its result has."""
    walk = reading.walk
    for end in walk.of([_RETURN]):
        around = walk.around[end.number]
        if around < 0 or reading.kinds[walk.head(around).name] not in _REDUCING:
            continue
        for source, type_ in zip(end.sources, walk.head(around).results, strict=False):
            if source is not None:
                given, has = map(reading.element, (walk.type(source), type_))
                if given != has and given.startswith(FLOATS) and has.startswith(FLOATS):
                    return True
    return False


def _broadcast(wrong: Callable[[Sequence[int], Sequence[int], Sequence[int]], bool]) -> FormRule:
    """Find a dynamic_broadcast_in_dim whose sizes are constants.

    Args:
        wrong: Says whether something is wrong, by these sizes, those of the result, and in the
            place of each of them that of the operand which becomes it, 1 where there is none.
    """

    def find(reading: Reading) -> bool:
        return any(wrong(*one) for one in _broadcasts(reading))

    return FormRule(find, (ops(_BROADCAST),))


def _broadcasts(reading: Reading) -> Iterator[tuple[Sequence[int], Sequence[int], Sequence[int]]]:
    flow = reading.flow
    for visit in reading.walk.of([_BROADCAST]):
        result, sizes = reading.dimensions(reading.result(visit.operation)), _sizes(reading, visit)
        if result is None or sizes is None:
            continue
        operand = reading.dimensions(flow.type(flow.operands(visit)[0])) or ()
        into = reading.numbers(visit.operation, "broadcast_dimensions")
        becoming = dict(zip(into, operand, strict=False))
        yield sizes, result, [becoming.get(at, 1) for at in range(len(sizes))]


VERIFIED = {
    "bitcast_convert to another number of bits": FormRule(_recast, (ops(_BITCAST),)),
    "dynamic_iota along a dimension that there is not": FormRule(_counts_beyond, (ops(_IOTA),)),
    "reduction or scatter whose body gives other floats than its result": FormRule(
        _other_floats, (ops(*_REDUCING),)
    ),
    "op on tensors that are not ranked": FormRule(_unranked, (types({_UNRANKED}),)),
    "dynamic_broadcast_in_dim, dynamic_iota, dynamic_reshape or rng to a rank that is not known": (
        FormRule(_to_any_rank, (ops(*_SIZED),))
    ),
    "dynamic_broadcast_in_dim by constants that are not the sizes of the result": _broadcast(
        lambda sizes, result, _: not fit(sizes, result)
    ),
    "dynamic_broadcast_in_dim of a size that is not that of the result": _broadcast(
        lambda sizes, _, taken: any(
            one not in {1, DYNAMIC, size} for one, size in zip(taken, sizes, strict=True)
        )
    ),
    "dynamic_gather or dynamic_conv by a number of sizes that is not known": FormRule(
        _by_any_sizes, (ops(*_CUT),)
    ),
    "gather, dynamic_gather, dynamic_conv or dynamic_pad by constants that do not fit": FormRule(
        _unfit, (ops(*GATHERS, *_GIVEN),)
    ),
    "dynamic_reshape to another number of elements": FormRule(_another_count, (ops(_RESHAPE),)),
}
"""The forms by name."""
