"""Ops that torchax lacks or cannot trace, ops of the user's own, and sizes that depend on data."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - what everybody calls it
from packaging.version import Version
from torch import Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.attention.flex_attention import AuxRequest, flex_attention
from torch.utils import _pytree as pytree

from compat_tests.helpers.thorough import some
from compat_tests.helpers.torch_calls import Calls
from portable.exporters import ExportFailed, export_torch
from portable.runtime.executors import Executor

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)


def _slanted(score: Tensor, batch: Tensor, head: Tensor, row: Tensor, column: Tensor) -> Tensor:
    return score + 0.1 * (row - column) + batch + head


def _with_sums(made: Any) -> tuple[Tensor, Tensor]:
    output, others = made
    return output, others.lse


torch.manual_seed(0)
SQUARE = torch.randn(2, 3, 3) + 3 * torch.eye(3)
TABLE, WORDS = torch.randn(10, 4), torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])
BAGS = torch.tensor([0, 3, 3, 4])
GROUPS = torch.tensor([3, 3, 8], dtype=torch.int32)
INTEGERS = torch.randint(-128, 128, (32, 16), dtype=torch.int8)
HEADS = torch.randn(1, 2, 6, 8)

CASES: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "det": (torch.linalg.det, (SQUARE,)),
    "slogdet": (torch.linalg.slogdet, (SQUARE,)),
    "inv": (torch.linalg.inv, (SQUARE,)),
    "solve": (torch.linalg.solve, (SQUARE, torch.randn(2, 3, 2))),
    "qr": (lambda a: torch.matmul(*torch.linalg.qr(a)), (SQUARE,)),
    "svd": (torch.linalg.svdvals, (SQUARE,)),
    "bags": (lambda w, i, o: F.embedding_bag(i, w, o), (TABLE, WORDS, BAGS)),
    "sums": (
        lambda w, i, o: F.embedding_bag(i, w, o, mode="sum", padding_idx=4),
        (TABLE, WORDS, BAGS),
    ),
    "best": (lambda w, i, o: F.embedding_bag(i, w, o, mode="max"), (TABLE, WORDS, BAGS)),
    "integers": (torch._int_mm, (INTEGERS, INTEGERS.T.contiguous())),
    "groups": (
        lambda a, b, ends: torch._grouped_mm(a, b, offs=ends),
        (torch.randn(8, 16).bfloat16(), torch.randn(3, 16, 8).bfloat16(), GROUPS),
    ),
    "strided": (lambda x: x.t().as_strided((2, 3), (1, 4), 1), (TABLE[:4].contiguous(),)),
    "counted": (
        lambda x: [
            x[:1, :1] * torch.arange(first, last, step, dtype=kind)
            for kind in (torch.int64, torch.int32)
            for first, last, step in ((0.5, 5.7, 1.5), (-2.6, 3, 1), (4, -3.5, -1.2), (0, 5, 2))
        ],
        (TABLE,),
    ),
    "slices": (
        lambda x: [
            x.slice_scatter(x[:, :2] * 2, axis, *ends)
            for axis, ends in ((-1, (1, 3)), (1, (0, 3, 2)), (-1, (-2,)))
        ],
        (TABLE,),
    ),
    "running sums of powers": (lambda x: [x.logcumsumexp(-1), x[0, 0].logcumsumexp(0)], (TABLE,)),
    "leaking": (lambda x: F.rrelu(x, 0.1, 0.3), (TABLE,)),
    "scaled": (
        lambda a, b, row, column: (
            [
                torch._scaled_mm(a, b.T, torch.tensor(1.5), torch.tensor(0.5), bias, out_dtype=kind)
                for bias, kind in ((None, torch.float32), (column.bfloat16(), torch.bfloat16))
            ]
            + [torch._scaled_mm(a, b.T, row[:, None], column[None], out_dtype=torch.bfloat16)]
        ),
        (
            torch.randn(16, 32).to(torch.float8_e4m3fn),
            torch.randn(16, 32).to(torch.float8_e4m3fn),
            torch.rand(16),
            torch.rand(16),
        ),
    ),
    "int8 weights": (
        torch.ops.aten._weight_int8pack_mm,
        (torch.randn(4, 16), INTEGERS[:8], torch.rand(8)),
    ),
    # PyTorch's own decomposition of attention has strides that the view does not take.
    "view": (
        lambda x: (
            F.scaled_dot_product_attention(x, x, x).transpose(1, 2).reshape(2, 6, 8).view(-1, 8)
        ),
        (HEADS.view(2, 2, 6, 4),),
    ),
    "flex": (
        lambda q, k, v: flex_attention(q, k, v, score_mod=_slanted),
        (HEADS, HEADS + 1, HEADS - 1),
    ),
    "flex with its sums": (
        lambda q, k, v: _with_sums(
            flex_attention(q, k, v, score_mod=_slanted, return_aux=AuxRequest(lse=True))
        ),
        (HEADS, HEADS + 1, HEADS - 1),
    ),
    "bits": (
        lambda x, flags: [
            x.view(torch.int32),
            x.view(torch.uint8),
            x.view(torch.float16).view(torch.int16),
            x.view(torch.uint8).view(torch.int64),
            x.view(torch.complex64),
            x.view(torch.complex64).view(torch.float64).view(torch.int64),
            flags.view(torch.uint8),
            flags.view(torch.uint8).view(torch.bool),
        ],
        (TABLE, TABLE > 0),
    ),
    "another size": (
        lambda x, y: x.clone().resize_as_(y) + 1,
        (TABLE, torch.ones(5, 3)),
    ),
    "hash": (
        lambda x, i: [
            torch.hash_tensor(x).long(),
            torch.hash_tensor(x, 1, keepdim=True).long(),
            torch.hash_tensor(i, 0).long(),
        ],
        (TABLE, INTEGERS),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_op_is_as_in_pytorch(name: str, executor: Executor) -> None:
    """Every result, in its dtype."""
    function, given = CASES[name]
    made = export_torch(Calls(function), given, target="1.9.0", allow=["exact"])
    got, wanted = made(*given, executor=executor), function(*given)
    pairs = zip(*map(pytree.tree_leaves, (got, wanted)), strict=True)
    for mine, theirs in pairs:
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        near = 2e-2 if theirs.dtype == torch.bfloat16 else 1e-5
        assert torch.allclose(mine, theirs, rtol=near, atol=near)


def test_the_groups_of_transformers(executor: Executor) -> None:
    """Experts are multiplied by an op of that package; some of them get no token."""
    pytest.importorskip("transformers.integrations.moe")
    op = torch.ops.transformers.grouped_mm_fallback
    given = (torch.randn(8, 16), torch.randn(3, 16, 8), GROUPS)
    made = export_torch(Calls(op), given, target="1.0.0")
    assert torch.allclose(made(*given, executor=executor), op(*given), atol=1e-5)


NUMBERS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "place": lambda i, x: x[i],
    "place in a column": lambda i, x: x[:, i.item()],
    "rows": lambda i, x: x[_within(i, 3) : i.item() + 2],
    "narrow": lambda i, x: x.narrow(0, _within(i, 3), 2),
    "put rows": lambda i, x: _put(x, _within(i, 2)),
    "put a row": lambda i, x: x.select_scatter(x[0], 0, i.item()),
    "arithmetic": lambda i, x: (
        x * i.item() + (i.item() + 1) // 2,
        x[:3] < i.item(),
        torch.arange(5) < i.item(),
        torch.arange(5, dtype=torch.int8) + i.item(),
        torch.full((3,), i.item()),
        torch.tensor([i.item(), 3]),
        torch.roll(x, i.item(), 0),
        torch.where(x > 0, i.item(), x),
    ),
    "floats": lambda _, x: (
        x * x[0, 0].item(),
        x > x[0, 0].item(),
        x.half() + x[0, 0].item(),
        torch.arange(3) * x[0, 1].item(),
        torch.full((2,), x[1, 1].item()),
        x.clamp(max=x[0, 0].item()),
    ),
    "counted": lambda i, _: torch.arange(_within(i, 9), i.item() + 4) * 2,
}


def _within(i: Tensor, most: int) -> int:
    number = int(i.item()) if not torch.compiler.is_exporting() else i.item()
    torch._check(number >= 0)
    torch._check(number <= most)
    return number


def _put(x: Tensor, place: int) -> Tensor:
    made = x.clone()
    made[place : place + 2] = x[:2] * 2
    return made


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_are_taken_out_of_tensors(name: str, executor: Executor) -> None:
    """They choose places and are computed with, as in a cache that is written at a position."""
    function = NUMBERS[name]
    made = export_torch(Calls(function), (torch.tensor(1), TABLE), target="1.0.0")
    for place in (0, 2):
        given = torch.tensor(place), TABLE.flip(0)
        got, wanted = made(*given, executor=executor), function(*given)
        for mine, theirs in zip(*map(pytree.tree_leaves, (got, wanted)), strict=True):
            assert mine.dtype == theirs.dtype
            assert torch.allclose(mine, theirs, atol=1e-6)


def test_a_place_from_the_last(executor: Executor) -> None:
    """As PyTorch counts it."""
    made = export_torch(Calls(lambda i, x: x[i]), (torch.tensor(1), TABLE), target="1.0.0")
    assert torch.equal(made(torch.tensor(-2), TABLE, executor=executor), TABLE[-2])


def test_a_size_that_is_taken_out_of_a_tensor() -> None:
    """It is refused, where the tensor of that size is made."""
    for function in (lambda i, x: x[: _within(i, 3)].sum(), lambda i, _: torch.ones(i.item())):
        with pytest.raises(ExportFailed, match=r"the size of what aten.*depends on data"):
            export_torch(Calls(function), (torch.tensor(1), TABLE), target="1.0.0")


UNBOUNDED: dict[str, tuple[Callable[..., Any], str]] = {
    "nonzero": (torch.nonzero, "nonzero_static"),
    "masked_select": (lambda x: x[x > 0], r"torch\.where"),
    "bincount": (lambda x: torch.bincount(x.long()), "index_add"),
    "unique": (torch.unique, "fixed size"),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_sizes_that_depend_on_data_are_refused(name: str) -> None:
    """By the op and the line of the model, with the bound to give."""
    function, hint = UNBOUNDED[name]
    with pytest.raises(ExportFailed, match=rf"depends on data.*{hint}") as caught:
        export_torch(Calls(function), (torch.tensor([1.0, 0.0, 2.0]),), target="1.0.0")
    assert caught.value.where


def test_truths_that_pytorch_asserts(executor: Executor) -> None:
    """Whether all values of a tensor are true, and whether any is."""
    ops, x = torch.ops.aten, torch.tensor([True, False])
    model = Calls(lambda x: (ops._is_all_true(x), ops._is_any_true(x), ops._is_all_true(x | True)))
    made = export_torch(model, (x,), target="0.9.0")
    assert [truth.item() for truth in made(x, executor=executor)] == [False, True, True]


PADDED = torch.tensor([[1, 2, 2], [3, 3, -7], [0, 0, 0]])
ALIGNED: dict[str, tuple[Any, ...]] = {
    "numbers": (PADDED, (8, 6, 7), (3, 2, 0)),
    "tensors": (PADDED, torch.tensor([8, 6, 1]), torch.tensor([3, 2, 0])),
    "in one row": (torch.tensor([1, 2, 2, 3, 3]), (8, 6, 7), (3, 2, 0)),
    "impossible": (PADDED, (3, 3, 3), (3, 2, 0)),
}


@pytest.mark.parametrize("name", some(ALIGNED, each=2))
def test_the_loss_of_an_alignment(name: str, executor: Executor) -> None:
    """As PyTorch's, also where targets cannot be aligned, and what lies behind them is not read."""
    torch.manual_seed(0)
    scores, (targets, lengths, sizes) = torch.randn(8, 3, 5).log_softmax(-1), ALIGNED[name]

    def losses(x: Tensor) -> list[Tensor]:
        return [
            F.ctc_loss(x, targets, lengths, sizes, reduction="none"),
            F.ctc_loss(x, targets, lengths, sizes, reduction="sum"),
            F.ctc_loss(x, targets, lengths, sizes, zero_infinity=True),
            F.ctc_loss(x[:, 0], PADDED[0, :2], (8,), (2,), blank=4),
            nn.CTCLoss(reduction="none")(x[:, 0], PADDED[0, :2], torch.tensor(8), torch.tensor(2)),
        ]

    made = export_torch(Calls(losses), (scores,), target="0.9.0")
    for mine, theirs in zip(made(scores, executor=executor), losses(scores), strict=True):
        assert mine.shape == theirs.shape
        assert torch.allclose(mine, theirs, rtol=3e-6)


