"""Show what a file is, what it claims, and what it requires.

No compiler runs: the file may be damaged, or newer than any installed library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.files import Report, report_each
from portable.cli.options import add, files_argument
from portable.cli.output import say
from portable.containers.opening import CONTAINERS
from portable.inspection import inspect

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from portable.features import Analysis, Needs
    from portable.inspection import Inspection, Runtime

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable inspect model.mlir.bc
portable inspect *.mlir.bc --ops --format json
portable inspect saved_model_dir/
portable inspect pjrt_plugin.dylib
"""
EXIT_CODES = {
    0: "every file was read",
    1: "a file is damaged",
    2: "a container or file cannot be opened, or bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    files_argument(parser)
    parser.add_argument("--ops", action="store_true", help="count every op")
    parser.add_argument(
        "--fingerprint",
        action="store_true",
        help="show a digest of the program without locations and producer",
    )
    add(parser, "--strictness", "--all", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Inspect each file."""
    return report_each(chosen, lambda path: _inspect(chosen, path), _SUMMARY)


_SUMMARY = {0: "readable", 1: "damaged", 2: "not opened"}


def _inspect(chosen: argparse.Namespace, path: str) -> Report:
    from portable.cli.output import input_bytes  # directories are no bytes
    from portable.features import Strictness  # cold start of --help

    source = input_bytes("-") if path == "-" else path
    found = inspect(
        source, strictness=Strictness(chosen.strictness), fingerprint=chosen.fingerprint
    )
    damaged = found.damage or any(part.damage for part in found.artifacts.values())
    unopened = found.kind in CONTAINERS and not found.artifacts

    def show() -> None:
        if len(chosen.files) > 1:
            say(f"{'file:':<20}{path}")
        _print(found, ops=chosen.ops)

    return Report(2 if unopened else 1 if damaged else 0, found.record(), show)


def _print(found: Inspection, *, ops: bool) -> None:
    for label, value in _lines(found, ops=ops):
        say(f"{label + ':':<20}{value}" if label else f"{'':<20}{value}")
    for name, part in found.artifacts.items():
        say()
        say(f"{'artifact:':<20}{name}")
        _print(part, ops=ops)


def _lines(found: Inspection, *, ops: bool) -> Iterator[tuple[str, str]]:
    yield "kind", str(found.kind)
    if found.digest:
        yield "size", f"{found.size:,} bytes"
        yield "sha256", found.digest
    if found.format is not None:
        yield "claims", f"StableHLO {found.claimed}" if found.claimed else "no Version"
        yield "producer", found.producer
        yield "bytecode format", str(found.format)
    if found.versions:
        said = ", ".join(f"{name} {version}" for name, version in found.versions.items())
        yield "container", said
    yield from (("opened by", reader) for reader in found.readers)
    if found.damage:
        yield "damaged", found.damage
    yield from (("warning", warning) for warning in found.warnings)
    if found.runtime:
        yield from _runtime(found.runtime)
    if found.analysis:
        yield from _analysis(found.analysis)
    yield from _counts("dialects", found.dialects)
    if ops:
        yield from _counts("ops", found.operations)
    yield from _counts("custom calls", found.custom_calls)
    yield from _counts("discardable", found.discardable)
    yield from (("unregistered op", name) for name in found.unregistered)
    yield from _counts("locations", found.locations)
    yield from (("leaks", path) for path in found.leaks)
    yield from (("constant", f"{c.type}, {c.size:,} bytes") for c in found.constants)
    if found.fingerprint:
        yield "fingerprint", found.fingerprint


def _runtime(library: Runtime) -> Iterator[tuple[str, str]]:
    if library.name:
        yield "distribution", f"{library.name} {library.version}"
    yield "library", f"{library.member or library.path} ({library.format}, {library.size:,} bytes)"
    yield "StableHLO", f"{library.bracket} (static: by the names in it; it was not loaded)"
    yield from (("", line) for line in library.bracket.evidence)
    yield "dialects", ", ".join(library.dialects)
    if library.custom_calls:
        yield "custom calls", ", ".join(library.custom_calls)


def _analysis(analysis: Analysis) -> Iterator[tuple[str, str]]:
    yield from _needs("required Version", analysis.required)
    yield from _needs("minimum target", analysis.pinned)
    if analysis.minimum.version != analysis.pinned.version:
        yield from _needs("without rewriting", analysis.minimum)
    for caveat in analysis.caveats:
        yield "not judged", f"{caveat.text} ({caveat.count}x)"
    yield from (("unknown", name) for name in analysis.unknown)


def _needs(label: str, needs: Needs) -> Iterator[tuple[str, str]]:
    yield label, str(needs.version or "unknown")
    for feature in needs.features:
        where = f", first at {feature.locations[0]}" if feature.locations else ""
        yield "", f"{feature.version}  {feature.name} ({feature.count}x{where})"


def _counts(label: str, counts: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for name, count in counts.items():
        yield label, f"{name} ({count}x)"
        label = ""
