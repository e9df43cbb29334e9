"""What an audit knows of each artifact: one row, and the Parquet file of them all."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from portable.artifact import Artifact
from portable.bytecode import HEADER_BYTES
from portable.containers.finding import Fate
from portable.errors import PortableError
from portable.fleet.subjects import FleetError, write_subject
from portable.inspection import inspect
from portable.prediction import Subject, examine
from portable.system.files import InputFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from portable.containers import Container
    from portable.containers.container import Entry, Opener
    from portable.containers.finding import Found
    from portable.fleet.places import Object
    from portable.version import Version

__all__ = [
    "OTHER",
    "SCHEMA",
    "FleetError",
    "Former",
    "Known",
    "Piece",
    "Row",
    "batched",
    "columns_of",
    "join_files",
    "opened",
    "parquet",
    "rows_of",
    "schema",
    "write_rows",
]

SCHEMA = 1
"""The version of the columns; raised when one changes its meaning or goes away."""

T = TypeVar("T")
Row: TypeAlias = dict[str, Any]
Piece: TypeAlias = "list[Row] | Known"

# Column -> its type in Parquet, as pyarrow names it; what it holds stands in docs/fleet.md.
_COLUMNS = {
    "place": "string",
    "inside": "string",
    "size": "int64",
    "etag": "string",
    "depth": "dictionary",
    "kind": "dictionary",
    "digest": "string",
    "claimed": "dictionary",
    "producer": "dictionary",
    "format": "int32",
    "required": "dictionary",
    "minimum": "dictionary",
    "features": "list",
    "signatures": "list",
    "custom_calls": "list",
    "dialects": "list",
    "leaks": "list",
    "versions": "list",
    "opened_by": "list",
    "fingerprint": "string",
    "subject": "dictionary",
    "error": "string",
}
_EMPTY: Row = {name: [] if kind == "list" else None for name, kind in _COLUMNS.items()}


OTHER = "other"
"""The kind of what nothing marks as an artifact; it is kept, so that it is not read again."""


def rows_of(found: Found, listed: Object, place: str, depth: str) -> list[Row]:
    """Return what is known of one object: a row for each artifact, one with an error, or none.

    Args:
        found: What it is.
        listed: As it was listed.
        place: What to call it.
        depth: `header` or `content`.
    """
    base = _EMPTY | {
        "place": place, "inside": "", "size": listed.size, "etag": listed.etag, "depth": depth
    }  # fmt: skip
    if found.fate is Fate.OTHER:
        return [base | {"kind": OTHER}]
    if found.container is None:
        return [base | {"error": found.why or str(found.error)}]
    container = found.container
    base |= {
        "kind": str(container.kind),
        "versions": [f"{name} {version}" for name, version in container.versions.items()],
        "opened_by": list(container.opener.readers) if container.opener else [],
    }
    return [base | _artifact(entry, container, depth) for entry in container.artifacts()]


def _artifact(entry: Entry, container: Container, depth: str) -> Row:
    try:
        look = _header if depth == "header" else _content
        return {"inside": entry.name} | look(entry, container)
    except PortableError as error:
        return {"inside": entry.name, "error": str(error)}
    except Exception as defect:  # noqa: BLE001 - a defect of ours costs this one, not the others
        return {"inside": entry.name, "error": f"cannot be read: {defect!r:.200}"}


def _header(entry: Entry, container: Container) -> Row:
    header = Artifact.from_bytes(entry.head(HEADER_BYTES)).header
    return {
        "claimed": str(header.version) if header.version else None,
        "producer": header.producer,
        "format": header.format,
        "subject": _claim(header.version, header.format, container.opener),
    }


@functools.lru_cache(maxsize=1024)
def _claim(version: Version | None, format_: int, opener: Opener | None) -> str:
    return write_subject(Subject.claim(version, format_, opener))


def _content(entry: Entry, container: Container) -> Row:
    data = entry.data
    artifact = Artifact.from_bytes(data)
    seen = inspect(artifact, fingerprint=True)
    subject = replace(examine(artifact), opener=container.opener)
    required, minimum = seen.required, seen.minimum
    return {
        "digest": hashlib.sha256(data).hexdigest(),
        "claimed": str(seen.claimed) if seen.claimed else None,
        "producer": seen.producer,
        "format": seen.format,
        "required": str(required.version) if required else None,
        "minimum": str(minimum.version) if minimum else None,
        "features": sorted(f"{one.kind}:{one.name}" for one in subject.features),
        "signatures": sorted(subject.present),
        "custom_calls": sorted(subject.custom_calls),
        "dialects": sorted(seen.dialects),
        "leaks": list(seen.leaks),
        "fingerprint": seen.fingerprint,
        "subject": write_subject(subject),
        "error": seen.damage or None,
    }


def parquet() -> Any:
    """Import pyarrow, with its reader and writer of Parquet.

    Raises:
        FleetError: It is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise FleetError(
            "pyarrow is not installed", hint="pip install 'stablehlo-portable[fleet]'"
        ) from None
    return pyarrow


