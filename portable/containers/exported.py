"""`jax.export.Exported`: a flatbuffer whose slot 13 is the artifact.

Derivatives that were exported with it are whole `Exported` tables inside, each with an artifact of
its own, named `vjp`, `vjp.vjp` and so on. Only the slots below are touched, so that versions
yet to come are read and rewritten as long as they keep these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from portable.containers.container import Entry, MalformedContainer, Opener, TooLarge, demanded
from portable.containers.flatbuffer import Table, root
from portable.containers.kind import Kind
from portable.containers.source import Edit

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from portable.artifact import Artifact
    from portable.containers.source import Source

__all__ = ["Exported", "open_container"]

_VERSION, _DEVICES_SHORT, _MODULE, _CALLING_CONVENTION, _VJP = 0, 6, 13, 14, 17
_NEWEST, _MOST_SLOTS = 12, 27
# Measured on 2026-11-21: 13 releases of jax from 0.4.30 to 0.12.0.1 opened, called and derived
# what ten of them wrote; that 0.4.35 was the first to read 3 its source says.
_OPENED = {  # layout -> the releases that open it, and those that do not
    2: (">=0.4.30,<0.11.1", ">=0.11.1"),  # which takes it for too old
    5: (">=0.4.35", "<0.4.35"),
    8: (">=0.8.2", "<0.8.2"),  # before, the number of devices reads as 0
    10: (">=0.8.2", "<0.8.2"),
    12: (">=0.8.2", "<0.8.2"),
}
# jax writes the order that was asked for; nobody asks for more, and names grow with it.
_DEEPEST = 16
# Offsets are signed 32-bit numbers in some readers.
_LARGEST = (1 << 31) - 1
_LENGTH = 4


@dataclass(frozen=True, slots=True)
class _Part:
    """One `Exported` table: its name, and where its artifact lies."""

    name: str
    table: Table
    start: int
    stop: int


class Exported:
    """What `jax.export.Exported.serialize` wrote. As `Container` describes."""

    kind = Kind.EXPORTED

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self._source = source
        try:
            self._parts = tuple(_parts(root(source)))
            _demand_apart(self._parts)
        except MalformedContainer as error:
            raise error.at(source.path) from None
        outer = self._parts[0].table
        number = outer.number(_VERSION, 2) or 0
        layout = _layout(outer)
        self.versions: Mapping[str, str] = {"serialization": str(number), "layout": str(layout)}
        opens, refuses = ("", "") if number > _NEWEST else _OPENED[layout]
        self.opener: Opener | None = Opener(
            "jax", opens, refuses, f"{self.kind} of layout {layout}"
        )
        self.warnings = tuple(_odd(number, outer.slots))
        self.files: tuple[str, ...] = ()

    def artifacts(self) -> tuple[Entry, ...]:
        """Return the artifact of the function, then those of its derivatives."""
        return tuple(
            Entry(
                part.name,
                self._source,
                part.start,
                part.stop,
                {"calling convention": str(part.table.number(_CALLING_CONVENTION, 2) or 0)},
            )
            for part in self._parts
        )

    def replace(
        self,
        artifacts: Mapping[str, bytes | Artifact],
        *,
        to: str | os.PathLike[str],
        texts: Mapping[str, str] = {},  # noqa: ARG002 - an Exported keeps no text
    ) -> None:
        """Write a copy with other artifacts inside. As `Container.replace`.

        An artifact that is not larger takes the place of the old one, a larger one goes to the end
        of the file: everything else stays where it is, whatever version of jax put it there.
        """
        from portable.containers.copying import write_beside  # noqa: PLC0415 - cold start

        new = demanded(self, artifacts)
        size = len(self._source)
        edits: list[Edit] = []
        behind: list[Edit] = []
        for part in self._parts:
            if part.name in new:
                end = size + sum(len(edit.data) for edit in behind)
                here, appended = _edits(part, new[part.name], end)
                edits += here
                behind += [Edit(size, size, data) for data in appended]
        end = size + sum(len(edit.data) for edit in behind)
        if end > _LARGEST:
            raise TooLarge(f"{end} bytes; a flatbuffer has at most {_LARGEST}", where=self.path)
        edits += behind
        write_beside(self.path, to, partial(self._source.write, edits))


def open_container(source: Source) -> Exported:
    """Open a serialized `Exported`.

    Args:
        source: The file.

    Raises:
        MalformedContainer: It is damaged.
    """
    return Exported(source)


def _parts(table: Table | None) -> Iterator[_Part]:
    name = "primal"
    for _ in range(_DEEPEST):
        if table is None:
            return
        place = table.vector(_MODULE)
        if place is None:
            raise MalformedContainer(f"{name} has no artifact", table.ranges[0][0])
        yield _Part(name, table, *place)
        table = table.table(_VJP)
        name = "vjp" if name == "primal" else f"{name}.vjp"
    raise MalformedContainer(f"derivatives nested deeper than {_DEEPEST}")


def _demand_apart(parts: tuple[_Part, ...]) -> None:
    """Refuse artifacts that overlap each other or a table: replacing one would change the other."""
    artifacts = [(part.start - _LENGTH, part.stop) for part in parts]
    tables = {span for part in parts for span in part.table.ranges}
    for number, (start, stop) in enumerate(artifacts):
        for other, end in (*artifacts[:number], *tables):
            if start < end and other < stop:
                raise MalformedContainer("an artifact overlaps something else", start)


def _edits(part: _Part, data: bytes, end: int) -> tuple[list[Edit], list[bytes]]:
    """Return what changes for one artifact, and what is appended to a file of `end` bytes."""
    length, size = len(data).to_bytes(_LENGTH, "little"), part.stop - part.start
    if len(data) <= size:
        # Two edits, so that the bytes are not joined to their length by copying them.
        there = Edit(part.start, part.stop, data, zeros=size - len(data))
        return [Edit(part.start - _LENGTH, part.start, length), there], []
    at = part.table.field(_MODULE)
    padding = -end % _LENGTH
    offset = (end + padding - at).to_bytes(_LENGTH, "little")
    gone = Edit(part.start - _LENGTH, part.stop, zeros=_LENGTH + size)
    return [Edit(at, at + _LENGTH, offset), gone], [bytes(padding) + length, data]


def _layout(table: Table) -> int:
    """Return the first serialization version that has the fields which are there.

    From 0.8.2 to 0.11.0 jax wrote 3 as its version, whatever it wrote.
    """
    if table.slots < 19:
        return 2
    if table.slots < 26:
        # The number of devices got a wider field in 5; 8 was the first without the narrow one.
        return 5 if table.has(_DEVICES_SHORT) else 8
    return 10 if table.slots < _MOST_SLOTS else 12


def _odd(number: int, slots: int) -> Iterator[str]:
    if number > _NEWEST or slots > _MOST_SLOTS:
        yield (
            f"serialization version {number} with {slots} fields is newer than {_NEWEST}, the "
            "newest known here; its artifacts were found by the layout of that one"
        )
    if number < 2:
        yield f"serialization version {number} was never released"
