"""The directory of an exported model: written, read again, run, and re-pinned from the command."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from portable.containers import MalformedContainer, open_container
from portable.errors import PortableError
from portable.exporters import ExportedArtifact, export_torch
from portable.system.files import FileError

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


class Mixed(nn.Module):
    """Has a weight of a type that numpy lacks, a constant, and inputs in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 3)
        self.gain = nn.Parameter(torch.randn(3).to(torch.bfloat16))

    def forward(self, x: Tensor, unused: Tensor, shift: Tensor) -> tuple[Tensor, Tensor]:
        """Use them."""
        del unused
        y = self.linear(x) + shift + torch.tensor([1.0, 2.0, 3.0])
        return y, y.to(torch.bfloat16) * self.gain


def _exported() -> tuple[Mixed, tuple[Tensor, ...], ExportedArtifact]:
    torch.manual_seed(0)
    module, inputs = Mixed(), (torch.randn(2, 4), torch.randn(5), torch.randn(3))
    return module, inputs, export_torch(module, inputs, target="1.0.0")


def test_round_trip(tmp_path: Path) -> None:
    """What is loaded takes, holds and computes what was saved; `.meta` says the true Version."""
    module, inputs, made = _exported()
    made.save(tmp_path / "model")
    loaded = ExportedArtifact.load(tmp_path / "model")
    assert loaded.artifact == made.artifact
    assert [(a.kind, a.shape, a.dtype) for a in loaded.arguments] == [
        (a.kind, a.shape, a.dtype) for a in made.arguments
    ]
    assert loaded.pytree_specs == made.pytree_specs
    meta = json.loads((tmp_path / "model" / "functions" / "forward.meta").read_text())
    assert meta["stablehlo_version"] == "1.0.0"
    assert open_container(tmp_path / "model").warnings == ()
    got, wanted = loaded(*inputs), module(*inputs)
    assert torch.allclose(got[0], wanted[0], atol=2e-6)
    assert torch.equal(got[1], wanted[1])
    with pytest.raises(ValueError, match="read-only"):
        loaded.weights["linear.weight"][0] = 0


def test_open_dimensions(tmp_path: Path) -> None:
    """They are open in the loaded program, and named in `.meta` as torch_xla names them."""
    batch = torch.export.Dim("batch")
    module, x = nn.Linear(4, 2), torch.randn(3, 4)
    export_torch(module, (x,), target="1.0.0", dynamic_shapes=({0: batch},)).save(tmp_path / "m")
    meta = json.loads((tmp_path / "m" / "functions" / "forward.meta").read_text())
    assert meta["input_signature"][-1]["dynamic_dims"] == [0]
    got = ExportedArtifact.load(tmp_path / "m")(torch.ones(6, 4))
    assert torch.allclose(got, module(torch.ones(6, 4)), atol=2e-6)


def test_nothing_is_overwritten_or_left_behind(tmp_path: Path) -> None:
    """A directory with something in it stays as it was; an empty one is filled."""
    _, _, made = _exported()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    with pytest.raises(FileError, match="destination exists"):
        made.save(tmp_path / "taken")
    with pytest.raises(FileError, match="no such file"):
        made.save(tmp_path / "no" / "place")
    (tmp_path / "empty").mkdir()
    made.save(tmp_path / "empty")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "taken"]


