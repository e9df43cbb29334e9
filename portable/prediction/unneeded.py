"""Arguments of main that make no difference: what a compiler removes before it is called with them.

IREE up to 3.8 ends where it is called with an argument of which it removed all uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.prediction.canonical import may_not_run
from portable.prediction.computing import WHOLE
from portable.prediction.form import (
    ELEMENTWISE,
    GATHERS,
    FormRule,
    kinds,
    repeated,
    taken,
)
from portable.prediction.functions import CALLS
from portable.prediction.loops import carried_in_vain
from portable.prediction.simplified import FLOATS
from portable.prediction.unused import KEPT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from portable.bytecode.operations import Source
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["UNNEEDED"]

# Of which no operand counts for a result: of a call `Flow` knows what its function does with them.
_APART = CALLS.keys() | {"vhlo.get_dimension_size"}
# Ops of a program that computes nothing.
_HANDING_ON = frozenset({"builtin.module", "vhlo.func_v1", "vhlo.reshape_v1", "vhlo.return_v1"})
_FUNCTION, _IMAG, _SELECT = "vhlo.func_v1", "vhlo.imag_v1", "vhlo.select_v1"
_SLICE, _UPDATE = "vhlo.dynamic_slice_v1", "vhlo.dynamic_update_slice_v1"
# The operand that says only how great a result is whose type says so too.
_SIZED = {
    "vhlo.dynamic_broadcast_in_dim_v1": 1,
    "vhlo.dynamic_iota_v1": 0,
    "vhlo.dynamic_reshape_v1": 1,
    "vhlo.real_dynamic_slice_v1": 2,
}
_COMPARE, _DIVIDE = "vhlo.compare", "vhlo.divide"
# What takes, or whose branches return, as many operands or twice as many as it has results, each
# for one of these.
_SEVERAL = kinds("case if reduce reduce_window sort")
# Ops that may give one number whatever their operands are.
_FOLDABLE = kinds(
    "and clamp compare divide dynamic_slice gather maximum minimum multiply or power remainder"
    " shift_left shift_right_logical subtract torch_index_select xor"
)
# What puts values beside each other, and what may take one of them again.
_JOINING = frozenset({"vhlo.complex_v1", "vhlo.concatenate_v1", _UPDATE})
_PARTING = kinds("dynamic_slice imag real real_dynamic_slice slice")


def _takes_what_nothing_needs(reading: Reading) -> bool | None:
    """Find an argument of main from which nothing is computed, as what asks for its shape alone.

    Perhaps it is one of which all uses may be folded, as a product by zero is, or that only counts
    for a result of several that nothing takes. A program that computes nothing at all has none:
    nothing is called with its arguments.
    """
    ignored = dict(_ignored(reading)) | dict(_of_nothing(reading))
    if _is_unneeded(reading, ignored):
        return True
    if reading.is_large:
        return False
    folding = dict(_folding(reading)) | dict(_partly_taken(reading))
    perhaps = bool(folding) and _is_unneeded(reading, folding | ignored)
    return None if perhaps or _is_taken_in_vain(reading) else False


def _is_taken_in_vain(reading: Reading) -> bool:
    """Say whether nothing takes an argument of main but what is computed from it is lost.

    By loops that carry it and do nothing, or for one of several results that nothing takes.
    """
    vain = carried_in_vain(reading) | {*_lost(reading)}
    if not vain:
        return False
    needed = _needed(reading, vain)
    main, arguments = reading.functions.main, reading.sides_of_main[0]
    return any((main, ~at) not in needed for at in range(len(arguments)))


def _needed(reading: Reading, vain: Collection[tuple[int, int]] = ()) -> set[Value]:
    """Return what operations take of which something takes a result, but for some operands."""
    flow, needed = reading.flow, set[tuple[int, int]]()
    for visit in reversed([*reading.walk]):
        number = visit.number
        results = {(number, at) for at in range(len(visit.operation.results))}
        if not results or visit.name in KEPT or not needed.isdisjoint(results):
            taken_ = enumerate(flow.operands(visit))
            needed |= {value for at, value in taken_ if (number, at) not in vain}
    return needed


def _lost(reading: Reading) -> Iterator[tuple[int, int]]:
    """Yield the operands, by their op and place, that count for a result that nothing takes."""
    walk = reading.walk
    several = [one for one in walk.of(_SEVERAL) if one.operation.results[1:]]
    used = _needed(reading) if several else set()
    for visit in several:
        count = len(visit.operation.results)
        lost = {at for at in range(count) if (visit.number, at) not in used}
        for ends in map(walk.__getitem__, reading.branch_ends.get(visit.number, [visit.number])):
            places = range(len(ends.operands))
            yield from ((ends.number, at) for at in places if at % count in lost)


def _folding(reading: Reading) -> Iterator[tuple[int, Collection[int]]]:
    """Yield the ops whose result may be one known number, each with all of its operands."""
    for visit in reading.walk.of(_FOLDABLE):
        results, operands = visit.operation.results, visit.operands
        if visit.number in reading.folded or len(results) != 1:
            continue
        least, most = reading.ranges.at((visit.number, 0))
        if least == most or _is_poison(reading, visit):
            yield visit.number, range(len(operands))
    for visit in reading.walk.of([_SLICE, *GATHERS]):
        # What a loop carries may have as many elements as are taken, so that no index counts.
        if [*map(reading.flow.type, reading.flow.operands(visit))][:1] == [None]:
            yield visit.number, range(1, len(visit.operands))


def _partly_taken(reading: Reading) -> Iterator[tuple[int, Collection[int]]]:
    """Yield what joins its operands and of which only parts are taken, with all of its operands.

    So that some of them may not count: parts of what is computed from it, element by element, are
    parts of it.
    """
    if reading.ops.isdisjoint(_JOINING):
        return
    whole: set[int] = set()
    for visit in reversed([*reading.walk]):
        kind = reading.kinds[visit.operation.name]
        if visit.name in _JOINING and visit.number not in whole:
            yield visit.number, range(len(visit.operands))
        if kind not in _PARTING and (kind not in ELEMENTWISE or visit.number in whole):
            whole.update(source[0] for source in visit.sources if source)


def _is_poison(reading: Reading, visit: Visit) -> bool:
    """Say whether an op of integers divides by zero, or one of floats compares with NaN."""
    kind, types = reading.kinds[visit.operation.name], {*taken(reading, visit)}
    if kind == _DIVIDE:
        return types <= WHOLE and reading.ranges.of(visit)[1:] == [(0, 0)]
    if kind != _COMPARE or reading.case(visit.operation, "compare_type") == "TOTALORDER":
        return False
    constants = map(visit.constant, visit.sources if types <= FLOATS.keys() else ())
    return any(one is not None and reading.floats(one).has_nan for one in constants)


def _is_unneeded(reading: Reading, ignored: dict[int, Collection[int]]) -> bool:
    """Say whether main has an argument that nothing needs.

    Args:
        reading: An artifact's ops.
        ignored: By the numbers of operations, which of their operands make no difference.
    """
    if reading.main is None or _HANDING_ON.issuperset(reading.names):
        return False
    handing = {at for at, name in enumerate(reading.names) if name in _HANDING_ON}
    arguments, given = reading.sides_of_main
    walk = reading.walk
    functions = [*walk.of([_FUNCTION])]
    unrun = {loop.number for loop in may_not_run(reading, surely=True)}
    plain = len(functions) == 1 and not ignored and not unrun
    if plain and _uses_everything(reading, len(arguments)):
        return False
    flow, main = reading.flow, reading.functions.main
    ends = {(main, at) for at in range(len(given))}
    for visit in walk.of(KEPT):
        ends.update(flow.operands(visit))
    sizes = [size for type_ in arguments for size in reading.dimensions(type_) or ()]
    # The shape of an argument is none of its type where a dimension is open.
    apart = _APART if min(sizes, default=0) >= 0 else CALLS.keys()
    needed = flow.behind(ends, apart, ignored, unrun)
    # Without one nothing is called.
    computed = any(at >= 0 and walk.head(number).name not in handing for number, at in needed)
    return computed and any((main, ~at) not in needed for at in range(len(arguments)))


def _of_nothing(reading: Reading) -> Iterator[tuple[int, Collection[int]]]:
    """Yield the operations whose results have no elements, each with all of its operands.

    Of a large program none: its types are many.
    """
    if reading.is_large:
        return
    results = {one for signature in reading.signatures for one in signature.results}
    empty = {one for one in results if 0 in (reading.dimensions(one) or ())}
    for visit in reading.walk if empty else ():
        if empty.issuperset(visit.operation.results) and visit.operation.results:
            yield visit.number, range(len(visit.operands))


def _ignored(reading: Reading) -> Iterator[tuple[int, Collection[int]]]:
    """Yield operations by their numbers, with those operands that make no difference."""
    for visit in reading.walk.of([_SELECT]):
        constant = visit.constant(visit.sources[0] if visit.sources else None)
        least, most = (0, 1) if constant is None else reading.ends(constant)
        if least == most:
            yield visit.number, (1 + most,)
    for visit in reading.walk.of(_SIZED):
        results = [reading.dimensions(one) for one in visit.operation.results]
        # A dynamic dimension is negative.
        if all(one is not None and min(one, default=0) >= 0 for one in results):
            yield visit.number, (_SIZED[visit.name],)
    for visit in reading.walk.of([_IMAG, _SLICE, _UPDATE, *GATHERS]):
        types_ = [*map(reading.flow.type, reading.flow.operands(visit))]
        # Of what a loop carries no type is known: an update gives what it takes.
        whole_type = visit.operation.results if visit.name == _UPDATE else types_
        shape = whole_type and reading.dimensions(whole_type[0])
        found: Collection[int] = ()
        if visit.name == _IMAG:
            found = range(types_[:1] == [*visit.operation.results])
        elif shape and visit.name in GATHERS:
            sizes = repeated(reading.numbers(visit.operation, "slice_sizes"), len(shape))
            chosen_in = reading.numbers(visit.operation, "start_index_map")
            whole = all(at < len(shape) and sizes[at] == shape[at] for at in chosen_in)
            found = range(1, 1 + whole)
        elif shape:
            first = 1 + (visit.name == _UPDATE)
            window = (*types_[1:2], None)[0] if first > 1 else (*visit.operation.results, None)[0]
            pairs = zip(shape, reading.dimensions(window) or (), strict=False)
            found = [first + at for at, (whole, size) in enumerate(pairs) if whole == size]
        if found:
            yield visit.number, found


def _uses_everything(reading: Reading, count: int) -> bool:
    """Say whether all arguments of a program of one function are operands, and all results too."""
    if not _APART.isdisjoint(reading.kinds):
        return False
    given: set[Source] = set()
    used: set[Source] = set()
    arguments: set[int] = set()
    for visit in reading.walk:
        sources = visit.sources
        given.update((visit.number, at) for at in range(len(visit.operation.results)))
        used.update(filter(None, sources))
        if None in sources and not reading.walk.apart[visit.number]:
            arguments.update(visit.operands)
    return given <= used and arguments.issuperset(range(count))


UNNEEDED: dict[str, FormRule] = {
    "argument from which nothing is computed": FormRule(_takes_what_nothing_needs, across=True),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