class DynamicCache:
    """Named as the one of transformers, which is no dataclass either."""

    def __init__(self, key: Tensor) -> None:
        self.key = key


UNTRACEABLE: dict[str, tuple[Callable[..., Any], str]] = {
    "branch": (lambda x: x if x.sum() > 0 else -x, r"torch\.cond"),
    "number": (lambda x: x * float(x.sum()), "keep it there"),
    "place": (lambda x: x.clone().__setitem__((0, x[0, 0].long()), 0), "index_copy"),
    "loss": (
        lambda x: F.ctc_loss(
            x[:, None].expand(-1, 2, -1), torch.ones(2).long(), *torch.tensor([[3, 3], [1, 1]])
        ),
        "lengths as numbers",
    ),
    "momentum": (nn.BatchNorm1d(3, momentum=None), "give it one"),
    "least_squares": (lambda x: torch.linalg.lstsq(x, x).solution, "pinv"),
    "classes": (lambda x: F.one_hot(x.long()), "num_classes"),
    # PyTorch's compiler, once it was used, no longer validates by itself in this process.
    "distribution": (
        torch.distributions.Normal(0.0, 1.0, validate_args=True).log_prob,
        "validate_args=False",
    ),
    "packed": (
        lambda x: nn.GRU(3, 3)(nn.utils.rnn.pack_padded_sequence(x[:, None], [3])),
        "pass padded ones",
    ),
    "equality": (lambda x: x if torch.equal(x, x + 1) else -x, "simpler ops"),
    "another memory": (lambda x: x.resize_(2), "return a new tensor"),
    "class": (lambda x: Pair(x, x), "register_dataclass"),
    "cache": (DynamicCache, "use_cache=False, or register .* DynamicCache"),
    "derivative": (torch.func.grad(lambda x: (x**3).sum()), "make_fx"),
}


