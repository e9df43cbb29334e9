"""Forms of ops that are valid and whose sizes, or numbers of dimensions, few programs have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.bytecode.operations import like
from portable.features.devices import replicas_and_partitions
from portable.prediction.flow import by_the_first
from portable.prediction.form import (
    CONVOLUTIONS,
    DYNAMIC_CONVOLUTIONS,
    FormRule,
    kinds,
    ops,
    repeated,
    types,
    weaken,
)
from portable.prediction.parts import QUANTIZED_TYPES
from portable.prediction.windows import (
    SlidingWindow,
    features,
    is_grouped,
    made_products,
    signature_of,
    sums_up,
    truths,
    used_of,
    windows_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from portable.bytecode.operations import Head, OpSignature
    from portable.prediction.flow import Value
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = ["CORNERS", "UNSIGNED_INTEGERS", "as_written"]

_BITS, _SORT, _MODULE = "vhlo.rng_bit_generator_v1", "vhlo.sort_v1", "builtin.module"
_MANUAL = "sdy.manual_computation"
_COMPARE = "vhlo.compare_v1"
# What gives elements in other places, and what is computed apart from what is made of it.
_MOVING = kinds(
    "broadcast_in_dim concatenate dynamic_slice dynamic_update_slice gather pad reshape reverse"
    " scatter slice sort transpose"
)
_APART = kinds("convolution dot_general reduce reduce_window")
_TRANSFORM = "vhlo.fft_v1"
_DRAW, _REAL = "vhlo.rng_v1", frozenset({"bf16_v1", "f16_v1", "f32_v1", "f64_v1"})
_NARROW = _REAL - {"f64_v1"}
# Of which IREE has convolutions as they are.
_PLAIN_NUMBERS = frozenset({"i8_v1", "i32_v1", "f16_v1", "f32_v1", "f64_v1"})
_BARRIER = "vhlo.optimization_barrier_v1"
_CALL, _PARTING = "vhlo.custom_call_v1", ("SPMDFullToShardShape", "SPMDShardToFullShape")
_EQUALITY = ("EQ", "NE")
_TO_INTEGERS = ("vhlo.floor_v1", "vhlo.ceil_v1")
_REVERSE, _SLICE = "vhlo.reverse_v1", "vhlo.slice_v1"
UNSIGNED_INTEGERS = frozenset(f"ui{bits}_v1" for bits in (2, 4, 8, 16, 32, 64))
"""The element types that are integers without a sign."""
_PERMUTE = "vhlo.collective_permute_v1"
_BROADCAST = "vhlo.broadcast_in_dim_v1"
_CONVOLUTION, _REDUCE_WINDOW = "vhlo.convolution_v1", "vhlo.reduce_window_v1"
# Over how many dimensions MLIR has a convolution that keeps strides and dilation as tensors.
_NAMED = (2, 3)
# Collective ops that every device of a group has its own part in.
_DIVIDING = (
    *("vhlo.all_gather_v1", "vhlo.all_gather_v2"),
    *("vhlo.all_to_all_v1", "vhlo.all_to_all_v2"),
    "vhlo.reduce_scatter_v1",
)
_WORDS = {"ui32_v1": 0.5, "ui64_v1": 1}
# The words of 64 bits that the state of an algorithm has, by its number in VHLO.
_STATES = {0: (2, 3), 1: (2,), 2: (2, 3)}


def _other_state(reading: Reading) -> bool:
    """Find a rng_bit_generator whose state has another number of words than its algorithm's."""
    for signature, words, element in _states(reading):
        algorithm = reading.value(signature, "rng_algorithm").get("value")
        if element != "ui64_v1" or not isinstance(algorithm, int):
            continue
        if words not in _STATES.get(algorithm, ()):
            return True
    return False


