"""Run the full matrix: every Case, every producer, every consumer; write `docs/matrix/`.

Every jaxlib reads the oldest artifact of every Case that it can read and writes it again: for its
own Version, and for the lowest that the Case can be written for. What it wrote is read by the
newest jaxlib and has to be the same program. Every Release then reads all that was sealed and all
that was written, equal bytes once, and executes, where it can, the lowest artifact of every Case
that has inputs, or the lowest and the highest. Observations are kept: an interrupted run continues,
and a second one only does what is new.

    python -m tools full_matrix              run it: docs/matrix/*.tsv and the pages made of them
    python -m tools full_matrix --missing    only the Cases that are not there, beside what is there
    python -m tools full_matrix --missing --but 'torch-xla<2.9'    and without these Releases
    python -m tools full_matrix --missing --executing jaxlib==0.12.0.1    the others only read
"""

from __future__ import annotations

import argparse
import base64
import datetime
import hashlib
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from portable.corpus import load_corpus
from portable.matrix import Agreement, Item, Pick, Run, Store, case_items
from portable.matrix.store import default_path
from portable.releases import find_release, releases, runnable_releases
from portable.runtime.environments import Environments
from portable.system.worker import Status
from portable.verdict import Outcome, Stage
from portable.version import Version
from tools.consumer import consumers
from tools.matrix_pages import (
    CHANGED,
    MARKS,
    NOT_ASKED,
    REFUSED,
    WRITTEN,
    Results,
    Row,
    Surprise,
    load_results,
    save_results,
    write_pages,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from portable.corpus import Case
    from portable.releases import Release
    from portable.system.worker import Worker

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "corpus"

# One process an artifact: it reads the lowest and the highest artifact of each Case only.
SLOW = frozenset({"iree-base-compiler"})
# It reads only to execute, and takes a second for each.
READS_BY_EXECUTING = frozenset({"torch-xla"})
# What is refused of these depends on sizes, and the table of capabilities has them by others: odd
# numbers of four bits, transforms of lengths that are no power of two, windows.
FALSE_ALARMS = {
    "jaxlib 0.4.20": ("convert_f32_to_i4", "convert_*i4_to_f32"),
    "iree-base-compiler 3.13.0": ("fft_*", "whole_fft_filter", "select_and_scatter_f32"),
}
# These execute the lowest artifact of each Case, the others the highest too: there are 45 jaxlibs,
# IREE has processes of its own for each, and a torch_xla that crashes takes ten seconds to start.
EXECUTES_LOWEST = frozenset({"iree-base-compiler", "jaxlib", "torch-xla"})
JUDGE = "jaxlib 0.12.0.1"


@dataclass(frozen=True, slots=True)
class Written:
    """One artifact that a producer wrote, or why it did not.

    Args:
        case: The Case.
        target: For which Version.
        producer: Which Release.
        digest: Of the bytes; empty when it refused.
    """

    case: str
    target: str
    producer: str
    digest: str


def produce(release: Release, cases: Iterable[Case], folder: Path) -> list[Written]:
    """Have one jaxlib write every Case that it reads, for its own Version and for the lowest.

    Args:
        release: The producer.
        cases: What it writes.
        folder: Where the artifacts go, named by their digest.

    Returns:
        One for each Case and target.
    """
    with Environments().get(release).worker() as worker:
        return [
            Written(case.name, str(target), str(release), _written(worker, case, target, folder))
            for case in cases
            if case.artifacts and case.first <= release.target
            for target in dict.fromkeys((case.first, release.target))
        ]


def _written(worker: Worker, case: Case, target: Version, folder: Path) -> str:
    oldest = str(case.artifacts[0].path)
    job = {"kind": "rewrite", "path": oldest, "target": str(target), "want": ["artifact"]}
    answer = worker.ask(job)
    if answer.status is not Status.OK:
        return ""
    data = base64.b64decode(answer.payload["artifact"])
    digest = hashlib.sha256(data).hexdigest()
    (folder / f"{digest}.mlir.bc").write_bytes(data)
    return digest


def changed(written: Iterable[Written], cases: Iterable[Case], folder: Path) -> set[str]:
    """Have the newest jaxlib read what was written; find what is not the Case's program any more.

    Args:
        written: What was written.
        cases: The Cases.
        folder: Where the artifacts are.

    Returns:
        The digests of those that read back as another program, or not at all.
    """
    oldest = {case.name: case.artifacts[0].path for case in cases if case.artifacts}
    digests = {one.digest for one in written if one.digest}
    with Environments().get(find_release(JUDGE)).worker() as worker:
        programs = {name: _program(worker, path) for name, path in oldest.items()}
        texts = {digest: _program(worker, folder / f"{digest}.mlir.bc") for digest in digests}
    return others(written, programs, texts)


def _program(worker: Worker, path: Path) -> str:
    answer = worker.ask({"kind": "read", "path": str(path), "want": ["text_sha256"]})
    return str(answer.payload.get("module_sha256", ""))


def others(
    written: Iterable[Written], programs: Mapping[str, str], texts: Mapping[str, str]
) -> set[str]:
    """Return the digests of what is not the Case's program.

    Args:
        written: What was written.
        programs: What each Case reads back as; empty where it does not.
        texts: The same for what was written, by digest.

    Returns:
        Those that read back as something else, and all that do not read back.
    """
    return {
        one.digest
        for one in written
        if one.digest and (not texts[one.digest] or texts[one.digest] != programs[one.case])
    }


def items_of(sealed: Iterable[Item], written: Iterable[Written], folder: Path) -> list[Item]:
    """Return what is read: every sealed artifact, and every other that was written, once."""
    found = {item.digest: replace(item, inputs=None, expected=()) for item in sealed}
    for one in written:
        if one.digest and one.digest not in found:
            found[one.digest] = Item(
                name=f"{one.case} {one.target} by {one.producer}",
                path=str(folder / f"{one.digest}.mlir.bc"),
                digest=one.digest,
                claimed=Version.parse(one.target),
                producer=one.producer,
                producer_version=find_release(one.producer).current,
                case=one.case,
            )
    return list(found.values())


class Marks:
    """Observes, and keeps of each Cell no more than a mark; the last one counts.

    Attributes:
        found: The marks, by digest and Release.
        surprises: What was not as predicted.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.found: dict[tuple[str, str], str] = {}
        self.surprises: set[Surprise] = set()

    def observe(self, items: Sequence[Item], consumers: Sequence[Release], stage: Stage) -> None:
        """Run a matrix."""
        print(f"{len(items):,} artifacts x {len(consumers)} Releases, {stage}", file=sys.stderr)
        run = Run(self._store, stage)
        for cell in run.cells(items, consumers):
            seen = cell.observed
            if seen is None:
                continue
            name = str(cell.release)
            apart = cell.release.distribution in READS_BY_EXECUTING
            failed = seen.outcome not in {Outcome.COMPATIBLE, Outcome.WRONG_RESULT}
            # What reads only to execute did not show that it read.
            reached = Stage.DECODE if apart and failed else seen.stage
            if reached is Stage.COMPILE:
                reached = Stage.EXECUTE  # where executors differ that compile as they execute
            self.found[cell.item.digest, name] = MARKS[seen.outcome, reached]
            if cell.agreement is Agreement.CONTRADICTS:
                predicted = f"{cell.predicted.outcome}: {cell.predicted.reason}"
                observed = f"{seen.outcome} at {seen.stage}: {seen.reason}"
                where = (name, cell.item.case, str(cell.item.claimed))
                self.surprises.add(Surprise(*where, predicted, observed, cell.listed))


def observe_all(
    items: Sequence[Item],
    cases: Sequence[Case],
    store: Store,
    asked: Collection[Release],
    executing: Collection[Release],
) -> Marks:
    """Have every Release read, and execute what it can.

    Args:
        items: What is read.
        cases: What is executed.
        store: Where observations are kept.
        asked: The Releases.
        executing: Those of them that execute too.

    Returns:
        What they did.
    """
    marks = Marks(store)
    ends, lowest = (
        [item for case in cases for item in case_items(case, pick)]
        for pick in (Pick.ENDS, Pick.LOWEST)
    )

    def among(
        of: Collection[Release], names: Collection[str], *, others: bool = False
    ) -> list[Release]:
        return [one for one in of if (one.distribution in names) is not others]

    marks.observe(ends, among(asked, SLOW), Stage.DECODE)
    marks.observe(items, among(asked, SLOW | READS_BY_EXECUTING, others=True), Stage.DECODE)
    marks.observe(_executable(lowest), among(executing, EXECUTES_LOWEST), Stage.EXECUTE)
    marks.observe(_executable(ends), among(executing, EXECUTES_LOWEST, others=True), Stage.EXECUTE)
    return marks


def _executable(items: Iterable[Item]) -> list[Item]:
    return [item for item in items if item.inputs is not None]


def rows_of(written: Sequence[Written], cases: Iterable[Case], other: Collection[str]) -> list[Row]:
    """Return what every producer did with every Case, for the lowest target and for its own."""
    producers = [str(release) for release in releases("jaxlib")]
    lowest = {case.name: str(case.first) for case in cases}
    marks: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for one in written:
        mark = REFUSED if not one.digest else CHANGED if one.digest in other else WRITTEN
        own = str(find_release(one.producer).target) == one.target
        if one.target == lowest[one.case]:
            marks[one.case, "lowest"][one.producer] = mark
        if own:
            marks[one.case, "current"][one.producer] = mark
    return [
        Row(
            case,
            lowest[case] if which == "lowest" else "",
            which,
            "".join(found.get(name, NOT_ASKED) for name in producers),
        )
        for (case, which), found in sorted(marks.items())
    ]


def run(
    store: Store,
    folder: Path,
    cases: Sequence[Case],
    readers: Sequence[str],
    *,
    but: Collection[Release] = (),
    executing: Collection[Release] = (),
) -> Results:
    """Run the matrix of some Cases.

    Args:
        store: Where observations are kept.
        folder: Where artifacts are kept as long as it runs.
        cases: The Cases.
        readers: The Releases that the results are of.
        but: Those of them that are not asked.
        executing: Those that execute too; by default all.

    Returns:
        The raw results.
    """
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda release: produce(release, cases, folder), releases("jaxlib"))
        written = [one for part in parts for one in part]
    sealed = [item for case in cases for item in case_items(case, Pick.ALL)]
    items = items_of(sealed, written, folder)
    asked = [one for one in map(find_release, readers) if one not in but]
    execute = [one for one in asked if one in executing or not executing]
    marks = observe_all(items, cases, store, asked, execute)
    digests = {item.digest for item in sealed}
    artifacts = tuple(
        Row(
            item.case,
            str(item.claimed),
            "sealed" if item.digest in digests else item.producer,
            "".join(marks.found.get((item.digest, name), NOT_ASKED) for name in readers),
        )
        for item in items
    )
    return Results(
        date=datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        # A Release not available on this machine has no marks.
        consumers=tuple(readers),
        artifacts=artifacts,
        producers=tuple(str(release) for release in releases("jaxlib")),
        written=tuple(rows_of(written, cases, changed(written, cases, folder))),
        surprises=tuple(marks.surprises),
    )


def beside(old: Results, new: Results) -> Results:
    """Return the results of some Cases beside those of others, as of the later day.

    Args:
        old: What is there.
        new: What the same Releases did later; of a Case that both have, it counts.

    Returns:
        Both.
    """
    again = {row.case for row in new.artifacts}

    def kept(rows: Iterable[Row]) -> Iterator[Row]:
        return (row for row in rows if row.case not in again)

    written = sorted([*kept(old.written), *new.written], key=lambda row: (row.case, row.origin))
    return replace(
        new,
        artifacts=(*kept(old.artifacts), *new.artifacts),
        written=tuple(written),
        surprises=(*(one for one in old.surprises if one.case not in again), *new.surprises),
    )


def main() -> int:
    """Run it and write everything."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", default=str(default_path()), help="where observations are kept")
    parser.add_argument("--missing", action="store_true", help="only Cases that are not there")
    parser.add_argument("--but", nargs="+", default=(), metavar="SPEC", help="who is not asked")
    parser.add_argument("--executing", nargs="+", default=(), metavar="SPEC", help="who executes")
    chosen = parser.parse_args()
    cases = load_corpus(CORPUS)
    readers = tuple(str(release) for release in consumers().values())
    old = load_results() if chosen.missing else None
    if old is not None:
        there, readers = {row.case for row in old.artifacts}, old.consumers
        cases = tuple(case for case in cases if case.name not in there)
    but, executing = (
        runnable_releases(*specs) if specs else () for specs in (chosen.but, chosen.executing)
    )
    with tempfile.TemporaryDirectory(prefix="portable-") as name, Store(chosen.cache) as store:
        results = run(store, Path(name), cases, readers, but=but, executing=executing)
    if old is not None:
        results = beside(old, results)
    save_results(results)
    write_pages(results)
    unexplained = sum(not one.listed for one in results.surprises)
    print(f"{len(results.surprises)} contradictions, {unexplained} not explained")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
