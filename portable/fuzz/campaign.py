"""What a hunt has done and found, as files: rounds, causes, and a page about both."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import statistics
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from portable.escaping import markdown
from portable.fuzz.judging import left_open
from portable.fuzz.one_op import coverable
from portable.runtime.executors.tensors import stored_arrays
from portable.system.files import read_file, write_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from portable.fuzz.reduction import Candidate

__all__ = ["Campaign", "Cause", "Progress", "signature_of"]

_NAME = re.compile(r"[^a-z0-9]+")
_OP = re.compile(r"\"?stablehlo\.(\w+)")
_TYPE = re.compile(r"tensor<(?:(?:\d+|\?)x)*([^<>]+(?:<[^<>]*>)?)>")
_HEADS = (
    *("cause", "how often", "Releases", "difference", "first bad", "first good"),
    *("left open", "foreseen"),
)
# A reduction is good that comes to so few ops, and soon.
_FEW_OPS, _SOON_S = 5, 60
_SILENT = frozenset({"return", "constant"})


@dataclass(frozen=True, slots=True)
class Cause:
    """One way in which Releases compute something else, with the smallest program that shows it.

    Args:
        kind: The sort of difference, or how the process ended.
        ops: The ops of the program, each with its element types.
        releases: Where it is seen, among those of the hunt.
        program: The program.
        seed: The generated program that led to it.
        detail: The difference.
        first_bad: The first Release known to have it, when an earlier one has not.
        first_good: The first Release after it that has it no more.
        explained: What the specification leaves open that explains it; empty where nothing does.
        foreseen: What `predict` says of it for all these Releases; empty where it does not know.
        judge: What computed what is right.
    """

    kind: str
    ops: tuple[str, ...]
    releases: tuple[str, ...]
    program: str
    seed: str
    detail: str
    first_bad: str = ""
    first_good: str = ""
    explained: str = ""
    foreseen: str = ""
    judge: str = ""

    def record(self) -> dict[str, object]:
        """Return the cause as plain data for JSON."""
        return {"name": self.name} | asdict(self)

    @property
    def name(self) -> str:
        """What its folder is called; the same cause has the same name."""
        said = _NAME.sub("-", f"{'-'.join(self.ops)}-{self.kind}".lower())[:60].strip("-")
        told = repr((self.kind, self.ops, self.releases))
        return f"{said}-{hashlib.sha256(told.encode()).hexdigest()[:6]}"


class Progress:
    """What a hunt has done, counted while it does it.

    Args:
        rounds: How many rounds.
        programs: How many programs.
        judged: How many of them the interpreter executed.
        seconds: How long it took.
        reduced: As the attribute.
        counted: The counts by name that are not empty.

    Attributes:
        executed: How many each Release has executed.
        refused: How many each Release has refused.
        covers: How many programs had each form, and each form with each element type: `add f32`.
        computed: How many of these each Release has executed: `jaxlib 0.5.3: add f32`.
        reduced: Of each reduction, how many ops there were and are, and the seconds it took.
        causes: How often each cause was found, by its name.
        unconfirmed: The differences that were not there a second time, with their seeds.
    """

    __slots__ = (
        "causes", "computed", "covers", "executed", "judged", "programs", "reduced", "refused",
        "rounds", "seconds", "unconfirmed",
    )  # fmt: skip

    def __init__(
        self,
        rounds: int = 0,
        programs: int = 0,
        judged: int = 0,
        seconds: float = 0.0,
        reduced: Sequence[Sequence[float]] = (),
        **counted: Mapping[str, int],
    ) -> None:
        self.rounds, self.programs, self.judged = rounds, programs, judged
        self.seconds = seconds
        self.executed = Counter(counted.get("executed"))
        self.refused = Counter(counted.get("refused"))
        self.covers = Counter(counted.get("covers"))
        self.computed = Counter(counted.get("computed"))
        self.reduced = [*map(tuple, reduced)]
        self.causes = Counter(counted.get("causes"))
        self.unconfirmed = Counter(counted.get("unconfirmed"))

    def record(self) -> dict[str, object]:
        """Return what was done as plain data for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}

    def add(self, other: Progress) -> None:
        """Count another one too."""
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, mine + theirs)


