"""A summary for a pull request: a table for each distribution, and the contradictions."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from portable.escaping import code_span, markdown, one_line
from portable.matrix import Agreement
from portable.matrix.report.reproducer import reproducer
from portable.matrix.report.tally import alike, describe, squares, subject, totals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.matrix import Cell, Matrix
    from portable.releases import Release
    from portable.version import Version

__all__ = ["render"]

# A comment on GitHub may have 65,536 characters.
_CONTRADICTIONS = 30
_LEGEND = (
    "Rows: consumers, with their StableHLO Version. Columns: the Version the artifacts were "
    "written for. ✓ all compatible; 9/12 compatible of all; ⚠ has contradictions; "
    "? nothing observed, only predicted."
)


def render(matrix: Matrix, *, full: bool) -> str:
    """Write the summary.

    Args:
        matrix: What to write.
        full: Whether to list every contradiction.

    Returns:
        Markdown, as GitHub reads it.
    """
    lines = ["# Compatibility matrix", "", *(f"- {line}" for line in totals(matrix)), ""]
    lines += _contradictions(matrix, full=full)
    lines += _tables(matrix)
    return "\n".join(lines) + "\n"


def _contradictions(matrix: Matrix, *, full: bool) -> Iterator[str]:
    groups = alike(matrix)
    if not groups:
        return
    yield "## Contradictions"
    yield ""
    shown = groups if full else groups[:_CONTRADICTIONS]
    for cells in shown:
        first = cells[0]
        mark = "**not explained**" if first.unexplained else f"listed as {code_span(first.listed)}"
        artifacts, consumers = map(code_span, subject(cells))
        yield f"- {artifacts} on {consumers}, {mark}: {code_span(one_line(describe(first), 300))}"
        if first.unexplained:
            yield f"  - {code_span(reproducer(first, matrix.stage))}"
    if len(groups) > len(shown):
        yield f"- ... and {sum(map(len, groups)) - sum(map(len, shown))} more contradictions"
    yield ""


def _tables(matrix: Matrix) -> Iterator[str]:
    groups = squares(matrix)
    found = {version for _, version in groups}
    columns: list[Version | None] = [*sorted(version for version in found if version)]
    columns += [None] * (None in found)  # artifacts that do not say come last
    if groups:
        yield _LEGEND
    for distribution in dict.fromkeys(release.distribution for release in matrix.releases):
        releases = [one for one in matrix.releases if one.distribution == distribution]
        yield ""
        yield f"## {markdown(distribution)}"
        yield ""
        yield _row(["Release", "StableHLO", *(str(version or "?") for version in columns)])
        yield _row(["---", "---", *("---:" for _ in columns)])
        rows = [
            (one, [_figure(groups.get((str(one), version), ())) for version in columns])
            for one in sorted(releases, key=lambda one: one.current)
        ]
        for figures, same in itertools.groupby(rows, key=lambda row: row[1]):
            yield _row([*_names([one for one, _ in same]), *figures])


def _names(releases: Sequence[Release]) -> tuple[str, str]:
    """Name neighbours that did the same in one row."""
    first, last = releases[0], releases[-1]
    if first is last:
        return markdown(first.version), str(first.current)
    known = f"{first.current} to {last.current}" if first.current != last.current else ""
    names = f"{markdown(first.version)} to {markdown(last.version)} ({len(releases)} Releases)"
    return names, known or str(first.current)


def _figure(cells: Sequence[Cell]) -> str:
    if not cells:
        return ""
    good = sum(cell.verdict.compatible for cell in cells)
    figure = "✓" if good == len(cells) else f"{good}/{len(cells)}"
    figure += " ⚠" if any(cell.agreement is Agreement.CONTRADICTS for cell in cells) else ""
    return figure + ("" if any(cell.observed is not None for cell in cells) else " ?")


def _row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
