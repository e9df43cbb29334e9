"""Say whether an exported PyTorch model computes what PyTorch does.

The model is exported, and compiled by AOTInductor, which knows neither XLA nor StableHLO. That, the
artifact on PJRT (and on torch_xla where it is installed) and eager PyTorch run the same random
inputs; dynamic dimensions run at two sizes. Exit code 0 when all agree, 1 when one does not.

  portable verify-export models:Net --args 'f32[2,3,32,32]' --target 1.0.0 --eval
  portable verify-export models:Net --args 'f32[batch,9]' --target 0.9.0 --allow exact
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.cli.output import format_option, print_json, print_table, say
from portable.cli.program import pipeline_arguments, pipeline_options
from portable.cli.usage import count, given_tolerance, limit, tolerance_options
from portable.exporters.calls import Request, agree
from portable.exporters.oracle import NEAR
from portable.exporters.torch import BACKENDS, DEFAULT
from portable.releases import resolve_target
from portable.system import children

if TYPE_CHECKING:
    import argparse

__all__ = ["options", "run"]

# Two compilers, one of which calls a C++ compiler.
_LIMIT_S = 1800.0


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("program", metavar="MODULE:ATTR", help="the model, as for export")
    parser.add_argument(
        "--args",
        dest="inputs",
        nargs="*",
        metavar="TYPE[SIZES]",
        help="the inputs, as for export",
    )
    parser.add_argument("--target", required=True, metavar="T", help="as for export")
    parser.add_argument("--eval", action="store_true", help="call .eval() of the model first")
    parser.add_argument(
        "--backend",
        choices=sorted(BACKENDS),
        default=DEFAULT,
        help="what lowers it (default: %(default)s)",
    )
    parser.add_argument(
        "--seeds", type=count, default=3, metavar="N", help="sets of inputs (default: %(default)s)"
    )
    tolerance_options(parser, ulps=NEAR.ulps, relative=NEAR.relative, absolute=NEAR.absolute)
    parser.add_argument(
        "--timeout",
        type=limit,
        default=_LIMIT_S,
        metavar="SECONDS",
        help="limit for the child process that runs the compilers (default: %(default)g)",
    )
    pipeline_options(parser)
    format_option(parser)


def run(chosen: argparse.Namespace) -> int:
    """Verify one export."""
    resolve_target(chosen.target)
    request = Request(
        "torch",
        chosen.program,
        str(Path.cwd()),
        (chosen.target,),
        None if chosen.inputs is None else tuple(chosen.inputs),
        {"backend": chosen.backend},
        chosen.eval,
        pipeline_arguments(chosen),  # type: ignore[arg-type]  # the names that Pipeline has
    )
    record: dict[str, Any] = children.call(
        agree,
        request,
        chosen.seeds,
        given_tolerance(chosen),
        timeout=chosen.timeout,
        fresh=children.Limits(chosen.timeout, file=None),
    )
    if chosen.format == "json":
        print_json(record)
    else:
        _print(chosen.program, record)
    return 0 if record["same"] else 1


def _print(name: str, record: dict[str, Any]) -> None:
    rows = [
        (
            opinion["runner"],
            opinion["inputs"],
            str(output["output"]),
            "agrees" if output["same"] else output["reason"] or f"{output['different']} differ",
            "-" if output["worst_ulps"] is None else str(output["worst_ulps"]),
        )
        for opinion in record["opinions"]
        for output in opinion["outputs"]
    ]
    print_table(("runner", "inputs", "output", "with eager PyTorch", "ulps"), rows)
    verdict = "all agree" if record["same"] else "they do not agree"
    say(f"{name} at {record['version']}: {verdict}")
