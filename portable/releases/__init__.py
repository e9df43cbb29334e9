"""What has shipped: Versions, Releases, Windows, Targets, Advisories. Tables are in `data/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from portable.releases.release import (
    Confidence,
    Release,
    UnknownDistribution,
    UnknownRelease,
    distributions,
    find_release,
    normalize_name,
    published_releases,
    releases,
    spans,
)
from portable.releases.requests import (
    Consumers,
    EmptySpecifier,
    NoMatchingRelease,
    TargetRequest,
    installed_library,
    matching_releases,
    named_consumers,
    runnable_releases,
)
from portable.releases.resolve import resolve_target
from portable.releases.shipped import (
    ShippedVersion,
    UnknownVersion,
    bytecode_format,
    newest_version,
    shipped_versions,
    version_on,
)
from portable.releases.specifier import ImpossibleSpecifier, InvalidSpecifier, Specifier
from portable.releases.table import TableError
from portable.releases.target import NoTarget, Target
from portable.releases.window import Window, window
from portable.system.lazy import lazy

if TYPE_CHECKING:
    from portable.releases.advisory import Advisory as Advisory
    from portable.releases.advisory import Effect as Effect
    from portable.releases.advisory import advisories as advisories
    from portable.releases.advisory import advisories_for as advisories_for
    from portable.releases.difference import diff as diff

__all__ = [
    "Advisory",
    "Confidence",
    "Consumers",
    "Effect",
    "EmptySpecifier",
    "ImpossibleSpecifier",
    "InvalidSpecifier",
    "NoMatchingRelease",
    "NoTarget",
    "Release",
    "ShippedVersion",
    "Specifier",
    "TableError",
    "Target",
    "TargetRequest",
    "UnknownDistribution",
    "UnknownRelease",
    "UnknownVersion",
    "Window",
    "advisories",
    "advisories_for",
    "bytecode_format",
    "diff",
    "distributions",
    "find_release",
    "installed_library",
    "matching_releases",
    "named_consumers",
    "newest_version",
    "normalize_name",
    "published_releases",
    "releases",
    "resolve_target",
    "runnable_releases",
    "shipped_versions",
    "spans",
    "version_on",
    "window",
]

if not TYPE_CHECKING:  # or every misspelt name would be an object
    _ADVISORY = dict.fromkeys(
        ("Advisory", "Effect", "advisories", "advisories_for"), f"{__name__}.advisory"
    )
    __getattr__, __dir__ = lazy(__name__, _ADVISORY | {"diff": f"{__name__}.difference"})
