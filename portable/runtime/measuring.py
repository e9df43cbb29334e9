"""Measure Releases, and write the results as rows of a table.

To measure a Release is to make its environment, query its StableHLO Versions (where it has no
function for that, to have it read one artifact for each Version), and look up its date and digest
on the package index. A file, which cannot be run, is read statically, by the names in it. Notes,
and fields that cannot be measured, are left unchanged.
"""

from __future__ import annotations

import contextlib
import datetime
import email
import fcntl
import hashlib
import json
import os
import re
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.utils import canonicalize_name
from packaging.version import Version as PackageVersion

from portable.errors import PortableError
from portable.escaping import line
from portable.inspection import NotARuntime, Runtime, read_runtime
from portable.releases import Confidence, distributions, releases
from portable.releases.release import FIELDS, as_release, demand_same, without_library
from portable.releases.table import own_table
from portable.runtime.environments import (
    EnvironmentFailed,
    Recipe,
    ReleaseNotFound,
    UnsupportedDistribution,
)
from portable.runtime.environments.digests import fits_here
from portable.runtime.environments.index import fetch, published, wheels_of
from portable.system import scratch
from portable.system.documents import parse_toml
from portable.system.files import read_file, write_file
from portable.system.holding import open_lock
from portable.system.places import demand_own
from portable.system.worker import Answer, Status
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.releases import Release
    from portable.runtime.environments import Environment, Environments
    from portable.runtime.environments.index import IndexWheel

__all__ = [
    "CannotMeasure",
    "Row",
    "add_own",
    "bracket",
    "find",
    "look_up",
    "measure",
    "measure_file",
    "measure_static",
    "new_versions",
    "read_table",
    "renew",
    "shipped_rows",
    "update",
    "write_table",
]

LADDER = Path(__file__).parents[1] / "releases" / "data" / "ladder.toml"
_HEAD = """\
# Releases that were measured here, in the form of the shipped table: `portable releases add`.
# A row that contradicts the shipped table is an error.

"""

# What a measurement replaces as a whole: a field that it did not find out is gone afterwards.
MEASURED = (
    *("current", "current_low", "current_below", "minimum", "confidence", "method", "measured"),
    *("evidence", "week_4", "week_12", "serialize_api", "exec_era", "eval_module"),
)
PYTHONS = ("3.11", "3.12", "3.13")
# The last jaxlib that numpy 2 does not work with, whatever its metadata say (measured: every
# transfer of an array fails up to 0.4.25; its extension types until ml_dtypes 0.5).
LAST_OLD_NUMPY = PackageVersion("0.4.38")

Row = dict[str, Any]


class CannotMeasure(PortableError):
    """The Release could not be measured."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A Release as an environment needs to know it."""

    distribution: str
    version: str
    python: str
    numpy: str


def measure(requirement: str, environments: Environments, rows: list[Row]) -> Row:
    """Make the row of one Release.

    Args:
        requirement: As `jaxlib==0.4.33`.
        environments: Where to install it.
        rows: The table so far: for the writer of the ladder, and for what is kept of an old row.

    Returns:
        The row.
    """
    distribution, _, version = requirement.partition("==")
    before = find(rows, distribution, version) or {}
    wheel, python = look_up(distribution.replace("_", "-"), version)
    if not wheel.uploaded:
        raise CannotMeasure(
            "the index does not say when the wheel was uploaded",
            where=wheel.name,
            hint="use an index with upload times, as PyPI has them",
        )
    numpy = before.get("numpy", "") or _old_numpy(distribution, version)
    environment = environments.get(Wanted(distribution, version, python, numpy))
    row = {k: v for k, v in before.items() if k not in MEASURED}
    row |= {"distribution": distribution, "version": version}
    # A date with a source of its own was found by hand, because the upload time misleads.
    row["date"] = before["date"] if "date_source" in before else wheel.uploaded.isoformat()
    row |= {"python": python, "source": _source(wheel), "measured": _today()}
    row |= _installed_metadata(environment, numpy)
    with environment.worker(limit=60) as worker:
        probed = worker.ask({"kind": "probe"})
        if environment.recipe.driver != "iree":
            return row | _told(environment, probed)
        return row | climb(worker.ask, environments, rows)


def _source(wheel: IndexWheel) -> str:
    """Return where a row comes from, in the words of the table."""
    return f"PyPI {wheel.name} sha256:{wheel.sha256}"


