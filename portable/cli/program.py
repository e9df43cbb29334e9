"""What the commands that write artifacts share: the program, the policy, the child process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable import isolation
from portable.cli.output import input_bytes
from portable.cli.parts import Part, label_of
from portable.errors import PortableError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = [
    "dialects_option",
    "in_child",
    "pipeline_arguments",
    "pipeline_options",
    "program_argument",
]

_MINUTES = 10.0


def program_argument(parser: argparse.ArgumentParser) -> None:
    """Add the positional PROGRAM and the time limit of the child process."""
    parser.add_argument(
        "program",
        metavar="PROGRAM",
        help="StableHLO as MLIR text, MLIR bytecode or a portable artifact, or a container with "
        "programs inside (Exported, SavedModel, torch_xla directory); - reads standard input",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=_MINUTES * 60,
        metavar="SECONDS",
        help="limit for the child process that runs the compiler (default: %(default)g)",
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
    **keywords: object,
) -> Any:
    """Call `function(program, *arguments, **keywords)` in a child process.

    The program comes from the user: parsing it is native code, and a crash of that is the child's.
    It is the file that was named, or one part of it.
    """
    if part is None:
        part = Part(label_of(chosen.program), "", input_bytes(chosen.program))
    try:
        return isolation.call(
            function, bytes(part.data), *arguments, timeout=chosen.timeout, **keywords
        )
    except PortableError as error:
        # MLIR names a program that it was handed from memory "-".
        inside = (error.where or "").removeprefix('"-"')
        error.where = part.label + (
            inside if inside.startswith(":") else f": {inside}" if inside else ""
        )
        raise
