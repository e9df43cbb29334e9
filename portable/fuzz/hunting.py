"""Hunt: run generated programs on real Releases, and reduce each that computes something else.

Rounds of programs go through the matrix: every Release in its process, every observation kept, so
that a hunt that was killed goes on where it was. StableHLO's interpreter judges; of ops that it
lacks, the newest XLA does. A difference is confirmed, reduced, and grouped by its cause: the ops
that are left, the sort of difference, and the Releases that have it.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.fuzz.campaign import Progress
from portable.fuzz.causes import Cause, signature_of
from portable.fuzz.generation import generate
from portable.fuzz.inputs import inputs_for
from portable.fuzz.judging import CRASH, departure, flushed, left_open, nudged, nudged_text
from portable.fuzz.reduction import ConditionNeverHolds, ConditionNotStable, reduce
from portable.matrix import Item, Run
from portable.matrix.batch import Benches
from portable.matrix.inputs import with_inputs
from portable.pinning import serialize
from portable.prediction import predict
from portable.releases import runnable_releases
from portable.runtime.executors import ExecutionFailed, executor_of, find_executor
from portable.system import children, scratch
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from concurrent.futures import Executor as Cluster

    from portable.artifact import Artifact
    from portable.fuzz.campaign import Campaign
    from portable.fuzz.generation import Generated
    from portable.fuzz.reduction import Candidate
    from portable.matrix import Store
    from portable.releases import Release
    from portable.runtime.environments import Environments
    from portable.runtime.executors import Executor
    from portable.runtime.executors.tensors import Array
    from portable.verdict import Verdict
    from portable.version import Version

__all__ = ["ELEMENTS", "SIZE", "Hunt", "NothingJudged", "boundaries"]

ROUND = 30
SIZE = 6
ELEMENTS = (
    *("f32", "f64", "f16", "bf16", "complex<f32>", "complex<f64>", "i1"),
    *("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"),
)
"""The element types whose precision tells a difference from a rounding."""

_INTERPRETER = "interpreter"
# By what a Release judges; nothing for what else it executes with.
_JUDGES = (_INTERPRETER, "")
# Of how many programs one may have ops that the interpreter lacks.
_UNJUDGED = 4
_NUDGES = (1, 2)
_REFUSED = "refused"
_LIMIT_S = 30.0
_WRITING_S = 120.0
# Of programs that differ alike on the same Releases, how many of a round are reduced.
_EACH = 2
# After so many programs a process is ended: some Releases leak.
_ARTIFACTS = 1000


class NothingJudged(PortableError):
    """Of no program of a round it is known what it should compute."""


@dataclass(frozen=True, slots=True)
class _Find:
    """A program that computes something else, and where."""

    program: Generated
    inputs: tuple[Array, ...]
    seed: str
    kind: str
    releases: tuple[Release, ...]


@dataclass(frozen=True, slots=True)
class _Subject:
    """A generated program as it is executed: itself, and with inputs that are a few ulps off."""

    program: Generated
    inputs: tuple[Array, ...]
    items: tuple[Item, ...]


class Hunt:
    """A hunt.

    Args:
        campaign: Where rounds and causes are written down.
        releases: What to run the programs on.
        judge: Whose interpreter is taken for right.
        store: Where observations are kept.
        environments: Where the Releases are, or are made.
        seed: What the programs are made from.
        size: How many ops each has.
        only: The ops to use; by default all.
        executor: What runs the programs, as for `portable.matrix.Run`; reductions are made here.
        progress: Called with how many programs were executed, on any Release, each smaller one of a
            reduction too; from any thread.
    """

    def __init__(
        self,
        campaign: Campaign,
        releases: Sequence[Release],
        judge: Release,
        store: Store,
        environments: Environments,
        *,
        seed: int = 0,
        size: int = SIZE,
        only: Collection[str] = (),
        executor: Cluster | None = None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._cluster = executor
        self._progress = progress
        self._executed = 0
        self.campaign = campaign
        self.releases = tuple(releases)
        self.judge = judge
        self._store = store
        self._environments = environments
        self._seed = seed
        self._size = size
        self._only = frozenset(only)
        self._benches: Benches | None = None

    def run(self, until: float, tell: Callable[[Progress], None]) -> None:
        """Hunt for a time.

        Args:
            until: The time of `time.monotonic` when no other round is begun.
            tell: Called after each round.
        """
        with Benches(len(self.releases) + len(_JUDGES), _ARTIFACTS) as self._benches:
            while time.monotonic() < until:
                began, number = time.monotonic(), self.campaign.next_round()
                done = self.round(number)
                done.seconds = time.monotonic() - began
                self.campaign.add_round(number, done)
                tell(self.campaign.progress)

    def round(self, number: int) -> Progress:
        """Run one round of programs, and write down the causes of what they find.

        Args:
            number: Which; the same number has the same programs.

        Returns:
            What was done in it.

        Raises:
            NothingJudged: A round that shows nothing would only seem to be one.
        """
        covered = self.campaign.covered(number)
        numbers = range(number * ROUND, (number + 1) * ROUND)
        made = {f"{self._seed}/{one}": self._made(one, covered) for one in numbers}
        done = Progress(rounds=1, programs=len(made))
        for one in made.values():
            done.covers.update(one.covers)
        with scratch.folder() as folder:
            finds = list(self._finds(made, Path(folder), done))
        if not done.judged:
            raise NothingJudged(
                f"{self.judge} executed none of {done.programs} programs",
                hint="begin again; if it stays so, try it on a program: portable run --on",
            )
        for find in _few_of_each(finds, [*self.campaign.causes()]):
            self._explain(find, done)
        return done

    def _explain(self, find: _Find, done: Progress) -> None:
        """Reduce a find; again for those Releases on which what is left is right.

        They compute something else in the program too, by another cause.
        """
        while find.releases:
            *others, _ = find.releases
            try:
                cause = self._reduced(find, done)
            except (ConditionNeverHolds, ConditionNotStable):
                done.unconfirmed[f"{find.seed}: {find.kind}"] += 1
            else:
                done.causes[cause.name] += 1
                others = [one for one in others if str(one) not in cause.releases]
            find = replace(find, releases=tuple(others))

    def _made(self, number: int, covered: Mapping[str, int]) -> Generated:
        """Return a program; what earlier rounds had seldom is in it more often."""
        return generate(
            f"{self._seed}/{number}",
            ops=self._size,
            only=self._only,
            judged=bool(number % _UNJUDGED),
            elements=ELEMENTS,
            covered=covered,
        )

    def _finds(
        self, made: Mapping[str, Generated], folder: Path, done: Progress
    ) -> Iterator[_Find]:
        subjects = dict(_subjects(made, folder))
        judged = self._judged(subjects)
        done.judged = len(judged)
        kinds: dict[tuple[str, str], list[Release]] = {}
        for release in self.releases:
            items = [subjects[seed].items[0] for seed in judged]
            readable = [one for one in items if _reads(release, one.claimed)]
            for item, _, seen, outputs in self._run().computed(readable, [release]):
                if seen.verdict is not None:
                    counted = done.executed if outputs else done.refused
                    counted[str(release)] += 1
                    if outputs:
                        covers = made[item.name].covers
                        done.computed.update(f"{release}: {one}" for one in covers)
                    text, right = made[item.name].text, judged[item.name]
                    kind, _ = _difference(text, right, seen.verdict, outputs)
                    if kind not in {"", _REFUSED}:
                        kinds.setdefault((item.name, kind), []).append(release)
        for (seed, kind), releases in kinds.items():
            yield _Find(made[seed], subjects[seed].inputs, seed, kind, tuple(releases))

    def _judged(self, subjects: Mapping[str, _Subject]) -> dict[str, list[list[Array]]]:
        """Return what programs should compute, also for inputs that are a few ulps off.

        Those that the interpreter does not have are judged by what else the Release executes with.
        """
        known: dict[tuple[object, ...], list[Array]] = {}
        for on in _JUDGES:
            items = {
                (item.digest, item.inputs): item
                for one in subjects.values()
                if _judge_of(one.program) == on
                for item in one.items
            }
            for item, _, _, outputs in self._run(on).computed([*items.values()], [self.judge]):
                if outputs:
                    known[item.digest, item.inputs] = outputs
        found = {
            seed: [known.get((item.digest, item.inputs), []) for item in one.items]
            for seed, one in subjects.items()
        }
        return {seed: outputs for seed, outputs in found.items() if all(outputs)}

    def _count(self, more: int) -> None:
        """Count what was executed, and say so."""
        self._executed += more
        self._progress(self._executed)

    def _run(self, on: str = "") -> Run:
        before = self._executed
        return Run(
            self._store,
            Stage.EXECUTE,
            environments=self._environments,
            executor=self._cluster,
            limit=_LIMIT_S,
            on=on,
            benches=self._benches,
            progress=lambda done, _: self._count(before + done - self._executed),
        )

    def _reduced(self, find: _Find, done: Progress) -> Cause:
        """Confirm and reduce a find, and see which Releases have it."""
        on = _judge_of(find.program)
        with ExitStack() as stack:
            judge = stack.enter_context(self._executor(self.judge, on))
            tried = stack.enter_context(self._executor(find.releases[-1]))
            target = find.program.since.first_target

            def trial(candidate: Candidate, executor: Executor) -> tuple[str, str]:
                self._count(1)
                return _trial(candidate, target, judge, executor)

            began = time.monotonic()
            reduced = reduce(
                find.program.text,
                lambda one: trial(one, tried)[0] == find.kind,
                inputs=find.inputs,
                bodies=False,
                workers=1,
            )
            smallest = reduced.smallest
            done.reduced.append((reduced.ops, smallest.ops, time.monotonic() - began))
            _, detail = trial(smallest, tried)

            def shows(release: Release) -> bool | None:
                if not _reads(release, target):
                    return None
                try:
                    with self._executor(release) as executor:
                        kind, _ = trial(smallest, executor)
                except PortableError:  # the Release is not available here
                    return None
                crashes = find.kind.startswith(CRASH)
                return None if kind == _REFUSED and not crashes else kind == find.kind

            states = {one: one is find.releases[-1] or shows(one) for one in self.releases}
            affected = tuple(one for one, state in states.items() if state)
            explained = left_open(smallest.text, find.kind, [*map(str, affected)])
            foreseen = _foreseen(smallest.text, target, affected)
            # What has a name has its dates there, and these cost an environment each.
            named = bool(explained or foreseen)
            bad, good = ("", "") if named else self._history(affected, states, shows)
        cause = Cause(
            find.kind,
            signature_of(smallest.text),
            tuple(map(str, affected)),
            smallest.text,
            find.seed,
            detail,
            bad,
            good,
            explained.id if explained else "",
            foreseen,
            f"{on or 'XLA'} of {self.judge}",
        )
        self.campaign.add_cause(cause, smallest)
        return cause

    def _history(
        self,
        affected: Sequence[Release],
        states: Mapping[Release, bool | None],
        shows: Callable[[Release], bool | None],
    ) -> tuple[str, str]:
        """Return the first bad and the first good Release, over the whole table."""
        table = runnable_releases(affected[-1].distribution)
        known = {one: state for one, state in states.items() if state is not None and one in table}
        edges = boundaries(table, known, shows)
        bad = [str(release) for release, state in edges if state]
        good = [str(release) for release, state in edges if not state]
        return (bad[0] if bad else ""), (good[-1] if good else "")

    def _executor(self, release: Release, name: str = "") -> Executor:
        environment = self._environments.get(release, to_execute=True)
        chosen = name or executor_of(environment.recipe.driver)
        return find_executor(chosen, environment, limit=_LIMIT_S)


def boundaries(
    table: Sequence[Release],
    known: Mapping[Release, bool],
    shows: Callable[[Release], bool | None],
) -> list[tuple[Release, bool]]:
    """Find by bisection where something begins and ends.

    Args:
        table: All Releases, from the oldest to the newest.
        known: Those of which it is known whether they show it.
        shows: Whether another one does; None where that cannot be said.

    Returns:
        The first Release after each change, with what it is from there on.
    """
    places = [number for number, release in enumerate(table) if release in known]
    states = {number: known[table[number]] for number in places}
    edges = []
    for before, after in itertools.pairwise(places):
        if states[before] == states[after]:
            continue
        low, high = before, after
        candidates = list(range(low + 1, high))
        while candidates:
            middle = candidates[len(candidates) // 2]
            state = shows(table[middle])
            if state is None:
                candidates.remove(middle)
            elif state == states[before]:
                candidates = [one for one in candidates if one > middle]
            else:
                high = middle
                candidates = [one for one in candidates if one < middle]
        edges.append((table[high], states[after]))
    return edges


def _judge_of(program: Generated) -> str:
    """Return what a program is judged by, a key of `EXECUTORS`: nothing for a Release's own."""
    return _INTERPRETER if program.judged else ""


