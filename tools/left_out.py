"""Say in one line what a run of tox left out because an interpreter is missing.

    python -m tools left_out .tox lint unit torch     of these environments

An environment that was not made was left out, and so were the tests that wrote their names below
`not-run` of the folder. Exit code 1 where something was, and `CI` is true.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from pathlib import Path

__all__ = ["FOLDER", "left_out"]

FOLDER = "not-run"


def left_out(folder: Path, environments: list[str]) -> list[str]:
    """Say what was left out.

    Args:
        folder: The folder of tox.
        environments: The environments that were to run.

    Returns:
        An environment, or a number of tests and their reason, each.
    """
    absent = [name for name in environments if not (folder / name / "bin" / "python").exists()]
    found = [f"{name} (its Python is missing)" for name in absent]
    for record in sorted((folder / FOLDER).glob("*")):
        reasons = record.read_text("utf-8").splitlines()
        found += [
            f"{count} tests of {record.name} ({reason})"
            for reason, count in Counter(reasons).items()
        ]
    return found


def main() -> int:
    """Print the line; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder of tox")
    parser.add_argument("environments", nargs="*", help="those that were to run")
    chosen = parser.parse_args()
    found = left_out(chosen.folder, chosen.environments)
    print(f"left out: {'; '.join(found) or 'nothing'}")
    return 1 if found and os.environ.get("CI") == "true" else 0


if __name__ == "__main__":
    sys.exit(main())