def schema() -> Any:
    """Return the columns as pyarrow has them; the version of them stands in the metadata."""
    arrow = parquet()
    types = {
        "string": arrow.string(),
        "int64": arrow.int64(),
        "int32": arrow.int32(),
        "list": arrow.list_(arrow.string()),
        "dictionary": arrow.dictionary(arrow.int32(), arrow.string()),
    }
    fields = [arrow.field(name, types[kind]) for name, kind in _COLUMNS.items()]
    return arrow.schema(fields, metadata={"portable.fleet": str(SCHEMA)})


def write_rows(target: Any, pieces: Iterable[Piece]) -> None:
    """Write rows as Parquet.

    Args:
        target: A binary stream.
        pieces: New rows, and what an earlier audit knows; as many as memory holds.
    """
    arrow = parquet()
    tables = [schema().empty_table()]
    for _, some in itertools.groupby(pieces, type):
        same = list(some)
        new = [row for piece in same if isinstance(piece, list) for row in piece]
        known = [piece for piece in same if isinstance(piece, Known)]
        tables.append(arrow.Table.from_pylist(new, schema=schema()))
        tables += [arrow.Table.from_batches([each]) for each in _joined(known)]
    whole = arrow.concat_tables(tables).unify_dictionaries()
    arrow.parquet.write_table(whole, target, compression="zstd")


def _joined(some: Iterable[Known]) -> Iterator[Any]:
    """Yield record batches: rows that lie side by side in one as one slice of it."""
    first = last = None
    for known in some:
        if last is None or known.batch is not last.batch or known.start != last.stop:
            if first is not None and last is not None:
                yield first.batch.slice(first.start, last.stop - first.start)
            first = known
        last = known
    if first is not None and last is not None:
        yield first.batch.slice(first.start, last.stop - first.start)


def join_files(target: Any, paths: Iterable[str]) -> None:
    """Write the rows of several files as one, in their order, some at a time in memory.

    Args:
        target: A binary stream.
        paths: What `write_rows` wrote.
    """
    arrow = parquet()
    with arrow.parquet.ParquetWriter(target, schema(), compression="zstd") as writer:
        for some in batched(paths, _JOINED):
            tables = [arrow.parquet.read_table(path, schema=schema()) for path in some]
            writer.write_table(arrow.concat_tables(tables).combine_chunks())


_JOINED = 2


