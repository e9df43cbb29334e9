"""Compare what artifacts compute with what a program, or another artifact, computes.

All are executed on the same inputs, random ones unless --inputs is given. Outputs must be equal
bit for bit unless a tolerance is given. Where they differ, the first op whose value differs is
named.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

from portable.cli.execution import execution_options, given_inputs, load_program, open_chosen
from portable.cli.files import Report, report_each
from portable.cli.options import add, files_argument, given_tolerance, tolerance_options
from portable.cli.output import show_verification
from portable.cli.parts import label_of
from portable.cli.progress import waiting
from portable.pinning.locations import named
from portable.runtime.executors import signature
from portable.runtime.verification import SEEDS, verify

if TYPE_CHECKING:
    import argparse

    from portable.runtime.executors import Executor

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable verify pinned.mlir.bc --against model.mlir
portable verify *.mlir.bc --against model.mlir --on 'jaxlib 0.4.33' --rtol 1e-5
"""
EXIT_CODES = {
    0: "every file computes the same",
    1: "a file computes something else, or is refused by the executor",
    2: "could not check, or bad usage",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    files_argument(parser)
    parser.add_argument(
        "--against",
        metavar="PROGRAM",
        required=True,
        help="the program, or its artifact, whose results each FILE has to compute",
    )
    execution_options(parser)
    add(parser, "--seeds", default=len(SEEDS))
    add(parser, "--specials")
    tolerance_options(parser)
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Compare what each file computes with what the program computes."""
    expected = load_program(chosen.against, chosen)
    inputs = given_inputs(chosen, signature(expected))
    with contextlib.ExitStack() as stack:

        @functools.cache
        def executor() -> Executor:
            # Opened for the first file that can be read: it may have to be installed.
            return stack.enter_context(open_chosen(chosen))

        def compare(path: str) -> Report:
            actual = load_program(path, chosen)
            with waiting(f"executing {label_of(path)} on {executor().name}"):
                verification = verify(
                    expected,
                    actual,
                    executor=executor(),
                    inputs=inputs,
                    seeds=range(chosen.seeds),
                    specials=chosen.specials,
                    tolerance=given_tolerance(chosen),
                )
            shown = named(verification, label_of(path))
            return Report(
                0 if shown.same else 1,
                shown.record(),
                lambda: show_verification(shown, chosen.against, path),
            )

        return report_each(chosen, compare, _SUMMARY, expected=chosen.against)


_SUMMARY = {0: "the same", 1: "different", 2: "not verified"}
