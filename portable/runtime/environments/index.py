"""The package index, through its ordinary clients: which versions, which wheels, and their bytes.

One query is about one distribution. What it has depends on the Python and the system, so that
several of each are queried.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.utils import parse_wheel_filename
from packaging.version import Version as PackageVersion

from portable.runtime.environments.installer import (
    EnvironmentFailed,
    ReleaseNotFound,
    ask_pip,
    ask_uv,
    download,
)
from portable.system import scratch

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["IndexWheel", "fetch", "published", "wheels_of"]

# pip lists what one Python can install; of the systems it takes several at once.
_ASKED = ("3.11", "3.12", "3.13", "3.14")
_SYSTEMS = (
    *("manylinux2014_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64"),
    *("manylinux_2_31_x86_64", "manylinux_2_34_x86_64", "macosx_26_0_arm64", "win_amd64"),
)
# The oldest Python that a Release allows shows all of its wheels.
_PYTHONS = tuple(f"3.{minor}" for minor in range(8, 15))


class IndexWheel(NamedTuple):
    """A wheel that the index has.

    Args:
        name: Its file name.
        sha256: Its digest.
        size: Its bytes.
        uploaded: The day; None where the index does not tell.
    """

    name: str
    sha256: str
    size: int
    uploaded: datetime.date | None


def published(distribution: str) -> tuple[str, ...]:
    """Ask the index which versions of a distribution have wheels.

    Args:
        distribution: Its name.

    Returns:
        The versions, oldest first, without pre-releases.

    Raises:
        ReleaseNotFound: It has none for the systems that are queried.
        EnvironmentFailed: The index does not answer.
    """
    found: set[str] = set()
    missing: EnvironmentFailed | None = None
    where = [word for system in _SYSTEMS for word in ("--platform", system)]
    for python in _ASKED:
        try:
            said = ask_pip(
                *("index", "versions", distribution, "--only-binary", ":all:"),
                *("--python-version", python, *where),
                subject=distribution,
            )
        except ReleaseNotFound as error:
            missing = error
            continue
        _, _, versions = said.partition("Available versions:")
        found.update(one.strip() for one in versions.splitlines()[0].split(","))
    if not found:
        # pip finds nothing also where the index does not answer; uv tells one from the other.
        _locked(distribution, "", _PYTHONS[-1])
        raise missing or ReleaseNotFound(f"the index has no wheel of {distribution}")
    return tuple(sorted(found, key=PackageVersion))


def wheels_of(
    distribution: str, version: str, pythons: Iterable[str] = _PYTHONS
) -> list[IndexWheel]:
    """Ask the index for the wheels of a Release, for every system.

    Args:
        distribution: Its name.
        version: Its version.
        pythons: Those of the first that it allows, and of all later ones; by default every Python.

    Returns:
        Its wheels.

    Raises:
        ReleaseNotFound: It has none.
        EnvironmentFailed: The index does not answer.
    """
    refused: ReleaseNotFound | None = None
    for python in pythons:
        try:
            locked = _locked(distribution, version, python)
            break
        except ReleaseNotFound as error:
            refused = error
    else:
        raise refused or ReleaseNotFound(f"the index has no {distribution} {version}")
    return [
        IndexWheel(
            re.split(r"[?#]", wheel["url"])[0].rpartition("/")[2].replace("%2B", "+"),
            _sha256(wheel),
            wheel.get("size", 0),
            _day(wheel.get("upload-time")),
        )
        for package in locked["packages"]
        for wheel in package.get("wheels", ())
    ]


def _sha256(wheel: dict[str, Any]) -> str:
    digest: str | None = wheel["hashes"].get("sha256")
    if digest is None:
        raise EnvironmentFailed(
            f"the index has no sha256 of {wheel['url']}", hint="use another index"
        )
    return digest


def _locked(distribution: str, version: str, python: str) -> dict[str, Any]:
    """Return what uv would lock, without anything that the distribution depends on."""
    with scratch.folder() as folder:
        wanted = Path(folder, "wanted.txt")
        wanted.write_text(f"{distribution}{version and f'=={version}'}\n", "utf-8")
        options = ["-q", "--no-deps", "--universal", "--format", "pylock.toml"]
        said = ask_uv(
            *("pip", "compile", *options, "--python-version", python, str(wanted)),
            subject=f"{distribution}=={version}",
        )
    return tomllib.loads(said)


def fetch(distribution: str, version: str, wheel: IndexWheel, folder: Path) -> Path:
    """Fetch one wheel, whatever system it is for.

    Args:
        distribution: Its distribution.
        version: Its version.
        wheel: Which.
        folder: Where to put it.

    Returns:
        The file; its sha256 is the one that the index told.

    Raises:
        DigestMismatch: It is another file.
        EnvironmentFailed: It cannot be fetched.
    """
    tags = parse_wheel_filename(wheel.name)[-1]
    tag = min(tags, key=str)
    digits = re.sub(r"[^0-9]", "", tag.interpreter)
    python = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else "3.12"
    platforms = sorted({one.platform for one in tags})
    # No Python will run it.
    where = ["--ignore-requires-python", "--abi", tag.abi]
    where += (word for one in platforms for word in ("--platform", one))
    requirement = f"{distribution}=={version}"
    return download(
        requirement,
        python,
        folder,
        offline=False,
        digests={requirement: (wheel.sha256,)},
        options=where,
    )


def _day(uploaded: object) -> datetime.date | None:
    return uploaded.date() if isinstance(uploaded, datetime.datetime) else None
