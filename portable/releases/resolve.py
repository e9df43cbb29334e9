"""Which target for my consumers? One function."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from portable.releases.release import Confidence
from portable.releases.requests import ResolveContext, TargetRequest, candidates
from portable.releases.target import NoTarget, Target, lowest
from portable.system.arguments import demand_type
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["resolve_target"]


def resolve_target(
    *requests: TargetRequest,
    current: Version | None = None,
    minimum: Version | None = None,
    library: str = "library",
    consumers: Mapping[str, Sequence[str]] | None = None,
    on: datetime.date | None = None,
) -> Target:
    """Choose the newest Version that every named consumer reads.

    Requests of different kinds may be mixed; the lowest Version wins. `portable.releases.requests`
    defines each kind, and what it means for unknown versions and pre-releases.

    Args:
        requests: Each a Version (`1.9.5`), `current`, `minimum`, `MAX`, `WEEK_4`, `WEEK_12`, a
            specifier (`jaxlib>=0.5,<0.11`), a date (`2025-01-01`), an age (`180d`, `26w`), a plugin
            (`plugin:/path/lib.so`), `installed`, a consumer set of a policy (`@phones`), or a
            Version, Release, date, timedelta or Target object.
        current: The newest Version that the library writes. It limits every answer except a
            Version that was requested by number. By default the metadata of the installed
            distribution give it.
        minimum: The oldest Version that the library writes.
        library: The library's name in messages.
        consumers: The consumer sets of a policy, by name.
        on: The day of the question; by default today.

    Returns:
        The Target, with the reason, the Release that decides, the runner-up and the confidence.

    Raises:
        NoTarget: A request is invalid or contains no known Release, or none was given.
        UnknownDistribution: A request names a distribution that is not in the table.
        InvalidSpecifier: A specifier cannot be parsed.
        ImpossibleSpecifier: No version satisfies a specifier.
        InvalidVersion: A Version cannot be parsed.
        UnknownVersion: StableHLO never had the Version, or none yet on the date.
        PluginError: A plugin does not answer.
    """
    if not requests:
        raise NoTarget("missing consumer", hint="e.g. jaxlib>=0.5")
    today = datetime.date.today() if on is None else on
    demand_type("on", today, datetime.date)
    for name, value in (("current", current), ("minimum", minimum)):
        if value is not None:
            demand_type(name, value, Version)
    context = ResolveContext(today, current, minimum, library, consumers)
    found: list[Target] = []
    derived: list[Target] = []
    for request in requests:
        targets = candidates(request, context)
        found += targets
        derived += [one for one in targets if one.confidence is not Confidence.STATED]
    if current is not None and derived:
        found += _capped(derived, current, library)
    return lowest(found)


def _capped(derived: list[Target], current: Version, library: str) -> list[Target]:
    """Stop at what the library at hand writes; older consumers bind below it anyway."""
    if min(one.version for one in derived) <= current.target:
        return []
    reason = f"current Version of the installed {library}"
    return [Target(current.target, reason, Confidence.MEASURED)]
