"""Say how low a program could be pinned, and what stops it there.

For a portable artifact the answer is read from its bytes; a program is serialized once, in a child
process. Location ranges count here as they are: `portable pin` turns them into points.

  portable minimum model.mlir
  portable minimum model.mlir.bc --strictness upstream
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode import read
from portable.cli.output import (
    format_option,
    input_bytes,
    print_json,
    print_table,
    strictness_option,
)
from portable.containers import Kind, kind_of_file
from portable.features import Strictness, analyze

if TYPE_CHECKING:
    import argparse

    from portable.features import Analysis

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from portable.cli.program import program_argument  # noqa: PLC0415 - artifacts need no child

    program_argument(parser)
    strictness_option(parser)
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Find the minimum target of one program."""
    found = _analysis(chosen)
    if chosen.format == "json":
        print_json(
            {
                "minimum": str(found.minimum.version) if found.minimum.version else None,
                "features": [feature.record() for feature in found.minimum.features],
                "caveats": [
                    {"text": caveat.text, "count": caveat.count} for caveat in found.caveats
                ],
                "unknown": list(found.unknown),
            }
        )
        return 0
    if found.minimum.features:
        print_table(
            ("feature", "needs", "count", "first at", "what to do"),
            [
                (
                    feature.name,
                    str(feature.version),
                    str(feature.count),
                    feature.locations[0] if feature.locations else "-",
                    feature.remedy or "-",
                )
                for feature in found.minimum.features
            ],
        )
    for caveat in found.caveats:
        print(f"not judged: {caveat.text} ({caveat.count}x)")
    for name in found.unknown:
        print(f"unknown: {name}")
    print(f"minimum target: {found.minimum.version or 'unknown'}")
    return 0


def _analysis(chosen: argparse.Namespace) -> Analysis:
    strictness = Strictness(chosen.strictness)
    if chosen.program != "-":
        data = input_bytes(chosen.program)
        if kind_of_file(data) is Kind.ARTIFACT:
            return analyze(read(data), strictness=strictness)
    from portable import pin  # noqa: PLC0415 - artifacts need no compiler
    from portable.cli.program import in_child  # noqa: PLC0415 - as above

    return in_child(pin.minimum, chosen, strictness=strictness)  # type: ignore[no-any-return]  # from a child
