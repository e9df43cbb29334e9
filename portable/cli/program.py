"""How the commands that need a compiler call it: in a child process, with a time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from portable.cli.parts import only_part
from portable.cli.progress import waiting
from portable.pinning.locations import named, naming
from portable.system import children

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from portable.cli.parts import Part

__all__ = ["in_child"]


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
    with naming(part.label), waiting(f"{part.label}: compiler running, limit {seconds:.0f} s"):
        found = children.call(function, part.data, *arguments, timeout=seconds, **keywords)
        return named(found, part.label)