def _few_of_each(finds: Sequence[_Find], known: Collection[Cause]) -> Iterator[_Find]:
    """Yield a few of the finds that are alike: those first that no cause explains, then small ones.

    Args:
        finds: The finds of a round.
        known: The causes that were found before it.
    """
    explained = {(cause.kind, _named(cause.ops)) for cause in known}

    def order(find: _Find) -> tuple[bool, int]:
        has = _named(signature_of(find.program.text))
        familiar = any(kind == find.kind and ops <= has for kind, ops in explained)
        return familiar, len(find.program.text)

    seen: Counter[tuple[str, tuple[Release, ...]]] = Counter()
    for find in sorted(finds, key=order):
        alike = (find.kind, find.releases)
        seen[alike] += 1
        if seen[alike] <= _EACH:
            yield find


def _named(ops: Sequence[str]) -> frozenset[str]:
    """Return ops without their types."""
    return frozenset(op.partition("(")[0] for op in ops)


def _reads(release: Release, version: Version | None) -> bool:
    return version is not None and version <= release.current.target


def _difference(
    text: str,
    judged: Sequence[Sequence[Array]],
    verdict: Verdict,
    outputs: Sequence[Array],
) -> tuple[str, str]:
    """Return the sort of difference, and what differs; nothing where nothing does.

    A program that is refused is none of the sorts: whether it would differ is not known.
    """
    if verdict.outcome is Outcome.CRASHED:
        return f"{CRASH} with {verdict.reason}", verdict.reason
    if not outputs:
        return _REFUSED, verdict.reason
    found = departure(text, judged[0], judged[1:], outputs)
    return (found.kind, str(found)) if found else ("", "")


