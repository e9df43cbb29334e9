"""What an audit knows of each artifact: one row, and the Parquet file of them all."""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from portable.artifact import Artifact
from portable.bytecode import HEADER_BYTES, MAGIC, read, read_header
from portable.bytecode.encoding import brief
from portable.bytecode.fingerprint import fingerprint
from portable.containers.finding import Fate
from portable.errors import PortableError
from portable.features import analyze
from portable.fleet.subjects import FleetError, write_subject
from portable.inspection import leaks
from portable.policy import Depth
from portable.prediction import Reading, Subject, subject_of
from portable.system.files import InputFile, is_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from portable.containers import Container
    from portable.containers.container import Entry, Opener
    from portable.containers.finding import Found
    from portable.fleet.places import Object
    from portable.version import Version

__all__ = [
    "COUNT",
    "OTHER",
    "SCHEMA",
    "FleetError",
    "Row",
    "batched",
    "batches_of",
    "columns_of",
    "object_count",
    "opened",
    "parquet",
    "rows_of",
    "schema",
    "table_of",
]

SCHEMA = 3
"""The version of the columns; raised when one changes its meaning or goes away."""

T = TypeVar("T")
Row: TypeAlias = dict[str, Any]

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
    _demand_artifact(entry)
    data = entry.view()
    reading = Reading(read(data), data)
    content, analysis = reading.content, analyze(reading.content)
    subject = replace(subject_of(reading, analysis), opener=container.opener)
    required, minimum = subject.required, analysis.pinned.version
    dialects = {content.names[one.name].dialect for one in content.scan().signatures}
    return {
        "digest": hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else None,
        "claimed": str(subject.claimed) if subject.claimed else None,
        "producer": content.header.producer,
        "format": subject.format,
        "required": str(required) if required else None,
        "minimum": str(minimum) if minimum else None,
        "features": sorted(f"{one.kind}:{one.name}" for one in subject.features),
        "signatures": sorted(subject.present),
        "custom_calls": sorted(subject.custom_calls),
        "dialects": sorted(map(brief, dialects)),
        "leaks": list(leaks(content)),
        "fingerprint": fingerprint(content) if isinstance(data, bytes) else None,
        "subject": write_subject(subject),
    }


def _demand_artifact(entry: Entry) -> None:
    head = entry.head(HEADER_BYTES)
    named = head.startswith(MAGIC) and read_header(head).version
    Artifact.from_bytes(head if named else entry.data)


def parquet() -> Any:
    """Import pyarrow, with its reader and writer of Parquet.

    Raises:
        FleetError: It is not installed.
    """
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise FleetError(
            "pyarrow is not installed", hint="pip install 'stablehlo-portable[fleet]'"
        ) from None
    return pyarrow


@functools.cache
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


def table_of(rows: Sequence[Row]) -> Any:
    """Return rows as a table of pyarrow."""
    return parquet().Table.from_pylist(rows, schema=schema())


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
    for batch in batches_of(os.fspath(path), names):
        yield from zip(*map(_texts, batch.columns), strict=True)


def _texts(column: Any) -> list[str | None]:
    """Return a column as Python has it; equal texts of a dictionary as one object."""
    # By numpy, which takes a tenth of the time of `to_pylist`.
    if not hasattr(column, "dictionary"):
        found: list[str | None] = column.to_numpy(zero_copy_only=False).tolist()
        return found
    words = [*column.dictionary.to_pylist(), None]
    return list(map(words.__getitem__, column.indices.fill_null(-1).to_numpy().tolist()))


def opened(path: str | os.PathLike[str]) -> Any:
    """Return a fleet file as a pyarrow dataset, which is read as it is asked.

    Raises:
        FleetError: As `columns_of`.
    """
    where = os.fspath(path)
    next(batches_of(where, ["place"]), None)  # demands that it is one
    from pyarrow import dataset

    class Rows(dataset.InMemoryDataset):  # type: ignore[misc]  # pyarrow has no types
        """Looks at each row: what a file says of its rows, by which others skip some, may lie.

        Attributes:
            failed: Why it could not be read to its end, which whoever reads it puts in other words.
        """

        failed: FleetError | None = None

        def scanner(
            self,
            columns: Sequence[str] | None = None,
            filter: Any = None,  # noqa: A002 - as DuckDB names it
            **_: object,
        ) -> Any:
            said = str(filter)
            wanted = [
                field
                for field in schema()
                if columns is None or field.name in columns or field.name in said
            ]
            read = parquet().schema(wanted or [schema().field("place")])
            return dataset.Scanner.from_batches(
                self._batches(read.names), schema=read, columns=columns, filter=filter
            )

        def _batches(self, names: Sequence[str]) -> Iterator[Any]:
            try:
                yield from batches_of(where, names)
            except FleetError as error:
                self.failed = error
                raise

    return Rows(schema().empty_table())


def object_count(where: str) -> int:
    """Return how many objects a fleet file knows.

    Raises:
        FleetError: As `columns_of`.
    """
    next(batches_of(where, ["place"]), None)  # demands that it is one
    known = parquet().parquet.read_metadata(where)
    count = known.metadata.get(COUNT.encode(), b"")[:18]
    return int(count) if count.isdigit() else int(known.num_rows)


