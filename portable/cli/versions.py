"""List the StableHLO Versions: when each came, what it brought, which format it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.output import format_option, print_json, print_table
from portable.releases import shipped_versions

if TYPE_CHECKING:
    import argparse

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """List them, the oldest first."""
    found = shipped_versions()
    if chosen.format == "json":
        print_json(
            [
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
        )
        return 0
    print_table(
        ("version", "date", "format", "feature"),
        [
            (str(row.version), str(row.date or "-"), str(row.bytecode_format), row.feature)
            for row in found
        ],
    )
    return 0
