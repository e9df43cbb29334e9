"""Coverage: what the sealed artifacts show of VHLO, and what `coverage.toml` requires beyond it.

Op forms, types, attributes, enum values and location kinds are counted in the bytes of the sealed
artifacts. What no table of names shows - both sides of a downgrade condition or a constraint,
kinds of dynamism, of custom calls, of location places - `coverage.toml` names with the Cases that
show it. What cannot be shown is there too, each with its reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from portable.bytecode import read
from portable.bytecode.layouts import BUILTIN, LOCATIONS, VHLO
from portable.bytecode.vhlo import enum_case, enums, lifetimes, ops
from portable.corpus.case import CorpusError
from portable.system.documents import demand_form, parse_toml
from portable.system.files import FileError, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from portable.corpus.case import Case

__all__ = ["COVERAGE", "Coverable", "Coverage", "measure", "shown_by"]

COVERAGE = "coverage.toml"
_LOCATION = "location_"


@dataclass(frozen=True, slots=True, order=True)
class Coverable:
    """One thing that has to be shown.

    Args:
        kind: `op`, `type`, `attribute`, `value`, `location`, or a table of `coverage.toml`.
        name: For example `tanh_v2`, or `fft_type_v1 IRFFT`.
    """

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is shown, by which Cases, and what is not.

    Args:
        shown: Names of the Cases by Coverable.
        excluded: Why a Coverable cannot be shown.
        missing: Subjects that are neither.
        stale: Exclusions of something that is shown after all, or that nothing requires.
    """

    shown: Mapping[Coverable, tuple[str, ...]]
    excluded: Mapping[Coverable, str]
    missing: tuple[Coverable, ...]
    stale: tuple[Coverable, ...]

    @property
    def complete(self) -> bool:
        """Whether everything is shown or excluded with a reason that still holds."""
        return not self.missing and not self.stale


def measure(corpus: Path, cases: Iterable[Case]) -> Coverage:
    """Measure the coverage of a corpus.

    Args:
        corpus: Its folder, with `coverage.toml`.
        cases: Its Cases.

    Returns:
        The coverage.

    Raises:
        CorpusError: `coverage.toml` is malformed or names a Case that is not there.
        MalformedArtifact: An artifact cannot be read.
    """
    cases = tuple(cases)
    shown: dict[Coverable, dict[str, None]] = {}
    for case in cases:
        for artifact in case.artifacts:
            for subject in shown_by(read_file(artifact.path)):
                shown.setdefault(subject, {})[case.name] = None
    asked, excluded = _asked(corpus / COVERAGE, {case.name for case in cases})
    for subject, names in asked.items():
        shown.setdefault(subject, {}).update(dict.fromkeys(names))
    wanted = {*_table_subjects(), *asked}
    return Coverage(
        shown={subject: tuple(sorted(shown[subject])) for subject in sorted(shown)},
        excluded=excluded,
        missing=tuple(sorted(wanted - shown.keys() - excluded.keys())),
        stale=tuple(sorted(s for s in excluded if s in shown or s not in wanted)),
    )


def shown_by(artifact: bytes) -> set[Coverable]:
    """Find what one artifact shows of the VHLO table.

    Args:
        artifact: Its bytes.

    Returns:
        Op forms, types, attributes, enum values and locations.

    Raises:
        MalformedArtifact: It cannot be read.
    """
    bytecode = read(artifact)
    pool = bytecode.pool
    found = {Coverable("op", name.name) for name in bytecode.names if name.dialect == VHLO}
    types = (pool.type(index) for index in range(len(pool.types)))
    found |= {Coverable("type", entry.name) for entry in types if entry.dialect == VHLO}
    for index in range(len(pool.attributes)):
        entry = pool.attribute(index)
        if entry.dialect == VHLO:
            found.add(Coverable("attribute", entry.name))
            value = enum_case(entry.name, entry.fields.get("value"))
            if value is not None:
                found.add(Coverable("value", f"{entry.name} {value}"))
        elif entry.dialect == BUILTIN and entry.name.startswith(_LOCATION):
            found.add(Coverable("location", entry.name.removeprefix(_LOCATION)))
    return found


def _table_subjects() -> Iterator[Coverable]:
    yield from (Coverable("op", name) for name in ops())
    yield from (Coverable("type", name) for name in lifetimes("types"))
    yield from (Coverable("attribute", name) for name in lifetimes("attributes"))
    yield from (Coverable("value", f"{a} {v}") for a, values in enums().items() for v in values)
    yield from (Coverable("location", name.removeprefix(_LOCATION)) for name in LOCATIONS)


def _asked(path: Path, known: set[str]) -> tuple[dict[Coverable, list[str]], dict[Coverable, str]]:
    """Read `coverage.toml`: what is required, with its Cases, and what is excluded."""
    try:
        tables: dict[str, list[dict[str, Any]]] = parse_toml(read_file(path))
        demand_form(tables, {"*": [{"name": str}], "excluded?": [{"kind": str, "reason": str}]})
        excluded = {
            Coverable(row["kind"], row["name"]): row["reason"] for row in tables.pop("excluded", [])
        }
        asked: dict[Coverable, list[str]] = {}
        for kind, rows in tables.items():
            for row in rows:
                names = [name for part in _CASE_KEYS for name in _names(row.get(part, []))]
                asked[Coverable(kind, row["name"])] = names
    except (FileError, ValueError) as error:
        raise CorpusError(f"cannot read the coverage table: {error!r}", where=str(path)) from error
    for subject, names in asked.items():
        absent = sorted(set(names) - known)
        if absent or not names:
            raise CorpusError(f"{subject} names {absent or 'no Case'}", where=str(path))
    return asked, excluded


# Where a row names its Cases: any list, or the two sides of a condition.
_CASE_KEYS = ("cases", "below", "above")


def _names(value: str | list[str]) -> list[str]:
    names = [value] if isinstance(value, str) else value
    demand_form(names, [str])
    return names
