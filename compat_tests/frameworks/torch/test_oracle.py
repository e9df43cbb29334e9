"""The oracle: AOTInductor, eager PyTorch and the artifact run the same program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

from portable.cli import main
from portable.exporters import ExportFailed
from portable.exporters.frameworks import as_array
from portable.exporters.oracle import _Eager, verify_export
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


class Ranked(nn.Module):
    """Returns places of values of which many are equal."""

    def forward(self, x: torch.Tensor) -> Any:
        """Rank them."""
        whole = x.round()
        return torch.topk(whole, 3).indices, whole.argmax(), whole.max(1), x * 1.1


def test_ties_are_no_difference() -> None:
    """Other places of equal values are counted; of unequal ones they differ, with op and line."""
    x = torch.tensor([[1.0, 1.0, 0.0, 1.0], [2.0, 0.0, 2.0, 2.0]])
    eager = _Eager(torch.export.export(Ranked(), (x,)))
    wanted = [as_array(leaf) for leaf in pytree.tree_leaves(eager(x))]
    other = [array.copy() for array in wanted]
    other[0] = np.array([[3, 1, 0], [3, 2, 0]])
    other[1] = np.array(7)
    other[3] = np.array([3, 3])
    settled, ties = eager.settle(wanted, other)
    assert all(map(np.array_equal, settled, wanted))
    assert ties[2] == ties[4] == 0
    assert min(ties[0], ties[1], ties[3]) > 0
    for at, wrong in (
        (0, [[3, 3, 0], [3, 2, 0]]),
        (0, [[2, 1, 0], [3, 2, 0]]),
        (1, 2),
        (3, [2, 1]),
    ):
        other[at] = np.array(wrong)
        assert not np.array_equal(eager.settle(wanted, other)[0][at], wanted[at])
        other[at] = wanted[at]
    sources = eager.sources()
    assert sources[0].startswith("aten.topk.default (")
    assert f"{__file__}:" in sources[0]
    assert sources[4].startswith("aten.mul.Tensor (")


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
    outputs = [output for opinion in record["opinions"] for output in opinion["outputs"]]
    assert {(output["name"], output["op"].partition(" ")[0]) for output in outputs} == {
        ("output", "aten.tanh.default")
    }


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
