"""The types and attributes of an artifact: found by number, decoded on first use."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, lru_cache
from operator import or_
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.encoding import WIDTHS, Cursor, numbers, offsets, unzigzag
from portable.bytecode.fields import ATTRIBUTES, POINTERS, READERS, TYPES, Blob, read_type
from portable.bytecode.layouts import BUILTIN, LOCATIONS, VHLO, table, widths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from typing import TypeAlias

    from portable.bytecode.fields import Step
    from portable.bytecode.layouts import Layout
    from portable.bytecode.tables import Dialect, Strings

    Reference: TypeAlias = int

__all__ = [
    "ATTRIBUTES",
    "TYPES",
    "Blob",
    "Entries",
    "Outline",
    "Pool",
    "PoolEntry",
    "first_byte",
    "first_bytes",
    "read_entries",
    "reference",
]

# A size is stored with a flag in its lowest bit.
_SMALLEST = 2
# What is kept of what was decoded: entries from this size in bytes on, and so many of the others.
_LARGE = 64
_KEPT = 2048
_BYTE = 8
_WORD = 64
# Wider integers are not told by their value.
_WIDEST = 128
# So many elements no tensor has.
_MOST = 1 << 64


class PoolEntry(NamedTuple):
    """One type or attribute.

    Args:
        dialect: Its namespace.
        name: Its mnemonic; `code N` where the number means nothing to us; empty for text.
        fields: The decoded fields by name. Other entries are given by their numbers.
        text: The assembly text, where the entry is written as text.
        known: Whether the name and the fields are known.
    """

    dialect: str
    name: str
    fields: dict[str, object]
    text: str | None = None
    known: bool = True


class Outline(NamedTuple):
    """What an entry is and which others it points to.

    Args:
        dialect: Its namespace.
        name: Its name, as in `PoolEntry`.
        references: The entries that it points to, numbered as by `reference`.
    """

    dialect: str
    name: str
    references: tuple[Reference, ...]


def reference(kind: str, index: int) -> Reference:
    """Number the entries of both tables together: attributes from 0 up, types from -1 down."""
    return index if kind == ATTRIBUTES else ~index


_ANY = frozenset(range(256))
# Translates whether a dialect encoded an entry to whether it is text.
_TEXT = bytes([1, 0]) + bytes(254)


class Entries:
    """The attributes, or the types, of an artifact.

    Args:
        kind: `types` or `attributes`.
        cursor: The data section that holds them.
        starts: Where each starts; one more for the end of the last.
        own: For each whether its dialect encoded it (1) or it is text (0).
        groups: The number of the first entry of each group, and the dialect of the group.

    Attributes:
        outlines: What `Pool.outline` found.
    """

    __slots__ = (
        "_beginnings",
        "_begun",
        "_dialects",
        "_firsts",
        "_groups",
        "_layouts",
        "_leaves",
        "_pointing",
        "cursor",
        "kind",
        "outlines",
        "own",
        "starts",
    )

    def __init__(
        self,
        kind: str,
        cursor: Cursor,
        starts: list[int],
        own: bytes,
        groups: Sequence[tuple[int, str]],
    ) -> None:
        self.kind = kind
        self.cursor = cursor
        self.starts = starts
        self.own = own
        self._firsts = [first for first, _ in groups]
        self._dialects = [dialect for _, dialect in groups]
        # An empty module has no types, and so no group of them.
        stops = [*self._firsts[1:], len(own)] if groups else []
        self._groups = [
            (dialect, range(first, stop))
            for (first, dialect), stop in zip(groups, stops, strict=True)
        ]
        self._layouts: dict[str, dict[int, Layout]] = {}
        self._leaves: dict[tuple[str, str], Outline] = {}
        self._pointing: list[int] | None = None
        self._beginnings: bytes | None = None
        self._begun: dict[str, frozenset[int]] = {}
        self.outlines: list[Outline | None] = [None] * len(own)

    def __len__(self) -> int:
        return len(self.own)

    def dialect(self, index: int) -> str:
        """Return the namespace of an entry."""
        return self._dialects[bisect_right(self._firsts, index) - 1]

    def groups(self) -> Sequence[tuple[str, range]]:
        """Return each group of neighbours of one dialect."""
        return self._groups

    def size(self, index: int) -> int:
        """Return the encoded size of an entry in bytes."""
        return self.starts[index + 1] - self.starts[index]

    def first_bytes(self, group: range) -> bytes:
        """Return the first byte of each entry of a group."""
        if self._beginnings is None:
            # Done in C, and once: there can be as many locations as operations.
            self._beginnings = bytes(map(self.cursor.data.__getitem__, self.starts[:-1]))
        return self._beginnings[group.start : group.stop]

    def starting(self, dialect: str, firsts: AbstractSet[int]) -> Sequence[int]:
        """Find the entries of one dialect that begin with some codes.

        Args:
            dialect: The dialect.
            firsts: The codes, as the first byte of an entry has them: see `first_byte`.

        Returns:
            Their numbers, in order.
        """
        begun = self._begun.get(dialect)
        if begun is None:
            begun = self._begun[dialect] = self._begin(dialect)
        if firsts.isdisjoint(begun):
            return ()  # most artifacts have none of what is looked for
        return [*self._starting(dialect, firsts)]

    def _begin(self, dialect: str) -> frozenset[int]:
        """Return the first bytes of a dialect's entries; of longer codes any that it could be."""
        groups = (group for owner, group in self._groups if owner == dialect)
        begun = frozenset().union(*map(self.first_bytes, groups))
        return begun if all(first & 1 for first in begun) else _ANY

    def _starting(self, dialect: str, firsts: AbstractSet[int]) -> Iterator[int]:
        for owner, group in self._groups:
            if owner != dialect:
                continue
            for index, first in zip(group, self.first_bytes(group), strict=True):
                if first in firsts or not first & 1:
                    if not self.own[index]:
                        continue
                    # A code that takes more than one byte.
                    if first & 1 or first_byte(self.open(index).varint()) in firsts:
                        yield index

    def pointing(self) -> Sequence[int]:
        """Return the entries that can point to others, one of those that point to the same; cached.

        There can be as many locations as operations, most of which differ in lines and columns.
        """
        if self._pointing is None:
            self._pointing = [*self._find_pointing()]
        return self._pointing

    def _find_pointing(self) -> Iterator[int]:
        for dialect in dict.fromkeys(self._dialects):
            heads = _heads(self.kind, dialect)
            seen: set[bytes] = set()
            for index in self.starting(dialect, heads.keys()):
                head = self._head(index, heads)
                if not head or head not in seen:
                    seen.add(head)
                    yield index

    def _head(self, index: int, heads: Mapping[int, int]) -> bytes:
        """Return an entry up to its last pointer; nothing where its first byte does not tell."""
        data, start, end = self.cursor.data, self.starts[index], self.starts[index + 1]
        stop = start + 1
        count = heads.get(data[start], 0)
        for _ in range(count):
            if stop >= end:
                return b""
            stop += WIDTHS[data[stop]]
        return bytes(data[start:stop]) if count and stop <= end else b""

    def places(self) -> bytes:
        """Return of each attribute 1 if it can be a location, 0 if it is known to be none."""
        found = b"".join(
            bytes(len(group)) if dialect == VHLO
            else self.first_bytes(group).translate(_may_be_places(self.kind)) if dialect == BUILTIN
            else b"\1" * len(group)
            for dialect, group in self.groups()
        )  # fmt: skip
        # What is text could be anything.
        return found if 0 not in self.own else bytes(map(or_, found, self.own.translate(_TEXT)))

    def open(self, index: int) -> Cursor:
        """Return a cursor over the bytes of an entry."""
        cursor = self.cursor
        return Cursor(cursor.data, self.starts[index], self.starts[index + 1], cursor.origin)

    def layout(self, index: int, cursor: Cursor) -> tuple[str, int, Layout | None]:
        """Read the code of an entry; return its dialect, the code and what it means, if known."""
        dialect = self.dialect(index)
        code = cursor.varint()
        if dialect not in self._layouts:
            self._layouts[dialect] = table(dialect, self.kind)
        return dialect, code, self._layouts[dialect].get(code)

    def leaf(self, dialect: str, name: str) -> Outline:
        """Return the outline of entries that point to nothing, the same for all of a name."""
        found = self._leaves.get((dialect, name))
        if found is None:
            found = self._leaves[dialect, name] = Outline(dialect, name, ())
        return found


