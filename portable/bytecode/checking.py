"""Checks every type and attribute: that its bytes are what its kind has, and not one more.

Readers decode whatever an operation leads to, and serializers write nothing else.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from operator import methodcaller
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.encoding import numbers
from portable.bytecode.entries import ATTRIBUTES, TYPES, first_byte
from portable.bytecode.fields import STEPS
from portable.bytecode.layouts import table
from portable.bytecode.patterns import number_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from re import Pattern

    from portable.bytecode.entries import Entries, Pool
    from portable.bytecode.layouts import Layout

__all__ = ["check_entries"]

# Fewer are decoded one by one: to compile a pattern takes longer.
_MANY = 256
# How many numbers a location has: line and column, or where it begins and ends.
_LISTED = range(5)
_SPAN = methodcaller("span")


def check_entries(pool: Pool) -> None:
    """Refuse types and attributes that do not make sense.

    Args:
        pool: The types and attributes.

    Raises:
        MalformedArtifact: One is cut off, too long, or points to what is not there.
    """
    for kind, entries, read in (
        (TYPES, pool.types, pool.type),
        (ATTRIBUTES, pool.attributes, pool.attribute),
    ):
        for dialect, group in entries.groups():
            for index in _others(entries, dialect, group):
                entry = read(index)
                if entry.text is not None:
                    _check_text(entries, index)
        for index in entries.pointing():
            pool.outline(kind, index)  # of what the patterns matched, where it points to


def _others(entries: Entries, dialect: str, group: range) -> Iterable[int]:
    """Return the entries of a group but for those that are nothing but plain numbers."""
    if 0 in entries.own:
        return group
    if len(group) < _MANY:
        data, starts, plain = entries.cursor.data, entries.starts, _plain(dialect, entries.kind)
        return [
            index
            for index in group
            if not (form := plain.get(data[starts[index]]))
            or not form.fits(numbers(bytes(data[starts[index] : starts[index + 1]])) or ())
        ]
    pattern = _pattern(dialect, entries.kind)
    if pattern is None:
        return group
    first, last = entries.starts[group.start], entries.starts[group.stop]
    starts = [start - first for start in entries.starts[group.start : group.stop + 1]]
    data = bytes(entries.cursor.data[first:last])
    found = list(map(_SPAN, pattern.finditer(data)))
    spans = list(pairwise(starts))
    if found == spans:
        return ()
    known = set(found)
    return [index for index, span in zip(group, spans, strict=True) if span not in known]


class _Plain(NamedTuple):
    """An entry that is nothing but numbers.

    Args:
        length: How many there are, with its code.
        listed: Whether the last of them is how many more follow.
    """

    length: int
    listed: bool

    def fits(self, values: Sequence[int]) -> bool:
        """Say whether these are as many numbers as it has."""
        more = values[self.length - 1] if self.listed and len(values) >= self.length else 0
        return len(values) == self.length + more


@lru_cache(maxsize=64)
def _pattern(dialect: str, kind: str) -> Pattern[bytes] | None:
    """Compile the pattern of entries that are nothing but numbers, as locations are."""
    import re  # small artifacts need no patterns

    one = number_pattern()
    some = b"|".join(b"\\x%02x(?:%b){%d}" % (count << 1 | 1, one, count) for count in _LISTED)
    plain = [
        b"\\x%02x" % first + one * (form.length - 1 - form.listed) + b"(?:%b)" % some * form.listed
        for first, form in _plain(dialect, kind).items()
    ]
    return re.compile(b"|".join(plain), re.DOTALL) if plain else None


@lru_cache(maxsize=64)
def _plain(dialect: str, kind: str) -> dict[int, _Plain]:
    """Return by their first bytes the entries that are nothing but numbers."""
    found = {}
    for code, layout in sorted(table(dialect, kind).items(), key=_is_usual, reverse=True):
        steps = [STEPS.get(encoding) for _, encoding in layout.fields if encoding != "resource"]
        listed = bool(steps) and steps[-1] == STEPS["varints"]
        if len(steps) == len(layout.fields) and all(
            step and not step.each for step in steps[: len(steps) - listed]
        ):
            found[first_byte(code)] = _Plain(1 + len(steps), listed)
    return found


def _is_usual(row: tuple[int, Layout]) -> bool:
    """Whether there can be as many as operations: what is tried first."""
    return row[1].name.startswith("location_file_line_col")


def _check_text(entries: Entries, index: int) -> None:
    cursor = entries.open(index)
    content = bytes(cursor.data[cursor.position : cursor.end])
    if content.find(0) != len(content) - 1:
        raise cursor.malformed("a text that does not end with a zero byte")
