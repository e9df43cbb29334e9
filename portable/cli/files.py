"""Several files on one command line: a report for each, a summary, the highest exit code."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from portable.cli.output import complain, print_json, say
from portable.cli.parts import label_of
from portable.errors import PortableError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

__all__ = ["SCHEMA", "Report", "report_each"]

SCHEMA = 3
"""Version of the JSON documents that `report_each` prints."""


class Report(NamedTuple):
    """What a command found in one file.

    Args:
        code: The exit code for this file alone.
        record: Plain data for JSON.
        show: Prints it as text.
    """

    code: int
    record: Mapping[str, object]
    show: Callable[[], None]


def report_each(
    chosen: argparse.Namespace,
    examine: Callable[[str], Report],
    words: Mapping[int, str],
    **head: object,
) -> int:
    """Report on each of `chosen.files`, then summarize if there are several.

    Args:
        chosen: With `files` and `format`.
        examine: Returns the report on one path.
        words: What each exit code means for one file, for the summary.
        head: Fields of the JSON document beside `schema` and `files`.

    Returns:
        The highest exit code. Of several files, one that fails does not stop the others.

    Raises:
        PortableError: Of the only file.
    """
    several, as_json = len(chosen.files) > 1, chosen.format == "json"
    codes: list[int] = []
    records: list[Mapping[str, object]] = []
    for path in chosen.files:
        try:
            found = examine(path)
        except PortableError as error:
            error.where = error.where or label_of(path)
            if not several:
                raise
            complain(error, as_json=as_json)
            found = Report(2, {"error": error.record()}, _nothing)
        if as_json:
            records.append({"file": path} | dict(found.record))
        elif found.show is not _nothing:
            if several and codes:
                say()
            found.show()
        codes.append(found.code)
    if as_json:
        print_json(head | {"files": records}, SCHEMA)
    elif several:
        counted = Counter(words[code] for code in sorted(codes))
        say()
        say(f"{len(codes)} files: {', '.join(f'{n} {word}' for word, n in counted.items())}")
    return max(codes)


def _nothing() -> None:
    """Show nothing: the error has been printed."""