class Pool:
    """Types, attributes and strings together: they point to each other.

    Args:
        types: The types.
        attributes: The attributes.
        strings: The strings.
        resources: How many resources there are.
    """

    __slots__ = (
        "_counts",
        "_decoded",
        "_type_names",
        "attributes",
        "resources",
        "strings",
        "types",
    )

    def __init__(
        self, types: Entries, attributes: Entries, strings: Strings, resources: int = 0
    ) -> None:
        self._decoded: dict[Reference, PoolEntry] = {}
        self._counts: dict[int, int | None] = {}
        self._type_names: frozenset[str] | None = None
        self.types = types
        self.attributes = attributes
        self.strings = strings
        self.resources: int = resources

    def type(self, index: int) -> PoolEntry:
        """Decode a type.

        Args:
            index: Its number.

        Returns:
            The type.

        Raises:
            MalformedArtifact: There is no such type, or its bytes do not make sense.
        """
        return self._entry(self.types, index)

    def attribute(self, index: int) -> PoolEntry:
        """Decode an attribute.

        Args:
            index: Its number.

        Returns:
            The attribute.

        Raises:
            MalformedArtifact: There is no such attribute, or its bytes do not make sense.
        """
        return self._entry(self.attributes, index)

    def outline(self, kind: str, index: int) -> Outline:
        """Determine what an entry is and which others it points to; cached.

        Args:
            kind: `types` or `attributes`.
            index: The number of the entry; it has to exist.

        Returns:
            The outline.

        Raises:
            MalformedArtifact: The entry does not make sense.
        """
        entries = self.types if kind == TYPES else self.attributes
        found = entries.outlines[index]
        if found is None:
            found = entries.outlines[index] = self._outline(entries, index)
        return found

    def referred(self, entry: Reference) -> Outline:
        """Return the outline of an entry that another points to."""
        return self.outline(ATTRIBUTES, entry) if entry >= 0 else self.outline(TYPES, ~entry)

    def _outline(self, entries: Entries, index: int) -> Outline:
        if not entries.own[index]:
            return entries.leaf(entries.dialect(index), "")
        cursor = entries.open(index)
        dialect, code, layout = entries.layout(index, cursor)
        if layout is None:
            return entries.leaf(dialect, f"code {code}")
        if not layout.pointers:
            return entries.leaf(dialect, layout.name)
        if layout.sole_type:
            # As constants are, of which there can be thousands.
            return Outline(dialect, layout.name, (~read_type(self, cursor),))
        if layout.steps is not None:
            found = _pointed(layout.steps, bytes(cursor.data[cursor.position : cursor.end]))
            if found and -len(self.types) <= min(found) and max(found) < len(self.attributes):
                return Outline(dialect, layout.name, tuple(found))
        return Outline(dialect, layout.name, self._references(layout, cursor))

    def _references(self, layout: Layout, cursor: Cursor) -> tuple[Reference, ...]:
        """Read what an entry points to field by field, which shows what is wrong, and where."""
        found: list[Reference] = []
        for _, encoding in layout.fields[: layout.pointers]:
            if encoding in POINTERS:
                table, read = POINTERS[encoding]
                found += [reference(table, number) for number in read(self, cursor)]
            else:
                READERS[encoding](self, cursor)
        return tuple(found)

    def type_names(self) -> frozenset[str]:
        """Return what types there are, as in `Outline.name`; cached."""
        if self._type_names is None:
            self._type_names = frozenset(
                self.outline(TYPES, index).name for index in range(len(self.types))
            )
        return self._type_names

    def attributes_named(self, *names: str) -> Sequence[int]:
        """Return the numbers of MLIR's own attributes of some kinds, for example locations.

        Args:
            names: The kinds, as in `PoolEntry.name`.
        """
        return self.attributes.starting(BUILTIN, first_bytes(ATTRIBUTES, BUILTIN, names))

    def types_named(self, *names: str) -> Sequence[int]:
        """Return the numbers of VHLO's types of some kinds, for example `token_v1`.

        Args:
            names: The kinds, as in `PoolEntry.name`.
        """
        return self.types.starting(VHLO, first_bytes(TYPES, VHLO, names))

    def count(self, type_: object) -> int | None:
        """Return how many elements a tensor type has.

        Any number of operations can be of one type: each is looked at once.

        Args:
            type_: The number of a type.

        Returns:
            How many, 2**64 for more; None for what has no shape.

        Raises:
            MalformedArtifact: There is no such type, or it does not make sense.
        """
        if not isinstance(type_, int):
            return None
        if type_ not in self._counts:
            self._counts[type_] = _product(self.type(type_).fields.get("shape"))
        return self._counts[type_]

    def encodings(self, entry: PoolEntry) -> dict[str, str]:
        """Return how each field of an attribute is encoded, which defines what its numbers mean."""
        for layout in table(entry.dialect, ATTRIBUTES).values():
            if layout.name == entry.name and len(layout.fields) == len(entry.fields):
                return dict(layout.fields)
        return {}

    def _entry(self, entries: Entries, index: int) -> PoolEntry:
        if not 0 <= index < len(entries):
            raise entries.cursor.malformed(f"there is no {entries.kind[:-1]} {index}")
        # Anything may point to an entry any number of times.
        key = reference(entries.kind, index)
        found = self._decoded.get(key)
        if found is None:
            found = self._decode(entries, index)
            if entries.size(index) >= _LARGE or len(self._decoded) < _KEPT:
                self._decoded[key] = found
        return found

    def _decode(self, entries: Entries, index: int) -> PoolEntry:
        cursor = entries.open(index)
        if not entries.own[index]:
            return PoolEntry(entries.dialect(index), "", {}, text=_text(cursor), known=False)
        dialect, code, layout = entries.layout(index, cursor)
        if layout is None:
            return PoolEntry(dialect, f"code {code}", {}, known=False)
        if layout.is_shaped:
            values = numbers(bytes(cursor.data[cursor.position : cursor.end])) or ()
            if len(values) > 1 and len(values) == values[0] + 2 and values[-1] < len(self.types):
                sizes = [value >> 1 ^ -(value & 1) for value in values[1:-1]]
                return PoolEntry(dialect, layout.name, {"shape": sizes, "element": values[-1]})
        fields: dict[str, object] = {}
        for field, encoding in layout.fields:
            if encoding in {"integer", "float"}:
                fields[field] = self._number(cursor, fields["type"])
            else:
                fields[field] = READERS[encoding](self, cursor)
        if not cursor.done():
            raise cursor.malformed(f"{dialect} {layout.name} is longer than its declared size")
        return PoolEntry(dialect, layout.name, fields)

    def _number(self, cursor: Cursor, type_index: object) -> int | Blob:
        """Read the bits of a number whose type, decoded before, defines how many there are."""
        scalar = self._entry(self.types, type_index)  # type: ignore[arg-type] # its reader gives int
        if not scalar.known:
            # Only the type defines the size, so the rest of the entry stays as it is.
            return Blob(*cursor.skip(cursor.end - cursor.position))
        width = scalar.fields.get("width")
        bits = (
            width >> 2 if isinstance(width, int) else widths(scalar.dialect).get(scalar.name, _WORD)
        )
        start = cursor.position
        if bits <= _BYTE:
            return cursor.byte()
        if bits <= _WORD:
            return cursor.signed()
        words = cursor.varints(cursor.count())
        if bits > _WIDEST or len(words) * _WORD > _WIDEST:  # readers take no more words than fit
            return Blob(cursor.origin + start, cursor.position - start)
        mask = (1 << _WORD) - 1
        return sum((unzigzag(word) & mask) << _WORD * at for at, word in enumerate(words))