def _states(reading: Reading) -> Iterator[tuple[OpSignature, int, str]]:
    """Yield each rng_bit_generator with how many elements its state has, and of which type."""
    for signature in used_of(reading, _BITS):
        state = (signature.operand_types or (None,))[0]
        sizes = reading.dimensions(state)
        if state is not None and sizes is not None:
            yield signature, math.prod(sizes), reading.element(state)


def _from_the_end(first: int) -> Callable[[Reading], bool]:
    """Find a sort of a dimension that is counted from the end, at least so far from it."""

    def found(reading: Reading) -> bool:
        for signature in used_of(reading, _SORT):
            value = reading.value(signature, "dimension").get("value")
            if isinstance(value, int) and value <= -first:
                return True
        return False

    return found


def _orders_complex_numbers(reading: Reading) -> bool:
    """Find a compare of complex numbers, of which there are some, for more than equality."""
    return any(
        reading.case(one, "comparison_direction") not in _EQUALITY
        for one in used_of(reading, _COMPARE)
        for type_ in (one.operand_types or ())[:1]
        if type_ is not None
        and reading.element(type_) == "complex_v1"
        and reading.content.pool.count(type_) != 0
    )


_COMPLEX_ORDER = FormRule(_orders_complex_numbers, (types(["complex_v1"]), ops(_COMPARE)))


def _counts(reading: Reading) -> list[tuple[int, int]]:
    """Return for how many replicas and parts each module is."""
    content = reading.content
    modules = (content.attributes_of(module) for module in reading.of(_MODULE))
    return [replicas_and_partitions(content, one) for one in modules]


def _takes_parts_of_one(reading: Reading) -> bool | None:
    """Find a call between the whole and a part of another shape, in a module of one part.

    Perhaps one of an argument is such, whose shape is not looked for.
    """
    if max((parts for _, parts in _counts(reading)), default=1) > 1:
        return False
    perhaps = False
    for visit in reading.walk.of([_CALL]):
        target = reading.value(visit.operation, "call_target_name").get("value")
        if target not in _PARTING or like(visit.operation) not in reading.used:
            continue
        whole = next(iter(visit.sources), None)
        part = next(iter(visit.operation.results), None)
        if whole is None or part is None:
            perhaps = True
        elif reading.dimensions(reading.walk.type(whole)) != reading.dimensions(part):
            return True
    return None if perhaps else False


def _computes_parts_of_one(reading: Reading) -> bool:
    """Find an op of Shardy that computes with parts in a module of one."""
    computes = any(True for _ in reading.of(_MANUAL))
    return computes and max((parts for _, parts in _counts(reading)), default=1) == 1


def _is_left_to_shardy(reading: Reading) -> bool | None:
    """Find an op of Shardy that computes; perhaps a manual_computation: one over a device may go.

    Meshes, and the shardings of other ops, are what a compiler without it ignores.
    """
    found = {op for op in reading.ops if op.startswith("sdy.")} - {"sdy.mesh", "sdy.return"}
    return None if found == {_MANUAL} else bool(found)


def _transforms_several(reading: Reading) -> bool:
    """Find a Fourier transform of real numbers over more than one dimension."""
    for one in used_of(reading, _TRANSFORM):
        lengths = reading.value(one, "fft_length").get("type")
        several = isinstance(lengths, int) and (reading.content.pool.count(lengths) or 0) > 1
        if several and reading.case(one, "fft_type") == "RFFT":
            return True
    return False


def _draws_integers(reading: Reading) -> bool:
    """Find an rng of something else than floats."""
    drawn = (reading.element(type_) for one in used_of(reading, _DRAW) for type_ in one.results)
    return not {*drawn} <= _REAL


def _draws_one(reading: Reading) -> bool:
    """Find one number of the normal distribution, in several dimensions."""
    return any(_is_one_drawn(reading, one) for one in used_of(reading, _DRAW))


def _is_one_drawn(reading: Reading, drawn: Head | OpSignature) -> bool:
    shape = reading.dimensions(reading.result(drawn)) or ()
    one = len(shape) > 1 and {*shape} == {1}
    return one and reading.case(drawn, "rng_distribution") == "NORMAL"


