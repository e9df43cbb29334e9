"""Artifacts with a property of an op that is an attribute of another kind than the op's.

Each is an artifact of the corpus, in which one number is another: that of an attribute which has
been added behind the others.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from compat_tests.adversarial.generators.kinds import Kind, Pool, kinds
from compat_tests.adversarial.generators.use_lists import program
from compat_tests.helpers.bytecode_writer import operation, section, varint
from portable.bytecode import read, read_header
from portable.bytecode.encoding import Cursor
from portable.bytecode.entries import ATTRIBUTES, TYPES
from portable.bytecode.header import HEADER_BYTES
from portable.bytecode.layouts import VHLO
from portable.bytecode.tables import Format, Section
from portable.bytecode.vhlo import op, ops

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.bytecode import Bytecode

__all__ = ["Property", "artifacts", "needless", "samples"]

CORPUS = Path(__file__).parents[3] / "corpus"
_LARGEST = 20_000


class Property(NamedTuple):
    """A property of an op of VHLO."""

    op: str
    field: str

    def __str__(self) -> str:
        return f"{self.op}.{self.field}"


@cache
def samples() -> dict[str, bytes]:
    """Return for each op of VHLO that has properties the oldest artifact of the corpus with it."""
    ranked = []
    for path in CORPUS.rglob("artifacts/*.mlir.bc"):
        size = path.stat().st_size
        if size <= _LARGEST:
            with path.open("rb") as stream:
                header = read_header(stream.read(HEADER_BYTES))
            if header.version and header.format >= Format.ODS_PROPERTIES:
                ranked.append((header.version, size, str(path)))
    missing = {name.encode() for name, form in ops().items() if form.attributes}
    found = {}
    for _, _, place in sorted(ranked):
        data = Path(place).read_bytes()
        # Names stand in artifacts as they are; most have none that is missing.
        if any(name in data for name in missing):
            names = {one.name.encode() for one in read(data).names if one.dialect == VHLO}
            found.update({name.decode(): data for name in names & missing})
            missing -= names
    return dict(sorted(found.items()))


def _sections(data: bytes) -> dict[Section, bytes]:
    cursor = Cursor(data, read_header(data).length, len(data))
    found = {}
    while not cursor.done():
        number, content = cursor.section()
        found[Section(number)] = data[content.position : content.end]
    return found


class _Sample:
    """An artifact with every kind of attribute added to it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.content: Bytecode = read(data)
        pool = self.content.pool
        added = Pool(len(pool.types), len(pool.attributes))
        self.numbers = {kind: added.right(kind) for kind in kinds(ATTRIBUTES)}
        self._sections = _sections(data)
        self._sections[Section.ATTRIBUTE_TYPE] = self._entries(added)
        self._sections[Section.ATTRIBUTE_TYPE_OFFSET] = self._offsets(added)

    def _entries(self, added: Pool) -> bytes:
        held, pool = self._sections[Section.ATTRIBUTE_TYPE], self.content.pool
        middle = pool.attributes.starts[-1] - pool.attributes.starts[0]
        new = {table: b"".join(data for _, data in rows) for table, rows in added.entries.items()}
        return held[:middle] + new[ATTRIBUTES] + held[middle:] + new[TYPES]

    def _offsets(self, added: Pool) -> bytes:
        dialects = [dialect.name for dialect in self.content.dialects]
        counts, groups = [], []
        for table in (self.content.pool.attributes, self.content.pool.types):
            rows = added.entries[table.kind]
            counts.append(varint(len(table) + len(rows)))
            for dialect, group in table.groups():
                sizes = [table.size(at) << 1 | table.own[at] for at in group]
                numbers = (dialects.index(dialect), len(group), *sizes)
                groups.append(b"".join(map(varint, numbers)))
            for dialect, data in rows:
                numbers = (dialects.index(dialect), 1, len(data) << 1 | 1)
                groups.append(b"".join(map(varint, numbers)))
        return b"".join(counts + groups)

    def with_property(self, entry: int, place: int, number: int) -> bytes:
        """Return it with one number of one property entry changed."""
        content = self.content
        entries = []
        for at in range(content.sizes.properties):
            cursor = content.property_bytes(at)
            held = bytes(cursor.data[cursor.position : cursor.end])
            if at == entry:
                numbers = cursor.rest()
                numbers[place] = number
                held = b"".join(map(varint, numbers))
            entries.append(varint(len(held)) + held)
        properties = varint(len(entries)) + b"".join(entries)
        parts = self._sections | {Section.PROPERTIES: properties}
        head = self._data[: content.header.length]
        return head + b"".join(section(number, held) for number, held in parts.items())


def artifacts(every: int = 1) -> Iterator[tuple[Property, Kind, bytes]]:
    """Yield for each property of each op an artifact in which it is of each kind.

    Args:
        every: Yield one in so many.
    """
    number = 0
    for name, data in samples().items():
        sample = _Sample(data)
        content = sample.content
        found = next(
            one.properties
            for one in content.operations()
            if content.names[one.name].name == name and one.properties >= 0
        )
        for place, field in enumerate(op(name).attributes):
            for kind, attribute in sample.numbers.items():
                number += 1
                if number % every == 0:
                    yield (
                        Property(name, field),
                        kind,
                        sample.with_property(found, place, attribute),
                    )


def needless() -> Iterator[tuple[str, bytes]]:
    """Yield artifacts in which an op that defines no properties has some, with what they are."""
    whole = program([operation(2, results=[0], operands=[0], properties=2)], 2)
    for held in (b"", varint(0), varint(0) * 20, b"\0", bytes(range(200))):
        what = f"properties of {len(held)} bytes"
        yield what, bytes(replace(whole, properties=[*whole.properties, held]))
