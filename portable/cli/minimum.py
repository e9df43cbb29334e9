"""Show the minimum target of programs: the lowest Version they can be pinned for, and why.

For a portable artifact it is computed from the bytes; any other program is serialized once, in a
child process. What `portable pin` does by default is taken into account: location ranges become
points, and upstream's expander rewrites newer ops. The minimum target of a container is the
highest of its programs'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bytecode import read
from portable.cli.files import Report, report_each
from portable.cli.options import add, program_argument
from portable.cli.output import print_table, say
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

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable minimum model.mlir
portable minimum *.mlir.bc --strictness upstream
"""
EXIT_CODES = {0: "done", 2: "a program could not be analyzed, or bad usage"}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser, nargs="+")
    add(parser, "--strictness", "--all", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Find the minimum target of each program; that of a container is its highest."""
    return report_each(chosen, lambda path: _minimum(chosen, path), _SUMMARY)


_SUMMARY = {0: "analyzed", 2: "failed"}


def _minimum(chosen: argparse.Namespace, path: str) -> Report:
    container, parts = parts_of(path)
    found = {part.name: _analysis(chosen, part) for part in parts}

    def show() -> None:
        for part in parts:
            _print(part.label, found[part.name])
        if container:
            say(f"{path}: minimum target: {_highest(found) or 'unknown'}")

    return Report(0, _record(found) if container else _fields(found[""]), show)


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
            ("feature", "requires", "count", "first at", "workaround"),
            [
                (
                    feature.name,
                    str(feature.version),
                    str(feature.count),
                    feature.locations[0] if feature.locations else "",
                    feature.workaround,
                )
                for feature in found.minimum.features
            ],
        )
    for caveat in found.caveats:
        say(f"not judged: {caveat.text} ({caveat.count}x)")
    for unknown in found.unknown:
        say(f"unknown: {unknown}")
    label = f"{name}: minimum target"
    say(f"{label}: {found.pinned.version or 'unknown'}")
    if found.pinned.version != found.minimum.version:
        say(f"{label} without rewriting: {found.minimum.version}")


def _analysis(chosen: argparse.Namespace, part: Part) -> Analysis:
    strictness = Strictness(chosen.strictness)
    data = part.data
    if kind_of_file(data) is Kind.ARTIFACT:
        with naming(part.label):
            return analyze(read(data), strictness=strictness)
    from portable.cli.program import in_child
    from portable.pinning import pipeline  # artifacts need no compiler

    found: pipeline.Minimum = in_child(pipeline.minimum, chosen, part=part, strictness=strictness)
    return found.analysis
