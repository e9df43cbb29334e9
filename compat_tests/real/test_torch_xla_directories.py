"""The directories of nine torch_xla releases: read, run, re-pinned, read and run again."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from portable.bytecode import read
from portable.exporters import ArgumentKind, ExportedArtifact
from portable.features import analyze
from portable.pinning.repinning import repin
from portable.runtime.executors import Executor, find_executor
from portable.version import Version

DIRECTORIES = sorted((Path(__file__).parents[2] / "corpus").glob("torch_xla/*/container"))
NEAR = 2e-6


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    """One XLA for all of them."""
    with find_executor("pjrt") as opened:
        yield opened


def test_there_are_nine() -> None:
    """The test below is not empty."""
    assert len(DIRECTORIES) == 9


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.parent.name)
def test_read_run_and_repinned(directory: Path, tmp_path: Path, executor: Executor) -> None:
    """Both compute what PyTorch eager answered when the directory was written."""
    with np.load(directory / "io.npz", allow_pickle=False) as arrays:
        x, y = arrays["x"], arrays["y"]
    loaded = ExportedArtifact.load(directory)
    assert {a.kind for a in loaded.arguments} == {ArgumentKind.PARAMETER, ArgumentKind.INPUT}
    (before,) = loaded(x, executor=executor)
    assert np.abs(before - y).max() <= NEAR
    repin(directory, "0.9.0", to=tmp_path / "low")
    low = ExportedArtifact.load(tmp_path / "low")
    assert analyze(read(low.artifact.data)).required.version == Version(0, 9, 0)
    meta = json.loads((tmp_path / "low" / "functions" / "forward.meta").read_text())
    assert meta["stablehlo_version"] == "0.9.0"
    (after,) = low(x, executor=executor)
    assert np.array_equal(before, after)
