"""Digests that downloads must have: wheels of Releases, and what is installed beside them."""

from __future__ import annotations

import functools
import platform
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from portable.system.tables import InvalidTable

__all__ = [
    "LOCKS",
    "TABLE",
    "Lock",
    "Wheel",
    "digests",
    "fits_here",
    "load",
    "lock",
    "locks",
    "wheel_for",
    "wheels",
]

# Both are written by tools/record_digests.py.
TABLE = Path(__file__).with_name("digests.txt")
LOCKS = Path(__file__).with_name("locks.txt")

_DIGESTS = re.compile(r"[0-9a-f]{64}( [0-9a-f]{64})*")

# Pinned requirements, each with the digests that its file may have.
Lock = Mapping[str, tuple[str, ...]]


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
    """Return the recorded wheels of a Release; none where they were not recorded."""
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
    """Return the recorded wheel that a client takes on this machine, as far as file names show.

    Args:
        distribution: Its name on the package index.
        version: Its version there.
        python: The Python it is for, as `3.11`.
    """
    found = wheels(distribution, version)
    return next((wheel for wheel in found if fits_here(wheel.name, python)), None)


def fits_here(wheel: str, python: str) -> bool:
    """Return whether a wheel is for this machine, as far as its file name shows.

    Args:
        wheel: The file name.
        python: The Python it is for, as `3.11`.
    """
    system = {"Linux": "linux", "Darwin": "macosx", "Windows": "win"}.get(platform.system(), "")
    here = wheel.endswith("-any.whl") or (system in wheel and platform.machine().lower() in wheel)
    tags = (f"-cp{python.replace('.', '')}-", "-abi3-", "-py3-none-")
    return here and any(tag in wheel for tag in tags)


def lock(python: str, requirements: Iterable[str]) -> Lock:
    """Return what is installed for requirements, with digests; empty where they were not recorded.

    Args:
        python: The Python it is for, as `3.11`.
        requirements: As `numpy<2`.
    """
    return locks().get((python, *sorted(requirements)), {})


def locks(table: Path | None = None) -> dict[tuple[str, ...], Lock]:
    """Return every lock, by its Python and the requirements that it is for.

    Raises:
        InvalidTable: A row has no digest, or a requirement has no row that fits.
    """
    return _locks(table or LOCKS)


@functools.cache
def _locks(table: Path) -> dict[tuple[str, ...], Lock]:
    found: dict[tuple[str, ...], list[str]] = {}
    files: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(table.read_text("utf-8").splitlines(), 1):
        if line.startswith("["):
            wanted, _, pinned = line[1:].rpartition("]")  # an extra has brackets of its own
            found[tuple(wanted.split())] = pinned.split()
        elif not line.startswith("#"):
            name, _, hashes = line.partition(" ")
            if not _DIGESTS.fullmatch(hashes):
                raise InvalidTable(table.name, f"row {number}", "has no sha256 digests")
            files[name] = tuple(hashes.split())
    for (_, *requirements), names in found.items():
        for requirement in requirements:
            if not _satisfied(requirement, names):
                raise InvalidTable(table.name, requirement, "no row satisfies it")
        for name in names:
            if name not in files:
                raise InvalidTable(table.name, name, "has no row with digests")
    return {key: {name: files[name] for name in names} for key, names in found.items()}


def _satisfied(requirement: str, pinned: Iterable[str]) -> bool:
    wanted = Requirement(requirement)
    return any(
        canonicalize_name(name) == canonicalize_name(wanted.name)
        and wanted.specifier.contains(version)
        for name, _, version in (one.partition("==") for one in pinned)
    )


def _normal(distribution: str) -> str:
    return distribution.lower().replace("-", "_")
