"""Convolutions of constants of integers: XLA folds them, and what they sum up is known here."""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.operations import like
from portable.prediction.computing import integers
from portable.prediction.form import CONVOLUTIONS, FormRule, ops, types
from portable.prediction.windows import is_grouped, signature_of, truths, windows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.bytecode.operations import Head, OpSignature
    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit
    from portable.prediction.windows import SlidingWindow

__all__ = ["CONVOLVED"]

_CONVOLUTION, _CONSTANT = "vhlo.convolution_v1", "vhlo.constant"
# The bits of the types of which XLA cuts sums to what is stored of them: a byte at least. Those of
# 64 bits, i2 and i4 wrap.
_BITS = {f"{sign}{bits}_v1": bits for sign in ("i", "ui") for bits in (8, 16, 32)} | {
    f"ui{bits}_v1": bits for bits in (2, 4)
}
_BYTE, _SUMMED = 8, 64
_OPERANDS = len(("lhs", "rhs"))
# The dimensions of what is convolved, of the kernel and of the result: what is for each row and
# each feature of these, before those that windows move along.
_DIMENSIONS = {
    "input": ("batch", "feature"),
    "kernel": ("input_feature", "output_feature"),
    "output": ("batch", "feature"),
}
# So many products of one program are computed here: of more the sums are not known.
_MOST_PRODUCTS = 1 << 16


def _cuts_a_sum(reading: Reading) -> bool | None:
    """Find a convolution of constants of integers with a sum that its type does not hold.

    XLA folds it, and cuts the sum to the least or greatest number instead of wrapping it. Perhaps
    where it may be made a product, which wraps, and where the sums are not known here.
    """
    # Each constant is read once: any number of ops may take the same.
    largest = functools.cache(functools.partial(_largest, reading))
    left, perhaps = _MOST_PRODUCTS, False
    for visit in reading.walk.of(CONVOLUTIONS):
        if not _is_folded(reading, visit):
            continue
        one = signature_of(reading, visit)
        element = reading.element(one.results[0])
        held = [visit.constant(source) for source in visit.sources[:_OPERANDS]]
        count = reading.content.pool.count((one.operand_types or ())[1])
        known = [number for number in (*map(largest, held), count) if number is not None]
        if len(known) > _OPERANDS and math.prod(known) <= _greatest(element):
            continue
        sums = _sums_of(reading, one) if _takes_constants(reading, visit) else None
        if sums is None or sums.work > left:
            perhaps = True
            continue
        left -= sums.work
        # A damaged constant has none, or more than its type has.
        numbers = [
            [*itertools.islice(integers(reading, constant), sums.work)]
            for constant in held
            if constant
        ]
        if not all(numbers):
            perhaps = True
        elif any(_is_cut(total, element) for total in sums.of(*numbers)):
            if any(map(_moves, sums.windows)) and not is_grouped(reading, one):
                return True
            perhaps = True
    return None if perhaps else False


def _is_folded(reading: Reading, visit: Visit) -> bool:
    """Say whether a convolution is one of constants of integers, which something uses."""
    results, sources = visit.operation.results, visit.sources[:_OPERANDS]
    if not results or reading.element(results[0]) not in _BITS or len(sources) < _OPERANDS:
        return False
    folded = all(source and source[0] in reading.folded for source in sources)
    return folded and like(visit.operation) in reading.used


def _takes_constants(reading: Reading, visit: Visit) -> bool:
    """Say whether what is convolved are constants as they are, in no other shape."""
    makers = [reading.walk[source[0]] for source in visit.sources[:_OPERANDS] if source]
    return all(reading.kinds[maker.operation.name] == _CONSTANT for maker in makers)


def _largest(reading: Reading, constant: Head | None) -> int | None:
    """Return the largest magnitude in a constant of integers, or None for what is none."""
    return None if constant is None else max(map(abs, integers(reading, constant)), default=None)


def _greatest(element: str) -> int:
    """Return the greatest number that XLA leaves of a sum of integers of a type."""
    return (1 << max(_BITS[element], _BYTE) - element.startswith("i")) - 1


def _is_cut(total: int, element: str) -> bool:
    """Say whether a sum, which XLA adds up in 64 bits, becomes another number than by wrapping."""
    half, greatest = 1 << _SUMMED - 1, _greatest(element)
    least = -greatest - 1 if element.startswith("i") else 0
    summed = (total + half) % (1 << _SUMMED) - half
    return bool((min(max(summed, least), greatest) - total) % (1 << _BITS[element]))


def _moves(window: SlidingWindow) -> bool:
    """Say whether a window of several elements covers more than what it goes over, or less."""
    once = window.size == window.base and window.low == window.padding == 0
    return window.size > 1 and not (window.is_plain and once)