def _told(environment: Environment, answer: Answer) -> Row:
    """Turn what a Release says of itself into fields."""
    if not answer.ok:
        raise CannotMeasure(
            f"{environment.consumer} gave no answer: {answer.status} {answer.reason}"
        )
    said = dict(answer.payload)
    plugin = environment.recipe.driver == "plugin"
    found: Row = {"current": said["current"], "minimum": said.get("minimum")}
    found |= {"confidence": "measured", "method": "plugin" if plugin else "bindings"}
    for field in ("week_4", "week_12", "serialize_api", "exec_era", "eval_module"):
        found[field] = said.get(field)
    if environment.recipe.keep and not plugin:
        found["method"] = "extension"
    if plugin:
        calls = f"PJRT C API {said['pjrt_api']}, PJRT_Plugin_Attributes: "
        names = ("stablehlo_current_version", "stablehlo_minimum_version")
        facts = ", ".join(f"{name} = {said['attributes'].get(name)}" for name in names)
    else:
        calls = ""
        facts = ", ".join(
            f"get_{call}() = {said[key]}"
            for call, key in (
                ("current_version", "current"),
                ("minimum_version", "minimum"),
                ("api_version", "api_version"),
            )
        )
    return {**found, "evidence": calls + facts}


def climb(ask: Any, environments: Environments, rows: list[Row]) -> Row:
    """Bracket a Release between the highest rung it reads and the next one it refuses.

    Args:
        ask: Has the Release do one job.
        environments: Where the writer of the artifacts is installed.
        rows: The table, for the newest jaxlib.

    Returns:
        The fields.
    """
    rungs = tomllib.loads(LADDER.read_text(encoding="utf-8"))["rung"]
    results = []
    writer = _newest_jaxlib(rows)
    with environments.get(writer).worker() as worker:
        for rung in rungs:
            job = {"kind": "write", "text": rung["program"], "target": rung["version"]}
            written = worker.ask({**job, "strip": True, "want": ["artifact"]})
            if not written.ok:
                raise CannotMeasure(f"the rung {rung['version']} is not written: {written.reason}")
            read = ask({"kind": "read", "data": written.payload["artifact"]})
            results.append((Version.parse(rung["version"]), read.status))
    return bracket(results, f"jaxlib {writer.version}")


def bracket(results: list[tuple[Version, Status]], writer: str) -> Row:
    """Derive the Version from the artifacts that a Release read; a crash counts as unknown.

    Args:
        results: Each artifact of the ladder, lowest Version first, and how reading it ended.
        writer: The Release that wrote the artifacts.

    Returns:
        The fields.
    """
    read = [version for version, status in results if status is Status.OK]
    if not read:
        raise CannotMeasure("not even the lowest rung was read")
    low = max(read)
    refused = [v for v, status in results if status is Status.REFUSED]
    above = [version for version in refused if version > low]
    odd = [str(version) for version in refused if version < low]
    crashed = [str(version) for version, status in results if status is Status.CRASHED]
    evidence = f"{len(results)} rungs written by {writer}: reads {', '.join(map(str, read))}"
    for word, found in (("refuses", [str(v) for v in above]), ("crashes on", crashed)):
        evidence += f"; {word} {', '.join(found)}" if found else ""
    evidence += f"; refuses, though lower, {', '.join(odd)}" if odd else ""
    return {
        "current_low": str(low),
        "current_below": str(min(above)) if above else None,
        "confidence": "bracketed",
        "method": "ladder",
        "evidence": evidence,
    }


def look_up(distribution: str, version: str) -> tuple[IndexWheel, str]:
    """Query the package index for the wheel of this machine.

    Args:
        distribution: Its name.
        version: Its version.

    Returns:
        The wheel, and the oldest Python that it can be installed for.

    Raises:
        CannotMeasure: There is none.
        EnvironmentFailed: The index does not answer.
    """
    for python in PYTHONS:
        with contextlib.suppress(ReleaseNotFound):
            for wheel in wheels_of(distribution, version, [python]):
                if fits_here(wheel.name, python):
                    return wheel, python
    raise CannotMeasure(
        f"the index has no wheel of {distribution} {version} for this machine"
        f" and Python {' or '.join(PYTHONS)}"
    )


def read_table(path: Path) -> tuple[str, list[Row]]:
    """Read a table and the comment at its head."""
    data = read_file(path)
    head, _, _ = data.partition(b"[[release]]")
    return head.decode("utf-8"), parse_toml(data).get("release", [])


