"""Take the Version that named consumers read out of a bundle.

The newest Version that every consumer opens and reads is written to --output: a file, or a new
directory where a Version has several files. Every byte is compared with its digest, and what is
delivered is judged, not what the bundle claims. With --unpack every Version is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.bundle import pick, unpack
from portable.cli.options import add
from portable.cli.output import print_json, say
from portable.cli.usage import BadUsage, demand_name
from portable.verdict import Stage

if TYPE_CHECKING:
    import argparse

    from portable.bundle import Picked
    from portable.verdict import Verdict

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable pick model.bundle --for 'jaxlib==0.5.3' -o model.mlir.bc
portable pick model.bundle --for installed -o model.mlir.bc
portable pick oci://registry.example:5000/model:1 --for 'jaxlib==0.5.3' -o model.mlir.bc
portable pick model.bundle --for plugin.so -o model.mlir.bc
portable pick model.bundle --unpack -o versions
"""
EXIT_CODES = {
    0: "written",
    1: "not written: every Version is known to be refused by a consumer",
    2: "not written: not known whether every consumer reads it, or the bundle is damaged, or bad "
    "usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "bundle", metavar="BUNDLE", help="the directory of a bundle, or oci://host/name:tag"
    )
    add(parser, "--for")
    parser.add_argument(
        "--unpack", action="store_true", help="write every Version, in a new directory"
    )
    add(parser, "--stage", choices=[str(stage) for stage in Stage], default=str(Stage.DECODE))
    add(parser, "--assume")
    add(parser, "--output", required=True)
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Take one Version out of a bundle, or all."""
    if bool(chosen.consumers) == chosen.unpack:
        raise BadUsage("missing --for or --unpack", hint="name one of them")
    if chosen.unpack:
        demand_name(chosen.output)
        versions = [str(version) for version in unpack(chosen.bundle, to=chosen.output)]
        if chosen.format == "json":
            print_json({"output": chosen.output, "versions": versions})
        else:
            say(f"{chosen.output}: StableHLO {', '.join(versions)}")
        return 0
    stage = Stage.parse(chosen.stage)
    found = pick(
        chosen.bundle, *chosen.consumers, to=chosen.output, stage=stage, assume=chosen.assume
    )
    if chosen.format == "json":
        print_json({"output": chosen.output if found.version else None} | found.record())
    else:
        _print(chosen, found)
    return {True: 0, False: 1, None: 2}[found.held]


def _print(chosen: argparse.Namespace, found: Picked) -> None:
    if found.version:
        say(f"{chosen.output}: StableHLO {found.version} of {chosen.bundle}, {found.digest}")
    else:
        say(f"{chosen.bundle}: no Version is known to be read by every consumer")
    for version, verdicts in found.verdicts.items():
        for verdict in verdicts:
            # Of a Version that was passed over, who does not read it is the reason.
            if version == found.version or verdict.holds(found.stage) is not True:
                say(f"  StableHLO {version}: {_line(verdict)}")
    for text in found.uncovered:
        say(f"  not known: {text}")


def _line(verdict: Verdict) -> str:
    return f"{verdict.consumer}: {verdict.says} ({verdict.basis}): {verdict.reason}"
