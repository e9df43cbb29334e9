"""A package index of wheels written here, so that environments are made without a network."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from portable.runtime.environments import digests

__all__ = ["PYTHON", "Wanted", "record", "see_only", "write_wheel"]

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A Release as the environments need to know it."""

    distribution: str
    version: str = "1.0"
    python: str = PYTHON
    numpy: str = ""


def write_wheel(
    folder: Path, name: str, files: dict[str, bytes], version: str = "1.0", requires: str = ""
) -> Path:
    """Write a wheel that installs these files, and requires some Python."""
    info = f"{name}-{version}.dist-info"
    python = requires and f"Requires-Python: {requires}\n"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{python}".encode()
    tags = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    content = {**files, f"{info}/METADATA": metadata, f"{info}/WHEEL": tags}
    record = "".join(f"{path},,{len(data)}\n" for path, data in content.items())
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in content.items():
            archive.writestr(member, data)
        archive.writestr(f"{info}/RECORD", f"{record}{info}/RECORD,,\n")
    return path


def record(folder: Path, table: Path) -> None:
    """Write a table of the digests of the wheels in a folder."""
    rows = (
        f"{hashlib.sha256(wheel.read_bytes()).hexdigest()} {wheel.stat().st_size} {wheel.name}\n"
        for wheel in sorted(folder.glob("*.whl"))
    )
    table.write_text("".join(rows), "utf-8")


def see_only(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the package clients see nothing but a folder, and keep environments apart."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_DEFAULT_INDEX", (tmp_path / "empty").as_uri())
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    for client in ("PIP", "UV"):
        monkeypatch.setenv(f"{client}_FIND_LINKS", str(folder))
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    (tmp_path / "locks.txt").touch()
    monkeypatch.setattr(digests, "LOCKS", tmp_path / "locks.txt")
    monkeypatch.setenv("PORTABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("PORTABLE_OFFLINE", raising=False)