def write_table(path: Path, head: str, rows: list[Row]) -> None:
    """Write a table: distributions in the order they are in, each by version."""
    order = list(dict.fromkeys(row["distribution"] for row in rows))
    rows = sorted(
        rows, key=lambda r: (order.index(r["distribution"]), PackageVersion(r["version"]))
    )
    write_file(path, (head + "\n".join(_printed(row) for row in rows)).encode())


def renew(rows: list[Row], row: Row) -> list[Row]:
    """Put a row into a table, in place of the one for the same Release."""
    row = {key: value for key, value in row.items() if value not in {None, ""}}
    before = find(rows, row["distribution"], row["version"])
    return [*rows, row] if before is None else [row if r is before else r for r in rows]


def find(rows: list[Row], distribution: str, version: str) -> Row | None:
    """Return the row of a Release."""
    for row in rows:
        if (row["distribution"], row["version"]) == (distribution, version):
            return row
    return None


def _printed(row: Row) -> str:
    unknown = set(row) - set(FIELDS)
    if unknown:
        raise CannotMeasure(f"the table has no field {', '.join(sorted(unknown))}")
    lines = [f"{field} = {_value(row[field])}" for field in FIELDS if field in row]
    return "\n".join(["[[release]]", *lines, ""])


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # Printable text, of which TOML escapes what JSON does.
    return json.dumps(line(str(value)), ensure_ascii=False)


def _installed_metadata(environment: Environment, numpy: str) -> Row:
    """Read what the wheel itself demands, where the whole wheel is installed."""
    wanted = environment.recipe.distribution.replace("-", "_")
    for path in environment.directory.glob("lib/python*/site-packages/*.dist-info/METADATA"):
        if path.parent.name.lower().startswith(f"{wanted}-"):
            metadata = email.message_from_string(path.read_text(encoding="utf-8"))
            demands = metadata.get_all("Requires-Dist") or []
            declared = [d for d in demands if re.match(r"numpy\b", d)]
            found = re.sub(r"numpy|[()\s]|;.*", "", declared[0]) if declared else ""
            return {"requires_python": metadata["Requires-Python"], "numpy": numpy or found}
    return {}


def _old_numpy(distribution: str, version: str) -> str:
    old = distribution == "jaxlib" and PackageVersion(version) <= LAST_OLD_NUMPY
    return "<2" if old else ""


def _newest_jaxlib(rows: list[Row]) -> Wanted:
    known = [row for row in rows if row["distribution"] == "jaxlib"]
    newest = max(known, key=lambda row: PackageVersion(row["version"]))
    return Wanted("jaxlib", newest["version"], newest["python"], newest.get("numpy", ""))


def _today() -> str:
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def measure_file(path: Path, requirement: str = "") -> Row:
    """Make the row of a wheel or library by the names in its binary; nothing of it is executed.

    Args:
        path: The file.
        requirement: Its name, as `our-runtime==1.2.3`; by default that of the wheel.

    Returns:
        The row.

    Raises:
        CannotMeasure: It has no name.
        NotARuntime: It is not a library that reads StableHLO.
    """
    return _static(path, requirement)[0]


def _static(path: Path, requirement: str) -> tuple[Row, Runtime]:
    found = read_runtime(path)
    if path.suffix == ".whl" and not requirement:
        _demand_named(path, found)
    name, _, version = requirement.partition("==")
    name, version = name or found.name, version or found.version
    if not name or not version:
        raise CannotMeasure(
            "the file does not say its name and version",
            where=str(path),
            hint="add --name NAME==VERSION",
        )
    try:
        name, version = canonicalize_name(name, validate=True), str(PackageVersion(version))
    except ValueError as error:
        raise CannotMeasure(
            f"not a name and version of a distribution: {error}",
            where=str(path),
            hint="add --name NAME==VERSION",
        ) from error
    between = found.bracket
    changed = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC).date()
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    row = {
        "distribution": name,
        "version": version,
        "date": changed.isoformat(),
        "date_source": "when the file was last changed",
        "current_low": str(between.low),
        "current_below": str(between.below) if between.below else None,
        "confidence": str(Confidence.STATIC),
        "method": "static",
        "measured": _today(),
        "evidence": "; ".join(between.evidence),
        "source": f"{path.name} sha256:{digest}",
    }
    return row, found


