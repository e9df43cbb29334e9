"""PyTorch/XLA's page "Torch Export to StableHLO", step by step, by torch_xla itself and by us.

Needs torch 2.9, torch_xla 2.9, torchvision and PJRT_DEVICE=CPU.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - what everybody calls it
import torch_xla
import torch_xla.core.xla_model as xm
import torchvision
from torch.export import export
from torch_xla.experimental.mark_pattern_utils import StableHLOCompositeBuilder
from torch_xla.stablehlo import (
    StableHLOGraphModule,
    exported_program_to_stablehlo,
    save_as_stablehlo,
    save_torch_model_as_stablehlo,
)

import portable
from portable.artifact import Artifact
from portable.exporters import ExportedArtifact, export_torch
from portable.pin import NotExpressible, retarget
from portable.version import Version

pytestmark = pytest.mark.filterwarnings("ignore")

NEAR = 1e-5


@pytest.fixture(scope="module")
def resnet() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...], torch.Tensor]:
    """The model of the page, its sample input, and what eager PyTorch answers."""
    torch.manual_seed(0)
    model = torchvision.models.resnet18().eval()
    sample = (torch.randn(4, 3, 224, 224),)
    with torch.no_grad():
        return model, sample, model(*sample)


def test_the_page_by_torch_xla(tmp_path: Path) -> None:
    """Export, text, bytecode, run, save, load, run; then read, re-pinned and run by us.

    As on the page the model is not in eval mode: torch_xla drops what it would change.
    """
    xla_device = xm.xla_device()
    model = torchvision.models.resnet18()
    sample = (torch.randn(4, 3, 224, 224),)
    with torch.no_grad():
        eager = model(*sample)
    program = exported_program_to_stablehlo(export(model, sample))
    assert "stablehlo.convolution" in str(program.get_stablehlo_text("forward"))
    artifact = Artifact.from_bytes(program.get_stablehlo_bytecode("forward"))
    moved = tuple(tensor.to(xla_device) for tensor in sample)
    assert torch.allclose(eager, program(*moved).cpu(), atol=NEAR)
    program.save(str(tmp_path / "theirs"))
    again = StableHLOGraphModule.load(str(tmp_path / "theirs"))
    assert torch.allclose(eager, again(*moved).cpu(), atol=NEAR)
    loaded = ExportedArtifact.load(tmp_path / "theirs")
    assert loaded.artifact == artifact
    low = retarget(artifact, "0.9.0")
    (got,) = portable.run(low, loaded.call_arguments([sample[0].numpy()]))
    assert np.abs(got - eager.numpy()).max() <= NEAR


def test_the_wrappers_of_the_page(resnet: Any, tmp_path: Path) -> None:
    """`save_as_stablehlo` and `save_torch_model_as_stablehlo` write what we read."""
    model, sample, eager = resnet
    save_as_stablehlo(export(model, sample), tmp_path / "one")
    save_torch_model_as_stablehlo(model, sample, tmp_path / "two")
    for folder in ("one", "two"):
        (got,) = ExportedArtifact.load(tmp_path / folder)(sample[0])
        assert np.abs(got - eager.numpy()).max() <= NEAR


def test_the_page_under_our_names(resnet: Any, tmp_path: Path) -> None:
    """The same by `export_torch`, at 0.9.0; torch_xla loads and runs what we saved."""
    model, sample, eager = resnet
    exported = export_torch(model, sample, target="0.9.0", backend="torch_xla")
    assert exported.artifact.version == Version(0, 9, 0)
    assert "stablehlo.convolution" in exported.get_stablehlo_text("forward")
    exported.save(tmp_path / "ours")
    meta = json.loads((tmp_path / "ours" / "functions" / "forward.meta").read_text())
    assert meta["stablehlo_version"] == "0.9.0"
    (got,) = exported(sample[0])
    assert np.abs(got - eager.numpy()).max() <= NEAR
    theirs = StableHLOGraphModule.load(str(tmp_path / "ours"))
    moved = tuple(tensor.to(torch_xla.device()) for tensor in sample)
    assert torch.allclose(eager, theirs(*moved).cpu(), atol=NEAR)


class Attention(torch.nn.Module):
    """Attention with its core marked as a composite."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = (torch.nn.Linear(128, 128, bias=False) for _ in range(3))
        attributes = {"scale": 0.25, "other_attr": "val"}
        self.marks = StableHLOCompositeBuilder("test.sdpa", attributes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attend."""
        inputs = self.marks.mark_inputs(self.query(x), self.key(x), self.value(x))
        attended = F.scaled_dot_product_attention(*inputs, scale=0.25)
        return self.marks.mark_outputs(attended) + x


def test_composites_of_the_builder() -> None:
    """Kept with name and attributes from 0.19.0 on, refused below, lowered on request."""
    torch.manual_seed(0)
    model, inputs = Attention().eval(), (torch.randn(10, 8, 128),)
    with torch.no_grad():
        eager = model(*inputs).numpy()
    options: dict[str, Any] = {"backend": "torch_xla"}
    kept = export_torch(model, inputs, target="0.19.0", **options)
    text = kept.get_stablehlo_text()
    assert 'stablehlo.composite "test.sdpa"' in text
    assert 'other_attr = "val", scale = 2.500000e-01 : f32' in text
    with pytest.raises(NotExpressible, match="composite"):
        export_torch(model, inputs, target="0.18.0", **options)
    gone = export_torch(model, inputs, target="0.9.0", allow=["composites-to-calls"], **options)
    assert "composite" not in gone.get_stablehlo_text()
    (one,), (other,) = kept(*inputs), gone(*inputs)
    assert np.array_equal(one, other)
    assert np.abs(one - eager).max() <= NEAR
