"""Questions about a fleet in SQL: `queries/NAME.sql`, whose first line says what it asks.

DuckDB sees neither files nor the network, only `fleet` (the artifacts), `everything` (with what
could not be read, and what is none), `windows` (until when upstream promises that a Version is
read) and `verdicts` (of the consumers, where some were named). The date is the variable `by_date`.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

from portable.errors import PortableError
from portable.fleet.plan import calendar
from portable.fleet.rows import OTHER, FleetError, columns_of, opened, parquet
from portable.fleet.subjects import read_subject
from portable.prediction import predict_all
from portable.verdict import Stage

if TYPE_CHECKING:
    import datetime
    import os
    from collections.abc import Callable, Iterator, Sequence

    from portable.releases import Release

__all__ = ["InvalidQuery", "ask", "query_names", "query_text"]


class InvalidQuery(PortableError):
    """There is no such query, or DuckDB refuses it."""


def query_names() -> dict[str, str]:
    """Return the queries by name, each with what it asks."""
    found = {}
    for file in sorted(_folder().iterdir(), key=lambda each: each.name):
        if file.name.endswith(".sql"):
            name = file.name.removesuffix(".sql")
            found[name] = query_text(name).partition("\n")[0].removeprefix("-- ")
    return found


def query_text(name: str) -> str:
    """Return the SQL of a query.

    Raises:
        InvalidQuery: There is none of that name.
    """
    file = _folder() / f"{name}.sql"
    if not name.replace("-", "").isalpha() or not file.is_file():
        valid = ", ".join(query_names()) if name else ""
        raise InvalidQuery(f"unknown query {name!r}", hint=f"valid: {valid}" if valid else None)
    text: str = file.read_text("utf-8")
    return text


def _folder() -> Any:
    return resources.files("portable.fleet") / "queries"


def ask(
    fleet: str | os.PathLike[str],
    sql: str,
    consumers: Sequence[Release] = (),
    *,
    by: datetime.date | None = None,
) -> tuple[tuple[str, ...], Iterator[tuple[object, ...]]]:
    """Query a fleet in SQL.

    Args:
        fleet: What `audit` wrote.
        sql: One statement.
        consumers: The consumers of the view `verdicts`; without them there is no such view.
        by: The value of `getvariable('by_date')`.

    Returns:
        The names of the columns, and the rows.

    Raises:
        FleetError: It is not a fleet file, or DuckDB is not installed.
        InvalidQuery: DuckDB refuses the statement, at once or over one of the rows.
    """
    duckdb, arrow = _duckdb(), parquet()
    connection = duckdb.connect(config={"enable_external_access": False})
    tables = {"everything": opened(fleet), "windows": _windows(arrow, fleet)}
    if consumers:
        tables["verdicts"] = _verdicts(arrow, fleet, consumers)
    for name, table in tables.items():
        connection.register(name, table)
    connection.execute(_ARTIFACTS)
    if by:
        connection.execute(f"SET VARIABLE by_date = DATE '{by.isoformat()}'")

    def asked(call: Callable[..., Any], *given: str) -> Any:
        try:
            return call(*given)
        except duckdb.Error as error:
            if tables["everything"].failed:
                raise tables["everything"].failed from None
            hint = None if consumers or "verdicts" not in str(error) else "name consumers (--for)"
            raise InvalidQuery(str(error).partition("\n")[0], hint=hint) from None

    answer = asked(connection.execute, sql)
    if answer is None:
        raise InvalidQuery("no statement")
    names = tuple(column[0] for column in answer.description)
    return names, iter(lambda: asked(answer.fetchone), None)


_ARTIFACTS = f"""
    CREATE TEMP VIEW fleet AS
    SELECT * FROM everything WHERE error IS NULL AND kind <> '{OTHER}'
"""  # noqa: S608 - a constant of ours


def _windows(arrow: Any, fleet: str | os.PathLike[str]) -> Any:
    rows = [
        {"claimed": str(one.version), "kind": one.kind, "until": one.until}
        for one in calendar(fleet)
    ]
    names = {"claimed": arrow.string(), "kind": arrow.string(), "until": arrow.date32()}
    return arrow.Table.from_pylist(rows, schema=arrow.schema(names.items()))


def _verdicts(arrow: Any, fleet: str | os.PathLike[str], consumers: Sequence[Release]) -> Any:
    subjects = {text for (text,) in columns_of(fleet, ("subject",)) if text}
    rows = []
    for text in subjects:
        for verdict in predict_all(read_subject(text), consumers):
            held = {"subject": text, "holds": verdict.holds(Stage.DECODE)}
            rows.append(held | {name: str(getattr(verdict, name)) for name in _TEXTS})
    names = {"subject": arrow.string(), "holds": arrow.bool_()}
    names |= dict.fromkeys(_TEXTS, arrow.string())
    return arrow.Table.from_pylist(rows, schema=arrow.schema(names.items()))


_TEXTS = ("consumer", "outcome", "stage", "says", "reason")


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise FleetError(
            "DuckDB is not installed", hint="pip install 'stablehlo-portable[fleet]'"
        ) from None
    return duckdb