def _keeps_one_drawn(reading: Reading) -> bool | None:
    """Find perhaps one number of the normal distribution, in dimensions, that a barrier keeps.

    IREE puts it together with what takes both, by other dimensions.
    """
    for visit in reading.walk.of([_BARRIER]):
        for source in visit.sources:
            drawn = reading.walk.head(source[0]) if source else None
            if drawn is None or reading.names[drawn.name] != _DRAW:
                continue
            if _is_one_drawn(reading, drawn):
                return None
    return False


def _is_of_scalars(*names: str) -> FormRule:
    """Find one of some ops that gives a scalar."""
    return FormRule(
        lambda reading: any(
            reading.dimensions(type_) == []
            for one in used_of(reading, *names)
            for type_ in one.results
        ),
        (ops(*names),),
    )


def _more_devices(reading: Reading) -> bool:
    """Find a collective op of groups that are greater than the number of devices."""
    collectives = [*used_of(reading, *_DIVIDING)]
    if not collectives:
        return False
    devices = max(map(math.prod, _counts(reading)), default=1)
    for one in collectives:
        type_ = reading.value(one, "replica_groups").get("type")
        sizes = reading.dimensions(type_ if isinstance(type_, int) else None)
        if sizes is not None and len(sizes) > 1 and sizes[1] > devices:
            return True
    return False


def _has_no_pairs(reading: Reading) -> bool:
    """Find a collective_permute between no devices."""
    types = (reading.value(one, "source_target_pairs").get("type") for one in reading.of(_PERMUTE))
    return any(isinstance(one, int) and reading.content.pool.count(one) == 0 for one in types)


def _has_words(asked: Callable[[float], bool]) -> FormRule:
    """Find a rng_bit_generator by the number of words of 64 bits of its state."""

    def find(reading: Reading) -> bool:
        return any(
            element in _WORDS and asked(count * _WORDS[element])
            for _, count, element in _states(reading)
        )

    return FormRule(find, (ops(_BITS),))


def _is_stable(reading: Reading) -> bool | None:
    """Find a stable sort of several operands: perhaps some of the elements compared are equal."""
    found = (
        one.operands > 1 and reading.value(one, "is_stable").get("value")
        for one in used_of(reading, _SORT)
    )
    return None if any(found) else False


def _reverses_all(reading: Reading) -> bool:
    """Find a convolution that reverses a kernel of one element or all of what it goes over.

    Of one input and one output feature, and moved by one: XLA makes it a product.
    """
    for one, windows in made_products(reading):
        reversed_ = truths(reading, one, "window_reversal", len(windows))
        if any(w.size > 1 and turned for w, turned in zip(windows, reversed_, strict=True)):
            return True
    return False


def _turned(reading: Reading) -> Iterator[tuple[OpSignature, SlidingWindow]]:
    """Yield the reversed windows of several elements, each with its convolution."""
    for one in used_of(reading, _CONVOLUTION):
        windows = [*windows_of(reading, one)] if one.results else []
        turned = truths(reading, one, "window_reversal", len(windows))
        for window, is_turned in zip(windows, turned, strict=False):
            if is_turned and window.size > 1:
                yield one, window


def _reverses_what_fits_once(reading: Reading) -> bool | None:
    """Find a convolution with a reversed window, of several elements, that fits once.

    IREE reverses a kernel that is constant before it compiles anything.
    """
    perhaps = False
    for visit in reading.walk.of([_CONVOLUTION]):
        kernel = visit.sources[1] if len(visit.sources) > 1 else None
        if like(visit.operation) in reading.used and visit.constant(kernel) is None:
            found = _is_not_turned(reading, signature_of(reading, visit))
            if found and (kernel is None or kernel[0] not in reading.folded):
                return True
            perhaps |= found is not False
    return None if perhaps else False


