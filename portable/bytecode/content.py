"""Everything an artifact holds, each part decoded on first use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from portable.bytecode.encoding import Cursor, MalformedArtifact, numbers
from portable.bytecode.entries import ATTRIBUTES, Pool, read_entries
from portable.bytecode.header import read_header
from portable.bytecode.layouts import VHLO
from portable.bytecode.operations import Sizes, UseWalker, Walker
from portable.bytecode.resources import read_resources
from portable.bytecode.scan import Scan
from portable.bytecode.tables import (
    NEWEST_FORMAT,
    Section,
    Strings,
    read_dialects,
    read_names,
    read_sections,
)
from portable.bytecode.vhlo import APPLYING, END, FUNCTION, MODULE, has_op, inherent
from portable.bytecode.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from portable.bytecode.encoding import Buffer
    from portable.bytecode.operations import Head, Held, Operation, OpSignature, Source
    from portable.bytecode.tables import OperationName

__all__ = ["Bytecode", "read"]

_SPARSE = {Section.ATTRIBUTE_TYPE, Section.RESOURCE}
_DICTIONARIES = frozenset({"dictionary", "dict_v1"})


class Bytecode:
    """An artifact that has been opened.

    Opening finds the types and attributes; large constants are never copied, operations and their
    names are read on first use. Everything may raise `MalformedArtifact`, and nothing else.

    Attributes:
        header: What the artifact claims.
        dialects: The dialects it uses.
        pool: Its types and attributes.
        strings: Its strings.
    """

    def __init__(self, what: Buffer | View) -> None:
        # What reads the tables only takes slices, as a view has them.
        data = cast("Buffer", what)
        self.header = read_header(data)
        if self.header.format > NEWEST_FORMAT:
            raise MalformedArtifact(
                f"bytecode format {self.header.format} is newer than {int(NEWEST_FORMAT)}, "
                "the newest that can be read",
                4,
            )
        if isinstance(data, memoryview):
            data = data.cast("B") if data.contiguous else memoryview(bytes(data))
        self._sections = sections = read_sections(data, self.header.length, self.header.format)
        if isinstance(what, View):
            # Constants, which are most of a large artifact, are among the attributes.
            for section in sections.keys() - _SPARSE:
                sections[section] = sections[section].loaded()
        self.strings = Strings(sections[Section.STRING])
        self.dialects = read_dialects(sections[Section.DIALECT], self.strings, self.header.format)
        resources = read_resources(sections, self.dialects, self.strings)
        attributes, types = read_entries(
            sections[Section.ATTRIBUTE_TYPE_OFFSET],
            sections[Section.ATTRIBUTE_TYPE],
            self.dialects,
        )
        self.pool = Pool(types, attributes, self.strings, resources)
        self._scan: Scan | None = None
        self._deepest: int | None = None
        self._dictionaries: dict[int, dict[str, int]] = {}
        # Of each operation's name the places of its properties, and what was decoded, by its bytes:
        # any number of entries may be the same.
        self._places: dict[int, dict[str, int]] = {}
        self._values: dict[int, dict[bytes, Sequence[int]]] = {}

    def __repr__(self) -> str:
        return f"<Bytecode format {self.header.format}, producer {self.header.producer[:60]!r}>"

    @cached_property
    def names(self) -> list[OperationName]:
        """The names of the operations."""
        cursor = self._sections[Section.DIALECT].copy()
        return read_names(cursor, self.dialects, self.strings, self.header.format)

    @cached_property
    def sizes(self) -> Sizes:
        """How many entries each table has."""
        return Sizes(
            names=len(self.names),
            attributes=len(self.pool.attributes),
            types=len(self.pool.types),
            properties=len(self._properties),
            format=self.header.format,
            places=self.pool.attributes.places(),
            ordered=self._named_numbers(lambda _: True),
            ends=self._named_numbers(lambda name: name == END),
            functions=self._named_numbers(lambda name: name == FUNCTION),
            known=self._named_numbers(lambda name: name != END and has_op(name)),
            applying=self._named_numbers(lambda name: name.rpartition("_v")[0] in APPLYING),
        )

    def _named_numbers(self, wanted: Callable[[str], bool]) -> frozenset[int]:
        """Return the numbers of those of VHLO's operations whose names are wanted."""
        names = enumerate(self.names)
        return frozenset(at for at, (owner, name, _) in names if owner == VHLO and wanted(name))

    @cached_property
    def _properties(self) -> list[tuple[int, int]]:
        return _property_entries(self._sections.get(Section.PROPERTIES))

    def operations(self) -> Iterator[Operation]:
        """Yield every operation, an outer one before those in its regions.

        Yields:
            The operations, everything in them by number.

        Raises:
            MalformedArtifact: An operation does not make sense.
        """
        walker = Walker(self._sections[Section.IR], self.sizes)
        while walker.advance():
            yield walker.read()
        self._deepest = walker.deepest

    def uses(self) -> Iterator[tuple[Operation, tuple[Source | None, ...]]]:
        """Yield every operation as `operations`, with the results that it uses.

        Yields:
            The operations, each with one pair for each operand: the number of the operation it is
            a result of, counted in the order of this walk, and which result. Arguments of blocks
            have none, nor have values that are used before they are defined.

        Raises:
            MalformedArtifact: An operation does not make sense.
        """
        walker = UseWalker(self._sections[Section.IR], self.sizes)
        while walker.advance():
            operation = walker.read()
            yield operation, walker.sources(operation)

    def first_values(self) -> Iterator[int]:
        """Yield for every operation, as `operations`, where the values of its region begin.

        Yields:
            The number of the first of them, which is that of the first argument of a block.

        Raises:
            MalformedArtifact: An operation does not make sense.
        """
        walker = UseWalker(self._sections[Section.IR], self.sizes)
        while walker.advance():
            yield walker.frames[walker.read().depth].base

    def captures(self) -> Iterator[tuple[Operation, int]]:
        """Yield what bodies that are applied to scalars use from outside them.

        Yields:
            The operation in the body, and the name of the one whose result it uses; -1 for an
            argument of a block, and what is not defined yet.

        Raises:
            MalformedArtifact: An operation does not make sense.
        """
        if not self.scan().captures:
            return
        names: list[int] = []
        walker = UseWalker(self._sections[Section.IR], self.sizes)
        while walker.advance():
            operation = walker.read()
            names.append(operation.name)
            frame = walker.frames[operation.depth]
            for value, source in zip(operation.operands, walker.sources(operation), strict=True):
                if value < frame.outside:
                    yield operation, names[source[0]] if source else -1

    def scan(self, typed: Collection[int] = ()) -> Scan:
        """Count what operations there are; cached.

        Args:
            typed: The names of operations whose operand types are wanted at least.

        Returns:
            The Shapes of all operations and how often each occurs.

        Raises:
            MalformedArtifact: An operation does not make sense.
        """
        wanted = frozenset(typed)
        if self._scan is None or not wanted <= self._scan.typed:
            self._scan = Scan(self._sections[Section.IR], self.sizes, wanted)
        return self._scan

    @property
    def deepest(self) -> int:
        """In how many regions the deepest block lies.

        Raises:
            MalformedArtifact: An operation does not make sense.
        """
        return self.scan().deepest if self._deepest is None else self._deepest

    def property_bytes(self, index: int) -> Cursor:
        """Return a cursor over the bytes of a property entry."""
        section = self._sections[Section.PROPERTIES]
        start, stop = self._properties[index]
        return Cursor(section.data, start, stop, section.origin)

    def property_attributes(self, name: int, index: int) -> dict[str, int]:
        """Decode the properties of an operation.

        Args:
            name: The number of the operation's name.
            index: The property entry; -1 for none.

        Returns:
            The attributes by name; empty for an operation that is not known.

        Raises:
            MalformedArtifact: The entry does not fit the operation.
        """
        values = self.property_values(name, index)
        pairs = zip(self._places[name], values, strict=True) if values else ()
        return {field: number for field, number in pairs if number >= 0}

    def property_values(self, name: int, index: int) -> Sequence[int]:
        """Decode the properties of an operation as `property_attributes`, without their names.

        Returns:
            The attributes, in the order of `vhlo.inherent`; -1 for one that is absent. The same
            for entries of the same bytes, and something that can be hashed.
        """
        if index < 0:
            return ()
        start, stop = self._properties[index]
        raw = bytes(self._sections[Section.PROPERTIES].data[start:stop])
        known = self._values.get(name)
        if known is None:
            dialect, op, _ = self.names[name]
            known = self._values[name] = {}
            self._places[name] = {one: at for at, one in enumerate(inherent(dialect, op) or ())}
        values = known.get(raw)
        if values is None:
            values = known[raw] = self._decoded(name, index, raw)
        return values

    def _decoded(self, name: int, index: int, raw: bytes) -> Sequence[int]:
        dialect, op, _ = self.names[name]
        fields = inherent(dialect, op)
        if not fields:  # of an op that has none no reader looks at them
            return ()
        values = numbers(raw)
        if values is None or len(values) != len(fields):
            cursor = self._behind(index, len(fields))
            raise cursor.malformed(f"{self.names[name]} has more properties than the op defines")
        if fields is MODULE:
            # The module's properties may be absent, as a flag shows; those of VHLO never are.
            values = [number >> 1 if number & 1 else -1 for number in values]
        if values and max(values) >= len(self.pool.attributes):
            cursor = self._behind(index, len(fields))
            raise cursor.malformed(f"there is no attribute {max(values)}")
        return values if isinstance(values, bytes) else tuple(values)

    def _behind(self, index: int, count: int) -> Cursor:
        """Return a cursor behind the first numbers of a property entry."""
        cursor = self.property_bytes(index)
        cursor.varints(count)
        return cursor

    def inherent(self, of: Operation | Head | OpSignature | Held, field: str) -> int | None:
        """Find one attribute of an operation, wherever its format keeps it.

        Dictionaries can be shared by any number of operations, so do not iterate over them.

        Args:
            of: The operation, or what it has in common with others.
            field: The name of the attribute.

        Returns:
            The number of the attribute; None if the operation has none of that name.

        Raises:
            MalformedArtifact: The dictionary or the properties make no sense.
        """
        values = self.property_values(of.name, of.properties)
        at = self._places[of.name].get(field, -1) if values else -1
        found = values[at] if at >= 0 else -1
        return self.dictionary(of.attributes).get(field) if found < 0 else found

    def attributes_of(self, of: Operation | Head | OpSignature) -> dict[str, int]:
        """Return the numbers of an operation's attributes, wherever its format keeps them.

        Args:
            of: As for `inherent`, which does without walking through dictionaries.

        Raises:
            MalformedArtifact: As `inherent`.
        """
        properties = self.property_attributes(of.name, of.properties)
        return {**self.dictionary(of.attributes), **properties}

    def check_attribute(self, index: int) -> None:
        """Make sure that there is an attribute of this number."""
        if index >= len(self.pool.attributes):
            raise self._sections[Section.IR].malformed(f"there is no attribute {index}")

    def dictionary(self, index: int) -> Mapping[str, int]:
        """Decode the attribute dictionary of an operation.

        Args:
            index: The attribute; -1 for none.

        Returns:
            The attributes by name.

        Raises:
            MalformedArtifact: It is no dictionary.
        """
        if index < 0:
            return {}
        known = self._dictionaries.get(index)
        if known is not None:
            return known
        outline = self.pool.outline(ATTRIBUTES, index)
        if outline.name not in _DICTIONARIES:
            raise self.pool.attributes.open(index).malformed(
                "operation attribute is not a DictionaryAttr"
            )
        pairs = iter(outline.references)
        known = {self._string(name): value for name, value in zip(pairs, pairs, strict=True)}
        self._dictionaries[index] = known
        return known

    def _string(self, index: int) -> str:
        value = self.pool.attribute(index).fields.get("value")
        if not isinstance(value, str):
            raise self.pool.attributes.open(index).malformed(
                "the name of an attribute is not a string"
            )
        return value


def read(data: Buffer | View) -> Bytecode:
    """Open an artifact.

    Args:
        data: Its bytes; a `mmap` or `memoryview` is not copied and has to stay open. Of a `View`
            constants are read only where they are looked at.

    Returns:
        The artifact, from which everything in it can be read.

    Raises:
        MalformedArtifact: It is not MLIR bytecode, or it is damaged.
    """
    return Bytecode(data)


def _property_entries(section: Cursor | None) -> list[tuple[int, int]]:
    """Find the property entries: bytes that only their operation can make sense of."""
    if section is None or section.done():
        return []
    cursor = section.copy()
    found = [cursor.blob() for _ in range(cursor.count())]
    if not cursor.done():
        raise cursor.malformed("the properties do not fill their section")
    return found
