"""The zoo of PyTorch: models of torchvision, timm and transformers, and modules of PyTorch's own.

Built from small random configurations, in eval mode, weights and inputs from a seed; nothing is
downloaded.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

# The compiled ops of torchvision need the CUDA that its wheel was built for. Where that is missing,
# its Python, which is all that these models need, asks for two ops that it describes.
_OPS = torch.library.Library("torchvision", "FRAGMENT")
if not Path(torch.__file__).with_name("lib").joinpath("libtorch_cuda.so").exists():
    for _name in ("nms", "qnms"):
        _OPS.define(f"{_name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

import timm  # noqa: E402 - after it
import torchvision  # noqa: E402 - after it
import transformers  # noqa: E402 - after it

from tools import zoo_transformers  # noqa: E402 - after it

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["PROGRAMS", "Program"]

_SEED = 0


@dataclass(frozen=True, slots=True)
class Program:
    """One model of the zoo.

    Args:
        group: The package that it is of.
        name: What it is.
        make: Makes the module.
        sample: Makes its inputs.
    """

    group: str
    name: str
    make: Callable[[], nn.Module]
    sample: Callable[[], tuple[Any, ...]]

    def build(self) -> tuple[nn.Module, tuple[Any, ...]]:
        """Return the module and its inputs, always with the same values."""
        torch.manual_seed(_SEED)
        return self.make().eval(), self.sample()


def _image(size: int = 64) -> Callable[[], tuple[Any, ...]]:
    return lambda: (torch.randn(1, 3, size, size),)


def _floats(*shape: int) -> Callable[[], tuple[Any, ...]]:
    return lambda: (torch.randn(*shape),)


def _tokens(length: int = 12, vocabulary: int = 99) -> Callable[[], tuple[Any, ...]]:
    return lambda: (torch.randint(1, vocabulary, (2, length)),)


class _Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: torch.Tensor) -> Any:
        """Call it."""
        return self.function(*given)


def _of(function: Callable[..., Any]) -> Callable[[], nn.Module]:
    return lambda: _Function(function)


MODULES: dict[str, tuple[Callable[[], nn.Module], Callable[[], tuple[Any, ...]]]] = {
    "conv1d": (lambda: nn.Conv1d(3, 8, 5, dilation=2, groups=1), _floats(2, 3, 32)),
    "conv3d": (lambda: nn.Conv3d(3, 4, 3, padding=1), _floats(1, 3, 6, 8, 8)),
    "conv_transpose2d": (lambda: nn.ConvTranspose2d(3, 4, 3, 2, 1, 1), _image(16)),
    "batch_norm": (lambda: nn.BatchNorm2d(3), _image(16)),
    "instance_norm": (lambda: nn.InstanceNorm2d(3, affine=True), _image(16)),
    "group_norm": (lambda: nn.GroupNorm(3, 6), _floats(2, 6, 8)),
    "rms_norm": (lambda: nn.RMSNorm(16), _floats(2, 16)),
    "local_response_norm": (lambda: nn.LocalResponseNorm(2), _image(16)),
    "pixel_shuffle": (lambda: nn.PixelShuffle(2), _floats(1, 8, 4, 4)),
    "upsample_bicubic": (lambda: nn.Upsample(scale_factor=2, mode="bicubic"), _image(8)),
    "upsample_trilinear": (
        lambda: nn.Upsample(scale_factor=2, mode="trilinear"),
        _floats(1, 2, 4, 4, 4),
    ),
    "adaptive_pooling": (lambda: nn.AdaptiveAvgPool2d((3, 5)), _image(16)),
    "fractional_sizes": (lambda: nn.AvgPool2d(3, 2, ceil_mode=True), _image(16)),
    "lp_pool": (lambda: nn.LPPool2d(2, 3), _image(16)),
    "unfold": (lambda: nn.Unfold(3), _image(8)),
    "fold": (lambda: nn.Fold((6, 6), 3), _floats(1, 18, 16)),
    "glu": (nn.GLU, _floats(2, 8)),
    "mish_softsign": (lambda: nn.Sequential(nn.Mish(), nn.Softsign(), nn.CELU()), _floats(2, 8)),
    "prelu_rrelu": (lambda: nn.Sequential(nn.PReLU(), nn.RReLU(), nn.SELU()), _floats(2, 8)),
    "bilinear": (lambda: nn.Bilinear(4, 5, 3), lambda: (torch.randn(2, 4), torch.randn(2, 5))),
    "cosine_similarity": (
        nn.CosineSimilarity,
        lambda: (torch.randn(2, 4), torch.randn(2, 4)),
    ),
    "embedding": (lambda: nn.Embedding(99, 8, padding_idx=0), _tokens()),
    "embedding_bag": (lambda: nn.EmbeddingBag(99, 8, mode="mean"), _tokens()),
    "rnn": (lambda: nn.RNN(4, 8, batch_first=True), _floats(2, 5, 4)),
    "lstm": (lambda: nn.LSTM(4, 8, 2, proj_size=3), _floats(5, 2, 4)),
    "gru_cell": (lambda: nn.GRUCell(4, 8), _floats(2, 4)),
    "multihead_attention": (
        lambda: nn.MultiheadAttention(8, 2, batch_first=True),
        lambda: (torch.randn(2, 5, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)),
    ),
    "transformer": (
        lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
        lambda: (torch.randn(2, 5, 8), torch.randn(2, 4, 8)),
    ),
    "antialias": (
        _of(lambda x: nn.functional.interpolate(x, (5, 7), mode="bicubic", antialias=True)),
        _image(16),
    ),
    "histogram": (_of(lambda x: torch.histogram(x, bins=5)), _floats(40)),
    "index_reduce": (
        _of(lambda x, rows: x.index_reduce(0, rows, x, "mean")),
        lambda: (torch.randn(4, 3), torch.tensor([0, 2, 2, 1])),
    ),
    "lu": (_of(torch.linalg.lu), _floats(2, 4, 4)),
    "medians": (_of(lambda x: (x.median(0), x.nanmedian(1))), _floats(5, 6)),
    "searchsorted": (
        _of(torch.searchsorted),
        lambda: (torch.randn(3, 8).sort()[0], torch.randn(3, 4)),
    ),
}

VISION = (
    "alexnet", "resnet18", "resnext50_32x4d", "vgg11", "squeezenet1_1", "densenet121",
    "googlenet", "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5", "mnasnet0_5",
    "efficientnet_b0", "efficientnet_v2_s", "regnet_y_400mf", "convnext_tiny", "vit_b_16",
    "swin_t", "maxvit_t", "inception_v3", "swin_v2_t",
)  # fmt: skip
VIDEO = ("r3d_18", "r2plus1d_18", "s3d", "mvit_v1_b")
SEGMENTATION = ("lraspp_mobilenet_v3_large", "fcn_resnet50", "deeplabv3_mobilenet_v3_large")
TIMM = (
    "resnet10t", "mobilenetv4_conv_small", "efficientnet_lite0", "ghostnet_050", "lcnet_050",
    "tinynet_e", "mobileone_s0", "repvgg_a0", "fbnetv3_b", "hardcorenas_a", "regnetx_002",
    "vit_tiny_patch16_224", "deit_tiny_patch16_224", "levit_128s", "poolformer_s12",
    "mixer_s32_224", "convmixer_768_32", "edgenext_xx_small", "mobilevit_xxs",
    "xcit_nano_12_p16_224",
    "pit_ti_224", "visformer_tiny", "coat_lite_tiny", "crossvit_tiny_240", "gmlp_ti16_224",
    "resmlp_12_224", "efficientformer_l1", "fastvit_t8", "repvit_m0_9", "starnet_s1",
    "convnextv2_atto", "eva02_tiny_patch14_224", "cait_xxs24_224", "tnt_s_legacy_patch16_224",
    "res2net50_14w_8s", "resnest14d", "skresnet18", "dla34", "hrnet_w18_small", "ese_vovnet19b_dw",
    "inception_next_atto", "mambaout_femto", "tiny_vit_5m_224", "efficientvit_b0",
    "efficientvit_m0", "pvt_v2_b0", "twins_svt_small", "focalnet_tiny_srf", "gcvit_xxtiny",
    "hiera_tiny_224", "coatnet_nano_rw_224", "botnet26t_256", "halonet26t", "lambda_resnet26t",
    "caformer_s18",
)  # fmt: skip

_SMALL = zoo_transformers.TOKENS
_GROUPED = {**_SMALL, "num_key_value_heads": 2}
_GPT = {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64}
_OF_DIMENSION = {
    "vocab_size": 99,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "d_ff": 37,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 37,
    "decoder_ffn_dim": 37,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
ENCODERS = {
    "Bert": _SMALL,
    "Roberta": _SMALL,
    "Electra": {**_SMALL, "embedding_size": 16},
    "Albert": {**_SMALL, "embedding_size": 16},
    "MPNet": _SMALL,
    "ModernBert": _SMALL,
    "DistilBert": {"vocab_size": 99, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 37},
    "ConvBert": {**_SMALL, "embedding_size": 16},
    "SqueezeBert": {**_SMALL, "embedding_size": 32, "intermediate_size": 36},
    "Nystromformer": _SMALL,
    "MobileBert": {**_SMALL, "embedding_size": 32, "intra_bottleneck_size": 32},
    "RoFormer": {**_SMALL, "embedding_size": 32},
    "Camembert": _SMALL,
    "MegatronBert": _SMALL,
    "FNet": {k: v for k, v in _SMALL.items() if k != "num_attention_heads"},
    "Splinter": _SMALL,
}
DECODERS = {
    "GPTNeoX": _SMALL,
    "Llama": _GROUPED,
    "Mistral": _GROUPED,
    "Qwen2": _GROUPED,
    "Qwen3": {**_GROUPED, "head_dim": 8},
    "Gemma": {**_GROUPED, "head_dim": 8},
    "Gemma2": {**_GROUPED, "head_dim": 8},
    "Phi": _SMALL,
    "Phi3": _GROUPED,
    "StableLm": _GROUPED,
    "Starcoder2": _GROUPED,
    "Cohere": _GROUPED,
    "Olmo": _GROUPED,
    "Olmo2": _GROUPED,
    "OPT": {**_SMALL, "ffn_dim": 37, "word_embed_proj_dim": 32},
    "Falcon": _SMALL,
    "Bloom": {"vocab_size": 99, "hidden_size": 32, "n_layer": 2, "n_head": 4},
    "GPTJ": {**_GPT, "rotary_dim": 4},
    "CodeGen": {**_GPT, "rotary_dim": 4},
    # Its grouped products take rows of a multiple of 16 bytes.
    "Mixtral": {**_GROUPED, "num_local_experts": 4, "intermediate_size": 48},
    "Granite": _GROUPED,
    "Glm": {**_GROUPED, "head_dim": 8},
    "SmolLM3": _GROUPED,
    "Helium": {**_GROUPED, "head_dim": 8},
    "Nemotron": _GROUPED,
}


class _Loss(nn.Module):
    """The mean sine of what a model makes: unlike its square, no norm keeps it from falling."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the loss; of several results, of the first."""
        made = self.inner(x)
        return (made[0] if isinstance(made, tuple) else made).sin().mean()


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of training, in the graph that make_fx makes of it, as a function of the weights.

    Args:
        make: Makes the model, in training.
        sample: Makes its input.
        momentum: Whether by momentum; otherwise by Adagrad. Adam divides what is only rounding.
    """

    make: Callable[[], nn.Module]
    sample: Callable[[], tuple[Any, ...]]
    momentum: bool = True

    def module(self) -> nn.Module:
        """Return the step."""
        loss = _Loss(self.make().train())

        def step(weights: dict[str, torch.Tensor], x: torch.Tensor) -> Any:
            moved = {name: weight.clone().requires_grad_() for name, weight in weights.items()}
            state = {name: buffer.clone() for name, buffer in loss.named_buffers()}
            if self.momentum:
                moves: Any = torch.optim.SGD(moved.values(), lr=0.1, momentum=0.9)
            else:
                moves = torch.optim.Adagrad(moved.values(), lr=0.1, eps=0.1, foreach=False)
            found = torch.func.functional_call(loss, {**moved, **state}, (x,))
            found.backward()
            moves.step()
            return found.detach(), [weight.detach() for weight in moved.values()]

        with torch.backends.mkldnn.flags(enabled=False):  # its layers are ops of their own
            return make_fx(step)(*self.inputs())

    def inputs(self) -> tuple[Any, ...]:
        """Return the weights and the input."""
        named = _Loss(self.make()).named_parameters()
        return {name: weight.detach() for name, weight in named}, *self.sample()


def _vision(name: str, **options: Any) -> Callable[[], nn.Module]:
    return functools.partial(torchvision.models.get_model, name, weights=None, **options)


TRAINED = {
    "perceptron": _Step(
        lambda: nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 4)),
        _floats(4, 8),
        momentum=False,
    ),
    "pooled": _Step(
        lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(3, 2, ceil_mode=True)),
        _image(16),
    ),
    "autoencoder": _Step(
        lambda: nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1),
            nn.Mish(),
            nn.ConvTranspose2d(8, 8, 2, 2),
            nn.Upsample(scale_factor=2, mode="bilinear"),
            nn.ReplicationPad2d(1),
            nn.Conv2d(8, 3, 3),
        ),
        _image(16),
    ),
    "volume": _Step(
        lambda: nn.Sequential(nn.Conv3d(3, 4, 3), nn.GELU(), nn.AvgPool3d(2)),
        _floats(2, 3, 6, 8, 8),
    ),
    "lstm": _Step(lambda: nn.LSTM(4, 8, batch_first=True), _floats(2, 5, 4)),
    "encoder": _Step(
        lambda: nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True),
        _floats(2, 5, 16),
    ),
    "resnet18": _Step(_vision("resnet18"), _floats(2, 3, 64, 64)),
}


class _Encoder(nn.Module):
    """A model of transformers as a function of its tokens, without a cache."""

    def __init__(self, kind: str, suffix: str, sizes: dict[str, Any]) -> None:
        super().__init__()
        config = getattr(transformers, f"{kind}Config")(**sizes)
        self.inner = getattr(transformers, f"{kind}{suffix}")(config)
        self.options = {"use_cache": False} if suffix != "Model" else {}

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return its hidden states or its logits."""
        return self.inner(tokens, return_dict=False, **self.options)[0]


