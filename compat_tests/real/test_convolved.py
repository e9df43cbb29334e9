"""Convolutions of constants of integers: XLA folds them, and cuts what overflows."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.eras import versions
from portable import pin, predict
from portable.runtime.executors import find_executor
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_TYPES: dict[str, type[np.integer]] = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "ui8": np.uint8,
    "ui32": np.uint32,
}
_MANY = 120
# Of those that are cut, so many are at least known to be.
_KNOWN = 10


def _tensor(shape: Sequence[int], element: str) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def _convolution(luck: random.Random) -> tuple[str, str, list[np.ndarray]]:
    """Return a convolution of arguments, the same of constants, and these."""
    element = luck.choice([*_TYPES])
    rank = luck.choice((0, 1, 1, 2))
    # In groups over no dimension arguments are wrong too.
    grouped = luck.choice(((1, 1), (1, 1), (2, 1), (1, 2)) if rank else ((1, 1),))
    taken, given, rows = (luck.choice((1, 2)) for _ in range(3))
    size, base = ([luck.randint(1, most) for _ in range(rank)] for most in (2, 3))
    strides, spread, apart = ([luck.choice((1, 1, 2)) for _ in range(rank)] for _ in range(3))
    padding = [[luck.choice((-1, 0, 0, 1)), luck.choice((0, 0, 1))] for _ in range(rank)]
    if luck.random() < 0.4:
        strides, spread, apart, padding = [1] * rank, [1] * rank, [1] * rank, [[0, 0]] * rank
    lengths = [
        (length - 1) * gap + 1 + sum(pad) - (window - 1) * step
        for length, gap, pad, window, step in zip(base, spread, padding, size, apart, strict=True)
    ]
    if min(lengths, default=1) < 1:
        return _convolution(luck)
    placed = [-(-length // stride) for length, stride in zip(lengths, strides, strict=True)]
    features, batches = grouped
    shapes = (
        [rows * batches, taken * features, *base],
        [taken, given * features * batches, *size],
        [rows, given * features * batches, *placed],
    )
    numbered, laid = [], []
    for names, shape in zip(("bf", "io", "bf"), shapes, strict=True):
        order = luck.sample(range(rank + 2), rank + 2)
        spatial = [str(at) for at in range(rank)]
        numbered.append(f"[{', '.join([*names, *spatial][at] for at in order)}]")
        laid.append([shape[at] for at in order])
    info = np.iinfo(_TYPES[element])
    some = np.array([0, 1, 2, 3, info.max, info.min, info.max // 2, info.max], _TYPES[element])
    constants = [np.array(luck.choices(some, k=math.prod(one))).reshape(one) for one in laid[:2]]
    x, k, r = (_tensor(one, element) for one in laid)
    turned = str([luck.random() < 0.2 for _ in range(rank)]).lower()
    window = (
        f"stride = {strides}, pad = {padding}, lhs_dilate = {spread}, rhs_dilate = {apart},"
        f" reverse = {turned}"
    )
    window = window if rank else ""
    body = f"""%r = stablehlo.convolution(%x, %k)
      dim_numbers = {numbered[0]}x{numbered[1]}->{numbered[2]}, window = {{{window}}}
      {{batch_group_count = {batches} : i64, feature_group_count = {features} : i64}}
      : ({x}, {k}) -> {r}
    return %r : {r} }}"""
    held = "\n".join(
        f"{name} = stablehlo.constant dense<{one.tolist()}> : {type_}"
        for name, one, type_ in zip(("%x", "%k"), constants, (x, k), strict=True)
    )
    return (
        f"func.func @main(%x: {x}, %k: {k}) -> {r} {{\n{body}",
        f"func.func @main() -> {r} {{\n{held}\n{body}",
        constants,
    )


@pytest.mark.parametrize("version", versions("0.4.30", "0.10.2", "0.12.0.1"))
def test_what_is_cut_is_known(version: str, release: Callable[[str], Environment]) -> None:
    """Constants that are green give what arguments do, and most that are wrong do not."""
    luck = random.Random(18)  # noqa: S311 - repeatable, not secret
    name, green, wrong, strict = f"jaxlib {version}", 0, 0, 0
    with find_executor("pjrt", release(name)) as executor:
        for _ in range(_MANY):
            wrapping, folding, given = _convolution(luck)
            artifact = pin(folding, "0.9.0").artifact
            (right,) = executor.compile(pin(wrapping, "0.9.0").artifact).run(given)
            (found,) = executor.compile(artifact).run([])
            holds = predict(artifact, name, stage=Stage.EXECUTE).holds(Stage.EXECUTE)
            same = np.array_equal(found, right)
            assert same or not holds, folding
            green += holds is True
            wrong += holds is False and not same
            strict += holds is False and same
    assert min(green, wrong) >= _KNOWN
    assert strict == 0
