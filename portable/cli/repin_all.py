"""Pin again every artifact of a fleet that named consumers do not read.

FLEET is what `portable audit` wrote. Copies are written to the folder or bucket --output, under the
bucket and key, or the path, of the original, or beside it with --suffix. The original is never
overwritten. Artifacts that the consumers already read are not copied. A second run makes what is
missing; existing copies are judged and not made again.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from portable.cli.options import (
    PIPELINE,
    add,
    given_tolerance,
    pipeline_arguments,
    tolerance_options,
)
from portable.cli.output import print_json, say
from portable.cli.progress import counting
from portable.cli.usage import demand_name
from portable.fleet import CopyOutcome, FleetCopy, repin_all

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable repin-all fleet.parquet --for 'jaxlib==0.5.3' -o pinned/
portable repin-all fleet.parquet --for 'jaxlib==0.5.3' -o s3://serving-pinned/0.5
portable repin-all fleet.parquet --for 'jaxlib==0.5.3' --suffix for-0.5
portable repin-all fleet.parquet --for 'jaxlib>=0.5' -o pinned/ --allow exact --verify
"""
EXIT_CODES = {
    0: "the consumers read every artifact, or a copy of it",
    1: "some artifacts cannot be written for the consumers",
    2: "bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("fleet", metavar="FLEET", help="what portable audit wrote")
    add(parser, "--for", required=True)
    where = parser.add_mutually_exclusive_group(required=True)
    add(where, "--output")
    where.add_argument(
        "--suffix",
        default="",
        metavar="NAME",
        help="write beside the originals: of a.mlir.bc it is a.NAME.mlir.bc",
    )
    add(parser, "--verify")
    tolerance_options(parser.add_argument_group("tolerance of --verify"))
    add(parser, *PIPELINE)
    add(parser, "--all", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Pin again what has to be."""
    demand_name(chosen.output)
    done: list[FleetCopy] = []
    with counting("objects") as tell:
        for one in repin_all(
            chosen.fleet,
            *chosen.consumers,
            to=chosen.output or "",
            suffix=chosen.suffix,
            verified=given_tolerance(chosen) if chosen.verify else None,
            **pipeline_arguments(chosen),
        ):
            done.append(one)
            tell(len(done), None)
    counts = Counter(one.outcome for one in done)
    if chosen.format == "json":
        print_json(
            {
                "counts": {str(each): counts[each] for each in CopyOutcome},
                "objects": [one.record() for one in done],
            }
        )
    else:
        for one in done:
            if one.why:
                say(f"{one.place}: {one.outcome}: {one.why}")
        say(
            "; ".join(f"{counts[each]:,} {each}" for each in CopyOutcome if counts[each])
            or "nothing"
        )
    return 1 if counts[CopyOutcome.FAILED] else 0