# The PyTorch that traces it.
TRACED_SINCE = {"place": "2.14", "distribution": "2.15"}
for _name, _since in TRACED_SINCE.items():
    if Version(torch.__version__) >= Version(_since):
        del UNTRACEABLE[_name]


@dataclasses.dataclass
class Pair:
    """What PyTorch does not know how to take apart."""

    one: Tensor
    other: Tensor


@pytest.mark.parametrize("name", UNTRACEABLE)
def test_what_cannot_be_traced_says_what_to_do(name: str) -> None:
    """Not only where PyTorch shows its report."""
    function, hint = UNTRACEABLE[name]
    with pytest.raises(ExportFailed, match=hint):
        export_torch(Calls(function), (torch.ones(3, 3),), target="1.0.0")


class StaticCache(DynamicCache):
    """Named as the other of transformers."""


TAKEN: dict[type, str] = {
    DynamicCache: "register_dynamic_cache_export_support",
    StaticCache: "TorchExportableModuleWithStaticCache",
    types.SimpleNamespace: "register_pytree_node with flatten_with_keys_fn",
}


@pytest.mark.parametrize("kind", TAKEN)
def test_an_input_of_a_class_that_pytorch_does_not_know(kind: type) -> None:
    """It says how to register it, or what to do instead."""
    value = kind(key=torch.ones(3))
    with pytest.raises(ExportFailed, match=TAKEN[kind]):
        export_torch(Calls(lambda x: x.key), (value,), target="1.0.0")


