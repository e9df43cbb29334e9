"""What Releases compile and compute: op signature by op signature, learnt by executing programs.

`data/capabilities.tsv` is written by `python -m tools capabilities`. A section is one distribution
on one platform, with the Releases that were executed; a row has what each of them made of the op
signatures that it lists, as `portable.prediction.signatures` writes them. Of a Release between two
that were executed it is known where these agree. One behind whose version is a `~` was executed
with what these do not agree about alone. An op in the body of another is listed only where
a Release fails on it there.
"""

from __future__ import annotations

import enum
import functools
import os
from typing import TYPE_CHECKING, NamedTuple

from packaging.version import Version as PackageVersion

from portable.releases.table import TableError
from portable.system.files import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from portable.releases.release import Release

__all__ = [
    "ANY",
    "APART",
    "COMMUNICATING",
    "HALVED",
    "OF_NOTHING",
    "TABLE",
    "Abilities",
    "Ability",
    "Executions",
    "capabilities_of",
    "computed_everywhere",
    "is_inside",
    "parse",
]

ANY, OF_NOTHING = "*", " of nothing"
"""The row of a Release that computes any op without elements, and how signatures of these end."""
APART = " apart"
"""How the signature of an op ends whose windows do not overlap."""
HALVED = " by halves"
"""How that of a Fourier transform ends, over one dimension whose length is a power of two."""
_PARTLY = "~"
TABLE = os.path.join(os.path.dirname(__file__), "data", "capabilities.tsv")


class Ability(enum.Enum):
    """What a Release makes of an op signature; the value is its letter in the table."""

    COMPUTES = "c"
    COMPILES = "k"
    """What it computes was compared with nothing."""
    REFUSES = "r"
    CRASHES = "x"
    WRONG = "w"
    MIXED = "m"
    """It computes some programs with the signature and fails on others."""
    UNTRIED = "-"
    """Nothing with it was executed, or nothing that shows what it makes of it."""

    @property
    def says(self) -> str:
        """Why it does not say that a signature compiles or computes the same."""
        return _DOUBTS.get(self, "not tried")


_DOUBTS = {
    **dict.fromkeys((Ability.REFUSES, Ability.CRASHES, Ability.WRONG), "fails unless folded away"),
    Ability.COMPILES: "compiles, and what it computes is not known",
    Ability.MIXED: "some programs with it fail",
}
_LETTERS = {support.value: support for support in Ability}
_FAILED = {Ability.REFUSES, Ability.CRASHES}
# What is kept although it has no elements: XLA and IREE refuse the first all the same, and IREE
# some of the others, of complex numbers.
_KEPT = {"collective_broadcast"}
_QUANTIZED = "quant"
COMMUNICATING = frozenset(
    {
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("collective_reduce", "cross-replica-sum", "reduce_scatter"),
    }
)
"""The ops by which devices communicate."""


class Abilities(NamedTuple):
    """What one Release makes of op signatures.

    Args:
        source: Which executions show it, in one line; empty where there are none.
        rows: By op the outcomes of all Releases that were executed, and what signatures have them
            as they stand in the table.
        positions: Which outcomes count: those of the Release, or of its neighbours.
        platform: What it was executed on, as `cpu`; empty where nothing was.
        beside: What its neighbours make of what it was not tried with; None for nothing.
    """

    source: str
    rows: Mapping[str, Sequence[tuple[str, str]]]
    positions: tuple[int, ...]
    platform: str = ""
    beside: Abilities | None = None

    def support(self, signature: str) -> Ability:
        """Look up an op signature.

        Args:
            signature: As `convert f32 -> bf16`.

        Returns:
            What the Release makes of it; `UNTRIED` also where its neighbours do not agree.
        """
        found = {self._support(signature, position) for position in self.positions}
        ability = found.pop() if len(found) == 1 else Ability.UNTRIED
        if ability is Ability.UNTRIED and self.beside is not None:
            return self.beside.support(signature)
        return ability

    def shown_by(self, signature: str) -> str:
        """Return which executions show what the Release makes of a signature, in one line.

        Args:
            signature: As `convert f32 -> bf16`.
        """
        own = self._replace(beside=None).support(signature)
        return (
            self.source if self.beside is None or own is not Ability.UNTRIED else self.beside.source
        )

    def _support(self, signature: str, position: int) -> Ability:
        op, _, types = signature.partition(" ")
        found = self._found(op, types, position)
        plain = signature.removesuffix(OF_NOTHING).removesuffix(APART).removesuffix(HALVED)
        # That another Release was tried changes nothing of what is known of this one.
        if found in {None, Ability.UNTRIED} and plain != signature:
            found = self._support(plain, position)
            if types.endswith(OF_NOTHING):
                found = self._of_nothing(op, types.removesuffix(OF_NOTHING), found, position)
        if found is not None:
            return found
        return Ability.COMPUTES if is_inside(types) else Ability.UNTRIED

    def _of_nothing(self, op: str, types: str, found: Ability, position: int) -> Ability:
        """Return what becomes of an op without elements, by what becomes of others."""
        kind = _QUANTIZED if _QUANTIZED in types.split() else ""
        removed = self._found(ANY, f"{kind}{OF_NOTHING}".strip(), position)
        if found is Ability.UNTRIED or op in _KEPT:
            return found
        if removed is not Ability.COMPUTES:
            tried = removed is not None and removed is not Ability.UNTRIED
            return found if tried or found not in _FAILED else Ability.UNTRIED
        # A compiler that removes it looks at none of those that it knows. What is returned it makes
        # a constant.
        results = types.rpartition("-> ")[2]
        made = (self._found("constant", one, position) for one in results.split())
        if not _FAILED.isdisjoint(made):
            return Ability.UNTRIED
        if found in _FAILED and self._fails_of_nothing(op, results, position):
            return Ability.UNTRIED
        return Ability.UNTRIED if op in COMMUNICATING and found in _FAILED else Ability.COMPUTES

    def _fails_of_nothing(self, op: str, results: str, position: int) -> bool:
        """Say whether an op fails without elements, of other operands and the same results."""
        return any(
            types.removesuffix(OF_NOTHING).rpartition("-> ")[2] == results
            for outcomes, listed in self.rows.get(op, ())
            if _LETTERS[outcomes[position]] in _FAILED
            for types in _listed(listed)
            if types.endswith(OF_NOTHING)
        )

    def _found(self, op: str, types: str, position: int) -> Ability | None:
        for outcomes, listed in self.rows.get(op, ()):
            if types in _listed(listed):
                return _LETTERS[outcomes[position]]
        return None


