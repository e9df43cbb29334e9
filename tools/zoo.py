"""The model zoo: small PyTorch models, one for each way in which exporters are known to fail.

Built in code, weights and inputs from a seed, in eval mode; nothing is downloaded. `STATIC` have
fixed shapes; `DYNAMIC` are exported with a batch that is left open and run at other sizes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - what everybody calls it
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["DYNAMIC", "STATIC", "Model", "ResNet18"]

_SEED = 0


@dataclass(frozen=True, slots=True)
class Model:
    """One model of the zoo.

    Args:
        name: What it is.
        what: What it is there for.
        build: Makes the module.
        sample: Makes inputs for a batch of the given size.
        batch: The size that the model is exported with.
        dynamic: Which dimension of each input is the open batch; none for a static model.
    """

    name: str
    what: str
    build: Callable[[], nn.Module]
    sample: Callable[[int], tuple[Tensor, ...]]
    batch: int = 2
    dynamic: tuple[int, ...] = field(default=())

    def module(self) -> nn.Module:
        """Build the module, always with the same weights."""
        torch.manual_seed(_SEED)
        return self.build().eval()

    def inputs(self, batch: int | None = None) -> tuple[Tensor, ...]:
        """Make inputs, always the same for a batch size."""
        torch.manual_seed(_SEED + 1)
        return self.sample(self.batch if batch is None else batch)

    def dynamic_shapes(self) -> tuple[Any, ...] | None:
        """Return what `torch.export` wants to know about dynamic dimensions."""
        if not self.dynamic:
            return None
        batch = torch.export.Dim("batch", min=2, max=64)
        return tuple({dimension: batch} for dimension in self.dynamic)


def _images(size: int) -> Callable[[int], tuple[Tensor, ...]]:
    return lambda batch: (torch.randn(batch, 3, size, size),)


def _vectors(*shape: int) -> Callable[[int], tuple[Tensor, ...]]:
    return lambda batch: (torch.randn(batch, *shape),)


def _tokens(length: int, vocabulary: int) -> Callable[[int], tuple[Tensor, ...]]:
    return lambda batch: (torch.randint(0, vocabulary, (batch, length)),)


def _mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 4)
    )


def _lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 6, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 10),
        nn.LogSoftmax(-1),
    )


class _Residual(nn.Module):
    def __init__(self, planes: int, out: int, stride: int) -> None:
        super().__init__()
        self.one = nn.Conv2d(planes, out, 3, stride, 1, bias=False)
        self.two = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norm_one, self.norm_two = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or planes != out:
            self.shortcut = nn.Sequential(
                nn.Conv2d(planes, out, 1, stride, bias=False), nn.BatchNorm2d(out)
            )

    def forward(self, x: Tensor) -> Tensor:
        inner = F.relu(self.norm_one(self.one(x)))
        return F.relu(self.norm_two(self.two(inner)) + self.shortcut(x))


class ResNet18(nn.Module):
    """The residual network of 18 layers, with its usual 11.7 million weights."""

    def __init__(self, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        stages = []
        planes = 64
        for out, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            stages += [_Residual(planes, out, stride), _Residual(out, out, 1)]
            planes = out
        self.stages = nn.Sequential(*stages)
        self.head = nn.Linear(512, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Classify images `[batch, 3, height, width]`."""
        return self.head(self.stages(self.stem(x)).mean((2, 3)))


def _mobile() -> nn.Module:
    def block(planes: int, out: int, stride: int) -> list[nn.Module]:
        return [
            nn.Conv2d(planes, planes, 3, stride, 1, groups=planes, bias=False),
            nn.BatchNorm2d(planes),
            nn.ReLU6(),
            nn.Conv2d(planes, out, 1, bias=False),
            nn.BatchNorm2d(out),
            nn.Hardswish(),
        ]

    return nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1),
        *block(8, 16, 1),
        *block(16, 32, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(32, 10),
    )


class _UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, 2, 1)
        self.deep = nn.Conv2d(8, 16, 3, 2, 1)
        self.norm = nn.GroupNorm(4, 16)
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.out = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        down = F.leaky_relu(self.down(x))
        deep = F.silu(self.norm(self.deep(down)))
        joined = torch.cat([self.up(deep), down], 1)
        whole = F.interpolate(joined, scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(F.interpolate(whole, size=(32, 32), mode="nearest"))


class _Recurrent(nn.Module):
    def __init__(self, cell: type[nn.RNNBase], **options: Any) -> None:
        super().__init__()
        self.cell = cell(8, 12, batch_first=True, **options)
        self.head = nn.Linear(self.cell.hidden_size * (1 + self.cell.bidirectional), 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.cell(x)[0][:, -1])


def _encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, activation="gelu")
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


