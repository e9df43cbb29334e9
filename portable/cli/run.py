"""Execute a program, in a child process.

The inputs are checked against the signature of main first. Types that numpy lacks are kept as
unsigned integers under a name that says what they are: 0.bfloat16.

  portable run model.mlir.bc --inputs x.npz --output y.npz
  portable run model.mlir.bc --random 0 --on 'jaxlib 0.4.33'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.counting import waiting
from portable.cli.execution import executor_options, given_inputs, load_program, open_chosen
from portable.cli.output import demand_apart, format_option, print_json, say, write_bytes
from portable.cli.usage import destination, natural
from portable.runtime.executors import ExecutionFailed, InputMismatch, random_inputs, signature
from portable.runtime.executors.tensors import stored_arrays

if TYPE_CHECKING:
    import argparse

    from portable.runtime.executors.tensors import Array

__all__ = ["options", "run"]

_SHOWN = 8


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="a portable artifact or StableHLO program")
    executor_options(parser)
    parser.add_argument(
        "--random", type=natural, metavar="SEED", help="make the inputs, from this seed"
    )
    parser.add_argument("--specials", action="store_true", help="with NaN, infinities and -0")
    parser.add_argument(
        "--output",
        "-o",
        type=destination,
        metavar="Y.npz",
        help="keep the outputs, named 0, 1, ...",
    )
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Execute one program."""
    demand_apart(chosen.output, chosen.file, chosen.inputs)
    artifact = load_program(chosen.file, chosen)
    wanted = signature(artifact)
    given = given_inputs(chosen, wanted)
    takes = len(wanted.arguments)
    if takes and given is None and chosen.random is None:
        raise InputMismatch(
            f"main takes {takes} inputs, and none were given",
            hint="give --inputs X.npz, or --random SEED to have some made",
        )
    with open_chosen(chosen) as executor, waiting(f"executing on {executor.name}"):
        try:
            program = executor.compile(artifact)
            if given is None and chosen.random is not None:
                given = random_inputs(program.signature, chosen.random, specials=chosen.specials)
            outputs = program.run(given or [])
        except ExecutionFailed as failure:
            _print_failure(chosen, failure)
            return 1
        name = executor.name
    if chosen.output:
        write_bytes(chosen.output, stored_arrays(outputs))
    if chosen.output == "-":
        return 0
    if chosen.format == "json":
        print_json({"executor": name, "outputs": [_record(array) for array in outputs]})
    else:
        say(f"{chosen.file}: executed on {name}")
        for number, array in enumerate(outputs):
            say(f"  output {number}: {array.dtype} {_shape(array)} {_first(array)}")
    return 0


def _print_failure(chosen: argparse.Namespace, failure: ExecutionFailed) -> None:
    if chosen.format == "json":
        print_json(failure.record())
    else:
        say(f"{chosen.file}: {failure}")


def _record(array: Array) -> dict[str, object]:
    return {"dtype": str(array.dtype), "shape": list(array.shape)}


def _shape(array: Array) -> str:
    return "x".join(map(str, array.shape)) or "scalar"


def _first(array: Array) -> str:
    shown = [str(value) for value in array.reshape(-1)[:_SHOWN]]
    return " ".join(shown + ["..."] * (array.size > _SHOWN))
