"""Text, tables and JSON on standard output; errors, one line each, on standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from portable.system.files import FileError, read_file, write_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from portable.errors import PortableError
    from portable.verification import Verification

__all__ = [
    "complain",
    "format_option",
    "input_bytes",
    "print_json",
    "print_table",
    "print_verification",
    "strictness_option",
    "write_bytes",
]


def format_option(parser: argparse.ArgumentParser) -> None:
    """Add `--format text|json`."""
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text for people (default) or JSON for machines",
    )


def strictness_option(parser: argparse.ArgumentParser) -> None:
    """Add `--strictness readable|upstream`."""
    parser.add_argument(
        "--strictness",
        choices=("readable", "upstream"),
        default="readable",
        help="what real old readers read (default), or what upstream's serializer accepts",
    )


def print_json(value: object) -> None:
    """Print one JSON document."""
    import json

    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: by rich on a terminal, else as plain aligned columns.

    Args:
        headings: One for each column.
        rows: Cells as text.
    """
    rows = list(rows)
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ and _print_rich(headings, rows):
        return
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    for cells in (headings, *rows):
        padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        print("  ".join(padded).rstrip())


def _print_rich(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    try:
        import rich.box
        import rich.console
        import rich.table
        import rich.text
    except ImportError:
        return False
    table = rich.table.Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for cells in rows:
        table.add_row(*(rich.text.Text(cell, style=_STYLES.get(cell, "")) for cell in cells))
    rich.console.Console().print(table)
    return True


_STYLES = {"compatible": "green", "incompatible": "red", "crashed": "bold red", "hung": "bold red"}
_STYLES["wrong-result"] = "bold magenta"


def print_verification(verification: Verification, before: str, after: str, form: str) -> None:
    """Print whether two programs compute the same.

    Args:
        verification: What was found.
        before: The name of the one.
        after: The name of the other.
        form: `text` or `json`.
    """
    if form == "json":
        print_json({"expected": before, "actual": after} | verification.record())
        return
    verdict = verification.verdict
    does = "computes" if verification.same else "does not compute"
    print(f"{after}: {does} what {before} does on {verdict.consumer}")
    print(f"  {verdict.outcome}: {verdict.reason}")
    if verification.located:
        print(f"  first different: {verification.located}")


def complain(error: PortableError, *, as_json: bool) -> None:
    """Print an error as one line on standard error."""
    if as_json:
        import json

        print(json.dumps(error.record(), ensure_ascii=False), file=sys.stderr)
    else:
        print(f"portable: error: {error}", file=sys.stderr)


def input_bytes(path: str) -> bytes:
    """Read a file, or standard input for `-`."""
    return sys.stdin.buffer.read() if path == "-" else read_file(path)


def write_bytes(path: str, data: bytes) -> None:
    """Write a file atomically, or to standard output for `-`.

    Raises:
        FileError: The file cannot be written, or standard output is a terminal.
    """
    if path != "-":
        write_file(path, data)
        return
    if sys.stdout.isatty():
        raise FileError(
            "will not write bytes to a terminal", where="-", hint="name a file with -o FILE"
        )
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
