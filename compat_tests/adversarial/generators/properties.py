"""Artifacts with a property of an op that is an attribute of another kind than the op's.

Each is an artifact of the corpus, in which one number is another: that of an attribute which has
been added behind the others.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from compat_tests.adversarial.generators.kinds import Kind, Pool, kinds
from compat_tests.helpers.bytecode_writer import section, varint
from portable.bytecode import read, read_header
from portable.bytecode.encoding import Cursor
from portable.bytecode.entries import ATTRIBUTES, TYPES
from portable.bytecode.layouts import VHLO
from portable.bytecode.tables import Format, Section
from portable.bytecode.vhlo import op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.bytecode import Bytecode

__all__ = ["Property", "artifacts", "samples"]

CORPUS = Path(__file__).parents[3] / "corpus"
_LARGEST = 20_000


class Property(NamedTuple):
    """A property of an op of VHLO."""

    op: str
    field: str

    def __str__(self) -> str:
        return f"{self.op}.{self.field}"


def samples() -> dict[str, bytes]:
    """Return for each op of VHLO that has properties the oldest artifact of the corpus with it."""
    found: dict[str, tuple[tuple[object, ...], bytes]] = {}
    for path in sorted(CORPUS.rglob("artifacts/*.mlir.bc")):
        data = path.read_bytes()
        if len(data) > _LARGEST:
            continue
        content = read(data)
        version = content.header.version
        if version is None or content.header.format < Format.ODS_PROPERTIES:
            continue
        rank = (version, len(data), str(path))
        for name in content.names:
            known = name.dialect == VHLO and op(name.name).attributes
            if known and (name.name not in found or rank < found[name.name][0]):
                found[name.name] = rank, data
    return {name: data for name, (_, data) in sorted(found.items())}


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
