"""Find what contradicts itself in the tables of what has shipped.

Usage: python -m tools audit_releases [--measure [NAME==VERSION ...]]

A contradiction is either listed in `discrepancies.toml`, with a reason, or a defect of a table.
So is a listed one that is no longer there. With --measure named rows (or all) are measured again,
and what they answer now is compared with what the table says. Exit status: 0 when everything found
is listed, 1 when not, 2 when something could not be measured.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version as PackageVersion

from portable.errors import PortableError
from portable.inspection import bracket
from portable.version import Version
from tools.static_releases import Names

if TYPE_CHECKING:
    from portable.inspection import Bracket

DATA = Path(__file__).parent.parent / "portable" / "releases" / "data"

# What upstream's names promise: a target at least this old.
PROMISED_DAYS = {"week_4": 28, "week_12": 84}
# What a row must say for itself.
DEMANDED = {
    "version": ("version", "bytecode_format", "source"),
    "release": ("distribution", "version", "date", "python", "confidence", "method", "measured"),
}
COMPARED = ("current", "current_low", "current_below", "minimum", "week_4", "week_12", "date")

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Contradiction:
    """One thing that two places of the tables say differently."""

    kind: str
    subject: str
    detail: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What a listed contradiction is recognised by."""
        return (self.kind, self.subject)


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything that is compared."""

    versions: list[Row]
    releases: list[Row]
    history: list[Row]
    anchors: list[Row]

    @classmethod
    def read(cls, folder: Path) -> Tables:
        """Read the tables of a folder."""
        loaded = {
            name: tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
            for name in ("versions", "releases", "history")
        }
        history = loaded["history"]
        versions, releases = loaded["versions"]["version"], loaded["releases"]["release"]
        return cls(versions, releases, history["version"], history["anchor"])


Found = Iterator[Contradiction]


def incomplete_rows(tables: Tables) -> Found:
    """Find rows that leave out what every row must say, and rows that are there twice."""
    for name, rows in (("version", tables.versions), ("release", tables.releases)):
        seen: set[str] = set()
        for row in rows:
            label = _label(row)
            missing = [field for field in DEMANDED[name] if field not in row]
            if name == "release" and not {"current", "current_low"} & set(row):
                missing.append("current")
            if name == "release" and not row.get("evidence"):
                missing.append("evidence")
            if missing:
                yield Contradiction("incomplete row", label, f"without {', '.join(missing)}")
            if label in seen:
                yield Contradiction("row twice", label)
            seen.add(label)


def untagged_versions(tables: Tables) -> Found:
    """Find Versions X.Y.0 that no tag carries, and those the history tags otherwise."""
    tagged = {row["version"]: row["tag_date"] for row in tables.history if "tag_date" in row}
    for row in tables.versions:
        version = row["version"]
        if "tag" not in row:
            yield Contradiction("version without a tag", version)
        if row.get("tag_date") != tagged.get(version):
            detail = f"{row.get('tag_date')} here, {tagged.get(version)} in the history"
            yield Contradiction("tag dates differ", version, detail)


def misplaced_tags(tables: Tables) -> Found:
    """Find tags on a commit whose version file says something else.

    Only what the history proves: a tag on the first commit of another Version, a tag whose Version
    no commit ever had, and two tags on one commit, of which one at least must be wrong.
    """
    first = {row["commit"]: row["version"] for row in tables.history if "commit" in row}
    shared: dict[str, list[str]] = defaultdict(list)
    for row in tables.history:
        version, commit = row["version"], row.get("tag_commit")
        if "tag_date" in row and "commit" not in row:
            yield Contradiction("tag disagrees", version, "no commit ever said so")
        if commit is None:
            continue
        shared[commit].append(version)
        if first.get(commit, version) != version:
            yield Contradiction("tag disagrees", version, f"its commit says {first[commit]}")
    for commit, versions in shared.items():
        if len(versions) > 1 and commit not in first:
            detail = f"both on {commit}, which says one of them"
            yield Contradiction("tag disagrees", " or ".join(versions), detail)


def disordered_dates(tables: Tables) -> Found:
    """Find dates that go backwards where Versions, or a distribution's own versions, go forward."""
    for older, newer in pairwise([row for row in tables.history if "date" in row]):
        if newer["date"] < older["date"]:
            subject = f"{older['version']} {newer['version']}"
            detail = f"{older['date']} then {newer['date']}"
            yield Contradiction("dates out of order", subject, detail)
    for row in tables.history:
        if row.get("tag_date", "9") < row.get("date", "0"):
            detail = f"tag of {row['tag_date']}, first commit of {row['date']}"
            yield Contradiction("tag before its version", row["version"], detail)
    for rows in _by_distribution(tables).values():
        for older, newer in pairwise(rows):
            if newer["date"] < older["date"]:
                detail = (
                    f"{_label(older)} is of {older['date']}, {newer['version']} of {newer['date']}"
                )
                yield Contradiction("dates out of order", _label(newer), detail)