def batched(what: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of `size`, the last one shorter; `itertools.batched` from Python 3.12 on."""
    rest = iter(what)
    while some := list(itertools.islice(rest, size)):
        yield some


def columns_of(
    path: str | os.PathLike[str], names: Sequence[str]
) -> Iterator[tuple[str | None, ...]]:
    """Yield some columns of a fleet file, row by row; some rows at a time are in memory.

    Args:
        path: What an audit wrote.
        names: Which columns; texts.

    Raises:
        FleetError: It is something else, or of another release.
    """
    for batch in _batches(os.fspath(path), names):
        yield from zip(*map(_texts, batch.columns), strict=True)


def _texts(column: Any) -> list[str | None]:
    """Return a column as Python has it; equal texts of a dictionary as one object."""
    if not hasattr(column, "dictionary"):
        found: list[str | None] = column.to_pylist()
        return found
    words = column.dictionary.to_pylist()
    return [None if number is None else words[number] for number in column.indices.to_pylist()]


def opened(path: str | os.PathLike[str]) -> Any:
    """Return a fleet file as a pyarrow dataset, which is read as it is asked.

    Raises:
        FleetError: As `columns_of`.
    """
    next(_batches(os.fspath(path), ["place"]), None)  # demands that it is one
    import pyarrow.dataset

    return pyarrow.dataset.dataset(os.fspath(path), schema=schema(), format="parquet")


def _batches(where: str, columns: Sequence[str] | None = None) -> Iterator[Any]:
    arrow = parquet()
    InputFile(where)  # a pipe would wait for ever
    try:
        with arrow.parquet.ParquetFile(where, pre_buffer=False) as file:
            _demand_ours(file, where)
            yield from file.iter_batches(_BATCH, columns=columns, use_threads=False)
    except (arrow.ArrowException, OSError) as error:
        said = str(error).partition("\n")[0]
        raise FleetError(f"cannot be read as Parquet: {said}", where=where) from None


_BATCH = 1000


def _demand_ours(file: Any, where: str) -> None:
    found = (
        (file.schema_arrow.metadata or {}).get(b"portable.fleet", b"").decode("ascii", "replace")
    )
    if found != str(SCHEMA):
        what = f"schema {found}" if found else "a file without schema"
        raise FleetError(
            f"{what}, not schema {SCHEMA}",
            where=where,
            hint="portable audit writes it again",
        )


@dataclass(frozen=True, slots=True)
class Known:
    """The rows of one object in a file of an earlier audit, not copied.

    Args:
        batch: Some rows of the file, as pyarrow has them.
        start: The first of this object.
        stop: Behind the last.
        counted: Kind and error of each.
    """

    batch: Any
    start: int
    stop: int
    counted: tuple[tuple[str | None, str | None], ...]


class Former:
    """What an earlier audit knows, asked in the order of its places.

    Args:
        paths: The fleet files of one audit, one after another.
        depth: The depth that is wanted; what was looked into less is not used again.
    """

    def __init__(self, paths: Sequence[str], depth: str) -> None:
        self._objects = (each for path in paths for each in _objects(path, depth))
        self._next = next(self._objects, None)

    def known(self, place: str, etag: str) -> Known | None:
        """Return the rows of an object that has not changed, None for any other.

        Args:
            place: Never one that comes before the last.
            etag: As it is now.
        """
        while self._next is not None and self._next[0] < place:
            self._next = next(self._objects, None)
        if self._next is None or self._next[0] != place:
            return None
        _, was, known = self._next
        return known if etag and was == etag else None


def _objects(path: str, depth: str) -> Iterator[tuple[str, str, Known]]:
    """Yield what was looked into as deep: place, ETag, rows; a batch of them in memory."""
    for batch in _batches(path):
        columns = [batch.column(name).to_pylist() for name in _ASKED]
        rows = enumerate(zip(*columns, strict=True))
        for (place, etag, looked), group in itertools.groupby(rows, lambda row: row[1][:3]):
            numbers, found = zip(*group, strict=True)
            if looked == depth:
                counted = tuple(row[3:] for row in found)
                yield place, etag, Known(batch, numbers[0], numbers[-1] + 1, counted)


_ASKED = ("place", "etag", "depth", "kind", "error")
