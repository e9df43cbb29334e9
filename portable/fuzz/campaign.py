"""What a hunt has done and found, as files: its rounds and causes."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from portable.fuzz.causes import Cause
from portable.fuzz.hunted import FEW_OPS, SOON_S, Hunted
from portable.runtime.executors.tensors import stored_arrays
from portable.system.files import read_file, write_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from portable.fuzz.reduction import Candidate

__all__ = ["Campaign", "Progress"]


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
            self.progress.add(_progress(json.loads(read_file(path))))

    def next_round(self) -> int:
        """Return the number of the first round that is not there."""
        return len(list(self._rounds.glob("*.json")))

    def add_round(self, number: int, done: Progress) -> None:
        """Write down a round."""
        write_file(self._rounds / f"{number:06}.json", json.dumps(done.record()).encode())
        self.progress.add(done)

    def add_cpu(self, seconds: float) -> None:
        """Count processor time; what a hunt used that was killed is not known."""
        write_file(self._cpu, json.dumps(self._used() + seconds).encode())

    def _used(self) -> float:
        return float(json.loads(read_file(self._cpu))) if self._cpu.exists() else 0.0

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
            yield Cause.from_record(json.loads(read_file(path)))

    def covered(self, number: int) -> Counter[str]:
        """Return what programs of this seed covered before a round, as `Progress.covers`."""
        found: Counter[str] = Counter()
        for path in sorted(self._rounds.glob("*.json"))[:number]:
            found.update(json.loads(read_file(path))["covers"])
        return found

    def hunted(self) -> Hunted:
        """Return what the hunt has done and found, each cause explained as today's table does."""
        done, took = self.progress, self.progress.reduced
        counts = {path.name: len([*path.glob("*.json")]) for path in self._rounds.parent.iterdir()}
        small = [seconds for _, after, seconds in took if after <= FEW_OPS]
        where: dict[str, list[str]] = {}
        for one in sorted(done.computed):
            release, _, covered = one.partition(": ")
            where.setdefault(covered, []).append(release)
        return Hunted(
            seeds={seed: counts[seed] for seed in sorted(counts, key=int)},
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


def _progress(fields: Mapping[str, Any]) -> Progress:
    return Progress(**fields)