class _CausalBlock(nn.Module):
    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.norm_one, self.norm_two = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.merge = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.tokens, self.places = nn.Embedding(50, width), nn.Embedding(16, width)
        nn.init.normal_(self.tokens.weight, std=0.02)  # as GPT-2 does: they are its head too

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        q, k, v = self.project(self.norm_one(x)).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.merge(attended.transpose(1, 2).flatten(2))
        x = x + self.narrow(F.gelu(self.wide(self.norm_two(x)), approximate="tanh"))
        return x @ self.tokens.weight.T


class _Vision(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 8, 8)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.places = nn.Parameter(torch.randn(1, 17, 16))
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        seen = self.patches(x).flatten(2).transpose(1, 2)
        seen = torch.cat([self.token.expand(x.shape[0], -1, -1), seen], 1) + self.places
        seen = seen + self.attention(seen, seen, seen, need_weights=False)[0]
        return self.head(self.norm(seen)[:, 0])


class _Text(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(100, 16, padding_idx=0)
        self.head = nn.Linear(16, 4)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        mask = (tokens != 0).unsqueeze(-1)
        summed = (self.words(tokens) * mask).sum(1) / mask.sum(1).clamp(min=1)
        scores = self.head(summed).softmax(-1)
        return scores, scores.argmax(-1)


class _Beam(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scores = nn.Linear(16, 40)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        best, which = torch.topk(self.scores(x).log_softmax(-1), 5)
        return best, which


class _Special(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = torch.tan(x.clamp(-1, 1)) + torch.erf(x) + torch.log1p(x.abs()) + torch.expm1(-x.abs())
        return F.softplus(y) + torch.atan2(y, x.abs() + 1) + torch.rsqrt(x * x + math.e) + x.sinh()


class _Indexing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.arange(40, dtype=torch.int64) * 3)

    def forward(self, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        order = x.argsort(stable=True, dim=-1)
        summed = torch.zeros_like(x).scatter_add(1, index, x.gather(1, order)).cumsum(-1)
        picked = self.table[index] + index * 2**33
        return summed.masked_fill(x > 1, -1.0), order, picked


class _FakeQuantized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(16, 16), nn.Linear(16, 4)
        self.register_buffer("scales", torch.full((16,), 0.02))
        self.register_buffer("zeros", torch.zeros(16, dtype=torch.int32))

    def forward(self, x: Tensor) -> Tensor:
        x = torch.fake_quantize_per_tensor_affine(x, 0.05, 3, -128, 127)
        weight = torch.fake_quantize_per_channel_affine(
            self.one.weight, self.scales, self.zeros, 0, -128, 127
        )
        return self.two(F.relu(F.linear(x, weight, self.one.bias)))


def _two_tables(batch: int) -> tuple[Tensor, ...]:
    return torch.randn(batch, 12), torch.randint(0, 12, (batch, 12))


STATIC = (
    Model("mlp", "linear, relu, tanh", _mlp, _vectors(16)),
    Model("lenet", "convolution, both poolings, log_softmax", _lenet, _images(32)),
    Model("resnet18", "11.7 million weights, batch norm", ResNet18, _images(64)),
    Model("mobile", "grouped convolution, relu6, hardswish, dropout", _mobile, _images(32)),
    Model("unet", "transposed convolution, interpolate, group norm", _UNet, _images(32)),
    Model("lstm", "recurrence in both directions",
          lambda: _Recurrent(nn.LSTM, bidirectional=True), _vectors(7, 8)),
    Model("gru", "recurrence in two layers",
          lambda: _Recurrent(nn.GRU, num_layers=2), _vectors(7, 8)),
    Model("encoder", "transformer encoder, exact gelu", _encoder, _vectors(6, 16)),
    Model("causal", "causal attention, tied weights, int64 tokens", _CausalBlock, _tokens(10, 50)),
    Model("vision", "patches, class token, multihead attention", _Vision, _images(32)),
    Model("text", "embedding, mask, int64 results", _Text, _tokens(9, 100)),
    Model("beam", "topk", _Beam, _vectors(16)),
    Model("special", "tan, erf, log1p, expm1, atan2, sinh", _Special, _vectors(16)),
    Model("indexing", "argsort, gather, scatter, cumsum, int64 beyond int32",
          _Indexing, _two_tables),
    Model("fake_quantized", "fake quantization by tensor and by channel",
          _FakeQuantized, _vectors(16)),
)  # fmt: skip

DYNAMIC = (
    Model("mlp", "linear", _mlp, _vectors(16), 4, (0,)),
    Model("resnet18", "convolution, batch norm", ResNet18, _images(64), 4, (0,)),
    Model("encoder", "attention over an open batch", _encoder, _vectors(6, 16), 4, (0,)),
    Model("text", "embedding of an open number of tokens", _Text, _tokens(9, 100), 4, (0,)),
    Model("indexing", "gather and scatter over an open batch", _Indexing, _two_tables, 4, (0, 0)),
)
