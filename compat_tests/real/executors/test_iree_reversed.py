"""Convolutions that reverse a window which fits once: IREE has no way to some of them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from portable import pin, predict
from portable.errors import PortableError
from portable.runtime.executors import random_inputs
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.artifact import Artifact
    from portable.runtime.executors import Executor

_WINDOWS = [
    (turned, places)
    for turned in itertools.product((False, True), repeat=2)
    for places in itertools.product((1, 2), repeat=2)
    if any(turned)
]


def _programs() -> Iterator[tuple[bool, Artifact]]:
    """Yield convolutions of 2x2 windows; of some the kernel is constant."""
    for (turned, places), several in itertools.product(_WINDOWS, ((1, 1, 1), (2, 1, 2))):
        constant = places == (1, 1) and several != (1, 1, 1)
        rows, taken, given = several
        x = f"tensor<{rows}x{places[0] + 1}x{places[1] + 1}x{taken}xf32>"
        k, r = (
            f"tensor<2x2x{taken}x{given}xf32>",
            f"tensor<{rows}x{places[0]}x{places[1]}x{given}xf32>",
        )
        numbers = (np.arange(4 * taken * given) + 1.5).reshape(2, 2, taken, given)
        kernel = f"%k = stablehlo.constant dense<{numbers.tolist()}> : {k}"
        yield (
            constant,
            pin(
                f"""func.func @main(%x: {x}{"" if constant else f", %k: {k}"}) -> {r} {{
                  {kernel if constant else ""}
                  %r = stablehlo.convolution(%x, %k)
                    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
                    window = {{reverse = {str([*turned]).lower()}}}
                    {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
                    : ({x}, {k}) -> {r}
                  return %r : {r} }}""",
                "0.14.0",
            ).artifact,
        )


@pytest.mark.parametrize(
    "release",
    [
        "iree-base-compiler 3.13.0",
        pytest.param("iree-base-compiler 3.8.0", marks=pytest.mark.more_releases),
    ],
)
def test_what_has_no_way_is_known(release: str, open_executor: Callable[..., Executor]) -> None:
    """Nothing green is refused and nothing refused is computed; a constant kernel always is."""
    engine = open_executor("iree", release)
    green = refused = open_ = 0
    for constant, artifact in _programs():
        holds = predict(artifact, release, stage=Stage.COMPILE).holds(Stage.COMPILE)
        try:
            executable = engine.compile(artifact)
            executable.run(random_inputs(executable.signature, 1))
            runs = True
        except PortableError:
            runs = False
        assert runs or not constant
        assert holds in {runs, None}
        green += holds is True
        refused += holds is False
        open_ += holds is None
    assert min(green, refused) > open_ > 0
