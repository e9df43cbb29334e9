"""Ops that search, count, factor and reduce by place, each against PyTorch eager."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - what everybody calls it
from torch import Tensor
from torch.nn.modules import linear_cross_entropy
from torch.utils import _pytree as pytree

from compat_tests.helpers.thorough import some
from compat_tests.helpers.torch_calls import Calls
from portable.exporters import ExportedArtifact, export_torch
from portable.runtime.executors import Executor, InputMismatch

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)

NAN = float("nan")
torch.manual_seed(0)
ROWS, WIDE, LINE = torch.randn(5, 3), torch.randn(2, 3, 5), torch.randn(20)
SQUARE = torch.randn(2, 4, 4)
POSITIVE = SQUARE @ SQUARE.mT + 4 * torch.eye(4)
PLACES = torch.tensor([0, 2, 2, 1, 4])
EDGES = torch.tensor([-1.0, -0.5, 0.0, 1.5])
SORTED = torch.randn(3, 8).sort()[0]
HOLES = torch.tensor([[1.0, NAN, 3.0, 2.0], [2.0, 5.0, 1.0, 0.0], [NAN, 1.0, 1.0, -1.0]])
IMAGE = torch.randn(1, 2, 7, 9)
ONES = torch.ones(3, dtype=torch.float16)
WHOLE = torch.randint(-9, 9, (4, 7))


def _resized(mode: str, x: Tensor, size: Any, scale: Any = None, corners: bool = False) -> Tensor:
    return F.interpolate(x, size, scale, mode, align_corners=corners, antialias=True)


def _in_chunks(reduction: str, x: Tensor, matrix: Tensor, bias: Tensor, weight: Tensor) -> Any:
    """Compute a loss and its derivatives as PyTorch does where all scores at once are too large."""
    target, chunk = torch.arange(9) % 4, (4, "precise", torch.float32)
    if reduction == "none":
        op = linear_cross_entropy._linear_cross_entropy_batch_chunked_no_reduction
        return op(x, matrix, target, bias, weight, 2, *chunk)
    op = linear_cross_entropy._linear_cross_entropy_batch_chunked
    return [
        op(x, matrix, target, b, w, reduction, ignored, 0.0, *chunk, True, *(wanted,) * 3)
        for b, w, ignored, wanted in ((bias, weight, 2, True), (None, None, -100, False))
    ]


CASES: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "angle": (torch.angle, (torch.randn(3, 2, dtype=torch.complex64),)),
    "cholesky": (lambda a: (torch.cholesky(a), torch.cholesky(a, upper=True)), (POSITIVE,)),
    "cholesky_inverse": (
        lambda a: (torch.cholesky_inverse(a), torch.cholesky_inverse(a, upper=True)),
        (POSITIVE,),  # of which each reads one half
    ),
    "pinv": (torch.linalg.pinv, (WIDE,)),
    "pinv_of_one_half": (lambda a: torch.linalg.pinv(a, hermitian=True), (SQUARE,)),
    "pinv_by_tolerances": (
        lambda a: (torch.linalg.pinv(a, atol=1.0), torch.linalg.pinv(a, atol=0.1, rtol=0.4)),
        (SQUARE,),
    ),
    "std_mean": (
        lambda x: (*torch.std_mean(x, 1, True, True), *torch.std_mean(x, 0, correction=0)),
        (WIDE,),
    ),
    "covariance": (
        lambda x, often, weights: (
            torch.cov(x),
            x.cov(correction=0),
            torch.cov(x, fweights=often),
            torch.cov(x, fweights=often, aweights=weights, correction=2),
            torch.cov(x[0]),
        ),
        (ROWS, torch.tensor([1, 3, 2]), torch.rand(3)),
    ),
    "correlations": (
        lambda x, z, n: (torch.corrcoef(x), x[0].corrcoef(), torch.corrcoef(z), n.corrcoef()),
        (ROWS, torch.randn(3, 4, dtype=torch.complex64), WHOLE),
    ),
    "classes": (lambda x: F.one_hot(x, 10), (WHOLE.abs(),)),
    "most_frequent": (
        lambda x: (x.mode(), x.mode(0, keepdim=True), x[0, 0].mode()),
        (WHOLE % 3,),
    ),
    # A float64 holds 53 bits; PyTorch drops those above the type.
    "powers_of_integers": (
        lambda x, n: (
            x**n,
            x ** (n - 9),
            3**n,
            x**21,
            x.to(torch.int8) ** n.int(),
            x.abs().byte() ** 5,
        ),
        (WHOLE, torch.arange(28).reshape(4, 7) + 13),
    ),
    "places_in_nothing": (
        lambda x: [torch.nonzero_static(x, size=4, fill_value=fill) for fill in (-1, 7)],
        (torch.ones(2, 0, 3),),
    ),
    "functions_of_truths": (
        lambda x: (
            torch.special.bessel_j0(x),
            torch.special.chebyshev_polynomial_u(x, x),
            torch.special.hermite_polynomial_h(x, x),
            x.sigmoid(),
            x.erf(),
            torch.where(x, 1.5, 2.5),
            x / x.logical_not().logical_not(),
            x * 2.5,
        ),
        (ROWS > 0,),
    ),
    "functions_of_integers": (
        lambda n, u: (
            *[f(v) for f in (torch.rsqrt, torch.sigmoid, torch.erf, torch.lgamma) for v in (n, u)],
            n / u,
            u / 3,
            n * 0.3,
            torch.where(n > 0, 1.5, n),
            torch.special.xlog1py(u, n),
            torch.copysign(u, n),
        ),
        (WHOLE.abs() + 1, (WHOLE.abs() + 2).byte()),
    ),
    "beyond_the_type": (
        lambda u, x, n: (
            torch.where(u > 3, u, -1),
            u.masked_fill(u > 3, -1),
            u.index_fill(0, torch.tensor([1]), -1),
            torch.maximum(u, torch.tensor(-1)),
            u < torch.tensor(-1),
            torch.where(n > 1, u, torch.tensor(300)),
            x.to(torch.uint8),
            x.to(torch.int8),
            x.half() + torch.tensor(0.1, dtype=torch.float64),
            n + torch.tensor(True),
        ),
        (
            torch.tensor([0, 3, 200, 255], dtype=torch.uint8),
            torch.tensor([-1.5, 300.0, 200.7, -129.0]),
            torch.arange(4, dtype=torch.int32),
        ),
    ),
    "norms_of_nothing": (
        lambda x: torch.native_group_norm(x, None, None, 0, 2, 1, 1, 1e-5),
        (torch.ones(0, 2),),
    ),
    # The product of the divisors is beyond float16.
    "divided_twice": (lambda x, y: x / y / y, (torch.full((3,), 300.0).half(), 7300 * ONES)),
    "counted_below_zero": (
        lambda x: [
            torch.arange(*ends, dtype=torch.uint8) + x.byte()
            for ends in ((0.0, -8.0, -4.0), (2.1, -2.9, -1.0), (0, -8, -4))
        ],
        (torch.zeros(1),),
    ),
    "narrow": (
        lambda x: (
            torch.polygamma(4, x),
            torch.digamma(x),
            x.renorm(2, 0, 0.5),
            x.argmax(0) * 2**40,
        ),
        (ROWS.bfloat16(),),
    ),
    "reflections": (lambda a: (torch.geqrf(a), torch.geqrf(a.mT)), (WIDE,)),
    "multiplied_by_reflections": (
        lambda a, t, x: [
            torch.ormqr(a, t, y, left, transpose)
            for left, y in ((True, x), (False, x.mT))
            for transpose in (False, True)
        ],
        (*torch.geqrf(WIDE.mT), torch.randn(2, 5, 2)),
    ),
    "repeated": (
        lambda x, n: (
            x.repeat_interleave(n, 0, output_size=9),
            torch.repeat_interleave(n, output_size=9),
        ),
        (ROWS, PLACES),
    ),
    "scattered_integers": (
        lambda x, s: [
            x.to(kind).scatter_reduce(0, s.abs() % 3, s.to(kind), how, include_self=False)
            for kind in (torch.int64, torch.uint8)
            for how in ("amin", "amax")
        ],
        (WHOLE, WHOLE.flip(0)),
    ),
    "put_at_one_place_twice": (
        lambda x: torch.put(x, PLACES - 2, torch.arange(5.0), accumulate=True),
        (ROWS,),
    ),
    "diagonal_from_the_last": (
        lambda x: torch.diagonal_scatter(x, x[..., 0, :3], 1, -2, -1),
        (SQUARE,),
    ),
    # As make_fx writes it, with where and how it lies in memory.
    "full_like": (
        lambda x: torch.ops.aten.full_like.default(
            x, 3, dtype=torch.float64, layout=torch.strided, pin_memory=False
        ),
        (ROWS,),
    ),
    "embedding_of_a_norm": (
        lambda w: F.embedding(PLACES, w.clone(), max_norm=1.0),
        (3 * ROWS,),
    ),
    "lu": (torch.linalg.lu, (SQUARE,)),
    "lu_wide": (torch.linalg.lu, (WIDE,)),
    "lu_unpack": (lambda a: torch.lu_unpack(*torch.linalg.lu_factor(a)), (WIDE.mT.contiguous(),)),
    "histogram": (lambda x: torch.histogram(x, bins=5), (LINE,)),
    "histogram_of_a_range": (
        lambda x, w: torch.histogram(x, 4, range=(-1.0, 1.0), weight=w, density=True),
        (LINE, LINE.abs()),
    ),
    "histogram_of_one_value": (lambda x: torch.histogram(x, bins=3), (torch.ones(4),)),
    "histogram_of_edges": (torch.histogram, (torch.cat([LINE, EDGES, HOLES[0]]), EDGES)),
    "histogram_of_nested_points": (
        lambda x: torch.histogramdd(x, bins=[3, 1, 2]),
        (torch.randn(4, 5, 3),),
    ),
    "histogram_of_many_axes": (lambda x: torch.histogramdd(x, [1] * 4), (torch.randn(2, 6, 4),)),
    "histogram_of_points": (
        lambda x: torch.histogramdd(x, bins=[3, 4], range=[-1.0, 1.0, -1.0, 1.0]),
        (LINE.reshape(-1, 2),),
    ),
    **{
        f"index_reduce_{how}_{own}": (
            functools.partial(
                lambda how, own, x, i, s: x.index_reduce(0, i, s, how, include_self=own), how, own
            ),
            (ROWS, PLACES, ROWS.flip(0)),
        )
        for how in ("prod", "mean", "amax", "amin")
        for own in (True, False)
    },
    "searchsorted": (
        lambda s, v: (torch.searchsorted(s, v), torch.searchsorted(s, v, side="right")),
        (SORTED, torch.cat([SORTED[:, 2:4], torch.tensor([[NAN], [9.0], [-9.0]])], 1)),
    ),
    "searchsorted_in_one_row": (
        lambda s, v: torch.searchsorted(s, v, right=True, out_int32=True),
        (SORTED[0], ROWS),
    ),
    "searchsorted_by_a_sorter": (
        lambda s, v: torch.searchsorted(s, v, sorter=s.argsort(-1)),
        (SORTED.flip(-1).contiguous(), torch.randn(3, 2)),
    ),
    "searchsorted_of_a_number": (lambda s: torch.searchsorted(s, 0.3), (SORTED[0],)),
    "searchsorted_of_integers": (
        lambda s: torch.searchsorted(s, 2.5),
        (torch.tensor([1, 2, 3, 2**53 + 1]),),
    ),
    "segments": (
        lambda x: [
            torch.segment_reduce(x, how, lengths=torch.tensor([2, 0, 3]))
            for how in ("sum", "mean", "max", "min", "prod")
        ],
        (ROWS,),
    ),
    "segments_by_offsets": (
        lambda x, o: [
            torch.segment_reduce(x, how, offsets=o, initial=2) for how in ("sum", "mean", "max")
        ],
        (ROWS, torch.tensor([0, 2, 2, 5])),
    ),
    "running_best": (lambda x: (x.cummax(1), x.cummin(1)), (HOLES,)),
    "running_best_of_equals": (lambda x: (x.cummax(0), x.cummin(0)), (PLACES // 2,)),
    "medians": (
        lambda x: (x.median(), x.nanmedian(), x.median(0), x.nanmedian(1, keepdim=True)),
        (HOLES,),
    ),
    "median_of_integers": (lambda x: x.median(0), (torch.tensor([2**53 + 1, 0, 2**60]),)),
    "nonzero_static": (
        lambda x: (x.nonzero_static(size=20), x.nonzero_static(size=2, fill_value=7)),
        (ROWS > 0,),
    ),
    "scatter_a_number": (
        lambda x, i: (
            x.scatter(0, i, 2.0, reduce="multiply"),
            x.scatter(0, i, 2.0, reduce="add"),
        ),
        (ROWS, PLACES[:, None].repeat(1, 2)),
    ),
    "one_half_of_a_matrix": (
        lambda a: (
            torch.linalg.eigvalsh(a),
            torch.linalg.eigvalsh(a, UPLO="U"),
            torch.linalg.cholesky(a + 9 * torch.eye(4)),
            torch.linalg.cholesky(a + 9 * torch.eye(4), upper=True),
        ),
        (SQUARE,),
    ),
    "ldexp": (lambda x: torch.ldexp(x, PLACES[:3]), (ROWS,)),
    "fmod": (
        lambda x: (torch.fmod(x, 0.3), torch.fmod(x, ROWS[0]), torch.fmod(x.long(), -3)),
        (1e6 * ROWS,),
    ),
    "multilabel_margins": (
        lambda x, t: [F.multilabel_margin_loss(x, t, reduction=r) for r in ("mean", "none", "sum")],
        (torch.randn(2, 4), torch.tensor([[3, 0, -1, 1], [1, -1, 2, 0]])),
    ),
    "distances_in_float64": (lambda x: torch.cdist(x, x + 1), (ROWS.double(),)),
    "fractional_maxima": (
        lambda x, u: (
            F.fractional_max_pool2d(
                x, (2, 3), output_size=(3, 4), _random_samples=u[..., :2], return_indices=True
            ),
            F.fractional_max_pool2d(x[0], 2, output_ratio=(0.7, 0.5), _random_samples=u[..., 1:]),
            F.fractional_max_pool3d(
                x, (1, 2, 3), output_size=(1, 3, 4), _random_samples=u[:, :1], return_indices=True
            ),
            # PyTorch takes more of them than there are channels.
            F.fractional_max_pool3d(
                x, (1, 2, 3), output_size=(1, 3, 4), _random_samples=u.transpose(0, 1)
            ),
        ),
        (IMAGE, torch.rand(1, 2, 3)),
    ),
    "taken_from_the_flat": (
        lambda x: (x.take(PLACES - 2), x.take(PLACES[1]), x.take(PLACES[:4].reshape(2, 2))),
        (ROWS,),
    ),
    # As PyTorch chooses between implementations of batch norm while it trains.
    "batch_norm_with_its_state": (
        lambda x, w: torch.ops.aten._batch_norm_with_update_functional(
            x, w, w + 1, w, w.abs(), 0.1, 1e-5
        )[:3],
        (IMAGE, torch.randn(2)),
    ),
    **{
        f"cross_entropy_in_chunks_{reduction}": (
            functools.partial(_in_chunks, reduction),
            (torch.randn(9, 5), torch.randn(4, 5), torch.randn(4), torch.rand(4)),
        )
        for reduction in ("mean", "sum", "none")
    },
    "antialias": (
        lambda x: (_resized("bilinear", x, (3, 5)), _resized("bicubic", x, (3, 5))),
        (IMAGE,),
    ),
    "antialias_larger": (
        lambda x: (_resized("bilinear", x, None, 1.7), _resized("bicubic", x, (9, 4))),
        (IMAGE.double(),),
    ),
    "antialias_corners": (lambda x: _resized("bicubic", x, (3, 4), None, True), (IMAGE,)),
}
if not hasattr(torch.ops.aten, "cholesky"):  # PyTorch 2.14 took it out
    del CASES["cholesky"]


def _same(mine: Any, theirs: Any) -> None:
    for one, other in zip(*map(pytree.tree_leaves, (mine, theirs)), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        near = {torch.float64: 1e-12, torch.bfloat16: 2**-7}.get(other.dtype, 2e-6)
        assert torch.allclose(one, other, rtol=near, atol=near, equal_nan=True)


@pytest.mark.parametrize("name", some(CASES, each=9))
def test_an_op_is_as_in_pytorch(name: str, executor: Executor) -> None:
    """Every result, in its dtype."""
    function, given = CASES[name]
    made = export_torch(Calls(function), given, target="0.9.0", allow=["exact"])
    _same(made(*given, executor=executor), function(*given))


# Values of which the squares are infinite, and more of them than the type counts to.
ACCUMULATED: dict[str, Callable[[Tensor], Any]] = {
    "layer_norm": lambda x: F.layer_norm(x, (600,)),
    "group_norm": lambda x: F.group_norm(x, 2),
    "normalize": lambda x: F.normalize(x, dim=-1),
    "pairwise_distance": lambda x: F.pairwise_distance(x, x.roll(1, 0)),
    "cube_norm": lambda x: torch.linalg.vector_norm(x, 3, -1),
    "matrix_norm": torch.linalg.matrix_norm,
    "renorm": lambda x: x.renorm(2, 0, 1e3),
    "norm_in_float64": lambda x: torch.linalg.vector_norm(x, 2, -1, dtype=torch.float64),
    "cumsum": lambda x: (x / 300).cumsum(-1),
    "cumprod": lambda x: (x / 6000 + 1).cumprod(-1),
    "scatter_add": lambda x: x.new_zeros(2, 4, 3).scatter_add(
        -1, (torch.arange(600) % 3).expand(x.shape), x / 10
    ),
    "index_add": lambda x: x.new_zeros(2, 4, 3).index_add(-1, torch.arange(600) % 3, x / 10),
    "embedding_bag": lambda x: F.embedding_bag(torch.tensor([[0, 1, 2], [3, 3, 0]]), x[0]),
    "exponential": lambda x: torch.linalg.matrix_exp(x[..., :4] / 4000),
}


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_narrow_floats_are_accumulated_in_wide_ones(kind: torch.dtype, executor: Executor) -> None:
    """Within the rounding of what goes in and of the result; of which PyTorch makes no more."""
    torch.manual_seed(0)
    x = (300 * torch.randn(2, 4, 600)).to(kind)
    model = Calls(lambda x: [function(x) for function in ACCUMULATED.values()])
    made = export_torch(model, (x,), target="0.9.0", allow=["exact"])(x, executor=executor)
    for name, one, exact in zip(ACCUMULATED, made, model(x.double()), strict=True):
        assert one.dtype == (torch.float64 if name == "norm_in_float64" else kind)
        error = (one.double() - exact).abs().max() / exact.abs().max()
        assert error <= 4 * torch.finfo(kind).eps, name


DYNAMIC: dict[str, Callable[..., Any]] = {
    "eye": lambda x: torch.eye(x.shape[0]),
    "line": lambda x: torch.arange(x.shape[0], dtype=torch.float32) * 2,
    "share": lambda x: (x / x.shape[0] ** 0.5, torch.full((2,), x.shape[0] * 1.5)),
    "roll": lambda x: x.roll(1, 0),
    "median": lambda x: x.median(0),
    "quantile": lambda x: x.quantile(0.3, dim=0),
    "running_best": lambda x: (x.cummax(0), x.cummin(1)),
    "larger": lambda x: F.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
    "places": lambda x: x.nonzero_static(size=9),
    "search": lambda x: torch.searchsorted(x.sort(0)[0].T.contiguous(), x.T.contiguous()),
}


@pytest.mark.parametrize("name", DYNAMIC)
def test_a_dynamic_dimension(name: str, executor: Executor) -> None:
    """At the size that was traced, and at others."""
    model, rows = Calls(DYNAMIC[name]), torch.export.Dim("rows", min=2, max=64)
    made = export_torch(
        model, (ROWS,), target="0.9.0", dynamic_shapes=(({0: rows},),), allow=["exact"]
    )
    for size in (5, 2, 8):
        x = torch.randn(size, 3)
        _same(made(x, executor=executor), model(x))


@pytest.mark.parametrize("loaded", [False, True])
def test_a_size_that_was_not_traced_is_refused(
    loaded: bool, tmp_path: Path, executor: Executor
) -> None:
    """The model takes another branch there, which is not in the artifact; saved or not."""
    model = Calls(lambda x: x * 2 if 4 <= x.shape[0] <= 9 else x * 3)
    rows = torch.export.Dim("rows", min=4, max=9)
    made = export_torch(model, (ROWS,), target="0.9.0", dynamic_shapes=(({0: rows},),))
    if loaded:
        made.save(tmp_path / "saved")
        made = ExportedArtifact.load(tmp_path / "saved")
    for size in (4, 9):
        x = torch.ones(size, 3)
        assert torch.equal(made(x, executor=executor), 2 * x)
    for size, why in ((3, "3, it was exported for at least 4"), (10, "10, .* for at most 9")):
        for x in (torch.ones(size, 3), np.ones((size, 3), np.float32)):
            with pytest.raises(InputMismatch, match=rf"is {why}.*Dim"):
                made(x, executor=executor)


def test_sizes_that_must_agree_are_compared_once_saved(tmp_path: Path) -> None:
    """Which ones is written beside the program, with the least and the largest."""
    rows = torch.export.Dim("rows", min=3)
    model = Calls(lambda x, y: x.sum() + y.sum() + (x + y).sum())
    shapes = (({0: rows}, {0: rows}),)
    export_torch(model, (ROWS, ROWS), target="0.9.0", dynamic_shapes=shapes).save(
        tmp_path / "saved"
    )
    made = ExportedArtifact.load(tmp_path / "saved")
    with pytest.raises(InputMismatch, match="is 4 in another input and 6"):
        made(torch.ones(4, 3), torch.ones(6, 3))


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_images_of_uint8_are_resized_as_pytorch_does(
    mode: str, antialias: bool, corners: bool, executor: Executor
) -> None:
    """Axis by axis, by whole numbers: every pixel is the same."""
    image = (torch.arange(180) * 37 % 256).to(torch.uint8).reshape(2, 3, 5, 6)
    resized = functools.partial(
        F.interpolate, mode=mode, antialias=antialias, align_corners=corners
    )

    def function(x: Tensor) -> Any:
        made = [resized(x, size=size) for size in ((7, 9), (3, 4), (5, 13), (1, 6))]
        return made if corners else [*made, resized(x, scale_factor=(1.7, 0.6))]

    made = export_torch(Calls(function), (image,), target="1.0.0")(image, executor=executor)
    assert all(map(torch.equal, made, function(image)))
