"""Print the StableHLO program inside an artifact, as `stablehlo-translate --deserialize` does.

Unlike that tool, it refuses an empty or foreign file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.options import add, program_argument
from portable.cli.output import demand_apart, write_bytes, write_text
from portable.cli.program import in_child
from portable.escaping import program_text
from portable.pinning import program

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable deserialize model.mlir.bc -o model.mlir
"""
EXIT_CODES = {0: "printed", 2: "could not read it, or bad usage"}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser)
    add(parser, "--output", default="-")
    parser.add_argument(
        "--print-debuginfo", action="store_true", help="print source locations too, as MLIR does"
    )


def run(chosen: argparse.Namespace) -> int:
    """Print one program."""
    demand_apart(chosen.output, chosen.program)
    text = in_child(program.text, chosen, locations=chosen.print_debuginfo)
    if chosen.output == "-":
        write_text("-", program_text(text))
    else:
        write_bytes(chosen.output, text.encode())
    return 0
