"""The windows of convolutions and of reduce_window, and what else these are made of."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.entries import Blob
from portable.bytecode.operations import OpSignature, like
from portable.prediction.form import repeated, signed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.prediction.forms import Reading
    from portable.prediction.walk import Visit

__all__ = [
    "SlidingWindow",
    "features",
    "is_grouped",
    "made_products",
    "signature_of",
    "sums_up",
    "truths",
    "used_of",
    "windows_of",
]

_CONVOLUTION = "vhlo.convolution_v1"
_GROUPED = ("feature", "batch")


class SlidingWindow(NamedTuple):
    """A window over one dimension, of as many elements as `size`.

    Args:
        base: How many elements it moves over, and how far apart they are.
        stride: By how many it moves.
        spread: How far apart its own elements are.
        low: What is added before the first element, or taken away.
        padding: What is added on both sides.
        result: How many times it fits.
    """

    size: int
    base: int
    base_spread: int
    stride: int
    spread: int
    low: int
    padding: int
    result: int

    @property
    def is_plain(self) -> bool:
        """Whether it moves by one, over elements side by side, and its own are too."""
        return self.stride == self.base_spread == self.spread == 1

    def fits_once(self, *, spread: bool) -> bool:
        """Say whether it would stand elsewhere too, were it not for its stride.

        Args:
            spread: Whether its own elements may be apart.
        """
        whole = (self.base - 1) * self.base_spread + 1 + self.padding
        covered = (self.size - 1) * self.spread + 1
        alone = self.result == 1 < self.stride and (spread or self.spread == 1)
        return alone and 1 < covered < whole


def windows_of(reading: Reading, one: OpSignature) -> Iterator[SlidingWindow]:
    """Yield the windows of a convolution or reduce_window of static sizes.

    Args:
        reading: An artifact's ops.
        one: The op, which has a result.
    """
    operands, numbers = one.operand_types or (), functools.partial(reading.numbers, one)
    base, result = map(reading.dimensions, (operands[0] if operands else None, one.results[0]))
    if base is None or result is None:
        return
    if reading.names[one.name] == _CONVOLUTION:
        kernel = reading.dimensions(operands[1] if len(operands) > 1 else None) or ()
        places = [numbers(f"{which}_spatial_dimensions") for which in ("input", "kernel", "output")]
        sides = [
            [sizes[at] for at in where if at < len(sizes)]
            for sizes, where in zip((base, kernel, result), places, strict=True)
        ]
        spreads = numbers("lhs_dilation"), numbers("rhs_dilation")
    else:
        sides = [list(base), list(numbers("window_dimensions")), list(result)]
        spreads = numbers("base_dilations"), numbers("window_dilations")
    rank = len(sides[0])
    strides, padding = numbers("window_strides"), numbers("padding")
    each = [repeated(values, rank) for values in (strides, *spreads)]
    amounts = [*map(signed, repeated(padding, 2 * rank, 0))]
    added = [(amounts[at], sum(amounts[at : at + 2])) for at in range(0, 2 * rank, 2)]
    sized = zip(*sides, *each, strict=False)
    for (of, size, times, stride, apart, spread), amount in zip(sized, added, strict=False):
        yield SlidingWindow(size, of, apart, stride, spread, *amount, times)


def made_products(reading: Reading) -> Iterator[tuple[OpSignature, Sequence[SlidingWindow]]]:
    """Yield the convolutions that XLA makes products, each with its windows.

    Those of one input and one output feature, of one group and moved by one, each of whose windows
    has one element or all of what it goes over.

    Args:
        reading: An artifact's ops.
    """
    for one in used_of(reading, _CONVOLUTION):
        if not one.results or any(reading.numbers(one, "padding")):
            continue
        kernel = reading.dimensions((*(one.operand_types or ()), None, None)[1]) or ()
        windows = [*windows_of(reading, one)]
        # The other two dimensions are the features.
        single = math.prod(kernel) == math.prod(window.size for window in windows)
        if not windows or not single or len(kernel) != len(windows) + 2:
            continue
        plain = all(window.is_plain for window in windows)
        if plain and all(w.size in {1, w.base} for w in windows):
            yield one, windows


def sums_up(reading: Reading, one: OpSignature) -> bool:
    """Say whether a reduce_window is over all elements before, or behind, each one.

    Args:
        reading: An artifact's ops.
        one: The reduce_window, which has a result.
    """
    windows = [*windows_of(reading, one)]
    long = [window for window in windows if window.size > 1]
    plain = all(window.is_plain for window in windows)
    whole = [w.padding for w in long if w.size == w.base == w.padding + 1]
    # All of it on one side: the list has it as one number.
    return plain and len(long) == 1 and bool({*whole} & {*reading.numbers(one, "padding")})


def truths(reading: Reading, one: OpSignature, name: str, count: int) -> list[bool]:
    """Return the booleans of an attribute: in a byte each, a bit each, or one for all.

    Args:
        reading: An artifact's ops.
        one: The op.
        name: The attribute.
        count: How many there are; so many that are false, where nothing is stored.
    """
    data = reading.value(one, name).get("data")
    if not isinstance(data, Blob):
        return [False] * count
    held = bytes(reading.data[data.offset : data.offset + data.size])
    if len(held) == count > 1:
        return [*map(bool, held)]
    return [bool(byte >> bit & 1) for byte in held for bit in range(8)][:count]


def is_grouped(reading: Reading, one: OpSignature, *of: str) -> bool:
    """Say whether some of what a convolution has are in groups.

    Args:
        reading: An artifact's ops.
        one: The convolution.
        of: `feature` or `batch`; both where none is given.
    """
    counts = (reading.value(one, f"{each}_group_count").get("value") for each in of or _GROUPED)
    return any(count not in (None, 1) for count in counts)


def features(reading: Reading, one: OpSignature, side: str = "input") -> int:
    """Return how many features the kernel of a convolution has; 0 where a file is damaged.

    Args:
        reading: An artifact's ops.
        one: The convolution.
        side: Those that it takes, `input`, or gives, `output`.
    """
    kernel = reading.dimensions((*(one.operand_types or ())[1:2], None)[0]) or ()
    at = reading.value(one, f"kernel_{side}_feature_dimension").get("value")
    return kernel[at] if isinstance(at, int) and 0 <= at < len(kernel) else 0


def used_of(reading: Reading, *names: str) -> Iterator[OpSignature]:
    """Yield the op signatures of some ops, without those that a compiler removes before.

    Args:
        reading: An artifact's ops.
        names: The names of the ops.
    """
    return (one for one in reading.of(*names) if like(one) in reading.used)


def signature_of(reading: Reading, visit: Visit) -> OpSignature:
    """Return an op with the types that it takes.

    Args:
        reading: An artifact's ops.
        visit: The op.
    """
    name, attributes, properties, results, regions, *_ = visit.operation
    taken = tuple(map(reading.flow.type, reading.flow.operands(visit)))
    return OpSignature(name, attributes, properties, results, len(taken), regions, taken)
