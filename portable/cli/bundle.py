"""Write several Versions of a program under one name, for many consumers.

A bundle is a directory: an OCI image layout, which skopeo, oras and every registry take as
it is. It has the newest Version that each consumer reads. Files with the same bytes, such as
weights, are stored once; each Version of a container is a whole copy. Constants stay in the
program, unless --extract-constants makes files of the large ones. With --files, existing artifacts
are bundled unchanged, each for another Version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bundle import pack, pack_files
from portable.cli.options import PIPELINE, add, pipeline_arguments
from portable.cli.output import input_bytes, print_json, say
from portable.cli.progress import waiting
from portable.cli.usage import BadUsage, demand_name
from portable.releases import named_consumers, spans
from portable.system.wording import many

if TYPE_CHECKING:
    import argparse

    from portable.bundle import Bundled

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable bundle model.mlir --for 'jaxlib>=0.5' 'tensorflow~=2.18' -o model.bundle
portable bundle model.exported --for 'jaxlib>=0.4.30' --minimal -o model.bundle
portable bundle model.mlir.bc --for 'jaxlib>=0.4.30' --extract-constants -o model.bundle
portable bundle --files model-1.0.mlir.bc model-1.9.mlir.bc -o model.bundle
"""
EXIT_CODES = {
    0: "written",
    2: "not written: a consumer reads no Version, a Version is out of reach, or bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "program",
        nargs="?",
        metavar="PROGRAM",
        help="StableHLO as MLIR text, MLIR bytecode, portable artifact, or a container of programs "
        "(Exported, SavedModel, torch_xla directory); - is standard input",
    )
    source.add_argument(
        "--files",
        action="extend",
        nargs="+",
        default=[],
        metavar="FILE",
        help="bundle artifacts or containers that exist, each for another Version, unchanged",
    )
    add(parser, "--for")
    parser.add_argument(
        "--minimal",
        action="store_true",
        help="write the fewest Versions that serve every consumer, not the newest for each",
    )
    parser.add_argument(
        "--extract-constants",
        action="store_true",
        help="keep the large constants of a program once, as files that its Versions share",
    )
    add(parser, "--output", required=True)
    add(parser, *PIPELINE)
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Write a bundle."""
    demand_name(chosen.output)
    if chosen.files:
        if chosen.extract_constants:
            raise BadUsage("--extract-constants cannot be used together with --files")
        found = pack_files(
            chosen.files, *chosen.consumers, to=chosen.output, minimal=chosen.minimal
        )
    else:
        found = _bundle_program(chosen)
    if chosen.format == "json":
        print_json({"output": chosen.output} | found.record())
    else:
        _print(chosen.output, found)
        for text in named_consumers(*chosen.consumers).uncovered:
            say(f"  not known: {text}")
    return 0


def _bundle_program(chosen: argparse.Namespace) -> Bundled:
    path = chosen.program
    if not chosen.consumers:
        raise BadUsage("missing --for", hint="e.g. --for 'jaxlib>=0.5'")
    with waiting(f"{path}: writing a Version for each kind of consumer"):
        return pack(
            input_bytes("-") if path == "-" else path,
            *chosen.consumers,
            to=chosen.output,
            minimal=chosen.minimal,
            extract_constants=chosen.extract_constants,
            **pipeline_arguments(chosen),
        )


def _print(output: str, found: Bundled) -> None:
    say(f"{output}: {many(len(found.versions), 'Version')}, {found.digest}")
    for version in found.versions:
        verdicts = found.verdicts.get(version, ())
        consumers = ", ".join(spans(verdict.consumer for verdict in verdicts))
        say(f"  StableHLO {version}" + (f": {consumers}" if consumers else ""))
        for verdict in verdicts:
            if not verdict.compatible:
                say(f"    {verdict.consumer}: {verdict.says} ({verdict.basis}): {verdict.reason}")