def _is_not_turned(reading: Reading, one: OpSignature) -> bool | None:
    """Say whether IREE has no way to reverse the window of a convolution; None if that is open.

    Over two dimensions it has none where a reversed window fits once, unless both are reversed and
    the other one fits more often.
    """
    windows = [*windows_of(reading, one)] if one.results else []
    several = truths(reading, one, "window_reversal", len(windows))
    turned = [w for w, is_it in zip(windows, several, strict=False) if is_it and w.size > 1]
    if all(window.result > 1 for window in turned):
        return False
    plain = all(window.is_plain for window in windows)
    numbers = reading.element(one.results[0]) in _PLAIN_NUMBERS
    if len(windows) not in _NAMED[:1] or not plain or not numbers or is_grouped(reading, one):
        return None
    places = math.prod(window.result for window in windows)
    if len(turned) == len(windows) and places > 1:
        return False
    return True if places > 1 or reading.content.pool.count(one.results[0]) != 1 else None


def _reverses_of_several_features(reading: Reading) -> bool:
    """Find a convolution with a reversed window, over several features."""
    return any(features(reading, one) not in (0, 1) for one, _ in _turned(reading))


def _reverses_quantized(reading: Reading) -> bool | None:
    """Find perhaps a quantized convolution with a reversed window.

    IREE sums up the windows of its operand by themselves, where zero is not stored as zero, and
    over one dimension; over two it refuses some.
    """
    for one in used_of(reading, _CONVOLUTION):
        quantized = reading.gives(one, QUANTIZED_TYPES)
        windows = len([*windows_of(reading, one)]) if quantized else 0
        if any(truths(reading, one, "window_reversal", windows)):
            return None
    return False


def _fits_once(op: str) -> FormRule:
    """Find a window of an op that fits once over more than it covers.

    In groups its elements may be apart.
    """

    def find(reading: Reading) -> bool:
        return any(
            window.fits_once(spread=is_grouped(reading, one))
            for one in used_of(reading, op)
            if one.results
            for window in windows_of(reading, one)
        )

    return FormRule(find, (ops(op),))


def _groups_without_space(reading: Reading) -> bool:
    """Find a convolution in groups of several features, over no dimension."""
    return any(
        is_grouped(reading, one, "feature")
        and features(reading, one) > 1
        and not reading.numbers(one, "input_spatial_dimensions")
        for one in used_of(reading, *CONVOLUTIONS)
    )


def _moves_over_what_is_spread(reading: Reading) -> bool:
    """Find a convolution along one dimension, of one feature, with a stride and a spread base.

    One input feature, or one output feature; others of its dimensions are of one element. What its
    window reads may be nothing but what is added between: that is not looked for. f64 is right.
    """
    for one in used_of(reading, _CONVOLUTION):
        narrow = not _NARROW.isdisjoint(map(reading.element, one.results))
        windows = [*windows_of(reading, one)] if narrow else []
        long = [w for w in windows if not w.size == w.base == 1]
        along = len(windows) in {1, 2} and len(long) == 1 and min(long[0].size, long[0].base) > 1
        moved = any(w.stride > 1 for w in windows) and any(w.base_spread > 1 for w in windows)
        together = all(w.spread == 1 for w in windows) and not is_grouped(reading, one, "feature")
        turned = any(truths(reading, one, "window_reversal", len(windows)))
        single = 1 in (features(reading, one), features(reading, one, "output"))
        if along and moved and together and not turned and single:
            return True
    return False


def _reverses_each(reading: Reading) -> bool:
    """Find a convolution of each feature by itself, with a reversed window."""
    return any(
        is_grouped(reading, one, "feature") and features(reading, one) == 1
        for one, _ in _turned(reading)
    )


def _moves_by_one(reading: Reading) -> bool:
    """Find a convolution in one group over two or three dimensions, stride or dilation of 1.

    One without elements is removed before it is compiled.
    """
    for one in used_of(reading, _CONVOLUTION):
        if (
            not one.results
            or is_grouped(reading, one)
            or reading.content.pool.count(one.results[0]) == 0
        ):
            continue
        windows = [*windows_of(reading, one)]
        alike = all(w.stride == 1 for w in windows) or all(w.spread == 1 for w in windows)
        if len(windows) in _NAMED and alike:
            return True
    return False


