"""What an upgrade brings: everything that the tables say of two Releases, and where they differ."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from portable.bytecode import vhlo
from portable.features.rules import rules
from portable.releases.advisory import advisories_for
from portable.releases.refusal import dialect_readers, refusals
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from portable.releases.release import Release

__all__ = ["Change", "Upgrade", "diff"]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that one of two Releases does and the other does not.

    Args:
        kind: `reads`, `refuses`, `advisory` or `behaviour`.
        name: What it is about, as Features and Advisories are named.
        detail: Since when, or why; one line.
        begins: Whether the newer Release does it; the older one does otherwise.
    """

    kind: str
    name: str
    detail: str
    begins: bool

    def record(self) -> dict[str, object]:
        """Return the change as plain data for JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Upgrade:
    """From one Release to another.

    Args:
        before: The Release that is left.
        after: The Release that takes its place.
        changes: What begins, then what ends; in the order of the tables.
        notes: What the comparison cannot show.
    """

    before: Release
    after: Release
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """Return the upgrade as plain data for JSON."""
        return {
            "before": self.before.record(),
            "after": self.after.record(),
            "changes": [change.record() for change in self.changes],
            "notes": list(self.notes),
        }


def diff(before: Release, after: Release) -> Upgrade:
    """Compare what two Releases read, refuse, and are advised about.

    Args:
        before: The Release that is left.
        after: The Release that takes its place; it may be the older one.

    Returns:
        Every difference that the tables know, and the Cases of the corpus that both were seen to
        execute, with different ends. What neither tells is not compared.
    """
    old, new = dict(_facts(before)), dict(_facts(after))
    seen = _behaviour(str(before)), _behaviour(str(after))
    for facts, (mine, others) in ((old, seen), (new, seen[::-1])):
        for case, word in mine.items():
            if others.get(case, word) != word:
                facts["behaviour", f"{case}: {word}"] = "as the matrix observed it"
    changes = [*_missing(new, old, begins=True), *_missing(old, new, begins=False)]
    notes = [
        f"{one} has {one.has} ({one.confidence}): compared as {one.current}"
        for one in (before, after)
        if one.below
    ]
    return Upgrade(before, after, tuple(changes), tuple(notes))


# What the marks of the matrix mean, of what was executed.
_ENDS = {
    "E": "computes the same",
    "W": "computes something else",
    "X": "does not compile",
    "C": "crashes",
    "H": "times out",
}


def _behaviour(release: str) -> dict[str, str]:
    """Return how a Release ended each Case that it executed in the full matrix."""
    consumers, rows = _matrix()
    if release not in consumers:
        return {}
    column = consumers.index(release)
    return {
        f"Case {case} for {target}": _ENDS[marks[column]]
        for case, target, marks in rows
        if marks[column] in _ENDS
    }


@functools.cache
def _matrix() -> tuple[list[str], list[list[str]]]:
    """Return the Releases of the full matrix, and each Case with a target and their marks."""
    text = Path(__file__).with_name("data").joinpath("behaviour.tsv").read_text("utf-8")
    _, heads, *lines = text.splitlines()
    return heads.removeprefix("# ").split(", "), [line.split("\t") for line in lines]


_Fact = tuple[tuple[str, str], str]


def _missing(
    there: Mapping[tuple[str, str], str], other: Mapping[tuple[str, str], str], *, begins: bool
) -> Iterator[Change]:
    for (kind, name), detail in there.items():
        if (kind, name) not in other:
            yield Change(kind, name, detail, begins)


def _facts(release: Release) -> Iterator[_Fact]:
    yield from _forms(release.current)
    for advisory in advisories_for(release):
        reason = advisory.reason or advisory.feature
        yield ("advisory", advisory.id), f"{advisory.effect} at {advisory.stage}: {reason}"
    for reader in dialect_readers():
        if reader.applies_to(release):
            yield ("reads", f"dialect {reader.name}"), reader.form or "another dialect"


def _forms(current: Version) -> Iterator[_Fact]:
    """Yield what a reader of a Version reads, and which forms of it it refuses."""
    for kind, name, since in _since():
        if since <= current:
            yield ("reads", f"{kind} {name}"), f"since {since}"
    for name, removal in rules().removed.items():
        if current > Version.parse(removal.last):
            yield ("refuses", f"op {name}"), removal.reason
    for row in refusals():
        if row.applies_to(current):
            yield ("refuses", f"{row.op}: {row.form}"), row.reason


def _since() -> Iterator[tuple[str, str, Version]]:
    for name, op in vhlo.ops().items():
        yield "op", name, Version.parse(op.lifetime.since)
    for kind in ("types", "attributes"):
        for name, lifetime in vhlo.lifetimes(kind).items():
            yield kind.removesuffix("s"), name, Version.parse(lifetime.since)
    for name, since in _constraints().items():
        yield "where", name, Version.parse(since)
    for number, since in rules().formats.items():
        yield "bytecode format", str(number), Version.parse(since)
    for name, (since, _) in rules().locations.items():
        yield "location", name, Version.parse(since)


def _constraints() -> dict[str, str]:
    """Return the uses of ops that came later than the ops, and that older readers refuse."""
    return {
        one.reason: one.since
        for constraints in rules().constraints.values()
        for one in constraints
        if not one.only_serializer
    }
