"""A summary for a terminal: contradictions first, then the failures of each consumer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from portable.escaping import one_line
from portable.matrix.report.reproducer import reproducer
from portable.matrix.report.tally import alike, describe, outcomes, subject, totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.matrix import Cell, Matrix

__all__ = ["render"]

# Together with the totals these fill a terminal of 40 lines.
_CONTRADICTIONS = 5
_CONSUMERS = 16
_WIDTH = 160
_LONGEST = 2000


def render(matrix: Matrix, *, full: bool) -> str:
    """Write the summary.

    Args:
        matrix: What to write.
        full: Whether to list everything, with the commands that do it again.

    Returns:
        Printable lines, each ended by a newline.
    """
    lines = [
        *totals(matrix),
        *_contradictions(matrix, full=full),
        *_failures(matrix, full=full),
        *_noted("not observed", matrix.unobserved),
        *_noted(f"observed less far than {matrix.stage}", matrix.partial),
    ]
    return "".join(f"{_shown(line, _LONGEST if full else _WIDTH)}\n" for line in lines)


def _shown(line: str, width: int) -> str:
    indent = len(line) - len(line.lstrip(" "))
    return " " * indent + one_line(line, width)


def _contradictions(matrix: Matrix, *, full: bool) -> Iterator[str]:
    groups = alike(matrix)
    if groups:
        yield ""
        yield "contradictions:"
    shown = groups if full else groups[:_CONTRADICTIONS]
    for cells in shown:
        first = cells[0]
        mark = "not explained" if first.unexplained else f"listed as {first.listed}"
        yield f"  {' on '.join(subject(cells))} ({mark})"
        yield f"    {describe(first)}"
        if full:
            yield from (f"    {reproducer(cell, matrix.stage)}" for cell in cells)
    yield from _rest(sum(map(len, groups)) - sum(map(len, shown)), "contradictions")


def _failures(matrix: Matrix, *, full: bool) -> Iterator[str]:
    failed: dict[str, list[Cell]] = {str(release): [] for release in matrix.releases}
    asked: Counter[str] = Counter()
    for cell in matrix.cells:
        if cell.observed is not None:
            asked[str(cell.release)] += 1
            if not cell.observed.compatible:
                failed[str(cell.release)].append(cell)
    failing = [(name, cells) for name, cells in failed.items() if cells]
    if failing:
        yield ""
        yield "failures by consumer:"
    if not full:
        failing = sorted(failing, key=lambda group: -len(group[1]))
    shown = failing if full else failing[:_CONSUMERS]
    for name, cells in shown:
        reasons = Counter(cell.verdict.reason for cell in cells).most_common()
        head = f"  {name}: {len(cells)} of {asked[name]} fail ({outcomes(cells)})"
        if full:
            yield head
            yield from (f"    {count}x {reason}" for reason, count in reasons)
        else:
            reason, count = reasons[0]
            yield f"{head}, {count}x {reason}" if reason else head
    yield from _rest(len(failing) - len(shown), "consumers with failures")


def _noted(heading: str, cells: Sequence[Cell]) -> Iterator[str]:
    why = Counter((str(cell.release), cell.note) for cell in cells)
    if why:
        yield ""
        yield f"{heading}:"
    for (release, note), count in why.most_common(_CONTRADICTIONS):
        yield f"  {release}: {count} cells" + (f": {note}" if note else "")
    yield from _rest(len(why) - _CONTRADICTIONS, "reasons")


def _rest(number: int, what: str) -> Iterator[str]:
    if number > 0:
        yield f"  ... and {number} more {what}"