def _trial(
    candidate: Candidate, target: Version, judge: Executor, tried: Executor
) -> tuple[str, str]:
    """Run a candidate as a find was run; return as `_difference` does.

    What is right is asked last: it says nothing of a crash. Where there is a difference, two more
    programs say how much rounding matters.
    """
    inputs = list(candidate.inputs or ())

    def written(text: str) -> Artifact:
        return serialize(text, target, locations="strip", expand=False)

    def judged(text: str, given: Sequence[Array]) -> list[Array]:
        return judge.compile(written(text)).run(given)

    try:
        artifact = written(candidate.text)
    except PortableError:  # it is not valid, or newer
        return "", ""
    try:
        outputs = tried.compile(artifact).run(inputs)
    except ExecutionFailed as failed:
        return _difference(candidate.text, (), failed.verdict, ())
    except PortableError as error:  # what the Release returns cannot be handed over
        return _REFUSED, str(error)
    try:
        right = judged(candidate.text, inputs)
        if departure(candidate.text, right, [], outputs) is None:
            return "", ""
        near = [judged(nudged_text(candidate.text, one), nudged(inputs, one)) for one in _NUDGES]
    except PortableError:  # the interpreter does not have it
        return "", ""
    found = departure(candidate.text, right, near, outputs)
    return (found.kind, str(found)) if found else ("", "")


