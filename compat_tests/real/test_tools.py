"""The maintainers' commands, with what they import at hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.__main__ import commands

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", commands())
def test_each_teaches_itself(name: str) -> None:
    """`python -m tools NAME --help` answers and does nothing else."""
    command = [sys.executable, "-m", "tools", name, "--help"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: python -m tools {name}")
