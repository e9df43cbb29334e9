"""The plan: what a move from some consumers to others breaks and mends, artifact by artifact."""

from __future__ import annotations

import datetime
import functools
from collections import Counter
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from portable.containers import Kind
from portable.containers.opening import CONTAINERS
from portable.fleet.bundles import ArtifactRow, bundled
from portable.fleet.rows import OTHER, columns_of
from portable.fleet.subjects import read_subject
from portable.policy import Depth
from portable.prediction import predict_all
from portable.releases import (
    NoTarget,
    Release,
    UnknownVersion,
    advisories,
    bytecode_format,
    resolve_target,
    window,
)
from portable.releases.assumption import find_assumptions
from portable.verdict import Stage, worst
from portable.version import Version

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from portable.prediction import Subject

__all__ = ["Expiring", "Outlook", "Plan", "Transition", "calendar", "plan"]


class Transition(Enum):
    """What a move changes for an artifact."""

    STOPS = "stops"
    STARTS = "starts"
    FAILS = "fails before and after"
    KEEPS = "keeps"
    UNKNOWN = "not known"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a move changes for artifacts with the same prediction.

    Args:
        change: What changes.
        reason: The Verdict that says why, with its consumer; empty where nothing is in the way.
        remedy: What to do about it; empty where nothing has to be done.
        artifacts: Their names: place, and name in a container.
        harmless: Of what is not known: the new consumers get through, or the old ones do not, so
            that it cannot stop.
    """

    change: Transition
    reason: str
    remedy: str = ""
    artifacts: tuple[str, ...] = ()
    harmless: bool = False

    def record(self) -> dict[str, object]:
        """Return it as plain data for JSON."""
        return {
            "change": str(self.change),
            "reason": self.reason,
            "remedy": self.remedy,
            "harmless": self.harmless,
            "artifacts": list(self.artifacts),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """What a move breaks and fixes.

    Args:
        before: The consumers now.
        after: The new consumers.
        stage: Up to which Stage they are judged.
        outlooks: What changes, the gravest first; those with most artifacts first.
        kept: How many artifacts nothing changes for.
        by_claim: How many are judged by what their header claims alone.
        damaged: The names of what could not be read in the audit.
        refused: How many artifacts each new consumer refuses, most first.
        order: Whether artifacts or consumers have to move first, in one sentence; empty if neither.
        expiring: When the containers leave the Window that upstream promises, earliest first.
        assumed: What is assumed of the values that artifacts are run on.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    stage: Stage
    outlooks: tuple[Outlook, ...]
    kept: int
    by_claim: int
    damaged: tuple[str, ...]
    refused: tuple[tuple[str, int], ...] = ()
    order: str = ""
    expiring: tuple[Expiring, ...] = ()
    assumed: frozenset[str] = frozenset()

    @property
    def mendable(self) -> bool:
        """Whether some artifacts that stop or fail can, or might, be pinned again."""
        return any(one.remedy and not one.remedy.startswith(_NONE) for one in self.outlooks)

    def count(self, change: Transition) -> int:
        """Return how many artifacts something changes for."""
        if change is Transition.KEEPS:
            return self.kept
        return sum(len(one.artifacts) for one in self.outlooks if one.change is change)

    @property
    def doubtful(self) -> int:
        """The number of artifacts of which it is not known whether they stop."""
        unknown = (one for one in self.outlooks if one.change is Transition.UNKNOWN)
        return len(self.damaged) + sum(len(one.artifacts) for one in unknown if not one.harmless)

    @property
    def total(self) -> int:
        """How many artifacts there are, with those that the audit could not read."""
        return sum(map(self.count, Transition)) + len(self.damaged)

    @property
    def holds(self) -> bool | None:
        """Whether nothing stops: False if something does, None if that is not known."""
        if self.count(Transition.STOPS):
            return False
        return None if self.doubtful or not self.total else True

    def record(self) -> dict[str, object]:
        """Return it as plain data for JSON."""
        return {
            "before": list(self.before),
            "after": list(self.after),
            "stage": str(self.stage),
            "assumed": sorted(self.assumed),
            "counts": {str(one): self.count(one) for one in Transition},
            "by_claim": self.by_claim,
            "outlooks": [outlook.record() for outlook in self.outlooks],
            "damaged": list(self.damaged),
            "refused": dict(self.refused),
            "order": self.order,
            "expiring": [one.record(datetime.date.today()) for one in self.expiring],
        }