def test_a_derivative_that_was_traced_before(executor: Executor) -> None:
    """By the way that the error names."""
    slope, x = torch.func.grad(lambda x: (x**3).sum()), torch.randn(3)
    made = export_torch(make_fx(slope)(x), (x,), target="0.9.0")
    assert torch.allclose(made(x, executor=executor), slope(x))


def test_a_dimension_that_cannot_be_open_says_why() -> None:
    """By PyTorch's reason, and the Dim that it suggests."""
    rows = torch.export.Dim("rows", min=2, max=64)
    model = Calls(lambda x: torch.cdist(x, x))
    with pytest.raises(ExportFailed, match=r"<= 25; PyTorch suggests rows = Dim\('rows', max=25\)"):
        export_torch(model, (SQUARE[0],), target="1.0.0", dynamic_shapes=(({0: rows},),))


def test_a_custom_op_that_changes_what_it_takes() -> None:
    """It is refused with what to do, not with a decomposition that PyTorch does not have."""

    def double(x: Tensor) -> None:
        x.mul_(2)

    torch.library.custom_op("portable_tests::double", double, mutates_args={"x"})
    model = Calls(lambda x: (torch.ops.portable_tests.double(x), x + 1)[1])
    with pytest.raises(ExportFailed, match="return the new value"):
        export_torch(model, (torch.ones(2),), target="1.0.0")


