"""Assumptions: what a user vouches for about the values that a program is run on.

What some Advisories are about is wrong only where a value is NaN or an index out of bounds, which
the bytes do not show. Who knows that it never happens says so, and the Verdict names it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from portable.releases.table import demand_once, rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["Assumption", "assuming", "assumption_about", "assumptions", "find_assumptions"]


class Assumption(NamedTuple):
    """What may be assumed of every run.

    Args:
        name: Its name, as `no-nan`.
        says: What is assumed.
        features: The Features of which Advisories do not count then.
        tried: What was executed where it holds, and when.
    """

    name: str
    says: str
    features: frozenset[str]
    tried: str


@functools.cache
def assumptions() -> tuple[Assumption, ...]:
    """Return every Assumption, in table order.

    Raises:
        TableError: A row is malformed, or a name or Feature stands there twice.
    """
    table = rows("assumptions", "assumption")
    demand_once((row, row.text("name")) for row in table)
    demand_once((row, feature) for row in table for feature in row.texts("features"))
    return tuple(
        Assumption(
            row.text("name"), row.text("says"), frozenset(row.texts("features")), row.text("tried")
        )
        for row in table
    )


def find_assumptions(names: Iterable[str]) -> frozenset[str]:
    """Return names of Assumptions.

    Args:
        names: As `no-nan`.

    Raises:
        ValueError: No Assumption has one of the names; the message lists them.
    """
    found = frozenset(names)
    known = [one.name for one in assumptions()] if found else ()  # a table costs time to read
    for name in sorted(found.difference(known)):
        raise ValueError(f"no assumption is called {name!r:.40}: {', '.join(known)}")
    return found


def assuming(names: Collection[str]) -> str:
    """Return what follows a sentence that holds by Assumptions: `, assuming no-nan`, or nothing."""
    return f", assuming {', '.join(sorted(names))}" if names else ""


@functools.cache
def assumption_about(feature: str) -> str:
    """Return the name of the Assumption by which Advisories about a Feature do not count, or ''."""
    return next((one.name for one in assumptions() if feature in one.features), "")
