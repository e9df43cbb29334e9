"""The list of contradictions: where a Release is known not to do what is predicted, and why."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.prediction.verdicts import EFFECTS, doubt
from portable.releases import TableError, advisories_for, matching_releases
from portable.verdict import Outcome

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterator, Mapping

    from portable.matrix.cell import Cell

__all__ = ["Contradiction", "contradictions", "listed"]

_TABLE = Path(__file__).with_name("contradictions.toml")


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Cells whose observation is not what is predicted, with one cause.

    Args:
        id: Its name in `docs/findings.md`.
        consumers: The Releases, as `jaxlib 0.4.33`.
        observed: What they do.
        cases: Shell patterns for the names of the Cases.
        reason: Why.
        link: Where it is reported or measured.
        date: When it was last seen.
    """

    id: str
    consumers: frozenset[str]
    observed: Outcome
    cases: tuple[str, ...]
    reason: str
    link: str
    date: datetime.date

    def covers(self, cell: Cell) -> bool:
        """Return whether a Cell is one of them."""
        return (
            cell.observed is not None
            and cell.observed.outcome is self.observed
            and str(cell.release) in self.consumers
            and any(fnmatchcase(cell.item.case, pattern) for pattern in self.cases)
        )


@functools.cache
def contradictions() -> tuple[Contradiction, ...]:
    """Return the list, from `contradictions.toml`.

    Raises:
        TableError: A row is malformed, is duplicated, or names Releases that there are not.
    """
    rows = tomllib.loads(_TABLE.read_text("utf-8"))["contradiction"]
    found: dict[str, Contradiction] = {}
    for position, row in enumerate(rows, start=1):
        where = f"{_TABLE.name} contradiction {position}"
        try:
            one = _contradiction(row)
        except (KeyError, ValueError, PortableError) as error:
            raise TableError(f"{type(error).__name__}: {error}", where=where) from error
        if one.id in found or not one.cases:
            raise TableError(f"{one.id} is duplicated, or does not name a Case", where=where)
        found[one.id] = one
    return tuple(found.values())


def _contradiction(row: Mapping[str, Any]) -> Contradiction:
    return Contradiction(
        id=row["id"],
        consumers=frozenset(map(str, matching_releases(*row["consumers"]))),
        observed=Outcome(row["observed"]),
        cases=tuple(row["cases"]),
        reason=row["reason"],
        link=row["link"],
        date=row["date"],
    )


def listed(cell: Cell) -> str:
    """Return the id of the entry that explains a contradiction; empty where there is none.

    That is a row of the list, or an Advisory of which the prediction says that it may apply.

    Args:
        cell: A Cell whose observation is not what is predicted.
    """
    rows = (row.id for row in contradictions() if row.covers(cell))
    return next(rows, None) or next(_foreseen(cell), "")


def _foreseen(cell: Cell) -> Iterator[str]:
    """Yield the Advisories that may apply, and that say what was observed."""
    seen = (cell.observed.outcome, cell.observed.stage) if cell.observed else None
    for advisory in advisories_for(cell.release):
        says = EFFECTS[advisory.effect], advisory.stage
        if seen == says and doubt(advisory) in cell.predicted.not_known:
            yield advisory.id
