"""Forms of ops that take one another's results, which a compiler merges into something else.

Each op alone is computed as it should be: where values come from shows the form.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from portable.bytecode.operations import like
from portable.prediction.form import (
    AMOUNTS,
    ELEMENTWISE,
    GATHERS,
    NEGATIVE,
    SCATTERS,
    FormRule,
    kinds,
    ops,
    repeated,
    signed,
)
from portable.prediction.products import DOTS, IN_NO_LOOP, is_splat, left_and_contracted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from portable.bytecode.operations import OpSignature
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["MERGED"]

_Start: TypeAlias = "int | tuple[int]"

_SLICE, _DYNAMIC_SLICE = "vhlo.slice_v1", "vhlo.dynamic_slice_v1"
_UPDATE, _CONCATENATE = "vhlo.dynamic_update_slice_v1", "vhlo.concatenate_v1"
_DYNAMIC_PAD = "vhlo.dynamic_pad_v1"
_PAD, _WINDOW, _REDUCE = "vhlo.pad_v1", "vhlo.reduce_window_v1", "vhlo.reduce_v1"
_RESHAPE = "vhlo.reshape_v1"
_RESHAPES = (_RESHAPE, "vhlo.broadcast_in_dim_v1")
# What leaves a part of a tensor; and what reads at other places than it gives elements at.
_CUTTING = (_SLICE, _DYNAMIC_SLICE, _PAD)
_READING = (*GATHERS, "vhlo.fft_v1", "vhlo.reverse_v1", "vhlo.torch_index_select_v1")
# What gives elements another place.
_MOVING = kinds(
    "broadcast broadcast_in_dim concatenate dynamic_slice gather pad reduce reshape reverse slice"
    " transpose"
)
_IN_PLACE = ELEMENTWISE | kinds("bitcast_convert")
# Of more parts that one value is computed from, the others are not followed.
_MOST_PARTS = 4
# What XLA:CPU of one Release multiplied wrongly: over three elements, with a few rows on one side
# and more bytes on the other than one thread takes.
_CONTRACTED, _MOST_ROWS, _LEAST_BYTES = 3, 6, 128 << 10
_FLOAT_BYTES = {"f32_v1": 4, "f64_v1": 8}


class _Piece(NamedTuple):
    """What a value is computed from, element by element.

    Args:
        of: The value that it is a part of, as operations number what they use.
        starts: Where the part starts in each dimension, a constant or the value that says so; None
            where elements are not in their order.
    """

    of: int
    starts: tuple[_Start, ...] | None


class _Computed(NamedTuple):
    """The result of an op.

    Args:
        shape: Its sizes.
        parts: What it is computed from in one loop with what uses it.
    """

    shape: Sequence[int]
    parts: tuple[_Piece, ...]


def _shape(reading: Reading, visit: Visit) -> Sequence[int]:
    return reading.dimensions(next(iter(visit.operation.results), None)) or ()


def _starts(reading: Reading, visit: Visit, first: int) -> tuple[_Start, ...]:
    """Return where a part starts: constants, and values as operations number them."""
    given = [*zip(visit.sources, visit.operands, strict=True)][first:]
    known = [visit.constant(source) for source, _ in given]
    constants = [reading.first(one) if one else None for one in known]
    return tuple(
        (value,) if one is None else one for one, (_, value) in zip(constants, given, strict=True)
    )


def _parts(reading: Reading, visit: Visit, known: Mapping[int, _Computed]) -> tuple[_Piece, ...]:
    """Return what the result of an op is computed from in one loop with what uses it."""
    kind, operands = reading.kinds[visit.operation.name], visit.operands
    if kind in IN_NO_LOOP:
        return ()
    sources = (one[0] for one in visit.sources if one)
    found = [part for one in sources if one in known for part in known[one].parts]
    if kind in _MOVING and operands:
        found = [_Piece(part.of, None) for part in found]
        found.append(_Piece(operands[0], _first(reading, visit)))
    return tuple(dict.fromkeys(found))[:_MOST_PARTS]


def _first(reading: Reading, visit: Visit) -> tuple[_Start, ...] | None:
    """Return where the part starts that an op takes in its order; None where it takes another."""
    if visit.name == _DYNAMIC_SLICE:
        return _starts(reading, visit, 1)
    if visit.name != _SLICE or not {*reading.numbers(visit.operation, "strides")} <= {1}:
        return None
    starts = reading.numbers(visit.operation, "start_indices")
    return tuple(repeated(starts, len(_shape(reading, visit)), 0))


def _reads_what_it_writes(
    reading: Reading, visit: Visit, known: Mapping[int, _Computed]
) -> bool | None:
    """Say whether an update takes what it has already written over, if it is written in place."""
    number = 1 if visit.name == _UPDATE else 2
    source = visit.sources[number] if len(visit.sources) > number else None
    if source is None or source[0] not in known:
        return False
    update = known[source[0]]
    own = [part.starts for part in update.parts if part.of == visit.operands[0]]
    if not own:
        return False
    if visit.name != _UPDATE:
        return None if _is_one_window(reading, visit, update.shape) else False
    starts = _starts(reading, visit, 2)
    found = [_is_before(one, starts, update.shape) for one in own if one != starts]
    return True if True in found else None if None in found else False


def _is_before(
    one: Sequence[_Start] | None, other: Sequence[_Start], sizes: Sequence[int]
) -> bool | None:
    """Say whether a part starts before another of its sizes, and overlaps with it."""
    first, second = ([at for at in starts or () if isinstance(at, int)] for starts in (one, other))
    if not len(first) == len(second) == len(other):
        return None
    near = (abs(a - b) < size for a, b, size in zip(first, second, sizes, strict=False))
    return first < second and all(near)


def _is_one_window(reading: Reading, scatter: Visit, updates: Sequence[int]) -> bool:
    inside = {*reading.numbers(scatter.operation, "update_window_dims")}
    return math.prod(n for at, n in enumerate(updates) if at not in inside) == 1


def _updates_by_itself(reading: Reading) -> bool | None:
    """Find a value that is updated by an earlier part of itself, and gains or loses a 1.

    Where only dimensions of size 1 come or go, XLA:CPU updates in place what it still has to read.
    Perhaps it is none where it is not known which part it is, and where there are several.
    """
    updated: dict[int, tuple[Sequence[int], bool | None]] = {}
    perhaps = False
    for number, visit, reads in _updates(reading):
        if visit.name not in _RESHAPES:
            updated[number] = _shape(reading, visit), reads
        elif visit.first in updated:
            before, early = updated[visit.first]
            after = _shape(reading, visit)
            if before != after and _without_ones(before) == _without_ones(after):
                if early:
                    return True
                perhaps = True
    return None if perhaps else False


def _updates(reading: Reading) -> Iterator[tuple[int, Visit, bool | None]]:
    """Yield the updates of values by parts of themselves, and what is reshaped.

    Yields:
        The number of the op, the op, and whether it reads what it writes, if written in place.
    """
    known: dict[int, _Computed] = {}
    for visit in reading.walk:
        number = visit.number
        if visit.name == _UPDATE or visit.name in SCATTERS:
            reads = _reads_what_it_writes(reading, visit, known)
            if reads is not False:
                yield number, visit, reads
            continue
        if visit.name in _RESHAPES and visit.sources:
            yield number, visit, None
        if parts := _parts(reading, visit, known):
            known[number] = _Computed(_shape(reading, visit), parts)


def _copies_itself(reading: Reading) -> bool | None:
    """Find perhaps a value that is updated by an earlier part of itself."""
    return None if any(visit.name not in _RESHAPES for _, visit, _ in _updates(reading)) else False


def _copies_a_part(reading: Reading) -> bool | None:
    """Find perhaps a value that is updated by a part of itself, whichever."""
    for visit in reading.walk.of([_UPDATE]):
        source = visit.sources[1] if len(visit.sources) > 1 else None
        made = None if source is None else reading.walk[source[0]]
        cut = made is not None and made.name in {_SLICE, _DYNAMIC_SLICE}
        if made is not None and cut and made.operands[:1] == visit.operands[:1]:
            return None
    return False


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [size for size in shape if size != 1]


def _slices_a_slice(reading: Reading) -> bool | None:
    """Find perhaps a dynamic_slice of a dynamic_slice that starts beyond what there is.

    XLA adds the two starts, and keeps only their sum in bounds: it is another where one of them is
    out of bounds alone. An update of a part that is put back is the same.
    """
    slices: dict[int | None, _Sliced] = {}
    for visit in reading.walk.of([_RESHAPE, _DYNAMIC_SLICE, _UPDATE]):
        number, inner = visit.number, slices.get(visit.first)
        if visit.name == _RESHAPE and inner:
            # What has sizes other than 1 in the same order is sliced where it was.
            after = _shape(reading, visit)
            if _without_ones(after) == _without_ones(inner.shape):
                slices[number] = inner._replace(shape=after)
        elif visit.name != _RESHAPE:
            first = 1 if visit.name == _DYNAMIC_SLICE else 2
            shape = _shape(reading, visit)
            of = inner.shape if inner else shape
            given = _given(visit, first, of)
            whole = visit.name == _DYNAMIC_SLICE and of == shape
            if inner and not whole and not given.isdisjoint(inner.given):
                return None
            if visit.name == _DYNAMIC_SLICE:
                slices[number] = _Sliced(shape, _given(visit, first, shape))
    return False


class _Sliced(NamedTuple):
    """The result of a dynamic_slice.

    Args:
        shape: Its sizes.
        given: In which dimensions of other sizes than 1, counted without the others, it does not
            start at a constant.
    """

    shape: Sequence[int]
    given: frozenset[int]


def _given(visit: Visit, first: int, shape: Sequence[int]) -> frozenset[int]:
    """Return where `_Sliced.given` is, by the operands from one on and what they index."""
    starts = zip(visit.sources[first:], shape, strict=False)
    wide = [source for source, size in starts if size != 1]
    return frozenset(at for at, source in enumerate(wide) if visit.constant(source) is None)


def _reads_a_part(*names: str) -> FormRule:
    """Find perhaps an op that reads at other places from a part of a tensor with gaps in it.

    IREE reads on in the whole tensor, where that was not computed together with the part.
    """

    def find(reading: Reading) -> bool | None:
        parts: set[int | None] = set()
        for visit in reading.walk.of([*_CUTTING, _RESHAPE, *names]):
            if visit.name in names:
                if visit.first in parts:
                    return None
            elif visit.first in parts or (visit.name != _RESHAPE and _has_gaps(reading, visit)):
                parts.add(visit.number)
        return False

    return FormRule(find, (ops(*names), ops(*_CUTTING)), across=True)


def _has_gaps(reading: Reading, cut: Visit) -> bool:
    """Say whether what is left of a tensor lies in several pieces, or may."""
    of = next(iter(reading.flow.operands(cut)), None)
    whole = None if of is None else reading.dimensions(reading.flow.type(of))
    part = _shape(reading, cut)
    if whole is None or len(whole) != len(part):
        return True
    cuts = [at for at, (one, other) in enumerate(zip(whole, part, strict=True)) if one != other]
    return any(size != 1 for size in part[: max(cuts, default=0)])


def _takes_before_the_last(reading: Reading) -> bool | None:
    """Find perhaps a part of a concatenation that ends where its last operand begins.

    IREE gives zeros, where it lies in one piece. What else may be such a part counts too.
    """
    # In which dimension, and where in it, the last operand begins; None where that is not known.
    joined: dict[int | None, tuple[int, int] | None] = {}
    for visit in reading.walk.of([_CONCATENATE, _RESHAPE, _SLICE, _DYNAMIC_SLICE]):
        if visit.name == _CONCATENATE:
            joined[visit.number] = _last_begins(reading, visit)
        elif visit.first in joined:
            begins = joined[visit.first]
            if visit.name == _RESHAPE:
                joined[visit.number] = None
            elif visit.name != _SLICE or begins is None or _ends_at(reading, visit, *begins):
                return None
    return False


def _last_begins(reading: Reading, whole: Visit) -> tuple[int, int] | None:
    """Return in which dimension, and where in it, the last operand of a concatenation begins."""
    last = next(reversed(reading.flow.operands(whole)), None)
    added = None if last is None else reading.dimensions(reading.flow.type(last))
    along = reading.value(whole.operation, "dimension").get("value")
    shape = _shape(reading, whole)
    if added is None or not isinstance(along, int):
        return None
    fits = 0 <= along < min(len(shape), len(added))
    return (along, shape[along] - added[along]) if fits else None


def _ends_at(reading: Reading, part: Visit, along: int, begins: int) -> bool:
    """Say whether a slice ends there in a dimension, and lies in one piece."""
    shape = _shape(reading, part)
    ends = repeated(reading.numbers(part.operation, "limit_indices"), len(shape))
    return math.prod(shape[:along]) == 1 and [*ends[along : along + 1]] == [begins]


def _pads_what_it_cuts(reading: Reading) -> bool | None:
    """Find a pad that takes away, and a reduce_window that pads it on the same side.

    XLA adds the two amounts where the pad also puts something between single elements. Perhaps it
    is a dynamic_pad, which becomes a pad.
    """
    cuts = {like(one): _cut(reading, one) for one in reading.of(_PAD)}
    pads: dict[int, list[int]] = {}
    for visit in reading.walk.of([_PAD, _WINDOW]) if any(cuts.values()) else ():
        if visit.name == _PAD:
            if cut := cuts.get(like(visit.operation)):
                pads[visit.number] = cut
        elif visit.first in pads:
            amounts = pads[visit.first]
            added = repeated(reading.numbers(visit.operation, "padding"), len(amounts), 0)
            if any(cut >= NEGATIVE > adds > 0 for cut, adds in zip(amounts, added, strict=True)):
                return True
    dynamic = {visit.number for visit in reading.walk.of([_DYNAMIC_PAD])}
    padded = {visit.first for visit in reading.walk.of([_WINDOW])} if dynamic else set()
    return False if dynamic.isdisjoint(padded) else None


def _cut(reading: Reading, pad: OpSignature) -> list[int]:
    """Return the amounts of a pad on each side, if it only spreads what has one element."""
    shape = reading.dimensions(reading.result(pad)) or ()
    low, high, between = (repeated(reading.numbers(pad, name), len(shape), 0) for name in AMOUNTS)
    sides = [*zip(low, high, strict=True)]
    own = [size - sum(map(signed, side)) for size, side in zip(shape, sides, strict=True)]
    spread = {size for size, far in zip(own, between, strict=True) if far}
    return [one for side in sides for one in side] if spread == {1} else []


def _computes_from_a_gather(reading: Reading) -> bool | None:
    """Find an elementwise op that takes a gather, where all is computed from constants.

    XLA computes it when it compiles, and takes the elements of both in the order of memory, which
    is another where the gather's offset dimensions are not the last. Perhaps it is none where what
    is gathered is no plain constant.
    """
    gathered: dict[int, bool] = {}
    perhaps = False
    for visit in reading.walk.of(_IN_PLACE.union(GATHERS)):
        if visit.number not in reading.folded:
            continue
        kind = reading.kinds[visit.operation.name]
        sources = [one[0] for one in visit.sources if one]
        if visit.name in GATHERS and _puts_offsets_first(reading, visit):
            constant = visit.constant(visit.sources[0])
            if constant is None or not is_splat(reading, constant):
                gathered[visit.number] = constant is not None
        elif kind in _IN_PLACE and not gathered.keys().isdisjoint(sources):
            if any(gathered.get(one) for one in sources):
                return True
            perhaps = True
    return None if perhaps else False


def _puts_offsets_first(reading: Reading, gather: Visit) -> bool:
    rank, offsets = len(_shape(reading, gather)), reading.numbers(gather.operation, "offset_dims")
    return len(offsets) < rank and any(at < rank - len(offsets) for at in offsets)


def _reduces_products(reading: Reading) -> bool | None:
    """Find perhaps a product over three elements that is reduced, of more than one thread takes."""
    large = {like(one) for one in reading.of(*DOTS) if _is_over_three(reading, one)}
    products: set[int] = set()
    for visit in reading.walk if large else ():
        kind = reading.kinds[visit.operation.name]
        if like(visit.operation) in large:
            products.add(visit.number)
        elif any(one and one[0] in products for one in visit.sources):
            if visit.name == _REDUCE:
                return None
            if kind not in IN_NO_LOOP:
                products.add(visit.number)
    return False


def _is_over_three(reading: Reading, product: OpSignature) -> bool:
    operands = [reading.dimensions(one) for one in (product.operand_types or ())[:2]]
    size = _FLOAT_BYTES.get(reading.element(reading.result(product)), 0)
    if len(operands) != 2 or None in operands:
        return False
    (rows, over), (columns, _) = (
        left_and_contracted(reading, product, side, dimensions or ())
        for side, dimensions in zip(("lhs", "rhs"), operands, strict=True)
    )
    few, many = sorted((rows, columns))
    return over == _CONTRACTED and 1 < few <= _MOST_ROWS and many * size > _LEAST_BYTES


MERGED: dict[str, FormRule] = {
    "update of a value by an earlier part of itself": FormRule(
        _copies_itself, (ops(_UPDATE, *SCATTERS),), across=True
    ),
    "update of a value by any part of itself": FormRule(
        _copies_a_part, (ops(_UPDATE), ops(_SLICE, _DYNAMIC_SLICE)), across=True
    ),
    "update of a value by an earlier part of itself that is reshaped": FormRule(
        _updates_by_itself, (ops(_UPDATE, *SCATTERS), ops(*_RESHAPES)), across=True
    ),
    "dynamic_slice of a dynamic_slice": FormRule(
        _slices_a_slice, (ops(_DYNAMIC_SLICE),), across=True
    ),
    "reverse, gather or fft of a part that lies in pieces": _reads_a_part(*_READING),
    "sort of a part that lies in pieces": _reads_a_part("vhlo.sort_v1"),
    "part of a concatenation that ends where its last operand begins": FormRule(
        _takes_before_the_last, (ops(_CONCATENATE), ops(_SLICE, _DYNAMIC_SLICE)), across=True
    ),
    "elementwise op of a gather of constants": FormRule(
        _computes_from_a_gather, (ops(*GATHERS), ops("vhlo.constant_v1")), across=True
    ),
    "reduce_window that pads the result of a pad by a negative amount": FormRule(
        _pads_what_it_cuts, (ops(_WINDOW), ops(_PAD, _DYNAMIC_PAD)), across=True
    ),
    "reduce of a dot_general over three elements": FormRule(
        _reduces_products, (ops(*DOTS), ops(_REDUCE)), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
