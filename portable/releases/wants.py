"""What users ask for, in their words: `jaxlib>=0.5`, `WEEK_4`, `180d`, `plugin:/path`, `@phones`.

Rules, so that nothing is a guess:

- A specifier stands for the known Releases it admits. Newer ones, not in the table yet, only read
  more, so `jaxlib>=0.5` admits them; a specifier that admits no known Release is an error.
- Releases it admits that are older than every known one are a caveat of the Target.
- Pre-releases count only when a clause names one, and yanked Releases only when it names exactly
  them: what installers do.
- A date stands for the newest Version that could be had that day (tagged; after the last known
  tag, shipped in a Release), an age for a date. WEEK_4 and WEEK_12 are the ages 28 and 84 days
  on the day of the question, not on the day some library was built.
- A Version newer than the table is taken at its word, and the Target says so.
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.releases.release import (
    Confidence,
    Release,
    distributions,
    find_release,
    normalize_name,
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
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "EmptySpecifier",
    "NoMatchingRelease",
    "Situation",
    "Want",
    "candidates",
    "matching_releases",
    "names_plugin",
]

Want = str | Version | Release | datetime.date | datetime.timedelta | Target

_WEEKS = {"week_4": 28, "week_12": 84}
_REQUIREMENT = re.compile(
    r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(.*)", re.ASCII | re.DOTALL
)
_AGE = re.compile(r"([0-9]{1,5})([dw])", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_SETS_DEEP = 8
_PLUGIN = "plugin:"


class EmptySpecifier(NoTarget):
    """A consumer without saying which of its Releases."""


class NoMatchingRelease(NoTarget):
    """The specifier admits no known Release."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a want may refer to beside the tables.

    Args:
        today: The day of the question.
        current: The newest Version that the installed library writes, if one is at hand.
        minimum: The oldest.
        consumers: Named sets of wants, from a policy.
    """

    today: datetime.date
    current: Version | None = None
    minimum: Version | None = None
    consumers: Mapping[str, Sequence[str]] | None = None


def candidates(want: Want, situation: Situation) -> list[Target]:
    """Turn one want into the Targets that could bind.

    Args:
        want: What the caller asked for.
        situation: What it may refer to.

    Returns:
        At least one Target, none with a runner-up.

    Raises:
        PortableError: It cannot be understood or has no answer.
    """
    if isinstance(want, str):
        return _from_text(want.strip(), situation)
    if isinstance(want, Target):
        return [want]
    if isinstance(want, Version):
        return [_stated(want)]
    if isinstance(want, Release):
        return [_bound(want, str(want))]
    if isinstance(want, datetime.timedelta):
        return [_aged(want.days, f"{want.days}d", situation.today)]
    return [_dated(want, str(want), situation.today)]


def matching_releases(
    *wants: str, consumers: Mapping[str, Sequence[str]] | None = None
) -> tuple[Release, ...]:
    """Return the known Releases that wants admit, each once.

    Args:
        wants: Specifiers (`jaxlib>=0.5`), `installed`, or consumer sets (`@phones`).
        consumers: The consumer sets of a policy, by name.

    Returns:
        The Releases, in the order of the wants, oldest version first.

    Raises:
        NoTarget: A want stands for a Version and not for Releases, or admits none.
        PortableError: As `resolve_target`.
    """
    situation = Situation(datetime.date.today(), consumers=consumers)
    found: dict[Release, None] = {}
    for want in wants:
        for candidate in _from_text(want.strip(), situation):
            if candidate.binding is None:
                raise NoTarget(
                    f"{want!r} is a Version, not a consumer", hint="write jaxlib>=0.5, say"
                )
            found[candidate.binding] = None
    return tuple(found)


def names_plugin(want: str) -> bool:
    """Say whether answering a want loads a shared library, in a child process.

    Args:
        want: As for `resolve_target`.
    """
    return want.strip().startswith(_PLUGIN)


def _from_text(text: str, situation: Situation) -> list[Target]:
    if not text:
        raise EmptySpecifier("an empty specifier names no consumer", hint="write jaxlib>=0.5")
    if names_plugin(text):
        return [_plugin(text.removeprefix(_PLUGIN))]
    if text.startswith("@"):
        return _set(text[1:], situation)
    word = text.lower()
    if word in _WEEKS:
        return [_aged(_WEEKS[word], text, situation.today)]
    if word in {"current", "minimum", "max"}:
        return [_of_library(word, text, situation)]
    if word == "installed":
        return _installed()
    if _DATE.fullmatch(text):
        return [_dated(_parse_date(text), text, situation.today)]
    if age := _AGE.fullmatch(text):
        return [_aged(int(age[1]) * (7 if age[2] == "w" else 1), text, situation.today)]
    if text[0].isdigit() and not any(sign in text for sign in "<>=~!"):
        return [_stated(Version.parse(text))]
    return _specified(text)


def _specified(text: str) -> list[Target]:
    match = _REQUIREMENT.fullmatch(text)
    if match is None or match[2].startswith(("[", "@")) or ";" in match[2]:
        raise NoTarget(
            f"{text[:60]!r} names no consumer",
            hint="write a distribution and its versions, for example jaxlib>=0.5,<0.11",
        )
    name, versions = normalize_name(match[1]), match[2].strip()
    known = releases(name)  # an unknown name is the most useful error
    if not versions:
        raise EmptySpecifier(
            f"which {name} is not said", hint=f"write {name}>={known[-1].version}, or an older one"
        )
    if versions[0] not in "<>=~!":
        raise NoTarget(f"{text[:60]!r} is no specifier", hint=f"write {name}=={versions[:20]}")
    admitted, caveats = _admitted(name, versions, text)
    return [_bound(release, text, caveats) for release in admitted]


def _admitted(name: str, versions: str, text: str) -> tuple[list[Release], tuple[str, ...]]:
    known, specifier = releases(name), Specifier.parse(versions)
    admitted = [
        release
        for release in known
        if specifier.admits(release.version) and (not release.yanked or specifier.exact)
    ]
    if not admitted:
        raise NoMatchingRelease(
            f"{text[:60]!r} admits no known Release",
            hint=f"known are {name} {known[0].version} to {known[-1].version}; a Release that is "
            "not in the table cannot be judged",
        )
    return admitted, _not_covered(name, specifier, known[0])


def _not_covered(name: str, specifier: Specifier, oldest: Release) -> tuple[str, ...]:
    if specifier.admits_below(oldest.version):
        return (f"{name} before {oldest.version} is not in the table and not covered",)
    return ()


def _bound(release: Release, text: str, caveats: tuple[str, ...] = ()) -> Target:
    has = f"StableHLO {release.current}"
    if release.confidence is Confidence.BRACKETED:
        has = f"at least {has}" + (f" and less than {release.below}" if release.below else "")
    asked = "" if text == str(release) else f" ({text})"
    return Target(
        version=release.target,
        reason=f"{release} of {release.date}{asked} has {has}",
        confidence=release.confidence,
        binding=release,
        caveats=caveats,
    )


def _stated(version: Version) -> Target:
    target, shipped = version.target, shipped_versions()
    caveats: tuple[str, ...] = ()
    if target > newest_version():
        caveats = (f"{target} is newer than every Version in the table ({newest_version()})",)
    elif all(row.version != target for row in shipped):
        raise UnknownVersion(
            f"StableHLO never had a Version {target}",
            hint=f"known are {shipped[0].version} to {newest_version()}: portable versions",
        )
    return Target(target, f"{version} was asked for", Confidence.STATED, caveats=caveats)


def _aged(days: int, text: str, today: datetime.date) -> Target:
    try:
        return _dated(today - datetime.timedelta(days=days), text, today)
    except OverflowError:
        raise UnknownVersion(f"{text}: before the calendar begins") from None


def _dated(day: datetime.date, text: str, today: datetime.date) -> Target:
    if day > today:
        raise NoTarget(f"{day} lies in the future", hint="name a day that has been, or an age")
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
        raise NoTarget(f"{text} is no date: {error}", hint="write 2025-01-31") from None


def _of_library(word: str, text: str, situation: Situation) -> Target:
    current, minimum, name = situation.current, situation.minimum, "the installed library"
    if current is None or minimum is None:
        release = next(iter(_installed_releases(("jaxlib", "torch-mlir"))), None)
        if release is None or release.minimum is None:
            raise NoTarget(
                f"{text} is about an installed libStablehlo, and none that is known is installed",
                hint="pip install jaxlib, or name a Version or a consumer",
            )
        current, minimum, name = release.current, release.minimum, str(release)
    if word == "current":
        reason = f"{current} is the current Version of {name}"
        return Target(current.target, reason, Confidence.MEASURED)
    reason = f"{minimum} is the oldest Version that {name} writes"
    return Target(minimum.target, reason, Confidence.MEASURED)


def _installed() -> list[Target]:
    found = _installed_releases(distributions())
    if not found:
        raise NoTarget(
            "no known consumer is installed here", hint="`portable releases` lists those known"
        )
    return [_bound(release, "installed") for release in found]


def _installed_releases(names: Iterable[str]) -> list[Release]:
    import importlib.metadata  # noqa: PLC0415 - 35 ms; reads metadata, imports nothing

    found = []
    for name in names:
        try:
            found.append(find_release(name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _set(name: str, situation: Situation) -> list[Target]:
    members = _members(name, situation.consumers or {}, {}, 0)
    return [target for member in members for target in _from_text(member, situation)]


def _members(
    name: str, sets: Mapping[str, Sequence[str]], known: dict[str, dict[str, None]], depth: int
) -> dict[str, None]:
    """Return the wants in a consumer set and the sets that it names, each once.

    Each set is looked into once: sets of sets of sets would otherwise grow exponentially.
    """
    if name not in sets:
        raise NoTarget(
            f"there is no consumer set {name!r}",
            hint=f"the policy has {', '.join(sorted(sets))}" if sets else "give a policy",
        )
    if depth == _SETS_DEEP:
        raise NoTarget(f"consumer set {name!r} contains itself")
    if name not in known:
        found: dict[str, None] = {}
        for want in sets[name]:
            member = want.strip()
            inner = member.startswith("@")
            found |= _members(member[1:], sets, known, depth + 1) if inner else {member: None}
        known[name] = found
    return known[name]


def _plugin(path: str) -> Target:
    from portable.releases.plugin import ask_plugin  # noqa: PLC0415 - starts a process, rarely

    answer = ask_plugin(path)
    return Target(
        answer.current.target,
        f"plugin {path} says it has StableHLO {answer.current}",
        Confidence.MEASURED,
    )
