"""A Matrix as plain data with a version, and back: what is kept, and what is merged.

Most cells of a matrix say the same as others: each different Verdict stands once in `verdicts`,
each different content of a cell once in `results`, and `cells` has a row for each artifact with
the position of a result for each consumer. A Verdict's consumer is the cell's.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from portable.errors import PortableError
from portable.escaping import json_text
from portable.matrix.cell import MOST_ALSO, Cell, Role
from portable.matrix.item import Item, TensorFile
from portable.matrix.result import Matrix
from portable.releases import Confidence, Release
from portable.system.documents import parse_json
from portable.tolerance import demand_count, demand_distance
from portable.verdict import Basis, Diagnostic, NotKnown, Outcome, Severity, Stage, Verdict
from portable.version import Version

if TYPE_CHECKING:
    import enum
    from collections.abc import Callable, Hashable, Iterable, Mapping

__all__ = ["SCHEMA", "MalformedMatrix", "diagnostics", "dump", "load", "parse", "record"]

SCHEMA = 2
# Diagnostics of a Verdict, and what is not known: ours has a tenth of them.
_MOST_TOLD = 1000
_KEYS = ("schema", "date", "stage", "consumers", "items", "verdicts", "results", "cells")

_T = TypeVar("_T")
_E = TypeVar("_E", bound="enum.Enum")


class MalformedMatrix(PortableError):
    """The data is not a matrix that this version of `portable` can read."""


def dump(matrix: Matrix) -> str:
    """Write a Matrix as JSON, in ASCII.

    Args:
        matrix: What to write.

    Returns:
        One line, ended by a newline.

    Raises:
        MalformedMatrix: The Matrix contradicts itself.
    """
    return json_text(record(matrix)) + "\n"


def load(text: str | bytes) -> Matrix:
    """Read what `dump` wrote.

    Args:
        text: JSON.

    Returns:
        The Matrix.

    Raises:
        MalformedMatrix: It is no JSON, or no matrix.
    """
    try:
        data = parse_json(text if isinstance(text, bytes) else text.encode())
    except ValueError as error:
        raise MalformedMatrix(f"not a matrix: {error}") from error
    return parse(data)


def record(matrix: Matrix) -> dict[str, object]:
    """Return a Matrix as plain data.

    Args:
        matrix: What to write.

    Returns:
        Strings, integers, lists and dictionaries.

    Raises:
        MalformedMatrix: An artifact, a consumer or a cell is duplicated, or a cell's artifact or
            consumer is not in the Matrix.
    """
    rows = _positions((item.key for item in matrix.items), "artifact")
    columns = _positions(((one.distribution, one.version) for one in matrix.releases), "consumer")
    verdicts, results = _Table(_verdict_record), _Table(_same)
    cells: list[list[int | None]] = [[None] * len(columns) for _ in rows]
    for cell in matrix.cells:
        release = cell.release
        try:
            row = rows[cell.item.key]
            column = columns[release.distribution, release.version]
        except KeyError as error:
            raise MalformedMatrix(f"a cell is of {error}, the matrix is not") from None
        if cells[row][column] is not None:
            raise MalformedMatrix(f"{cell.item.name} is on {release} twice")
        cells[row][column] = results.position(_result_record(cell, verdicts))
    return {
        "schema": SCHEMA,
        "date": str(matrix.date),
        "stage": str(matrix.stage),
        "consumers": [release.record() for release in matrix.releases],
        "items": [_item_record(item) for item in matrix.items],
        "verdicts": verdicts.rows,
        "results": [list(row) for row in results.rows],
        "cells": cells,
    }


def parse(data: object) -> Matrix:
    """Read what `record` returned, strictly.

    Args:
        data: Plain data.

    Returns:
        The Matrix, its cells artifact by artifact.

    Raises:
        MalformedMatrix: It is something else, or of a newer schema.
    """
    fields = _fields(data)
    where = "date or stage"
    try:
        date, stage = datetime.date.fromisoformat(fields["date"]), _stage(fields["stage"])
        where = "consumers"
        releases = tuple(_build(Release, _RELEASE, one) for one in _list(fields["consumers"]))
        _positions(((one.distribution, one.version) for one in releases), "consumer")
        where = "items"
        items = tuple(_build(Item, _ITEM, one) for one in _list(fields["items"]))
        _positions((item.key for item in items), "artifact")
        where = "verdicts"
        verdicts = [_build(_verdict, _VERDICT, one) for one in _list(fields["verdicts"])]
        where = "results"
        results = [_Result(row, verdicts) for row in _list(fields["results"])]
        where = "cells"
        cells = _cells(fields["cells"], items, releases, results)
    except (KeyError, TypeError, ValueError, RecursionError, PortableError) as error:
        raise MalformedMatrix(f"malformed {where}: {error}") from error
    return Matrix(stage, items, releases, tuple(cells), date)


def _fields(data: object) -> Mapping[str, Any]:
    if not isinstance(data, dict) or type(data.get("schema")) is not int:
        raise MalformedMatrix("not a matrix: it has no schema")
    if data["schema"] > SCHEMA:
        raise MalformedMatrix(
            f"the matrix has schema {data['schema']}, this version reads {SCHEMA}",
            hint="update stablehlo-portable",
        )
    # Schema 1 had neither `says` nor `not_known`.
    if data["schema"] not in {1, SCHEMA}:
        raise MalformedMatrix(f"the matrix has schema {data['schema']}, which does not exist")
    if data.keys() != set(_KEYS):
        wrong = ", ".join(sorted(f"{key!r:.40}" for key in data.keys() ^ set(_KEYS)))
        raise MalformedMatrix(f"keys that are missing or unknown: {wrong}")
    return data


class _Table:
    """Rows that are equal stand in it once."""

    def __init__(self, write: Callable[[Any], object]) -> None:
        self.rows: list[Any] = []
        self._write = write
        self._positions: dict[Hashable, int] = {}
        self._known: dict[Hashable, int] = {}

    def position(self, row: Hashable, known: Hashable = None) -> int:
        """Return where a row stands; `known` is equal only where it is, and quick to compare."""
        found = None if known is None else self._known.get(known)
        if found is None:
            found = self._positions.get(row)
        if found is None:
            found = self._positions[row] = len(self.rows)
            self.rows.append(self._write(row))
        if known is not None:
            self._known[known] = found
        return found


def _same(row: object) -> object:
    return row


def _positions(keys: Iterable[tuple[str, str]], what: str) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for key in keys:
        if key in found:
            raise MalformedMatrix(f"the {what} {' '.join(key)} is duplicated")
        found[key] = len(found)
    return found


def _result_record(cell: Cell, verdicts: _Table) -> tuple[Hashable, ...]:
    def position(verdict: Verdict | None) -> int | None:
        if verdict is None:
            return None
        fields = (verdict.outcome, verdict.stage, verdict.basis, verdict.reason)
        told = (verdict.diagnostics, verdict.not_known)
        return verdicts.position((*fields, *told), (*fields, *map(id, told)))

    also = tuple(position(verdict) for verdict in cell.also)
    asked = (position(cell.predicted), position(cell.observed))
    return (str(cell.role), *asked, cell.note, cell.listed, *also)


def _verdict_record(row: tuple[Any, ...]) -> dict[str, object]:
    plain = Verdict("", *row).record()
    return {key: value for key, value in plain.items() if value not in ("", [])}


def _item_record(item: Item) -> dict[str, object]:
    def tensors(files: tuple[TensorFile, ...]) -> list[list[str]]:
        return [[file.path, file.dtype] for file in files]

    fields = {
        "name": item.name,
        "path": item.path,
        "digest": item.digest,
        "claimed": item.claimed and str(item.claimed),
        "inside": item.inside or None,
        "producer": item.producer or None,
        "producer_version": item.producer_version and str(item.producer_version),
        "case": item.case or None,
        "inputs": None if item.inputs is None else tensors(item.inputs),
        "expected": tensors(item.expected) or None,
        "relative": item.relative or None,
        "absolute": item.absolute or None,
        "ulps": item.ulps or None,
        "given": [*item.given] or None,
        "reference": item.reference or None,
    }
    return {"claimed": None} | {key: value for key, value in fields.items() if value is not None}


class _Result:
    """What a cell says, apart from whose it is."""

    __slots__ = ("_made", "also", "listed", "note", "observed", "predicted", "role")

    def __init__(self, row: object, verdicts: list[Verdict]) -> None:
        role, predicted, observed, note, listed, *also = _list(row)
        if len(also) > MOST_ALSO:
            raise ValueError(f"{len(also):,} more observations, above the limit of {MOST_ALSO}")
        self.role = _member(Role)(role)
        self.predicted = _at(verdicts, predicted)
        self.observed = None if observed is None else _at(verdicts, observed)
        self.note, self.listed = _text(note), _text(listed)
        self.also = tuple(_at(verdicts, one) for one in also)
        seen = [*self.also, *([] if self.observed is None else [self.observed])]
        if self.predicted.basis is not Basis.PREDICTED:
            raise ValueError("an observation in the place of a prediction")
        if any(verdict.basis is not Basis.OBSERVED for verdict in seen):
            raise ValueError("a prediction in the place of an observation")
        self._made: dict[str, tuple[Verdict, Verdict | None, tuple[Verdict, ...]]] = {}

    def cell(self, item: Item, release: Release, consumer: str) -> Cell:
        made = self._made.get(consumer)
        if made is None:  # the cells of one consumer share their Verdicts
            observed = None if self.observed is None else _on(self.observed, consumer)
            also = tuple(_on(one, consumer) for one in self.also)
            made = self._made[consumer] = (_on(self.predicted, consumer), observed, also)
        predicted, observed, also = made
        return Cell(item, release, self.role, predicted, observed, self.note, self.listed, also)


def _on(one: Verdict, consumer: str) -> Verdict:
    return replace(one, consumer=consumer)


def _cells(
    rows: object,
    items: tuple[Item, ...],
    releases: tuple[Release, ...],
    results: list[_Result],
) -> list[Cell]:
    consumers = [str(release) for release in releases]
    cells = []
    for item, row in zip(items, _list(rows), strict=True):
        for release, consumer, position in zip(releases, consumers, _list(row), strict=True):
            if position is not None:
                cells.append(_at(results, position).cell(item, release, consumer))
    return cells


def _build(make: Callable[..., _T], readers: Mapping[str, Callable[[Any], Any]], data: Any) -> _T:
    if not isinstance(data, dict):
        raise TypeError(f"{data!r:.40} is not an object")
    for key in data:
        if key not in readers:
            raise ValueError(f"unknown key {key!r}")
    return make(**{key: readers[key](value) for key, value in data.items()})


def _verdict(*, says: str = "", **fields: Any) -> Verdict:
    del says  # outcome and Stage again, in words
    return Verdict("", **fields)


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r:.40} is not a list")
    return value


def _few(value: object) -> list[Any]:
    """Return a list that each of very many cells may have."""
    found = _list(value)
    if len(found) > _MOST_TOLD:
        raise ValueError(f"a list of {len(found):,}, above the limit of {_MOST_TOLD:,}")
    return found


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a text")
    return value


def _name(value: object) -> str:
    if not _text(value):
        raise ValueError("a name is empty")
    return _text(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r:.40} is neither true nor false")
    return value


def _at(table: list[_T], position: object) -> _T:
    # Negative numbers would count from the end, and true is an integer to Python.
    if type(position) is not int or not 0 <= position < len(table):
        raise ValueError(f"nothing is at {position!r:.40}")
    return table[position]


def _member(kind: type[_E]) -> Callable[[object], _E]:
    return lambda value: kind(_text(value))


def _stage(value: object) -> Stage:
    return Stage.parse(_text(value))


def _version(value: object) -> Version:
    return Version.parse(_text(value))


def _maybe_version(value: object) -> Version | None:
    return None if value is None else _version(value)


def _words(value: object) -> tuple[str, ...]:
    return tuple(_text(word) for word in _list(value))


def _tensors(value: object) -> tuple[TensorFile, ...]:
    return tuple(TensorFile(_text(path), _text(dtype)) for path, dtype in map(_list, _list(value)))


def diagnostics(value: object) -> tuple[Diagnostic, ...]:
    """Build Diagnostics from the list of their records; for what is kept elsewhere too."""
    return tuple(_build(Diagnostic, _DIAGNOSTIC, one) for one in _few(value))


def _not_known(value: object) -> tuple[NotKnown, ...]:
    return tuple(_build(NotKnown, _NOT_KNOWN, one) for one in _few(value))


_date = datetime.date.fromisoformat

_DIAGNOSTIC: dict[str, Callable[[Any], Any]] = {
    "severity": _member(Severity),
    "message": _text,
    "location": _text,
    "notes": diagnostics,
}
_NOT_KNOWN: dict[str, Callable[[Any], Any]] = {"stage": _stage, "what": _text}
_VERDICT: dict[str, Callable[[Any], Any]] = {
    "outcome": _member(Outcome),
    "stage": _stage,
    "basis": _member(Basis),
    "reason": _text,
    "diagnostics": diagnostics,
    "not_known": _not_known,
    "says": _text,
}
_ITEM: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("name", "path", "digest", "inside", "producer", "case", "reference"), _text),
    "given": _words,
    **dict.fromkeys(("claimed", "producer_version"), _maybe_version),
    **dict.fromkeys(("inputs", "expected"), _tensors),
    **dict.fromkeys(("relative", "absolute"), demand_distance),
    "ulps": demand_count,
}
_RELEASE: dict[str, Callable[[Any], Any]] = {
    "distribution": _name,
    **dict.fromkeys(("version", "python", "requires_python", "numpy"), _text),
    **dict.fromkeys(("method", "evidence", "note"), _text),
    **dict.fromkeys(("current", "below", "minimum", "week_4", "week_12"), _version),
    **dict.fromkeys(("date", "measured"), _date),
    "confidence": _member(Confidence),
    **dict.fromkeys(("yanked", "own"), _flag),
}
