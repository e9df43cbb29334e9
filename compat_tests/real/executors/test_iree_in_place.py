"""Values that IREE updates in place, and parts of what it joins, which it reads too early."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from compat_tests.helpers.eras import marked
from portable import pin, predict
from portable.verdict import Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from portable.runtime.executors import Executor

_T = "tensor<6xf32>"
_A, _P = np.array([3, -1, 4, -1, 5, -9], np.float32), np.array([2, 6], np.float32)
_MADE = {
    "stablehlo.abs %a : tensor<6xf32>": abs(_A),
    "stablehlo.add %a, %a : tensor<6xf32>": _A + _A,
    "stablehlo.iota dim = 0 : tensor<6xf32>": np.arange(6, dtype=np.float32),
    "stablehlo.optimization_barrier %a : tensor<6xf32>": _A,
    "stablehlo.reverse %a, dims = [0] : tensor<6xf32>": _A[::-1],
    "stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>": np.array(
        [1, 2, 3, 4, 5, 6], np.float32
    ),
}
_UPDATE = (
    f"stablehlo.dynamic_update_slice %v, %p, %one : ({_T}, tensor<2xf32>, tensor<i32>) -> {_T}"
)
_SORT = f"""\"stablehlo.sort"(%v) <{{dimension = 0 : i64, is_stable = true}}> ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %less = stablehlo.compare LT, %x, %y, TOTALORDER
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1> }}) : ({_T}) -> {_T}"""


def _updated(value: np.ndarray) -> np.ndarray:
    return np.concatenate([value[:1], _P, value[3:]])


def _in_place() -> Iterator[tuple[str, list[np.ndarray], list[np.ndarray]]]:
    """Yield programs, what each is given, and what it should give."""
    updates: list[tuple[str, Callable[[np.ndarray], np.ndarray]]] = [
        (_UPDATE, _updated),
        (_SORT, np.sort),
    ]
    for (made, value), (update, after), beside in itertools.product(
        _MADE.items(), updates, (True, False)
    ):
        third = "%t = stablehlo.negate %p : tensor<2xf32>" if beside else ""
        names = ["%v", "%u", *(["%t"] if beside else [])]
        types = ", ".join([_T, _T, *(["tensor<2xf32>"] if beside else [])])
        text = f"""func.func @main(%a: {_T}, %p: tensor<2xf32>) -> ({types}) {{
          %one = stablehlo.constant dense<1> : tensor<i32>
          %v = {made}
          %u = {update}
          {third}
          return {", ".join(names)} : {types} }}"""
        yield text, [_A, _P], [value, after(value), *([-_P] if beside else [])]


def _joined() -> Iterator[tuple[str, list[np.ndarray], list[np.ndarray]]]:
    """The same of slices of concatenations."""
    for sizes in ((1, 1), (2, 1), (1, 2), (1, 1, 1)):
        ends = list(itertools.accumulate(sizes, initial=0))
        pieces = [np.arange(at, to, dtype=np.float32) + 1 for at, to in itertools.pairwise(ends)]
        names = [f"%a{at}" for at in range(len(sizes))]
        types = [f"tensor<{size}xf32>" for size in sizes]
        whole = f"tensor<{ends[-1]}xf32>"
        taken = ", ".join(f"{one}: {type_}" for one, type_ in zip(names, types, strict=True))
        for low, high in itertools.combinations(range(ends[-1] + 1), 2):
            part = f"tensor<{high - low}xf32>"
            for results in (["%s"], ["%c", "%s"]):
                given = ", ".join({"%s": part, "%c": whole}[one] for one in results)
                text = f"""func.func @main({taken}) -> ({given}) {{
                  %c = stablehlo.concatenate {", ".join(names)}, dim = 0
                      : ({", ".join(types)}) -> {whole}
                  %s = stablehlo.slice %c [{low}:{high}] : ({whole}) -> {part}
                  return {", ".join(results)} : {given} }}"""
                right = {"%c": np.concatenate(pieces), "%s": np.concatenate(pieces)[low:high]}
                yield text, pieces, [right[one] for one in results]


@pytest.mark.parametrize(
    "version",
    [
        marked([f"iree-base-compiler {one}"], one, to_execute=True)
        for one in ("3.10.0", "3.11.0", "3.13.0")
    ],
)
@pytest.mark.parametrize("programs", [_in_place, _joined])
def test_what_is_green_is_right(
    version: str,
    programs: Callable[[], Iterator[tuple[str, list[np.ndarray], list[np.ndarray]]]],
    open_executor: Callable[..., Executor],
) -> None:
    """Of values returned beside updates, and of parts of what is joined, no green one is wrong."""
    name = f"iree-base-compiler {version}"
    executor = open_executor("iree", name)
    wrong: list[str] = []
    green = 0
    for text, given, right in programs():
        artifact = pin(text, "0.9.0").artifact
        executable = executor.compile(artifact)
        found: Sequence[np.ndarray] = executable.run(given)
        if not all(map(np.array_equal, found, right)):
            wrong.append(text)
        if predict(artifact, name, stage=Stage.EXECUTE).compatible:
            green += 1
            assert text not in wrong
    assert green
    assert bool(wrong) is not (programs is _joined and version == "3.13.0")
