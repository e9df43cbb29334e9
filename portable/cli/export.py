"""Export a PyTorch model or a JAX function as an artifact that named consumers can read.

  portable export torch MODULE:ATTR ... -o net/        a PyTorch model
  portable export jax MODULE:ATTR ... -o f.mlir.bc     a JAX function
  portable export saved-model net/ -o served/1         a directory as a TensorFlow SavedModel

Examples:
  portable export torch models:Net --args 'f32[2,3,32,32]' --for 'jaxlib>=0.5' -o net/
  portable export torch models:Net --args 'i64[batch,9]' --target 1.0.0 --eval -o net/
  portable export jax steps:predict --args 'f32[8,4]' 'f32[4]' --target 1.9.0 -o predict.mlir.bc
  portable export jax steps:with_inputs --target 1.9.0 -o predict.mlir.bc

MODULE:ATTR is looked for where Python finds modules, then in the current directory. It names the
program itself (for PyTorch also a class or function that makes it, without arguments), and --args
describes its inputs: a type, and sizes in brackets; a name in the place of a size leaves that
dimension open. Without --args it names a pair (program, inputs), or a function that returns one.

An OUTPUT that ends in .bc or .mlirbc is the artifact alone; anything else is a directory, as
torch_xla writes it: the artifact, its description and the weights. Such a directory, torch_xla's
own too, becomes a SavedModel for TensorFlow and TensorFlow Serving by `saved-model`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.cli.output import demand_apart, format_option, print_json, say
from portable.cli.program import goal_options, pipeline_arguments, pipeline_options
from portable.cli.usage import BadUsage, destination, limit
from portable.exporters import BACKENDS
from portable.exporters.calls import FRAMEWORKS, Request, export
from portable.exporters.saved_model import save_as_saved_model
from portable.releases import resolve_target
from portable.system import children, scratch
from portable.system.files import demand_new_directory, file_error, read_file, write_file

if TYPE_CHECKING:
    import argparse

__all__ = ["options", "run"]

_ALONE = (".bc", ".mlirbc")
_LIMIT_S = 600.0
_SAVED_MODEL = "saved-model"


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    kinds = [*sorted(FRAMEWORKS), _SAVED_MODEL]
    parser.add_argument("framework", choices=kinds, help="whose program it is, or what to make")
    parser.add_argument(
        "program", metavar="MODULE:ATTR", help="the program, by its name; or the directory"
    )
    parser.add_argument(
        "--args",
        dest="inputs",
        nargs="*",
        metavar="[NAME=]TYPE[SIZES]",
        help="the inputs: 'f32[2,3]' 'mask=i1[batch]' i64",
    )
    goal_options(parser, required=False)
    parser.add_argument(
        "-o", "--output", type=destination, required=True, help="a new directory, or an artifact"
    )
    parser.add_argument("--weights", metavar="FILE.npz", help="write the weights here, too")
    parser.add_argument(
        "--eval", action="store_true", help="torch: call .eval() of the model first"
    )
    parser.add_argument(
        "--backend",
        choices=sorted(BACKENDS),
        help="torch: what lowers it (default: torchax)",
    )
    parser.add_argument(
        "--platform",
        action="append",
        help="what it is lowered for, for example cpu; for jax repeatable",
    )
    parser.add_argument(
        "--timeout",
        type=limit,
        default=_LIMIT_S,
        metavar="SECONDS",
        help="limit for the child process that runs the framework (default: %(default)g)",
    )
    pipeline_options(parser)
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Export one program."""
    if chosen.framework == _SAVED_MODEL:
        return _save_model(chosen)
    wants = tuple(chosen.consumers or [chosen.target or ""])
    if wants == ("",):
        raise BadUsage("missing --for or --target")
    # Mistakes in the consumers and the output are told before anything slow.
    resolve_target(*wants)
    output = Path(chosen.output)
    whole = not chosen.output.endswith(_ALONE)
    if whole:
        demand_new_directory(output)
    else:
        demand_apart(chosen.output)
    demand_apart(chosen.weights)
    request = Request(
        chosen.framework,
        chosen.program,
        str(Path.cwd()),
        wants,
        None if chosen.inputs is None else tuple(chosen.inputs),
        _exporter_options(chosen),
        chosen.eval,
        pipeline_arguments(chosen),  # type: ignore[arg-type]  # the names that Pipeline has
    )
    # Written beside its place by the child, which may die, and moved there when it is whole.
    with scratch.folder(str(output.absolute().parent)) as stage:
        made = str(Path(stage, "made"))
        record: dict[str, Any] = children.call(
            export,
            request,
            made,
            chosen.weights,
            timeout=chosen.timeout,
            fresh=children.Limits(chosen.timeout, file=None),
            whole=whole,
        )
        if whole:
            try:
                os.replace(made, output)  # noqa: PTH105 - a directory
            except OSError as error:
                raise file_error("write", error, chosen.output) from error
        else:
            write_file(output, read_file(made))
    if chosen.format == "json":
        print_json({"output": chosen.output} | record)
    else:
        _print(chosen.output, record)
    return 0


def _save_model(chosen: argparse.Namespace) -> int:
    output = Path(chosen.output)
    demand_new_directory(output)
    children.call(
        save_as_saved_model,
        chosen.program,
        str(output),
        timeout=chosen.timeout,
        fresh=children.Limits(chosen.timeout, file=None),
    )
    if chosen.format == "json":
        print_json({"output": chosen.output})
    else:
        say(f"{chosen.output}: a SavedModel of {chosen.program}")
    return 0


def _exporter_options(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return what was chosen of the options that one of the exporters takes."""
    if chosen.framework == "jax":
        if chosen.eval or chosen.backend:
            raise BadUsage("--eval and --backend are for torch", hint="leave them out for jax")
        return {"platforms": chosen.platform}
    found = {"backend": chosen.backend, "platform": (chosen.platform or [None])[-1]}
    return {name: value for name, value in found.items() if value}


def _print(output: str, record: dict[str, Any]) -> None:
    weights = f", {record['weights']} weights" if record["weights"] else ""
    say(f"{output}: StableHLO {record['version']}, {record['size']:,} bytes{weights}")
    say(f"  {record['target']['reason']} ({record['target']['confidence']})")
    for title, values in (("takes", record["inputs"]), ("returns", record["results"])):
        for value in values:
            sizes = ",".join(map(str, value["shape"]))
            say(f"  {title:<7} {value['name']}: {value['dtype']}[{sizes}]")
