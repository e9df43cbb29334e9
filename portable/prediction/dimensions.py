"""What StableHLO's verifier demands of the types and dimensions of each op.

A rule says whether an op is right, and is not asked where one of the types is not known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from portable.prediction.tensors import (
    BOOL,
    DYNAMIC,
    INDEX,
    RankedTensor,
    Rule,
    TypedOp,
    chosen,
    fit,
    same,
)
from portable.system.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["INDEXED", "RULES", "WITHOUT_OPERANDS"]

INDEXED = frozenset({"gather", "scatter"})
"""The ops of `RULES` whose operands may have elements of type index."""
WITHOUT_OPERANDS = frozenset({"constant", "iota"})
"""Those that have none."""


def _alike(op: TypedOp) -> bool:
    """Operands and results are of one shape and one element type."""
    first = op.operands[0]
    return all(first.like(one) and first.of(one) for one in (*op.operands[1:], *op.results))


def _of_one_shape(op: TypedOp) -> bool:
    first = op.operands[0]
    return all(map(first.like, (*op.operands[1:], *op.results)))


def _compared(op: TypedOp) -> bool:
    left, right = op.operands
    return _of_one_shape(op) and left.of(right) and op.results[0].element == BOOL


def _tested(op: TypedOp) -> bool:
    return _of_one_shape(op) and op.results[0].element == BOOL


def _part(op: TypedOp) -> bool:
    """The absolute value, real or imaginary part."""
    whole, part = op.operands[0], op.results[0]
    of = RankedTensor(whole.shape, whole.element.removeprefix("complex "))
    return of.like(part) and of.of(part)


def _joined(op: TypedOp) -> bool:
    """A complex number."""
    part, whole = op.operands[0], op.results[0]
    return (
        _of_one_shape(op) and part.of(op.operands[1]) and whole.element == f"complex {part.element}"
    )


def _selected(op: TypedOp) -> bool:
    predicate, *values = op.operands
    first, others = values[0], (*values[1:], *op.results)
    right = predicate.element == BOOL and (not predicate.shape or predicate.like(first))
    return right and all(first.like(one) and first.of(one) for one in others)


def _clamped(op: TypedOp) -> bool:
    least, operand, most = op.operands
    return (
        all(not one.shape or one.like(operand) for one in (least, most))
        and operand.like(op.results[0])
        and all(map(operand.of, (least, most, *op.results)))
    )


def _constant(op: TypedOp) -> bool:
    value = op.types.reading.value(op.signature, "value").get("type")
    held = op.types.tensor(value if isinstance(value, int) else None)
    result = op.results[0]
    if isinstance(held, bool):
        return held
    right = held == result or (result.is_quantized and held.like(result))
    return right and _is_static(op) and not held.is_quantized and result.element != INDEX


def _counting(op: TypedOp) -> bool:
    return _is_static(op) and 0 <= op.integer("iota_dimension") < len(op.result)


def _is_static(op: TypedOp) -> bool:
    return op.results[0].is_bounded or DYNAMIC not in op.result


def _broadcast(op: TypedOp) -> bool:
    (into,) = op.numbers("broadcast_dimensions")
    result = op.result
    return (
        len(into) == op.rank
        and _is_static(op)
        and chosen(into, len(result))
        and op.operands[0].of(op.results[0])
        and all(
            size == 1 or same(size, result[at]) for size, at in zip(op.operand, into, strict=True)
        )
    )


def _reshaped(op: TypedOp) -> bool:
    one, other = op.operand, op.result
    right = DYNAMIC in one or DYNAMIC in other or math.prod(one) == math.prod(other)
    return right and _is_static(op) and op.operands[0].of(op.results[0])


def _transposed(op: TypedOp) -> bool:
    (order,) = op.numbers("permutation")
    return (
        len(order) == op.rank
        and chosen(order, op.rank)
        and fit([op.operand[at] for at in order], op.result)
        and op.operands[0].of(op.results[0])
    )


def _reversed(op: TypedOp) -> bool:
    (along,) = op.numbers("dimensions")
    return chosen(along, op.rank) and _alike(op)


def _sliced(op: TypedOp) -> bool:
    starts, limits, strides = found = op.numbers("start_indices", "limit_indices", "strides")
    if {*map(len, found)} != {op.rank} or len(op.result) != op.rank:
        return False
    for size, start, limit, stride in zip(op.operand, starts, limits, strides, strict=True):
        if not 0 <= start <= limit or (limit > size != DYNAMIC) or stride < 1:
            return False
    sizes = [
        -(-(limit - start) // stride)
        for start, limit, stride in zip(starts, limits, strides, strict=True)
    ]
    return fit(sizes, op.result) and op.operands[0].of(op.results[0])


def _padded(op: TypedOp) -> bool:
    found = op.numbers("edge_padding_low", "edge_padding_high", "interior_padding")
    if {*map(len, found)} != {op.rank} or op.operands[1].shape or min(found[2], default=0) < 0:
        return False
    sizes = [
        size if size == DYNAMIC else size + low + high + max(size - 1, 0) * inside
        for size, low, high, inside in zip(op.operand, *found, strict=True)
    ]
    return fit(sizes, op.result) and all(map(op.operands[0].of, (op.operands[1], *op.results)))


def _concatenated(op: TypedOp) -> bool:
    along, rank = op.integer("dimension"), op.rank
    if not 0 <= along < rank:
        return False
    for one in (*op.operands, *op.results):
        rest = len(one.shape) == rank and fit(
            one.shape[:along] + one.shape[along + 1 :],
            op.operand[:along] + op.operand[along + 1 :],
        )
        if not rest or not one.of(op.operands[0]):
            return False
    sizes = [one.shape[along] for one in op.operands]
    total = DYNAMIC if DYNAMIC in sizes else sum(sizes)
    return same(total, op.result[along])


def _reduced(op: TypedOp) -> bool:
    (along,) = op.numbers("dimensions")
    first = op.operand
    if not chosen(along, len(first)) or not _begins(op):
        return False
    left = [size for at, size in enumerate(first) if at not in along]
    return all(fit(left, one.shape) for one in op.results)


def _begins(op: TypedOp) -> bool:
    """Whether half of the operands are of one shape, and the others what they begin with."""
    count = len(op.operands) // 2
    inputs, initial = op.operands[:count], op.operands[count:]
    return len(inputs) == len(initial) and all(
        one.like(inputs[0])
        and not beginning.shape
        and (one.of(beginning) or one.kind == beginning.kind)
        for one, beginning in zip(inputs, initial, strict=True)
    )


def _multiplied(op: TypedOp) -> bool:
    """A `dot_general`."""
    left, right = (one.shape for one in op.operands)
    batches = op.numbers("lhs_batching_dimensions", "rhs_batching_dimensions")
    summed = op.numbers("lhs_contracting_dimensions", "rhs_contracting_dimensions")
    taken = [one + other for one, other in zip(batches, summed, strict=True)]
    if len(batches[0]) != len(batches[1]) or len(summed[0]) != len(summed[1]):
        return False
    if not chosen(taken[0], len(left)) or not chosen(taken[1], len(right)):
        return False
    pairs = zip(*taken, strict=True)
    rest = [
        [size for at, size in enumerate(side) if at not in gone]
        for side, gone in zip((left, right), taken, strict=True)
    ]
    return all(same(left[one], right[other]) for one, other in pairs) and fit(
        [*(left[at] for at in batches[0]), *rest[0], *rest[1]], op.result
    )


def _cut(op: TypedOp) -> bool:
    """A `dynamic_slice`."""
    (sizes,) = op.numbers("slice_sizes")
    return (
        len(sizes) == op.rank == len(op.operands) - 1
        and _within(sizes, op.operand)
        and all(map(_is_index, op.operands[1:]))
        and fit(sizes, op.result)
        and op.operands[0].of(op.results[0])
    )


def _within(sizes: Sequence[int], whole: Sequence[int]) -> bool:
    """Whether each size is one of a part of the whole."""
    return len(sizes) == len(whole) and all(
        DYNAMIC in {one, size} or 0 <= one <= size for one, size in zip(sizes, whole, strict=True)
    )


def _is_index(one: RankedTensor) -> bool:
    return not one.shape and one.kind == "integer"


def _updated(op: TypedOp) -> bool:
    """A `dynamic_update_slice`."""
    operand, update, *indices = op.operands
    return (
        len(indices) == op.rank
        and _within(update.shape, operand.shape)
        and all(map(_is_index, indices))
        and all(map(operand.of, (update, *op.results)))
        and operand.like(op.results[0])
    )


def _gathered(op: TypedOp) -> bool:
    offsets, left_out, mapped, sizes = op.numbers(
        "offset_dims", "collapsed_slice_dims", "start_index_map", "slice_sizes"
    )
    indices = op.operands[1]
    return (
        _rising(offsets, len(op.result))
        and _rising(left_out, op.rank)
        and chosen(mapped, op.rank)
        and _within(sizes, op.operand)
        and all(sizes[at] <= 1 for at in left_out)
        and len(op.result) == len(offsets) + _batches(op, indices)
        and op.operands[0].of(op.results[0])
        and indices.kind in _OF_INDICES
    )


# What elements the indices of a gather or scatter have.
_OF_INDICES = ("integer", "index")


def _batches(op: TypedOp, indices: RankedTensor) -> int:
    """Count the dimensions of indices without that in which their parts are; -1 if it is none."""
    at, rank = op.integer("index_vector_dim"), len(indices.shape)
    return rank - (at < rank) if 0 <= at <= rank else -1 - rank


def _rising(numbers: Sequence[int], count: int) -> bool:
    return chosen(numbers, count) and sorted(numbers) == [*numbers]


def _scattered(op: TypedOp) -> bool:
    windows, inserted, mapped = op.numbers(
        "update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims"
    )
    count = len(op.operands) // 2
    indices, updates = op.operands[count], op.operands[-1].shape
    return (
        _rising(windows, len(updates))
        and _rising(inserted, op.rank)
        and chosen(mapped, op.rank)
        and len(updates) == len(windows) + _batches(op, indices)
        and indices.kind in _OF_INDICES
        and all(map(RankedTensor.like, op.operands[:count], op.results))
    )


def _sorted(op: TypedOp) -> bool:
    along = op.integer("dimension")
    right = all(map(RankedTensor.of, op.operands, op.results)) and len(op.operands) == len(
        op.results
    )
    return right and _of_one_shape(op) and -op.rank <= along < max(op.rank, 1)


def _mapped(op: TypedOp) -> bool:
    (over,) = op.numbers("dimensions")
    return [*over] == [*range(op.rank)] and _of_one_shape(op)


def _transformed(op: TypedOp) -> bool:
    """A Fourier transform; only that of real numbers takes them."""
    kind = op.types.reading.case(op.signature, "fft_type")
    (lengths,) = op.numbers("fft_length")
    count = len(lengths)
    if op.operands[0].kind != ("float" if kind == "RFFT" else "complex"):
        return False
    if not 0 < count <= op.rank:
        return False
    if kind not in {"RFFT", "IRFFT"}:
        return fit(op.operand, op.result)
    # Of real numbers one half of the transform is the other.
    halved = (*lengths[:-1], lengths[-1] // 2 + 1)
    taken, given = (halved, lengths) if kind == "IRFFT" else (lengths, halved)
    around = op.operand[:-count]
    return fit(taken, op.operand[-count:]) and fit((*around, *given), op.result)


def _measured(op: TypedOp) -> bool:
    return 0 <= op.integer("dimension") < op.rank


_CONVOLVED = (
    ("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
    (
        "kernel_input_feature_dimension",
        "kernel_output_feature_dimension",
        "kernel_spatial_dimensions",
    ),
    ("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"),
)


def _convolved(op: TypedOp) -> bool:
    sides = [one.shape for one in (*op.operands, *op.results)]
    dimensions = []
    for one, other, field in _CONVOLVED:
        (rest,) = op.numbers(field)
        dimensions.append((op.integer(one), op.integer(other), *rest))
    if any(
        {len(side), len(named)} != {op.rank} or not chosen(named, op.rank)
        for side, named in zip(sides, dimensions, strict=True)
    ):
        return False
    operand, kernel, result = (
        [side[at] for at in named] for side, named in zip(sides, dimensions, strict=True)
    )
    groups, batches = op.integer("feature_group_count"), op.integer("batch_group_count")
    if min(groups, batches) < 1:
        return False
    windows = _counted(
        operand[2:],
        kernel[2:],
        op.numbers("window_strides", "lhs_dilation", "rhs_dilation"),
        *op.numbers("padding"),
    )
    batch = DYNAMIC if operand[0] == DYNAMIC else operand[0] // batches
    features = DYNAMIC if operand[1] == DYNAMIC else operand[1] // groups
    expected = [batch, kernel[1], *windows]
    return bool(windows or not operand[2:]) and same(features, kernel[0]) and fit(expected, result)


def _windowed(op: TypedOp) -> bool:
    (sizes,) = op.numbers("window_dimensions")
    steps = op.numbers("window_strides", "base_dilations", "window_dilations")
    found = _counted(op.operand, sizes, steps, *op.numbers("padding"))
    return (
        _begins(op)
        and bool(found or not op.operand)
        and all(fit(found, one.shape) for one in op.results)
    )


def _counted(
    operand: Sequence[int],
    window: Sequence[int],
    steps: Sequence[Sequence[int]],
    padding: Sequence[int],
) -> list[int]:
    """Count the places of a window in each dimension; nothing if something does not fit.

    Args:
        operand: The sizes of what it moves over.
        window: Its sizes.
        steps: By how much it moves, how far apart what it moves over is, and what is in it.
        padding: How much is added before and behind each dimension.

    Steps and padding may be empty, as if they were not there.
    """
    count = len(operand)
    steps, padding = [one or (1,) * count for one in steps], padding or (0,) * 2 * count
    if {*map(len, (window, *steps))} != {count} or len(padding) != 2 * count:
        return []
    found = []
    for at, (size, width) in enumerate(zip(operand, window, strict=True)):
        stride, apart, inside = (one[at] for one in steps)
        if DYNAMIC in {size, width}:
            found.append(DYNAMIC)
            continue
        if min(stride, apart, inside) < 1:
            return []
        spread = max(size - 1, 0) * apart + min(size, 1) + sum(padding[2 * at : 2 * at + 2])
        reach = max(width - 1, 0) * inside + min(width, 1)
        found.append((spread - reach) // stride + 1 if 0 < spread >= reach else 0)
    return found


def _quantized(op: TypedOp) -> bool:
    return _of_one_shape(op) and op.results[0].is_quantized


def _dequantized(op: TypedOp) -> bool:
    return _of_one_shape(op) and op.operands[0].is_quantized


_SPECIAL: dict[str, Rule] = {
    "abs": _part,
    "broadcast_in_dim": _broadcast,
    "cholesky": _alike,
    "clamp": _clamped,
    "compare": _compared,
    "complex": _joined,
    "concatenate": _concatenated,
    "constant": _constant,
    "convert": _of_one_shape,
    "convolution": _convolved,
    "dot_general": _multiplied,
    "dynamic_slice": _cut,
    "dynamic_update_slice": _updated,
    "fft": _transformed,
    "gather": _gathered,
    "get_dimension_size": _measured,
    "imag": _part,
    "iota": _counting,
    "is_finite": _tested,
    "map": _mapped,
    "pad": _padded,
    "real": _part,
    "reduce": _reduced,
    "reduce_window": _windowed,
    "reshape": _reshaped,
    "reverse": _reversed,
    "scatter": _scattered,
    "select": _selected,
    "slice": _sliced,
    "sort": _sorted,
    "transpose": _transposed,
    "uniform_dequantize": _dequantized,
    "uniform_quantize": _quantized,
}


def _table() -> dict[str, Rule]:
    """Return the rule of each op, with the elements that it demands of its operands."""
    table = read_table(__file__, "elements.ini")
    found = dict.fromkeys(table["alike"]["ops"].split(), _alike) | _SPECIAL
    for kinds, ops in table["operands"].items():
        for op in ops.split():
            found[op] = _of_kinds(frozenset(kinds.split()), found[op])
    return found


def _of_kinds(kinds: frozenset[str], rule: Rule) -> Rule:
    def right(op: TypedOp) -> bool:
        return rule(op) and all(one.is_quantized or one.kind in kinds for one in op.operands)

    return right


RULES = _table()
"""By ops, without their versions, whether one is right."""
