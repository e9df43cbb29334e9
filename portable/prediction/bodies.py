"""Forms of what is in the bodies of ops that apply them to scalars, as reductions do."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.entries import Blob
from portable.bytecode.operations import like
from portable.prediction.form import NEGATIVE, FormRule, kinds, ops, repeated, signed, types, weaken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from portable.bytecode.operations import Head, OpSignature, Source
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["BODIES", "CONSTRAINING", "INLINED", "LEAST_BY_YNNPACK", "applied_bodies"]

_CAST = "builtin.unrealized_conversion_cast"
CONSTRAINING = (_CAST, "sdy.sharding_constraint", _CAST)
"""What JAX writes into the bodies of sums over some axes of a mesh, which gives what it takes."""

_CONSTANT, _CONVERT, _RETURN = "vhlo.constant", "vhlo.convert", "vhlo.return"
_REDUCE, _WINDOW = "vhlo.reduce_v1", "vhlo.reduce_window_v1"
_SORT = "vhlo.sort_v1"
_COMPLEX = "complex_v1"
_SUM = "vhlo.cross-replica-sum_v1"
_ALL_REDUCE = ("vhlo.all_reduce_v1", "vhlo.all_reduce_v2")
_REDUCE_SCATTER = "vhlo.reduce_scatter_v1"
_ADD, _MULTIPLY, _AND = "vhlo.add", "vhlo.multiply", "vhlo.and"
_MAXIMUM, _MINIMUM = "vhlo.maximum", "vhlo.minimum"
_ZERO_IS_NONE = frozenset({_ADD, "vhlo.or", "vhlo.xor"})
# Ops of windows that are rewritten, or computed by a library.
_SIMPLE = frozenset({_ADD, _MAXIMUM, _MINIMUM})
_FUNCTION = "vhlo.func_v1"
_WINDOW_NUMBERS = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
# YNNPACK computes windows of these, over many elements: 3,840 are computed by XLA itself.
_BY_YNNPACK = frozenset({"f32_v1", "f64_v1"})
LEAST_BY_YNNPACK = 4096
"""The elements of the smallest tensors that XLA:CPU hands to YNNPACK."""
# The bytes of a complex number of two f64. An initial value is a scalar, and any number of ops may
# begin with what a damaged file calls one.
_LARGEST_SCALAR = 16
# What devices compute together.
_TOGETHER = frozenset({_ADD, _MULTIPLY, _AND, _MAXIMUM, _MINIMUM, "vhlo.or", "vhlo.xor"})
# What is no other number if it is computed with another time.
_IDEMPOTENT = frozenset({_AND, _MAXIMUM, _MINIMUM, "vhlo.or"})
# What chooses one of two values, or some of each, and gives the same however often it does.
_CHOOSING = _IDEMPOTENT | kinds("compare constant not return select")
# How many elements of a dimension XLA reduces at a time.
_AT_A_TIME = 32
INLINED = frozenset({"vhlo.call", "vhlo.composite"})
"""What may be any other op when it is inlined."""
# Infinity of floats of so many bytes, and one.
_FLOATS = {
    "f16_v1": (0x7C00, 0x3C00),
    "bf16_v1": (0x7F80, 0x3F80),
    "f32_v1": (0x7F800000, 0x3F800000),
    "f64_v1": (0x7FF << 52, 0x3FF << 52),
}
# Of these a zero that is stored as zeros changes nothing that is added to it.
_WITH_ZERO = {"complex_v1"} | {
    f"f8{name}_v1"
    for name in ("E3M4", "E4M3", "E4M3B11FNUZ", "E4M3FN", "E4M3FNUZ", "E5M2", "E5M2FNUZ")
}
_INTEGERS = {
    f"{sign}{bits}_v1": (sign == "i", bits) for sign in ("i", "ui") for bits in (8, 16, 32, 64)
}


class _Applied(NamedTuple):
    """An op that applies a body to scalars.

    Args:
        op: The op.
        starts: For each operand the op that it is a result of, of a constant in another shape the
            constant; None for an argument.
        roots: What each result of the body is: an op, without its version, of two different
            arguments; nothing for an argument, `?` for what is computed from other things.
        folded: For each operand whether it is computed from constants alone.
        number: The op's number.
    """

    op: Head
    starts: Sequence[Head | None]
    roots: Sequence[str]
    folded: Sequence[bool]
    number: int


def applied_bodies(reading: Reading, *names: str) -> Iterator[_Applied]:
    """Yield the ops of some names, with what their bodies compute; cross-replica-sum has none.

    Args:
        reading: An artifact's ops.
        names: The ops, as `vhlo.reduce_v1`.
    """
    walk, done = reading.walk, {-1}
    for visit in walk.of([_RETURN]):
        around = walk.around[visit.number]
        # They have one region; what a damaged file gives more is not looked at for each.
        if around not in done and reading.names[walk.head(around).name] in names:
            done.add(around)
            roots = [_root(reading, one) for one in visit.sources]
            yield _applied(reading, walk[around], roots)
    for visit in walk.of({_SUM}.intersection(names)):
        yield _applied(reading, visit, [_ADD])


def _applied(reading: Reading, owner: Visit, roots: Sequence[str]) -> _Applied:
    makers = [one and reading.walk.head(one[0]) for one in owner.sources]
    starts = [owner.constant(one) or made for one, made in zip(owner.sources, makers, strict=True)]
    alone = [bool(one and one[0] in reading.folded) for one in owner.sources]
    return _Applied(owner.operation, starts, roots, alone, owner.number)


def _root(reading: Reading, source: Source | None) -> str:
    for _ in CONSTRAINING:
        if source is not None and reading.walk[source[0]].name in CONSTRAINING:
            source = next(iter(reading.walk[source[0]].sources), None)
    if source is None:
        return ""
    made = reading.walk[source[0]]
    plain = len(set(made.operands)) == len(made.sources) == 2 and not any(made.sources)
    kind = reading.kinds[made.operation.name]
    return kind if plain or kind in INLINED | {_CONSTANT, _CONVERT} else "?"


def _uses_outside(reading: Reading) -> bool | None:
    """Find a body that uses an argument of what is around it, or the result of an op there.

    Constants are copied into it. Perhaps other results become constants before, and perhaps an op
    that nothing uses stands in a function that nothing calls, which is removed later.
    """
    perhaps = unused = False
    for operation, source in reading.content.captures():
        if like(operation) not in reading.used:
            unused = True
            continue
        if source < 0:
            return True
        perhaps |= reading.names[source].rpartition("_v")[0] != _CONSTANT
    if unused:
        perhaps |= any(like(one) not in reading.used for one in reading.of(_FUNCTION))
    return None if perhaps else False


def _takes_from_outside(*unless: str) -> FormRule:
    """Find a body, used or not, that takes what is around it.

    Args:
        unless: What may be taken: kinds of ops.
    """

    def find(reading: Reading) -> bool:
        return any(
            source < 0 or reading.kinds[source] not in unless
            for _, source in reading.content.captures()
        )

    return FormRule(find)


def _reduces_otherwise(*names: str) -> Callable[[Reading], bool | None]:
    """Find a reduction between devices by another computation than one op that XLA has there.

    Perhaps it is one of these when what it calls is inlined.
    """

    def found(reading: Reading) -> bool | None:
        perhaps = False
        for one in applied_bodies(reading, *names):
            for root in one.roots:
                if root not in _TOGETHER | INLINED:
                    return True
                perhaps |= root in INLINED
        return None if perhaps else False

    return found


def _converts(reading: Reading) -> bool:
    """Find an all_reduce of bf16 whose body computes in another type."""
    return any(
        "vhlo.convert" in one.roots and reading.element(one.op.results[0]) == "bf16_v1"
        for one in applied_bodies(reading, *_ALL_REDUCE)
        if one.op.results
    )


def _starts_otherwise(
    is_simple: Callable[[Reading, OpSignature], bool], unless: frozenset[str] = frozenset()
) -> Callable[[Reading], bool | None]:
    """Find a reduction of single elements from an initial value that changes them.

    Perhaps it does where it is no constant, or what it goes with is not one op.
    """

    def found(reading: Reading) -> bool | None:
        reductions = reading.of(_REDUCE, _WINDOW)
        single = {like(one) for one in reductions if is_simple(reading, one)}
        if not single or not (single := single & reading.used):
            return False
        # What is like one of these may be of another operand, which is not in what they are like.
        other = {like(one) for one in reductions if not is_simple(reading, one)}
        perhaps = False
        for one in applied_bodies(reading, _REDUCE, _WINDOW):
            if like(one.op) not in single:
                continue
            starts = one.starts[len(one.starts) // 2 :]
            for start, root in zip(starts, one.roots, strict=False):
                changes = root not in unless and _changes(reading, start, root)
                if changes and len(one.roots) == 1 and like(one.op) not in other:
                    return True
                perhaps |= changes is not False
        return None if perhaps else False

    return found


def _of_several(reading: Reading, one: OpSignature) -> bool:
    """Say whether a reduction is no window, and has more than one element for a result."""
    return reading.names[one.name] == _REDUCE and not _once(reading, one)


def _differs_in_parts(reading: Reading) -> bool | None:
    """Find perhaps a reduction of many elements that is another one of the results of parts.

    XLA reduces 32 elements at a time, each time from the initial value, and then what it has. That
    is the same where this changes nothing, and the body is one op that takes both in any order, or
    chooses one of them.
    """
    many = {like(one) for one in reading.of(_REDUCE, _WINDOW) if _is_of_many(reading, one)}
    if not many or not (many := many & reading.used):
        return False
    walk, computing = reading.walk, set[int]()
    for visit in walk:
        if reading.kinds[visit.operation.name] not in _CHOOSING:
            computing.add(walk.around[visit.number])
    for one in applied_bodies(reading, _REDUCE, _WINDOW):
        if like(one.op) not in many or one.number not in computing:
            continue
        starts = one.starts[len(one.starts) // 2 :]
        if any(
            _changes(reading, start, root) is not False
            for start, root in zip(starts, one.roots, strict=False)
        ):
            return None
    return False


def _is_of_many(reading: Reading, one: OpSignature) -> bool:
    """Say whether a reduction is over more elements of a dimension than XLA takes at a time."""
    if reading.names[one.name] == _WINDOW:
        return max(reading.numbers(one, "window_dimensions"), default=0) > _AT_A_TIME
    dimensions = reading.dimensions((one.operand_types or (None,))[0])
    if dimensions is None:
        return True
    over = reading.numbers(one, "dimensions")
    sizes = [dimensions[at] for at in over if at < len(dimensions)]
    return min(sizes, default=0) < 0 or max(sizes, default=0) > _AT_A_TIME


def _of_constants(
    names: tuple[str, ...], bodies: frozenset[str], elements: frozenset[str]
) -> FormRule:
    """Find a reduction of some ops by some bodies of a constant of some element types.

    Perhaps it is one where XLA folds what it reduces, or what its body calls is inlined.
    """

    def found(reading: Reading) -> bool | None:
        perhaps = False
        for one in applied_bodies(reading, *names):
            root = one.roots[0] if one.roots else ""
            if root not in bodies | INLINED or like(one.op) not in reading.used:
                continue
            reduced = len(one.op.results)  # initial values stand behind them
            for start, folded in zip(one.starts[:reduced], one.folded[:reduced], strict=True):
                if start is None or reading.element(start.results[0]) not in elements:
                    continue
                if reading.kinds[start.name] == _CONSTANT and root in bodies:
                    return True
                perhaps |= folded
        return None if perhaps else False

    return FormRule(found, (ops(*names), types(elements)), across=True)


def _takes_the_greatest(reading: Reading) -> bool:
    """Find a reduce_scatter of floats by maximum."""
    return any(
        _MAXIMUM in one.roots and reading.gives(one.op, _FLOATS)
        for one in applied_bodies(reading, _REDUCE_SCATTER)
    )


def _once(reading: Reading, one: OpSignature) -> bool:
    """Say whether a reduction has one element for each result, and a window no dimension."""
    dimensions = reading.dimensions((one.operand_types or (None,))[0])
    if dimensions is None:
        return False
    if reading.names[one.name] == _WINDOW:
        return not dimensions
    over = reading.numbers(one, "dimensions")
    return math.prod(dimensions[at] for at in over if at < len(dimensions)) == 1


def _padded(reading: Reading, one: OpSignature) -> bool:
    """Say whether windows of a reduction stand on more than its operand: padded, or spread."""
    if reading.names[one.name] != _WINDOW:
        return False
    spread = any(number > 1 for number in reading.numbers(one, "base_dilations"))
    return spread or _adds(reading.numbers(one, "padding"))


def _adds(padding: Sequence[int]) -> bool:
    return any(0 < n < NEGATIVE for n in padding)


def _cuts_single_elements(reading: Reading) -> bool:
    """Find a reduce_window of windows of one element that pads by negative amounts alone."""
    found = {like(one) for one in reading.of(_WINDOW) if _cuts(reading, one)}
    applied = applied_bodies(reading, _WINDOW) if found else ()
    return any(like(one.op) in found and {*one.roots} <= _SIMPLE for one in applied)


def _cuts(reading: Reading, one: OpSignature) -> bool:
    single = all({*reading.numbers(one, name)} <= {1} for name in _WINDOW_NUMBERS)
    padding = reading.numbers(one, "padding")
    return single and max(padding, default=0) >= NEGATIVE and not _adds(padding)


def _spreads_single_elements(reading: Reading) -> bool:
    """Find a reduce_window of many floats, of windows side by side, that spreads other dimensions.

    YNNPACK computes it, which does not spread.
    """
    found = {
        like(one)
        for one in reading.of(_WINDOW)
        for type_ in (one.operand_types or ())[:1]
        if type_ is not None
        and reading.element(type_) in _BY_YNNPACK
        and (reading.content.pool.count(type_) or 0) >= LEAST_BY_YNNPACK
        and _spreads(reading, one, reading.dimensions(type_) or ())
    }
    applied = applied_bodies(reading, _WINDOW) if found else ()
    return any(like(one.op) in found and {*one.roots} <= _SIMPLE for one in applied)


def _spreads(reading: Reading, one: OpSignature, shape: Sequence[int]) -> bool:
    size, stride, base, apart = (
        repeated(reading.numbers(one, name), len(shape)) for name in _WINDOW_NUMBERS
    )
    spread = {covers for of, covers, far in zip(shape, size, base, strict=True) if of > 1 < far}
    return spread == {1} == {*apart} and tuple(size) == tuple(stride)


def _scanned(reading: Reading, one: OpSignature) -> tuple[int, int] | None:
    """Return how much is padded before and after the dimension that IREE takes for a scan of.

    Of one whole dimension, where one side has as much as the windows are longer than one.
    """
    shape = reading.dimensions((one.operand_types or (None,))[0])
    if reading.names[one.name] != _WINDOW or not shape:
        return None
    size, *others = (repeated(reading.numbers(one, name), len(shape)) for name in _WINDOW_NUMBERS)
    padding = [*map(signed, repeated(reading.numbers(one, "padding"), 2 * len(shape), 0))]
    pairs = list(zip(padding[::2], padding[1::2], strict=True))
    long = [at for at, covers in enumerate(size) if covers > 1]
    if len(long) != 1 or {*chain(*others)} - {1}:
        return None
    sides = pairs.pop(long[0])
    whole = shape[long[0]] == size[long[0]] and shape[long[0]] - 1 in sides
    return sides if whole and not any(map(any, pairs)) else None


def _is_scan(reading: Reading, one: OpSignature) -> bool:
    """Say whether IREE takes a reduce_window for a scan, which begins with what it takes."""
    return 0 in (_scanned(reading, one) or ())


def _scans_more(reading: Reading) -> bool:
    """Find a reduce_window that IREE takes for a scan, and that is padded on the other side too."""
    return any(
        like(one) in reading.used and 0 not in sides and len({*sides}) > 1
        for one in reading.of(_WINDOW)
        if (sides := _scanned(reading, one))
    )


def _over_nothing(reading: Reading, one: OpSignature) -> bool:
    """Say whether an op is a reduce over no dimension."""
    return reading.names[one.name] == _REDUCE and not reading.numbers(one, "dimensions")


def _changes(reading: Reading, start: Head | None, root: str) -> bool | None:
    """Say whether to start from a value changes the result; None where that is not known."""
    if start is None or reading.names[start.name].rpartition("_v")[0] != _CONSTANT:
        return None
    data = reading.value(start, "value").get("data")
    if root not in _TOGETHER or not isinstance(data, Blob) or data.size > _LARGEST_SCALAR:
        return None
    value = int.from_bytes(bytes(reading.data[data.offset : data.offset + data.size]), "little")
    element = reading.element(start.results[0])
    if root == _ADD and element in _WITH_ZERO and not value:
        return False
    same = _identities(element, root)
    return None if same is None else value not in same


def _identities(element: str, root: str) -> frozenset[int] | None:
    """Return what an op changes nothing with, as it is stored; None where that is not known."""
    if element == "bool_v1":
        false = root in _ZERO_IS_NONE or root == _MAXIMUM
        return frozenset({0}) if false else frozenset({1, 0xFF})
    if element in _FLOATS:
        infinity, one = _FLOATS[element]
        sign = 1 << (infinity.bit_length())
        return {
            _ADD: frozenset({0, sign}),
            _MULTIPLY: frozenset({one}),
            _MAXIMUM: frozenset({infinity | sign}),
            _MINIMUM: frozenset({infinity}),
        }.get(root)
    if element not in _INTEGERS:
        return None
    signed, bits = _INTEGERS[element]
    greatest = (1 << (bits - signed)) - 1
    return {
        _MULTIPLY: frozenset({1}),
        _AND: frozenset({(1 << bits) - 1}),
        _MAXIMUM: frozenset({greatest + 1 if signed else 0}),
        _MINIMUM: frozenset({greatest}),
    }.get(root, frozenset({0}))


BODIES: dict[str, FormRule] = {
    "reduce_window of windows of one element that pads by a negative amount": FormRule(
        _cuts_single_elements, (ops(_WINDOW),)
    ),
    "reduce_window of adjacent windows with base dilation in other dimensions": FormRule(
        _spreads_single_elements, (ops(_WINDOW),)
    ),
    "body applied to scalars that uses what is not constant around it": FormRule(_uses_outside),
    "body applied to scalars, used or not, that takes what is not constant around it": (
        _takes_from_outside(_CONSTANT)
    ),
    "body applied to scalars, used or not, that takes anything around it": _takes_from_outside(),
    "all_reduce by another computation than XLA has": FormRule(
        _reduces_otherwise(*_ALL_REDUCE), (ops(*_ALL_REDUCE),)
    ),
    "reduce_scatter by another computation than XLA has": FormRule(
        _reduces_otherwise(_REDUCE_SCATTER), (ops(_REDUCE_SCATTER),)
    ),
    "reduce_scatter of floats by maximum": FormRule(
        _takes_the_greatest, (ops(_REDUCE_SCATTER), types(_FLOATS))
    ),
    "all_reduce of bf16 whose body converts it": FormRule(
        _converts, (ops(*_ALL_REDUCE), types(["bf16_v1"]))
    ),
    "reduction of single elements from an initial value that changes them": FormRule(
        _starts_otherwise(_once), (ops(_REDUCE, _WINDOW),)
    ),
    "reduce_window padded with an initial value that changes it": FormRule(
        _starts_otherwise(_padded, _IDEMPOTENT), (ops(_WINDOW),)
    ),
    # The greatest so far may be greater than what it begins with.
    "cumulative reduce_window from an initial value that changes it": weaken(
        FormRule(_starts_otherwise(_is_scan), (ops(_WINDOW),))
    ),
    "cumulative reduce_window that is padded on the other side too": FormRule(
        _scans_more, (ops(_WINDOW),)
    ),
    "reduction of more than 32 elements that is another one of their parts": FormRule(
        _differs_in_parts, (ops(_REDUCE, _WINDOW),)
    ),
    # Every part of a reduction that is computed apart may begin with it.
    "reduction of several elements from an initial value that changes them": weaken(
        FormRule(_starts_otherwise(_of_several, _IDEMPOTENT), (ops(_REDUCE),))
    ),
    "sum over devices of a constant of booleans or complex numbers": _of_constants(
        (*_ALL_REDUCE, _REDUCE_SCATTER, _SUM), frozenset({_ADD}), frozenset({"bool_v1", _COMPLEX})
    ),
    "reduce_window by maximum or minimum of a complex constant": _of_constants(
        (_WINDOW,), frozenset({_MAXIMUM, _MINIMUM}), frozenset({_COMPLEX})
    ),
    "sort by a comparison that is constant": FormRule(
        lambda reading: any(_CONSTANT in one.roots for one in applied_bodies(reading, _SORT)),
        (ops(_SORT),),
    ),
    "reduction over no dimension from an initial value that changes it": FormRule(
        _starts_otherwise(_over_nothing), (ops(_REDUCE),)
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
