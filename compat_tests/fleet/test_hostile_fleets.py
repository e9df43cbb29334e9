"""What somebody else wrote as the file of an audit: one line of error, and nothing outside."""

import contextlib
import json
import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from portable.bundle import pack_files
from portable.cli import main
from portable.fleet import ask, audit
from portable.fleet.rows import schema

DATA = Path(__file__).parents[1] / "data"
ARTIFACTS = sorted((DATA / "artifacts").glob("*.mlir.bc"))[:3]
VERSIONS = [DATA / "artifacts" / f"add_f32+{version}.mlir.bc" for version in ("0.9.0", "1.17.0")]

WANTS = ["--for", "jaxlib==0.4.30"]
MOVE = ["--from", "jaxlib==0.4.30", "--to", "jaxlib==0.10.2"]
COMMANDS = {
    "plan": ["plan", "FLEET", *MOVE, "--report", "plan.html"],
    "calendar": ["plan", "FLEET", "--today", "--report", "calendar.html"],
    "gate": ["gate", "FLEET", *WANTS],
    "repin-all": ["repin-all", "FLEET", *WANTS, "-o", "out/pinned"],
    "again": ["audit", "models", "-o", "FLEET", "--depth", "content"],
    "query": ["audit", "FLEET", "--query", "unread", *WANTS],
}
NAMES = (
    "", "\0", "a\0b", "/", "..", "../../x", "/x/../../y", "s3://", "s3:///", "s3://b/../../x",
    "http://[", "file://", "hf://", "x" * 5000, "://", "bundle", "\n::error::x", "\x1b[31m",
    "=1+1", "99999999999999999999.1.1", "-1.2.3", "{}", "[]", "null", "1", '{"a": 1}',
    '{"1.0.0": 1}', '{"1.0.0": ["x", 1]}', "9" * 5000, "\u202e",
)  # fmt: skip
TYPES = (
    pyarrow.string(), pyarrow.int64(), pyarrow.binary(), pyarrow.null(),
    pyarrow.list_(pyarrow.int32()), pyarrow.float64(), pyarrow.struct([("a", pyarrow.int32())]),
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, 1, -1, float("inf"), float("nan"), True, "", "x", "\ud800", [], {}, [None], [[]],
    [[1, 2, 3]], [["a", "b", "c"]], [{}], {"a": 1}, [1], "1.0.0", 10**30, 10**5000,
    [["x", "1.0.0", "2.0.0", "r"]], [["op", "x", "1.0.0"]], [["op", [1], "1.0.0"]],
    ["jax", 1, 2, 3, 4], [["a"], ["b"], [1]], ["jax", [[1]], {}, 5, "x"],
)  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> pyarrow.Table:
    """Return what an audit of some artifacts, a container and a bundle wrote."""
    models = tmp_path_factory.mktemp("sound") / "models"
    models.mkdir()
    for path in (*ARTIFACTS, DATA / "containers" / "gate-vjp0-jax-0.10.2.exported"):
        (models / path.name).write_bytes(path.read_bytes())
    pack_files(VERSIONS, to=models / "bundle")
    audit([str(models)], models.parent / "fleet.parquet", depth="content")
    return pyarrow.parquet.read_table(models.parent / "fleet.parquet")


def _columns(rows: list[dict[str, Any]], column: str, values: list[object]) -> list[pyarrow.Table]:
    """Put values into one column, of one row and of all in turn."""
    found = []
    for number, value in enumerate(values):
        count = len(rows) if number % 2 else 1
        changed = [row | {column: value} for row in rows[:count]] + rows[count:]
        found.append(pyarrow.Table.from_pylist(changed, schema=schema()))
    return found


def _typed(rows: list[dict[str, Any]], column: str) -> list[pyarrow.Table]:
    """Leave a column out, and write it in other types."""
    others = [field for field in schema() if field.name != column]
    found = [pyarrow.schema(others)]
    for kind in TYPES:
        fields = [
            pyarrow.field(one.name, kind if one.name == column else one.type) for one in schema()
        ]
        found.append(pyarrow.schema(fields))
    without = [{key: value for key, value in row.items() if key != column} for row in rows]
    return [
        pyarrow.Table.from_pylist(without, schema=one.with_metadata(schema().metadata))
        for one in found
    ]


def _of_column(rows: list[dict[str, Any]], column: str) -> list[pyarrow.Table]:
    kind = schema().field(column).type
    if pyarrow.types.is_string(kind) or pyarrow.types.is_dictionary(kind):
        values: list[object] = [None, *NAMES]
    elif pyarrow.types.is_integer(kind):
        values = [None, 0, -1, (1 << 31) - 1]
    else:
        values = [None, [], [None], ["\x1b[31m\n"]]
    return _columns(rows, column, values) + _typed(rows, column)


