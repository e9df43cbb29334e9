"""A pattern excludes what git ignores by it, wherever the file is: in a folder or in a bucket."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from portable.containers.excluding import excluded
from portable.containers.finding import Fate, find
from portable.fleet.gating import find_at
from portable.policy import Rules

FILES = (
    "a.bc", "build", "x/a.bc", "x/b.bc", "x/build/a.bc", "x/y/a.bc", "x/y/build/z/b.bc", "y/x/a.bc",
    "old/a.bc", "old/new/a.bc", "z/old/a.bc", "[a].bc", "x/tür.bc",
)  # fmt: skip
PATTERNS = (
    "a.bc", "*.bc", "build", "build/", "/build", "/build/", "x/", "x/*", "x/*.bc", "x/**",
    "x/**/a.bc", "**/x/a.bc", "**/build", "**/build/", "**/*.bc", "old/*.bc", "old/**/*.bc", "?.bc",
    "[ab].bc", "[!a].bc", "x/?", "x/y/", "*/a.bc", "*/*/a.bc", "o*d", "x*y", "x/b**", "**", "*",
    "/*", "tür.bc", "*ü*",
)  # fmt: skip
SEVERAL = [
    *((one,) for one in PATTERNS),
    *itertools.permutations(("*.bc", "!a.bc", "x/"), 3),
    ("x/*", "!x/y", "build/"),
    ("*", "!x/", "!x/*.bc"),
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, in a repository of git's."""
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    root = tmp_path_factory.mktemp("repository")
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def _ignored(repository: Path, patterns: tuple[str, ...]) -> set[str]:
    (repository / ".git" / "info" / "exclude").write_text("\n".join(patterns) + "\n", "utf-8")
    words = ["git", "-C", str(repository), "check-ignore", "--no-index", "--stdin", "-z"]
    asked = "\0".join(FILES).encode()
    told = subprocess.run(words, input=asked, capture_output=True, check=False).stdout
    return set(told.decode().split("\0")) - {""}


@pytest.mark.parametrize("patterns", SEVERAL, ids=" ".join)
def test_patterns_exclude_what_git_ignores(repository: Path, patterns: tuple[str, ...]) -> None:
    """Each file of a tree, by each pattern and by several."""
    expected = _ignored(repository, patterns)
    assert {name for name in FILES if excluded(name, patterns)} == expected


@pytest.mark.parametrize("patterns", SEVERAL, ids=" ".join)
def test_a_folder_is_searched_as_it_is_listed(
    repository: Path, patterns: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate excludes the same files on this machine and of a place that is listed."""
    monkeypatch.chdir(repository)
    expected = set(FILES) - _ignored(repository, patterns)
    on_disk = find(["."], exclude=patterns, root=repository)
    listed = find_at(str(repository), Rules(exclude=patterns))
    for found, top in ((on_disk, "."), (listed, str(repository))):
        kept = {one.path.removeprefix(f"{top}/") for one in found if one.fate is not Fate.EXCLUDED}
        assert kept & set(FILES) == expected


def test_a_pattern_of_many_folders_ends() -> None:
    """A policy is foreign text: the work is that of the pattern times the path."""
    path = "a/" * 60 + "b"
    assert excluded(path, ("**/a/" * 30 + "c",)) == ""
    assert excluded(path, ("**/a/" * 30 + "b",))
    assert excluded(path, ("**/" * 40 + "c",)) == ""
