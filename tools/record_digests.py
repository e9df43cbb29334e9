"""Record what the package index has of every Release: sha256, size and name of each wheel.

    python -m tools.record_digests             write portable/environments/digests.txt
    python -m tools.record_digests --check     exit 1 if a recorded wheel is gone or another one

All platforms and Pythons, as uv locks them; one Release at a time, from the index that uv uses.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from portable.environments import Recipe, UnknownDistribution
from portable.environments.digests import TABLE, Wheel, load
from portable.environments.interpreter import find_uv
from portable.releases import releases
from portable.system.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.releases import Release

__all__ = ["find_wheels", "main"]

_AT_ONCE = 4
# Nothing is resolved: the requirement depends on nothing, and on any Python that has a wheel.
_PROJECT = """
[project]
name = "locked"
version = "0"
requires-python = "{requires}"
dependencies = ["{distribution}=={version}"]

[[tool.uv.dependency-metadata]]
name = "{distribution}"
version = "{version}"
requires-dist = []
requires-python = "{requires}"
"""


def find_wheels(release: Release) -> Iterator[Wheel]:
    """Ask the index for the wheels of a Release.

    Args:
        release: Which.

    Yields:
        Each wheel.
    """
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "pyproject.toml")
        fields = {"distribution": release.distribution, "version": release.version}
        requires = release.requires_python or ">=3.11"
        project.write_text(_PROJECT.format(**fields, requires=requires), "utf-8")
        command = [find_uv() or "uv", "lock", "-q", "--project", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{release}: {done.stderr}")
        locked = tomllib.loads(Path(folder, "uv.lock").read_text("utf-8"))
    for package in locked["package"]:
        for wheel in package.get("wheels", ()):
            name = wheel["url"].rpartition("/")[2].replace("%2B", "+")
            yield Wheel(name, wheel["hash"].removeprefix("sha256:"), wheel["size"])


def _installable() -> Iterator[Release]:
    for release in releases():
        try:
            Recipe.of(release)
        except UnknownDistribution:
            continue
        yield release


def main() -> int:
    """Record or check; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    chosen = parser.parse_args()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = pool.map(lambda release: [*find_wheels(release)], _installable())
        found = sorted({wheel for wheels in asked for wheel in wheels})
    if chosen.check:
        # The index may gain wheels; it never changes one.
        changed = [wheel for wheels in load().values() for wheel in wheels if wheel not in found]
        for wheel in changed:
            print(f"changed or gone: {wheel.name} {wheel.sha256}")
        return 1 if changed else 0
    today = datetime.datetime.now(tz=datetime.UTC).date()
    head = (
        f"# sha256, bytes and name of every wheel of every Release; PyPI, {today};"
        " python -m tools.record_digests\n"
    )
    rows = "".join(f"{wheel.sha256} {wheel.size} {wheel.name}\n" for wheel in found)
    write_file(TABLE, (head + rows).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
