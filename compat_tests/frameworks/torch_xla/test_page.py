"""PyTorch/XLA's page "Torch Export to StableHLO", step by step, by torch_xla itself and by us.

Needs torch 2.9, torch_xla 2.9, torchvision, TensorFlow and PJRT_DEVICE=CPU.
"""

import json
import shutil
import subprocess
import sys
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
from portable.containers import open_container
from portable.exporters import ExportedArtifact, export_torch
from portable.pinning.pipeline import NotExpressible, retarget
from portable.pinning.repinning import repin
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
        names = {str(path.relative_to(tmp_path / folder)) for path in (tmp_path / folder).iterdir()}
        assert names == {"functions", "constants", "data"}
        functions = {path.name for path in (tmp_path / folder / "functions").iterdir()}
        assert functions == {"forward.mlir", "forward.bytecode", "forward.meta"}
        assert set(model.state_dict()) >= {p.name for p in (tmp_path / folder / "data").iterdir()}
        got = ExportedArtifact.load(tmp_path / folder)(sample[0])
        assert torch.allclose(got, eager, rtol=0, atol=NEAR)


def test_the_page_under_our_names(resnet: Any, tmp_path: Path) -> None:
    """The same by `export_torch`, at 0.9.0; torch_xla loads and runs what we saved."""
    model, sample, eager = resnet
    exported = export_torch(model, sample, target="0.9.0", backend="torch_xla")
    assert exported.artifact.version == Version(0, 9, 0)
    assert "stablehlo.convolution" in exported.get_stablehlo_text("forward")
    exported.save(tmp_path / "ours")
    meta = json.loads((tmp_path / "ours" / "functions" / "forward.meta").read_text())
    assert meta["stablehlo_version"] == "0.9.0"
    assert torch.allclose(exported(sample[0]), eager, rtol=0, atol=NEAR)
    theirs = StableHLOGraphModule.load(str(tmp_path / "ours"))
    moved = tuple(tensor.to(torch_xla.device()) for tensor in sample)
    assert torch.allclose(eager, theirs(*moved).cpu(), atol=NEAR)


# TensorFlow runs in processes of its own: where it is loaded, torch_xla lowers no composites.
SERVE = """
import sys
import numpy as np
import tensorflow as tf
x = tf.constant(np.load(sys.argv[1]))
for directory in sys.argv[2:]:
    served = tf.saved_model.load(directory).signatures["serving_default"]
    (name,) = served.structured_input_signature[1]
    (value,) = served(**{name: x}).values()
    np.save(f"{directory}.npy", value.numpy())
"""
WRAP = """
import sys, warnings
warnings.simplefilter("ignore")
import torch
from torch_xla.tf_saved_model_integration import save_torch_module_as_tf_saved_model
import torchvision
resnet18 = torchvision.models.resnet18().eval()
resnet18.load_state_dict(torch.load(sys.argv[1]))
save_torch_module_as_tf_saved_model(resnet18, (torch.randn(4, 3, 224, 224),), sys.argv[2])
"""


def _run(*words: object) -> None:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _demand_served(folder: Path, names: tuple[str, ...], x: torch.Tensor, y: torch.Tensor) -> None:
    """Let TensorFlow load models and run what they serve."""
    np.save(folder / "x.npy", x.numpy())
    _run(sys.executable, "-c", SERVE, folder / "x.npy", *(folder / name for name in names))
    for name in names:
        assert np.abs(np.load(folder / f"{name}.npy") - y.numpy()).max() <= NEAR


def test_serving_by_torch_xla(resnet: Any, tmp_path: Path) -> None:
    """Its converter and `save_torch_module_as_tf_saved_model`; both are then re-pinned by us."""
    model, sample, eager = resnet
    save_as_stablehlo(export(model, sample), tmp_path / "stablehlo_dir")
    command = Path(sys.executable).with_name("stablehlo-to-saved-model")
    _run(command, tmp_path / "stablehlo_dir", tmp_path / "by_command")
    torch.save(model.state_dict(), tmp_path / "weights")
    _run(sys.executable, "-c", WRAP, tmp_path / "weights", tmp_path / "by_call")
    for name in ("by_command", "by_call"):
        repin(tmp_path / name, "0.9.0", to=tmp_path / f"{name}_low")
        for entry in open_container(tmp_path / f"{name}_low").artifacts():
            assert Artifact.from_bytes(bytes(entry)).version == Version(0, 9, 0)
    names = ("by_command", "by_call", "by_command_low", "by_call_low")
    _demand_served(tmp_path, names, sample[0], eager)


def test_serving_under_our_names(resnet: Any, tmp_path: Path) -> None:
    """From the model at 0.9.0, and from a directory of torch_xla's as it is."""
    model, sample, eager = resnet
    export_torch(model, sample, target="0.9.0", backend="torch_xla").save(tmp_path / "ours")
    save_as_stablehlo(export(model, sample), tmp_path / "theirs")
    for name in ("ours", "theirs"):
        command = [sys.executable, "-m", "portable", "export", "saved-model"]
        _run(*command, tmp_path / name, "-o", tmp_path / f"{name}_served")
    _demand_served(tmp_path, ("ours_served", "theirs_served"), sample[0], eager)


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


def test_composites_by_torch_xla() -> None:
    """As printed there: the name and the attributes, and what it is made of beside it."""
    program = exported_program_to_stablehlo(export(Attention(), (torch.randn(10, 8, 128),)))
    text = str(program.get_stablehlo_text())
    assert 'stablehlo.composite "test.sdpa"' in text
    assert "decomposition = @test.sdpa.impl" in text
    assert "func.func private @test.sdpa.impl" in text
    assert 'composite_attributes = {other_attr = "val", scale = 2.500000e-01 : f32}' in text


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


DIRECTORIES = sorted((Path(__file__).parents[3] / "corpus").glob("torch_xla/*/container"))


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.parent.name)
def test_what_torch_xla_makes_of_older_directories(directory: Path, tmp_path: Path) -> None:
    """Its own loader takes those since 2.2, as they are and re-pinned; we take and run all."""
    original = Path(shutil.copytree(directory, tmp_path / "original"))
    (original / "constants").mkdir(exist_ok=True)  # empty ones are in no repository
    repin(original, "0.9.0", to=tmp_path / "low")
    with np.load(directory / "io.npz", allow_pickle=False) as arrays:
        x, y = arrays["x"], arrays["y"]
    (got,) = ExportedArtifact.load(tmp_path / "low")(x)
    assert np.abs(got - y).max() <= NEAR
    for path in (original, tmp_path / "low"):
        if "2_1_0" in directory.parent.name:
            assert "torch_xla 2.9 cannot load it" in "".join(open_container(path).warnings)
            with pytest.raises(AttributeError):  # it wants unused_inputs, which 2.1 did not write
                StableHLOGraphModule.load(str(path))
            continue
        theirs = StableHLOGraphModule.load(str(path))(torch.from_numpy(x).to(torch_xla.device()))
        assert np.abs(theirs.cpu().numpy() - y).max() <= NEAR
