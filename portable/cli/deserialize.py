"""Print the StableHLO program inside an artifact.

What `stablehlo-translate --deserialize` does; an empty or foreign file is an error here.

  portable deserialize model.mlir.bc -o model.mlir
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.output import demand_apart, write_bytes, write_text
from portable.cli.program import in_child, program_argument
from portable.cli.usage import destination
from portable.escaping import program_text
from portable.pinning import program

if TYPE_CHECKING:
    import argparse

__all__ = ["options", "run"]


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    program_argument(parser, containers=False)
    parser.add_argument(
        "-o", "--output", type=destination, default="-", metavar="FILE", help="default: stdout"
    )
    parser.add_argument("--locations", action="store_true", help="print source locations too")


def run(chosen: argparse.Namespace) -> int:
    """Print one program."""
    demand_apart(chosen.output, chosen.program)
    text = in_child(program.text, chosen, locations=chosen.locations)
    if chosen.output == "-":
        write_text("-", program_text(text))
    else:
        write_bytes(chosen.output, text.encode())
    return 0