def sinking_versions(tables: Tables) -> Found:
    """Find Releases whose StableHLO, or whose windows, are below those of an older Release."""
    for rows in _by_distribution(tables).values():
        for older, newer in pairwise(rows):
            for field in ("current", "current_low", "week_4", "week_12"):
                if {field} <= set(older) & set(newer) and _v(newer, field) < _v(older, field):
                    detail = f"{newer[field]}, and {older[field]} in {older['version']}"
                    yield Contradiction(f"{field} below an older release's", _label(newer), detail)


def impossible_versions(tables: Tables) -> Found:
    """Find Releases with a Version that is not in the history, or was not there yet."""
    born = {row["version"]: row["date"] for row in tables.history if "date" in row}
    for row in tables.releases:
        current = str(row.get("current", row.get("current_low")))
        if current not in born:
            yield Contradiction("version not in the history", _label(row), current)
        elif row["date"] < born[current]:
            detail = f"{current}, of {born[current]}, in a release of {row['date']}"
            yield Contradiction("release before its version", _label(row), detail)
        if "minimum" in row and Version.parse(row["minimum"]) > Version.parse(current):
            yield Contradiction("minimum above current", _label(row), row["minimum"])


def misnamed_releases(tables: Tables) -> Found:
    """Find Releases that say another Version than the names in their library show."""
    for row in tables.releases:
        label, current = _label(row), str(row.get("current", ""))
        found = _brackets().get(label) if current else None
        if found and not found.has(Version.parse(current)):
            detail = f"says {current}, its names show {found}"
            yield Contradiction("names show another version", label, detail)


@cache
def _brackets() -> dict[str, Bracket | None]:
    """Return what the names in the library of each Release show."""
    names = Names()
    return {label: bracket(names.of(label)) for label in names.releases()}


def missing_versions(tables: Tables) -> Found:
    """Find numbers that the history skips, and bytecode formats that go back."""
    seen = {row["version"] for row in tables.history if "commit" in row}
    for row in tables.versions:
        version = Version.parse(row["version"])
        if row["version"] not in seen:
            yield Contradiction("version in no public commit", row["version"])
        patches = sorted(Version.parse(v).patch for v in seen if Version.parse(v).target == version)
        for patch in sorted(set(range(max(patches, default=0))) - set(patches)):
            subject = f"{version.major}.{version.minor}.{patch}"
            yield Contradiction("version in no public commit", subject)
    for older, newer in pairwise(tables.versions):
        if newer["bytecode_format"] < older["bytecode_format"]:
            yield Contradiction("bytecode format goes back", newer["version"])


