"""The oracle: AOTInductor, eager PyTorch and the artifact run the same program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from portable.cli import main
from portable.exporters import ExportFailed
from portable.exporters.oracle import verify_export
from portable.runtime.executors import BITS
from tools.zoo import STATIC

pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)


class Scorer(nn.Module):
    """A batch of any size; it sums, so that compilers differ in the last bits."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(64, 8)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the best three scores, and the sums over the batch."""
        scores = torch.softmax(self.layer(x).tanh(), -1)
        return torch.topk(scores, 3)[0], scores.sum(0)


def test_all_agree_at_two_sizes_of_the_batch() -> None:
    """Each output of each runner; that they differ in bits shows that they are not the same."""
    batch = torch.export.Dim("batch", min=2, max=64)
    given = (torch.randn(4, 64),)
    found = verify_export(
        Scorer().eval(), given, target="0.9.0", dynamic_shapes=({0: batch},), allow=["exact"]
    )
    assert found.same
    assert {opinion.runner for opinion in found.opinions} == {"aotinductor", "pjrt"}
    assert len({opinion.inputs for opinion in found.opinions}) == 6
    assert all(len(opinion.comparisons) == 2 for opinion in found.opinions)
    worst = [c.worst for opinion in found.opinions for c in opinion.comparisons]
    assert any(worst)


def test_ops_that_tell_their_shape_only_by_being_run() -> None:
    """Fake quantization has no other way to, and AOTInductor compiles a program that was loaded."""
    (model,) = (model for model in STATIC if model.name == "fake_quantized")
    found = verify_export(model.module(), model.inputs(), target="0.9.0", seeds=(0,))
    assert found.same
    assert {opinion.runner for opinion in found.opinions} == {"aotinductor", "pjrt"}


def test_the_command_says_who_does_not_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a tolerance that no two compilers keep, exit code 1 and the runners by name."""
    (tmp_path / "scoring.py").write_text(
        "import torch\n"
        "def net():\n"
        "    torch.manual_seed(0)\n"
        "    return torch.nn.Sequential(torch.nn.Linear(64, 8), torch.nn.Tanh())\n"
    )
    monkeypatch.chdir(tmp_path)
    exact = ["--ulps", "0", "--rtol", "0", "--atol", "0", "--format", "json"]
    code = main(
        ["verify-export", "scoring:net", "--args", "f32[4,64]", "--target", "0.9.0", *exact]
    )
    told = capsys.readouterr()
    assert not told.err
    record = json.loads(told.out)
    assert code == (0 if record["same"] else 1)
    assert not record["same"]
    assert {opinion["runner"] for opinion in record["opinions"]} == {"aotinductor", "pjrt"}


def test_it_needs_inputs_to_be_like() -> None:
    """Of a program that was traced elsewhere nobody knows them."""
    with pytest.raises(ExportFailed):
        verify_export(Scorer().eval(), (), target="0.9.0", tolerance=BITS)


def test_cpp_runs_what_inductor_made_and_agrees_with_the_artifact(tmp_path: Path) -> None:
    """docs/examples/aotinductor: built by CMake against libtorch, without Python."""
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake")
    example = Path(__file__).parents[3] / "docs" / "examples" / "aotinductor"
    build = tmp_path / "build"
    prefix = f"-DCMAKE_PREFIX_PATH={torch.utils.cmake_prefix_path}"
    for command in (
        [sys.executable, str(example / "model.py"), str(tmp_path)],
        ["cmake", "-S", str(example), "-B", str(build), prefix],
        ["cmake", "--build", str(build)],
    ):
        subprocess.run(command, check=True, capture_output=True)
    done = subprocess.run(
        [str(build / "runner"), str(tmp_path), "5", "10"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "apart" in done.stdout
    other = subprocess.run([str(build / "runner"), str(tmp_path), "6", "10"], check=False)
    assert other.returncode == 2
