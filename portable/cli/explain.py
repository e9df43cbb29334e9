"""Say what stands between a program and a target, and what to do about each.

Exit code 0 when `portable pin` reaches the target (with the rewrites it does by default), else 1.

  portable explain model.mlir --target 1.0.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.output import format_option, print_json, print_table
from portable.cli.program import dialects_option, in_child, program_argument
from portable.explanation import explain

if TYPE_CHECKING:
    import argparse

    from portable.explanation import Explanation

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser)
    parser.add_argument(
        "--target",
        required=True,
        metavar="T",
        help="a Version such as 1.9.0, or consumers as a requirement specifier",
    )
    dialects_option(parser)
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Explain one program."""
    found: Explanation = in_child(
        explain, chosen, chosen.target, allow_dialects=tuple(chosen.allow_dialects)
    )
    if chosen.format == "json":
        print_json(
            {
                "target": str(found.target),
                "minimum": str(found.minimum) if found.minimum else None,
                "reachable": found.reachable,
                "obstacles": [feature.record() for feature in found.obstacles],
                "caveats": [
                    {"text": caveat.text, "count": caveat.count} for caveat in found.caveats
                ],
            }
        )
    else:
        _print(chosen.program, found)
    return 0 if found.reachable else 1


def _print(name: str, found: Explanation) -> None:
    if found.obstacles:
        print_table(
            ("feature", "needs", "count", "first at", "why", "what to do"),
            [
                (
                    feature.name,
                    str(feature.version),
                    str(feature.count),
                    feature.locations[0] if feature.locations else "-",
                    feature.reason or "-",
                    feature.remedy or "nothing that portable knows of",
                )
                for feature in found.obstacles
            ],
        )
    for caveat in found.caveats:
        print(f"not judged: {caveat.text} ({caveat.count}x)")
    print(f"{name}: as it is, {found.minimum or 'an unknown Version'} can express it")
    if found.reachable:
        print(f"{found.target} is reached: portable pin {name} --target {found.target} -o FILE")
    else:
        print(f"{found.target} is out of reach; {found.minimum} is not: --target {found.minimum}")
