"""Releases: what has shipped, one row each, in `data/releases.toml`."""

from __future__ import annotations

import enum
import functools
import os
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion as NotAVersion
from packaging.version import Version as PackageVersion

from portable.errors import PortableError
from portable.releases.specifier import Specifier
from portable.releases.table import (
    ByTables,
    Row,
    TableError,
    demand_once,
    normalize_name,
    own_rows,
    read_table,
    rows,
    rows_by_distribution,
    static_distributions,
)
from portable.system.places import named_table

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Mapping, Sequence

    from portable.version import Version

__all__ = [
    "FIELDS",
    "Confidence",
    "ContradictingRow",
    "Release",
    "UnknownDistribution",
    "UnknownRelease",
    "as_release",
    "demand_published",
    "demand_reachable",
    "demand_same",
    "distributions",
    "find_release",
    "normalize_name",
    "published_releases",
    "releases",
    "spans",
    "use_table",
    "without_library",
]

FIELDS = (
    *("distribution", "version", "date", "date_source", "current", "current_low", "current_below"),
    *("minimum", "python", "requires_python", "numpy", "confidence", "method", "measured"),
    *("evidence", "source", "week_4", "week_12", "serialize_api", "exec_era", "eval_module"),
    *("yanked", "note"),
)
"""What a row may say, in the order in which it is written."""

_BETWEEN = "neighbours"
_SIGNS = frozenset("<>~!*,")


class UnknownDistribution(PortableError):
    """No Release of this distribution is in the table."""


class UnknownRelease(PortableError):
    """The distribution is known, but this Release is not."""


class Confidence(enum.Enum):
    """The confidence in a Version, the highest first."""

    MEASURED = "measured"  # queried from the Release itself
    DATED = "dated"  # concluded from dates
    STATIC = "static"  # by the names in its binary
    BRACKETED = "bracketed"  # lies between two Versions that are known
    STATED = "stated"  # the caller says so

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Release:
    """One shipped libStablehlo.

    Args:
        distribution: Its name, normalised as in PEP 503.
        version: Its own version, not StableHLO's.
        date: When it was published.
        current: The StableHLO Version it has; for a bracketed Release the lowest it may have.
        below: For a bracketed Release, the first Version it does not have.
        minimum: The oldest Version it claims to read; None if it claims none.
        python: The Python version to run it on.
        requires_python: The Python versions that its metadata allow.
        numpy: Which numpy it needs to execute.
        confidence: How `current` is known.
        method: How `current` was found.
        measured: When.
        evidence: The measurements behind it.
        week_4: The Version its WEEK_4 stands for.
        week_12: The Version its WEEK_12 stands for.
        yanked: Whether the index withdrew it.
        note: Anything else worth knowing.
        own: Whether it comes from the user's own table, not from the shipped one.
    """

    distribution: str
    version: str
    date: datetime.date
    current: Version
    below: Version | None = None
    minimum: Version | None = None
    python: str = ""
    requires_python: str = ""
    numpy: str = ""
    confidence: Confidence = Confidence.MEASURED
    method: str = ""
    measured: datetime.date | None = None
    evidence: str = ""
    week_4: Version | None = None
    week_12: Version | None = None
    yanked: bool = False
    note: str = ""
    own: bool = False

    def __hash__(self) -> int:
        return hash((self.distribution, self.version))  # equal Releases have equal names

    def __repr__(self) -> str:
        return f"<Release {self}, StableHLO {self.has}>"

    @property
    def exact(self) -> bool:
        """Whether `current` is its Version, not only the lowest one it may have."""
        return self.confidence not in {Confidence.BRACKETED, Confidence.STATIC}

    @property
    def target(self) -> Version:
        """The newest Version to write for this consumer: its own, patch zero."""
        return self.current.target

    @property
    def listed(self) -> bool:
        """Whether the table has it; otherwise its neighbours bracket it."""
        return self.method != _BETWEEN

    @property
    def has(self) -> str:
        """Which Version it has, in words, and whether this comes from the user's own table."""
        own = " (own table)" if self.own else ""
        if self.exact:
            return f"{self.current}{own}"
        return f"at least {self.current}" + (f", below {self.below}" if self.below else "") + own

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".rstrip()

    def record(self) -> dict[str, object]:
        """Return the Release as plain data for JSON, without empty fields."""
        fields = ((name, getattr(self, name)) for name in self.__slots__)
        return {
            name: value if isinstance(value, bool) else str(value)
            for name, value in fields
            if value not in {None, "", False}
        }


