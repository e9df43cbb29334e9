"""Ops of which every bit is the same: integers, places, what is put, and where NaN stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from compat_tests.helpers.torch_calls import Calls
from portable.exporters import ExportFailed, export_torch
from portable.runtime.executors import Executor

LARGE = torch.tensor([2**53 + 1, -(2**53) - 3, 2**62 + 5, 7, -(2**60) + 1, 0, -1, 2**63 - 1])
DIVISORS = torch.tensor([3, -7, 2**33 + 1, 2, -1, 5, 7, -3])
LEAST = {kind: torch.iinfo(kind).min for kind in (torch.int8, torch.int64, torch.uint8)}
GRID = torch.arange(24.0).view(4, 6)
SOME = torch.tensor([True, False, True, False, False, True])
MASK = torch.tensor([[True, False, True], [False, True, True]])


def _truncated(x: Tensor, y: Tensor) -> list[Tensor]:
    return [
        made
        for kind in (torch.int64, torch.int32, torch.int8)
        for made in (
            torch.div(x.to(kind), (y.to(kind) | 1), rounding_mode="trunc"),
            torch.div(x.to(kind), -7, rounding_mode="trunc"),
        )
    ]


def _chosen(x: Tensor) -> list[Any]:
    """Return what is least and most, of the least integers too."""
    return [
        made
        for kind, least in LEAST.items()
        for y in (torch.cat([x, torch.tensor([least])]).to(kind),)
        for made in (y.topk(2), y.topk(3, largest=False), y.kthvalue(1), y.view(2, -1).topk(1, 0))
    ]


def _above_all(x: Tensor) -> list[Any]:
    """Return where NaN stands that is made when it runs, which has a sign."""
    y = x * (x / x)
    return [y.topk(3), y.topk(3, largest=False), y.kthvalue(2), (-y).topk(2), y.half().topk(2)]


def _set(x: Tensor, *pairs: tuple[Any, Any]) -> list[Tensor]:
    made = []
    for place, value in pairs:
        changed = x.clone()
        changed[place] = value
        made.append(changed)
    return made


CASES: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "quotients of integers": (_truncated, (LARGE, DIVISORS)),
    "the largest and the smallest": (_chosen, (torch.tensor([5, 3, 127, 100, 1]),)),
    "NaN among the largest": (_above_all, (torch.tensor([0.0, 3.0, -1.0, -2.5, 5.0]),)),
    "put under a mask of columns": (
        lambda x, some: _set(
            x,
            ((slice(None), some), -2.5),
            ((Ellipsis, some), x[:, :1] * 2),
            ((slice(None), some), x[:, 3:] * 2),
            ((slice(None), some), x[:1, :3] * 2),
        ),
        (GRID, SOME),
    ),
    "put under a mask of rows": (
        lambda x, some: _set(
            x.T, ((some,), x[:1, 0]), (some, x[:, :1].T * 2), (some, x[:, 1]), (some, x.T[1:4] * 2)
        ),
        (GRID, SOME),
    ),
    "put under a mask of planes": (
        lambda x, mask: [
            *_set(x, ((slice(None), mask), x[:, 0, :1]), ((slice(None), mask), x[0].flatten()[:4])),
            torch.ops.aten.index_put(x, [None, mask], x[1].flatten()[:4], True),
        ],
        (GRID.view(4, 2, 3), MASK),
    ),
    "means in another type": (
        lambda x, y: [
            x.mean(dtype=torch.float64),
            x.mean(0, dtype=torch.float64),
            y.mean((0, 1), keepdim=True, dtype=torch.float32),
        ],
        (torch.arange(6).view(2, 3) * 2**40, torch.full((4, 100), 300.0).half()),
    ),
    "roots": (
        lambda x: [x**0.5, x**-0.5, x.half() ** 0.5, x.bfloat16() ** 0.5],
        (torch.tensor([float("-inf"), float("inf"), -0.0, 0.0, -4.0, 4.0]),),
    ),
    "the imaginary part of a conjugate": (
        lambda x: [x.conj().imag, x.conj().imag + 1],
        (torch.tensor([1 + 2j, -3j]),),
    ),
    "no dimensions": (lambda x: [x.flip(0), x.topk(1), x.kthvalue(1), x.mean(0)], (GRID[1, 1],)),
}


@pytest.mark.parametrize("name", CASES)
def test_every_bit_is_as_in_pytorch(name: str, executor: Executor) -> None:
    """Values that floats have no place for, the least integers, signs of NaN, shapes of masks."""
    function, given = CASES[name]
    made = export_torch(Calls(function), given, target="1.9.0", allow=["exact"])
    got, wanted = made(*given, executor=executor), function(*given)
    for mine, theirs in zip(*map(pytree.tree_leaves, (got, wanted)), strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert torch.allclose(mine, theirs, rtol=0, atol=0, equal_nan=True), (mine, theirs)


def test_a_mask_beside_other_places() -> None:
    """Is refused by what to write instead: how many places it has depends on data."""
    model = Calls(lambda x, some: x.index_put((torch.arange(3), some), x[0, 0]))
    with pytest.raises(ExportFailed, match=r"a mask beside other places.*torch\.where"):
        export_torch(model, (GRID, SOME), target="1.0.0")
