"""What the commands that write artifacts share: the program, the policy, the child process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.cli.counting import waiting
from portable.cli.parts import only_part
from portable.cli.usage import limit
from portable.pinning.locations import named, naming
from portable.system import children

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from portable.cli.parts import Part

__all__ = [
    "dialects_option",
    "goal_options",
    "in_child",
    "pipeline_arguments",
    "pipeline_options",
    "program_argument",
]


def program_argument(parser: argparse.ArgumentParser, *, containers: bool = True) -> None:
    """Add the positional PROGRAM and the time limit of the child process."""
    held = (
        ", or a container with programs inside (Exported, SavedModel, torch_xla directory)"
        if containers
        else ""
    )
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        help="StableHLO as MLIR text, MLIR bytecode or a portable artifact"
        f"{held}; - reads standard input",
    )
    parser.add_argument(
        "--timeout",
        type=limit,
        metavar="SECONDS",
        help="limit for the child process that runs the compiler "
        "(default: 60, and 1 more for each MiB of the program)",
    )


def pipeline_options(parser: argparse.ArgumentParser) -> None:
    """Add what `portable.serialize` can be told."""
    parser.add_argument(
        "--locations",
        choices=("downgrade", "keep", "strip"),
        default="downgrade",
        help="source locations: turn ranges into points where the target needs it (default), "
        "keep them as they are, or remove them all",
    )
    parser.add_argument(
        "--no-expand",
        dest="expand",
        action="store_false",
        help="do not rewrite newer ops into older ones",
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="REWRITE",
        help="let the program be rewritten where the target needs it, by the name that explain "
        "gives, or exact for all that give equal bits (repeatable)",
    )
    dialects_option(parser)


def goal_options(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add `--target` and `--for`, of which one says who has to read the artifact."""
    goal = parser.add_mutually_exclusive_group(required=required)
    goal.add_argument(
        "--target",
        metavar="T",
        help="a Version such as 1.9.0, current, minimum, WEEK_4, WEEK_12 or MAX",
    )
    goal.add_argument(
        "--for",
        dest="consumers",
        nargs="+",
        metavar="SPEC",
        help="consumers, as requirement specifiers: 'jaxlib>=0.5,<0.11' 'tensorflow~=2.18'",
    )


def dialects_option(parser: argparse.ArgumentParser) -> None:
    """Add `--allow-dialect`."""
    parser.add_argument(
        "--allow-dialect",
        dest="allow_dialects",
        action="append",
        default=[],
        metavar="DIALECT",
        help="let ops of a dialect outside StableHLO through, for example sdy (repeatable)",
    )


def pipeline_arguments(chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments for `portable.serialize` that were chosen."""
    return {
        name: getattr(chosen, name) for name in ("locations", "expand", "allow", "allow_dialects")
    }


def in_child(
    function: Callable[..., Any],
    chosen: argparse.Namespace,
    *arguments: object,
    part: Part | None = None,
    **keywords: Any,
) -> Any:
    """Call `function(program, *arguments, **keywords)` in a child process.

    The program comes from the user: parsing it is native code, and a crash of that is the child's.
    It is the file that was named, or one part of it, and locations in it have that name.
    """
    if part is None:
        part = only_part(chosen.program)
    seconds = chosen.timeout or children.patience(len(part.data))
    with naming(part.label), waiting(f"at the compiler, for {seconds:.0f} s at most"):
        found = children.call(function, part.data, *arguments, timeout=seconds, **keywords)
        return named(found, part.label)
