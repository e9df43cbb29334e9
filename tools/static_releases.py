"""Read the Releases that were not measured, by the names in their libraries.

    python -m tools static_releases               what is new of the distributions that are there
    python -m tools static_releases NAME...       of these all that the table lacks, old ones too
    python -m tools static_releases NAME==VERSION the names alone, beside what was measured
    python -m tools static_releases --check       the rows again from the recorded names; no network

For each: fetches its smallest wheel that has a library (Linux first), reads it in pieces, writes
its row into `portable/releases/data/static/NAME.toml`, and records which names it holds in
`compat_tests/data/static_names.json`. The wheel is not kept. Needs uv, pip and the network.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.inspection import bracket
from portable.releases import normalize_name, releases
from portable.runtime.environments.index import published
from portable.runtime.measuring import (
    find,
    measure_static,
    new_versions,
    read_table,
    renew,
    write_table,
)
from portable.system.files import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FOLDER", "NAMES", "Names", "main"]

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "portable" / "releases" / "data" / "static"
NAMES = ROOT / "compat_tests" / "data" / "static_names.json"
_HEAD = "# Releases that were read statically; written by python -m tools static_releases.\n\n"


class Names:
    """Which names each library holds, kept as bits over one list of names."""

    def __init__(self, path: Path = NAMES) -> None:
        self._path = path
        found = json.loads(path.read_text("utf-8")) if path.exists() else {"names": [], "held": {}}
        self._names: list[str] = found["names"]
        self._held: dict[str, str] = found["held"]

    def of(self, release: str) -> frozenset[str]:
        """Return the names that a Release holds."""
        bits = int(self._held[release], 16)
        return frozenset(name for i, name in enumerate(self._names) if bits >> i & 1)

    def releases(self) -> list[str]:
        """Return the Releases, as `jaxlib 0.4.33`."""
        return list(self._held)

    def record(self, release: str, names: Iterable[str]) -> None:
        """Add a Release and write the file."""
        held = set(names)
        self._names += sorted(held.difference(self._names))
        bits = sum(1 << i for i, name in enumerate(self._names) if name in held)
        self._held = dict(sorted({**self._held, release: f"{bits:x}"}.items()))
        table = {"names": self._names, "held": self._held}
        write_file(self._path, (json.dumps(table, indent=0) + "\n").encode())


def _wrong(names: Names) -> list[str]:
    """Compare the rows with the recorded names; `audit_releases` does so with what was measured."""
    rows = {
        f"{row['distribution']} {row['version']}": row
        for path in FOLDER.glob("*.toml")
        for row in read_table(path)[1]
    }
    wrong = [f"{name}: no names are recorded" for name in rows.keys() - set(names.releases())]
    for name in names.releases():
        found = bracket(names.of(name))
        if found is None:
            wrong.append(f"{name}: its names show nothing")
            continue
        row = rows.get(name)
        said = (str(found.low), str(found.below or ""))
        if row and said != (row["current_low"], row.get("current_below", "")):
            wrong.append(f"{name}: the names show {found}")
    return wrong


def main() -> int:
    """Run the tool."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("distributions", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true", help="exit 1 if a row is not what it says")
    chosen = parser.parse_args()
    names = Names()
    if chosen.check:
        wrong = _wrong(names)
        print("\n".join(wrong) or f"{len(names.releases())} Releases are what their names show")
        return 1 if wrong else 0
    known = {f"{one.distribution} {one.version}" for one in releases()}
    for wanted in chosen.distributions or sorted(path.stem for path in FOLDER.glob("*.toml")):
        distribution, _, pinned = wanted.partition("==")
        name = normalize_name(distribution)
        path = FOLDER / f"{name}.toml"
        head, rows = read_table(path) if path.exists() else (_HEAD, [])
        every = published if chosen.distributions else new_versions
        for version in [pinned] if pinned else every(name):
            release = f"{name} {version}"
            if release in known and not pinned:
                continue
            try:
                row, found = measure_static(name, version)
            except PortableError as error:
                print(f"{release}: {error}", file=sys.stderr)
                continue
            print(f"{release}: {row['evidence']}", flush=True)
            names.record(release, found.names)
            if release not in known or find(rows, name, version):
                rows = renew(rows, row)
                write_table(path, head, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