def _foreseen(text: str, target: Version, releases: Sequence[Release]) -> str:
    """Return what `predict` says of all the Releases; nothing where it does not foresee it."""
    artifact = serialize(text, target, locations="strip", expand=False)
    verdicts = [predict(artifact, release) for release in releases]
    return verdicts[0].reason if all(not one.compatible for one in verdicts) else ""


def _subjects(made: Mapping[str, Generated], folder: Path) -> Iterator[tuple[str, _Subject]]:
    same = {seed: one for seed, one in made.items() if not one.random}
    for seed, artifacts in _artifacts(same).items():
        inputs = flushed(inputs_for(made[seed].arguments, seed))
        sets = [inputs, *(nudged(inputs, one) for one in _NUDGES)]
        items = []
        for number, (artifact, given) in enumerate(zip(artifacts, sets, strict=True)):
            place = folder / f"{seed.replace('/', '-')}-{number}"
            place.mkdir()
            artifact.save(place / "program.mlir.bc")
            item = Item(seed, str(place / "program.mlir.bc"), artifact.digest, artifact.version)
            items.append(with_inputs(item, place, inputs=given, relative=0.0))
        yield seed, _Subject(made[seed], tuple(inputs), tuple(items))


def _artifacts(made: Mapping[str, Generated]) -> dict[str, list[Artifact]]:
    """Serialize programs, each for the first Version that expresses it; in a child.

    Returns:
        For each one the program itself, and those with constants that are a few ulps off.
    """
    wanted = [
        ([one.text, *(nudged_text(one.text, n) for n in _NUDGES)], one.since.first_target)
        for one in made.values()
    ]
    written: list[list[Artifact]] = children.call(_serialized, wanted, timeout=_WRITING_S)
    return {seed: found for seed, found in zip(made, written, strict=True) if found}


def _serialized(wanted: Sequence[tuple[Sequence[str], Version]]) -> list[list[Artifact]]:
    found: list[list[Artifact]] = []
    for texts, target in wanted:
        try:
            found.append([serialize(t, target, locations="strip", expand=False) for t in texts])
        except PortableError:  # newer than the installed library
            found.append([])
    return found
