"""Source locations: what becomes of them when an artifact is written."""

from __future__ import annotations

import enum
import re

from portable.version import Version

__all__ = ["RANGES_SINCE", "Locations", "ranges_to_points"]

RANGES_SINCE = Version(1, 9, 0)
"""Readers of this Version know location ranges; no serializer checks it: stablehlo issue 2724."""


class Locations(enum.Enum):
    """What becomes of source locations."""

    DOWNGRADE = "downgrade"
    """Ranges, which readers before 1.9.0 do not know, become points where the target needs it."""
    KEEP = "keep"
    """Nothing is changed; an error if the target cannot read them."""
    STRIP = "strip"
    """All are removed."""


_RANGE = re.compile(r'("(?:[^"\\]|\\.)*":\d+:\d+) to (?:\d+)?:\d+')


def ranges_to_points(location: str) -> str:
    """Turn every `"file":line:column to line:column` of a printed location into its start."""
    return _RANGE.sub(r"\1", location)
