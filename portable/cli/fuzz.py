"""Generate StableHLO programs that are always valid, with inputs for them.

generate writes COUNT programs as MLIR text, each with a function main, and their inputs as archives
of arrays named 0, 1, ... Together they reach every op, attribute form and element type. The same
seed gives the same programs; program N of a seed does not depend on how many there are, and another
--size or --target changes it only in part. No compiler is needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from portable.cli.options import add
from portable.cli.output import print_json, say
from portable.cli.progress import counting
from portable.cli.usage import BadUsage, count, natural
from portable.fuzz import generate, inputs_for
from portable.fuzz.generation import OPS
from portable.releases import resolve_target
from portable.runtime.executors.tensors import stored_arrays
from portable.system.files import new_directory, write_file

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable fuzz generate --seed 7 --count 100 -o programs
portable fuzz generate --seed 7 --count 100 --target 1.0.0 --only reduce add -o programs
"""
EXIT_CODES = {0: "done", 2: "could not generate, or bad usage"}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("action", choices=["generate"], help="what to do")
    parser.add_argument(
        "--seed",
        type=natural,
        default=0,
        metavar="N",
        help="what to make the programs from (default: %(default)s)",
    )
    parser.add_argument(
        "--count",
        type=count,
        default=10,
        metavar="K",
        help="how many programs to make (default: %(default)s)",
    )
    parser.add_argument(
        "--size",
        type=count,
        default=OPS,
        metavar="N",
        help="how many ops each has, without constants (default: %(default)s)",
    )
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="OP", help="use these ops, such as reduce, alone"
    )
    add(parser, "--target", "--output", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Write the programs."""
    if chosen.output in {None, "-"}:
        raise BadUsage("missing --output", hint="name a new directory: -o programs")
    version = resolve_target(chosen.target).version if chosen.target else None
    written = []
    with new_directory(chosen.output) as folder, counting("programs") as tell:
        for number in range(chosen.count):
            seed = f"{chosen.seed}/{number}"
            made = generate(seed, ops=chosen.size, version=version, only=chosen.only)
            name = f"{chosen.seed}-{number:06}"
            write_file(Path(folder, f"{name}.mlir"), made.text.encode())
            write_file(Path(folder, f"{name}.npz"), stored_arrays(inputs_for(made.arguments, seed)))
            written.append({"name": name, "since": str(made.since), "forms": made.forms})
            tell(number + 1, chosen.count)
    if chosen.format == "json":
        print_json({"directory": chosen.output, "programs": written})
    else:
        say(f"{chosen.output}: {chosen.count} programs, with inputs")
    return 0
