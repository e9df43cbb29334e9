"""Say whether two artifacts, or an artifact and its program, compute the same.

Both are executed on the same inputs, random ones unless you give some, and their outputs must have
equal bits unless you state a tolerance. When they differ, the first op whose value does is named.

  portable verify before.mlir.bc after.mlir.bc
  portable verify pinned.mlir.bc --against model.mlir
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.counting import waiting
from portable.cli.execution import executor_options, given_inputs, load_program, open_chosen
from portable.cli.output import format_option, print_verification
from portable.cli.parts import label_of
from portable.cli.usage import count, given_tolerance, tolerance_options
from portable.errors import PortableError
from portable.pinning.locations import named
from portable.runtime.executors import signature
from portable.runtime.verification import SEEDS, verify

if TYPE_CHECKING:
    import argparse

__all__ = ["NothingToVerify", "options", "run"]


class NothingToVerify(PortableError):
    """One artifact alone has nothing to be compared with."""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="a portable artifact")
    parser.add_argument("other", metavar="OTHER", nargs="?", help="what it became")
    parser.add_argument(
        "--against", metavar="PROGRAM", help="what FILE should compute, instead of OTHER"
    )
    executor_options(parser)
    parser.add_argument(
        "--seeds",
        type=count,
        default=len(SEEDS),
        metavar="N",
        help="how many sets of random inputs (default: %(default)s)",
    )
    parser.add_argument("--specials", action="store_true", help="with NaN, infinities and -0")
    tolerance_options(parser)
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Compare what two artifacts compute."""
    if (chosen.other is None) == (chosen.against is None):
        raise NothingToVerify("name two artifacts, or one and --against PROGRAM")
    before, after = (chosen.file, chosen.other) if chosen.other else (chosen.against, chosen.file)
    expected, actual = load_program(before, chosen), load_program(after, chosen)
    inputs = given_inputs(chosen, signature(expected))
    with open_chosen(chosen) as executor, waiting(f"executing both on {executor.name}"):
        verification = verify(
            expected,
            actual,
            executor=executor,
            inputs=inputs,
            seeds=range(chosen.seeds),
            specials=chosen.specials,
            tolerance=given_tolerance(chosen),
        )
    print_verification(named(verification, label_of(after)), before, after, chosen.format)
    return 0 if verification.same else 1
