"""What a command line may say: the numbers that options take, and the error about all else."""

from __future__ import annotations

import datetime
import math
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.system.files import is_stdout

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BadUsage",
    "amount",
    "assumption",
    "count",
    "date",
    "demand_name",
    "destination",
    "format_of",
    "limit",
    "natural",
    "size",
]

# As `env list` shows sizes.
_UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


class BadUsage(PortableError):
    """The command line is invalid."""


def natural(text: str) -> int:
    """Read a whole number from 0 on, for the `type` of an option.

    Args:
        text: The word behind the option.

    Returns:
        The number.

    Raises:
        ArgumentTypeError: It is none. argparse adds the name of the option.
    """
    return int(_number(text, int, "a whole number from 0 on", least=0))


def count(text: str) -> int:
    """Read a whole number from 1 on; see `natural`."""
    return int(_number(text, int, "a whole number from 1 on", least=1))


def amount(text: str) -> float:
    """Read a finite number from 0 on; see `natural`."""
    return _number(text, float, "a number from 0 on", least=0)


def date(text: str) -> datetime.date:
    """Read a day, as 2027-06-30; see `natural`."""
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(f"{text[:60]!r} is not a date, e.g. 2027-06-30") from None


def size(text: str) -> int:
    """Read a number of bytes, with or without a decimal unit; see `natural`."""
    number = text.rstrip("".join(_UNITS) + "".join(_UNITS).upper() + " ")
    unit = text[len(number) :].strip().lower()
    # With a unit that is none the text is no number either.
    value = _number(number if unit in _UNITS else text, float, "a size, e.g. 10GB", least=0)
    return int(value * _UNITS[unit])


def limit(text: str) -> float:
    """Read a finite number above 0; see `natural`."""
    return _number(text, float, "a number above 0", least=math.ulp(0))


def assumption(text: str) -> str:
    """Read the name of an Assumption; see `natural`."""
    from portable.releases.assumption import find_assumptions  # few commands have it

    try:
        return next(iter(find_assumptions([text])))
    except ValueError as error:
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(str(error)) from None


def destination(text: str) -> str:
    """Read where to write, for the `type` of `--output`: `-` for every name of standard output."""
    return "-" if is_stdout(text) else text


def demand_name(output: str | None) -> None:
    """Refuse standard output for a folder, and for a file that is read again.

    Args:
        output: As `destination` returns it; None where the option was not given.

    Raises:
        BadUsage: It is standard output.
    """
    if output == "-":
        raise BadUsage("--output cannot be standard output here", hint="name a file or a folder")


def format_of(report: str, endings: Mapping[str, str]) -> str:
    """Return the format that the ending of a report's name stands for.

    Args:
        report: The name.
        endings: Ending -> format.

    Raises:
        BadUsage: It has none of them.
    """
    for ending, style in endings.items():
        if report.endswith(ending):
            return style
    raise BadUsage(
        f"unknown ending of the report {report!r}", hint=f"valid endings: {', '.join(endings)}"
    )


def _number(text: str, kind: type[int | float], wanted: str, *, least: float) -> float:
    try:
        number = kind(text)
    except ValueError:
        number = math.nan
    if not least <= number < math.inf:
        from argparse import ArgumentTypeError

        raise ArgumentTypeError(f"{text[:60]!r} is not {wanted}")
    return number
