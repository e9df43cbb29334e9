"""Observations kept in one sqlite file, so that a second run only does what is new."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from portable.errors import PortableError
from portable.escaping import one_line
from portable.matrix.batch import Observation
from portable.matrix.document import diagnostics
from portable.runtime.environments import Environments
from portable.system.files import read_file
from portable.system.places import demand_own
from portable.verdict import Basis, Outcome, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from portable.matrix.item import Item

__all__ = ["Key", "Store", "StoreUnusable", "default_path", "key"]

WORKER_SCHEMA = 1
"""Raise it when a worker's answer to the same job comes to mean something else."""

_LAYOUT = 1
_PATIENCE_S = 60.0
_COLUMNS = """
    digest TEXT NOT NULL, inputs TEXT NOT NULL,
    release TEXT NOT NULL, stage INTEGER NOT NULL, schema INTEGER NOT NULL,
    outcome TEXT NOT NULL, reached INTEGER NOT NULL, reason TEXT NOT NULL,
    diagnostics TEXT NOT NULL, note TEXT NOT NULL, seconds REAL NOT NULL,
    {}
    PRIMARY KEY (release, stage, schema, digest, inputs)
) WITHOUT ROWID
"""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS observation (" + _COLUMNS.format(""),
    # What was observed where nothing was compared, and what was computed.
    "CREATE TABLE IF NOT EXISTS judgement (" + _COLUMNS.format("outputs BLOB NOT NULL,"),
)
_FIND = (
    "SELECT digest, inputs, outcome, reached, reason, diagnostics, note, seconds"
    " FROM {} WHERE release = ? AND stage = ? AND schema = ?"
)
_OTHERS = "SELECT type FROM sqlite_master WHERE type NOT IN ('table', 'index')"
# What sqlite says, and values that are none of ours, of any type and nesting.
_DAMAGED = (sqlite3.Error, OSError, ValueError, TypeError, KeyError, RecursionError)
_KEEP = "INSERT OR REPLACE INTO {} VALUES ({})"


class StoreUnusable(PortableError):
    """The file of observations cannot be read or written."""


class Store:
    """A file of observations. Two runs may use it at once.

    Args:
        path: The file, made if it is missing; `:memory:` keeps nothing.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        with self._errors():
            if self.path != ":memory:":
                Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, timeout=_PATIENCE_S)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def find(
        self, release: str, stage: Stage, wanted: Collection[Key], *, judging: bool = False
    ) -> dict[Key, Observation]:
        """Return what is known of one Release.

        Args:
            release: The Release.
            stage: The Stage that was requested.
            wanted: Which artifacts, see `key`.
            judging: Whether outputs are requested, see `outputs`.

        Returns:
            The Observations that there are.
        """
        query = _FIND.format("judgement" if judging else "observation")
        with self._errors():
            rows = self._connection.execute(query, (release, stage, WORKER_SCHEMA))
            return {
                Key(*row[:2]): _observation(release, row[2:]) for row in rows if row[:2] in wanted
            }

    def outputs(self, release: str, wanted: Key) -> bytes:
        """Return what a Release computed, as it was kept.

        Args:
            release: The Release.
            wanted: Which artifact; one that `find` returns for `judging`.

        Returns:
            An `.npz`; nothing where it failed.
        """
        query = (
            "SELECT outputs FROM judgement WHERE (release, schema, digest, inputs) = (?, ?, ?, ?)"
        )
        with self._errors():
            row = self._connection.execute(query, (release, WORKER_SCHEMA, *wanted)).fetchone()
            if row and not isinstance(row[0], bytes):
                raise TypeError("outputs that are no bytes")
        return row[0] if row else b""

    def keep(
        self,
        release: str,
        stage: Stage,
        observed: Mapping[Key, Observation],
        *,
        judging: bool = False,
    ) -> None:
        """Keep what a Release did; where there is no Verdict there is nothing to keep.

        Args:
            release: The Release.
            stage: The Stage that was requested.
            observed: What it did with each artifact.
            judging: As for `find`.
        """
        rows = [
            (*name, release, int(stage), WORKER_SCHEMA, *_fields(seen.verdict, seen))
            + ((seen.outputs,) if judging else ())
            for name, seen in observed.items()
            if seen.verdict is not None
        ]
        if rows:
            table, marks = "judgement" if judging else "observation", ", ".join("?" * len(rows[0]))
            with self._errors(), self._connection:
                self._connection.executemany(_KEEP.format(table, marks), rows)

    def _prepare(self) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in {0, _LAYOUT}:
            raise StoreUnusable(
                f"was written by a newer portable (layout {version}, known is {_LAYOUT})",
                where=self.path,
                hint="choose another file with --cache",
            )
        # What computes may have no end, or change what is kept: ours has tables alone.
        kinds = self._connection.execute(_OTHERS)
        for (kind,) in kinds:
            raise StoreUnusable(
                f"has a {kind}, and is none that portable wrote",
                where=self.path,
                hint="choose another file with --cache",
            )
        self._connection.execute("PRAGMA journal_mode = WAL")
        with self._connection:
            for table in _TABLES:
                self._connection.execute(table)
            self._connection.execute(f"PRAGMA user_version = {_LAYOUT}")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except StoreUnusable:
            raise
        except (*_DAMAGED, PortableError) as error:
            raise StoreUnusable(
                f"cannot keep observations: {one_line(str(error), 200)}",
                where=self.path,
                hint="remove it, or choose another file with --cache",
            ) from error


def default_path() -> Path:
    """Return the file of observations beside the environments.

    Raises:
        ForeignCache: Somebody else could have written it.
    """
    folder = Environments().directory.parent
    demand_own(folder, folder / "observations.sqlite")
    return folder / "observations.sqlite"


class Key(NamedTuple):
    """What an Observation is kept under, besides Release and Stage.

    Args:
        digest: Of the artifact.
        inputs: Of the inputs, the expected outputs and the tolerance; empty where nothing is
            executed.
    """

    digest: str
    inputs: str


def key(item: Item, stage: Stage) -> Key:
    """Return what the Observations of an artifact are kept under.

    Args:
        item: The artifact.
        stage: The Stage; only executing depends on inputs and on what is expected.

    Returns:
        The key.
    """
    if stage < Stage.EXECUTE or item.inputs is None:
        return Key(item.digest, "")
    near = f"{item.relative!r} {item.absolute!r}" + (f" {item.ulps}" if item.ulps else "")
    digest = hashlib.sha256(f"{near}{item.unjudged}".encode())
    for tensor in (*item.inputs, *item.expected):
        digest.update(f" {tensor.dtype} ".encode() + read_file(tensor.path))
    return Key(item.digest, digest.hexdigest())


def _fields(verdict: Verdict, seen: Observation) -> tuple[object, ...]:
    told = json.dumps([one.record() for one in verdict.diagnostics]) if verdict.diagnostics else ""
    outcome, reached = str(verdict.outcome), int(verdict.stage)
    return (outcome, reached, verdict.reason, told, seen.note, round(seen.seconds, 6))


_TYPES = [str, int, str, str, str, float]


def _observation(release: str, row: tuple[str, int, str, str, str, float]) -> Observation:
    outcome, reached, reason, told, note, seconds = row
    if [type(one) for one in row] != _TYPES:
        raise TypeError("a value of another type")
    heard = diagnostics(json.loads(told)) if told else ()
    verdict = Verdict(release, Outcome(outcome), Stage(reached), Basis.OBSERVED, reason, heard)
    return Observation(verdict, note, seconds)
