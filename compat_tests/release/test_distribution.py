"""The distributions that a release uploads: the same bytes each time, and what an index accepts."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Files that decide what is built; everything else is not looked at.
_SOURCES = ("pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "portable")


def _build(source: Path, to: Path) -> dict[str, str]:
    """Build both distributions as docs/releasing.md says; return their digests by name."""
    command = [sys.executable, "-m", "build", "--outdir", str(to), str(source)]
    fixed = os.environ | {"SOURCE_DATE_EPOCH": "1767225600"}
    done = subprocess.run(command, env=fixed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in to.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str], dict[str, str]]:
    """Build twice, from two copies in folders of other names and with other modification times."""
    folder = tmp_path_factory.mktemp("release")
    digests: list[dict[str, str]] = []
    for name in ("one", "two"):
        tracked = subprocess.run(
            ["git", "ls-files", "-z", *_SOURCES],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")
        for path in filter(None, tracked):
            target = folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / path).read_bytes())
        digests.append(_build(folder / name, folder / f"{name}-dist"))
    one, other = digests
    return folder / "one-dist", one, other


def test_building_twice_gives_the_same_bytes(
    built: tuple[Path, dict[str, str], dict[str, str]],
) -> None:
    """Wheel and source distribution, each with its digest."""
    _, first, second = built
    assert sorted(name.rpartition(".")[2] for name in first) == ["gz", "whl"]
    assert first == second


def test_an_index_accepts_them(built: tuple[Path, dict[str, str], dict[str, str]]) -> None:
    """`twine check --strict`: metadata and README render."""
    files = [str(path) for path in built[0].iterdir()]
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_both_carry_every_file_of_the_package(
    built: tuple[Path, dict[str, str], dict[str, str]],
) -> None:
    """Code, tables and marker of types; nothing that lies beside the package."""
    (wheel,) = built[0].glob("*.whl")
    (source,) = built[0].glob("*.tar.gz")
    wanted = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "portable").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == wanted
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert inside == wanted | {
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "PKG-INFO",
    } | (inside & {".gitignore"})