def plan(
    fleet: str | os.PathLike[str],
    before: Sequence[Release],
    after: Sequence[Release],
    *,
    stage: Stage = Stage.DECODE,
    assume: Iterable[str] = (),
) -> Plan:
    """Predict what changes when other Releases have to read a fleet.

    Every Verdict is predicted: from what the audit has read, and today's tables.

    Args:
        fleet: What `audit` wrote.
        before: The consumers now; an artifact counts as read if all of them read it.
        after: The new consumers.
        stage: Up to which Stage they are judged.
        assume: What is assumed of the values that artifacts are run on, as `no-nan`.

    Raises:
        FleetError: It is not a fleet file.
        ValueError: There is no such Assumption.
    """
    target = resolve_target(*after).version
    upto = _Upto(stage, find_assumptions(assume))
    judge = functools.cache(functools.partial(_judged, tuple(before), tuple(after), upto, target))
    named: dict[tuple[Transition, str, str, bool], list[str]] = {}
    kept, by_claim, damaged = 0, 0, []
    subjects, held = Counter[_Members](), Counter[tuple[str | None, str]]()
    for name, is_bundle, rows in _judged_together(fleet):
        held.update((one.claimed, one.kind) for one in rows if one.kind in _CONTAINERS)
        if any(one.error is not None or one.subject is None for one in rows):
            damaged.append(name)
            continue
        by_claim += rows[0].depth == str(Depth.HEADER)
        members = tuple((str(one.claimed) if is_bundle else "", str(one.subject)) for one in rows)
        subjects[members] += 1
        found = judge(members)
        if found.change is Transition.KEEPS:
            kept += 1
            continue
        in_bundle = is_bundle and found.at is not None
        remedy = _BUNDLE if in_bundle else _remedy(found, rows[0].minimum, target)
        alike = found.change, found.reason, remedy, found.harmless
        named.setdefault(alike, []).append(name)
    rank = list(Transition)
    gravest = sorted(
        (
            Outlook(change, reason, remedy, tuple(names), harmless)
            for (change, reason, remedy, harmless), names in named.items()
        ),
        key=lambda one: (rank.index(one.change), -len(one.artifacts)),
    )
    who, others = (tuple(map(str, releases)) for releases in (before, after))
    refused = Counter[str]()
    for members, count in subjects.items():
        refused.update(dict.fromkeys(judge(members).refusing, count))
    order = _order(before, after) if refused else ""
    return Plan(
        who, others, stage, tuple(gravest), kept, by_claim, tuple(damaged),
        tuple(refused.most_common()), order, _expiring(held), upto.assumed,
    )  # fmt: skip


# The Version of a bundle that an artifact is of, or nothing, and its subject as text.
_Members: TypeAlias = tuple[tuple[str, str], ...]


def _judged_together(
    fleet: str | os.PathLike[str],
) -> Iterator[tuple[str, bool, list[ArtifactRow]]]:
    """Yield the name and the row of each artifact; those of a bundle as one, and that it is one."""
    for bundle, rows in bundled(fleet):
        if bundle:
            yield bundle, True, sorted(rows, key=_claim, reverse=True)  # the newest first
        else:
            for one in rows:
                yield f"{one.place}: {one.inside}" if one.inside else one.place, False, [one]


def _claim(row: ArtifactRow) -> Version:
    return Version.parse(row.claimed or "0.0.0")


def _order(before: Sequence[Release], after: Sequence[Release]) -> str:
    """Say whether artifacts or their readers move first."""
    try:
        both = resolve_target(*before, *after).version
    except NoTarget:
        return (
            "artifacts and their readers have to move together: no Version is read by the "
            "consumers of --from and by those of --to"
        )
    return (
        f"artifacts move first: pinned for {both}, the consumers of --from and those of --to "
        "read them"
    )


_CHANGES: dict[tuple[bool | None, bool | None], Transition] = {
    (True, True): Transition.KEEPS,
    (True, False): Transition.STOPS,
    (False, True): Transition.STARTS,
    (False, False): Transition.FAILS,
}


class _Judgement(NamedTuple):
    """What a move changes for an artifact, or for a bundle.

    Args:
        change: What changes.
        reason: Why.
        at: At which Stage something is in the way.
        blocked: What would still be in the way of a copy that is pinned again.
        harmless: As of `Outlook`.
        refusing: The new consumers that it does not get through.
    """

    change: Transition
    reason: str
    at: Stage | None
    blocked: str
    harmless: bool
    refusing: tuple[str, ...]


class _Upto(NamedTuple):
    """How far artifacts are judged, and what is assumed of the values that they are run on."""

    stage: Stage
    assumed: frozenset[str]


def _judged(
    before: tuple[Release, ...],
    after: tuple[Release, ...],
    upto: _Upto,
    target: Version,
    members: _Members,
) -> _Judgement:
    then, was, _, _ = _held(members, before, upto)
    now, reason, at, refusing = _held(members, after, upto)
    change = _CHANGES.get((then, now), Transition.UNKNOWN)
    harmless = change is Transition.UNKNOWN and (then is False or now is True)
    if then is None:  # what is after it may be known
        reason = f"{was}; {reason or 'the new consumers get through'}"
    blocked = ""
    if at is Stage.WINDOW:
        still, why, _, _ = _held(members, after, upto, target)
        blocked = why if still is False else ""
    return _Judgement(change, reason or was, at, blocked, harmless, refusing)


