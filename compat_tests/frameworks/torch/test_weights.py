"""Large weights: referred to until they are written, refused when they have changed by then."""

import resource
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from portable.exporters import ExportedArtifact, ExportFailed, export_torch, weights
from portable.exporters.weights import TorchWeights

# PyTorch warns of its own use of what it deprecates.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")


class _Wide(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(64, 64, dtype=torch.bfloat16) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def test_large_weights_are_written_as_safetensors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every bit of them, though the export holds no copy."""
    monkeypatch.setattr(weights, "_COPIED", 0)
    module, x = _Wide().eval(), torch.ones(2, 64, dtype=torch.bfloat16)
    made = export_torch(module, (x,), target="1.0.0")
    assert isinstance(made.weights, TorchWeights)
    made.save(tmp_path / "m", safetensors=True)
    loaded = ExportedArtifact.load(tmp_path / "m")
    for name, tensor in module.state_dict().items():
        assert np.array_equal(loaded.weights[name].view(np.int16), tensor.view(torch.int16))
    with pytest.raises(ValueError, match="read-only"):
        made.weights["layers.0.weight"][0] = 0


@pytest.mark.parametrize("how", ["in place", "by its data", "by numpy"])
def test_weights_that_change_before_they_are_saved(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused by name, and nothing is left behind."""
    monkeypatch.setattr(weights, "_COPIED", 0)
    module = nn.Linear(64, 64)
    made = export_torch(module, (torch.ones(2, 64),), target="1.0.0")
    with torch.no_grad():
        if how == "in place":
            module.weight[63, 63] += 1
        elif how == "by its data":
            module.weight.data.mul_(2)
        else:
            module.weight.numpy()[:] = 1
    with pytest.raises(ExportFailed, match=r"'weight' has changed.*export it again"):
        made.save(tmp_path / "m", safetensors=True)
    assert list(tmp_path.iterdir()) == []


def test_small_weights_are_copied() -> None:
    """What is done to the module later does not change the export."""
    module = nn.Linear(4, 4)
    made = export_torch(module, (torch.ones(2, 4),), target="1.0.0")
    before = made.weights["weight"].copy()
    with torch.no_grad():
        module.weight.zero_()
    assert np.array_equal(made.weights["weight"], before)


def test_the_copies_of_an_export_are_not_in_memory(tmp_path: Path) -> None:
    """400 MB of weights are exported and saved with a tenth of that on top."""
    module = nn.Sequential(*(nn.Linear(2048, 2048, dtype=torch.bfloat16) for _ in range(48)))
    x = torch.ones(1, 2048, dtype=torch.bfloat16)
    export_torch(module[:1], (x,), target="1.0.0")  # what the frameworks take
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    export_torch(module, (x,), target="1.0.0").save(tmp_path / "m", safetensors=True)
    size = sum(p.nbytes for p in module.parameters())
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 0.2 * size
