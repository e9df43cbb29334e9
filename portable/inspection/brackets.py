"""Which Version a library has, told by the names that it holds and by those that it lacks.

Every form of VHLO has a name with a number (`vhlo.tan_v2`, `f8E4M3FN_v1`), which its parser and
printer need: it stands as a string in every library that reads VHLO. The newest name that is there
gives the first Version that it can be, the oldest that is not there the first that it cannot be; so
does a name that newer libraries have lost. Version 1.21 brought no name: a library of 1.21 and one
of 1.20 look alike.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode import vhlo
from portable.features.rules import rules
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from portable.features.rules import Removal

__all__ = ["Bracket", "Marker", "bracket", "markers"]

# Compilers compare short strings as numbers, so that a short name of a type may be missing.
_SURE = 9
# Of the names that no table knows, how many stand in the evidence.
_SHOWN = 8
# XLA's own messages name this value too.
_ELSEWHERE = frozenset({"API_VERSION_TYPED_FFI"})


class Marker(NamedTuple):
    """A name that some Versions have and others do not.

    Args:
        name: As it stands in a library.
        since: The first Version that has it.
        removed: Where it ends; None while it is there.
    """

    name: str
    since: Version
    removed: Removal | None


@dataclass(frozen=True, slots=True)
class Bracket:
    """Between which Versions a library's own lies.

    Args:
        low: The first Version that it can be.
        below: The first Version that it cannot be; None when it has the newest names that are
            known.
        evidence: The names that say so, one line for each bound, and one for those unknown.
        unknown: Versioned names of VHLO that no table knows: something newer brought them.
    """

    low: Version
    below: Version | None
    evidence: tuple[str, ...]
    unknown: tuple[str, ...] = ()

    def has(self, version: Version) -> bool:
        """Return whether a Version lies between the bounds."""
        return self.low <= version and (self.below is None or version < self.below)

    def __str__(self) -> str:
        if self.below is None:
            return f"at least {self.low}"
        return f"at least {self.low}, below {self.below}"

    def record(self) -> dict[str, object]:
        """Return the bracket as plain data for JSON."""
        return {
            "low": str(self.low),
            "below": str(self.below) if self.below else None,
            "evidence": list(self.evidence),
            "unknown": list(self.unknown),
        }


@functools.cache
def markers() -> Mapping[str, Marker]:
    """Return every name of the tables that distinguishes Versions."""
    parse, removed = Version.parse, rules().removed
    found = {
        f"vhlo.{name}": Marker(f"vhlo.{name}", parse(op.lifetime.since), removed.get(name))
        for name, op in vhlo.ops().items()
    }
    for name in removed.keys() - vhlo.ops().keys():
        found[f"vhlo.{name}"] = Marker(f"vhlo.{name}", parse(vhlo.minimum()), removed[name])
    for name, since in rules().named.items():
        found[f"vhlo.{name}"] = Marker(f"vhlo.{name}", parse(since), None)
    for kind in ("types", "attributes"):
        for name, lifetime in vhlo.lifetimes(kind).items():
            found[name] = Marker(name, parse(lifetime.since), None)
    for constraint in itertools.chain.from_iterable(rules().constraints.values()):
        # A value of an enum that came with a Version of its own.
        if [condition.test for condition in constraint.when] == ["case_of"]:
            case = constraint.when[0].arguments[0]
            if case not in _ELSEWHERE:
                found[case] = Marker(case, parse(constraint.since), None)
    return found


def bracket(names: Collection[str]) -> Bracket | None:
    """Determine between which Versions a library lies.

    Args:
        names: The versioned names in it, ops with their dialect (`vhlo.tan_v2`).

    Returns:
        The bracket, with its evidence; None when it lacks an op that every reader has: libraries
        of early 2023 have some ops of VHLO under numbers that were given again later.
    """
    known = markers()
    # Types and attributes stand there with their dialect or without.
    held = {one for name in names for one in _both(name)}
    present = [known[name] for name in held if name in known]
    if not _everywhere() <= held:
        return None
    absent = [one for name, one in known.items() if name not in held and len(name) >= _SURE]
    low, there = max(_lower(present, absent))
    bounds = [bound for bound in _upper(present, absent) if bound[0] > low]
    below, gone = min(bounds, default=(None, ""))
    unknown = sorted(
        name for name in names if name.startswith("vhlo.") and known.keys().isdisjoint(_both(name))
    )
    new = _new(unknown, "" if below else f"newer than {low}, with ")
    return Bracket(low, below, tuple(filter(None, (there, gone, new))), tuple(unknown))


def _new(unknown: list[str], newer: str) -> str:
    """Describe the names that no table knows, the first few of many."""
    more = len(unknown) - _SHOWN
    names = ", ".join(unknown[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
    return f"{newer}names that no table knows: {names}" if unknown else ""


def _lower(present: list[Marker], absent: list[Marker]) -> Iterator[tuple[Version, str]]:
    for one in present:
        yield one.since, f"{one.name} of {one.since} is there"
    for one in absent:
        if one.removed:
            last = Version.parse(one.removed.last)
            after = replace(last, patch=last.patch + 1)
            yield after, f"{one.name}, which {last} had, is not there"


def _upper(present: list[Marker], absent: list[Marker]) -> Iterator[tuple[Version, str]]:
    for one in absent:
        if not one.removed:
            yield one.since, f"{one.name} of {one.since} is not there"
    for one in present:
        if one.removed:
            first = Version.parse(one.removed.refused)
            yield first, f"{one.name}, which {first} no longer has, is there"


def _both(name: str) -> tuple[str, str]:
    return name, name.removeprefix("vhlo.")


@functools.cache
def _everywhere() -> frozenset[str]:
    """Return the ops that every reader has: those of the first Version, unless removed later."""
    first = Version.parse(vhlo.minimum())
    return frozenset(
        name
        for name, one in markers().items()
        if name.startswith("vhlo.") and one.since == first and not one.removed
    )
