"""Version specifiers (PEP 440) of distributions, as `packaging` understands them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

from packaging.specifiers import InvalidSpecifier as NotASpecifier
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from portable.errors import PortableError

__all__ = ["ImpossibleSpecifier", "InvalidSpecifier", "Specifier"]

_MAX_LENGTH = 1000
_parsed = functools.cache(Version)


class InvalidSpecifier(PortableError):
    """The text is not a version specifier."""


class ImpossibleSpecifier(PortableError):
    """No version can satisfy the specifier."""


@dataclass(frozen=True, slots=True)
class Specifier:
    """A set of versions of one distribution.

    Pre-releases count only when a clause names one.

    Args:
        text: The specifier as given.
        versions: The same as `packaging` understands it.
    """

    text: str
    versions: SpecifierSet = field(compare=False)

    @classmethod
    @functools.lru_cache(maxsize=1024)  # many Advisories are about the same Releases
    def parse(cls, text: str) -> Specifier:
        """Parse comma-separated clauses such as `>=0.5,<0.11`, `~=2.16` or `==2.6.*`.

        Raises:
            InvalidSpecifier: It is not a specifier.
            ImpossibleSpecifier: Its clauses exclude each other.
        """
        shown = text if len(text) <= 60 else text[:60] + "..."
        # `===` compares texts, which have no ranges; of versions it says what `==` says.
        known = text.replace("===", "==")
        try:
            # After `===` anything may stand, even a `=`; no version begins so.
            versions = SpecifierSet(
                known if len(text) <= _MAX_LENGTH and "===" not in known else "none"
            )
        except NotASpecifier:
            versions = SpecifierSet()
        if not len(versions):
            raise InvalidSpecifier(
                f"{shown!r} is not a version specifier",
                hint="write it as >=0.5,<0.11 or ==2.6.* or ~=2.16",
            )
        if versions.is_unsatisfiable():
            raise ImpossibleSpecifier(
                f"no version can satisfy {shown!r}", hint="its clauses contradict each other"
            )
        return cls(text, versions)

    @property
    def exact(self) -> str | None:
        """The version that it names alone; None when it stands for more."""
        clauses = [one.version for one in self.versions if one.operator == "=="]
        return next((version for version in clauses if not version.endswith(".*")), None)

    def contains(self, version: str) -> bool:
        """Return whether a version of the distribution satisfies every clause."""
        return _contains(self, version)

    def contains_older(self, version: str) -> bool:
        """Return whether it contains some version older than this one."""
        return not self.versions.is_disjoint(SpecifierSet(f"<{version}"))

    def contains_newer(self, version: str) -> bool:
        """Return whether it contains some version newer than this one."""
        return not self.versions.is_disjoint(SpecifierSet(f">{version}"))


@functools.lru_cache(maxsize=4096)
def _contains(specifier: Specifier, version: str) -> bool:
    versions = specifier.versions
    # For a single version, packaging takes a pre-release for want of better.
    return versions.contains(_parsed(version), prereleases=bool(versions.prereleases))
