"""List the Releases that ship a libStablehlo, and the StableHLO Version of each.

portable releases
portable releases 'jaxlib>=0.5,<0.8'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.output import format_option, print_json, print_table
from portable.releases import matching_releases, releases

if TYPE_CHECKING:
    import argparse

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("specs", nargs="*", metavar="SPEC", help="a requirement specifier")
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """List them by distribution, the oldest first."""
    found = (
        [release for spec in chosen.specs for release in matching_releases(spec)]
        if chosen.specs
        else releases()
    )
    if chosen.format == "json":
        print_json([release.record() for release in found])
        return 0
    print_table(
        ("release", "date", "StableHLO", "confidence"),
        [
            (str(release), str(release.date), release.has, str(release.confidence))
            for release in found
        ],
    )
    return 0
