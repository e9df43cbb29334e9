"""The maintainers' commands: one way to call them, and what is derived is checked."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.__main__ import commands
from tools.check import CHECKS

ROOT = Path(__file__).parents[2]
_TEXTS = ("*.md", "*.py", "*.ini", "*.toml", "*.txt", "*.yml", "*.yaml")


def _texts() -> list[Path]:
    folders = ("portable", "compat_tests", "tools", "docs", ".github")
    found = [path for folder in folders for glob in _TEXTS for path in (ROOT / folder).rglob(glob)]
    return [*found, *(path for glob in _TEXTS for path in ROOT.glob(glob))]


def test_there_is_one_way_to_call_a_tool() -> None:
    """Every text says `python -m tools NAME`, and NAME is a command of the index."""
    known = commands()
    for path in _texts():
        text = path.read_text("utf-8")
        assert not re.search(r"python3? (-m tools\.|tools/)[a-z]", text), path
        for name in re.findall(r"python -m tools ([a-z_]+)", text):
            assert name in known, f"{path}: {name}"


def test_the_index_says_what_each_does() -> None:
    """One line each, which fits a terminal and ends as a sentence."""
    done = subprocess.run(
        [sys.executable, "-m", "tools"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name, summary in commands().items():
        assert f"  {name}" in done.stdout
        assert summary.endswith("."), name
        assert len(summary) <= 100, name


def test_whatever_has_a_check_is_run_by_the_command_that_runs_all() -> None:
    """A tool with `--check` stands in the table; one check takes a checkout of another project."""
    able = {
        name
        for name in commands()
        if '"--check"' in (ROOT / "tools" / f"{name}.py").read_text("utf-8")
    }
    assert able - {words.split()[0] for words in CHECKS} == {"vhlo_tables"}


@pytest.mark.parametrize("name", ["nothing", "programs"])
def test_what_is_no_command_is_refused(name: str) -> None:
    """A module that only others import is none; the advice says where the commands stand."""
    done = subprocess.run(
        [sys.executable, "-m", "tools", name], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == f"unknown command {name!r}; 'python -m tools' lists the commands\n"


def test_a_tool_that_runs_others_needs_no_installed_portable(tmp_path: Path) -> None:
    """Its children are isolated; in a checkout alone they take what lies beside them."""
    bare = "import sys; sys.path[:] = [p for p in sys.path if 'site-packages' not in p]"
    path, name = ROOT / "tools" / "__main__.py", "schemas"
    run = f"import runpy; sys.argv = [{str(path)!r}]; runpy.run_path({str(path)!r})['main']()"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"{bare}; {run}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"  {name}" in done.stdout
