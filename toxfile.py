"""One environment for each Release of the table that can read artifacts: consumer-jaxlib0.4.13."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tox.plugin import impl

__all__ = ["tox_extend_envs"]

_PORTABLE = Path(__file__).parent / "portable"


@impl
def tox_extend_envs() -> list[str]:
    """Name them; what they run stands under the factor `consumer` of tox.ini."""
    rows = tomllib.loads((_PORTABLE / "releases/data/releases.toml").read_text("utf-8"))["release"]
    recipes = tomllib.loads((_PORTABLE / "runtime/environments/recipes.toml").read_text("utf-8"))
    found = [(row["distribution"].replace("_", "-"), row["version"]) for row in rows]
    # A plugin reads an artifact only to compile it, which takes its device.
    readers = {name for name, row in recipes.items() if row["driver"] != "plugin"}
    return [f"consumer-{name}{version}" for name, version in found if name in readers]