def _demand_named(path: Path, found: Runtime) -> None:
    """Refuse a wheel that calls itself otherwise than its file, as package clients do."""
    with zipfile.ZipFile(path) as archive:
        names = [name.partition(".dist-info/METADATA") for name in archive.namelist()]
    for inside, metadata, after in names:
        name, _, version = inside.partition("-")
        same = (canonicalize_name(name), version) == (canonicalize_name(found.name), found.version)
        if metadata and not after and not same:
            raise CannotMeasure(
                f"the wheel calls itself {inside}, its file name says otherwise",
                where=str(path),
                hint="add --name NAME==VERSION, or use the file under its own name",
            )


def measure_static(distribution: str, version: str) -> tuple[Row, Runtime]:
    """Make the row of a Release by the names in one of its wheels; nothing is installed.

    Args:
        distribution: Its name.
        version: Its version.

    Returns:
        The row, and what was read. The wheel is not kept.

    Raises:
        NotARuntime: No library in its wheels shows which StableHLO it reads.
        EnvironmentFailed: The index does not have it, or does not answer.
    """
    wheels = wheels_of(distribution, version)
    if not wheels:
        raise NotARuntime("the index has no wheel of it", where=f"{distribution}=={version}")
    # Any system's tells; most tables are made on Linux.
    wheel = min(
        wheels, key=lambda one: ("linux" not in one.name or "x86_64" not in one.name, one.size)
    )
    with scratch.folder() as folder:
        path = fetch(distribution, version, wheel, Path(folder))
        try:
            row, found = _static(path, f"{distribution}=={version}")
        except NotARuntime as error:
            raise NotARuntime(error.what, where=wheel.name) from error  # the file goes away
    row["source"] = _source(wheel)
    if wheel.uploaded:
        row["date"] = wheel.uploaded.isoformat()
        del row["date_source"]
    return row, found


def _runs_here(distribution: str) -> bool:
    wanted = Wanted(canonicalize_name(distribution), "0", PYTHONS[0], "")
    try:
        return bool(Recipe.of(wanted))
    except UnsupportedDistribution:
        return False


def shipped_rows() -> list[Row]:
    """Return the shipped table, as `measure` takes it."""
    return read_table(LADDER.with_name("releases.toml"))[1]


def add_own(row: Row) -> Path:
    """Write a row into the user's own table, in place of the one for the same Release.

    Args:
        row: As `measure` and `measure_file` make it.

    Returns:
        The table.

    Raises:
        ContradictingRow: The shipped table contradicts the row; nothing is written.
    """
    path = Path(own_table())
    path.parent.mkdir(parents=True, exist_ok=True)
    # Two that add at once must not lose a row of either.
    demand_own(path.parent)
    lock = open_lock(path.with_suffix(".lock"))
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _add(path, row)
    finally:
        os.close(lock)
    return path


def _add(path: Path, row: Row) -> None:
    for shipped in releases(row["distribution"]) if row["distribution"] in distributions() else ():
        if shipped.version == row["version"] and not shipped.own:
            demand_same(as_release(row), shipped, str(path))
    head, rows = read_table(path) if path.exists() else (_HEAD, [])
    write_table(path, head, renew(rows, row))


def new_versions(distribution: str) -> list[str]:
    """Query the index for the Releases of a distribution that the tables lack.

    Args:
        distribution: A distribution of the table.

    Returns:
        Their versions, oldest first. One that came late for an older series is new, too; what is
        older than every known Release is not, nor what is known to have no library.

    Raises:
        ReleaseNotFound: The index does not have the distribution.
        EnvironmentFailed: The index does not answer.
    """
    known = {PackageVersion(one.version) for one in releases(distribution)}
    old = {*known, *map(PackageVersion, without_library(distribution))}
    found = ((PackageVersion(one), one) for one in published(distribution))
    return [one for version, one in found if version > min(known) and version not in old]


def update(
    distribution: str, environments: Environments | None = None
) -> Iterator[tuple[str, Release | PortableError]]:
    """Add the Releases that the index has and the tables lack to the user's own table.

    Args:
        distribution: A distribution of the table.
        environments: Where to install and query those that can run here; None reads all statically.

    Yields:
        Each name with the Release that was added, or with why it cannot be asked or read. A
        distribution that the index does not have has nothing new.
    """
    try:
        versions = new_versions(distribution)
    except ReleaseNotFound:
        return
    except EnvironmentFailed as error:
        yield distribution, error
        return
    asked = environments if _runs_here(distribution) else None
    shipped = shipped_rows()
    for version in versions:
        name = f"{distribution}=={version}"
        try:
            row = (
                measure(name, asked, shipped) if asked else measure_static(distribution, version)[0]
            )
            add_own(row)
        except PortableError as error:
            yield name, error
        else:
            yield name, as_release(row)
