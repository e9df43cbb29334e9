"""Several matrices as one: what ran on different machines, or on different days."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.matrix.cell import MOST_ALSO
from portable.matrix.result import Matrix
from portable.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portable.matrix.cell import Cell
    from portable.matrix.item import Item
    from portable.verdict import Verdict

__all__ = ["NothingToMerge", "merge"]

# Which outcome counts where a Release was seen to do both: the one that hurts more.
_WORSE = tuple(Outcome)


class NothingToMerge(PortableError):
    """No matrix was given."""


def merge(matrices: Iterable[Matrix]) -> Matrix:
    """Merge matrices: all artifacts and consumers of any, each cell once.

    Where two have the same cell, the later one's prediction stands, because its tables know more,
    and the observation that went further, if there is one. Two observations that exclude each
    other are no error: a Release that hangs under load or reads on one machine only is a finding,
    and must not cost all the others. The worse one counts, the other stays in the cell's `also`.

    Args:
        matrices: What to merge; an artifact is the same if its name and its bytes are.

    Returns:
        The Matrix, with the last date and the furthest Stage.

    Raises:
        NothingToMerge: There are none.
    """
    ordered = sorted(matrices, key=lambda matrix: matrix.date)
    if not ordered:
        raise NothingToMerge("no matrix to merge", hint="run 'portable matrix' first")
    items: dict[tuple[str, str], Item] = {}
    for item in (item for matrix in ordered for item in matrix.items):
        # The later one stands, unless only the earlier one has what it was executed with.
        if item.inputs is not None or item.key not in items:
            items[item.key] = item
    # The later row of a Release stands, for the same reason.
    releases = {str(release): release for matrix in ordered for release in matrix.releases}
    cells: dict[tuple[tuple[str, str], str], Cell] = {}
    for matrix in ordered:
        for cell in matrix.cells:
            key = (cell.item.key, str(cell.release))
            cells[key] = _merged(cells[key], cell) if key in cells else cell
    return Matrix(
        stage=max(matrix.stage for matrix in ordered),
        items=tuple(items.values()),
        releases=tuple(releases.values()),
        cells=tuple(
            replace(cells[item, release], item=items[item], release=releases[release])
            for item in items
            for release in releases
            if (item, release) in cells
        ),
        date=ordered[-1].date,
    )


def _merged(earlier: Cell, later: Cell) -> Cell:
    chosen, excluded = _choose(earlier, later)
    return replace(
        later,
        observed=chosen.observed,
        note=chosen.note,
        listed=later.listed or earlier.listed,
        also=tuple(dict.fromkeys((*earlier.also, *later.also, *excluded)))[:MOST_ALSO],
    )


def _choose(earlier: Cell, later: Cell) -> tuple[Cell, tuple[Verdict, ...]]:
    """Return the cell whose observation counts, and the observation that it excludes."""
    one, other = earlier.observed, later.observed
    if one is None or other is None:
        return (later if one is None else earlier), ()
    further = _further(one, other)
    if further is not None:
        return (earlier if further is one else later), ()
    if _WORSE.index(one.outcome) > _WORSE.index(other.outcome):
        return earlier, (other,)
    return later, (one,)


def _further(one: Verdict, other: Verdict) -> Verdict | None:
    """Return the observation that went further; None where they exclude each other."""
    if one.compatible and other.compatible:
        return one if one.stage > other.stage else other
    if not one.compatible and not other.compatible:
        same = (one.outcome, one.stage) == (other.outcome, other.stage)
        return other if same else None
    passed, failed = (one, other) if one.compatible else (other, one)
    return failed if failed.stage > passed.stage else None