def broken_windows(tables: Tables) -> Found:
    """Find anchors younger than their name promises, or older than they had to be on that day."""
    tagged = [row for row in tables.history if "tag_date" in row]
    dates = {row["version"]: _day(row["tag_date"]) for row in tagged}
    for anchor in tables.anchors:
        on = _day(anchor["date"])
        for name, days in PROMISED_DAYS.items():
            subject, chosen = f"{anchor['date']} {name}", anchor[name]
            if chosen not in dates:
                yield Contradiction("anchor without a tag", subject, chosen)
                continue
            age = (on - dates[chosen]).days
            if age != anchor[f"{name}_age_days"]:
                yield Contradiction("anchor's age differs", subject, f"{chosen} is {age} days old")
            if age < days:
                yield Contradiction("anchor too young", subject, f"{chosen} is {age} days old")
            old_enough = (Version.parse(v) for v, day in dates.items() if (on - day).days >= days)
            best = max(old_enough, default=Version.parse(chosen))
            if best > Version.parse(chosen):
                detail = f"{chosen} is {age} days old; {best} would have done"
                yield Contradiction("anchor older than its window", subject, detail)


CHECKS: tuple[Callable[[Tables], Found], ...] = (
    incomplete_rows,
    untagged_versions,
    misplaced_tags,
    disordered_dates,
    sinking_versions,
    impossible_versions,
    misnamed_releases,
    missing_versions,
    broken_windows,
)


def audit(tables: Tables) -> list[Contradiction]:
    """Run every check."""
    return sorted({found for check in CHECKS for found in check(tables)})


def listed(path: Path) -> dict[tuple[str, str], str]:
    """Read the listed contradictions: what each is recognised by, and its reason."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))["contradiction"]
    return {(row["kind"], subject): row["reason"] for row in rows for subject in row["subjects"]}


def measured_otherwise(tables: Tables, wanted: list[str]) -> tuple[list[Contradiction], int]:
    """Measure Releases again, and compare.

    Args:
        tables: What they answered before.
        wanted: Which, as `jaxlib==0.4.33`; empty for all of those that can be measured.

    Returns:
        What differs, and how many could not be run.
    """
    from portable.runtime.environments import Environments
    from portable.runtime.measuring import measure

    environments, found, failed = Environments(), [], 0
    for row in tables.releases:
        requirement = f"{row['distribution']}=={row['version']}"
        if (wanted and requirement not in wanted) or row["method"] == "header":
            continue
        try:
            now = measure(requirement, environments, tables.releases)
        except PortableError as error:
            print(f"{requirement}: {error}", file=sys.stderr)
            failed += 1
            continue
        for field in COMPARED:
            if row.get(field) != (now.get(field) or None):
                detail = f"{field} is {now.get(field)}, the table says {row.get(field)}"
                found.append(Contradiction("measured otherwise", _label(row), detail))
    return found, failed


def main() -> int:
    """Audit the tables, print what was found, and judge it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the tables")
    parser.add_argument("--measure", nargs="*", metavar="NAME==VERSION")
    options = parser.parse_args()
    tables = Tables.read(options.data)
    known = listed(options.data / "discrepancies.toml")
    found, failed = audit(tables), 0
    if options.measure is not None:
        differing, failed = measured_otherwise(tables, options.measure)
        found += differing
    unknown = [c for c in found if c.key not in known]
    gone = sorted(set(known) - {c.key for c in found})
    for contradiction in found:
        word = "UNKNOWN" if contradiction in unknown else "known"
        print(f"{word}: {contradiction.kind}: {contradiction.subject}: {contradiction.detail}")
    for kind, subject in gone:
        print(f"GONE: {kind}: {subject}: listed, but not found any more")
    advice = "; correct the table, or list it in discrepancies.toml with a reason"
    counts = f"{len(found) - len(unknown)} known, {len(unknown)} unknown, {len(gone)} gone"
    print(counts + (advice if unknown or gone else ""))
    return 1 if unknown or gone else 2 if failed else 0


def _by_distribution(tables: Tables) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in tables.releases:
        found[row["distribution"]].append(row)
    for rows in found.values():
        rows.sort(key=lambda row: PackageVersion(row["version"]))
    return found


def _label(row: Row) -> str:
    return f"{row.get('distribution', '')} {row.get('version', '?')}".strip()


def _v(row: Row, field: str) -> Version:
    return Version.parse(row[field])


def _day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


if __name__ == "__main__":
    sys.exit(main())