def distributions() -> tuple[str, ...]:
    """Return the names of all known distributions, sorted."""
    shipped = rows_by_distribution("releases", "release")
    return tuple(sorted({*shipped, *_own(), *static_distributions()}))


def releases(distribution: str | None = None) -> tuple[Release, ...]:
    """Return the known Releases.

    Args:
        distribution: Only those of this distribution, oldest version first; all when None.

    Returns:
        The Releases, by distribution and then by version.

    Raises:
        UnknownDistribution: There is none; the error suggests names that are close.
    """
    if distribution is None:
        return tuple(release for name in distributions() for release in _parsed(name))
    found = _parsed(normalize_name(distribution))
    if not found:
        raise _unknown_distribution(distribution)
    return found


def published_releases(distribution: str) -> tuple[Release, ...]:
    """Return the known Releases and those that were published between them.

    Args:
        distribution: Whose.

    Returns:
        The Releases, oldest version first. One that is not in the table is bracketed: it has the
        lower current and the higher minimum of its neighbours there.

    Raises:
        UnknownDistribution: There is none.
    """
    known = releases(distribution)
    listed = {_order(release.version) for release in known}
    missing = [
        version
        for version in _published(normalize_name(distribution))
        if _order(version) not in listed
    ]
    between = (_bracketed(known, version) for version in missing)
    found = [*known, *(release for release in between if release)]
    return tuple(sorted(found, key=lambda release: _order(release.version)))


def spans(names: Iterable[str]) -> list[str]:
    """Name Releases, those that were published one after the other as one span.

    Args:
        names: As `str(release)` gives them; what is not in the table stays as it is.

    Returns:
        Such as `jaxlib 0.6.0 to 0.12.0.1`, in the order of the names.
    """
    found: list[list[str]] = []
    for name in names:
        if found and _after(found[-1][-1]) == name:
            found[-1].append(name)
        else:
            found.append([name])
    return [
        each[0] if len(each) == 1 else f"{each[0]} to {each[-1].rpartition(' ')[2]}"
        for each in found
    ]


def _after(name: str) -> str | None:
    """Return the name of the Release that was published next, None where none is known."""
    return _followers(name.rpartition(" ")[0]).get(name)


@ByTables
def _followers(distribution: str) -> dict[str, str]:
    if distribution not in distributions():
        return {}
    return dict(pairwise(str(release) for release in published_releases(distribution)))


def find_release(name: str, version: str | None = None) -> Release:
    """Find one Release.

    Args:
        name: A distribution, or both parts as `jaxlib 0.4.33` or `jaxlib==0.4.33`.
        version: The Release's own version, if `name` is the distribution alone.

    Returns:
        The Release; one between two in the table is bracketed by them.

    Raises:
        UnknownDistribution: No such distribution is known.
        UnknownRelease: The table has no such Release of it, and none before or none after.
    """
    if version is None:
        if not _SIGNS.isdisjoint(name):
            raise UnknownRelease(
                f"{name[:60]!r} is not one Release",
                hint="write jaxlib==0.9.1; of a specifier: portable.releases.matching_releases",
            )
        name, _, version = name.replace("==", " ").strip().partition(" ")
    wanted = version.strip()
    known = releases(name)
    try:
        order = _order(wanted)
    except NotAVersion:
        order = None
    if order is not None:
        same = next((release for release in known if _order(release.version) == order), None)
        found = same or _bracketed(known, wanted)
        if found:
            return found
    raise UnknownRelease(
        f"{normalize_name(name)} {wanted or '(no version)'} is not in the table of Releases",
        hint=f"known are {known[0].version} to {known[-1].version}; `portable releases` lists them",
    )


def _bracketed(known: tuple[Release, ...], version: str) -> Release | None:
    """Return a Release that the table lacks, as its neighbours there bracket it."""
    order = _order(version)
    older = [release for release in known if _order(release.version) < order]
    newer = [release for release in known if _order(release.version) > order]
    if not older or not newer:
        return None
    before, after = older[-1], newer[0]
    minima = [one.minimum for one in (before, after) if one.minimum]
    return replace(
        before,
        version=version,
        current=min(before.current, after.current),
        below=_beyond(max(before, after, key=lambda one: one.current)),
        minimum=max(minima, default=None),
        confidence=Confidence.BRACKETED,
        method=_BETWEEN,
        measured=None,
        evidence=f"not measured; between {before} (StableHLO {before.has}) "
        f"and {after} (StableHLO {after.has})",
        week_4=None,
        week_12=None,
        yanked=False,
        note="",
        own=before.own or after.own,
    )


