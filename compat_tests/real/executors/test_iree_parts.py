"""Parts of tensors on IREE, which before 3.11 reads them as if each lay in one piece."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.eras import marked
from compat_tests.helpers.matrices import ARTIFACTS
from portable import pin, predict
from portable.artifact import Artifact
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.runtime.executors import Executor

_OLDER = "iree-base-compiler 3.10.0"
# Shapes, and of each dimension from where to where it is cut.
_PARTS: list[tuple[tuple[int, ...], list[tuple[int, int]]]] = [
    ((5,), [(1, 4)]),
    ((4, 5), [(0, 4), (1, 4)]),
    ((4, 5), [(0, 4), (0, 3)]),
    ((4, 5), [(1, 3), (0, 5)]),
    ((4, 5), [(1, 3), (1, 3)]),
    ((4, 5), [(0, 3), (0, 5)]),
    ((4, 5), [(0, 1), (1, 4)]),
    ((4, 5), [(1, 4), (2, 3)]),
    ((2, 4, 5), [(0, 2), (1, 3), (0, 5)]),
    ((2, 4, 5), [(0, 2), (0, 4), (1, 3)]),
    ((2, 4, 5), [(0, 1), (0, 4), (0, 5)]),
    ((2, 4, 5), [(1, 2), (1, 3), (0, 4)]),
]


def _reversed() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield programs, each with what it is given and what it should give."""
    for shape, cuts in _PARTS:
        of, part = (
            f"tensor<{'x'.join(map(str, sizes))}xf32>"
            for sizes in (shape, [end - start for start, end in cuts])
        )
        places = ", ".join(f"{start}:{end}" for start, end in cuts)
        given = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        cut = given[tuple(slice(*ends) for ends in cuts)]
        for count in range(1, len(shape) + 1):
            for dims in itertools.combinations(range(len(shape)), count):
                text = f"""func.func @main(%a: {of}) -> {part} {{
                  %v = stablehlo.slice %a [{places}] : ({of}) -> {part}
                  %r = stablehlo.reverse %v, dims = {[*dims]} : {part}
                  return %r : {part} }}"""
                yield text, given, np.flip(cut, dims)


@pytest.mark.parametrize(
    "version",
    [
        marked([f"iree-base-compiler {one}"], one, to_execute=True)
        for one in ("3.0.0", "3.10.0", "3.13.0")
    ],
)
def test_a_part_is_reversed_where_it_is_predicted_to_be(
    version: str, open_executor: Callable[..., Executor]
) -> None:
    """Of 50 reverses of slices none that is green is another; on 3.13.0 all are green."""
    name = f"iree-base-compiler {version}"
    executor = open_executor("iree", name)
    programs = [*_reversed()]
    green = 0
    for text, given, wanted in programs:
        artifact = pin(text, "0.9.0").artifact
        if predict(artifact, name, stage=Stage.EXECUTE).compatible:
            green += 1
            (found,) = executor.compile(artifact).run([given])
            assert np.array_equal(found, wanted), text
    assert green
    assert (green == len(programs)) is (version == "3.13.0")


@pytest.mark.parametrize("version", [marked([_OLDER], _OLDER, to_execute=True)])
def test_rows_of_a_part_are_a_part(version: str, open_executor: Callable[..., Executor]) -> None:
    """Three whole rows of what columns are cut off lie in pieces, too: wrong, and not green."""
    path = ARTIFACTS / "rows_of_columns_reversed+0.9.0.mlir.bc"
    given = np.arange(25, dtype=np.float32).reshape(5, 5)
    (found,) = open_executor("iree", version).compile(Artifact.load(path)).run([given])
    assert not np.array_equal(found, given[1:4, 1:4][:, ::-1])
    assert not predict(path, version, stage=Stage.EXECUTE).compatible
