"""Version specifiers (PEP 440) of distributions, decided without a guess.

Importing `packaging.specifiers` costs more than everything else that answering "which target"
needs (measured: 38 of 62 ms), and nearly every specifier speaks of plain release numbers only.
Those are intervals of number tuples and are decided here; everything else (pre-releases, local
versions, `===`) goes to `packaging`, whose answers are also the truth this module is tested
against.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portable.errors import PortableError

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

__all__ = ["ImpossibleSpecifier", "InvalidSpecifier", "Specifier", "version_key"]

_CLAUSE = re.compile(r"\s*(~=|===|==|!=|<=|>=|<|>)\s*(\S+)\s*", re.ASCII)
_PLAIN = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,7}", re.ASCII)
_MAX_LENGTH = 1000

Key = tuple[int, ...]


class InvalidSpecifier(PortableError):
    """The text is not a version specifier."""


class ImpossibleSpecifier(PortableError):
    """No version at all can satisfy the specifier."""


def version_key(text: str) -> Key | None:
    """Return the numbers of a plain release version as an ordered key.

    Args:
        text: A version of a distribution, such as `0.12.0.1`.

    Returns:
        Its numbers without trailing zeros, so that 1.0 equals 1; None if it has other parts.
    """
    return _stripped(_numbers(text)) if _PLAIN.fullmatch(text) else None


@dataclass(frozen=True, slots=True)
class _Span:
    """Versions between two keys; None is open-ended."""

    low: Key | None = None
    low_in: bool = True
    high: Key | None = None
    high_in: bool = True

    def __contains__(self, key: Key) -> bool:
        if self.low is not None and (key < self.low or (key == self.low and not self.low_in)):
            return False
        return self.high is None or key < self.high or (key == self.high and self.high_in)

    def __and__(self, other: _Span) -> _Span:
        # The stricter bound wins: open-ended last, then the nearer, then the exclusive one.
        low = max(self, other, key=lambda s: (s.low is not None, s.low or (), not s.low_in))
        high = min(self, other, key=lambda s: (s.high is None, s.high or (), s.high_in))
        return _Span(low.low, low.low_in, high.high, high.high_in)

    @property
    def empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (
            self.low == self.high and not (self.low_in and self.high_in)
        )

    def covers(self, other: _Span) -> bool:
        return (self & other) == other


@dataclass(frozen=True, slots=True)
class Specifier:
    """A set of versions of one distribution.

    Pre-releases follow `packaging`'s rule: they count only when a clause names one.

    Args:
        text: The specifier as given.
        span: What its plain clauses admit; None when `packaging` has to decide.
        holes: What its `!=` clauses take out of that.
    """

    text: str
    span: _Span | None
    holes: tuple[_Span, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Specifier:
        """Parse comma-separated clauses such as `>=0.5,<0.11`, `~=2.16` or `==2.6.*`.

        Raises:
            InvalidSpecifier: It is not a specifier.
            ImpossibleSpecifier: Its clauses exclude each other.
        """
        clauses = [_clause(part, text) for part in text.split(",")]
        span, holes = _Span(), []
        for operator, version in clauses:
            part = _span(operator, version)
            if part is None:
                _packaging_set(text)  # refuses what is not a specifier either
                return cls(text, None)
            if operator == "!=":
                holes.append(part)
            else:
                span &= part
        if span.empty or any(hole.covers(span) for hole in holes):
            raise ImpossibleSpecifier(
                f"no version can satisfy {text!r}", hint="its clauses exclude each other"
            )
        return cls(text, span, tuple(holes))

    @property
    def plain(self) -> bool:
        """Whether every clause speaks of plain release numbers."""
        return self.span is not None

    @property
    def exact(self) -> bool:
        """Whether it names a single version."""
        if self.span is None:
            return "===" in self.text or (self.text.lstrip()[:2] == "==" and "*" not in self.text)
        return self.span.low is not None and self.span.low == self.span.high

    def admits(self, version: str) -> bool:
        """Return whether a version of the distribution satisfies every clause."""
        key = version_key(version)
        if self.span is None or key is None:
            allowed = _packaging_set(self.text)
            # Asked for one version alone, packaging would admit a pre-release for want of better.
            return allowed.contains(version, prereleases=bool(allowed.prereleases))
        return key in self.span and not any(key in hole for hole in self.holes)

    def admits_below(self, version: str) -> bool:
        """Return whether it admits some plain version older than this one."""
        key = version_key(version)
        if self.span is None or key is None:
            return False
        older = self.span & _Span(high=key, high_in=False)
        return not older.empty and not any(hole.covers(older) for hole in self.holes)


def _clause(part: str, text: str) -> tuple[str, str]:
    match = _CLAUSE.fullmatch(part)
    if match is None or len(text) > _MAX_LENGTH:
        raise _invalid(text)
    return match[1], match[2]


def _span(operator: str, version: str) -> _Span | None:
    prefix = version.removesuffix(".*")
    if not _PLAIN.fullmatch(prefix) or operator == "===":
        return None
    numbers = _numbers(prefix)
    key = _stripped(numbers)
    if prefix != version:
        return _Span(key, True, _after(numbers), False) if operator in {"==", "!="} else None
    match operator:
        case ">=":
            return _Span(low=key)
        case ">":
            return _Span(low=key, low_in=False)
        case "<=":
            return _Span(high=key)
        case "<":
            return _Span(high=key, high_in=False)
        case "~=":
            return _Span(key, True, _after(numbers[:-1]), False) if len(numbers) > 1 else None
        case _:
            return _Span(key, True, key, True)


def _numbers(text: str) -> Key:
    return tuple(int(number) for number in text.split("."))


def _stripped(numbers: Key) -> Key:
    end = len(numbers)
    while end > 1 and numbers[end - 1] == 0:
        end -= 1
    return numbers[:end]


def _after(prefix: Key) -> Key:
    return _stripped((*prefix[:-1], prefix[-1] + 1))


@functools.cache
def _packaging_set(text: str) -> SpecifierSet:
    import packaging.specifiers  # noqa: PLC0415 - 38 ms, see the docstring

    try:
        return packaging.specifiers.SpecifierSet(text)
    except packaging.specifiers.InvalidSpecifier as error:
        raise _invalid(text) from error


def _invalid(text: str) -> InvalidSpecifier:
    shown = text if len(text) <= 60 else text[:60] + "..."
    return InvalidSpecifier(
        f"{shown!r} is not a version specifier", hint="write it as >=0.5,<0.11 or ==2.6.* or ~=2.16"
    )