def _beyond(release: Release) -> Version | None:
    """Return the first Version that a Release is known not to have."""
    if not release.exact:
        return release.below
    return replace(release.current, patch=release.current.patch + 1)


_order = functools.cache(PackageVersion)


def without_library(distribution: str) -> tuple[str, ...]:
    """Return the versions of a distribution whose wheels hold no library."""
    found = rows_by_distribution("published", "without_library")
    rows_of = found.get(normalize_name(distribution), ())
    return tuple(version for row in rows_of for version in row.texts("versions"))


@functools.cache
def _published(name: str) -> tuple[str, ...]:
    found = rows_by_distribution("published", "published").get(name, ())
    return tuple(version for row in found for version in row.texts("versions"))


class ContradictingRow(TableError):
    """The user's own table says something else of a Release than the shipped one."""


def use_table(path: str | os.PathLike[str] | None) -> None:
    """Read the table of Releases that a policy names, and no longer that of an earlier policy.

    What is read counts for this thread, or task of asyncio, and for the threads and children that
    its calls start: two threads can use two policies.

    Args:
        path: A file of the form of `releases.toml`, as `portable releases add` writes it; None for
            none.

    Raises:
        TableError: It cannot be read, has another form, or contradicts the shipped table.
    """
    if path is None:
        named_table.set(None)
        return
    before = named_table.set(read_table(os.path.abspath(path)))
    try:
        for name in _own():
            _parsed(name)
    except PortableError:
        named_table.reset(before)
        raise


@ByTables
def _own() -> dict[str, list[Row]]:
    """Return what other tables add to the shipped one, by distribution; the first table counts."""
    own: dict[str, Row] = {}
    for table in own_rows("release"):
        demand_once((row, _key(row)) for row in table)
        own = {_key(row): row for row in table} | own
    found: dict[str, list[Row]] = {}
    for row in own.values():
        _demand_version(row)
        name = normalize_name(row.text("distribution"))
        shipped = {_key(one): one for one in _shipped(name)}
        if _key(row) in shipped:
            demand_same(_from_row(row), _from_row(shipped[_key(row)]), row.where)
        else:
            found.setdefault(name, []).append(row)
    return found


def _rows(name: str) -> Sequence[Row]:
    """Return the rows of one distribution, of the shipped table and the user's own."""
    own = _own().get(name)
    if own is None:
        return _shipped(name)
    return sorted([*_shipped(name), *own], key=lambda row: _order(row.text("version")))


def _shipped(name: str) -> Sequence[Row]:
    return rows_by_distribution("releases", "release").get(name, ())


def _demand_version(row: Row) -> None:
    try:
        _order(row.text("version"))
    except ValueError as error:  # also of thousands of digits
        raise row.wrong(f"version: {error}") from error


def _key(row: Row) -> str:
    return f"{normalize_name(row.text('distribution'))} {row.text('version')}"


def as_release(fields: Mapping[str, object]) -> Release:
    """Return the Release of a row that was just measured.

    Args:
        fields: As they will stand in a table; those that are None or empty will not.
    """
    said = {name: value for name, value in fields.items() if value not in (None, "")}
    return _from_row(Row("measured", said, own=True))


def demand_same(own: Release, shipped: Release, where: str) -> None:
    """Refuse a measurement of the user's that contradicts the shipped table.

    Args:
        own: What he measured.
        shipped: What the table says of the same Release.
        where: Where his stands.

    Raises:
        ContradictingRow: They have different Versions; the error has both.
    """
    low = max(own.current, shipped.current)
    ends = [end for end in (_beyond(own), _beyond(shipped)) if end]
    differ = any(end <= low for end in ends) or (
        None not in {own.minimum, shipped.minimum} and own.minimum != shipped.minimum
    )
    if differ:
        raise ContradictingRow(
            f"{own} has StableHLO {_reads(own)}, but the shipped table says {_reads(shipped)}",
            where=where,
            hint="remove the row, or report the Release if it was measured rightly",
        )


