"""Derivatives: what PyTorch computes by ops of their own, and whole steps of training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - what everybody calls it
from torch import Tensor, nn
from torch.fx.experimental.proxy_tensor import make_fx

from compat_tests.helpers.thorough import some
from compat_tests.helpers.torch_calls import Calls
from portable.exporters import ExportFailed, export_torch
from portable.exporters.lists import list_ops
from portable.runtime.executors import Executor

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)

torch.manual_seed(0)
ROW, IMAGE, VOLUME = torch.randn(2, 3, 11), torch.randn(2, 3, 7, 9), torch.randn(2, 3, 5, 7, 6)
HEADS, MASK = torch.randn(1, 2, 6, 8), torch.randn(6, 6)
FILTERS = {n: torch.randn(4, 3, *(3,) * n) for n in (1, 2, 3)}
GRID = torch.rand(2, 4, 5, 2) * 2.4 - 1.2
WORDS, BAGS = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]), torch.tensor([0, 3, 3, 4])
LABELS = torch.tensor([[0, 3, -1, 1], [1, -1, 2, 0]])

DERIVATIVES: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]] = {
    "maxima": (lambda x: F.max_pool2d(x, 2), (IMAGE,)),
    "maxima of windows that overlap": (lambda x: F.max_pool2d(x, 3, 2, 1), (IMAGE,)),
    "maxima, the last window is cut": (lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True), (IMAGE,)),
    "maxima of every other": (lambda x: F.max_pool2d(x, 2, 2, dilation=2), (IMAGE,)),
    "maxima without a batch": (lambda x: F.max_pool2d(x, 2), (IMAGE[0],)),
    "maxima in one dimension": (lambda x: F.max_pool1d(x, 3, 2, ceil_mode=True), (ROW,)),
    "maxima in three": (lambda x: F.max_pool3d(x, 2, 2, ceil_mode=True), (VOLUME,)),
    "adaptive maxima": (lambda x: F.adaptive_max_pool2d(x, 3), (IMAGE,)),
    "adaptive maxima in three": (lambda x: F.adaptive_max_pool3d(x, 2), (VOLUME,)),
    "averages": (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), (IMAGE,)),
    "averages in one dimension": (lambda x: F.avg_pool1d(x, 3, 2, 1), (ROW,)),
    "averages in three": (lambda x: F.avg_pool3d(x, 2), (VOLUME,)),
    "adaptive averages": (lambda x: F.adaptive_avg_pool2d(x, (3, 4)), (IMAGE,)),
    "adaptive averages in three": (lambda x: F.adaptive_avg_pool3d(x, 2), (VOLUME,)),
    "powers": (lambda x: F.lp_pool2d(x, 2, 3, 2), (IMAGE,)),
    "attention": (F.scaled_dot_product_attention, (HEADS, HEADS + 1, HEADS * 2)),
    "attention to the past": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3),
        (HEADS, HEADS + 1, HEADS * 2),
    ),
    "attention with a mask": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=MASK),
        (HEADS, HEADS + 1, HEADS * 2),
    ),
    "distances": (torch.cdist, (ROW, ROW[:, :2] + 1)),
    "distances to each other": (lambda x: torch.cdist(x, x, p=1), (ROW,)),
    "the largest distances": (lambda x, y: torch.cdist(x, y, p=float("inf")), (ROW, ROW + 1)),
    "distances of pairs": (torch.pdist, (torch.cat([ROW[0], ROW[0, :1]]),)),
    "cubic distances of pairs": (lambda x: torch.pdist(x, 3), (ROW[0],)),
    "sampled at places": (
        lambda x, grid: F.grid_sample(x, grid, align_corners=False),
        (IMAGE, GRID),
    ),
    "sampled at the edges": (
        lambda x: F.grid_sample(x, GRID, "bilinear", "border", align_corners=True),
        (IMAGE,),
    ),
    "hard shrinking": (F.hardshrink, (ROW,)),
    "soft shrinking": (F.softshrink, (ROW,)),
    "margins": (lambda x: F.multi_margin_loss(x, WORDS[:2] % 4), (ROW[0, :2],)),
    "margins of several labels": (lambda x: F.multilabel_margin_loss(x, LABELS), (ROW[0, :2, :4],)),
    "bags": (lambda w: F.embedding_bag(WORDS, w, BAGS), (torch.randn(10, 4),)),
    "sums of bags": (
        lambda w: F.embedding_bag(WORDS, w, BAGS, mode="sum", padding_idx=4),
        (torch.randn(10, 4),),
    ),
    "the best of bags": (
        lambda w: F.embedding_bag(WORDS, w, BAGS, mode="max"),
        (torch.randn(10, 4),),
    ),
    "chosen by a mask": (
        lambda x, y: x.masked_scatter(torch.arange(66).view(2, 3, 11) % 3 == 0, y),
        (ROW, ROW * 2),
    ),
}
DERIVATIVES |= {
    f"{n}d convolution": (getattr(F, f"conv{n}d"), (x, FILTERS[n], torch.randn(4)))
    for n, x in ((1, ROW), (2, IMAGE), (3, VOLUME))
}
DERIVATIVES |= {
    f"{n}d transposed convolution in groups": (
        lambda x, w, n=n: getattr(F, f"conv_transpose{n}d")(x, w, None, 2, 1, 1, 2),
        (x.repeat_interleave(2, 1)[:, :4], FILTERS[n]),
    )
    for n, x in ((1, ROW), (2, IMAGE), (3, VOLUME))
}
DERIVATIVES |= {
    f"resized {how}": (lambda x, how=how, more=more: F.interpolate(x, mode=how, **more), (x,))
    for how, x, more in (
        ("linear", ROW, {"size": 7}),
        ("bilinear", IMAGE, {"scale_factor": 1.7}),
        ("bicubic", IMAGE, {"size": (11, 5), "align_corners": True}),
        ("trilinear", VOLUME, {"size": (3, 8, 6)}),
        ("nearest", IMAGE, {"scale_factor": (0.4, 1.7)}),
        ("nearest-exact", IMAGE, {"size": (3, 13)}),
    )
}
DERIVATIVES |= {
    f"resized {how} against aliasing": (
        lambda x, how=how: F.interpolate(x, size=(4, 13), mode=how, antialias=True),
        (IMAGE,),
    )
    for how in ("bilinear", "bicubic")
}
DERIVATIVES |= {
    f"padded by {how} in {n}": (lambda x, n=n, how=how: F.pad(x, (2, 1) * n, how), (x,))
    for n, x in ((1, ROW), (2, IMAGE), (3, VOLUME))
    for how in ("reflect", "replicate", "circular")
}
DERIVATIVES |= {
    "determinants": (torch.linalg.det, (IMAGE[..., :7],)),
    "determinants of transposes": (lambda x: torch.linalg.det(x.mT), (IMAGE[..., :7],)),
    "determinants of every second row": (lambda x: torch.linalg.det(x[..., ::2, :4]), (IMAGE,)),
    "logarithms of determinants": (lambda x: torch.linalg.slogdet(x)[1], (IMAGE[..., :7],)),
    "condition numbers": (torch.linalg.cond, (IMAGE[..., :7],)),
    "solutions": (torch.linalg.solve, (IMAGE[..., :7] + 9 * torch.eye(7), IMAGE[..., 1:3])),
}
DERIVATIVES = {
    name: (function, tuple(x.contiguous() for x in given))
    for name, (function, given) in DERIVATIVES.items()
}
ACTIVATIONS = (
    *("celu", "elu", "gelu", "glu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu"),
    *("log_softmax", "logsigmoid", "mish", "normalize", "relu", "relu6", "rrelu", "selu"),
    *("silu", "softmax", "softmin", "softplus", "softsign", "tanhshrink"),
)
DERIVATIVES["activations"] = (
    lambda x: torch.cat(
        [
            getattr(F, name)(x, **({"dim": 1} if "softm" in name else {})).flatten()
            for name in ACTIVATIONS
        ]
    ),
    (IMAGE[..., :8],),
)


def _derivative(function: Callable[..., Tensor]) -> Callable[..., Any]:
    """Return the derivatives of a weighted sum of the results, no two with one weight."""

    def derivative(*inputs: Tensor) -> Any:
        inputs = tuple(x.detach().requires_grad_() for x in inputs)
        made = function(*inputs)
        weights = 1 + torch.arange(made.numel()).view(made.shape) / made.numel()
        return torch.autograd.grad((made * weights).sum(), inputs)

    return derivative


@pytest.mark.parametrize("name", some(DERIVATIVES, each=6))
def test_a_derivative_is_pytorch_s(name: str, executor: Executor) -> None:
    """By each input."""
    function, given = DERIVATIVES[name]
    derivative = _derivative(function)
    made = export_torch(make_fx(derivative)(*given), given, target="0.9.0", allow=["exact"])
    for mine, theirs in zip(made(*given, executor=executor), derivative(*given), strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        assert torch.allclose(mine, theirs, rtol=1e-5, atol=1e-5 * float(theirs.abs().max()))


@pytest.mark.parametrize("overload", ["", ".default"])
def test_a_derivative_by_the_user_s_lowering(overload: str, executor: Executor) -> None:
    """A lowering that the user gives for a derivative, by packet or overload, replaces ours."""
    packet = torch.ops.aten.hardshrink_backward
    op = packet.default if overload else packet

    def five(gradient: Any, *_: Any) -> Any:
        return gradient * 0 + 5

    class Shrunk(nn.Module):
        def forward(self, gradient: Tensor, x: Tensor) -> Tensor:
            return packet(gradient, x, 0.5)

    given = (torch.ones(2), torch.ones(2))
    exported = export_torch(Shrunk(), given, target="0.9.0", lowerings={op: five})
    assert exported(*given, executor=executor).tolist() == [5, 5]


class Classifier(nn.Module):
    """What a tutorial trains: convolutions, batch norm in training, maxima, averages."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, groups=4),
            nn.GELU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(8, 4),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return scores."""
        return self.layers(x)


class Reader(nn.Module):
    """An encoder of tokens with attention."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 16)
        self.encoder = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.last = nn.Linear(16, 4)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return scores."""
        return self.last(self.encoder(self.words(tokens)).mean(1))


STEPS: dict[str, tuple[type[nn.Module], Tensor, type[torch.optim.Optimizer], dict[str, Any]]] = {
    "momentum": (Classifier, torch.randn(4, 3, 8, 8), torch.optim.SGD, {"momentum": 0.9}),
    "AdamW": (Reader, torch.arange(24).view(4, 6) % 20, torch.optim.AdamW, {"eps": 1e-3}),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_of_training_is_pytorch_s(name: str, executor: Executor) -> None:
    """The loss, and every weight after the optimizer moved it; where it divides, not by noise."""
    torch.manual_seed(0)
    model, x, optimizer, options = STEPS[name]
    net, labels = model(), torch.arange(4)
    weights = {name: value.detach() for name, value in net.named_parameters()}

    def step(weights: dict[str, Tensor], x: Tensor, labels: Tensor) -> Any:
        moved = {name: value.detach().clone().requires_grad_() for name, value in weights.items()}
        state = {name: value.clone() for name, value in net.named_buffers()}
        moves = optimizer(moved.values(), lr=0.01, **options)
        loss = F.cross_entropy(torch.func.functional_call(net, moved | state, (x,)), labels)
        loss.backward()
        moves.step()
        return loss.detach(), {name: value.detach() for name, value in moved.items()}

    given = weights, x, labels
    made = export_torch(make_fx(step)(*given), given, target="0.9.0", allow=["exact"])
    loss, moved = made(*given, executor=executor)
    wanted, theirs = step(*given)
    assert torch.allclose(loss, wanted, rtol=1e-5)
    for weight, value in theirs.items():
        assert torch.allclose(moved[weight], value, rtol=1e-4, atol=1e-5), weight


def test_a_layer_of_mkldnn_says_what_to_do() -> None:
    """A graph that was made where PyTorch takes them has ops that no backend lowers."""
    net, x = nn.LSTM(3, 4), torch.randn(5, 2, 3)
    with pytest.raises(ExportFailed, match=r"mkldnn_rnn_layer.*mkldnn\.flags\(enabled=False\)"):
        export_torch(make_fx(lambda x: net(x)[0])(x), (x,), target="0.9.0")


def _arguments(op: Any, rows: list[Tensor]) -> list[Any]:
    """Return what an op of lists takes, by its schema."""
    made: list[Any] = []
    for argument in op._schema.arguments:
        if argument.kwarg_only or argument.name in {"dtype", "non_blocking"}:
            continue
        kind = str(argument.type)
        if kind == "List[Tensor]":
            made.append([row + len(made) for row in rows])
        elif kind == "Tensor":
            made.append(torch.tensor(2.0))
        else:
            made.append([2.0, 3.0] if kind.startswith("List") else 2.0)
    return made


@pytest.mark.parametrize("op", some(list_ops(), each=9), ids=str)
def test_an_op_of_lists(op: Any, executor: Executor) -> None:
    """Optimizers call them, and what clips gradients."""
    rows = torch.rand(3, 3), torch.rand(3, 3) * 0.5

    def function(*rows: Tensor) -> Any:
        return op(*_arguments(op, list(rows)))

    made = export_torch(Calls(function), rows, target="1.9.0", allow=["exact"])
    for mine, theirs in zip(made(*rows, executor=executor), function(*rows), strict=True):
        assert torch.allclose(mine, theirs, rtol=1e-5, atol=1e-5, equal_nan=True)


def test_a_step_of_an_optimizer_that_takes_lists(executor: Executor) -> None:
    """Its gradients are clipped before."""
    net = nn.Linear(4, 3)

    def step(weights: dict[str, Tensor], x: Tensor) -> Any:
        moved = {name: w.detach().clone().requires_grad_() for name, w in weights.items()}
        optimizer = torch.optim.AdamW(moved.values(), lr=0.1, eps=0.1, foreach=True)
        torch.func.functional_call(net, moved, (x,)).sin().mean().backward()
        norm = torch.nn.utils.clip_grad_norm_(moved.values(), 0.1)
        optimizer.step()
        return norm, [w.detach() for w in moved.values()]

    given = {name: w.detach() for name, w in net.named_parameters()}, torch.randn(2, 4)
    made = export_torch(make_fx(step)(*given), given, target="0.9.0", allow=["exact"])
    norm, weights = made(*given, executor=executor)
    wanted = step(*given)
    assert torch.allclose(norm, wanted[0])
    assert all(map(torch.allclose, weights, wanted[1]))
