"""Measure real Releases; write their rows, names and digests into the shipped tables.

    python -m tools measure_release jaxlib==0.12.1 tensorflow==2.22.0
    python -m tools measure_release --again jaxlib      every row of a distribution, once more

What a Release says of itself is its row; the names in its library, which must agree, are recorded
beside those of the Releases that were only read. `portable releases add` does the same for the
table of one user. Needs uv and the network.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from portable.errors import PortableError
from portable.inspection import read_runtime
from portable.releases.release import as_release
from portable.runtime.environments import Download, Environments, Phase
from portable.runtime.measuring import measure, read_table, renew, write_table
from tools import record_digests
from tools.static_releases import Names

DATA = Path(__file__).parent.parent / "portable" / "releases" / "data"
TABLE = DATA / "releases.toml"


def main() -> int:
    """Measure what the command line requests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("requirements", nargs="*", metavar="NAME==VERSION")
    parser.add_argument("--again", metavar="NAME", help="every row of this distribution")
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--clear", action="store_true", help="remove each environment afterwards")
    options = parser.parse_args()
    head, rows = read_table(options.table)
    wanted = [*options.requirements]
    wanted += [
        f"{row['distribution']}=={row['version']}"
        for row in rows
        if row["distribution"] == options.again
    ]
    environments = Environments(progress=_tell)
    failed, measured = 0, []
    for requirement in wanted:
        try:
            row = measure(requirement, environments, rows)
        except PortableError as error:
            print(f"{requirement}: {error}", file=sys.stderr)
            failed += 1
            continue
        rows = renew(rows, row)
        write_table(options.table, head, rows)
        release = as_release(row)
        measured.append(release)
        if options.table == TABLE:
            found = read_runtime(environments.get(release).directory)
            Names().record(str(release), found.names)
        print(f"{requirement}: {row.get('current') or row['evidence']}")
        if options.clear:
            environments.clear([f"{row['distribution']}-{row['version']}"])
    if measured and options.table == TABLE:
        record_digests.add(measured)
    return 2 if failed or not wanted else 0


def _tell(name: str, phase: Phase | Download) -> None:
    print(f"  {name}: {phase}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
