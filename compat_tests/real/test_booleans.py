"""Booleans that old jaxlibs multiply in vectors: refused where predicted, and right elsewhere."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

import portable
from compat_tests.helpers.eras import versions
from portable.prediction import predict
from portable.runtime.executors import ExecutionFailed, find_executor
from portable.runtime.executors.inputs import random_inputs
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.runtime.environments import Environment
    from portable.runtime.executors.tensors import Array

    Right = Callable[..., Array]

pytestmark = pytest.mark.old_releases

_REDUCE = """func.func @main(%a: tensor<{taken}>) -> tensor<{given}> {{
    %true = stablehlo.constant dense<true> : tensor<i1>
    %b = {before} : (tensor<{taken}>) -> tensor<{of}>
    %r = stablehlo.reduce(%b init: %true) applies stablehlo.multiply across dimensions = {over} :
        (tensor<{of}>, tensor<i1>) -> tensor<{given}>
    return %r : tensor<{given}> }}"""
_COPY = "stablehlo.convert %a"
_CONVOLUTION = """func.func @main(%a: tensor<{0}>, %b: tensor<{1}>) -> tensor<{2}> {{
    %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} :
        (tensor<{0}>, tensor<{1}>) -> tensor<{2}>
    return %r : tensor<{2}> }}"""


def _type(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, (*shape, "i1")))


def _reductions() -> Iterator[tuple[str, Right]]:
    """Yield every reduction of some shapes, as it is and of what a transpose gives."""
    for shape in ((3,), (2, 3), (1, 3), (3, 1), (2, 1, 3), (2, 3, 2)):
        every = range(len(shape))
        turning = f"stablehlo.transpose %a, dims = {[*reversed(every)]}"
        for count in range(1, len(shape) + 1):
            for over in itertools.combinations(every, count):
                kept = tuple(shape[at] for at in every if at not in over)
                words = {"of": _type(shape), "given": _type(kept), "over": [*over]}
                yield _REDUCE.format(taken=_type(shape), before=_COPY, **words), _all(over)
                turned = _REDUCE.format(taken=_type(shape[::-1]), before=turning, **words)
                yield turned, _all(over, turned=True)


def _all(over: tuple[int, ...], *, turned: bool = False) -> Right:
    return lambda a: np.asarray(np.all(a.T if turned else a, axis=over))


def _convolutions() -> Iterator[tuple[str, Right]]:
    """Yield convolutions whose kernels are as large as what they go over, and smaller ones."""
    sizes = [(1, 1), (2, 2), (3, 2)]
    for batch, (height, h), (width, w), i, o in itertools.product(
        (1, 2), sizes, sizes, (1, 2), (1, 2)
    ):
        taken, kernel = (batch, height, width, i), (h, w, i, o)
        given = (batch, height - h + 1, width - w + 1, o)
        yield _CONVOLUTION.format(*map(_type, (taken, kernel, given))), _convolved


def _convolved(a: Array, b: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(a, b.shape[:2], axis=(1, 2))
    sums = np.einsum("nyxihw,hwio->nyxo", windows.astype(int), b.astype(int))
    return np.asarray(sums > 0)


@pytest.mark.parametrize("version", versions("0.4.13", "0.4.31", "0.4.33"))
def test_it_is_predicted_where_booleans_are_refused(
    version: str, release: Callable[[str], Environment]
) -> None:
    """Of every program it is known, but for those behind a transpose; before 0.4.33 both occur."""
    name = f"jaxlib {version}"
    seen: set[bool | None] = set()
    open_: set[bool] = set()
    with find_executor("pjrt", release(name)) as executor:
        for text, right in (*_reductions(), *_convolutions()):
            artifact = portable.pin(text, "0.9.0").artifact
            holds = predict(artifact, name, stage=Stage.EXECUTE).holds(Stage.EXECUTE)
            try:
                executable = executor.compile(artifact)
            except ExecutionFailed:
                assert holds is not True, text
                seen.add(holds)
                continue
            assert holds is not False, text
            seen.add(holds)
            if holds is None:
                open_.add("transpose" in text)
            given = random_inputs(executable.signature, 0)
            (found,) = executable.run(given)
            assert np.array_equal(found, right(*given)), text
    assert open_ <= {True}
    assert seen == ({True} if version == "0.4.33" else {True, False, None})