class _First(nn.Module):
    """A model of segmentation as a function of images: what torchvision returns under `out`."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the scores."""
        return self.inner(x)["out"]


def _modules() -> Iterator[Program]:
    for name, (make, sample) in MODULES.items():
        yield Program("torch.nn", name, make, sample)
    for name, step in TRAINED.items():
        yield Program("training", name, step.module, step.inputs)


def _programs() -> Iterator[Program]:
    yield from _modules()
    for name in VISION:
        size = _SIZES.get(name, 64)
        made = functools.partial(torchvision.models.get_model, name, weights=None)
        if name in {"googlenet", "inception_v3"}:
            made = functools.partial(made, init_weights=False)
        yield Program("torchvision", name, made, _image(size))
    for name in VIDEO:
        made = functools.partial(torchvision.models.get_model, name, weights=None)
        yield Program("torchvision", name, made, _floats(1, 3, *_CLIPS.get(name, (8, 64, 64))))
    for name in SEGMENTATION:
        make = functools.partial(_segmenting, name)
        yield Program("torchvision", name, make, _image())
    for suffix, kinds in (("Model", ENCODERS), ("ForCausalLM", DECODERS)):
        for kind, sizes in kinds.items():
            make = functools.partial(_Encoder, kind, suffix, sizes)
            yield Program("transformers", f"{kind}{suffix}", make, _tokens())
    for name, built, sample in zoo_transformers.models():
        yield Program("transformers", name, built, sample)
    for name in TIMM:
        made = functools.partial(timm.create_model, name)
        yield Program("timm", name, made, _image(_SIZES.get(name, 224)))


_SIZES = {
    "vit_b_16": 224,
    "maxvit_t": 224,
    "inception_v3": 96,
    "crossvit_tiny_240": 240,
    "botnet26t_256": 256,
    "halonet26t": 256,
    "lambda_resnet26t": 256,
}
_CLIPS = {"s3d": (16, 224, 224), "mvit_v1_b": (16, 224, 224)}


def _segmenting(name: str) -> nn.Module:
    model = torchvision.models.get_model(name, weights=None, weights_backbone=None)
    return _First(model)


PROGRAMS = tuple(_programs())
