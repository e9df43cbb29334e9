"""Write a portable artifact of one program, as `stablehlo-translate --serialize` does.

The header always says X.Y.0, and nothing is written that the target cannot read. `portable pin`
does the same, checks the result, and reports on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.options import (
    PIPELINE,
    add,
    goal_options,
    pipeline_arguments,
    program_argument,
    wanted,
)
from portable.cli.output import demand_apart, write_bytes
from portable.cli.program import in_child
from portable.pinning import pipeline as pin

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable serialize model.mlir --target 1.9.0 > model.mlir.bc
"""
EXIT_CODES = {0: "written", 2: "could not write it, or bad usage"}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser)
    goal_options(parser)
    add(parser, "--output", default="-")
    add(parser, *PIPELINE)


def run(chosen: argparse.Namespace) -> int:
    """Serialize one program."""
    demand_apart(chosen.output, chosen.program)
    artifact = in_child(pin.serialize, chosen, wanted(chosen), **pipeline_arguments(chosen))
    write_bytes(chosen.output, artifact.data)
    return 0
