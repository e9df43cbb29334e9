"""What a hunt has done and found, as files: its rounds and causes."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

from portable.errors import PortableError
from portable.fuzz.causes import Cause, age_of
from portable.fuzz.hunted import FEW_OPS, SOON_S, Hunted
from portable.runtime.executors.tensors import stored_arrays
from portable.system.documents import parse_json
from portable.system.files import read_file, write_file
from portable.tolerance import demand_count, demand_distance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from portable.fuzz.reduction import Candidate

__all__ = ["Campaign", "MalformedHunt", "Progress"]

_T = TypeVar("_T")


class MalformedHunt(PortableError):
    """A file in the folder of a hunt is not what a hunt writes."""


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
        self._cpu = folder / "cpu.json"
        for one in (self._causes, self._rounds):
            one.mkdir(parents=True, exist_ok=True)
        self.progress = Progress()
        for path in sorted(self._rounds.parent.glob("*/*.json")):
            self.progress.add(_kept(path, _progress))

    def next_round(self) -> int:
        """Return the number of the first round that is not there."""
        return len(list(self._rounds.glob("*.json")))

    def add_round(self, number: int, done: Progress) -> None:
        """Write down a round."""
        write_file(self._rounds / f"{number:06}.json", json.dumps(done.record()).encode())
        self.progress.add(done)

    def add_cpu(self, seconds: float) -> None:
        """Count processor time; what a hunt used that was killed by SIGKILL is not known."""
        write_file(self._cpu, json.dumps(self._used() + seconds).encode())

    def _used(self) -> float:
        return _kept(self._cpu, demand_distance) if self._cpu.exists() else 0.0

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
            yield _kept(path, Cause.from_record)

    def covered(self, number: int) -> Counter[str]:
        """Return what programs of this seed covered before a round, as `Progress.covers`."""
        found: Counter[str] = Counter()
        for path in sorted(self._rounds.glob("*.json"))[:number]:
            found.update(_kept(path, _progress).covers)
        return found

    def hunted(self) -> Hunted:
        """Return what the hunt has done and found, each cause explained as today's table does."""
        done, took = self.progress, self.progress.reduced
        folders = (path for path in self._rounds.parent.iterdir() if path.is_dir())
        counts = {path.name: len([*path.glob("*.json")]) for path in folders}
        small = [seconds for _, after, seconds in took if after <= FEW_OPS]
        where: dict[str, list[str]] = {}
        for one in sorted(done.computed):
            release, _, covered = one.partition(": ")
            where.setdefault(covered, []).append(release)
        return Hunted(
            seeds={seed: counts[seed] for seed in sorted(counts, key=_by_number)},
            programs=done.programs,
            judged=done.judged,
            seconds=done.seconds,
            cpu=self._used(),
            unconfirmed=done.unconfirmed.total(),
            reductions=(
                len(took),
                len(small),
                sum(seconds <= SOON_S for seconds in small),
                round(statistics.median(seconds for _, _, seconds in took)) if took else 0,
            ),
            executed=dict(done.executed),
            refused=dict(done.refused),
            computed={covered: tuple(found) for covered, found in where.items()},
            # One of a round that was not finished is found again when it is.
            causes=tuple(
                (cause, count) for cause in self.causes() if (count := done.causes[cause.name])
            ),
        )


def _kept(path: Path, build: Callable[[Any], _T]) -> _T:
    """Return what a file of a hunt says."""
    try:
        return build(parse_json(read_file(path)))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise MalformedHunt(
            f"not what a hunt writes: {error}",
            where=str(path),
            hint="remove it, or hunt into another folder",
        ) from error


def _by_number(seed: str) -> tuple[int, str]:
    return len(seed), seed


def _progress(fields: Mapping[str, Any]) -> Progress:
    readers: dict[str, Callable[[Any], Any]] = {
        **dict.fromkeys(Progress.__slots__, _counts),
        **dict.fromkeys(("executed", "refused", "computed"), _by_release),
        **dict.fromkeys(("rounds", "programs", "judged"), demand_count),
        "seconds": demand_distance,
        "reduced": _reduced,
    }
    return Progress(**{key: readers[key](value) for key, value in fields.items()})


def _reduced(rows: list[list[object]]) -> list[tuple[float, float, float]]:
    return [(demand_count(a), demand_count(b), demand_distance(c)) for a, b, c in rows]


def _by_release(counted: Mapping[str, object]) -> dict[str, int]:
    for name in counted:
        age_of(name.partition(": ")[0])
    return _counts(counted)


def _counts(counted: Mapping[str, object]) -> dict[str, int]:
    return {name: demand_count(count) for name, count in counted.items()}