def _reads(release: Release) -> str:
    return release.has + (f" and reads from {release.minimum}" if release.minimum else "")


@ByTables
def _parsed(name: str) -> tuple[Release, ...]:
    """Return the Releases of a distribution; one that was measured comes before a static row."""
    measured = _rows(name)
    found = {
        _order(release.version): (release, row)
        for row, release in zip(measured, _checked(measured), strict=True)
    }
    static = rows(f"static/{name}", "release") if name in static_distributions() else ()
    for row, release in zip(static, _checked(static), strict=True):
        same, there = found.setdefault(_order(release.version), (release, row))
        if same.own:
            demand_same(same, release, there.where)
    return tuple(found[order][0] for order in sorted(found))


def _checked(table: Sequence[Row]) -> list[Release]:
    """Return the Releases of rows that follow each other, the oldest first."""
    found = [_from_row(row) for row in table]
    for row, release in zip(table, found, strict=True):
        low = release.current
        if (release.below and release.below <= low) or (release.minimum and release.minimum > low):
            raise row.wrong(f"{release} has {low}, below {release.below}, from {release.minimum}")
    for row, before, after in zip(table[1:], found, found[1:], strict=False):
        if _order(after.version) <= _order(before.version):
            raise row.wrong(f"{after} is listed after {before}: oldest first")
    return found


# A Release is named in each Verdict about it.
_LONGEST_NAME = 200


def _from_row(row: Row) -> Release:
    row.demand_known(FIELDS)
    for key in ("distribution", "version"):
        if len(row.text(key)) > _LONGEST_NAME:
            size = f"{len(row.text(key)):,} characters, above the limit of {_LONGEST_NAME}"
            raise row.wrong(f"{key} has {size}")
    current = row.maybe_version("current")
    return Release(
        distribution=normalize_name(row.text("distribution")),
        version=row.text("version"),
        date=row.date("date"),
        current=current or row.version("current_low"),
        below=None if current else row.maybe_version("current_below"),
        minimum=row.maybe_version("minimum"),
        python=row.note("python"),
        requires_python=row.note("requires_python"),
        numpy=row.note("numpy"),
        confidence=row.member("confidence", Confidence),
        method=row.note("method"),
        measured=row.maybe_date("measured"),
        evidence=row.note("evidence"),
        week_4=row.maybe_version("week_4"),
        week_12=row.maybe_version("week_12"),
        yanked=row.flag("yanked"),
        note=row.note("note"),
        own=row.own,
    )


def demand_reachable(row: Row) -> None:
    """Refuse a row of a table whose `distribution` and `specifier` names no known Release.

    Raises:
        TableError: The distribution is unknown, or the specifier wrong or without any Release.
    """
    try:
        specifier = Specifier.parse(row.text("specifier"))
        reachable = any(map(specifier.contains, _versions(row.text("distribution"))))
    except PortableError as error:
        raise row.wrong(str(error)) from error
    if not reachable:
        raise row.wrong(f"specifier {specifier.text!r} contains no Release")


def demand_published(row: Row) -> None:
    """Refuse a row of `published.toml` of no known distribution, or with versions out of order.

    Raises:
        TableError: The error names what is wrong.
    """
    versions = row.texts("versions")
    try:
        releases(row.text("distribution"))
        orders = [_order(version) for version in versions]
    except (UnknownDistribution, NotAVersion) as error:
        raise row.wrong(str(error)) from error
    for before, after in pairwise(zip(orders, versions, strict=True)):
        if after[0] <= before[0]:
            raise row.wrong(f"{after[1]} is listed after {before[1]}: oldest first")


@ByTables
def _versions(distribution: str) -> tuple[str, ...]:
    return tuple(release.version for release in published_releases(distribution))


def _unknown_distribution(name: str) -> UnknownDistribution:
    import difflib  # only to explain an error

    known = distributions()
    wanted = normalize_name(name)
    close = [one for one in known if wanted and one.startswith(f"{wanted}-")][:3]
    close = close or difflib.get_close_matches(wanted, known, n=3, cutoff=0.5)
    shown = name if len(name) <= 60 else name[:60] + "..."
    listed = "`portable releases` lists the known ones"
    return UnknownDistribution(
        f"no Release of {shown!r} is known",
        hint=f"did you mean {' or '.join(close)}?" if close else listed,
    )
