"""The only place that prints: lines, tables and JSON on standard output, errors on standard error.

`say` and `note` print one line each, and escape it: a command cannot print foreign text unescaped.
Text reports grow with their input: commands that have `--all` print at most `MOST_TEXT` bytes
without it.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING

from portable.cli import live
from portable.escaping import json_pieces, json_text, line
from portable.system.files import FileError, demand_output, file_error, read_file, write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TextIO

    from portable.errors import PortableError
    from portable.runtime.verification import Verification

__all__ = [
    "MOST_TEXT",
    "begin",
    "complain",
    "demand_apart",
    "drop_output",
    "flush",
    "has_bars",
    "hold_streams",
    "input_bytes",
    "is_terminal",
    "note",
    "print_json",
    "print_table",
    "say",
    "show_verification",
    "write_bytes",
    "write_report",
    "write_text",
]

MOST_TEXT = 1_000_000
"""How many bytes of text a report has, unless everything is requested."""

_LEFT_OUT = "{:,} more bytes; --all prints them\n"


def say(text: str = "") -> None:
    """Print one line on standard output; whatever is in it, it stays one printable line."""
    _report.add(line(text) + "\n")


def note(text: str) -> None:
    """Print one line about what is being done, on standard error, unless the command is quiet."""
    if not _report.quiet:
        _print_error(line(text))


def is_terminal() -> bool:
    """Return whether standard error is a terminal that progress may be shown on."""
    return bool(not _report.quiet and sys.stderr and sys.stderr.isatty())


def has_bars() -> bool:
    """Return whether rich can show progress there."""
    import importlib.util

    return is_terminal() and importlib.util.find_spec("rich") is not None


def print_json(document: Mapping[str, object], schema: int = 1) -> None:
    """Print one JSON document.

    Args:
        document: Its fields.
        schema: Which version of them; docs/api-stability.md lists it for every command.
    """
    for piece in json_pieces({"schema": schema} | dict(document), indent=2):
        write_text("-", piece)
    write_text("-", "\n")


class _Report:
    """What is printed for people on standard output: lines, as many as there is room for."""

    def __init__(self) -> None:
        self.quiet = False
        self._room: float = float("inf")
        self._left_out = 0

    def begin(self, *, everything: bool, quiet: bool) -> None:
        self.quiet = quiet
        last = len(_LEFT_OUT.format(1 << 63))
        self._room = float("inf") if everything else MOST_TEXT - last
        self._left_out = 0

    def add(self, text: str) -> None:
        """Print a line, unless one before it was left out."""
        size = len(text.encode("utf-8", "backslashreplace"))
        if self._left_out or size > self._room:
            self._left_out += size
        else:
            self._room -= size
            _print(text)

    def add_lines(self, text: str) -> None:
        """Print lines, up to the first for which there is no room."""
        for one in text.splitlines(keepends=True):
            self.add(one)

    def end(self) -> None:
        """Say how much was left out, if anything was."""
        if self._left_out:
            _print(_LEFT_OUT.format(self._left_out))
            self._left_out = 0


_report = _Report()


def begin(*, everything: bool, quiet: bool) -> None:
    """Begin the output of a command.

    Args:
        everything: Whether its text has no limit.
        quiet: Whether it prints no progress and no notes.
    """
    _report.begin(everything=everything, quiet=quiet)


def write_report(path: str, text: str) -> None:
    """Write a text for people, as `write_text`; on standard output it has the limit of `say`."""
    if path == "-":
        _report.add_lines(text)
        _report.end()
    else:
        write_text(path, text)


def write_text(path: str, text: str) -> None:
    """Write a document that is ready to be shown to a file, or to standard output for `-`.

    Args:
        path: Where to.
        text: What a renderer made; it has escaped foreign text as its format needs it.
    """
    if path == "-":
        _print(text)
    else:
        write_file(path, text.encode("utf-8", "backslashreplace"))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table: by rich on a terminal, else as plain aligned columns.

    Args:
        headings: One for each column, in lower case but for names.
        rows: Cells as text; an empty one is shown as `-`, a column of numbers is aligned right.
    """
    rows = [[line(cell, _WIDEST) or "-" for cell in cells] for cells in rows]
    right = [_are_numbers(column) for column in zip(*rows, strict=True)]
    if sys.stdout and sys.stdout.isatty() and _print_rich(headings, rows, right):
        return
    # One long cell does not make all others as long.
    widths = [min(max(map(len, column)), _ALIGNED) for column in zip(headings, *rows, strict=True)]
    sides = [">" if numbers else "<" for numbers in right] or ["<"] * len(headings)
    for cells in (headings, *rows):
        padded = (f"{c:{side}{width}}" for c, side, width in zip(cells, sides, widths, strict=True))
        say("  ".join(padded).rstrip())


