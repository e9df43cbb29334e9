"""Compare all derived data with what they are derived from; write nothing.

    python -m tools check                   what the package alone is enough for; a few seconds
    python -m tools check --with jaxlib     also what takes the newest jaxlib
    python -m tools check --with releases   also what takes old Releases, or the package index

Exit code 1 names the commands whose data are stale: they write them without `--check`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

__all__ = ["CHECKS", "main", "tool"]

# Each command, and what it takes. `vhlo_tables --check` also takes a checkout of StableHLO.
CHECKS = {
    "audit_releases": "package",
    "static_releases --check": "package",
    "findings --check": "package",
    "hunt --check": "package",
    "matrix_pages --check": "package",
    "downgrades --check": "package",
    "model_zoo write --check": "package",
    "schemas --check": "package",
    "found_forms --check": "package",
    "full_scan --check": "jaxlib",
    "pages --check": "jaxlib",
    "screens --check": "jaxlib",
    "negative --check": "jaxlib",
    "seal --check": "jaxlib",
    "observe_readers --check": "releases",
    "execute_corpus --check": "releases",
    "record_digests --check": "releases",
}
_TAKES = ("package", "jaxlib", "releases")


def tool(*words: str) -> list[str]:
    """Return the command line of one of these tools, in an isolated Python."""
    return [sys.executable, "-I", str(Path(__file__).with_name("__main__.py")), *words]


def main() -> int:
    """Run the commands; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--with", dest="takes", choices=_TAKES, default="package")
    allowed = _TAKES[: _TAKES.index(parser.parse_args().takes) + 1]
    stale = []
    for words, takes in CHECKS.items():
        if takes in allowed:
            print(f"{words}:", flush=True)
            done = subprocess.run(
                tool(*words.split()), check=False, cwd=Path(__file__).parent.parent
            )
            if done.returncode:
                stale.append(words)
    print(f"stale: {', '.join(stale) or 'nothing'}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
