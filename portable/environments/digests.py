"""What the package index has of each Release: the digests that a download is held to."""

from __future__ import annotations

import functools
import platform
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

__all__ = ["TABLE", "Wheel", "digests", "load", "wheel_for", "wheels"]

# Written by tools/record_digests.py.
TABLE = Path(__file__).with_name("digests.txt")


class Wheel(NamedTuple):
    """A wheel on the package index.

    Args:
        name: Its file name.
        sha256: Its digest.
        size: Its bytes.
    """

    name: str
    sha256: str
    size: int


def load(table: Path | None = None) -> dict[tuple[str, str], tuple[Wheel, ...]]:
    """Return the wheels of every Release, by distribution and version."""
    return _load(table or TABLE)


@functools.cache
def _load(table: Path) -> dict[tuple[str, str], tuple[Wheel, ...]]:
    found: dict[tuple[str, str], list[Wheel]] = defaultdict(list)
    for line in table.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            sha256, size, name = line.split()
            distribution, version = name.split("-")[:2]
            found[_normal(distribution), version].append(Wheel(name, sha256, int(size)))
    return {release: tuple(wheels) for release, wheels in found.items()}


def wheels(distribution: str, version: str) -> tuple[Wheel, ...]:
    """Return the recorded wheels of a Release; none where nobody recorded it."""
    return load().get((_normal(distribution), version), ())


def digests(distribution: str, version: str, python: str) -> list[str]:
    """Return the recorded digests of a Release, first that of the wheel for this machine.

    Args:
        distribution: Its name on the package index.
        version: Its version there.
        python: The Python it is for, as `3.11`.
    """
    first = wheel_for(distribution, version, python)
    found = [wheel.sha256 for wheel in wheels(distribution, version)]
    return found if first is None else [first.sha256, *(f for f in found if f != first.sha256)]


def wheel_for(distribution: str, version: str, python: str) -> Wheel | None:
    """Return the recorded wheel that a client takes on this machine, as far as names tell.

    Args:
        distribution: Its name on the package index.
        version: Its version there.
        python: The Python it is for, as `3.11`.
    """
    system = {"Linux": "linux", "Darwin": "macosx", "Windows": "win"}.get(platform.system(), "")
    machine = platform.machine().lower()
    tags = (f"-cp{python.replace('.', '')}-", "-abi3-", "-py3-none-")
    for wheel in wheels(distribution, version):
        here = wheel.name.endswith("-any.whl") or (system in wheel.name and machine in wheel.name)
        if here and any(tag in wheel.name for tag in tags):
            return wheel
    return None


def _normal(distribution: str) -> str:
    return distribution.lower().replace("-", "_")
