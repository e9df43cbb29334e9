"""Run the full matrix: every Case, every producer, every consumer; write `docs/matrix/`.

Every jaxlib reads the oldest artifact of every Case that it can read and writes it again: for its
own Version, and for the lowest that the Case can be written for. Every Release then reads all that
was sealed and all that was written, equal bytes once, and the jaxlibs execute the lowest artifact
of every Case. Observations are kept, so an interrupted run goes on and a second one only does what
is new.

    python -m tools.full_matrix                 run it, write docs/matrix/observed.tsv and the pages
    python -m tools.full_matrix --pages         write the pages again from observed.tsv
    python -m tools.full_matrix --check         exit 1 if the pages are not those of observed.tsv
"""

from __future__ import annotations

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from portable.corpus import load_corpus
from portable.environments import Environments
from portable.matrix import Agreement, Item, Pick, Run, Store, collect
from portable.releases import find_release, releases
from portable.verdict import Outcome, Stage
from portable.version import Version
from portable.worker import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from portable.corpus import Case
    from portable.releases import Release

ROOT = Path(__file__).parent.parent
CORPUS = ROOT / "corpus"
PAGES = ROOT / "docs" / "matrix"
OBSERVED = PAGES / "observed.tsv"

# The families that read artifacts; a plugin can only be asked for its Version.
READERS = ("jaxlib", "tensorflow", "torch-mlir", "torch-xla", "iree-base-compiler")
# One process an artifact: these read the lowest and the highest artifact of each Case only.
SLOW = frozenset({"iree-base-compiler"})
EXECUTES = "jaxlib"

MARKS = {
    (Outcome.COMPATIBLE, Stage.DECODE): "r",
    (Outcome.INCOMPATIBLE, Stage.DECODE): "x",
    (Outcome.CRASHED, Stage.DECODE): "c",
    (Outcome.HUNG, Stage.DECODE): "h",
    (Outcome.INCOMPATIBLE, Stage.ROUNDTRIP): "t",
    (Outcome.CRASHED, Stage.ROUNDTRIP): "T",
    (Outcome.COMPATIBLE, Stage.ROUNDTRIP): "R",
    (Outcome.COMPATIBLE, Stage.EXECUTE): "E",
    (Outcome.WRONG_RESULT, Stage.EXECUTE): "W",
    (Outcome.INCOMPATIBLE, Stage.EXECUTE): "X",
    (Outcome.CRASHED, Stage.EXECUTE): "C",
    (Outcome.HUNG, Stage.EXECUTE): "H",
}
NOT_ASKED = "."


@dataclass(frozen=True, slots=True)
class Written:
    """One artifact that a producer wrote, or why it did not.

    Args:
        case: The Case.
        target: For which Version.
        producer: Which Release.
        digest: Of the bytes; empty when it refused.
        reason: Why it refused.
    """

    case: str
    target: str
    producer: str
    digest: str
    reason: str = ""


def produce(release: Release, cases: Iterable[Case], folder: Path) -> list[Written]:
    """Have one jaxlib write every Case that it reads, for its own Version and for the lowest.

    Args:
        release: The producer.
        cases: What it writes.
        folder: Where the artifacts go, named by their digest.

    Returns:
        One for each Case and target.
    """
    written = []
    with Environments().get(release).worker() as worker:
        for case in cases:
            if not case.artifacts or case.first > release.target:
                continue
            oldest = case.artifacts[0].path
            for target in dict.fromkeys((case.first, release.target)):
                answer = worker.ask(
                    {
                        "kind": "rewrite",
                        "path": str(oldest),
                        "target": str(target),
                        "want": ["artifact"],
                    }
                )
                digest = ""
                if answer.status is Status.OK:
                    data = base64.b64decode(answer.payload["artifact"])
                    digest = hashlib.sha256(data).hexdigest()
                    path = folder / f"{digest}.mlir.bc"
                    if not path.exists():
                        path.write_bytes(data)
                written.append(
                    Written(case.name, str(target), str(release), digest, answer.reason)
                )
    return written


def produce_all(folder: Path) -> list[Written]:
    """Have every jaxlib write every Case.

    Args:
        folder: Where the artifacts go.

    Returns:
        What each wrote or refused, the oldest Release first.
    """
    cases = load_corpus(CORPUS)
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda release: produce(release, cases, folder), releases("jaxlib"))
        return [one for part in parts for one in part]


def items_of(written: Iterable[Written], folder: Path) -> list[Item]:
    """Return what is read: every sealed artifact, and every other that was written, once."""
    sealed = collect([CORPUS])
    found = {item.digest: replace(item, inputs=None, expected=()) for item in reversed(sealed)}
    items = list(reversed(found.values()))
    for one in written:
        if one.digest and one.digest not in found:
            path = str(folder / f"{one.digest}.mlir.bc")
            item = Item(
                f"{one.case} {one.target} by {one.producer}",
                path,
                one.digest,
                Version.parse(one.target),
                one.producer,
                find_release(one.producer).current,
                one.case,
            )
            found[one.digest] = item
            items.append(item)
    return items


@dataclass(frozen=True, slots=True)
class Surprise:
    """Cells with one contradiction: what was predicted, what was seen, where."""

    release: str
    case: str
    predicted: str
    observed: str
    listed: str


class Columns:
    """Observes Release by Release, and keeps of each Cell no more than a mark."""

    def __init__(self, store: Store, items: list[Item]) -> None:
        self._store = store
        self._items = items
        self._ends = {item.digest for item in collect([CORPUS], pick=Pick.ENDS)}
        lowest = collect([CORPUS], pick=Pick.LOWEST)
        self._executed = {item.digest: item for item in lowest if item.inputs is not None}
        self.surprises: set[Surprise] = set()

    def column(self, release: Release) -> list[str]:
        """Return one mark for each item."""
        marks = dict.fromkeys((item.digest for item in self._items), NOT_ASKED)
        slow = release.distribution in SLOW
        read = [item for item in self._items if not slow or item.digest in self._ends]
        marks |= self._observed(release, read, Stage.DECODE)
        if release.distribution == EXECUTES:
            read_ones = [
                item for digest, item in self._executed.items() if marks[digest] == "r"
            ]
            marks |= self._observed(release, read_ones, Stage.EXECUTE)
        return [marks[item.digest] for item in self._items]

    def _observed(self, release: Release, items: list[Item], stage: Stage) -> dict[str, str]:
        marks = {}
        for cell in Run(self._store, stage).matrix(items, [release]).cells:
            seen = cell.observed
            marks[cell.item.digest] = MARKS[seen.outcome, seen.stage] if seen else NOT_ASKED
            if cell.agreement is Agreement.CONTRADICTS and seen:
                self.surprises.add(
                    Surprise(
                        str(release),
                        cell.item.case,
                        f"{cell.predicted.outcome}: {cell.predicted.reason}",
                        f"{seen.outcome} at {seen.stage}: {seen.reason}",
                        cell.listed,
                    )
                )
        return marks
