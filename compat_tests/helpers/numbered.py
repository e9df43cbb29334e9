"""Programs of one op whose dimensions are numbered at random, as of a scatter or convolution."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING

from portable import pin
from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from portable.artifact import Artifact

__all__ = ["KINDS", "numbered"]

_SHAPES = ((6,), (4, 6), (2, 3, 5))
_MORE = ((), (3,), (1,), (2, 2))


def _tensor(sizes: Iterable[int], element: str = "f32") -> str:
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def _some(luck: random.Random, of: Sequence[int]) -> list[int]:
    return luck.sample(of, luck.randint(0, len(of)))


class _Windows:
    """What a scatter and a gather have both: windows of an operand, where indices put them."""

    def __init__(self, luck: random.Random) -> None:
        self.shape = luck.choice(_SHAPES)
        places = range(len(self.shape))
        self.batches = luck.sample(places, 1) if luck.random() < 0.25 else []
        rest = [at for at in places if at not in self.batches]
        self.chosen = _some(luck, rest)
        self.gone = sorted(self.chosen if luck.random() < 0.5 else _some(luck, rest))
        size = luck.choice((1, 1, 1, 2))
        single = {*self.batches, *self.gone}
        self.sizes = [
            1 if at in single else size if at in self.chosen else self.shape[at] for at in places
        ]
        self.kept = [self.sizes[at] for at in rest if at not in self.gone]
        self.rows = [*(self.shape[at] for at in self.batches), *luck.choice(_MORE)]
        self.components = luck.choice((0, len(self.rows), len(self.rows)))
        self.indices = [*self.rows]
        self.indices.insert(self.components, len(self.chosen))
        self.first = [1 if self.components == 0 else 0] if self.batches else []
        # Windows stand behind the rows, or before them.
        behind = luck.random() < 0.5
        self.whole = self.rows + self.kept if behind else self.kept + self.rows
        start = len(self.rows) if behind else 0
        self.inside = [*range(start, start + len(self.kept))]

    def batched(self, operand: str, indices: str) -> str:
        """Return the two attributes of batches by their names; older targets have neither."""
        return f"{operand} = {self.batches}, {indices} = {self.first}," if self.batches else ""


def _scatter(luck: random.Random) -> str:
    one = _Windows(luck)
    x, i, u = _tensor(one.shape), _tensor(one.indices, "i32"), _tensor(one.whole)
    batches = one.batched("input_batching_dims", "scatter_indices_batching_dims")
    return f"""func.func @main(%x: {x}, %i: {i}, %u: {u}) -> {x} {{
  %r = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = {one.inside}, inserted_window_dims = {one.gone}, {batches}
    scatter_dims_to_operand_dims = {one.chosen}, index_vector_dim = {one.components}>}}> ({{
    ^bb0(%0: tensor<f32>, %1: tensor<f32>):
      %2 = stablehlo.add %0, %1 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
  }}) : ({x}, {i}, {u}) -> {x}
  return %r : {x} }}"""


def _gather(luck: random.Random) -> str:
    one = _Windows(luck)
    x, i, r = _tensor(one.shape), _tensor(one.indices, "i32"), _tensor(one.whole)
    batches = one.batched("operand_batching_dims", "start_indices_batching_dims")
    return f"""func.func @main(%x: {x}, %i: {i}) -> {r} {{
  %r = "stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<
    offset_dims = {one.inside}, collapsed_slice_dims = {one.gone}, {batches}
    start_index_map = {one.chosen}, index_vector_dim = {one.components}>,
    slice_sizes = array<i64: {", ".join(map(str, one.sizes))}>}}> : ({x}, {i}) -> {r}
  return %r : {r} }}"""


def _turned(luck: random.Random, sizes: Sequence[int], names: Sequence[str]) -> tuple[str, str]:
    """Return a tensor type with its dimensions in any order, and what they are called."""
    order = luck.sample(range(len(sizes)), len(sizes))
    return _tensor(sizes[at] for at in order), f"[{', '.join(names[at] for at in order)}]"


def _convolution(luck: random.Random) -> str:
    rank = luck.choice((0, 1, 1, 2, 2, 3))
    groups, batch_groups = luck.choice(((1, 1), (1, 1), (2, 1), (2, 1), (1, 2)))

    def each(*ones: int) -> list[int]:
        return [luck.choice(ones) for _ in range(rank)]

    sizes, window, strides = each(3, 4, 5), each(1, 2, 3), each(1, 1, 2)
    low, high, spread, apart = each(0, 0, 1, -1), each(0, 0, 1), each(1, 1, 2), each(1, 1, 2)
    bases = [(n - 1) * s + 1 + a + b for n, s, a, b in zip(sizes, spread, low, high, strict=True)]
    left = [b - (n - 1) * s - 1 for b, n, s in zip(bases, window, apart, strict=True)]
    given = [max(one, 0) // stride + 1 for one, stride in zip(left, strides, strict=True)]
    batch, features, results = luck.choice((1, 2)), luck.choice((1, 2, 3)), luck.choice((2, 4))
    places = [str(at) for at in range(rank)]
    x, x_is = _turned(luck, [batch * batch_groups, features * groups, *sizes], ["b", "f", *places])
    w, w_is = _turned(luck, [features, results, *window], ["i", "o", *places])
    r, r_is = _turned(luck, [batch, results, *given], ["b", "f", *places])
    pad = [list(two) for two in zip(low, high, strict=True)]
    reverse = ", ".join(luck.choice(("false", "false", "true")) for _ in places)
    how = (
        f"stride = {strides}, pad = {pad}, lhs_dilate = {spread}, rhs_dilate = {apart},"
        f" reverse = [{reverse}]"
        if rank
        else ""
    )
    return f"""func.func @main(%x: {x}, %w: {w}) -> {r} {{
  %r = stablehlo.convolution(%x, %w) dim_numbers = {x_is}x{w_is}->{r_is}, window = {{{how}}}
    {{batch_group_count = {batch_groups} : i64, feature_group_count = {groups} : i64}}
    : ({x}, {w}) -> {r}
  return %r : {r} }}"""


def _selection(luck: random.Random) -> str:
    rank = luck.choice((1, 2, 2, 3))
    window = [luck.choice((1, 2, 3)) for _ in range(rank)]
    strides = [one + luck.choice((0, 0, 1)) for one in window]
    sizes = [max(one, luck.choice((3, 4, 6))) for one in window]
    given = [(n - w) // s + 1 for n, w, s in zip(sizes, window, strides, strict=True)]
    x, u = _tensor(sizes), _tensor(given)
    of, by = (", ".join(map(str, numbers)) for numbers in (window, strides))
    return f"""func.func @main(%x: {x}, %u: {u}) -> {x} {{
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%x, %u, %0) <{{
    window_dimensions = array<i64: {of}>, window_strides = array<i64: {by}>}}> ({{
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = stablehlo.compare {luck.choice(("GE", "GT", "LE", "LT"))}, %1, %2
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
  }}, {{
    ^bb0(%1: tensor<f32>, %2: tensor<f32>):
      %3 = stablehlo.add %1, %2 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
  }}) : ({x}, {u}, tensor<f32>) -> {x}
  return %r : {x} }}"""


KINDS: dict[str, Callable[[random.Random], str]] = {
    "scatter": _scatter,
    "gather": _gather,
    "convolution": _convolution,
    "select_and_scatter": _selection,
}
"""What makes a program of each kind, which may be none that readers take."""


def numbered(kind: str, many: int) -> list[Artifact]:
    """Make programs, the same ones each time.

    Args:
        kind: Which of `KINDS`.
        many: How many.
    """
    luck = random.Random(kind)  # noqa: S311 - repeatable, not secret
    found: list[Artifact] = []
    while len(found) < many:
        with suppress(PortableError):  # it says what no shape or dimension fits
            found.append(pin(KINDS[kind](luck), "1.8.0").artifact)
    return found