def _pointed(steps: tuple[Step, ...], chunk: bytes) -> list[Reference] | None:
    """Return the entries that some fields point to, unchecked; None if they are cut off."""
    values = numbers(chunk)
    if values is None:
        return None
    found: list[Reference] = []
    at = 0
    for each, table_, flagged in steps:
        count = 1
        if each:
            count = each * values[at] if at < len(values) else 1
            at += 1
        items = values[at : at + count]
        at += count
        if len(items) < count:
            return None
        if table_ == TYPES:
            found += [~number for number in items]
        elif table_ is not None:
            found += [number >> 1 for number in items if number & 1] if flagged else items
    return found


def _product(sizes: object) -> int | None:
    if not isinstance(sizes, list):
        return None
    found = 0 if 0 in sizes else 1
    for size in sizes:
        found *= size
        if not -_MOST < found < _MOST:
            return _MOST
    return found


@lru_cache(maxsize=64)
def _heads(kind: str, dialect: str) -> dict[int, int]:
    """Return how the entries of a dialect begin that point to others, with their `Layout.head`."""
    layouts = table(dialect, kind).items()
    return {first_byte(code): layout.head for code, layout in layouts if layout.pointers}


@cache
def _may_be_places(kind: str) -> bytes:
    """Return for each first byte of an entry of MLIR's own 1 if it can be that of a location."""
    codes = first_bytes(kind, BUILTIN, LOCATIONS)
    return bytes(byte in codes or not byte & 1 for byte in range(256))