def test_damage_is_refused(tmp_path: Path) -> None:
    """A missing or foreign weight, a pickle, and a function that is not there."""
    _, _, made = _exported()
    made.save(tmp_path / "m")
    weight = tmp_path / "m" / "data" / "linear.weight"
    original = weight.read_bytes()
    with weight.open("wb") as stream:
        np.save(stream, np.zeros((3, 4)))
    with pytest.raises(MalformedContainer, match="holds float64, main takes float32"):
        ExportedArtifact.load(tmp_path / "m")
    with weight.open("wb") as stream:
        np.save(stream, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(MalformedContainer):
        ExportedArtifact.load(tmp_path / "m")
    weight.unlink()
    with pytest.raises(PortableError, match=r"linear\.weight"):
        ExportedArtifact.load(tmp_path / "m")
    weight.write_bytes(original)
    with pytest.raises(PortableError, match="no function 'backward'"):
        ExportedArtifact.load(tmp_path / "m", "backward")


DAMAGED: dict[str, dict[str, Any]] = {
    "a position that is none": {"input_locations": [{"type_": "input_arg", "position": {}}]},
    "a name that is none": {"input_locations": [{"type_": "input_arg", "name": ["a"]}]},
    "two inputs at one position": {"input_locations": [{"type_": "input_arg", "position": 0}] * 2},
    "a tree that is no text": {"output_pytree_spec": 3},
    "an empty tree": {"input_pytree_spec": ""},
    "a tree that is no JSON": {"input_pytree_spec": "[1, {"},
    "a deep tree": {"output_pytree_spec": "[" * 100_000},
    "a tree of classes that are not here": {
        "output_pytree_spec": '[1, {"type": "os.system", "context": "1", "children_spec": []}]'
    },
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_descriptions(case: str, tmp_path: Path) -> None:
    """One line, when the program is read or called, whatever is in place of a name or a tree."""

    class Sum(nn.Module):
        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            return x + y

    x = torch.ones(2)
    export_torch(Sum(), (x, x), target="1.0.0").save(tmp_path / "m")
    path = tmp_path / "m" / "functions" / "forward.meta"
    said = json.loads(path.read_text())
    for key, value in DAMAGED[case].items():
        if isinstance(value, list):
            for old, new in zip(said[key], value, strict=False):
                old.update(new)
        else:
            said[key] = value
    path.write_text(json.dumps(said))
    with pytest.raises(MalformedContainer) as caught:
        ExportedArtifact.load(tmp_path / "m")(x, x)
    assert str(caught.value).isprintable()


PROGRAM = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = torch.nn.Linear(4, 2), torch.nn.BatchNorm1d(2)

    def forward(self, x, mask=None):
        y = self.norm(self.linear(x))
        return y if mask is None else y * mask

def with_inputs():
    return Net().eval(), (torch.ones(3, 4),), {"mask": torch.ones(2)}
"""


def _command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "nets.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "portable", "export", "torch", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_command(tmp_path: Path) -> None:
    """A class by its name, an open batch, into a directory; and a pair, into two files."""
    words = ["nets:Net", "--args", "f32[batch,4]", "mask=f32[2]", "--eval"]
    done = _command(tmp_path, *words, "--for", "jaxlib>=0.5", "-o", "net")
    assert done.returncode == 0, done.stderr
    assert "net: StableHLO 1.8.0" in done.stdout
    assert "takes   x: float32[batch,4]" in done.stdout
    assert "returns output: float32[batch,2]" in done.stdout
    loaded = ExportedArtifact.load(tmp_path / "net")
    assert loaded(np.ones((5, 4), np.float32), np.ones(2, np.float32))[0].shape == (5, 2)
    files = ["-o", "n.mlir.bc", "--weights", "n.npz"]
    assert _command(tmp_path, "nets:with_inputs", "--target", "1.0.0", *files).returncode == 0
    assert len(np.load(tmp_path / "n.npz").files) == 6


BAD = {
    "weights are lost": (["nets:with_inputs", "-o", "x.mlir.bc"], "--weights FILE.npz"),
    "wrong shape": (["nets:Net", "--eval", "--args", "f32[3,5]", "-o", "x"], "torch.export"),
    "taken": (["nets:with_inputs", "-o", "."], "destination exists"),
    "no folder": (["nets:with_inputs", "-o", "no/x"], "no such file or directory"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case: str, tmp_path: Path) -> None:
    """Exit 2, one line, nothing written."""
    words, says = BAD[case]
    done = _command(tmp_path, *words, "--target", "1.0.0")
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    left = {path.name for path in tmp_path.iterdir()} - {"__pycache__"}
    assert left == {"nets.py"}
