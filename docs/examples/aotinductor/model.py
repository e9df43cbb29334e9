"""Export a small model twice: compiled by AOTInductor for C++, and as a portable artifact.

    python model.py FOLDER

writes `model.pt2`, which `runner.cpp` runs without Python; `model/`, the artifact with its weights;
and `inputs.bin`, `outputs.bin`: what the artifact computes on XLA for one batch, as raw float32.
"""

import sys
from pathlib import Path

import numpy as np
import torch

from portable.exporters import export_torch

BATCH, FEATURES = 5, 10


class Model(torch.nn.Module):
    """Two layers, and a batch of any size."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(FEATURES, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Score rows `[batch, 10]` between 0 and 1."""
        return torch.sigmoid(self.layers(x))


def main(folder: Path) -> None:
    """Write everything into `folder`."""
    torch.manual_seed(0)
    batch = torch.export.Dim("batch", min=2, max=1024)
    example = (torch.randn(8, FEATURES),)
    program = torch.export.export(Model().eval(), example, dynamic_shapes=({0: batch},))
    torch._inductor.aoti_compile_and_package(program, package_path=str(folder / "model.pt2"))
    exported = export_torch(program, target="0.9.0")
    exported.save(folder / "model")
    inputs = np.random.default_rng(0).standard_normal((BATCH, FEATURES)).astype(np.float32)
    (outputs,) = exported(inputs)
    inputs.tofile(folder / "inputs.bin")
    outputs.tofile(folder / "outputs.bin")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