_WIDEST = 2000
_ALIGNED = 80


def _are_numbers(column: Sequence[str]) -> bool:
    cells = [cell.replace(",", "") for cell in column if cell != "-"]
    return bool(cells) and all(map(str.isdecimal, cells))


def _print_rich(headings: Sequence[str], rows: Sequence[Sequence[str]], right: list[bool]) -> bool:
    try:
        import rich.box
        import rich.console
        import rich.table
        import rich.text
    except ImportError:
        return False
    table = rich.table.Table(box=rich.box.SIMPLE_HEAD, pad_edge=False)
    for heading, numbers in zip(headings, right or [False] * len(headings), strict=True):
        table.add_column(heading, overflow="fold", justify="right" if numbers else "left")
    for cells in rows:
        table.add_row(*(rich.text.Text(cell, style=_style(cell)) for cell in cells))
    console = rich.console.Console()
    with console.capture() as captured:
        console.print(table)
    _report.add_lines(captured.get())
    return True


def _style(cell: str) -> str:
    return _STYLES.get(cell.partition(":")[0], "")


_STYLES = {
    "compatible": "green",
    "incompatible": "red",
    "crashed": "bold red",
    "hung": "bold red",
    "wrong-result": "bold magenta",
}


def show_verification(verification: Verification, before: str, after: str) -> None:
    """Print whether two programs compute the same.

    Args:
        verification: What was found.
        before: The name of the one.
        after: The name of the other.
    """
    verdict = verification.verdict
    same = "computes the same as" if verification.same else "does not compute the same as"
    say(f"{after}: {same} {before} on {verdict.consumer}")
    say(f"  {verdict.says}: {verdict.reason}")
    if verification.located:
        say(f"  first difference: {verification.located}")
    if verification.explained:
        say(f"  {verification.explained}")


def complain(error: PortableError, *, as_json: bool) -> None:
    """Print an error on standard error: one line, and one for each detail."""
    if as_json:
        _print_error(json_text(error.record()))
        return
    first, *others = error.lines()
    _print_error("\n".join([line(f"error: {first}"), *(f"  {other}" for other in others)]))


def _print_error(text: str) -> None:
    # A closed stream must not end the work.
    with contextlib.suppress(FileError, BrokenPipeError):
        _write(sys.stderr, "<stderr>", text + "\n")


def input_bytes(path: str) -> bytes:
    """Read a file, or standard input for `-`."""
    if path != "-":
        return read_file(path)
    if sys.stdin is None:
        raise FileError("cannot read: standard input is closed", where="<stdin>")
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise file_error("read", error, "<stdin>") from error


def demand_apart(output: str | None, *inputs: str | None) -> None:
    """Refuse, before anything is made, an output that cannot be written or that is an input.

    Args:
        output: A file; None or `-` for standard output.
        inputs: What the command reads, as it was named; None for what was not.

    Raises:
        FileError: As `demand_output`.
    """
    if output not in {None, "-"}:
        demand_output(str(output), *filter(None, inputs))


def write_bytes(path: str, data: bytes) -> None:
    """Write a file atomically, or to standard output for `-`.

    Raises:
        FileError: The file cannot be written, or standard output is a terminal.
    """
    if path != "-":
        write_file(path, data)
        return
    if sys.stdout and sys.stdout.isatty():
        raise FileError(
            "refusing to write binary data to a terminal", where="-", hint="use -o FILE"
        )
    _print(data)


def hold_streams() -> None:
    """Prepare the standard streams of this process, whatever it was started with.

    No file that is opened later gets the number of a stream that was closed, and what an encoding
    lacks is written by its number instead of failing.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Write what is still kept for standard output, where an error can still be told."""
    _report.end()
    if sys.stdout is not None:
        _print(b"")


def drop_output() -> None:
    """Have the interpreter write what it still keeps for its streams to /dev/null, at its end."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError), open(os.devnull, "wb") as null:  # noqa: PTH123 - cold start
                os.dup2(null.fileno(), number)


def _print(content: str | bytes) -> None:
    # First, because a live display puts a stand-in in the place of sys.stdout.
    live.pause()
    _write(sys.stdout, "<stdout>", content)


def _write(stream: TextIO | None, name: str, content: str | bytes) -> None:
    if stream is None:
        raise FileError("cannot write: the stream is closed", where=name)
    try:
        if isinstance(content, bytes):
            stream.flush()
            if content:
                stream.buffer.write(content)
                stream.flush()
        else:
            stream.write(content)
    except BrokenPipeError:
        raise
    except AttributeError as error:  # a caller's own stream, such as io.StringIO
        raise FileError("cannot write bytes: the stream takes text", where=name) from error
    except OSError as error:
        raise file_error("write", error, name) from error