UNLOWERED: dict[str, tuple[Callable[..., Any], str]] = {
    "factors": (torch.linalg.ldl_factor, "lu_factor"),
    "sparse": (lambda x: x.to_sparse().to_dense(), "dense"),
}


@pytest.mark.parametrize("name", UNLOWERED)
def test_what_has_no_lowering_says_what_has(name: str) -> None:
    """Not what torchax makes of it, which is NaN for a matrix that is not positive definite."""
    function, hint = UNLOWERED[name]
    with pytest.raises(ExportFailed, match=rf"no lowering of aten.*{hint}"):
        export_torch(Calls(function), (torch.eye(3),), target="1.0.0")


def _gain(x: Tensor, factor: float) -> Tensor:
    """Multiply, by code that no exporter sees into."""
    return x * factor


gain = torch.library.custom_op("portable_tests::gain", _gain, mutates_args=())
gain.register_fake(lambda x, _: torch.empty_like(x))


def test_a_custom_op_by_the_user_s_lowering(executor: Executor) -> None:
    """It has none of its own; one that raises is named, with what it said."""
    model, x = Calls(lambda x: gain(x, 3.0)), torch.ones(2)
    op = torch.ops.portable_tests.gain.default
    with pytest.raises(ExportFailed, match=r"no lowering of portable_tests\.gain.*lowerings="):
        export_torch(model, (x,), target="1.0.0")
    made = export_torch(model, (x,), target="1.0.0", lowerings={op: lambda x, factor: x * factor})
    assert made(x, executor=executor).tolist() == [3, 3]

    def failing(_: Any, factor: float) -> Any:
        raise ValueError(f"no luck with {factor}")

    with pytest.raises(ExportFailed, match=r"cannot lower portable_tests\.gain.*no luck with 3"):
        export_torch(model, (x,), target="1.0.0", lowerings={op: failing})
    with pytest.raises(ExportFailed, match="takes no lowerings"):
        export_torch(model, (x,), target="1.0.0", backend="torch_mlir", lowerings={op: failing})


def _endless(*given: Any) -> Any:
    return _endless(*given)