def _sums_up(elements: frozenset[str]) -> FormRule:
    """Find a reduce_window over all elements before, or behind, each one.

    Args:
        elements: The element types, any of which it is of.
    """

    def find(reading: Reading) -> bool:
        for one in used_of(reading, _REDUCE_WINDOW):
            if elements.isdisjoint(map(reading.element, one.results)):
                continue
            if sums_up(reading, one):
                return True
        return False

    return FormRule(find, (types(elements), ops(_REDUCE_WINDOW)))


def _compares_with_its_integer(reading: Reading) -> bool | None:
    """Find a compare, for whether they are equal, of numbers with their own floor or ceil.

    Not where another op takes the integers too: LLVM keeps them then. Perhaps it does not where one
    moves elements, since IREE may compute the integers once for each.
    """
    compared = {*_compared_with_integers(reading)}
    if not compared:
        return False
    taking: dict[object, set[object]] = {}  # by what is rounded, once for what is equal
    rounded = {one.number: as_written(one) for one in reading.walk.of(_TO_INTEGERS)}
    for visit in reading.walk if rounded else ():
        sources = [one[0] if one else -1 for one in visit.sources]
        for number in {*sources} & rounded.keys() if like(visit.operation) in reading.used else ():
            taking.setdefault(rounded[number], set()).add(as_written(visit, rounded))
    others = {one for one in compared if len(taking.get(rounded[one], ())) > 1}
    if others != compared:
        return True
    flow, along = reading.flow, {*reading.kinds} - _MOVING - _APART
    reached = flow.reached({(one, 0) for one in compared}, lambda _: True, along)
    moved = (value for visit in reading.walk.of(_MOVING) for value in flow.operands(visit))
    return None if any(value in reached for value in moved) else False


def as_written(visit: Visit, rounded: Mapping[int, object] = {}) -> object:
    """Return what is the same for operations that are.

    Args:
        visit: An operation.
        rounded: By their numbers operations that are known by what they are of.
    """
    operation = visit.operation
    taken = zip(visit.sources, visit.operands, strict=True)
    operands = tuple(rounded.get(one[0], value) if one else value for one, value in taken)
    attributes = operation.properties, operation.attributes
    return operation.name, operation.depth, *attributes, operands


def _compared_with_integers(reading: Reading) -> Iterator[int]:
    """Yield the floors and ceils that are compared, for equality, with what they are of."""
    for visit in reading.walk.of([_COMPARE]):
        operation, sources = visit.operation, visit.sources
        asked = reading.case(operation, "comparison_direction")
        if asked not in _EQUALITY or len(sources) != 2 or like(operation) not in reading.used:
            continue
        for source, other in zip(sources, reversed(visit.operands), strict=True):
            made = reading.walk[source[0]] if source else None
            if made is None or made.name not in _TO_INTEGERS:
                continue
            if made.operation.depth == operation.depth and made.operands == (other,):
                yield made.number
                break


def _reverses_a_strided_slice(reading: Reading) -> bool:
    """Find a reverse of what a slice takes one of several elements of."""
    known: dict[tuple[int, int], bool] = {}  # any number of slices may share theirs
    for visit in reading.walk.of([_REVERSE]):
        made = None if visit.first is None else reading.walk[visit.first]
        if made is None or made.name != _SLICE:
            continue
        key = made.operation.properties, made.operation.attributes
        if key not in known:
            known[key] = max(reading.numbers(made.operation, "strides"), default=1) > 1
        if known[key]:
            return True
    return False


