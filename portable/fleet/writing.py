"""The file of an audit while it grows: what was looked into is safe on the disk, part by part."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from portable.fleet.earlier import Known
from portable.fleet.rows import COUNT, OTHER, PART, Row, object_count, parquet, schema, table_of
from portable.fleet.subjects import FleetError
from portable.system.files import demand_output, file_error, write_through
from portable.system.holding import FolderBusy, hold
from portable.system.trees import remove_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from io import FileIO
    from typing import Self

__all__ = ["Audit", "Writer"]

_PART = 1000
"""How many objects are looked into before their rows are safe on the disk."""
_GROUP = 16_000
"""How many rows are in memory before they are written as a group of Parquet's."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The result of an audit.

    Args:
        objects: How many there are.
        unchanged: How many were known and are the same.
        artifacts: How many artifacts they hold.
        damaged: How many could not be read, in whole or in part.
        kinds: How many there are of each kind.
        expected: How many objects there may be in the end, by the earlier audit; None without one.
    """

    objects: int = 0
    unchanged: int = 0
    artifacts: int = 0
    damaged: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    expected: int | None = None

    def with_rows(self, rows: Any, objects: int, unchanged: int) -> Audit:
        """Count the rows of some more objects, a table of pyarrow."""
        compute = parquet().compute
        kind, error = (rows.column(name).cast("string") for name in ("kind", "error"))
        kinds = {pair["values"]: pair["counts"] for pair in compute.value_counts(kind).to_pylist()}
        good = compute.and_(compute.is_null(error), compute.not_equal(kind, OTHER))
        return Audit(
            self.objects + objects,
            self.unchanged + unchanged,
            self.artifacts + (compute.sum(good).as_py() or 0),
            self.damaged + len(error) - error.null_count,
            Counter(self.kinds) + Counter({kind or "unreadable": n for kind, n in kinds.items()}),
            self.expected,
        )

    def record(self) -> dict[str, object]:
        """Return it as plain data for JSON."""
        return {
            "objects": self.objects,
            "unchanged": self.unchanged,
            "artifacts": self.artifacts,
            "damaged": self.damaged,
            "kinds": dict(self.kinds),
        }


class Writer:
    """Writes a fleet file in the order in which it is given rows.

    What is new lies as Arrow's files in `TO.parts`, a folder for each try, until the file is whole:
    a try that was killed is read as what is known, as an earlier audit is. Of what is known
    nothing is kept there, since it lies where it was.

    Args:
        target: The Parquet file; replaced when the audit is complete.

    Attributes:
        earlier: The files of each earlier try, and that of the earlier audit.
        done: What was done so far.

    Raises:
        FleetError: Another audit writes it.
        FileError: It cannot be written.
    """

    def __init__(self, target: str) -> None:
        demand_output(target)
        self._target, self._folder = target, Path(f"{target}.parts")
        try:
            self._folder.mkdir(exist_ok=True)
            self._lock = hold(self._folder)
            tries = sorted(int(each.name) for each in self._folder.iterdir())
            self.earlier = [_parts(self._folder / str(number)) for number in tries]
            self._now = self._folder / str(tries[-1] + 1 if tries else 0)
            self._now.mkdir()
        except FolderBusy:
            raise FleetError("another audit writes it", where=target) from None
        except (OSError, ValueError) as error:
            raise file_error("write", error, self._folder) from error
        self.done = Audit()
        if Path(target).exists():
            self.earlier.append([target])
            self.done = Audit(expected=object_count(target))
        self._whole: Any = None
        self._part: list[list[Row] | Known] = []
        self._group: list[Any] = []
        self._objects = self._unchanged = self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._whole is not None:
            self._whole.close()
        if not self._count:  # nothing to go on from
            remove_tree(self._now)
            with contextlib.suppress(OSError):
                self._folder.rmdir()
        os.close(self._lock)  # lets another audit write

    def add(self, rows: list[Row] | Known, objects: int) -> bool:
        """Take the rows of the objects that follow.

        Args:
            rows: New ones, or what is known.
            objects: How many objects they are of.

        Returns:
            Whether a part became complete, and `done` has changed.
        """
        self._unchanged += objects * isinstance(rows, Known)
        self._objects += objects
        self._part.append(rows)
        if self._objects - self._unchanged < _PART and self._objects < _GROUP:
            return False
        self._end_part()
        return True

    def finish(self) -> Audit:
        """Write everything to its place, and remove the parts."""
        self._end_part()
        self._end_group()
        self._whole.add_key_value_metadata({COUNT: str(self.done.objects)})
        self._whole.close()
        with (self._now / _WHOLE).open("rb") as whole:
            write_through(self._target, lambda stream: shutil.copyfileobj(whole, stream))
        remove_tree(self._folder)
        return self.done

    def _end_part(self) -> None:
        """Keep what is new, and count everything."""
        # All at once: a table of one row costs as much as one of hundreds.
        new = table_of([row for rows in self._part if isinstance(rows, list) for row in rows])
        if new.num_rows:
            path = self._now / f"{self._count:08}{PART}"
            write_through(path, lambda stream: _write_part(stream, new))
            self._count += 1
        whole = _one([*_in_order(self._part, new)])
        self.done = self.done.with_rows(whole, self._objects, self._unchanged)
        self._objects = self._unchanged = 0
        self._part = []
        self._group.append(whole)
        if sum(map(len, self._group)) >= _GROUP:
            self._end_group()

    def _end_group(self) -> None:
        arrow = parquet()
        if self._whole is None:
            words = [one.name for one in schema() if arrow.types.is_dictionary(one.type)]
            self._whole = arrow.parquet.ParquetWriter(
                self._now / _WHOLE, schema(), compression="zstd", use_dictionary=words
            )
        self._whole.write_table(_one(self._group))
        self._group = []


_WHOLE = "whole.parquet"


def _write_part(stream: FileIO, rows: Any) -> None:
    with parquet().ipc.new_file(stream, schema()) as writer:
        writer.write_table(rows)


def _in_order(part: Sequence[list[Row] | Known], new: Any) -> Iterator[Any]:
    """Yield the tables of a part: what is known, and between it slices of what is new."""
    at = 0
    for is_known, some in itertools.groupby(part, lambda rows: isinstance(rows, Known)):
        if is_known:
            yield from (rows.rows() for rows in some if isinstance(rows, Known))
        else:
            count = sum(len(rows) for rows in some if isinstance(rows, list))
            yield new.slice(at, count)
            at += count


def _one(tables: list[Any]) -> Any:
    return parquet().concat_tables([schema().empty_table(), *tables]).unify_dictionaries()


def _parts(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.glob(f"*{PART}"))