def batches_of(where: str, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """Yield a fleet file, some rows at a time, as pyarrow has them.

    Raises:
        FleetError: As `columns_of`.
    """
    if is_folder(where):
        raise FleetError(
            "a folder, not a fleet file",
            where=where,
            hint="portable audit FOLDER -o fleet.parquet --depth content writes one",
        )
    arrow = parquet()
    size = len(InputFile(where))  # a pipe would wait for ever
    try:
        if where.endswith(PART):
            with arrow.ipc.open_file(where) as file:
                _demand_ours(file.schema, where)
                batches = map(file.get_batch, range(file.num_record_batches))
                yield from (_sound(batch, where) for batch in batches)
            return
        with arrow.parquet.ParquetFile(where, pre_buffer=False) as file:
            _demand_ours(file.schema_arrow, where)
            _demand_modest(file.metadata, size, where)
        # As dictionaries: there each text is once, however many rows have it.
        with arrow.parquet.ParquetFile(where, pre_buffer=False, read_dictionary=_paths()) as file:
            # Group by group: over several, Arrow keeps every text that it has seen.
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(
                    _BATCH, row_groups=[group], columns=columns, use_threads=False
                ):
                    yield _sound(_spread(batch, where), where)
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        said = str(error).partition("\n")[0]
        raise FleetError(f"cannot be read as Parquet: {said}", where=where) from None


_BATCH = 10_000
_MOST_TEXT = 512 << 20
"""How many bytes the texts of a batch may come to."""
COUNT = "portable.fleet.objects"
"""Under which key of the metadata of the whole file it says how many objects it knows."""
PART = ".arrow"
"""How the names of the files end that hold a part of an audit, as Arrow has it."""


def _demand_ours(written: Any, where: str) -> None:
    found = (written.metadata or {}).get(b"portable.fleet", b"").decode("ascii", "replace")
    if found != str(SCHEMA) or not written.equals(schema()):
        what = f"schema {found}" if found else "a file without schema"
        what = "other columns" if found == str(SCHEMA) else what
        raise FleetError(
            f"{what}, not schema {SCHEMA}",
            where=where,
            hint="run portable audit again",
        )


def _demand_modest(found: Any, size: int, where: str) -> None:
    """Refuse what unpacks to far more than an audit writes, before anything is unpacked."""
    groups = list(map(found.row_group, range(found.num_row_groups)))
    columns = [group.column(at) for group in groups for at in range(group.num_columns)]
    unpacked = sum(column.total_uncompressed_size for column in columns)
    if found.num_rows > _LEAST_ROWS + size * _ROWS or unpacked > _LEAST_BYTES + size * _BYTES:
        raise FleetError(
            f"{size:,} bytes that unpack to {found.num_rows:,} rows and {unpacked:,} bytes",
            where=where,
            hint="more than an audit writes; audit again",
        )
    for group in groups:
        chunks = map(group.column, range(group.num_columns))
        texts = sum(one.num_values for one in chunks if one.path_in_schema in _LISTS)
        if texts > _MOST_LISTED:
            raise FleetError(
                f"{size:,} bytes that unpack to lists of {texts:,} texts",
                where=where,
                hint="more than an audit writes; audit again",
            )


# How many rows and bytes there may be at least, and for each byte of the file. A bucket of equal
# objects with numbered names comes to 0.8 rows and 430 bytes.
_LEAST_ROWS, _ROWS = 100_000, 2
_LEAST_BYTES, _BYTES = 64 << 20, 1000
# How many texts the lists of one row group may have, each of which takes a dozen bytes to read.
_MOST_LISTED = 32_000_000
_IN_LIST = ".list.element"
_LISTS = {f"{name}{_IN_LIST}" for name, kind in _COLUMNS.items() if kind == "list"}


def _paths() -> list[str]:
    """Return the columns of texts, as Parquet names them."""
    plain = {"string": "", "list": _IN_LIST}
    return [f"{name}{plain[kind]}" for name, kind in _COLUMNS.items() if kind in plain]


def _spread(batch: Any, where: str) -> Any:
    """Return some rows with their texts in each, unless those come to too much."""
    arrow = parquet()
    fields = [schema().field(name) for name in batch.schema.names]
    total = 0
    for column, field in zip(batch.columns, fields, strict=True):
        texts = column.flatten() if arrow.types.is_list(field.type) else column
        if not arrow.types.is_dictionary(field.type) and hasattr(texts, "dictionary"):
            lengths = arrow.compute.binary_length(texts.dictionary)
            total += arrow.compute.sum(lengths.take(texts.indices)).as_py() or 0
    if total > _MOST_TEXT:
        raise FleetError(
            f"{total:,} bytes of text in {len(batch):,} rows",
            where=where,
            hint="more than an audit writes; audit again",
        )
    return batch.cast(arrow.schema(fields))


def _sound(batch: Any, where: str) -> Any:
    """Return some rows, unless there is in them what no audit writes."""
    batch.validate(full=True)
    names = batch.schema.names
    depths = batch.column("depth").dictionary.to_pylist() if "depth" in names else ()
    absent = [name for name in _ALWAYS if name in names and batch.column(name).null_count]
    if absent or not _DEPTHS.issuperset(depths):
        what = absent[0] if absent else "depth"
        raise FleetError(
            f"its column {what!r} is not what an audit writes", where=where, hint="audit again"
        )
    return batch


_ALWAYS = ("place", "inside", "size", "etag", "depth")
_DEPTHS = {str(depth) for depth in Depth}