def _pinned(subject: Subject, target: Version) -> Subject:
    """Return what a copy is that is pinned for a target, if the program can be expressed at it."""
    written = bytecode_format(target)
    return replace(
        subject,
        claimed=target,
        format=subject.format if written is None else written,
        required=min(subject.required or target, target),
        features=[one for one in subject.features if one.version <= target],
        present=subject.present - _BY_PIN,
        forms={form: occurs for form, occurs in subject.forms.items() if form not in _BY_PIN},
    )


def _held(
    members: _Members, releases: tuple[Release, ...], upto: _Upto, pinned: Version | None = None
) -> tuple[bool | None, str, Stage | None, tuple[str, ...]]:
    """Return whether all get through a Stage, what the first of those says that do not, and who.

    With `pinned` that is of a copy for this Version.
    """
    found, stage = {}, upto.stage
    for number, (member, text) in enumerate(members):
        subject = replace(read_subject(text), member=member)
        found[str(number)] = _pinned(subject, pinned) if pinned else subject
    verdicts = predict_all(found, releases, stage=stage, assume=upto.assumed)
    held = worst(verdict.holds(stage) for verdict in verdicts)
    if held is True:
        return True, "", None, ()
    refusing = tuple(one.consumer for one in verdicts if one.holds(stage) is False)
    first = next(verdict for verdict in verdicts if verdict.holds(stage) is held)
    if held is False:
        # What pinning writes in another way, whatever the program, is no more than a Version.
        at = Stage.WINDOW if first.reason.partition(": ")[0] in _repinned() else first.stage
        return False, f"{first.consumer}: {first.says}: {first.reason}", at, refusing
    unknown = (one.what for one in first.not_known if one.stage <= stage)
    reason = next(unknown, f"{stage} is not predicted")
    return None, f"{first.consumer}: not known: {reason}", None, ()


@functools.cache
def _repinned() -> frozenset[str]:
    """Return the ids of the Advisories about what pinning for a reader writes in another way."""
    return frozenset(one.id for one in advisories() if one.feature in _BY_PIN)


_BY_PIN = frozenset({"location:file_line_col_range", "bytecode format 6", "target 0.15.0 or later"})


def _remedy(found: _Judgement, minimum: str | None, target: Version) -> str:
    if found.at is None:
        return ""
    if found.at is Stage.OPEN:
        return "repin-all writes its container in a form that they open, where there is one"
    if found.at is not Stage.WINDOW:  # another Version of the program has other ops
        return f"{_NONE} known: no other Version of the artifact avoids it"
    if minimum is None:
        return "audit with --depth content, to know whether pin can mend it"
    if Version.parse(minimum) > target:
        return f"{_NONE}: the program needs {minimum}, and {target} is what they all read"
    if found.blocked:
        return f"{_NONE}: pinned for {target}, {found.blocked}"
    return f"pin for {target}"


_NONE = "none"
_BUNDLE = f"{_NONE} by repin-all: write the bundle again, with a Version that they read"
_CONTAINERS = frozenset(map(str, CONTAINERS))

# What stands for the kind of an object that the audit could not read.
_UNREAD = "not read"


@dataclass(frozen=True, slots=True)
class Expiring:
    """Artifacts of one Version and kind that leave its window.

    Args:
        version: What they claim; None for what the audit could not read.
        kind: What file they are, or are in.
        until: Readers built up to this day promise to read them; None for a Version that no table
            has, and where there is none.
        artifacts: How many there are.
    """

    version: Version | None
    kind: str
    until: datetime.date | None
    artifacts: int

    def record(self, on: datetime.date) -> dict[str, object]:
        """Return it as plain data for JSON, with the days that are left."""
        return {
            "version": str(self.version) if self.version else None,
            "kind": self.kind,
            "until": self.until.isoformat() if self.until else None,
            "days": (self.until - on).days if self.until else None,
            "artifacts": self.artifacts,
        }


def calendar(fleet: str | os.PathLike[str]) -> tuple[Expiring, ...]:
    """Say when the artifacts of a fleet leave the window that upstream promises, earliest first.

    A jax.export file has jax's own promise, which is shorter; both count from the day on which
    its Version was first available, since no artifact of it is older.

    Args:
        fleet: What `audit` wrote.

    Raises:
        FleetError: It is not a fleet file.
    """
    counted = Counter(
        (claimed, kind or _UNREAD)
        for claimed, kind in columns_of(fleet, ("claimed", "kind"))
        if kind != OTHER
    )
    return _expiring(counted)


def _expiring(counted: Mapping[tuple[str | None, str], int]) -> tuple[Expiring, ...]:
    found = []
    for (claimed, kind), count in counted.items():
        version = Version.parse(claimed) if claimed else None
        found.append(Expiring(version, kind, _until(version, kind) if version else None, count))
    return tuple(sorted(found, key=lambda one: (one.until or datetime.date.max, str(one.version))))


def _until(version: Version, kind: str) -> datetime.date | None:
    try:
        promised = window(version)
    except UnknownVersion:
        return None
    by_jax = kind == str(Kind.EXPORTED)
    return promised.jax_readable_until if by_jax else promised.readable_until
