"""Operations, one by one, and the walk over all of them without recursion."""

from __future__ import annotations

from bisect import bisect_right
from enum import IntEnum
from typing import NamedTuple

from portable.bytecode.encoding import Cursor
from portable.bytecode.tables import Format, Section

__all__ = ["EXAMPLES", "Mask", "OpSignature", "Operation", "Sizes", "UseWalker", "Walker"]

EXAMPLES = 3
"""How many operations of an OpSignature are located."""


class Mask(IntEnum):
    """What an operation has, as its second byte encodes it."""

    ATTRIBUTES = 1
    RESULTS = 2
    OPERANDS = 4
    SUCCESSORS = 8
    REGIONS = 16
    USE_LIST_ORDERS = 32
    PROPERTIES = 64


# Plain numbers: to look a member up costs more than reading the operation.
_ATTRIBUTES, _RESULTS, _OPERANDS, _SUCCESSORS, _REGIONS, _ORDERS, _PROPERTIES = map(int, Mask)
_ALL = 127


class Sizes(NamedTuple):
    """How many entries each table has, to check indices against.

    Args:
        names: Operation names.
        attributes: Attributes.
        types: Types.
        properties: Property entries.
        format: The version of the bytecode format.
        places: For each attribute whether it can be a location.
    """

    names: int
    attributes: int
    types: int
    properties: int
    format: int
    places: bytes

    def locate(self, cursor: Cursor) -> int:
        """Read the location of an operation or a block argument."""
        location = cursor.index(self.attributes, "location")
        if not self.places[location]:
            raise cursor.malformed(f"attribute {location} is not a location")
        return location


class Operation(NamedTuple):
    """One operation, everything by its number in the tables; -1 where there is none.

    Args:
        name: The operation name.
        location: The attribute that says where it comes from.
        attributes: The dictionary of its (before format 5: all, since then: other) attributes.
        properties: The property entry.
        results: The types of its results.
        operands: The values it uses.
        regions: How many regions it has.
        isolated: Whether its regions use no value from outside.
        depth: In how many operations it lies.
        offset: Where it starts in the artifact.
    """

    name: int
    location: int
    attributes: int
    properties: int
    results: tuple[int, ...]
    operands: tuple[int, ...]
    regions: int
    isolated: bool
    depth: int
    offset: int


class OpSignature(NamedTuple):
    """What operations have in common that differ only in location and values.

    Args:
        name: The operation name.
        attributes: The attribute dictionary; -1 if there is none.
        properties: The property entry; -1 if there is none.
        results: The types of the results.
        operands: How many operands there are.
        regions: How many regions there are.
        operand_types: The types of the operands, None for one that is not known; read only
            where something depends on them.
    """

    name: int
    attributes: int
    properties: int
    results: tuple[int, ...]
    operands: int
    regions: int
    operand_types: tuple[int | None, ...] | None = None


class Frame:
    """The regions of one operation, while they are being read.

    Attributes:
        regions: How many regions are still to come.
        blocks: How many blocks of the current region are still to come.
        operations: How many operations of the current block are still to come.
        base: The number of the first value that a region defines.
        root: The outermost frame whose values can be used, counted from the whole artifact.
        size: How many values it announces.
        defined: How many of them have been defined.
        end: Where the section ends that the frame was opened in.
        sectioned: Whether the regions have a section of their own.
        types: The types of the defined values, if they are wanted.
        owner: The name of that operation; -1 for the whole artifact.
    """

    __slots__ = (
        "base",
        "blocks",
        "defined",
        "end",
        "operations",
        "owner",
        "regions",
        "root",
        "sectioned",
        "size",
        "types",
    )

    def __init__(
        self, regions: int, end: int, base: int, root: int, *, sectioned: bool, owner: int = -1
    ) -> None:
        self.regions = regions
        self.owner = owner
        self.blocks = 0
        self.operations = 0
        self.base = base
        self.root = root
        self.size = 0
        self.defined = 0
        self.end = end
        self.sectioned = sectioned
        self.types: list[object] = []


