"""Say which Version to write for, and why.

Several may be given; the lowest wins. A libStablehlo that is installed here writes nothing newer
than its own Version, so that is the highest answer.

  portable target 'jaxlib>=0.5' 'tensorflow~=2.18'
  portable target 2025-01-01            a date
  portable target 180d                  an age
  portable target plugin:/path/lib.so   a PJRT plugin, asked in a child process
  portable target installed             what is installed here
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.output import format_option, print_json, say
from portable.releases import installed_library, resolve_target

if TYPE_CHECKING:
    import argparse

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "wants",
        nargs="+",
        metavar="REQUEST",
        help="a Version, a requirement specifier, a date, an age, a plugin, installed, WEEK_4, "
        "WEEK_12, MAX",
    )
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Resolve one target."""
    library = installed_library()
    target = (
        resolve_target(
            *chosen.wants, current=library.current, minimum=library.minimum, library=str(library)
        )
        if library
        else resolve_target(*chosen.wants)
    )
    if chosen.format == "json":
        print_json(target.record())
        return 0
    say(f"target {target.version}: {target.reason} ({target.confidence})")
    if target.runner_up:
        say(f"without that, {target.runner_up.version}: {target.runner_up.reason}")
    for caveat in target.caveats:
        say(f"not known: {caveat}")
    if target.notes:
        say(f"note: {'; '.join(target.notes)}")
    return 0
