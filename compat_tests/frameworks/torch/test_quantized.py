"""Quantized models: int8 weights and activations, as PT2E and torchao write them in ATen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.ao.quantization.fx import _decomposed  # registers the ops
from torch.utils import _pytree as pytree

from compat_tests.helpers.torch_calls import Calls
from portable.exporters import ExportedArtifact, ExportFailed, export_torch
from portable.pinning.pipeline import retarget
from portable.runtime.executors import Executor

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)

assert _decomposed
OPS = torch.ops.quantized_decomposed
BYTE = (-128, 127, torch.int8)
torch.manual_seed(0)
X, WEIGHT = torch.randn(4, 16), torch.randint(-128, 128, (8, 16), dtype=torch.int8)
SCALES, ZEROS = torch.rand(8) / 100 + 1e-3, torch.randint(-5, 5, (8,))
ROWS = (torch.rand(4, 1) / 10 + 1e-2, torch.randint(-5, 5, (4, 1)).float())


def _dynamic(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    scale, zero = OPS.choose_qparams.tensor(x, -128, 127, 1e-5, torch.int8)
    whole = OPS.quantize_per_tensor.tensor(x, scale, zero, *BYTE)
    return scale, zero, whole, OPS.dequantize_per_tensor.tensor(whole, scale, zero, *BYTE)


def _symmetric(x: Tensor) -> Any:
    return OPS.choose_qparams_symmetric.tensor(x, 0, 255, 1e-5, torch.uint8)


def _bounded(x: Tensor, scale: Tensor, zero: Tensor) -> tuple[Tensor, Tensor]:
    bounds = (torch.tensor(-100), torch.tensor(100))
    whole = OPS.quantize_per_tensor.tensor2(x, scale, zero, *bounds, torch.int8)
    return whole, OPS.dequantize_per_tensor.tensor2(whole, scale, zero, *bounds, torch.int8)


def _by_token(x: Tensor) -> tuple[Tensor, ...]:
    scale, zero = OPS.choose_qparams_per_token_asymmetric(x, torch.int8)
    whole = OPS.quantize_per_token(x, scale, zero, *BYTE)
    return scale, zero, whole, OPS.dequantize_per_token(whole, scale, zero, *BYTE, torch.float32)


CASES: dict[str, tuple[Callable[..., Any], tuple[Tensor, ...]]] = {
    "by tensor": (lambda x: OPS.quantize_per_tensor(x, 0.017, 3, *BYTE), (X,)),
    "of a tensor": (lambda w: OPS.dequantize_per_tensor(w, 0.017, 3, *BYTE), (WEIGHT,)),
    "by channel": (
        lambda x, s, z: OPS.quantize_per_channel(x, s, z, 0, *BYTE),
        (torch.randn(8, 3), SCALES, ZEROS),
    ),
    "of channels": (
        lambda w, s, z: OPS.dequantize_per_channel(w, s, z, 0, *BYTE),
        (WEIGHT, SCALES, ZEROS),
    ),
    "of channels without a zero": (
        lambda w, s: OPS.dequantize_per_channel(w, s, None, 0, *BYTE),
        (WEIGHT, SCALES),
    ),
    "dynamic": (_dynamic, (X,)),
    "symmetric": (_symmetric, (X,)),
    "with bounds": (_bounded, (X, torch.tensor([0.017]), torch.tensor([3]))),
    "by token": (_by_token, (X,)),
    "symmetric by token": (lambda x: OPS.choose_qparams_per_token(x, torch.int8), (X,)),
    "of tokens": (
        lambda w, s, z: OPS.dequantize_per_token(w, s, z, *BYTE, torch.float32),
        (WEIGHT[:4], *ROWS),
    ),
    "products of unsigned and signed bytes": (
        lambda x, w: torch._int_mm((x.int() + 128).to(torch.uint8), w.t()),
        (torch.randint(-128, 128, (32, 16), dtype=torch.int8), WEIGHT),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_op_is_as_in_pytorch(name: str, executor: Executor) -> None:
    """Integers are the same, scales and what is made of them near, in their dtypes."""
    function, given = CASES[name]
    made = export_torch(Calls(function), given, target="0.9.0", allow=["exact"])
    got, wanted = made(*given, executor=executor), function(*given)
    for mine, theirs in zip(*map(pytree.tree_leaves, (got, wanted)), strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        if theirs.dtype.is_floating_point:
            assert torch.allclose(mine, theirs, rtol=1e-6, atol=0)
        else:
            assert torch.equal(mine, theirs)


class Quantized(nn.Module):
    """A convolution and a linear layer as PT2E converts them: int8 weights, dynamic activations."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        for name, shape in (("kernel", (8, 3, 3, 3)), ("weight", (5, 8))):
            self.register_buffer(name, torch.randint(-127, 128, shape, dtype=torch.int8))
            self.register_buffer(f"{name}_scales", torch.rand(shape[0]) / 500 + 1e-3)

    def forward(self, x: Tensor) -> Tensor:
        """Compute."""
        kernel = OPS.dequantize_per_channel(self.kernel, self.kernel_scales, None, 0, *BYTE)
        x = OPS.dequantize_per_tensor(OPS.quantize_per_tensor(x, 0.03, 4, *BYTE), 0.03, 4, *BYTE)
        x = torch.relu(nn.functional.conv2d(x, kernel)).mean((2, 3))
        x = _dynamic(x)[-1]
        weight = OPS.dequantize_per_channel(self.weight, self.weight_scales, None, 0, *BYTE)
        return nn.functional.linear(x, weight)


