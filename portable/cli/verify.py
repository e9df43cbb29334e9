"""Compare what artifacts compute with what a program, or another artifact, computes.

All are executed on the same inputs, random ones unless --inputs is given. Outputs must be equal
bit for bit unless a tolerance is given. Where they differ, the first op whose value differs is
named. With --reference or --reference-on the program is executed elsewhere: by the interpreter, or
on another Release.
"""

from __future__ import annotations

import argparse
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
from portable.runtime.executors import EXECUTORS, signature
from portable.runtime.verification import SEEDS, verify

if TYPE_CHECKING:
    from portable.runtime.executors import Executor

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable verify pinned.mlir.bc --against model.mlir
portable verify *.mlir.bc --against model.mlir --on 'jaxlib 0.4.33' --rtol 1e-5
portable verify m.mlir.bc --against m.mlir.bc --reference interpreter --rtol 1e-5
portable verify m.mlir.bc --against m.mlir.bc --on 'jaxlib 0.12.0.1' --reference-on 'jaxlib 0.9.1'
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
    parser.add_argument(
        "--reference",
        choices=sorted(EXECUTORS),
        help="what executes PROGRAM, on the CPU (default: what executes each FILE)",
    )
    parser.add_argument(
        "--reference-on",
        metavar="RELEASE",
        help="execute PROGRAM on this Release (default: with --reference what is installed, else "
        "as each FILE)",
    )
    add(parser, "--seeds", default=len(SEEDS))
    add(parser, "--specials")
    tolerance_options(parser)
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Compare what each file computes with what the program computes."""
    elsewhere = _elsewhere(chosen)
    expected = load_program(chosen.against, elsewhere or chosen)
    inputs = given_inputs(chosen, signature(expected))
    with contextlib.ExitStack() as stack:
        # Opened for the first file that can be read: they may have to be installed.
        @functools.cache
        def executor() -> Executor:
            return stack.enter_context(open_chosen(chosen))

        @functools.cache
        def reference() -> Executor | None:
            return stack.enter_context(open_chosen(elsewhere)) if elsewhere else None

        def compare(path: str) -> Report:
            actual = load_program(path, chosen)
            with waiting(f"executing {label_of(path)} on {executor().name}"):
                verification = verify(
                    expected,
                    actual,
                    executor=executor(),
                    reference=reference(),
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


def _elsewhere(chosen: argparse.Namespace) -> argparse.Namespace | None:
    """Return where the program is executed, if not where the files are."""
    if not chosen.reference and not chosen.reference_on:
        return None
    name = chosen.reference or chosen.executor
    there = {"executor": name, "on": chosen.reference_on, "platform": "cpu"}
    return argparse.Namespace(**{**vars(chosen), **there})


_SUMMARY = {0: "the same", 1: "different", 2: "not verified"}
