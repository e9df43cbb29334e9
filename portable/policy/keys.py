"""The keys of a policy file, read with errors that name them."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from portable.errors import PortableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Keys", "PolicyError"]

_E = TypeVar("_E", bound=enum.Enum)

# Behind each `[` that nothing closes `fnmatch` looks at all that is left.
_LONGEST_PATTERN, _MOST_BRACKETS, _MOST_PATTERNS = 1000, 50, 1000
# Each character of all of them may be compared with each of a name.
_MOST_CHARACTERS = 50_000
_LONGEST_REASON, _LONGEST_NAME, _MOST_NAMES = 1000, 100, 100


class PolicyError(PortableError):
    """The policy is not well-formed; `where` names the key."""


@dataclass(frozen=True, slots=True)
class Keys:
    """A table of the policy, with errors that name the key.

    Args:
        fields: What the table says.
        where: The file.
        prefix: The way to the table, ending in a dot unless it is the top.
    """

    fields: Mapping[str, object]
    where: str
    prefix: str

    @classmethod
    def of(cls, fields: object, where: str, prefix: str = "") -> Keys:
        """Return the table, if it is one.

        Raises:
            PolicyError: It is something else.
        """
        if not isinstance(fields, dict):
            raise PolicyError("must be a table", where=f"{where}: {prefix.rstrip('.')}")
        return cls(fields, where, prefix)

    def wrong(self, key: str, what: str) -> PolicyError:
        """Return the error for one key."""
        return PolicyError(what, where=f"{self.where}: {self.prefix}{key}")

    def table(self, key: str) -> Keys:
        """Return a table, empty if it is not there."""
        return Keys.of(self.fields.get(key, {}), self.where, f"{self.prefix}{key}.")

    def tables(self, key: str) -> list[Keys]:
        """Return an array of tables."""
        found = self.fields.get(key, [])
        if not isinstance(found, list):
            raise self.wrong(key, "must be an array of tables")
        return [
            Keys.of(fields, self.where, f"{self.prefix}{key}[{position}].")
            for position, fields in enumerate(found)
        ]

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string that is not empty."""
        value = self.fields.get(key, default)
        if not isinstance(value, str) or (not value and default is None):
            raise self.wrong(key, "must be a non-empty string")
        return value

    def reason(self, key: str) -> str:
        """Return a text that each of very many findings may have."""
        found = self.text(key)
        if len(found) > _LONGEST_REASON:
            size = f"{len(found):,} characters, above the limit of {_LONGEST_REASON:,}"
            raise self.wrong(key, size)
        return found

    def names(self, key: str) -> Keys:
        """Return a table whose keys each of very many findings may have."""
        found = self.table(key)
        if len(found.fields) > _MOST_NAMES:
            limit = f"above the limit of {_MOST_NAMES}"
            raise self.wrong(key, f"{len(found.fields):,} names, {limit}")
        for name in found.fields:
            if len(name) > _LONGEST_NAME:
                size = f"{len(name):,} characters, above the limit of {_LONGEST_NAME}"
                raise self.wrong(key, f"a name of {size}")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings that is not empty, except for what is allowed."""
        value = self.fields.get(key)
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise self.wrong(key, "must be a list of strings")
        return tuple(value)

    def patterns(self, key: str) -> tuple[str, ...]:
        """Return a list of patterns, none of which takes long to be understood; empty without."""
        found = self.texts(key) if key in self.fields else ()
        if len(found) > _MOST_PATTERNS:
            limit = f"above the limit of {_MOST_PATTERNS:,}"
            raise self.wrong(key, f"{len(found):,} patterns, {limit}")
        for one in found:
            self._demand_short(key, one)
        self.demand_few(key, found)
        return found

    def demand_few(self, key: str, patterns: Iterable[str]) -> None:
        """Refuse patterns that are too long together; one without `*` takes no time."""
        size = sum(len(one) for one in patterns if "*" in one)
        if size > _MOST_CHARACTERS:
            limit = f"above the limit of {_MOST_CHARACTERS:,}"
            raise self.wrong(key, f"patterns with * of {size:,} characters in all, {limit}")

    def pattern(self, key: str) -> str:
        """Return one pattern."""
        found = self.text(key)
        self._demand_short(key, found)
        return found

    def _demand_short(self, key: str, pattern: str) -> None:
        if len(pattern) > _LONGEST_PATTERN:
            size = f"{len(pattern):,} characters, above the limit of {_LONGEST_PATTERN:,}"
            raise self.wrong(key, f"a pattern of {size}")
        if pattern.count("[") > _MOST_BRACKETS:
            raise self.wrong(key, f"a pattern with more than {_MOST_BRACKETS} '['")

    def choice(self, key: str, kind: type[_E], default: _E | None = None) -> _E:
        """Return a member of an enum."""
        if key not in self.fields and default is not None:
            return default
        text = self.text(key)
        for member in kind:
            if member.value == text:
                return member
        known = ", ".join(str(member.value) for member in kind)
        raise self.wrong(key, f"{text!r} is not one of {known}")

    def nothing_else(self, known: Iterable[str]) -> None:
        """Refuse keys that mean nothing: a typing error must not loosen a policy."""
        allowed = sorted(known)
        for key in self.fields:
            if key not in allowed:
                raise self.wrong(key, f"unknown key; valid keys: {', '.join(allowed)}")
