"""Export a PyTorch model or a JAX function as an artifact that named consumers can read.

MODULE:ATTR is imported from Python's path, then from the current folder. It is the program itself
(for PyTorch also a class or function that returns it), and --args describes its inputs: a type,
with sizes in brackets; a name instead of a size makes the dimension dynamic. Without --args it is
a pair (program, inputs), or a function that returns one.

An --output that ends in .bc or .mlirbc is the artifact alone; any other is a directory in the
layout of torch_xla: the artifact, its description and the weights. `saved-model` converts such a
directory, also one of torch_xla's own, to a SavedModel for TensorFlow and TensorFlow Serving.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.cli.obstacles import obstacles, show_obstacles
from portable.cli.options import PIPELINE, add, goal_options, pipeline_arguments, wanted
from portable.cli.output import demand_apart, print_json, say
from portable.cli.progress import waiting
from portable.cli.usage import BadUsage, demand_name
from portable.exporters import BACKENDS
from portable.exporters.calls import FRAMEWORKS, Request, export
from portable.exporters.saved_model import save_as_saved_model
from portable.exporters.torch import DEFAULT
from portable.releases import resolve_target
from portable.system import children, scratch
from portable.system.files import demand_new_directory, file_error, read_file, write_file

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable export torch models:Net --args 'f32[2,3,32,32]' --for 'jaxlib>=0.5' -o net/
portable export torch models:Net --args 'i64[batch,9]' --target 1.0.0 --eval -o net/
portable export jax steps:predict --args 'f32[8,4]' 'f32[4]' --target 1.9.0 -o predict.mlir.bc
portable export jax steps:with_inputs --target 1.9.0 -o predict.mlir.bc
portable export saved-model net/ -o served/1
"""
EXIT_CODES = {0: "written", 2: "could not export it, or bad usage"}

_ALONE = (".bc", ".mlirbc")
_LIMIT_S = 600.0
_SAVED_MODEL = "saved-model"


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    kinds = [*sorted(FRAMEWORKS), _SAVED_MODEL]
    parser.add_argument(
        "framework", choices=kinds, help="torch, jax, or saved-model to convert a directory"
    )
    parser.add_argument(
        "program", metavar="MODULE:ATTR", help="the model or function; for saved-model a directory"
    )
    goal_options(parser, required=False)
    add(parser, "--output", required=True)
    parser.add_argument("--weights", metavar="FILE.npz", help="also write the weights here")
    add(parser, "--args", "--eval")
    add(parser, "--backend", choices=sorted(BACKENDS), default_help=DEFAULT)
    parser.add_argument(
        "--lowering-platform",
        dest="platforms",
        action="append",
        metavar="PLATFORM",
        help="the platform to lower for, e.g. cpu (jax: repeatable)",
    )
    add(parser, "--timeout", default=_LIMIT_S, default_help="%(default)g")
    add(parser, *PIPELINE)
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Export one program."""
    demand_name(chosen.output)
    if chosen.framework == _SAVED_MODEL:
        return _save_model(chosen)
    wants = wanted(chosen)
    if not wants:
        raise BadUsage("missing --for or --target")
    # Mistakes in the consumers and the output are reported before anything slow.
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
        None if chosen.args is None else tuple(chosen.args),
        _exporter_options(chosen),
        chosen.eval,
        pipeline_arguments(chosen),
    )
    # The child may crash: it writes to a temporary folder, and what is complete is moved.
    folder = scratch.folder(str(output.absolute().parent))
    with folder as stage, waiting(f"exporting {chosen.program}, limit {chosen.timeout:.0f} s"):
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
                Path(made).replace(output)
            except OSError as error:
                raise file_error("write", error, chosen.output) from error
        else:
            write_file(output, read_file(made))
    known = obstacles(chosen, chosen.output)
    if chosen.format == "json":
        found = {"obstacles": [one.record() for one in known]}
        print_json({"output": chosen.output} | record | found)
    else:
        _print(chosen.output, record)
        show_obstacles(known, say)
    return 0


def _save_model(chosen: argparse.Namespace) -> int:
    output = Path(chosen.output)
    demand_new_directory(output)
    with waiting(f"converting {chosen.program}, limit {chosen.timeout:.0f} s"):
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
    """Return the options that only one of the exporters takes."""
    if chosen.framework == "jax":
        if chosen.eval or chosen.backend:
            raise BadUsage("--eval and --backend are for torch, not for jax")
        return {"platforms": chosen.platforms}
    found = {"backend": chosen.backend, "platform": (chosen.platforms or [None])[-1]}
    return {name: value for name, value in found.items() if value}


def _print(output: str, record: dict[str, Any]) -> None:
    weights = f", {record['weights']} weights" if record["weights"] else ""
    say(f"{output}: StableHLO {record['version']}, {record['size']:,} bytes{weights}")
    say(f"  {record['target']['reason']} ({record['target']['confidence']})")
    for title, values in (("takes", record["inputs"]), ("returns", record["results"])):
        for value in values:
            sizes = ",".join(map(str, value["shape"]))
            say(f"  {title:<7} {value['name']}: {value['dtype']}[{sizes}]")
