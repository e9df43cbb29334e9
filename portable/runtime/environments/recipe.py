"""What has to be installed to have one Release, and how it is then driven."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from portable.errors import PortableError
from portable.releases import find_release
from portable.system.worker import Driver

__all__ = ["Recipe", "Shipped", "UnsupportedDistribution"]

_TABLE = Path(__file__).with_name("recipes.toml")


class UnsupportedDistribution(PortableError):
    """No recipe exists for this distribution."""


class Shipped(Protocol):
    """The data of a Release that a recipe needs."""

    @property
    def distribution(self) -> str:
        """Its name on the package index."""
        ...

    @property
    def version(self) -> str:
        """Its version there."""
        ...

    @property
    def python(self) -> str:
        """The Python to run it on, as `3.11`."""
        ...

    @property
    def numpy(self) -> str:
        """The numpy that executing needs, as a specifier; empty for any."""
        ...


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what an environment contains.

    Args:
        distribution: Its name on the package index.
        version: Its version there.
        python: The Python to run it on, as `3.11`.
        driver: How it is driven.
        also: Requirements that are installed beside it.
        keep: Patterns of the one file to keep out of the wheel; empty to install the wheel.
        whole: Whether the wheel is installed although reading needs only one file of it.
        platform: What it executes on: `cpu`, `cuda`.
    """

    distribution: str
    version: str
    python: str
    driver: Driver
    also: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    whole: bool = False
    platform: str = "cpu"

    @classmethod
    def of(cls, release: Shipped, *, to_execute: bool = False) -> Recipe:
        """Look up how to install and drive a Release.

        Args:
            release: Which.
            to_execute: Whether it must execute programs, not only read artifacts: some need
                their whole wheel for it, and all that the wheel depends on.

        Returns:
            The recipe.

        Raises:
            UnsupportedDistribution: `recipes.toml` does not have the distribution, or it is unknown
                which Python runs the Release: it was read statically.
        """
        row = _recipes().get(release.distribution)
        if row is None:
            known = ", ".join(sorted(_recipes()))
            raise UnsupportedDistribution(
                f"{release.distribution} cannot be run here", hint=f"known are {known}"
            )
        if not release.python:
            name = f"{release.distribution}=={release.version}"
            raise UnsupportedDistribution(
                f"{name} was read statically and never run",
                hint=f"measure it first: portable releases add {name}",
            )
        whole = to_execute and "whole" in row
        keep = () if whole else tuple(row.get("keep", ()))
        also: tuple[str, ...] = ()
        driving, driver, platform = release, row["driver"], "cpu"
        if whole and "by" in row:
            driving = find_release(f"{row['by']} {release.version}")
            driver, platform = _recipes()[row["by"]]["driver"], row["on"]
        if not keep:
            key = "whole" if whole else "old" if driving.numpy.startswith("<") else "also"
            beside = row.get(key, row.get("also", ()))
            versions = {
                "version": release.version,
                "beside": row.get("patches", {}).get(release.version, release.version),
            }
            also = (f"numpy{driving.numpy}", *(one.format(**versions) for one in beside))
        shipped = (release.distribution, release.version, driving.python)
        return cls(*shipped, Driver(driver), also, keep, whole, platform)

    @property
    def name(self) -> str:
        """The name of the environment: `jaxlib-0.4.33`, `tensorflow-2.20.0-whole`."""
        return f"{self.distribution}-{self.version}{'-whole' * self.whole}"

    @property
    def requirement(self) -> str:
        """The exact pin: `jaxlib==0.4.33`."""
        return f"{self.distribution}=={self.version}"

    def record(self) -> dict[str, object]:
        """Return the recipe as plain data for the marker file."""
        fields = asdict(self)
        return {**fields, "driver": str(self.driver), "also": [*self.also], "keep": [*self.keep]}


_CACHE: dict[str, dict[str, Any]] = {}


def _recipes() -> dict[str, dict[str, Any]]:
    if not _CACHE:
        import tomllib

        _CACHE.update(tomllib.loads(_TABLE.read_text(encoding="utf-8")))
    return _CACHE
