"""Adding a command, an Advisory, a Release, an Executor touches what docs/architecture.md says.

Each is added to a copy of the project by exactly those edits; then the copy does the new thing, and
the tests that hold such things pass there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.old_releases

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
COPIED = ("portable", "compat_tests", "docs", "tools")
FILES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "pyproject.toml", "tox.ini", "toxfile.py")
TAN = "compat_tests/data/artifacts/tan+1.4.0.mlir.bc"
ADD = "compat_tests/data/artifacts/add_f32+0.9.0.mlir.bc"

COMMAND = '''"""Print a greeting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.output import say

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = "portable greet"
EXIT_CODES = {0: "done", 2: "bad usage"}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare no options."""


def run(chosen: argparse.Namespace) -> int:
    """Greet."""
    say("hello")
    return 0
'''
ADVISORY = """
[[advisory]]
id = "tan-is-wrong"
distribution = "tensorflow"
specifier = "==2.20.0"
feature = "op:vhlo.tan_v1"
effect = "wrong result"
stage = "execute"
reproducer = "stablehlo.tan of f32"
reason = "rounds to nearest elephant"
link = "https://example.org"
date = "2026-11-20"
source = "a test"
"""
RELEASE = """
[[release]]
distribution = "jaxlib"
version = "0.99.0"
date = "2026-12-01"
current = "1.22.0"
minimum = "0.9.0"
python = "3.11"
confidence = "measured"
method = "bindings"
measured = "2026-12-02"
evidence = "get_current_version() = 1.22.0"
source = "a test"
"""
ADAPTER = '''"""Answers with the first input."""

from __future__ import annotations

from .engines import Engines


class Echo:
    """An engine and its adapter."""

    device = "paper"

    def __init__(self) -> None:
        engines = Engines({"echo": lambda _platform: self})
        self.compile_job, self.execute = engines.compile, engines.execute

    def compile(self, job):
        """Serve both: a job of the worker, and a program of the engine."""
        return self.compile_job(job) if isinstance(job, dict) else None

    def run(self, program, inputs, results):
        """Return the first input."""
        return inputs[:1]


def load(library, limit):
    """Load it."""
    return Echo()
'''
KIND = """    ExecutorKind(
        name="echo",
        drivers=(Driver("echo"),),
        distributions=("numpy",),
        capabilities=Capabilities(_CPU),
        hint="pip install numpy",
    ),
)
EXECUTORS = {"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of the project."""
    for name in COPIED:
        ignored = shutil.ignore_patterns("__pycache__", "frameworks", "crashers")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "corpus").symlink_to(ROOT / "corpus")
    return tmp_path


def _outside_tox() -> dict[str, str]:
    """The copy is a checkout, and tox tests the wheel."""
    return {name: value for name, value in os.environ.items() if name != "TOX_ENV_NAME"}


def _run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=project,
        env={**_outside_tox(), "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def _says(project: Path, *words: str) -> str:
    done = _run(project, "portable", *words)
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout


def _held(project: Path, *tests: str) -> None:
    """Assert that tests of the copy pass there."""
    names = [f"compat_tests/unit/{test}.py" for test in tests]
    done = _run(project, "pytest", "-q", "-x", "-p", "no:cacheprovider", *names)
    assert done.returncode == 0, done.stdout[-4000:]


def _edit(project: Path, path: str, before: str, after: str) -> None:
    """Replace what is there once."""
    text = (project / path).read_text("utf-8")
    assert text.count(before) == 1, path
    (project / path).write_text(text.replace(before, after), "utf-8")


def _append(project: Path, path: str, text: str) -> None:
    with (project / path).open("a", encoding="utf-8") as stream:
        stream.write(text)


def _row(new: str) -> str:
    """Return what the page says is touched for something new."""
    found = re.search(rf"^\| {new} \| (.*) \|$", PAGE, re.MULTILINE)
    assert found, new
    return found[1]


def test_a_command(project: Path) -> None:
    """One module and one line: it runs, and the overview lists it."""
    assert _row("command").startswith("one module in `portable/cli/`, ")
    assert ", and one line in `COMMANDS`;" in _row("command")
    (project / "portable/cli/greet.py").write_text(COMMAND)
    _edit(
        project,
        "portable/cli/__init__.py",
        "COMMANDS = {\n",
        'COMMANDS = {\n    "greet": "greet",\n',
    )
    assert _says(project, "greet") == "hello\n"
    assert "greet" in _says(project, "--help")
    _held(project, "test_architecture", "test_json_schemas")


def test_an_advisory(project: Path) -> None:
    """One row: `check` predicts what it says."""
    assert _row("Advisory").startswith("`portable/releases/data/advisories.toml`; ")
    _append(project, "portable/releases/data/advisories.toml", ADVISORY)
    words = ("check", TAN, "--for", "tensorflow==2.20.0", "--stage", "execute")
    assert "nearest elephant" in _says(project, *words)
    _held(project, "test_prediction", "test_tables_validate")


def test_a_release(project: Path) -> None:
    """One row: commands know it."""
    assert "`python -m tools new_release NAME==VERSION`" in _row("Release")
    _append(project, "portable/releases/data/releases.toml", RELEASE)
    assert "0.99.0" in _says(project, "releases", "list", "jaxlib>=0.99")
    assert "compatible" in _says(project, "check", TAN, "--for", "jaxlib==0.99.0")
    _held(project, "test_tables_validate")


def test_an_executor(project: Path) -> None:
    """An adapter and one row, and one in the page: programs run on it."""
    said = _row("Executor")
    places = ("portable/system/worker/inside/", "portable/runtime/executors/running.py")
    for place in (*places, "executors.md"):
        assert place in said
    (project / "portable/system/worker/inside/echo_adapter.py").write_text(ADAPTER)
    _edit(project, "portable/runtime/executors/running.py", ")\nEXECUTORS = {", KIND)
    last = "| 7 GB | consumers of torch_xla |\n"
    row = "| `echo` | numpy | nothing | 0.1 GB | what was given |\n"
    _edit(project, "docs/executors.md", last, last + row)
    words = ("run", ADD, "--random", "0", "--executor", "echo")
    assert "executed on numpy" in _says(project, *words)
    _held(project, "test_executors", "test_architecture")
