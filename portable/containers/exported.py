"""`jax.export.Exported`: a flatbuffer whose slot 13 is the artifact.

Derivatives that were exported with it are whole `Exported` tables inside, each with an artifact of
its own, named `vjp`, `vjp.vjp` and so on. Only the slots below are touched, so that versions
yet to come are read and rewritten as long as they keep these.

jax keeps writing what its older releases read, all but the narrow number of devices. An envelope
that is widened has both numbers, and the oldest serialization version.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from portable.containers.container import (
    Entry,
    MalformedContainer,
    Opener,
    TooLarge,
    demanded,
    shown,
)
from portable.containers.flatbuffer import Table, root, written, written_size
from portable.containers.kind import Kind
from portable.containers.rewriting import Rewritable
from portable.containers.source import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from portable.artifact import Artifact
    from portable.containers.container import Edits
    from portable.containers.source import Source

__all__ = ["Exported", "open_container"]

_VERSION, _DEVICES_SHORT, _MODULE, _CALLING_CONVENTION, _VJP, _DEVICES = 0, 6, 13, 14, 17, 18
_PLATFORMS, _DISABLED_CHECKS = 9, 12
# The number of the check that a platform is one of these; those of custom calls have others.
_OF_PLATFORM = 0
# jax knows four.
_MOST_PLATFORMS = 32
_SHARDINGS = (7, 8)
# Of one of them: what XLA, and what jax made of it. Where both are absent nothing is said.
_SHARDED = (1, 2)
# Slots that hold numbers, with their sizes; all others that are known refer to something.
_NUMBERS = {_VERSION: 2, _DEVICES_SHORT: 2, _CALLING_CONVENTION: 2, 16: 1, _DEVICES: 4}
_MOST_DEVICES = (1 << 15) - 1
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
# Measured on 2026-11-22: jax 0.4.30, 0.4.34, 0.4.35, 0.8.1, 0.11.1 and 0.12.0.1 called and derived
# what was widened of every layout.
_WIDE = (">=0.4.30", "")
_OLDEST = 2
# New tables stand in front; what is behind them keeps its alignment.
_ALIGNED = 16
# jax writes the order that was requested; names grow with it.
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


class Exported(Rewritable):
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
        if number > _NEWEST:
            opens, refuses = "", ""
        else:
            opens, refuses = _WIDE if _is_wide(outer) else _OPENED[layout]
        self.opener: Opener | None = _opener(opens, refuses, f"of layout {layout}")
        self.warnings = tuple(_odd(number, outer.slots))
        self.files: tuple[str, ...] = ()

    __repr__ = shown

    def artifacts(self) -> tuple[Entry, ...]:
        """Return the artifact of the function, then those of its derivatives."""
        return tuple(
            Entry(
                part.name,
                self._source,
                part.start,
                part.stop,
                {
                    "calling convention": str(part.table.number(_CALLING_CONVENTION, 2) or 0),
                    **({"platforms": ", ".join(platforms)} if platforms else {}),
                },
                opener=self.opener and replace(self.opener, platforms=platforms),
            )
            for part in self._parts
            for platforms in (_platforms(part.table),)
        )

    def widened(self) -> Opener | str:
        """Return who opens a copy with both numbers of devices, or why there is none."""
        for part in self._parts:
            table = part.table
            if table.slots > _MOST_SLOTS or (table.number(_VERSION, 2) or 0) > _NEWEST:
                return f"its envelope is newer than serialization version {_NEWEST}"
            if _devices(table) > _MOST_DEVICES:
                return f"older releases of jax know at most {_MOST_DEVICES} devices"
            if any(table.any_has(one, how) for one in _SHARDINGS for how in _SHARDED):
                return "its shardings are written in a form that not all releases of jax know"
        return _opener(*_WIDE, "with both numbers of devices")

    def edits(
        self,
        artifacts: Mapping[str, bytes | Artifact],
        *,
        texts: Mapping[str, str] = {},  # noqa: ARG002 - an Exported keeps no text
        widen: bool = False,
    ) -> Edits:
        """Return what writes a copy with other artifacts inside. As `Container.edits`.

        An artifact that is not larger takes the place of the old one, a larger one goes to the end
        of the file: everything else stays where it is, whatever version of jax put it there.
        """
        new = demanded(self, artifacts)
        size = len(self._source)
        edits: list[Edit] = []
        behind: list[Edit] = []
        places: dict[str, int] = {}
        for part in self._parts:
            places[part.name] = part.start - _LENGTH
            if part.name in new:
                end = size + sum(len(edit.data) for edit in behind)
                here, appended = _edits(part, new[part.name], end)
                edits += here
                behind += [Edit(size, size, data) for data in appended]
                if appended:
                    places[part.name] = end + -end % _LENGTH
        end = size + sum(len(edit.data) for edit in behind)
        if widen:
            front = _widened(self._parts, places)
            edits.append(front)
            end += len(front.data) + front.zeros - _LENGTH
        if end > _LARGEST:
            raise TooLarge(f"{end} bytes exceed the {_LARGEST} of a flatbuffer", where=self.path)
        return {"": partial(self._source.write, edits + behind)}


def _platforms(table: Table) -> tuple[str, ...]:
    """Return for which platforms a function was exported; none where jax does not look at them."""
    if _OF_PLATFORM in table.numbers(_DISABLED_CHECKS, 0):
        return ()
    return tuple(table.strings(_PLATFORMS, _MOST_PLATFORMS))


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


def _widened(parts: tuple[_Part, ...], places: Mapping[str, int]) -> Edit:
    """Return the new tables, in front of everything that they refer to.

    Args:
        parts: The old ones, from the outermost.
        places: Where the artifacts will stand in a file without new tables.
    """
    own = [{s for s in range(part.table.slots) if part.table.has(s)} for part in parts]
    sizes = [written_size(slots | {_VERSION, _DEVICES_SHORT, _DEVICES}) for slots in own]
    starts = [*itertools.accumulate(sizes, initial=_LENGTH)]
    shift = starts[-1] - _LENGTH
    shift += -shift % _ALIGNED
    data = _LENGTH.to_bytes(_LENGTH, "little")
    for number, (part, slots) in enumerate(zip(parts, own, strict=True)):
        table = part.table
        devices = _devices(table)
        numbers = {s: table.number(s, size) or 0 for s, size in _NUMBERS.items() if s in slots}
        numbers |= {_VERSION: _OLDEST, _DEVICES_SHORT: devices, _DEVICES: devices}
        references = {s: table.target(s) + shift for s in slots - numbers.keys()}
        references[_MODULE] = places[part.name] + shift
        if _VJP in slots:
            references[_VJP] = starts[number + 1]
        data += written(starts[number], numbers, references)
    return Edit(0, _LENGTH, data, zeros=_LENGTH + shift - len(data))


def _devices(table: Table) -> int:
    return table.number(_DEVICES, 4) or table.number(_DEVICES_SHORT, 2) or 0


def _is_wide(table: Table) -> bool:
    both = table.has(_DEVICES) and table.has(_DEVICES_SHORT)
    return both and table.number(_VERSION, 2) == _OLDEST


def _opener(opens: str, refuses: str, form: str) -> Opener:
    return Opener("jax", opens, refuses, f"{Kind.EXPORTED} {form}")


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