def _of_subject(rows: list[dict[str, Any]], key: str) -> list[pyarrow.Table]:
    """Put values into one field of each Subject, and leave it out."""
    found = []
    for value in (*VALUES, KeyError):
        changed = []
        for row in rows:
            subject = json.loads(row["subject"]) if row["subject"] else {}
            if key in subject:
                subject.pop(key)
                fields = [f'"{name}": {json.dumps(one)}' for name, one in subject.items()]
                if value is not KeyError:
                    huge = isinstance(value, int) and value > 10**40
                    fields.append(f'"{key}": {"9" * 5000 if huge else json.dumps(value)}')
                changed.append(row | {"subject": "{" + ", ".join(fields) + "}"})
            else:
                changed.append(row)
        found.append(pyarrow.Table.from_pylist(changed, schema=schema()))
    return found


def _of_bytes(rows: list[dict[str, Any]], column: str) -> list[pyarrow.Table]:
    """Write texts that are no UTF-8."""
    table = pyarrow.Table.from_pylist(rows, schema=schema())
    wrong = pyarrow.array([b"\xff\xfe"] * len(rows), pyarrow.binary()).view(pyarrow.string())
    if pyarrow.types.is_dictionary(schema().field(column).type):
        wrong = pyarrow.DictionaryArray.from_arrays(
            pyarrow.array([0] * len(rows), "int32"), wrong[:1]
        )
    return [table.set_column(table.schema.get_field_index(column), schema().field(column), wrong)]


_TEXTS = [
    one.name for one in schema() if str(one.type) == "string" or "dictionary" in str(one.type)
]
_FIELDS = (
    "claimed", "format", "required", "features", "removed", "forms", "present", "kinds",
    "custom_calls", "signatures", "unknown", "opener", "too_deep",
)  # fmt: skip
CHANGES: dict[str, Callable[[list[dict[str, Any]]], list[pyarrow.Table]]] = {
    **{f"column-{name}": partial(_of_column, column=name) for name in schema().names},
    **{f"subject-{name}": partial(_of_subject, key=name) for name in _FIELDS},
    **{f"bytes-{name}": partial(_of_bytes, column=name) for name in _TEXTS},
    "order": lambda rows: [pyarrow.Table.from_pylist(rows[::-1] * 2, schema=schema())],
    "nothing": lambda _: [schema().empty_table()],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_fleet_of_somebody_else_is_one_line(
    change: str,
    sound: pyarrow.Table,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every column and every field of a Subject, with what an audit does not write."""
    here = tmp_path / "a" / "b"
    (here / "models").mkdir(parents=True)
    (here / "models" / "x.mlir.bc").write_bytes(ARTIFACTS[0].read_bytes())
    monkeypatch.chdir(here)
    for number, table in enumerate(CHANGES[change](sound.to_pylist())):
        for command in list(COMMANDS)[number % 3 :: 3]:
            pyarrow.parquet.write_table(table, "fleet.parquet")
            words = [word.replace("FLEET", "fleet.parquet") for word in COMMANDS[command]]
            code, told = main(words), capsys.readouterr()
            assert code in {0, 1, 2}
            assert "internal error" not in told.err, (number, command)
            assert {"\x1b", "\0", "\u202e"}.isdisjoint(told.out + told.err), (number, command)
            assert told.err.count("\n") < 3, (number, command)
    assert {path.name for path in tmp_path.iterdir()} == {"a"}
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"b"}


def _many_rows(table: pyarrow.Table) -> pyarrow.Table:
    return table.take(pyarrow.array([0] * 2_000_000, "int32"))


def _long_texts(table: pyarrow.Table) -> pyarrow.Table:
    at = table.schema.get_field_index("error")
    texts = pyarrow.array(["y" * 5_000_000] * len(table))
    long = table.set_column(at, schema().field("error"), texts)
    return pyarrow.concat_tables([long] * 20)


@pytest.mark.parametrize("unpacking", [_many_rows, _long_texts])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_fleet_that_unpacks_to_much_is_refused(
    unpacking: Callable[[pyarrow.Table], pyarrow.Table],
    command: str,
    sound: pyarrow.Table,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Before it is unpacked: 40 kB came to 4.5 GB, and 2 MB took minutes."""
    (tmp_path / "models").mkdir()
    table = unpacking(sound.cast(schema()))
    pyarrow.parquet.write_table(table, tmp_path / "fleet.parquet", compression="zstd")
    began = time.process_time()
    with contextlib.chdir(tmp_path):
        code = main([word.replace("FLEET", "fleet.parquet") for word in COMMANDS[command]])
    assert code == 2
    assert "that unpack to" in capsys.readouterr().err
    assert time.process_time() - began < 5


def test_a_name_of_a_column_that_is_no_text_is_one_line(
    sound: pyarrow.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Pyarrow decodes the names of columns before it says what is wrong with them."""
    path = tmp_path / "fleet.parquet"
    pyarrow.parquet.write_table(sound, path)
    data = path.read_bytes()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    path.write_bytes(data[:start] + data[start:].replace(b"fingerprint", b"fing\x80rprint"))
    assert main(["audit", str(path), "--query", "damaged"]) == 2
    assert "internal error" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("column", "asks"),
    [
        ("digest", "SELECT digest FROM everything WHERE digest = '{}'"),
        ("place", "SELECT place FROM everything WHERE place = '{}'"),
        ("etag", "SELECT etag FROM everything WHERE etag >= '{}' AND size > 0"),
    ],
)
def test_a_file_that_lies_about_its_rows_hides_none(
    column: str, asks: str, sound: pyarrow.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By least and greatest values that are too small readers skip the rows that are looked for."""
    path = tmp_path / "fleet.parquet"
    pyarrow.parquet.write_table(sound, path)
    said = [one for one in sound[column].to_pylist() if one]
    least, most = min(said), max(said)
    data = path.read_bytes()
    start = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    footer = data[start:].replace(most.encode(), least[:1].encode() * len(most))
    assert footer != data[start:]
    path.write_bytes(data[:start] + footer)
    assert main(["audit", str(path), "--sql", asks.format(most)]) == 0
    assert most in capsys.readouterr().out


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM everything",
        "SELECT kind, count(*) FROM fleet WHERE size > 200 OR claimed = '1.17.0' GROUP BY kind",
        "SELECT a.place FROM fleet a JOIN everything b USING (digest) WHERE len(b.features) >= 0",
        "SELECT * FROM fleet WHERE error IS NULL AND format IN (5, 6) ORDER BY place",
    ],
)
def test_rows_are_asked_as_in_a_table(sql: str, sound: pyarrow.Table, tmp_path: Path) -> None:
    """Whichever columns and conditions DuckDB hands on, compared with a table in memory."""
    path = tmp_path / "fleet.parquet"
    pyarrow.parquet.write_table(sound, path)
    connection = duckdb.connect()
    connection.register("everything", sound)
    connection.execute(
        "CREATE VIEW fleet AS SELECT * FROM everything WHERE error IS NULL AND kind <> 'other'"
    )
    told = connection.execute(sql).fetchall()
    assert sorted(map(str, ask(path, sql)[1])) == sorted(map(str, told))


def _repeating(column: str, rows: int, sound: pyarrow.Table, path: Path) -> None:
    """Write one text of 100 kB that each of many rows has, once into the file."""
    table = pyarrow.concat_tables([sound.slice(0, 1).cast(schema())] * rows)
    texts = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0] * rows, "int32"), pyarrow.array(["y" * 100_000])
    )
    if pyarrow.types.is_list(schema().field(column).type):
        texts = pyarrow.ListArray.from_arrays(pyarrow.array(range(rows + 1), "int32"), texts)
    at = table.schema.get_field_index(column)
    table = table.set_column(at, pyarrow.field(column, texts.type), texts)
    _write_plain(table, path)


