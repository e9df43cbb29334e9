"""Why Releases compute something else: what a hunt found, and what of it has one cause."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from packaging.version import Version

from portable.fuzz.judging import CRASH, left_open, open_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Cause", "Group", "age_of", "grouped", "signature_of"]

_NAME = re.compile(r"[^a-z0-9]+")
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)+")
_OP = re.compile(r"\"?stablehlo\.(\w+)")
_TYPE = re.compile(r"tensor<(?:(?:\d+|\?)x)*([^<>]+(?:<[^<>]*>)?)>")
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

    @classmethod
    def from_record(cls, fields: Mapping[str, Any]) -> Cause:
        """Return the cause that was written down.

        Raises:
            TypeError: A field is missing, unknown or of another type.
            ValueError: A Release is named otherwise than they are.
        """
        ops, releases = _texts(fields["ops"]), _texts(fields["releases"])
        known = {key: fields[key] for key in fields.keys() - {"name", "ops", "releases"}}
        _texts([*known.values()])
        for release in (*releases, *filter(None, map(known.get, _EDGES))):
            age_of(release)
        return cls(ops=ops, releases=releases, **known)

    @property
    def name(self) -> str:
        """What its folder is called; the same cause has the same name."""
        said = _NAME.sub("-", f"{'-'.join(self.ops)}-{self.kind}".lower())[:60].strip("-")
        told = repr((self.kind, self.ops, self.releases))
        return f"{said}-{hashlib.sha256(told.encode()).hexdigest()[:6]}"


_EDGES = ("first_bad", "first_good")


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or not all(isinstance(one, str) for one in values):
        raise TypeError(f"{values!r:.60} are not texts")
    return tuple(values)


@dataclass(frozen=True, slots=True)
class Group:
    """What was found and has one cause.

    Args:
        id: The Advisory or the row of `left_open.toml` that names it; empty where none does.
        open: Whether the specification leaves it open; else it is a defect.
        causes: What was found, what was found most often first, each with how often.
    """

    id: str
    open: bool
    causes: tuple[tuple[Cause, int], ...]

    @property
    def found(self) -> int:
        """How often it was found."""
        return sum(count for _, count in self.causes)

    @property
    def releases(self) -> tuple[str, ...]:
        """Where it was seen, by distribution, from the oldest to the newest."""
        return tuple(
            sorted({one for cause, _ in self.causes for one in cause.releases}, key=age_of)
        )

    @property
    def first(self) -> str:
        """The first Release that has it; empty where one of the causes was always there."""
        begins = [cause.first_bad for cause in self._dated()]
        return min(begins, key=age_of) if begins and all(begins) else ""

    @property
    def last(self) -> str:
        """The first Release that has it no more; empty where one of the causes is still there."""
        ends = [cause.first_good for cause in self._dated()]
        return max(ends, key=age_of) if ends and all(ends) else ""

    def _dated(self) -> list[Cause]:
        """Return the causes that tell the dates: of what has a name not all were dated."""
        causes = [cause for cause, _ in self.causes]
        dated = [one for one in causes if one.first_bad or one.first_good]
        return dated if self.id else causes


def grouped(causes: Iterable[tuple[Cause, int]]) -> list[Group]:
    """Tell what was found apart by its cause.

    What an Advisory foresees, or a row of `left_open.toml` names, has the cause that these have.
    A crash has the cause of another one of the same distribution that began and ended on the same
    Releases; any other difference that of one of the same sort, of the same ops besides.

    Args:
        causes: What was found, each with how often.
    """
    groups: dict[tuple[object, ...], list[tuple[Cause, int]]] = {}
    for cause, count in causes:
        groups.setdefault(_key(cause), []).append((cause, count))
    found = []
    for (named, *_), members in groups.items():
        row = open_row(str(named))
        ordered = sorted(members, key=lambda one: (-one[1], one[0].ops, one[0].releases))
        found.append(Group(str(named), row is not None and not row.defect, tuple(ordered)))
    return sorted(found, key=lambda one: (one.open, one.id, one.causes[0][0].ops))


def _key(cause: Cause) -> tuple[object, ...]:
    foreseen = cause.foreseen.partition(":")[0]
    # Not every prediction is an Advisory: that a like program was refused is one too.
    named = foreseen if _ID.fullmatch(foreseen) else _row_of(cause)
    if named:
        return (named,)
    distributions = tuple(sorted({one.partition(" ")[0] for one in cause.releases}))
    dates = (cause.first_bad, cause.first_good)
    dated = cause.kind.startswith(CRASH) and cause.first_good
    ops = () if dated else tuple(one.partition("(")[0] for one in cause.ops)
    return ("", cause.kind, distributions, dates, ops)


def _row_of(cause: Cause) -> str:
    """Return what explains a cause today; what did when no program of it is left."""
    row = left_open(cause.program, cause.kind, cause.releases)
    return row.id if row else "" if cause.program else cause.explained


def age_of(name: str) -> tuple[str, Version]:
    """Return what orders Releases: the distribution, and the version as packaging compares it."""
    distribution, _, version = name.rpartition(" ")
    return distribution, Version(version)


def signature_of(text: str) -> tuple[str, ...]:
    """Return the ops of a program in order, each with its element types: `add(f32)`."""
    found = []
    for line in text.splitlines():
        match = _OP.search(line)
        if match and match[1] not in _SILENT:
            found.append(f"{match[1]}({' '.join(dict.fromkeys(_TYPE.findall(line)))})")
    return tuple(found)