class Walker:
    """Stands before one operation after another, outer ones first.

    Args:
        section: The IR section.
        sizes: The sizes of the tables.
        typed: Whether to remember the types of values, for `operand_type`.

    Attributes:
        deepest: In how many regions the deepest block so far lies.
        arguments: The types of the arguments of blocks so far.
    """

    __slots__ = ("_bases", "_sizes", "arguments", "cursor", "deepest", "frames", "typed")

    def __init__(self, section: Cursor, sizes: Sizes, *, typed: bool = False) -> None:
        # A copy of its own: bytes are read fastest, and the section holds no large data.
        content = bytes(section.data[section.position : section.end])
        self.cursor = Cursor(content, 0, len(content), section.origin + section.position)
        self._sizes = sizes
        self.typed = typed
        top = Frame(0, self.cursor.end, 0, 0, sectioned=False)
        self.frames = [top]
        self.deepest = 0
        self.arguments: set[int] = set()
        self._bases = [0]
        head = self.cursor.varint()
        top.operations = head >> 1
        self.read_arguments(head)

    def advance(self) -> bool:
        """Go to where the next operation starts.

        Returns:
            False when there is none.

        Raises:
            MalformedArtifact: Regions or blocks do not make sense.
        """
        frames = self.frames
        while frames:
            frame = frames[-1]
            if frame.operations:
                return True
            if frame.blocks:
                self._open_block(frame)
            elif frame.regions:
                self._close_region(frame)
                self._open_region(frame)
            else:
                self._close_region(frame)
                self._close_frame(frame)
        return False

    def read(self) -> Operation:
        """Read the operation that starts here, and enter its regions.

        Returns:
            The operation.

        Raises:
            MalformedArtifact: It does not make sense.
        """
        cursor, sizes, frame = self.cursor, self._sizes, self.frames[-1]
        offset = cursor.position
        name = cursor.index(sizes.names, "operation name")
        mask = cursor.byte()
        if mask > _ALL:
            raise cursor.malformed(f"unknown operation flags {mask:#x}")
        location = sizes.locate(cursor)
        attributes = cursor.index(sizes.attributes, "attribute") if mask & _ATTRIBUTES else -1
        properties = -1
        if mask & _PROPERTIES:
            properties = cursor.index(sizes.properties, "property entry")
        results = self._numbers(sizes.types, "type") if mask & _RESULTS else ()
        scope = frame.base + frame.size
        operands = self._numbers(scope, "value") if mask & _OPERANDS else ()
        if mask & _SUCCESSORS:
            cursor.varints(cursor.count())
        if mask & _ORDERS:
            self._use_list_orders(len(results))
        self.define(results)
        regions, isolated = cursor.flagged() if mask & _REGIONS else (0, False)
        depth = len(self.frames) - 1
        if regions:
            self._enter(name, regions, isolated=isolated)
        return Operation(
            name,
            location,
            attributes,
            properties,
            results,
            operands,
            regions,
            isolated,
            depth,
            cursor.origin + offset,
        )

    def operand_type(self, value: int, depth: int) -> object:
        """Return what is remembered of a value; None if it is not defined yet.

        Args:
            value: The number of the value.
            depth: The depth of the operation that uses it.

        Returns:
            The number of its type, or whatever the reader of a run of operations put there.
        """
        # First values rise from an isolated frame inwards, so one search finds the frame.
        root = self.frames[depth].root
        frame = self.frames[bisect_right(self._bases, value, root, depth + 1) - 1]
        at = value - frame.base
        return frame.types[at] if 0 <= at < len(frame.types) else None

    def _numbers(self, size: int, what: str) -> tuple[int, ...]:
        cursor = self.cursor
        count = cursor.count()
        if count == 1:
            return (cursor.index(size, what),)
        values = tuple(cursor.varints(count))
        if values and max(values) >= size:
            raise cursor.malformed(f"{what} {max(values)} is out of range; there are {size}")
        return values

    def _use_list_orders(self, values: int) -> None:
        """Skip the order in which the uses of some values are listed."""
        cursor = self.cursor
        lists = cursor.count() if values > 1 else 1
        for _ in range(lists):
            if values > 1:
                cursor.varint()
            count, _ = cursor.flagged()
            cursor.varints(count)

    def define(self, results: tuple[int, ...]) -> None:
        """Count an operation of the current block as read, with the values it defines."""
        frame = self.frames[-1]
        frame.operations -= 1
        frame.defined += len(results)
        if self.typed:
            frame.types += results

    def enter_block(self, name: int, length: int | None, size: int, head: int) -> None:
        """Enter the only block of the only region of an operation, its heads having been read.

        Args:
            name: The name of the operation.
            length: The length of the section that holds the region, which starts here; None if
                the region is not isolated, and so has none.
            size: How many values the region announces.
            head: The head of the block: the number of operations, and whether there are arguments.

        Raises:
            MalformedArtifact: The section or the operations do not fit.
        """
        cursor = self.cursor
        sectioned = length is not None
        frame = self._push(name, 0, isolated=sectioned, sectioned=sectioned)
        if length is not None:
            _, cursor.end = Cursor(cursor.data, cursor.position, cursor.end, cursor.origin).skip(
                length
            )
        frame.size = size
        frame.operations = head >> 1

    def _enter(self, name: int, regions: int, *, isolated: bool) -> None:
        cursor = self.cursor
        if regions > cursor.end - cursor.position:
            raise cursor.malformed(f"{regions} regions do not fit the section")
        sectioned = isolated and self._sizes.format >= Format.LAZY_LOADING
        self._push(name, regions, isolated=isolated, sectioned=sectioned)
        if sectioned:
            number, content = cursor.section()
            if number != Section.IR:
                raise cursor.malformed(f"regions in section {number}")
            cursor.position, cursor.end = content.position, content.end

    def _push(self, name: int, regions: int, *, isolated: bool, sectioned: bool) -> Frame:
        parent = self.frames[-1]
        base = 0 if isolated else parent.base + parent.size
        root = len(self.frames) if isolated else parent.root
        frame = Frame(regions, self.cursor.end, base, root, sectioned=sectioned, owner=name)
        self.deepest = max(self.deepest, len(self.frames))
        self.frames.append(frame)
        self._bases.append(base)
        return frame

    def _open_region(self, frame: Frame) -> None:
        cursor = self.cursor
        frame.regions -= 1
        frame.blocks = cursor.count()
        frame.size = cursor.varint() if frame.blocks else 0
        frame.defined = 0
        frame.types = []

    def _close_region(self, frame: Frame) -> None:
        if frame.defined > frame.size:
            raise self.cursor.malformed(
                f"a region defines {frame.defined} values and announces {frame.size}"
            )

    def _close_frame(self, frame: Frame) -> None:
        cursor = self.cursor
        self.frames.pop()
        self._bases.pop()
        if (frame.sectioned or not self.frames) and not cursor.done():
            raise cursor.malformed("data after the last operation of a section")
        cursor.end = frame.end

    def _open_block(self, frame: Frame) -> None:
        frame.blocks -= 1
        head = self.cursor.varint()
        frame.operations = head >> 1
        self.read_arguments(head)

    def read_arguments(self, head: int) -> None:
        """Read the arguments of the current block, if its head says that there are any.

        Args:
            head: The number of operations, and in the lowest bit whether there are arguments.

        Raises:
            MalformedArtifact: The block does not make sense.
        """
        cursor, sizes, frame = self.cursor, self._sizes, self.frames[-1]
        if head >> 1 > cursor.end - cursor.position:
            raise cursor.malformed(f"{head >> 1} operations do not fit the section")
        if not head & 1:
            return
        count = cursor.count()
        elided = sizes.format >= Format.ELIDED_ARGUMENT_LOCATIONS
        varint = cursor.varint
        found: list[int] = []
        for _ in range(count):
            # The type, since format 4 with a flag: whether a location follows.
            type_ = varint()
            if type_ & 1 or not elided:
                sizes.locate(cursor)
            found.append(type_ >> 1 if elided else type_)
        if found and max(found) >= sizes.types:
            raise cursor.malformed(f"there is no type {max(found)}")
        if count and sizes.format >= Format.USE_LIST_ORDERS and cursor.byte():
            self._use_list_orders(count)
        frame.defined += count
        self.arguments.update(found)
        if self.typed:
            frame.types += found


class UseWalker(Walker):
    """A Walker that remembers of each value which operation defines it, not its type.

    Attributes:
        number: How many operations were read.
    """

    __slots__ = ("number",)

    def __init__(self, section: Cursor, sizes: Sizes) -> None:
        self.number = 0
        super().__init__(section, sizes, typed=True)

    def define(self, results: tuple[int, ...]) -> None:
        """Count an operation as read; arguments of blocks have numbers that are not negative."""
        super().define((~self.number,) * len(results))
        self.number += 1

    def sources(self, operation: Operation) -> tuple[int | None, ...]:
        """Return the numbers of the operations whose results the last one read uses.

        Returns:
            One for each operand: None for an argument of a block, and what is not defined yet.
        """
        found = (self.operand_type(value, operation.depth) for value in operation.operands)
        return tuple(~one if isinstance(one, int) and one < 0 else None for one in found)
