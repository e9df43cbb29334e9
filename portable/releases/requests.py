"""What users request: `jaxlib>=0.5`, `WEEK_4`, `180d`, `plugin:/path`, `@phones`.

Rules, so that nothing is a guess:

- A specifier stands for the Releases of the table that it contains, and for those that were
  published between them: these are bracketed by their neighbours. One that contains none is an
  error. A distribution alone stands for all of its Releases in the table.
- Releases it contains that are newer than every known one only read more: a note.
- Releases it contains that are older than every known one are not covered: nothing is known
  of them.
- A name that another distribution's Releases answer for stands for these: `jax>=0.5` for every
  jaxlib that such a jax runs with, `tensorflow-cpu==2.18.*` for tensorflow of that number.
- `stablehlo==1.9.0`, or a Version alone, is a consumer that has this Version and no name.
- Pre-releases count only when a clause names one, and yanked Releases only when it names exactly
  them: what installers do.
- A date stands for the newest Version that was available that day (tagged; after the last known
  tag, shipped in a Release), an age for a date. WEEK_4 and WEEK_12 are the ages 28 and 84 days
  on the day of the question, not on the day some library was built.
- A path (with a `/`, or the suffix of a library or wheel) is a runtime that is read, not loaded:
  the names in it bracket its Version.
- A Version newer than the table is taken at its word, and the Target says so.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from portable.releases.aliases import find_alias
from portable.releases.release import (
    Confidence,
    Release,
    UnknownRelease,
    distributions,
    find_release,
    normalize_name,
    published_releases,
    releases,
)
from portable.releases.shipped import (
    UnknownVersion,
    newest_version,
    shipped_versions,
    version_on,
)
from portable.releases.specifier import Specifier
from portable.releases.target import NoTarget, Target
from portable.system.arguments import demand_type
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from portable.releases.aliases import Alias

__all__ = [
    "Consumers",
    "EmptySpecifier",
    "NoMatchingRelease",
    "ResolveContext",
    "TargetRequest",
    "candidates",
    "installed_library",
    "matching_releases",
    "named_consumers",
    "names_file",
    "names_plugin",
    "runnable_releases",
]

TargetRequest = str | Version | Release | datetime.date | datetime.timedelta | Target

_WEEKS = {"week_4": 28, "week_12": 84}
_REQUIREMENT = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(.*)", re.ASCII | re.DOTALL
)
_ONE_VERSION = re.compile(r"[0-9][0-9A-Za-z.+]*", re.ASCII)
_AGE = re.compile(r"([0-9]{1,5})([dwy])", re.ASCII)
_DAYS = {"d": 1, "w": 7, "y": 365}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_SETS_DEEP = 8
_PLUGIN = "plugin:"
_FILES = (".so", ".dylib", ".dll", ".pyd", ".whl", ".aar", ".zip")
_PRIVATE = "stablehlo"


class EmptySpecifier(NoTarget):
    """A consumer without saying which of its Releases."""


class NoMatchingRelease(NoTarget):
    """The specifier contains no known Release."""


class ResolveContext(NamedTuple):
    """What a target request may refer to beside the tables.

    Args:
        today: The day of the question.
        current: The newest Version that the installed library writes, if one is at hand.
        minimum: The oldest.
        library: What to call it.
        consumers: Named sets of requests, from a policy.
    """

    today: datetime.date
    current: Version | None = None
    minimum: Version | None = None
    library: str = "library"
    consumers: Mapping[str, Sequence[str]] | None = None


@dataclass(frozen=True, slots=True)
class Consumers:
    """The Releases that consumer specifications name, and those outside the table.

    Args:
        releases: Each once, in the order of the specifications, oldest version first.
        notes: Notes about Releases newer than the table, which are not judged.
        uncovered: Releases older than the table: nothing is known about them.
    """

    releases: tuple[Release, ...]
    notes: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()


def candidates(request: TargetRequest, context: ResolveContext) -> list[Target]:
    """Turn one target request into the Targets that could bind.

    Args:
        request: What the caller requested.
        context: What it may refer to.

    Returns:
        At least one Target, none with a runner-up.

    Raises:
        PortableError: It cannot be understood or has no answer.
    """
    if isinstance(request, str):
        return _from_text(request.strip(), context)
    if isinstance(request, Target):
        return [request]
    if isinstance(request, Version):
        return [_stated(request)]
    if isinstance(request, Release):
        return [_bound(request, str(request))]
    if isinstance(request, datetime.timedelta):
        return [_aged(request.days, f"{request.days}d", context.today)]
    demand_type("a request", request, datetime.date)
    return [_dated(request, str(request), context.today)]


def named_consumers(
    *specs: str,
    consumers: Mapping[str, Sequence[str]] | None = None,
    on: datetime.date | None = None,
) -> Consumers:
    """Return the consumers that specifications name.

    Args:
        specs: Specifiers (`jaxlib>=0.5`), distributions, `installed`, consumer sets (`@phones`), or
            any other target request in text: it stands for a consumer of that Version.
        consumers: The consumer sets of a policy, by name.
        on: The day of the question; today when None.

    Returns:
        The Releases, and what the table does not cover.

    Raises:
        PortableError: As `resolve_target`.
    """
    context = ResolveContext(on or datetime.date.today(), consumers=consumers)
    found = [target for spec in specs for target in candidates(spec, context)]
    return Consumers(
        releases=tuple(dict.fromkeys(target.binding or _private(target) for target in found)),
        notes=tuple(dict.fromkeys(text for target in found for text in target.notes)),
        uncovered=tuple(dict.fromkeys(text for target in found for text in target.caveats)),
    )


def matching_releases(
    *specs: str, consumers: Mapping[str, Sequence[str]] | None = None
) -> tuple[Release, ...]:
    """Return the Releases that specifications name, each once.

    Args:
        specs: As for `named_consumers`.
        consumers: The consumer sets of a policy, by name.

    Returns:
        The Releases, in the order of the specifications, oldest version first.

    Raises:
        PortableError: As `resolve_target`.
    """
    return named_consumers(*specs, consumers=consumers).releases


def names_plugin(request: str) -> bool:
    """Say whether answering a request loads a shared library, in a child process.

    Args:
        request: As for `resolve_target`.
    """
    return request.strip().startswith(_PLUGIN)


def names_file(request: str) -> bool:
    """Say whether a request is a file or folder that holds a runtime: `./libtpu.so`, `a.whl`.

    Args:
        request: As for `resolve_target`.
    """
    text = request.strip()
    return not text.startswith(("@", _PLUGIN)) and ("/" in text or text.endswith(_FILES))


def runnable_releases(*specs: str) -> tuple[Release, ...]:
    """Return the Releases of the table that specifications name: those that can be made to run.

    Args:
        specs: As for `named_consumers`.

    Raises:
        NoMatchingRelease: They name none of the table.
        PortableError: As `resolve_target`.
    """
    found = tuple(one for one in matching_releases(*specs) if one.listed and one.python)
    if not found:
        raise NoMatchingRelease(
            f"{' '.join(specs)[:60]!r} contains no Release of the table",
            hint="`portable releases` lists those that can be run",
        )
    return found


def _from_text(text: str, context: ResolveContext) -> list[Target]:
    if not text:
        raise EmptySpecifier("empty specifier", hint="e.g. jaxlib>=0.5")
    if names_plugin(text) or names_file(text):
        return [_runtime(text)]
    if text.startswith("@"):
        return _set(text[1:], context)
    word = text.lower()
    if word in _WEEKS:
        return [_aged(_WEEKS[word], text, context.today)]
    if word in {"current", "minimum", "max"}:
        return [_of_library(word, text, context)]
    if word == "installed":
        return _installed()
    if _DATE.fullmatch(text):
        return [_dated(_parse_date(text), text, context.today)]
    if age := _AGE.fullmatch(text):
        return [_aged(int(age[1]) * _DAYS[age[2]], text, context.today)]
    if text[0].isdigit() and not any(sign in text for sign in "<>=~!"):
        return [_stated(Version.parse(text))]
    return _specified(text)


def _specified(text: str) -> list[Target]:
    match = _REQUIREMENT.fullmatch(text)
    if match is None or match[2].startswith(("[", "@")) or ";" in match[2]:
        raise NoTarget(
            f"{text[:60]!r} is not a consumer",
            hint="e.g. jaxlib>=0.5,<0.11",
        )
    name, versions = normalize_name(match[1]), match[2].strip()
    if _ONE_VERSION.fullmatch(versions):  # `jaxlib 0.9.1`, as Releases are shown everywhere
        versions = f"=={versions}"
    if name == _PRIVATE:
        return _private_versions(versions, text)
    if versions and versions[0] not in "<>=~!":
        raise NoTarget(f"{text[:60]!r} is not a specifier", hint=f"write {name}=={versions[:20]}")
    if alias := find_alias(name):
        if alias.versions:
            return _of_companions(alias, versions, text)
        name = alias.distribution
    known = releases(name)  # an unknown name is the most useful error
    if not versions:
        return [_bound(release, text) for release in known if not release.yanked]
    specifier = Specifier.parse(versions)
    older, newer = known[0].version, known[-1].version
    caveat = f"{name} before {older} is not in the table and not covered"
    note = f"{name} after {newer} is not in the table"
    caveats = (caveat,) if specifier.contains_older(older) else ()
    notes = (note,) if specifier.contains_newer(newer) else ()
    return [_bound(release, text, caveats, notes) for release in _contained(name, specifier, text)]


def _of_companions(alias: Alias, versions: str, text: str) -> list[Target]:
    """Return the Releases that versions of another distribution run with: `jax>=0.5`."""
    numbers = list(alias.versions)
    specifier = Specifier.parse(versions) if versions else None
    runs_with = [
        one for number, one in alias.versions.items() if not specifier or specifier.contains(number)
    ]
    found = [
        release
        for release in published_releases(alias.distribution)
        if any(one.contains(release.version) for one in runs_with) and not release.yanked
    ]
    if not found:
        raise NoMatchingRelease(
            f"{text[:60]!r} contains no known Release",
            hint=f"known are {alias.name} {numbers[0]} to {numbers[-1]}",
        )
    older = specifier is not None and specifier.contains_older(numbers[0])
    newer = specifier is not None and specifier.contains_newer(numbers[-1])
    caveat = f"{alias.name} before {numbers[0]} is not in the table and not covered"
    note = f"{alias.name} after {numbers[-1]} is not in the table"
    caveats, notes = (caveat,) if older else (), (note,) if newer else ()
    return [_bound(release, text, caveats, notes) for release in found]


def _contained(name: str, specifier: Specifier, text: str) -> list[Release]:
    found = [
        release
        for release in published_releases(name)
        if specifier.contains(release.version) and (not release.yanked or specifier.exact)
    ]
    if not found and specifier.exact:
        with contextlib.suppress(UnknownRelease):  # not published: bracketed all the same
            found = [find_release(name, specifier.exact)]
    if not found:
        known = releases(name)
        raise NoMatchingRelease(
            f"{text[:60]!r} contains no known Release",
            hint=f"known are {name} {known[0].version} to {known[-1].version}; a Release that is "
            "not in the table cannot be judged",
        )
    return found


def _private_versions(versions: str, text: str) -> list[Target]:
    """Return the Versions of a consumer that has no name: `stablehlo==1.9.0`."""
    if not versions:
        raise EmptySpecifier(f"{text!r} has no Version", hint="write stablehlo==1.9.0")
    specifier = Specifier.parse(versions)
    if specifier.exact:
        return [_stated(Version.parse(specifier.exact))]
    found = [row.version for row in shipped_versions() if specifier.contains(str(row.version))]
    if not found:
        raise NoMatchingRelease(
            f"{text[:60]!r} contains no known Version", hint="`portable versions` lists them"
        )
    return [_stated(version) for version in found]


def _private(target: Target) -> Release:
    """Return a consumer of which nothing but its Version is known."""
    version = target.stated or target.version
    return Release(
        _PRIVATE,
        str(version),
        datetime.date.min,
        version,
        confidence=target.confidence,
        note=target.reason,
    )


def _bound(
    release: Release, text: str, caveats: tuple[str, ...] = (), notes: tuple[str, ...] = ()
) -> Target:
    asked = "" if text == str(release) else f" ({text})"
    if release.listed:
        reason = f"{release} of {release.date}{asked} has StableHLO {release.has}"
    else:
        reason = f"{release}{asked} is {release.evidence}"
    return Target(
        version=release.target,
        reason=reason,
        confidence=release.confidence,
        binding=release,
        caveats=caveats,
        notes=notes,
    )


def _stated(version: Version) -> Target:
    target, shipped = version.target, shipped_versions()
    notes: tuple[str, ...] = ()
    if target > newest_version():
        notes = (f"{target} is newer than every Version in the table ({newest_version()})",)
    elif all(row.version != target for row in shipped):
        raise UnknownVersion(
            f"unknown StableHLO Version {target}",
            hint=f"known are {shipped[0].version} to {newest_version()}: portable versions",
        )
    reason = f"{version} was requested"
    return Target(target, reason, Confidence.STATED, notes=notes, stated=version)


def _aged(days: int, text: str, today: datetime.date) -> Target:
    try:
        return _dated(today - datetime.timedelta(days=days), text, today)
    except OverflowError:
        raise UnknownVersion(f"{text}: before year 1") from None


def _dated(day: datetime.date, text: str, today: datetime.date) -> Target:
    if day > today:
        raise NoTarget(f"{day} is in the future", hint="give a past date, or an age")
    since, version = version_on(day)
    asked = str(day) if text == str(day) else f"{day} ({text})"
    return Target(
        version.target,
        f"on {asked} the newest StableHLO was {version}, out since {since}",
        Confidence.DATED,
    )


def _parse_date(text: str) -> datetime.date:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError as error:
        raise NoTarget(f"{text} is not a date: {error}", hint="write 2025-01-31") from None


def _of_library(word: str, text: str, context: ResolveContext) -> Target:
    current, minimum, name = context.current, context.minimum, context.library
    if current is None or minimum is None:
        release = installed_library()
        if release is None or release.minimum is None:
            raise NoTarget(
                f"{text} requires an installed libStablehlo, and none was found",
                hint="pip install jaxlib, or name a Version or a consumer",
            )
        current, minimum, name = release.current, release.minimum, str(release)
    version, which = (current, "current") if word == "current" else (minimum, "oldest")
    reason = f"{which} Version of the installed {name}"
    return Target(version.target, reason, Confidence.MEASURED)


def installed_library() -> Release | None:
    """Return the Release of the libStablehlo that is installed and writes; None without one."""
    with contextlib.suppress(UnknownRelease):  # newer than the table
        return next(iter(_installed_releases(("jaxlib", "torch-mlir"))), None)
    return None


def _installed() -> list[Target]:
    found = _installed_releases(distributions())
    if not found:
        raise NoTarget(
            "no known consumer is installed here", hint="`portable releases` lists those known"
        )
    return [_bound(release, "installed") for release in found]


def _installed_releases(names: Iterable[str]) -> list[Release]:
    import importlib.metadata  # 35 ms; reads metadata, imports nothing

    found = []
    for name in names:
        try:
            found.append(find_release(name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _set(name: str, context: ResolveContext) -> list[Target]:
    members = _members(name, context.consumers or {}, {}, ())
    return [target for member in members for target in _from_text(member, context)]


def _members(
    name: str,
    sets: Mapping[str, Sequence[str]],
    known: dict[str, dict[str, None]],
    around: tuple[str, ...],
) -> dict[str, None]:
    """Return the requests in a consumer set and the sets that it names, each once.

    Each set is looked into once: sets of sets of sets would otherwise grow exponentially.
    """
    if name not in sets:
        raise NoTarget(
            f"unknown consumer set {name!r}",
            hint=f"the policy has {', '.join(sorted(sets))}" if sets else "give a policy",
        )
    if name in around:
        raise NoTarget(f"consumer set {name!r} contains itself")
    if len(around) == _SETS_DEEP:
        raise NoTarget(
            f"consumer set {name!r} is in more than {_SETS_DEEP - 1} others, one in another"
        )
    if name not in known:
        found: dict[str, None] = {}
        for request in sets[name]:
            member = request.strip()
            inner = member.startswith("@")
            found |= _members(member[1:], sets, known, (*around, name)) if inner else {member: None}
        known[name] = found
    return known[name]


def _runtime(text: str) -> Target:
    return _plugin(text.removeprefix(_PLUGIN)) if names_plugin(text) else _library(text)


def _plugin(path: str) -> Target:
    from portable.releases.plugin import ask_plugin  # starts a process, rarely

    answer = ask_plugin(path)
    return Target(
        answer.current.target,
        f"plugin {path} reports StableHLO {answer.current}",
        Confidence.MEASURED,
    )


def _library(path: str) -> Target:
    from portable.inspection import read_runtime

    found = read_runtime(path)
    between = found.bracket
    release = Release(
        normalize_name(found.name) if found.name else os.path.basename(path),
        found.version,
        datetime.date.min,
        between.low,
        below=between.below,
        confidence=Confidence.STATIC,
        method="static",
        evidence="; ".join(between.evidence),
    )
    reason = f"{path} has StableHLO {between}: {release.evidence}"
    return Target(release.target, reason, Confidence.STATIC, binding=release)
