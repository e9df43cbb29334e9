"""Execute a program in a child process.

The inputs are checked against the signature of main first. A directory of torch_xla includes the
weights: only the other arguments of main are inputs. The results are written as an archive of
arrays named 0, 1, ...; types that numpy lacks are stored as unsigned integers, with the type in the
name: 0.bfloat16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.execution import execution_options, given_inputs, load_program, open_chosen
from portable.cli.options import add
from portable.cli.output import demand_apart, print_json, say, write_bytes
from portable.cli.progress import waiting
from portable.containers import Kind, kind_of_directory
from portable.runtime.executors import ExecutionFailed, InputMismatch, random_inputs, signature
from portable.runtime.executors.tensors import stored_arrays

if TYPE_CHECKING:
    import argparse

    from portable.exporters import ExportedArtifact
    from portable.runtime.executors.tensors import Array

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable run model.mlir.bc --inputs x.npz --output y.npz
portable run model.mlir.bc --random 0 --on 'jaxlib 0.4.33'
portable run picked-model --inputs x.npz
"""
EXIT_CODES = {
    0: "executed",
    1: "the program failed to compile or to execute",
    2: "could not execute it, or bad usage",
}

_SHOWN = 8


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        help="a StableHLO program or portable artifact, or a directory of torch_xla",
    )
    execution_options(parser)
    add(parser, "--random", "--specials", "--output", "--format")


def run(chosen: argparse.Namespace) -> int:
    """Execute one program."""
    demand_apart(chosen.output, chosen.program, chosen.inputs)
    model = _model(chosen.program)
    artifact = model.artifact if model else load_program(chosen.program, chosen)
    wanted = model.takes if model else signature(artifact)
    given = given_inputs(chosen, wanted)
    takes = len(wanted.arguments)
    if takes and given is None and chosen.random is None:
        raise InputMismatch(
            f"missing inputs: main takes {takes}",
            hint="give --inputs FILE.npz or --random SEED",
        )
    with open_chosen(chosen) as executor, waiting(f"executing on {executor.name}"):
        try:
            program = executor.compile(artifact)
            if given is None and chosen.random is not None:
                given = random_inputs(wanted, chosen.random, specials=chosen.specials)
            passed = model.call_arguments(given or []) if model else given
            outputs = program.run(passed or [])
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
        say(f"{chosen.program}: executed on {name}")
        for number, array in enumerate(outputs):
            say(f"  output {number}: {array.dtype} {_shape(array)} {_first(array)}")
    return 0


def _model(path: str) -> ExportedArtifact | None:
    """Return the program of a directory with its weights; None for every other path."""
    if path == "-" or kind_of_directory(path) is not Kind.TORCH_XLA:
        return None
    from portable.exporters.exported import ExportedArtifact

    return ExportedArtifact.load(path)


def _print_failure(chosen: argparse.Namespace, failure: ExecutionFailed) -> None:
    if chosen.format == "json":
        print_json(failure.record())
    else:
        say(f"{chosen.program}: {failure}")


def _record(array: Array) -> dict[str, object]:
    return {"dtype": str(array.dtype), "shape": list(array.shape)}


def _shape(array: Array) -> str:
    return "x".join(map(str, array.shape)) or "scalar"


def _first(array: Array) -> str:
    shown = [str(value) for value in array.reshape(-1)[:_SHOWN]]
    return " ".join(shown + ["..."] * (array.size > _SHOWN))
