"""The Matrix for CI systems: a suite for each consumer, a test case for each artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.escaping import one_line
from portable.matrix.report.reproducer import reproducer
from portable.matrix.report.tally import describe
from portable.system.junit import Problem, Suite, TestCase, as_xml
from portable.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.matrix import Cell, Matrix
    from portable.verdict import Diagnostic, Stage

__all__ = ["render"]

_ENDED = frozenset({Outcome.CRASHED, Outcome.HUNG})


def render(matrix: Matrix) -> str:
    """Write the suites.

    What was not observed is skipped; a consumer that crashed or hung is an error; one that
    refused or computed wrongly is a failure, and so is a contradiction without explanation.

    Args:
        matrix: What to write.

    Returns:
        JUnit XML.
    """
    groups: dict[str, list[TestCase]] = {str(release): [] for release in matrix.releases}
    for cell in matrix.cells:
        groups[str(cell.release)].append(_case(cell, matrix.stage))
    return as_xml([Suite(name, cases) for name, cases in groups.items()])


def _case(cell: Cell, stage: Stage) -> TestCase:
    # CI systems take dots for levels, and Releases are full of them.
    group = f"portable.matrix.{str(cell.release).replace('.', '_').replace(' ', '-')}"
    problem, kind = _problem(cell)
    if problem is None:
        return TestCase(group, cell.item.name)
    message = describe(cell) if cell.observed is None or cell.unexplained else cell.verdict.reason
    if cell.note:
        message = f"{cell.note}; {message}" if message else cell.note
    details = "\n".join(_details(cell, stage))
    return TestCase(group, cell.item.name, problem, kind, one_line(message), details)


def _problem(cell: Cell) -> tuple[Problem | None, str]:
    seen = cell.observed
    if seen is None:
        return Problem.SKIPPED, ""
    if seen.outcome in _ENDED:
        return Problem.ERROR, str(seen.outcome)
    if not seen.compatible:
        return Problem.FAILURE, str(seen.outcome)
    return (Problem.FAILURE, "contradiction") if cell.unexplained else (None, "")


def _details(cell: Cell, stage: Stage) -> Iterator[str]:
    yield describe(cell)
    if cell.listed:
        yield f"listed as {cell.listed}"
    for verdict in cell.also:
        yield f"also observed: {verdict.says} {verdict.reason}"
    for diagnostic in cell.verdict.diagnostics:
        yield from _lines(diagnostic)
    yield f"again: {reproducer(cell, stage)}"


def _lines(diagnostic: Diagnostic, indent: str = "") -> Iterator[str]:
    where = f"{diagnostic.location}: " if diagnostic.location else ""
    yield f"{indent}{where}{diagnostic.severity}: {diagnostic.message}"
    for note in diagnostic.notes:
        yield from _lines(note, f"{indent}  ")
