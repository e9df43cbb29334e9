"""Compare what an exported PyTorch model computes with what PyTorch computes.

The same random inputs are run by the exported artifact on PJRT (and on torch_xla where
installed), by the model compiled with AOTInductor, which uses neither XLA nor StableHLO, and by
eager PyTorch. Dynamic dimensions are run at two sizes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.cli.options import (
    PIPELINE,
    add,
    given_tolerance,
    goal_options,
    pipeline_arguments,
    tolerance_options,
    wanted,
)
from portable.cli.output import print_json, print_table, say
from portable.cli.progress import waiting
from portable.exporters.calls import Request, agree
from portable.exporters.oracle import NEAR
from portable.exporters.torch import BACKENDS, DEFAULT
from portable.releases import resolve_target
from portable.system import children

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable verify-export models:Net --args 'f32[2,3,32,32]' --target 1.0.0 --eval
portable verify-export models:Net --args 'f32[batch,9]' --target 0.9.0 --allow exact
"""
EXIT_CODES = {0: "all agree", 1: "results differ", 2: "could not compare them, or bad usage"}

# Two compilers, one of which calls a C++ compiler.
_LIMIT_S = 1800.0


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("program", metavar="MODULE:ATTR", help="the model, as for export")
    goal_options(parser)
    add(parser, "--args", "--eval")
    add(parser, "--backend", choices=sorted(BACKENDS), default=DEFAULT)
    add(parser, "--seeds", default=3)
    tolerance_options(parser, ulps=NEAR.ulps, rtol=NEAR.relative, atol=NEAR.absolute)
    add(parser, "--timeout", default=_LIMIT_S, default_help="%(default)g")
    add(parser, *PIPELINE)
    add(parser, "--format")


def run(chosen: argparse.Namespace) -> int:
    """Verify one export."""
    wants = wanted(chosen)
    resolve_target(*wants)
    request = Request(
        "torch",
        chosen.program,
        str(Path.cwd()),
        wants,
        None if chosen.args is None else tuple(chosen.args),
        {"backend": chosen.backend},
        chosen.eval,
        pipeline_arguments(chosen),
    )
    with waiting(f"exporting and executing {chosen.program}, limit {chosen.timeout:.0f} s"):
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


def _agreement(output: dict[str, Any]) -> str:
    """Return whether an output agrees; if not, its first element that differs, and its op."""
    if output["same"]:
        return f"agrees ({output['ties']} ties)" if output["ties"] else "agrees"
    first = output["first"][0] if output["first"] else None
    where = f", first [{', '.join(map(str, first['index']))}]" if first else ""
    return (output["reason"] or f"{output['different']} differ{where}") + f", of {output['op']}"


def _print(name: str, record: dict[str, Any]) -> None:
    rows = [
        (
            opinion["runner"],
            opinion["inputs"],
            output["name"],
            _agreement(output),
            "" if output["worst_ulps"] is None else str(output["worst_ulps"]),
        )
        for opinion in record["opinions"]
        for output in opinion["outputs"]
    ]
    print_table(("runner", "inputs", "output", "compared with eager", "ulps"), rows)
    verdict = "all agree" if record["same"] else "results differ"
    say(f"{name} at {record['version']}: {verdict}")