def _leaves_one(reading: Reading) -> bool | None:
    """Find a slice whose stride leaves one element of a dimension.

    Where main returns it and the last dimension is left whole; perhaps elsewhere, by what else is
    of one dispatch, and where a slice of what has the stride leaves it.
    """
    found: set[Value] = set()
    returned: set[Value] = set()
    strided: dict[int | None, list[int]] = {}
    moving = {
        like(one): reading.numbers(one, "strides")
        for one in used_of(reading, _SLICE)
        if max(reading.numbers(one, "strides"), default=1) > 1
    }
    for visit in reading.walk.of([_SLICE]) if moving else ():
        strides = moving.get(like(visit.operation), (1,))
        shape = reading.dimensions((*visit.operation.results, None)[0])
        if not shape:
            continue
        left = [at for at, stride in enumerate(repeated(strides, len(shape))) if stride > 1]
        before = strided.get(visit.first, [])
        strided[visit.number] = [*left, *before]
        if any(at < len(shape) and shape[at] == 1 for at in before):
            found.add((visit.number, 0))
        if any(shape[at] == 1 for at in left):
            found.add((visit.number, 0))
            taken = next(map(reading.flow.type, reading.flow.operands(visit)), None)
            whole = shape[-1] == (reading.dimensions(taken) or shape)[-1] > 1
            if whole and visit.number not in reading.folded and len(shape) - 1 not in left:
                returned.add((visit.number, 0))
    given = reading.flow.reached(returned, by_the_first, ())
    if any(number == reading.functions.main and at >= 0 for number, at in given):
        return True
    return None if found else False


def _swaps_nothing(reading: Reading) -> bool | None:
    """Find a broadcast_in_dim without elements that swaps dimensions and stretches one.

    Of more than two dimensions perhaps it is another, by what else is rewritten before.
    """
    results = {type_ for one in reading.of(_BROADCAST) for type_ in one.results}
    if not any(0 in (reading.dimensions(type_) or ()) for type_ in results):
        return False
    # Hardly an artifact has one: what their operands are is read only where there is one.
    names = {index for index, name in enumerate(reading.names) if name == _BROADCAST}
    scan = reading.content.scan(reading.content.scan().typed | names)
    perhaps = False
    for one in (*scan.signatures, *reading.of(_BROADCAST)):
        if one.name not in names or like(one) not in reading.used:
            continue
        operand = reading.dimensions((one.operand_types or (None,))[0])
        result = reading.dimensions(one.results[0] if one.results else None)
        if not operand or result is None or 0 not in operand or len(operand) != len(result):
            continue
        order = reading.numbers(one, "broadcast_dimensions")
        swaps = sorted(order) == [*range(len(operand))] != [*order]
        if swaps and any(size != result[at] for size, at in zip(operand, order, strict=True)):
            if len(operand) == 2:
                return True
            perhaps = True
    return None if perhaps else False


_BY_PARTS = FormRule(_computes_parts_of_one, (frozenset({"dialect:sdy"}),))