def test_a_quantized_model(executor: Executor) -> None:
    """Its weights stay int8 beside the artifact; its results are PyTorch's."""
    model, x = Quantized(), torch.randn(2, 3, 16, 16)
    made = export_torch(model, (x,), target="0.9.0", allow=["exact"])
    assert {name: str(made.weights[name].dtype) for name in ("kernel", "weight")} == {
        "kernel": "int8",
        "weight": "int8",
    }
    wanted = model(x)
    assert (made(x, executor=executor) - wanted).abs().max() <= 5e-6 * wanted.abs().max()


def test_a_quantized_model_in_quantized_types(executor: Executor) -> None:
    """By choice: scales are in the types, and it computes the same once they are arithmetic."""
    model, x = Quantized(), torch.randn(2, 3, 16, 16)
    made = export_torch(model, (x,), target="1.0.0", allow=["exact"], quantized_types=True)
    text = made.get_stablehlo_text()
    assert "!quant.uniform<i8:f32, " in text
    assert text.count("!quant.uniform<i8:f32:0, {") >= 2
    assert "composite" not in text
    assert set(made.weights) == {"kernel", "weight"}
    plain = _in_arithmetic(made)
    wanted = model(x)
    assert (plain(x, executor=executor) - wanted).abs().max() <= 5e-6 * wanted.abs().max()


def _in_arithmetic(made: ExportedArtifact) -> ExportedArtifact:
    """Return what XLA runs, which knows no quantized types."""
    if "quant.uniform" not in made.get_stablehlo_text():
        return made
    allowed = ["quantized-to-arithmetic"]
    return dataclasses.replace(made, artifact=retarget(made.artifact, "1.0.0", allow=allowed))


TYPES: dict[str, tuple[Callable[..., Any], Tensor, str]] = {
    "bounds": (lambda x: OPS.quantize_per_tensor(x, 0.017, 3, -127, 127, torch.int8), X,
               "!quant.uniform<i8<-127:127>:f32, "),
    "shorts": (lambda x: OPS.quantize_per_tensor(x, 1e-4, 3, -(2**15), 2**15 - 1, torch.int16), X,
               "!quant.uniform<i16:f32, "),
    "bytes without signs, which stay arithmetic":
        (lambda x: OPS.quantize_per_tensor(x, 0.017, 3, 0, 255, torch.uint8), X, "minimum"),
    "sums": (lambda x: OPS.dequantize_per_tensor(x, 0.017, 0, -(2**31), 2**31 - 1, torch.int32),
             WEIGHT.int(), "!quant.uniform<i32:f32, "),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_the_type_says_how_it_is_quantized(name: str, executor: Executor) -> None:
    """Bounds, signs and widths."""
    function, x, says = TYPES[name]
    made = export_torch(Calls(function), (x,), target="1.0.0", quantized_types=True)
    assert says in made.get_stablehlo_text()
    plain = _in_arithmetic(made)
    assert torch.allclose(plain(x, executor=executor), function(x))


@pytest.mark.parametrize("name", CASES)
def test_what_has_no_type_is_arithmetic(name: str, executor: Executor) -> None:
    """Scales that are inputs or computed: the same as without the choice."""
    function, given = CASES[name]
    made = export_torch(Calls(function), given, target="1.9.0", quantized_types=True)
    if "quant.uniform" in made.get_stablehlo_text():
        assert name in {"by tensor", "of a tensor"}
        return
    got, wanted = made(*given, executor=executor), function(*given)
    for mine, theirs in zip(*map(pytree.tree_leaves, (got, wanted)), strict=True):
        assert torch.allclose(mine, theirs)


def test_other_backends_make_no_quantized_types() -> None:
    """Refused before anything is traced."""
    with pytest.raises(ExportFailed, match=r"makes no quantized types.*torchax"):
        export_torch(Quantized(), (), target="1.0.0", backend="torch_mlir", quantized_types=True)
