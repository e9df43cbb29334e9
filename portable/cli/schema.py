"""Print the JSON Schema of what a command prints with --format json.

There are three more schemas: `error`, a line on standard error; `inspection`, the result of
`portable.inspect(...).record()`; `predicate`, the statement of an attestation. Without a name,
list all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.cli.output import say, write_text
from portable.schemas import schema, schemas

if TYPE_CHECKING:
    import argparse

__all__ = ["EXAMPLES", "EXIT_CODES", "options", "run"]

EXAMPLES = """
portable schema
portable schema check > check.schema.json
"""
EXIT_CODES = {0: "done", 2: "no such document, or bad usage"}


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a command, or one of the names above"
    )


def run(chosen: argparse.Namespace) -> int:
    """Print one schema, or the names of all."""
    if chosen.name is None:
        for name in schemas():
            say(name)
    else:
        write_text("-", schema(chosen.name))
    return 0