CORNERS: dict[str, FormRule] = {
    "reduce_window that sums up unsigned integers one by one": _sums_up(UNSIGNED_INTEGERS),
    "reduce_window that sums up booleans one by one": _sums_up(frozenset({"bool_v1"})),
    "reverse of a slice with strides": FormRule(
        _reverses_a_strided_slice, (ops(_REVERSE), ops(_SLICE)), across=True
    ),
    "slice whose stride leaves one element of a dimension": FormRule(_leaves_one, (ops(_SLICE),)),
    "compare of numbers with their own floor or ceil for equality": FormRule(
        _compares_with_its_integer, (ops(*_TO_INTEGERS), ops(_COMPARE)), across=True
    ),
    "broadcast_in_dim without elements that swaps dimensions and stretches one": FormRule(
        _swaps_nothing, (ops(_BROADCAST),)
    ),
    "manual_computation of sdy in a module of one part": _BY_PARTS,
    # How many devices its mesh has is not looked for.
    "manual_computation of sdy over several devices in a module of one part": weaken(_BY_PARTS),
    "op of sdy that is more than a mesh": FormRule(
        _is_left_to_shardy, (frozenset({"dialect:sdy"}),)
    ),
    "fft of real numbers over several dimensions": FormRule(
        _transforms_several, (ops(_TRANSFORM),)
    ),
    "rng of integers": FormRule(_draws_integers, (ops(_DRAW),)),
    "dynamic_slice of a scalar": _is_of_scalars("vhlo.dynamic_slice_v1"),
    "reverse or dynamic_pad of a scalar": _is_of_scalars(_REVERSE, "vhlo.dynamic_pad_v1"),
    "select_and_scatter of scalars": _is_of_scalars("vhlo.select_and_scatter_v1"),
    "call for a part of another shape in a module of one part": FormRule(
        _takes_parts_of_one, (ops(_CALL),)
    ),
    "collective_permute without pairs": FormRule(_has_no_pairs, (ops(_PERMUTE),)),
    "dynamic_conv": FormRule(
        lambda reading: any(True for _ in used_of(reading, *DYNAMIC_CONVOLUTIONS)),
        (ops(*DYNAMIC_CONVOLUTIONS),),
    ),
    "rng_bit_generator with a state of other than two or three words": _has_words(
        lambda count: count not in (2, 3)
    ),
    "rng_bit_generator with a state of three words": _has_words(lambda count: count == 3),
    "convolution in groups of several features, over no dimension": FormRule(
        _groups_without_space, (ops(*CONVOLUTIONS),)
    ),
    "convolution along one dimension, of one feature, with a stride and elements apart": FormRule(
        _moves_over_what_is_spread, (ops(_CONVOLUTION),)
    ),
    "convolution of each feature by itself, with a reversed window": FormRule(
        _reverses_each, (ops(_CONVOLUTION),)
    ),
    "stable sort of several operands": FormRule(_is_stable, (ops(_SORT),)),
    "convolution whose window fits once because of its stride, and leaves elements over": (
        _fits_once(_CONVOLUTION)
    ),
    "reduce_window that fits once because of its stride, and leaves elements over": (
        _fits_once(_REDUCE_WINDOW)
    ),
    "convolution in one group over two or three dimensions, stride or dilation of 1": FormRule(
        _moves_by_one, (ops(_CONVOLUTION),)
    ),
    # Perhaps not where another op takes it.
    "one number of the normal distribution in several dimensions": weaken(
        FormRule(_draws_one, (ops(_DRAW),))
    ),
    "one number of the normal distribution that a barrier keeps": FormRule(
        _keeps_one_drawn, (ops(_DRAW), ops(_BARRIER))
    ),
    "quantized convolution with a reversed window": FormRule(
        _reverses_quantized, (ops(_CONVOLUTION), types(QUANTIZED_TYPES))
    ),
    "convolution with a reversed window": FormRule(
        lambda reading: any(True for _ in _turned(reading)), (ops(_CONVOLUTION),)
    ),
    "convolution with a reversed window of several features": weaken(
        FormRule(_reverses_of_several_features, (ops(_CONVOLUTION),))
    ),
    "convolution with a reversed window that fits once": FormRule(
        _reverses_what_fits_once, (ops(_CONVOLUTION),)
    ),
    "convolution whose reversed window fits once, of one feature": FormRule(
        _reverses_all, (ops(_CONVOLUTION),)
    ),
    "rng_bit_generator with a state that its algorithm does not have": FormRule(
        _other_state, (ops(_BITS),)
    ),
    "compare of complex numbers by their order": _COMPLEX_ORDER,
    # Some compilers take what is computed, and no arguments.
    "compare of complex numbers by their order that may be of arguments": weaken(_COMPLEX_ORDER),
    "sort of a dimension that is counted from the end": FormRule(_from_the_end(1), (ops(_SORT),)),
    "sort of a dimension before the last one that is counted from the end": FormRule(
        _from_the_end(2), (ops(_SORT),)
    ),
    "all_gather, all_to_all or reduce_scatter over more devices than there are": FormRule(
        _more_devices, (ops(*_DIVIDING),)
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
