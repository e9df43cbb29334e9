"""Compare what plans predict of every move between two Releases with what the matrix observed.

The corpus is audited by its content. The plan of each Release alone says what of it gets through,
up to reading and up to computing; what a plan between two of them says follows, which is tried by
planning some of the pairs. A transition is right where the matrix has what both did with the
artifact, and each did what is predicted. Exit code 1 where one did not and nothing listed says so.

    python -m tools measure_plans                  every pair; some minutes
    python -m tools measure_plans --planned 1      plan every pair, too: some 20 minutes
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import sys
import tempfile
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from unittest.mock import patch

from portable.corpus import load_corpus
from portable.fleet import Transition, audit, plan
from portable.releases import find_release
from portable.verdict import Stage
from tools.full_matrix import FALSE_ALARMS, READS_BY_EXECUTING
from tools.matrix_pages import EXECUTED, NOT_ASKED, load_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tools.matrix_pages import Results

__all__ = ["STAGES", "Compared", "compared", "main"]

CORPUS = Path(__file__).parents[1] / "corpus"
STAGES = (Stage.DECODE, Stage.EXECUTE)
_COMPUTES, _REFUSED = "E", frozenset("xch")
_SEALED = "sealed"
# By whether the consumer before the move gets through, and the one after it.
_CHANGES: Mapping[tuple[bool | None, bool | None], Transition] = {
    (True, True): Transition.KEEPS,
    (True, False): Transition.STOPS,
    (False, True): Transition.STARTS,
    (False, False): Transition.FAILS,
}


class Compared(NamedTuple):
    """What is predicted of every move between two Releases, against what the two did.

    Args:
        right: How many transitions of each kind both Releases bear out.
        listed: How many one of them does not, as is listed.
        open: Of how many the tables or the matrix do not know enough.
        wrong: How many are otherwise.
        cells: What they did that makes it so: Release, artifact and mark.
        unlike: Pairs whose plan says something else than those of the two alone, and the artifact.
    """

    right: Counter[str]
    listed: int
    open: int
    wrong: int
    cells: list[tuple[str, str, str]]
    unlike: list[tuple[str, str, str]]


class _Cell(NamedTuple):
    """What is predicted of one Release and one artifact, and whether it was so.

    Args:
        through: Whether the artifact gets through; None for not known.
        held: Whether the Release did so; None where that was not observed.
        listed: Whether it is known that it does not.
    """

    through: bool | None
    held: bool | None
    listed: bool


def compared(stage: Stage, planned: int = 0) -> Compared:
    """Compare what plans predict with what the matrix observed.

    Args:
        stage: Up to which Stage is planned.
        planned: One of how many pairs is planned, too; 0 for none.
    """
    matrix = load_results()
    artifacts = dict(_artifacts(matrix))
    module = importlib.import_module("portable.fleet.plan")
    held = functools.cache(module._held)  # noqa: SLF001 - of each Release in the plans of all pairs
    pairs = list(itertools.product(matrix.consumers, repeat=2))
    unlike = []
    with tempfile.TemporaryDirectory() as folder, patch.object(module, "_held", held):
        fleet = Path(folder, "fleet.parquet")
        audit([str(CORPUS)], fleet, depth="content")
        cells = dict(_cells(fleet, matrix, artifacts, stage))
        for before, after in pairs[:: planned or len(pairs)]:
            said = _planned(fleet, before, after, stage)
            for name, then, now in zip(artifacts, cells[before], cells[after], strict=True):
                if said.get(name, _KEEPS)[0] is not _change(then, now):
                    unlike.append((before, after, name))
    right, others = Counter[str](), Counter[str]()
    for before, after in pairs:
        for two, count in Counter(zip(cells[before], cells[after], strict=True)).items():
            predicted, held_by = _change(*two), [one.held for one in two]
            if predicted is Transition.UNKNOWN or (None in held_by and False not in held_by):
                others["open"] += count
            elif False in held_by:
                explained = all(one.listed for one in two if one.held is False)
                others["listed" if explained else "wrong"] += count
            else:
                right[str(predicted)] += count
    wrong = [
        (release, name, marks[number])
        for number, (release, column) in enumerate(cells.items())
        for (name, (_, _, marks)), one in zip(artifacts.items(), column, strict=True)
        if one.held is False and not one.listed
    ]
    return Compared(right, others["listed"], others["open"], others["wrong"], wrong, unlike)


_KEEPS = (Transition.KEEPS, True)


def _change(then: _Cell, now: _Cell) -> Transition:
    return _CHANGES.get((then.through, now.through), Transition.UNKNOWN)


def _cells(
    fleet: Path, matrix: Results, artifacts: Mapping[str, _Artifact], stage: Stage
) -> Iterator[tuple[str, list[_Cell]]]:
    """Yield what is predicted of each Release and every artifact."""
    surprises = {(one.release, one.case, one.target) for one in matrix.surprises if one.listed}
    for number, release in enumerate(matrix.consumers):
        said, column = _planned(fleet, release, release, stage), []
        for name, (case, target, marks) in artifacts.items():
            change, reads = said.get(name, _KEEPS)
            through = {Transition.KEEPS: True, Transition.FAILS: False}.get(change)
            did = _did(stage, release, marks[number], through, reads=reads)
            listed = (release, case, target) in surprises or _is_alarm(release, case)
            column.append(_Cell(through, did, listed))
        yield release, column


# Case, target, and the marks of all Releases.
_Artifact: TypeAlias = tuple[str, str, str]


def _artifacts(matrix: Results) -> Iterator[tuple[str, _Artifact]]:
    """Yield the path of each sealed artifact of the matrix, with its Case, target and marks."""
    marks = {(row.case, row.target): row.marks for row in matrix.artifacts if row.origin == _SEALED}
    for case in load_corpus(CORPUS):
        for artifact in case.artifacts:
            key = case.name, str(artifact.target)
            if key in marks:
                yield str(artifact.path), (*key, marks[key])


def _planned(
    fleet: Path, before: str, after: str, stage: Stage
) -> Mapping[str, tuple[Transition, bool]]:
    """Return what changes for each artifact where something does, and whether it is read."""
    found = plan(fleet, [find_release(before)], [find_release(after)], stage=stage)
    return {
        name: (one.change, "does not read it" not in one.reason)
        for one in found.outlooks
        for name in one.artifacts
    }


def _did(
    stage: Stage, release: str, mark: str, through: bool | None, *, reads: bool
) -> bool | None:
    """Say whether a Release did what is predicted; None where the mark does not tell.

    Args:
        stage: Up to which Stage something gets through or does not.
        release: Whose mark it is.
        mark: As of `tools.matrix_pages.MARKS`.
        through: What is predicted.
        reads: Whether it is predicted that it reads what does not get through.
    """
    if mark == NOT_ASKED or through is None:
        return None
    if not through and not reads:
        return mark in _REFUSED
    if through and stage is Stage.DECODE:
        # What reads only to execute did not show that it cannot read.
        unsure = mark in _REFUSED and release.partition(" ")[0] in READS_BY_EXECUTING
        return None if unsure else mark not in _REFUSED
    if mark not in EXECUTED | _REFUSED:
        return None
    return (mark == _COMPUTES) is through


def _is_alarm(release: str, case: str) -> bool:
    """Return whether it is known that a Release computes a Case that is predicted red."""
    return any(fnmatchcase(case, pattern) for pattern in FALSE_ALARMS.get(release, ()))


def main() -> int:
    """Compare, and print the counts and what is wrong; 1 where something is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--planned", type=int, default=101, help="one of so many pairs (101)")
    planned, failed = parser.parse_args().planned, False
    for stage in STAGES:
        found = compared(stage, planned)
        kinds = ", ".join(f"{count:,} {change}" for change, count in found.right.most_common())
        print(
            f"up to {stage}: {found.right.total():,} transitions are right ({kinds}), "
            f"{found.listed:,} are otherwise as listed, {found.wrong:,} are wrong; of "
            f"{found.open:,} the tables or the matrix do not know enough",
            flush=True,
        )
        for release, name, mark in found.cells:
            print(f"  wrong: {release}: {mark}: {Path(name).relative_to(CORPUS)}")
        for before, after, name in found.unlike:
            print(f"  planned otherwise: {before} -> {after}: {Path(name).relative_to(CORPUS)}")
        failed |= bool(found.cells or found.unlike)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
