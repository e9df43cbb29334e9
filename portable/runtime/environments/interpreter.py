"""Pythons on this machine, found by running them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.system.children import ChildHung, run

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PythonMissing", "find_python", "find_uv"]

# A shim of a version manager may exist and fail, and a distribution's Python may lack `venv`'s
# pip: known only by running it.
_ASK = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
_ASK_PIP = f"import ensurepip, venv; {_ASK}"
_LIMIT_S = 20
_FETCH_S = 600


class PythonMissing(PortableError):
    """No Python of the required version runs here."""


@cache
def find_python(version: str, *, with_pip: bool = False, fetch: bool = False) -> Path:
    """Find an interpreter: the running one, then PATH, then where version managers keep theirs.

    Args:
        version: As `3.11`.
        with_pip: Whether it must be able to make an environment that has pip.
        fetch: Whether uv may download it where there is none.

    Returns:
        The real path of the interpreter, not of a shim.

    Raises:
        PythonMissing: None of them runs.
    """
    ask = _ASK_PIP if with_pip else _ASK
    for candidate in _candidates(version):
        found = _run(candidate, ask)
        if found is not None and found[0] == version:
            return Path(found[1])
    fetched = _fetched(version) if fetch else None
    if fetched is not None:
        return fetched
    need = " with venv and ensurepip" if with_pip else ""
    raise PythonMissing(
        f"no Python {version}{need} found on PATH",
        hint=f"install python{version}, or put its folder on PATH",
    )


def find_uv() -> str | None:
    """Return the uv beside the running Python, or on PATH; None where there is none."""
    if importlib.util.find_spec("uv") is not None:
        beside = Path(sys.executable).with_name("uv")
        if beside.exists():
            return str(beside)
    return shutil.which("uv", path=os.pathsep.join(_path()))


def _path() -> list[str]:
    """Return the folders of PATH, without the current one, which an empty entry is."""
    return [folder for folder in os.get_exec_path() if Path(folder).is_absolute()]


@cache
def _fetched(version: str) -> Path | None:
    """Have uv download an interpreter; None where it may not or cannot."""
    uv = find_uv()
    if uv is None:
        return None
    words = ("program", uv, "python")
    try:
        if run((*words, "install", "-q", "--no-bin", version), timeout=_FETCH_S).returncode:
            return None
        found = run(
            (*words, "find", "-q", "--managed-python", "--no-project", version), timeout=_LIMIT_S
        )
    except (OSError, ChildHung):
        return None
    asked = _run(Path(found.stdout.strip()), _ASK) if found.returncode == 0 else None
    return Path(asked[1]) if asked is not None and asked[0] == version else None


def _candidates(version: str) -> Iterator[Path]:
    name = f"python{version}"
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        # The Python that made the running environment: the environment itself may go away.
        yield Path(sys.base_prefix) / "bin" / name
        yield Path(sys.executable)
    for folder in _path():
        yield Path(folder) / name
    home = Path.home()
    for pattern in (f".pyenv/versions/{version}*/bin", f".local/share/uv/python/*-{version}*/bin"):
        for found in sorted(home.glob(pattern), reverse=True):
            yield found / name


def _run(candidate: Path, ask: str) -> tuple[str, str] | None:
    if not os.access(candidate, os.X_OK):
        return None
    try:
        done = run(("program", str(candidate.absolute()), "-I", "-c", ask), timeout=_LIMIT_S)
    except (OSError, ChildHung):
        return None
    version, _, path = done.stdout.strip().partition(" ")
    return (version, path) if done.returncode == 0 and path else None