class _Sums(NamedTuple):
    """What a convolution sums up.

    Args:
        taken: Over how many features of what is convolved each sum is.
        given: How many features and rows the result has.
        groups: In how many groups these are.
        windows: The windows.
        turned: Which of them are reversed.
        steps: By how many elements rows, features and what windows go over are apart in what is
            convolved, and the features that are taken, those that are given, and so on in the
            kernel.
        work: So many elements are read at most.
    """

    taken: int
    given: tuple[int, int]
    groups: tuple[int, int]
    windows: Sequence[SlidingWindow]
    turned: Sequence[bool]
    steps: Sequence[Sequence[int]]
    work: int

    def of(self, base: Sequence[int], kernel: Sequence[int]) -> Iterator[int]:
        """Yield each sum, not wrapped.

        Args:
            base: The elements of what is convolved; one stands for all.
            kernel: Those of the kernel, likewise.
        """
        (row_step, feature_step, *along), (taken_step, given_step, *across) = self.steps
        (features, rows), (feature_groups, row_groups) = self.given, self.groups
        read = [
            [_pairs(window, at, is_turned, steps) for at in range(window.result)]
            for window, is_turned, *steps in zip(
                self.windows, self.turned, along, across, strict=True
            )
        ]
        for row, feature in itertools.product(range(rows), range(features)):
            group = feature * row_groups // features
            first = (group * rows + row) * row_step
            first += feature * feature_groups // features * self.taken * feature_step
            each = [
                (first + at * feature_step, at * taken_step + feature * given_step)
                for at in range(self.taken)
            ]
            for pairs in itertools.product(*read):
                # One of what is taken, and one of each window.
                parts = itertools.product(each, *pairs)
                summed = (map(sum, zip(*part, strict=True)) for part in parts)
                yield sum(base[at % len(base)] * kernel[by % len(kernel)] for at, by in summed)


def _pairs(
    window: SlidingWindow, place: int, is_turned: bool, steps: Sequence[int]
) -> list[tuple[int, int]]:
    """Return which elements are multiplied where a window stands, by where they are.

    Args:
        window: The window.
        place: At which of its places it stands.
        is_turned: Whether it is reversed.
        steps: By how many elements its elements are apart in what it goes over, and in the kernel.
    """
    found = []
    for at in range(window.size):
        over, between = divmod(
            place * window.stride + at * window.spread - window.low, window.base_spread
        )
        if not between and 0 <= over < window.base:
            by = window.size - 1 - at if is_turned else at
            found.append((over * steps[0], by * steps[1]))
    return found


def _sums_of(reading: Reading, one: OpSignature) -> _Sums | None:
    """Return what a convolution sums up; None of one whose numbers do not fit."""
    types_ = (*(one.operand_types or ())[:_OPERANDS], one.results[0])
    shapes = [reading.dimensions(type_) or () for type_ in types_]
    places = [_places(reading, one, side) for side in _DIMENSIONS]
    if any(sorted(at) != [*range(len(shape))] for at, shape in zip(places, shapes, strict=True)):
        return None
    base, kernel, result = (
        [shape[place] for place in at] for at, shape in zip(places, shapes, strict=True)
    )
    groups = [_number(reading, one, f"{of}_group_count") or 1 for of in ("feature", "batch")]
    windows = [*windows_of(reading, one)]
    (rows, inputs, *_), (taken, features, *_), (given_rows, given, *_) = base, kernel, result
    turned = truths(reading, one, "window_reversal", len(windows))
    if (
        [inputs, rows] != [taken * groups[0], given_rows * groups[1]]
        or features != given
        or len(windows) != len(base) - _OPERANDS
        or len(windows) != len(turned)
        or min((*base, *kernel, *result, *groups, *(one.base_spread for one in windows))) <= 0
    ):
        return None
    steps = [
        [math.prod(shape[place + 1 :]) for place in at]
        for at, shape in zip(places[:_OPERANDS], shapes[:_OPERANDS], strict=True)
    ]
    work = math.prod(result) * math.prod(kernel) + math.prod(base)
    return _Sums(taken, (given, given_rows), (groups[0], groups[1]), windows, turned, steps, work)


def _places(reading: Reading, one: OpSignature, side: str) -> Sequence[int]:
    """Return where the dimensions of what is convolved, the kernel or the result stand."""
    named = (_number(reading, one, f"{side}_{name}_dimension") for name in _DIMENSIONS[side])
    return [*named, *reading.numbers(one, f"{side}_spatial_dimensions")]


def _number(reading: Reading, one: OpSignature, name: str) -> int:
    """Return an attribute that is one number; 0 where there is none."""
    value = reading.value(one, name).get("value")
    return value if isinstance(value, int) else 0


CONVOLVED: dict[str, FormRule] = {
    "convolution of constants of integers that may overflow": FormRule(
        _cuts_a_sum, (ops(*CONVOLUTIONS), types(_BITS)), across=True
    ),
}
"""Forms as advisories.toml names them, each with how to find it; see `forms`."""
