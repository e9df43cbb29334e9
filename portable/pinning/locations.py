"""Source locations: what becomes of them when an artifact is written."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import re
from typing import TYPE_CHECKING, TypeVar

from portable.errors import PortableError
from portable.features.rules import rules
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["RANGE", "RANGES_SINCE", "Locations", "named", "naming", "place", "ranges_to_points"]

_T = TypeVar("_T")

RANGE = "location_file_line_col_range"
"""The Feature of a location that spans lines and columns."""
RANGES_SINCE = Version.parse(rules().locations[RANGE][0]).first_target
"""All readers of this target know location ranges; no serializer checks it."""


class Locations(enum.Enum):
    """How source locations are written."""

    DOWNGRADE = "downgrade"
    """Ranges, which old readers do not know, become points where the target needs it."""
    KEEP = "keep"
    """Nothing is changed; an error if the target cannot read them."""
    STRIP = "strip"
    """All are removed."""


_RANGE = re.compile(r'("(?:[^"\\]|\\.)*":\d+:\d+) to (?:\d+)?:\d+')


def ranges_to_points(location: str) -> str:
    """Turn every `"file":line:column to line:column` of a printed location into its start."""
    return _RANGE.sub(r"\1", location)


# What MLIR calls a program that it was handed from memory, in front of a line and a column.
_UNNAMED = re.compile(r"""(?<![^\s(\[,'])(?:"-"|-)(?=:\d+:\d+)""")


def named(value: _T, name: str) -> _T:
    """Put the name of a file where MLIR calls it "-", everywhere in a result.

    Args:
        value: Text, a dataclass, or a tuple, list or dictionary of these; or an error, which is
            changed in place.
        name: The file.

    Returns:
        The same with the name; what has no such location is the same object.
    """
    new: object = value
    if isinstance(value, str):
        new = _UNNAMED.sub(name.replace("\\", r"\\"), value)
    elif isinstance(value, PortableError):
        value.__dict__.update(named(vars(value), name))
        value.args = named(value.args, name)
    elif isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        new = type(value)(named(one, name) for one in value)
    elif isinstance(value, dict):
        new = {key: named(one, name) for key, one in value.items()}
    elif dataclasses.is_dataclass(value) and not isinstance(value, (type, Version)):
        was = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        told = named(was, name)
        new = value if told == was else dataclasses.replace(value, **told)
    return value if new == value else new  # type: ignore[return-value]  # made of its own parts


@contextlib.contextmanager
def naming(label: str) -> Iterator[None]:
    """Have errors about a program that was read from memory name where it came from.

    Args:
        label: What to call it.
    """
    try:
        yield
    except PortableError as error:
        place(error, label)
        raise


def place(error: PortableError, label: str) -> None:
    """Have an error about a program that was read from memory name where it came from.

    Args:
        error: The error; changed.
        label: What to call the program.
    """
    inside = (named(error, label).where or "").removeprefix(label)
    separator = "" if not inside or inside.startswith(":") else ": "
    error.where = f"{label}{separator}{inside}"
