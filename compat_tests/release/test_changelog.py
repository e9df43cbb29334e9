"""Each change since the last release has one fragment of the changelog, and all of them render."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRAGMENTS = sorted((ROOT / "docs" / "changelog").glob("*.md"))


def _towncrier(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-m", "towncrier", *words, "--dir", str(folder))
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a copy of what the changelog is made of."""
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "docs" / "changelog", tmp_path / "docs" / "changelog")
    return tmp_path


def test_every_fragment_is_in_the_next_release(project: Path) -> None:
    """`towncrier build` moves each, word for word, to CHANGELOG.md, and removes its file."""
    done = _towncrier(project, "build", "--yes", "--version", "1.2.3", "--date", "2026-01-02")
    assert done.returncode == 0, done.stderr
    text = (project / "CHANGELOG.md").read_text("utf-8")
    assert "\n## 1.2.3 (2026-01-02)\n" in text
    words = " ".join(text.split())
    for path in FRAGMENTS:
        assert " ".join(path.read_text("utf-8").split()) in words, path.name
    assert not list((project / "docs" / "changelog").glob("*.md"))


@pytest.mark.parametrize("name", ["+no-type.md", "+typo.aded.md", "notes.txt"])
def test_a_fragment_that_would_be_left_out_is_refused(project: Path, name: str) -> None:
    """A file whose name says no type of the table is an error, not a change left untold."""
    (project / "docs" / "changelog" / name).write_text("Something.\n", "utf-8")
    done = _towncrier(project, "build", "--draft", "--version", "1.2.3")
    assert done.returncode != 0
    assert name in done.stdout + done.stderr
