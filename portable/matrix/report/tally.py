"""What the Cells of a Matrix amount to: counts, and the squares of the heat map."""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import TYPE_CHECKING

from portable.system.wording import many
from portable.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from portable.matrix import Cell, Matrix
    from portable.version import Version

__all__ = ["alike", "conclusion", "describe", "outcomes", "squares", "subject", "totals"]


_NAMED = 5
"""How many artifacts a conclusion names."""


def conclusion(matrix: Matrix) -> str:
    """Say in one sentence who has no obstacle, and where predictions were wrong.

    Args:
        matrix: Which.

    Returns:
        `25 of 42 consumers pass all of 3 artifacts (add, tan, conv); no cell contradicts its
        prediction.`
    """
    failing = {cell.release for cell in matrix.cells if not cell.verdict.compatible}
    names = list(dict.fromkeys(item.name for item in matrix.items))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    passing = len(matrix.releases) - len(failing)
    wrong = len(matrix.contradictions)
    return (
        f"{passing} of {many(len(matrix.releases), 'consumer')} pass all of "
        f"{many(len(matrix.items), 'artifact')} ({', '.join(names[:_NAMED])}{more}); "
        f"{many(wrong, 'cell') if wrong else 'no cell'} "
        f"{'contradicts' if wrong < 2 else 'contradict'} its prediction."
    )


def totals(matrix: Matrix) -> list[str]:
    """Say in a few lines what a Matrix is and found.

    Args:
        matrix: Which.

    Returns:
        How large it is; what was observed, and how far; how many contradictions there are.
    """
    seen = [cell for cell in matrix.cells if cell.observed is not None]
    size = f"{many(len(matrix.items), 'artifact')} x {many(len(matrix.releases), 'consumer')}"
    lines = [
        f"{size} up to {matrix.stage}, {matrix.date}: {many(len(matrix.cells), 'cell')}",
        f"{len(seen)} observed: {outcomes(seen) or 'none'}",
    ]
    unseen = len(matrix.cells) - len(seen)
    if unseen:
        lines.append(f"{unseen} not observed, only predicted: {outcomes(matrix.unobserved)}")
    if matrix.partial:
        lines.append(f"{len(matrix.partial)} observed less far than {matrix.stage}")
    found = matrix.contradictions
    unexplained = sum(cell.unexplained for cell in found)
    tail = f", {unexplained} of them not explained" if found else ""
    lines.append(f"{many(len(found), 'contradiction')} between prediction and observation{tail}")
    return lines


def outcomes(cells: Iterable[Cell]) -> str:
    """Count: `500 compatible: reads it; 38 incompatible: does not read it`."""
    order = list(Outcome)
    verdicts = [cell.verdict for cell in cells]
    counted = Counter((order.index(one.outcome), one.says) for one in verdicts)
    return "; ".join(f"{number} {says}" for (_, says), number in sorted(counted.items()))


def describe(cell: Cell, shown: Callable[[str], str] = str) -> str:
    """Say in a line how a prediction and an observation differ.

    Args:
        cell: Which.
        shown: Returns a reason as it is to be written.
    """
    said = [f"predicted {cell.predicted.says}"]
    if cell.predicted.reason:
        said.append(f" ({shown(cell.predicted.reason)})")
    if cell.observed is not None:
        said.append(f"; observed {cell.observed.says}")
        if cell.observed.reason:
            said.append(f" ({shown(cell.observed.reason)})")
    return "".join(said)


def alike(matrix: Matrix) -> list[tuple[Cell, ...]]:
    """Group the contradictions that say the same, whatever numbers they name.

    Args:
        matrix: Which.

    Returns:
        The groups, unexplained ones first; then those where the consumer fails against the
        prediction, then the largest.
    """
    groups: dict[tuple[str, ...], list[Cell]] = {}
    plain = functools.cache(functools.partial(re.sub, r"[0-9.]+", "#"))  # many cells share a reason
    for cell in matrix.contradictions:
        groups.setdefault(_gist(cell, plain), []).append(cell)

    def weight(cells: list[Cell]) -> tuple[bool, bool, int]:
        first = cells[0]
        return (not first.unexplained, first.verdict.compatible, -len(cells))

    return [tuple(cells) for cells in sorted(groups.values(), key=weight)]


def _gist(cell: Cell, plain: Callable[[str], str]) -> tuple[str, ...]:
    # As `gist` of page.js.
    reason = cell.verdict.reason or cell.predicted.reason
    outcomes = (str(cell.predicted.outcome), str(cell.verdict.outcome))
    return (cell.listed, *outcomes, plain(reason))


def subject(cells: Sequence[Cell]) -> tuple[str, str]:
    """Name the artifacts and the consumers of a group of Cells, which may be many.

    Args:
        cells: The group.

    Returns:
        `tan 1.4.0 and 3 more artifacts`, `jaxlib 0.4.18 and 1 more consumer`.
    """
    artifacts = {cell.item.key for cell in cells}
    consumers = {str(cell.release) for cell in cells}
    first = cells[0]
    return (
        _first_of(first.item.name, len(artifacts), "artifact"),
        _first_of(str(first.release), len(consumers), "consumer"),
    )


def _first_of(name: str, number: int, noun: str) -> str:
    return name if number == 1 else f"{name} and {many(number - 1, f'more {noun}')}"


def squares(matrix: Matrix) -> dict[tuple[str, Version | None], list[Cell]]:
    """Group the Cells as the heat map does.

    Args:
        matrix: Which.

    Returns:
        The Cells for each consumer and Version that artifacts were written for; None is the
        Version of artifacts that do not say.
    """
    found: dict[tuple[str, Version | None], list[Cell]] = {}
    for cell in matrix.cells:
        claimed = cell.item.claimed
        key = (str(cell.release), claimed.target if claimed else None)
        found.setdefault(key, []).append(cell)
    return found
