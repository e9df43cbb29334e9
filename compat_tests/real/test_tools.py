"""The maintainers' commands, with what they import at hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from portable.releases import find_release
from portable.runtime.environments import digests
from tools import record_digests
from tools.__main__ import commands

ROOT = Path(__file__).parents[2]


@pytest.mark.old_releases
@pytest.mark.parametrize("name", commands())
def test_each_teaches_itself(name: str) -> None:
    """`python -m tools NAME --help` answers and does nothing else."""
    if name == "mutation":  # its environment has the tool that plants defects
        pytest.importorskip("cosmic_ray")
    command = [sys.executable, "-m", "tools", name, "--help"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: python -m tools {name}")


def test_a_measured_release_is_recorded_with_its_digests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is recorded of others stays, and nothing is recorded otherwise than all at once."""
    before, locked = digests.TABLE.read_text("utf-8"), digests.LOCKS.read_text("utf-8")
    table, locks = tmp_path / "digests.txt", tmp_path / "locks.txt"
    table.write_text("".join(row for row in before.splitlines(True) if "jaxlib-0.4.33" not in row))
    locks.write_text(locked)
    for module in (digests, record_digests):
        monkeypatch.setattr(module, "TABLE", table)
        monkeypatch.setattr(module, "LOCKS", locks)
    assert table.read_text("utf-8") != before
    record_digests.add([find_release("jaxlib 0.4.33")])
    assert table.read_text("utf-8").splitlines()[1:] == before.splitlines()[1:]
    assert {*locks.read_text("utf-8").splitlines()[1:]} >= {
        row for row in locked.splitlines()[1:] if row.startswith("[")
    } - {row for row in locked.splitlines() if "ml_dtypes<0.5" in row}