_NOTHING = Abilities("", {}, ())


class Executions(NamedTuple):
    """What the Releases of one distribution make of op signatures, see the table."""

    platform: str
    date: str
    executed: tuple[str, ...]
    partly: frozenset[str]
    rows: dict[str, list[tuple[str, str]]]

    def computes(self, outcomes: str) -> bool:
        """Say whether each of the Releases computes what has some outcomes, or was not tried."""
        letters = zip(outcomes, self.executed, strict=True)
        untried = Ability.UNTRIED.value
        return all(
            letter == Ability.COMPUTES.value or (letter == untried and version in self.partly)
            for letter, version in letters
        )


@functools.cache
def _listed(types: str) -> frozenset[str]:
    return frozenset(types.split(";"))


@functools.cache
def capabilities_of(release: Release) -> Abilities:
    """Return what is known of what a Release compiles, on the platform of its section.

    Args:
        release: Which.

    Returns:
        What it makes of op signatures: nothing, without a source, where neither it was executed
        nor, on the CPU, an older and a newer one. On other platforms too few Releases were executed
        to know of those between two.

    Raises:
        TableError: The table does not make sense.
    """
    section = _sections().get(release.distribution)
    if section is None:
        return _NOTHING
    whole = [one for one in section.executed if one not in section.partly]
    if release.version in whole:
        return _shown(release.distribution, section, release.version)
    order = PackageVersion(release.version)
    newer = next((at for at, one in enumerate(whole) if PackageVersion(one) > order), 0)
    known = newer and section.platform == "cpu"
    beside = _shown(release.distribution, section, *whole[newer - 1 : newer + 1]) if known else None
    if release.version not in section.partly:
        return beside or _NOTHING
    return _shown(release.distribution, section, release.version)._replace(beside=beside)


def _shown(distribution: str, section: Executions, *versions: str) -> Abilities:
    """Return what some Releases that were executed show."""
    source = (
        f"executed on {distribution} {' and '.join(versions)}, {section.platform}, {section.date}"
    )
    positions = tuple(map(section.executed.index, versions))
    return Abilities(source, section.rows, positions, section.platform)


@functools.lru_cache(maxsize=4096)
def computed_everywhere(signature: str) -> bool:
    """Say whether every Release that was executed computes an op signature.

    Args:
        signature: As `add f32`.
    """
    op, _, types = signature.removesuffix(OF_NOTHING).removesuffix(HALVED).partition(" ")
    each = [(section, section.rows.get(op, ())) for section in _sections().values()]
    if is_inside(types):
        return not any(types in _listed(listed) for _, rows in each for _, listed in rows)
    return all(
        any(types in _listed(listed) and section.computes(outcomes) for outcomes, listed in rows)
        for section, rows in each
    )


def is_inside(types: str) -> bool:
    """Say whether a signature is that of an op in the body of another.

    Args:
        types: It without the op: `complex<f32> in reduce`.
    """
    return " in " in types


@functools.cache
def _sections() -> dict[str, Executions]:
    return parse(read_file(TABLE).decode())


def parse(text: str) -> dict[str, Executions]:
    """Read the table.

    Args:
        text: What is in it.

    Returns:
        Its sections, by distribution.

    Raises:
        TableError: A row does not make sense.
    """
    sections: dict[str, Executions] = {}
    section = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        first, *fields = line.split("\t")
        if first.startswith("["):
            platform, date, listed = fields
            partly = frozenset(one[:-1] for one in listed.split() if one.endswith(_PARTLY))
            executed = tuple(one.removesuffix(_PARTLY) for one in listed.split())
            section = Executions(platform, date, executed, partly, {})
            sections[first.strip("[]")] = section
            continue
        fits = section and len(fields) == 2 and len(fields[0]) == len(section.executed)
        if section is None or not fits or not _LETTERS.keys() >= {*fields[0]}:
            raise TableError("the row does not fit its section", where=f"{TABLE}: row {number}")
        outcomes, types = fields
        section.rows.setdefault(first, []).append((outcomes, types))
    return sections
