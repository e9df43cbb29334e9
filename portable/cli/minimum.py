"""Say how low a program could be pinned, and what stops it there.

For a portable artifact the answer is read from its bytes; a program is serialized once, in a child
process. What `portable pin` does unless told otherwise is counted as done: location ranges become
points, and upstream's expander rewrites what it can. A container can go as low as all of its
programs.

  portable minimum model.mlir
  portable minimum model.mlir.bc --strictness upstream
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode import read
from portable.cli.output import (
    all_option,
    format_option,
    print_json,
    print_table,
    say,
    strictness_option,
)
from portable.cli.parts import parts_of
from portable.containers import Kind, kind_of_file
from portable.features import Strictness, analyze
from portable.pinning.locations import naming

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from portable.cli.parts import Part
    from portable.features import Analysis
    from portable.version import Version

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from portable.cli.program import program_argument  # noqa: PLC0415 - artifacts need no child

    program_argument(parser)
    strictness_option(parser)
    all_option(parser)
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Find the minimum target of one program, or of all in a container."""
    container, parts = parts_of(chosen.program)
    found = {part.name: _analysis(chosen, part) for part in parts}
    if chosen.format == "json":
        print_json(_record(found) if container else _fields(found[""]))
        return 0
    for name, analysis in found.items():
        _print(name, analysis)
    if container:
        say(f"minimum target: {_highest(found) or 'unknown'}")
    return 0


def _record(found: Mapping[str, Analysis]) -> dict[str, object]:
    highest = _highest(found)
    return {
        "minimum": str(highest) if highest else None,
        "artifacts": [{"name": name} | _fields(analysis) for name, analysis in found.items()],
    }


def _highest(found: Mapping[str, Analysis]) -> Version | None:
    versions = [analysis.pinned.version for analysis in found.values()]
    known = [version for version in versions if version is not None]
    return max(known) if len(known) == len(versions) else None


def _fields(found: Analysis) -> dict[str, object]:
    return {
        "minimum": str(found.pinned.version) if found.pinned.version else None,
        "without_rewriting": str(found.minimum.version) if found.minimum.version else None,
        "features": [feature.record() for feature in found.minimum.features],
        "caveats": [{"text": caveat.text, "count": caveat.count} for caveat in found.caveats],
        "unknown": list(found.unknown),
    }


def _print(name: str, found: Analysis) -> None:
    if found.minimum.features:
        print_table(
            ("feature", "needs", "count", "first at", "what to do"),
            [
                (
                    feature.name,
                    str(feature.version),
                    str(feature.count),
                    feature.locations[0] if feature.locations else "-",
                    feature.workaround or "-",
                )
                for feature in found.minimum.features
            ],
        )
    for caveat in found.caveats:
        say(f"not judged: {caveat.text} ({caveat.count}x)")
    for unknown in found.unknown:
        say(f"unknown: {unknown}")
    label = f"{name}: minimum target" if name else "minimum target"
    say(f"{label}: {found.pinned.version or 'unknown'}")
    if found.pinned.version != found.minimum.version:
        say(f"{label} without rewriting: {found.minimum.version}")


def _analysis(chosen: argparse.Namespace, part: Part) -> Analysis:
    strictness = Strictness(chosen.strictness)
    data = part.data
    if kind_of_file(data) is Kind.ARTIFACT:
        with naming(part.label):
            return analyze(read(data), strictness=strictness)
    from portable.cli.program import in_child  # noqa: PLC0415 - as above
    from portable.pinning import pipeline  # noqa: PLC0415 - artifacts need no compiler

    found: pipeline.Minimum = in_child(pipeline.minimum, chosen, part=part, strictness=strictness)
    return found.analysis
