"""The tables under `data/`: read once, row by row, with errors that name the row.

A row that ships is parsed when it is first asked something: of hundreds a command needs a few.
"""

from __future__ import annotations

import datetime
import enum
import functools
import os
import re
from typing import TYPE_CHECKING, Generic, ParamSpec, TypeVar

from portable.errors import PortableError
from portable.system.documents import parse_toml
from portable.system.files import FileError, read_file
from portable.system.places import NamedTable, cache_folder, demand_own, named_table
from portable.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = [
    "ByTables",
    "Row",
    "TableError",
    "demand_once",
    "normalize_name",
    "own_rows",
    "own_table",
    "read_table",
    "rows",
    "rows_by_distribution",
    "static_distributions",
]

_DATA = os.path.join(os.path.dirname(__file__), "data")
_T = TypeVar("_T")
_P = ParamSpec("_P")
_E = TypeVar("_E", bound=enum.Enum)


class TableError(PortableError):
    """A table that ships with the package does not have the form it must have."""


class Row:
    """One row of a table, with typed access.

    Args:
        where: The table and the position of the row, for errors.
        said: What the row says, by its keys, or as TOML.
        own: Whether it stands in the user's own table.
    """

    __slots__ = ("_said", "_where", "own")

    def __init__(self, where: str, said: Mapping[str, object] | str, *, own: bool = False) -> None:
        self.own = own
        self._where = where
        self._said = said

    @property
    def _fields(self) -> Mapping[str, object]:
        if isinstance(self._said, str):
            try:
                self._said = parse_toml(self._said.encode())
            except ValueError as error:
                raise self.wrong(f"cannot read: {error}") from error
        return self._said

    @property
    def where(self) -> str:
        """The table and the position of the row."""
        return self._where

    def wrong(self, what: str) -> TableError:
        """Return the error that names this row."""
        return TableError(what, where=self._where)

    def demand_known(self, keys: Iterable[str]) -> None:
        """Refuse a key that nothing looks at, for example one that is misspelt.

        Args:
            keys: All that there may be.

        Raises:
            TableError: The row has another one.
        """
        for key in self._fields.keys() - keys:
            raise self.wrong(f"unknown key {key!r}; valid keys: {', '.join(keys)}")

    def word(self, key: str) -> str:
        """Return the same as `text`; where a line says no more than it, nothing is parsed."""
        if isinstance(self._said, str):
            _, found, rest = self._said.partition(f'\n{key} = "')
            said = rest.partition('"\n')[0]
            if found and '"' not in said and "\\" not in said:
                return said
        return self.text(key)

    def text(self, key: str) -> str:
        """Return a string that must be there."""
        value = self._fields.get(key)
        if not isinstance(value, str) or not value:
            raise TableError(f"{key} is missing or not a string", where=self._where)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings that must be there."""
        value = self._fields.get(key)
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise TableError(f"{key} is missing or not a list of strings", where=self._where)
        return tuple(value)

    def maybe_texts(self, key: str) -> tuple[str, ...]:
        """Return a list of strings, empty where the row has none."""
        return self.texts(key) if key in self._fields else ()

    def note(self, key: str) -> str:
        """Return a string, or the empty one."""
        return self.text(key) if key in self._fields else ""

    def flag(self, key: str) -> bool:
        """Return a boolean; a reason (a non-empty string) counts as true."""
        return bool(self._fields.get(key, False))

    def member(self, key: str, kind: type[_E]) -> _E:
        """Return a member of an enum, which the row writes as its text."""
        members: Mapping[str, _E] = _members(kind)
        if self.text(key) not in members:
            raise self.wrong(f"{key} {self.text(key)!r} is not one of {', '.join(members)}")
        return members[self.text(key)]

    def number(self, key: str) -> int:
        """Return an integer that must be there."""
        value = self._fields.get(key)
        if not isinstance(value, int):
            raise TableError(f"{key} is missing or not an integer", where=self._where)
        return value

    def version(self, key: str) -> Version:
        """Return a Version that must be there."""
        return self._parsed(key, Version.parse)

    def maybe_version(self, key: str) -> Version | None:
        """Return a Version, or None where the row has none."""
        return self.version(key) if key in self._fields else None

    def date(self, key: str) -> datetime.date:
        """Return a date (ISO 8601) that must be there."""
        return self._parsed(key, datetime.date.fromisoformat)

    def maybe_date(self, key: str) -> datetime.date | None:
        """Return a date, or None where the row has none."""
        return self.date(key) if key in self._fields else None

    def _parsed(self, key: str, parse: Callable[[str], _T]) -> _T:
        try:
            return parse(self.text(key))
        except (InvalidVersion, ValueError) as error:
            raise TableError(f"{key}: {error}", where=self._where) from error


@functools.cache
def _members(kind: type[_E]) -> dict[str, _E]:
    return {str(one): one for one in kind}


def demand_once(found: Iterable[tuple[Row, object]]) -> None:
    """Refuse a row that says again what an earlier one says: it would never be looked at.

    Args:
        found: Rows, each with what it must be alone in.

    Raises:
        TableError: Two are the same; the error names the second.
    """
    seen: set[object] = set()
    for row, key in found:
        if key in seen:
            raise row.wrong(f"{key} is duplicated")
        seen.add(key)


@functools.cache
def rows(table: str, kind: str) -> tuple[Row, ...]:
    """Read a table.

    Args:
        table: The file name under `data/`, without `.toml`.
        kind: The name of its array of tables.

    Returns:
        Its rows, in file order.

    Raises:
        TableError: The file is missing, or has no such rows.
    """
    texts = _texts(table).get(kind)
    if texts is None:
        raise TableError(f"there is no [[{kind}]]", where=f"{table}.toml")
    return tuple(
        Row(f"{table}.toml {kind} {position}", text) for position, text in enumerate(texts, start=1)
    )


@functools.cache
def _texts(table: str) -> dict[str, list[str]]:
    """Return the rows of a table as TOML, by their kinds."""
    path = os.path.join(_DATA, f"{table}.toml")
    try:
        _, *parts = ("\n" + read_file(path).decode()).split("\n[[")
    except FileError as error:
        raise TableError(error.what, where=path) from error
    found: dict[str, list[str]] = {}
    for part in parts:
        kind, _, text = part.partition("]]")
        found.setdefault(kind, []).append(text)
    return found


@functools.cache
def rows_by_distribution(table: str, kind: str) -> Mapping[str, tuple[Row, ...]]:
    """Read a table whose rows are each about one distribution; none is parsed.

    Args:
        table: As for `rows`.
        kind: As for `rows`.

    Returns:
        The rows by the normalised name of their distribution, in file order.

    Raises:
        TableError: As `rows`, or a row names no distribution.
    """
    found: dict[str, list[Row]] = {}
    for row in rows(table, kind):
        found.setdefault(normalize_name(row.word("distribution")), []).append(row)
    return {name: tuple(about) for name, about in found.items()}


@functools.cache
def static_distributions() -> frozenset[str]:
    """Return the distributions of which some Releases were read statically: `static/NAME.toml`."""
    names = os.listdir(os.path.join(_DATA, "static"))
    return frozenset(name.removesuffix(".toml") for name in names)


@functools.cache
def normalize_name(name: str) -> str:
    """Normalise the name of a distribution as PEP 503 does."""
    return re.sub(r"[-_.]+", "-", name).lower()


class ByTables(Generic[_P, _T]):
    """Keep what a function returned for its arguments, apart for each table that a policy names."""

    def __init__(self, function: Callable[_P, _T]) -> None:
        def kept(_table: NamedTable | None, *given: _P.args, **named: _P.kwargs) -> _T:
            return function(*given, **named)

        functools.update_wrapper(self, function)
        self._kept = functools.lru_cache(maxsize=4096)(kept)
        self.cache_clear = self._kept.cache_clear

    def __call__(self, *given: _P.args, **named: _P.kwargs) -> _T:
        """Call it, or return what it returned before."""
        return self._kept(named_table.get(), *given, **named)  # type: ignore[arg-type]  # hashable ones alone


def own_table() -> str:
    """Return the path of the table of Releases that the user measured himself."""
    return os.path.join(cache_folder(), "releases.toml")


def own_rows(kind: str) -> list[tuple[Row, ...]]:
    """Read the tables that are added to the shipped one; they have the form of `releases.toml`.

    Args:
        kind: The name of their array of tables.

    Returns:
        The rows of each, in file order: of those that a policy names, then of the user's own.

    Raises:
        TableError: A file cannot be read or has another form.
    """
    own = [own_table()] if os.path.lexists(own_table()) else []
    demand_own(*own)
    named = named_table.get()
    tables = [read_table(path) for path in own if named is None or path != named.path]
    return [_parsed(table, kind) for table in ((named, *tables) if named else tables)]


def read_table(path: str) -> NamedTable:
    """Read a table that is added to the shipped one.

    Raises:
        TableError: It cannot be read.
    """
    try:
        return NamedTable(path, read_file(path))
    except FileError as error:
        raise TableError(error.what, where=path) from error


def _parsed(table: NamedTable, kind: str) -> tuple[Row, ...]:
    path = table.path
    try:
        found = parse_toml(table.text).get(kind, [])
    except ValueError as error:
        raise TableError(f"cannot read: {error}", where=path) from error
    if not isinstance(found, list) or not all(isinstance(fields, dict) for fields in found):
        raise TableError(f"{kind} is not an array of tables", where=path)
    return tuple(
        Row(f"{path} {kind} {position}", fields, own=True)
        for position, fields in enumerate(found, start=1)
    )