def first_byte(code: int) -> int:
    """Return what an entry begins with whose code takes one byte; of others none has it."""
    return code << 1 | 1


@cache
def first_bytes(kind: str, dialect: str, names: tuple[str, ...]) -> frozenset[int]:
    """Return how the bytes of a dialect's entries of some kinds begin: with their code."""
    rows = table(dialect, kind).items()
    return frozenset(first_byte(code) for code, row in rows if row.name in names)


def read_entries(
    offsets_cursor: Cursor, data: Cursor, dialects: Sequence[Dialect]
) -> tuple[Entries, Entries]:
    """Read where the attributes and types are.

    Args:
        offsets_cursor: The section with their sizes.
        data: The section with their bytes.
        dialects: The dialects of the artifact.

    Returns:
        The attributes and the types.

    Raises:
        MalformedArtifact: The sizes do not fit the data.
    """
    numbers = offsets_cursor.rest()
    at, start = 2, data.position
    found: list[Entries] = []
    for kind, count in zip((ATTRIBUTES, TYPES), numbers, strict=False):
        coded: list[int] = []
        groups: list[tuple[int, str]] = []
        while len(coded) < count:
            dialect, size = numbers[at : at + 2] if at + 2 <= len(numbers) else (0, 0)
            if dialect >= len(dialects) or not 0 < size <= count - len(coded):
                raise offsets_cursor.malformed(f"a group of {size} {kind} among {count}")
            name = dialects[dialect].name
            if not groups or groups[-1][1] != name:  # there may be a group for each entry
                groups.append((len(coded), name))
            coded += numbers[at + 2 : at + 2 + size]
            at += 2 + size
        if coded and min(coded) < _SMALLEST:
            raise offsets_cursor.malformed("empty entry")
        starts = offsets(start, [value >> 1 for value in coded])
        start = starts[-1]
        if start > data.end:
            raise offsets_cursor.malformed(f"the {kind} do not fit their section")
        found.append(Entries(kind, data, starts, bytes([value & 1 for value in coded]), groups))
    if len(found) < 2 or start != data.end or at != len(numbers):
        raise offsets_cursor.malformed("the attributes and types do not fill their sections")
    return found[0], found[1]


def _text(cursor: Cursor) -> str:
    start, stop = cursor.skip(cursor.end - cursor.position)
    return bytes(cursor.data[start:stop]).rstrip(b"\0").decode("utf-8", "backslashreplace")
