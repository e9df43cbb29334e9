"""Record what the package index has of every Release: sha256, size and name of each wheel.

    python -m tools record_digests             write digests.txt and locks.txt
    python -m tools record_digests --check     exit 1 if a recorded wheel is gone or another one

All platforms and Pythons, as uv locks them; one Release at a time, from the index that uv uses.
"""

from __future__ import annotations

import argparse
import datetime
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from portable.releases import releases
from portable.runtime.environments import Recipe, UnsupportedDistribution
from portable.runtime.environments.digests import LOCKS, TABLE, Lock, Wheel, load, locks
from portable.runtime.environments.index import wheels_of
from portable.runtime.environments.interpreter import find_uv
from portable.system.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from portable.releases import Release

__all__ = ["add", "find_lock", "main", "write"]

_AT_ONCE = 4


def _wheels(release: Release) -> list[Wheel]:
    """Query the index for the wheels of a Release."""
    found = wheels_of(release.distribution, release.version)
    return [Wheel(one.name, one.sha256, one.size) for one in found]


def find_lock(python: str, requirements: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Query the index what requirements come to, and for the digests of all its files.

    Args:
        python: The Python it is for, as `3.11`.
        requirements: As `numpy<2`.

    Returns:
        Pinned requirements, and digests.
    """
    options = ["-q", "--generate-hashes", "--no-annotate", "--no-header", "--only-binary", ":all:"]
    command = [find_uv() or "uv", "pip", "compile", *options, "--python-version", python, "-"]
    asked = "\n".join(requirements)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{asked}: {done.stderr}")
    rows = (row.split() for row in done.stdout.replace("\\\n", " ").splitlines())
    return {
        pinned: tuple(one.removeprefix("--hash=sha256:") for one in hashes)
        for pinned, *hashes in rows
    }


def _companions(of: Iterable[Release]) -> list[tuple[str, ...]]:
    """Return what is installed beside Releases, to read and to execute."""
    recipes = [
        Recipe.of(release, to_execute=to_execute) for release in of for to_execute in (False, True)
    ]
    return sorted({(recipe.python, *sorted(recipe.also)) for recipe in recipes if recipe.also})


def _changed_locks() -> Iterator[str]:
    for (python, *_), recorded in locks().items():
        now = find_lock(python, recorded)
        for pinned, hashes in recorded.items():
            if not {*hashes} <= {*now.get(pinned, ())}:
                yield pinned


def _installable() -> Iterator[Release]:
    for release in releases():
        try:
            Recipe.of(release)
        except UnsupportedDistribution:
            continue
        yield release


def main() -> int:
    """Record or check; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    chosen = parser.parse_args()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asked = pool.map(_wheels, _installable())
        found = sorted({wheel for wheels in asked for wheel in wheels})
    if chosen.check:
        # The index may gain wheels; it never changes one.
        changed = [wheel for wheels in load().values() for wheel in wheels if wheel not in found]
        gone = [*(f"{wheel.name} {wheel.sha256}" for wheel in changed), *_changed_locks()]
        for one in gone:
            print(f"changed or gone: {one}")
        return 1 if gone else 0
    write(
        found, {wanted: find_lock(wanted[0], wanted[1:]) for wanted in _companions(_installable())}
    )
    return 0


def add(measured: Iterable[Release]) -> None:
    """Record what the index has of some Releases; what is recorded of others stays.

    Args:
        measured: The Releases.
    """
    new = [*measured]
    found = {wheel for wheels in load().values() for wheel in wheels}
    found |= {wheel for release in new for wheel in _wheels(release)}
    resolved = {wanted: find_lock(wanted[0], wanted[1:]) for wanted in _companions(new)}
    write(sorted(found), locks() | resolved)


def write(found: Iterable[Wheel], resolved: Mapping[tuple[str, ...], Lock]) -> None:
    """Write both files.

    Args:
        found: Every wheel of every Release, sorted.
        resolved: By Python and requirements what these come to.
    """
    today = datetime.datetime.now(tz=datetime.UTC).date()
    head = (
        f"# sha256, bytes and name of every wheel of every Release; PyPI, {today};"
        " python -m tools record_digests\n"
    )
    rows = "".join(f"{wheel.sha256} {wheel.size} {wheel.name}\n" for wheel in found)
    write_file(TABLE, (head + rows).encode())
    files = {pinned: hashes for one in resolved.values() for pinned, hashes in one.items()}
    lines = [f"# what is installed beside Releases, with sha256; PyPI, {today}"]
    lines += [f"[{' '.join(wanted)}] {' '.join(one)}" for wanted, one in sorted(resolved.items())]
    lines += [" ".join((pinned, *hashes)) for pinned, hashes in sorted(files.items())]
    write_file(LOCKS, "".join(f"{line}\n" for line in lines).encode())


if __name__ == "__main__":
    sys.exit(main())
