"""The Matrix for CI systems: a suite for each consumer, a test case for each artifact."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from portable.escaping import one_line, shortened
from portable.matrix.report.reproducer import reproducer
from portable.matrix.report.tally import describe
from portable.system.junit import Problem, Suite, TestCase, as_xml
from portable.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from portable.matrix import Cell, Matrix
    from portable.verdict import Diagnostic, Stage

__all__ = ["render"]

_ENDED = frozenset({Outcome.CRASHED, Outcome.HUNG})


def render(matrix: Matrix) -> str:
    """Write the suites.

    What was not observed is skipped; a consumer that crashed or hung is an error; one that
    refused or computed wrongly is a failure, and so is a contradiction without explanation. What
    many cells share, as a long reason, is written as a whole once.

    Args:
        matrix: What to write.

    Returns:
        JUnit XML.
    """
    told = _Told()
    groups: dict[str, list[TestCase]] = {str(release): [] for release in matrix.releases}
    for cell in matrix.cells:
        groups[str(cell.release)].append(_case(cell, matrix.stage, told))
    return as_xml([Suite(name, cases) for name, cases in groups.items()])


class _Told:
    """What was written as a whole: a test case that says it again has its beginning and end."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._lists: set[int] = set()

    def text(self, text: str) -> str:
        """Return a text, where it is long and was written before without its middle."""
        if len(text) <= _SHORT:
            return text
        if text in self._texts:
            return shortened(text, _SHORT)
        self._texts.add(text)
        return text

    def diagnostics(self, told: Sequence[Diagnostic]) -> Iterator[str]:
        """Yield the lines of diagnostics, where they were written before only the first."""
        lines = (line for one in told for line in _lines(one))
        if id(told) not in self._lists:
            self._lists.add(id(told))  # of a Matrix that is there until the end
            yield from map(self.text, lines)
            return
        for line in itertools.islice(lines, _FEW):
            yield shortened(line, _SHORT)
        if next(lines, None) is not None:
            yield "... and more, as above"


_SHORT, _FEW = 500, 3


def _case(cell: Cell, stage: Stage, told: _Told) -> TestCase:
    # CI systems take dots for levels, and Releases are full of them.
    release = shortened(str(cell.release), _LONGEST_NAME)
    group = f"portable.matrix.{release.replace('.', '_').replace(' ', '-')}"
    problem, kind = _problem(cell)
    if problem is None:
        return TestCase(group, cell.item.name)
    differ = cell.observed is None or cell.unexplained
    message = describe(cell, _shortly) if differ else _shortly(cell.verdict.reason)
    if cell.note:
        message = f"{_shortly(cell.note)}; {message}" if message else _shortly(cell.note)
    details = "\n".join(_details(cell, stage, told))
    return TestCase(group, cell.item.name, problem, kind, one_line(message), details)


def _shortly(text: str) -> str:
    return shortened(text, _SHORT)


def _problem(cell: Cell) -> tuple[Problem | None, str]:
    seen = cell.observed
    if seen is None:
        return Problem.SKIPPED, ""
    if seen.outcome in _ENDED:
        return Problem.ERROR, str(seen.outcome)
    if not seen.compatible:
        return Problem.FAILURE, str(seen.outcome)
    return (Problem.FAILURE, "contradiction") if cell.unexplained else (None, "")


def _details(cell: Cell, stage: Stage, told: _Told) -> Iterator[str]:
    yield describe(cell, told.text)
    if cell.listed:
        yield f"listed as {told.text(cell.listed)}"
    for verdict in cell.also:
        yield f"also observed: {verdict.says} {told.text(verdict.reason)}"
    yield from told.diagnostics(cell.verdict.diagnostics)
    yield f"again: {shortened(reproducer(cell, stage), _LONGEST_NAME)}"


_LONGEST_NAME = 1000


def _lines(diagnostic: Diagnostic, indent: str = "") -> Iterator[str]:
    where = f"{diagnostic.location}: " if diagnostic.location else ""
    yield f"{indent}{where}{diagnostic.severity}: {diagnostic.message}"
    for note in diagnostic.notes:
        yield from _lines(note, f"{indent}  ")