WRONG: dict[str, tuple[Any, str]] = {
    "no values": (lambda *_: (_ for _ in ()).throw(ValueError("a\nb\x1b[31m")), "ValueError: a"),
    "another shape": (lambda x, _: x[:1], r"returns float32\[1\], PyTorch makes float32\[2\]"),
    "another rank": (lambda *_: 3.0, r"returns float64\[\], PyTorch makes float32\[2\]"),
    "another kind": (lambda x, _: x.astype(complex), r"returns complex128\[2\]"),
    "integers": (lambda x, _: x.astype(int), r"returns int64\[2\]"),
    "several": (lambda x, _: (x, x), r"returns float32\[2,2\]"),
    "text": (lambda *_: "text", "not a valid JAX array"),
    "None": (lambda *_: None, "None is not a valid value"),
    "too few arguments": (lambda x: x, "takes 1 positional argument"),
    "numpy": (lambda x, _: np.asarray(x), "TracerArrayConversionError"),
    "no end": (_endless, "RecursionError"),
    "no function": (3, "not a function"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_lowering_that_is_wrong(name: str) -> None:
    """It is named with what it made, also where another op takes that; the error is one line."""
    function, says = WRONG[name]
    op, model = torch.ops.portable_tests.gain.default, Calls(lambda x: gain(x, 3.0) + x)
    with pytest.raises(ExportFailed, match=rf"portable_tests\.gain.*{says}") as caught:
        export_torch(model, (torch.ones(2),), target="1.0.0", lowerings={op: function})
    assert str(caught.value).isprintable()


def test_a_lowering_of_two_results(executor: Executor) -> None:
    """As many as the op has, in its dtypes."""
    op, x = torch.ops.aten.topk.default, torch.tensor([1.0, 3.0, 2.0])
    model = Calls(lambda x: torch.topk(x, 1))
    taken = {op: lambda x, _: (x[:1].astype("float64"), x[1:2].astype("int64").astype("int8"))}
    made = export_torch(model, (x,), target="1.0.0", lowerings=taken)
    got = made(x, executor=executor)
    assert (got[0].dtype, got[1].dtype, got[1].item()) == (torch.float32, torch.int64, 3)
    with pytest.raises(ExportFailed, match="returns one value, PyTorch makes 2"):
        export_torch(model, (x,), target="1.0.0", lowerings={op: lambda x, _: x})


@pytest.mark.parametrize("key", ["aten.silu", torch.nn.functional.silu, gain, None])
def test_a_lowering_of_what_is_no_op(key: Any) -> None:
    """It would never be used."""
    with pytest.raises(ExportFailed, match=r"not an op of PyTorch.*torch\.ops\.aten"):
        export_torch(nn.SiLU(), (torch.ones(2),), target="1.0.0", lowerings={key: lambda x: x})


def test_an_op_of_aten_by_the_user_s_lowering(executor: Executor) -> None:
    """Also one that would be decomposed."""
    op = torch.ops.aten.silu.default
    lowerings = {op: lambda x: x * 0 + 5}
    made = export_torch(nn.SiLU(), (torch.ones(2),), target="1.0.0", lowerings=lowerings)
    assert made(torch.ones(2), executor=executor).tolist() == [5, 5]


class Causal(nn.Module):
    """A decoder that counts the places of its tokens by their mask, as those of Llama's kind do."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.mix = nn.Embedding(50, 16), nn.Linear(16, 48)
        self.head = nn.Linear(16, 50)
        self.register_buffer("turns", torch.tensor([1.0, 0.01]))

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Score the next token after each."""
        batch, length = tokens.shape
        places = (mask.cumsum(-1) - 1).clamp(min=0)
        parts = self.mix(self.words(tokens)).chunk(3, -1)
        query, key, value = (p.view(batch, length, 4, 4).transpose(1, 2) for p in parts)
        angles = (places[:, :, None] * self.turns)[:, None].repeat(1, 1, 1, 2)
        query, key = (x * angles.cos() + x.roll(2, -1) * angles.sin() for x in (query, key))
        line = torch.arange(length)
        seen = (line <= line[:, None])[None, None] & (mask[:, None, None, :] != 0)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        return self.head(mixed.transpose(1, 2).reshape(batch, length, 16))


def test_a_causal_mask_with_batch_and_length_open(executor: Executor) -> None:
    """One artifact for every size of both, also those it was not traced with."""
    batch, length = torch.export.Dim("batch", max=8), torch.export.Dim("length", max=64)
    torch.manual_seed(0)
    model = Causal().eval()

    def given(rows: int, columns: int) -> tuple[Tensor, Tensor]:
        mask = torch.ones(rows, columns, dtype=torch.int64)
        mask[0, -1] = mask[-1, 1] = 0
        return torch.randint(0, 50, (rows, columns)), mask

    shapes = ({0: batch, 1: length},) * 2
    made = export_torch(model, given(3, 5), target="1.0.0", dynamic_shapes=shapes)
    for sizes in ((3, 5), (2, 7), (5, 16), (8, 64)):
        inputs = given(*sizes)
        assert torch.allclose(made(*inputs, executor=executor), model(*inputs), atol=5e-6)


def test_running_sums_and_products_of_any_length(executor: Executor) -> None:
    """Of integers and floats, along an open axis and along another."""

    class Running(nn.Module):
        def forward(self, x: Tensor, count: Tensor) -> Any:
            return x.cumsum(0), x.cumsum(1), x.cumprod(0), count.cumsum(0), (count > 1).cumsum(0)

    rows = torch.export.Dim("rows")
    inputs = (torch.rand(4, 3) + 0.5, torch.arange(4, dtype=torch.int32))
    made = export_torch(
        Running(), inputs, target="1.0.0", dynamic_shapes=({0: rows}, {0: rows}), allow=["exact"]
    )
    for size in (4, 9):
        inputs = (torch.rand(size, 3) + 0.5, torch.arange(size, dtype=torch.int32))
        for mine, theirs in zip(made(*inputs, executor=executor), Running()(*inputs), strict=True):
            assert mine.dtype == theirs.dtype
            assert torch.allclose(mine, theirs, atol=2e-6)
