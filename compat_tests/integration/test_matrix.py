"""The matrix on real Releases: reading, executing, crashing, being interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portable.environments import Environments
from portable.matrix import Agreement, Matrix, Pick, Run, Store, collect
from portable.releases import find_release
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "corpus"
CRASHER = ROOT / "compat_tests" / "data" / "crashers" / "segv.mlir.bc"
ERAS = [find_release(f"jaxlib {version}") for version in ("0.4.13", "0.4.33", "0.10.2")]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a file of observations that knows nothing."""
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


def _outcomes(matrix: Matrix) -> list[str]:
    return [str(cell.verdict.outcome) for cell in matrix.cells]


def test_old_and_new_readers_read_what_they_can(store: Store) -> None:
    """Format 6 came with 0.15.0, so 0.4.13 refuses what 0.4.33 reads: predicted and observed."""
    items = collect([CORPUS / "abs_f32"], pick=Pick.ENDS)
    matrix = Run(store).matrix(items, ERAS)
    assert [str(item.claimed) for item in items] == ["0.9.0", "1.22.0"]
    assert _outcomes(matrix) == ["compatible"] * 5 + ["incompatible"] * 0 + ["compatible"]
    assert all(cell.agreement is Agreement.AGREES for cell in matrix.cells)