class Campaign:
    """The folder of a hunt. What is written to it is there whole or not at all.

    Args:
        folder: Where; made if missing, continued if it is there.
        seed: What the programs are made from: each seed has its own rounds.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self._causes = folder / "causes"
        self._rounds = folder / "rounds" / str(seed)
        for one in (self._causes, self._rounds):
            one.mkdir(parents=True, exist_ok=True)
        self.progress = Progress()
        for path in sorted(self._rounds.parent.glob("*/*.json")):
            self.progress.add(_progress(json.loads(read_file(path))))

    def next_round(self) -> int:
        """Return the number of the first round that is not there."""
        return len(list(self._rounds.glob("*.json")))

    def add_round(self, number: int, done: Progress) -> None:
        """Write down a round."""
        write_file(self._rounds / f"{number:06}.json", json.dumps(done.record()).encode())
        self.progress.add(done)

    def add_cause(self, cause: Cause, smallest: Candidate) -> None:
        """Write down a cause with its program and inputs; one that is there is replaced."""
        place = self._causes / cause.name
        place.mkdir(exist_ok=True)
        write_file(place / "program.mlir", cause.program.encode())
        write_file(place / "inputs.npz", stored_arrays(smallest.inputs or ()))
        # Last: a folder without it is not whole, and is no cause.
        write_file(place / "cause.json", json.dumps(asdict(cause), indent=1).encode())

    def causes(self) -> Iterator[Cause]:
        """Yield every cause."""
        for path in sorted(self._causes.glob("*/cause.json")):
            fields = json.loads(read_file(path))
            lists = {name: tuple(fields[name]) for name in ("ops", "releases")}
            yield Cause(**(fields | lists))

    def covered(self, number: int) -> Counter[str]:
        """Return what programs of this seed covered before a round, as `Progress.covers`."""
        found: Counter[str] = Counter()
        for path in sorted(self._rounds.glob("*.json"))[:number]:
            found.update(json.loads(read_file(path))["covers"])
        return found

    def page(self, elements: Collection[str]) -> str:
        """Return what the hunt has done and found, as Markdown.

        Args:
            elements: The element types that its programs could have.
        """
        done, hours = self.progress, f"{self.progress.seconds / 3600:.1f}"
        lines = [
            "# What a hunt found",
            "",
            f"{done.programs} programs in {hours} hours; {done.judged} of them could be judged.",
            f"{self._seeds()}.",
            f"Differences that were not there a second time: {done.unconfirmed.total()}.",
            *_reductions(done.reduced),
            "",
            *self._causes_found(),
            "",
            "## Coverage",
            "",
            *_coverage(done, coverable(frozenset(elements))),
        ]
        return "\n".join(lines) + "\n"

    def _seeds(self) -> str:
        """Say how many rounds there were of each seed."""
        folders = sorted(self._rounds.parent.iterdir(), key=lambda path: int(path.name))
        counts = {path.name: len(list(path.glob("*.json"))) for path in folders}
        return "Rounds of each seed: " + ", ".join(f"{n} of {seed}" for seed, n in counts.items())

    def _causes_found(self) -> Iterator[str]:
        """Yield the table of causes, each explained as today's table of what is open does."""
        yield from _head(_HEADS)
        found = []
        for cause in self.causes():
            row = left_open(cause.program, cause.kind)
            found.append(replace(cause, explained=row.id if row else ""))
        for cause in sorted(found, key=lambda one: (bool(one.explained), one.ops)):
            cells = (
                " ".join(cause.ops),
                str(self.progress.causes[cause.name]),
                ", ".join(cause.releases),
                f"{cause.kind}: {cause.detail}",
                cause.first_bad,
                cause.first_good,
                cause.explained,
                cause.foreseen,
            )
            yield f"| {' | '.join(markdown(cell) if cell else '' for cell in cells)} |"


def _head(heads: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]


def _reductions(found: Sequence[Sequence[float]]) -> Iterator[str]:
    if found:
        small = sum(after <= _FEW_OPS for _, after, _ in found)
        quick = sum(after <= _FEW_OPS and took <= _SOON_S for _, after, took in found)
        middle = statistics.median(took for _, _, took in found)
        yield (
            f"Reductions: {len(found)}, to at most {_FEW_OPS} ops {small}, of these within "
            f"{_SOON_S} s {quick}; half of all took at most {middle:.0f} s."
        )


def _coverage(done: Progress, possible: Collection[str]) -> Iterator[str]:
    """Yield what was executed, of each form and element type that there is."""
    where: dict[str, list[str]] = {}
    for one in done.computed:
        release, _, covered = one.partition(": ")
        where.setdefault(covered, []).append(release)
    counted = Counter(itertools.chain(*where.values()))
    yield from _head(("Release", "executed", "refused", f"forms and types of {len(possible)}"))
    for release in sorted(done.executed | done.refused):
        numbers = (done.executed[release], done.refused[release], counted[release])
        yield f"| {release} | {' | '.join(map(str, numbers))} |"
    yield ""
    yield "On how many of these Releases a program with a form and an element type was executed."
    yield "Where there is no number it is not valid."
    yield ""
    elements = sorted({one.partition(" ")[2] for one in possible} - {""})
    yield from _head(["form", *map(markdown, elements)])
    for form in sorted(one for one in possible if " " not in one):
        pairs = [f"{form} {element}" for element in elements]
        cells = (str(len(where.get(one, ()))) if one in possible else "" for one in pairs)
        yield f"| {form} | {' | '.join(cells)} |"


def _progress(fields: Mapping[str, Any]) -> Progress:
    return Progress(**fields)


def signature_of(text: str) -> tuple[str, ...]:
    """Return the ops of a program in order, each with its element types: `add(f32)`."""
    found = []
    for line in text.splitlines():
        match = _OP.search(line)
        if match and match[1] not in _SILENT:
            found.append(f"{match[1]}({' '.join(dict.fromkeys(_TYPE.findall(line)))})")
    return tuple(found)
