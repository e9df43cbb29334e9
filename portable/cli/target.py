"""Show which Version to write for, and why.

Takes --for and --target as `portable pin` does. Of several consumers the lowest Version counts.
An installed libStablehlo cannot write anything newer than its own Version, which is the upper
limit. Consumers may also be given by date (2025-01-01), by age (180d: everything released in the
last 180 days), as a PJRT plugin (plugin:PATH, queried in a child process), or as `installed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.options import add, goal_options, wanted
from portable.cli.output import print_json, say
from portable.releases import installed_library, resolve_target

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable target --for 'jaxlib>=0.5' 'tensorflow~=2.18'
portable target --for 2025-01-01 180d
portable target --for plugin:/path/lib.so
portable target --for installed
portable target --target WEEK_12
"""
EXIT_CODES = {0: "found", 2: "not known, or bad usage"}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    goal_options(parser)
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Resolve one target."""
    library = installed_library()
    target = (
        resolve_target(
            *wanted(chosen), current=library.current, minimum=library.minimum, library=str(library)
        )
        if library
        else resolve_target(*wanted(chosen))
    )
    if chosen.format == "json":
        print_json(target.record())
        return 0
    say(f"target {target.version}: {target.reason} ({target.confidence})")
    if target.runner_up:
        say(f"next lowest {target.runner_up.version}: {target.runner_up.reason}")
    for caveat in target.caveats:
        say(f"not known: {caveat}")
    if target.notes:
        say(f"note: {'; '.join(target.notes)}")
    return 0
