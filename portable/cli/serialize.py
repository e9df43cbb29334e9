"""Write a portable artifact for one target.

What `stablehlo-translate --serialize` does, without its traps: the header always says X.Y.0, and
an artifact that the target could not read is not written.

  portable serialize model.mlir --target 1.9.0 > model.mlir.bc
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.output import demand_apart, write_bytes
from portable.cli.program import in_child, pipeline_arguments, pipeline_options, program_argument
from portable.cli.usage import destination
from portable.pinning import pipeline as pin

if TYPE_CHECKING:
    import argparse

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser, containers=False)
    parser.add_argument(
        "--target",
        required=True,
        metavar="T",
        help="a Version such as 1.9.0, current, minimum, WEEK_4, WEEK_12 or MAX",
    )
    parser.add_argument(
        "-o", "--output", type=destination, default="-", metavar="FILE", help="default: stdout"
    )
    pipeline_options(parser)


def run(chosen: argparse.Namespace) -> int:
    """Serialize one program."""
    demand_apart(chosen.output, chosen.program)
    artifact = in_child(pin.serialize, chosen, chosen.target, **pipeline_arguments(chosen))
    write_bytes(chosen.output, artifact.data)
    return 0