def _write_plain(table: pyarrow.Table, path: Path) -> None:
    """Write a fleet file whose texts need not be as an audit has them, but for how it is marked."""
    pyarrow.parquet.write_table(schema().empty_table(), path)
    said = pyarrow.parquet.read_metadata(path).metadata
    plain = table.replace_schema_metadata(None)
    with pyarrow.parquet.ParquetWriter(path, plain.schema, store_schema=False) as writer:
        writer.write_table(plain)
        writer.add_key_value_metadata({key.decode(): said[key].decode() for key in said})


@pytest.mark.parametrize(
    "column",
    [one.name for one in schema() if not str(one.type).startswith(("int", "dictionary"))],
)
def test_one_text_in_many_rows_is_refused(
    column: str, sound: pyarrow.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of 10 kB took 3 GB: a text that is there once came to a gigabyte."""
    path = tmp_path / "fleet.parquet"
    _repeating(column, 10_000, sound, path)
    assert path.stat().st_size < 40_000
    asked = f"SELECT max(length({column}::VARCHAR)) FROM everything"  # noqa: S608 - a name of ours
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert main(["audit", str(path), "--sql", asked]) == 2
    said = capsys.readouterr().err
    assert "bytes of text in 10,000 rows" in said
    assert "Traceback" not in said
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 << 10


def test_lists_of_many_texts_are_refused(
    sound: pyarrow.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of one row: 9 kB came to 2.5 GB, though they hold no text at all."""
    path, count = tmp_path / "fleet.parquet", 40_000_000
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(count, "int32")), [""])
    lists = pyarrow.ListArray.from_arrays(pyarrow.array([0, count], "int32"), texts)
    row = sound.slice(0, 1).cast(schema())
    at = row.schema.get_field_index("leaks")
    _write_plain(row.set_column(at, pyarrow.field("leaks", lists.type), lists), path)
    assert path.stat().st_size < 30_000
    assert main(["audit", str(path), "--sql", "SELECT len(leaks) FROM everything"]) == 2
    assert "that unpack to lists of 40,000,0" in capsys.readouterr().err
