"""List the StableHLO Versions: date, bytecode format, and what each added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.options import add
from portable.cli.output import print_json, print_table
from portable.releases import shipped_versions

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = "portable versions"
EXIT_CODES = {0: "done", 2: "bad usage"}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """List them, the oldest first."""
    found = shipped_versions()
    if chosen.format == "json":
        print_json(
            {
                "versions": [
                    {
                        "version": str(row.version),
                        "date": row.date.isoformat() if row.date else None,
                        "tag": row.tag or None,
                        "bytecode_format": row.bytecode_format,
                        "feature": row.feature,
                        "source": row.source,
                    }
                    for row in found
                ]
            }
        )
        return 0
    print_table(
        ("version", "date", "format", "feature"),
        [
            (str(row.version), str(row.date or ""), str(row.bytecode_format), row.feature)
            for row in found
        ],
    )
    return 0
