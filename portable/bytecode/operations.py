"""Operations, one by one, and the walk over all of them without recursion."""

from __future__ import annotations

from bisect import bisect_right
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from portable.bytecode.encoding import Cursor
from portable.bytecode.tables import Format, Section

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "EXAMPLES",
    "IN_FUNCTION",
    "Held",
    "Mask",
    "OpSignature",
    "Operation",
    "Sizes",
    "Source",
    "UseWalker",
    "Walker",
    "like",
]

EXAMPLES = 3
"""How many operations of an OpSignature are located."""

IN_FUNCTION = 2
"""The depth of those operations of a function that are in no other one."""


class Mask(IntEnum):
    """What an operation has, as its second byte encodes it."""

    ATTRIBUTES = 1
    RESULTS = 2
    OPERANDS = 4
    SUCCESSORS = 8
    REGIONS = 16
    USE_LIST_ORDERS = 32
    PROPERTIES = 64


_WORD, _ORDERED = (1 << 32) - 1, 2
# Readers have room for at least so many uses, and write into what is there.
_ROOM = 4
# Plain numbers: to look a member up costs more than reading the operation.
_ATTRIBUTES, _RESULTS, _OPERANDS, _SUCCESSORS, _REGIONS, _ORDERS, _PROPERTIES = map(int, Mask)


class _Order(NamedTuple):
    """In which order the uses of a value are listed; `uses` are the operations that use it so far.

    Args:
        indices: The numbers, of which each is one of the uses.
        paired: Whether the numbers are pairs, from which place to which.
        uses: One item for each use.
    """

    indices: list[int]
    paired: bool
    uses: list[int]

    @property
    def fits(self) -> bool:
        """Whether a reader can apply it: it does not look at that of a value used less than twice.

        It reads numbers of 32 bits.
        """
        count, indices = len(self.uses), [index & _WORD for index in self.indices]
        if count < _ORDERED:
            return True
        if self.paired:
            room = max(count, _ROOM)
            if len(indices) & 1 or max(indices[::2], default=0) >= room:
                return False
            moved = list(range(room))
            for source, target in zip(indices[::2], indices[1::2], strict=True):
                moved[source] = target
            indices = moved[:count]
        return sorted(indices) == list(range(count))


class Sizes(NamedTuple):
    """How many entries each table has, to check indices against.

    Args:
        names: Operation names.
        attributes: Attributes.
        types: Types.
        properties: Property entries.
        format: The version of the bytecode format.
        places: For each attribute whether it can be a location.
        ordered: The names of operations in whose regions values are defined before they are used:
            all of VHLO.
        ends: The names of operations that end a block in such a region.
        known: The names of operations that are known to end none.
        functions: The names of functions.
        applying: The names of operations that apply their regions to scalars.
    """

    names: int
    attributes: int
    types: int
    properties: int
    format: int
    places: bytes
    ordered: frozenset[int] = frozenset()
    ends: frozenset[int] = frozenset()
    known: frozenset[int] = frozenset()
    functions: frozenset[int] = frozenset()
    applying: frozenset[int] = frozenset()

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


class Head(NamedTuple):
    """An `Operation` without its place and what it uses: what many have in common.

    Args:
        name: The operation name.
        attributes: As of an `Operation`.
        properties: As of an `Operation`.
        results: The types of its results.
        regions: How many regions it has.
        isolated: Whether its regions use no value from outside.
        depth: In how many operations it lies.
    """

    name: int
    attributes: int
    properties: int
    results: tuple[int, ...]
    regions: int
    isolated: bool
    depth: int


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


def like(one: Operation | Head | OpSignature) -> tuple[object, ...]:
    """Return what an operation and its signature have in common."""
    return (one.name, one.attributes, one.properties, one.results)


class Held(NamedTuple):
    """What an operation with regions has.

    Args:
        name: The operation name.
        attributes: The attribute dictionary; -1 if there is none.
        properties: The property entry; -1 if there is none.
    """

    name: int
    attributes: int
    properties: int


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
        known: What the region can use of the frame around it: the numbers below.
        dominated: Whether in the current block values have to be defined before they are used.
        places: How many blocks the current region has, for successors to go to.
        orders: The orders of the uses of its values.
        early: How often values were used before they were defined.
        held: What the operation has besides.
        outside: The number of the first value in a region around that is applied to scalars; 0 if
            there is none.
    """

    __slots__ = (
        "base",
        "blocks",
        "defined",
        "dominated",
        "early",
        "end",
        "held",
        "known",
        "operations",
        "orders",
        "outside",
        "owner",
        "places",
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
        self.known = base
        self.dominated = False
        self.places = 1
        self.orders: dict[int, _Order] | None = None
        self.early: dict[int, int] | None = None
        self.held: Held | None = None
        self.outside = 0


class Walker:
    """Stands before one operation after another, outer ones first.

    Args:
        section: The IR section.
        sizes: The sizes of the tables.
        typed: Whether to remember the types of values, for `operand_type`.

    Attributes:
        deepest: In how many regions the deepest block so far lies.
        arguments: The types of the arguments of blocks so far.
        orders: Whether any value so far has an order of its uses.
        invalid: The first thing that MLIR's verifier refuses, in words; empty if there is none.
        entries: The types of the arguments of functions, and None for what has an empty region.
        captures: Whether a region that is applied to scalars uses a value from outside it.
    """

    __slots__ = (
        "_bases",
        "_sizes",
        "arguments",
        "captures",
        "cursor",
        "deepest",
        "entries",
        "frames",
        "invalid",
        "orders",
        "typed",
    )

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
        self.orders = False
        self.invalid = ""
        self.entries: set[tuple[Held, tuple[int, ...] | None]] = set()
        self.captures = False
        head = self.cursor.varint()
        top.operations = head >> 1
        self.read_arguments(head)
        if head & 1:
            self.note("arguments outside of any operation, which readers crash on")

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
        location = sizes.locate(cursor)
        attributes = cursor.index(sizes.attributes, "attribute") if mask & _ATTRIBUTES else -1
        properties = -1
        if mask & _PROPERTIES:
            if sizes.format < Format.NATIVE_PROPERTIES:
                raise cursor.malformed(f"format {sizes.format} has no properties")
            properties = cursor.index(sizes.properties, "property entry")
        self.note_end(name, last=frame.operations == 1)
        results = self._numbers(sizes.types, "type") if mask & _RESULTS else ()
        scope = frame.base + frame.size
        operands = self._numbers(scope, "value") if mask & _OPERANDS else ()
        if operands:
            self.use(operands)
        if mask & _SUCCESSORS:
            blocks = self._numbers(frame.places, "successor")
            if blocks and name in sizes.ordered:
                self.note("an operation of VHLO with successors")
        known = frame.base + frame.defined
        if mask & _ORDERS and sizes.format >= Format.USE_LIST_ORDERS:
            self._use_list_orders(len(results), known if frame.size else None)
        self.define(results)
        regions, isolated = cursor.flagged() if mask & _REGIONS else (0, False)
        depth = len(self.frames) - 1
        if regions:
            held = Held(name, attributes, properties)
            self._enter(held, regions, isolated=isolated, known=known)
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

    def use(self, operands: Sequence[int]) -> None:
        """Count the values that an operation uses, and note those that are not there yet.

        Args:
            operands: The numbers of the values, of which there are so many.
        """
        frame = self.frames[-1]
        known = frame.base + frame.defined
        if max(operands) >= known or min(operands) < frame.base:
            self.captures |= min(operands) < frame.outside
            for value in operands:
                if value >= known or (value < frame.base and not self._is_known(value)):
                    self._use_early(value)
        if self.orders:
            self.count(operands)

    def note(self, what: str) -> None:
        """Note the first thing that is well-formed and that MLIR's verifier refuses."""
        self.invalid = self.invalid or f"{what} (byte {self.cursor.origin + self.cursor.position})"

    def note_end(self, name: int, *, last: bool) -> None:
        """Note an operation that ends its block in the middle of it, or does not at the end.

        Args:
            name: The name of the operation.
            last: Whether it is the last one of the current block.
        """
        sizes = self._sizes
        if self.frames[-1].owner not in sizes.ordered:
            return
        if last and name in sizes.known:
            self.note("a block does not end with an operation that ends it")
        if not last and name in sizes.ends:
            self.note("an operation ends a block and is not the last one in it")

    def count(self, operands: Iterable[int]) -> None:
        """Count the uses of values that have an order of them."""
        for value in operands:
            orders = self._owner(value).orders
            if orders is not None and value in orders:
                orders[value].uses.append(value)

    def _owner(self, value: int) -> Frame:
        """Return the frame that a value is of."""
        frame = self.frames[-1]
        if value >= frame.base:
            return frame
        # First values rise from an isolated frame inwards.
        return self.frames[bisect_right(self._bases, value, frame.root) - 1]

    def _is_known(self, value: int) -> bool:
        """Whether a value of a frame around the current one was defined before that began."""
        return value < self.frames[bisect_right(self._bases, value, self.frames[-1].root)].known

    def _use_early(self, value: int) -> None:
        if self.frames[-1].dominated:
            self.note(f"value {value} is used before it is defined")
        owner = self._owner(value)
        owner.early = owner.early or {}
        owner.early[value] = owner.early.get(value, 0) + 1

    def _use_list_orders(self, values: int, first: int | None) -> int:
        """Read the order in which the uses of some values are listed.

        Args:
            values: How many values there are.
            first: The number of the first; None if they have none.

        Returns:
            How many values have an order.
        """
        cursor, frame = self.cursor, self.frames[-1]
        lists = cursor.count() if values > 1 else 1
        orders = frame.orders = frame.orders or {}
        self.orders = True
        for _ in range(lists):
            at = cursor.varint() & _WORD if values > 1 else 0
            count, paired = cursor.flagged()
            indices = cursor.varints(count)
            # Readers take the first order of a value, and skip those of values that are not there.
            if first is not None and at < values and first + at not in orders:
                early = (frame.early or {}).get(first + at, 0)
                orders[first + at] = _Order(indices, paired, [first + at] * early)
        return lists

    def _settle(self, frame: Frame) -> None:
        """Compare the orders of uses with the uses, and what was used early with what is there."""
        end = frame.base + frame.defined
        missing = next((value for value in frame.early or () if value >= end), None)
        if missing is not None:
            raise self.cursor.malformed(f"value {missing} is used and never defined")
        for value, order in (frame.orders or {}).items():
            if not order.fits:
                raise self.cursor.malformed(
                    f"the order of the uses of value {value} does not fit {len(order.uses)} uses"
                )
        frame.early = frame.orders = None

    def define(self, results: tuple[int, ...]) -> None:
        """Count an operation of the current block as read, with the values it defines."""
        frame = self.frames[-1]
        frame.operations -= 1
        if not frame.size:
            return  # readers do not number the values of a region that announces none
        frame.defined += len(results)
        if self.typed:
            frame.types += results

    def enter_block(self, held: Held, length: int | None, size: int, head: int, known: int) -> None:
        """Enter the only block of the only region of an operation, its heads having been read.

        Args:
            held: What the operation has.
            length: The length of the section that holds the region, which starts here; None if
                the region is not isolated, and so has none.
            size: How many values the region announces.
            head: The head of the block: the number of operations, and whether there are arguments.
            known: The number of the first value around that the region cannot use.

        Raises:
            MalformedArtifact: The section or the operations do not fit.
        """
        cursor = self.cursor
        sectioned = length is not None
        frame = self._push(held, 0, known, isolated=sectioned, sectioned=sectioned)
        frame.dominated = held.name in self._sizes.ordered
        if length is not None:
            _, cursor.end = Cursor(cursor.data, cursor.position, cursor.end, cursor.origin).skip(
                length
            )
        frame.size = size
        frame.operations = head >> 1

    def _enter(self, held: Held, regions: int, *, isolated: bool, known: int) -> None:
        cursor = self.cursor
        if regions > cursor.end - cursor.position:
            raise cursor.malformed(f"{regions} regions do not fit the section")
        sectioned = isolated and self._sizes.format >= Format.LAZY_LOADING
        self._push(held, regions, known, isolated=isolated, sectioned=sectioned)
        if sectioned:
            number, content = cursor.section()
            if number != Section.IR:
                raise cursor.malformed(f"regions in section {number}")
            cursor.position, cursor.end = content.position, content.end

    def _push(
        self, held: Held, regions: int, known: int, *, isolated: bool, sectioned: bool
    ) -> Frame:
        parent = self.frames[-1]
        base = 0 if isolated else parent.base + parent.size
        root = len(self.frames) if isolated else parent.root
        frame = Frame(regions, self.cursor.end, base, root, sectioned=sectioned, owner=held.name)
        frame.held = held
        frame.known = 0 if isolated else known
        if held.name in self._sizes.applying:
            frame.outside = base
        elif not isolated:
            frame.outside = parent.outside
        self.deepest = max(self.deepest, len(self.frames))
        self.frames.append(frame)
        self._bases.append(base)
        return frame

    def _open_region(self, frame: Frame) -> None:
        cursor = self.cursor
        frame.regions -= 1
        frame.blocks = frame.places = cursor.count()
        frame.dominated = self.frames[-1].owner in self._sizes.ordered
        frame.size = cursor.varint() if frame.blocks else 0
        if not frame.blocks and frame.held:
            self.entries.add((frame.held, None))
        frame.defined = 0
        frame.types = []

    def _close_region(self, frame: Frame) -> None:
        if frame.defined > frame.size:
            raise self.cursor.malformed(
                f"a region defines {frame.defined} values and announces {frame.size}"
            )
        if frame.orders or frame.early:
            self._settle(frame)

    def _close_frame(self, frame: Frame) -> None:
        cursor = self.cursor
        self.frames.pop()
        self._bases.pop()
        if frame.sectioned:
            cursor.position = cursor.end  # readers do not look at what is left
        cursor.end = frame.end

    def _open_block(self, frame: Frame) -> None:
        frame.blocks -= 1
        if frame.blocks + 1 < frame.places:
            frame.dominated = False  # no operation of VHLO leads to another block
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
        if not head >> 1 and frame.owner in sizes.ordered:
            self.note("a block without operations")
        first = frame.blocks + 1 >= frame.places
        if not head & 1:
            if first:
                self._note_entry(frame, [])
            return
        found = self._argument_types()
        ordered = sizes.format >= Format.USE_LIST_ORDERS and cursor.byte()
        if ordered and not self._use_list_orders(len(found), frame.base + frame.defined):
            raise cursor.malformed("none of the arguments has an order of its uses")
        if first:
            self._note_entry(frame, found)
        frame.defined += len(found)
        if frame.defined > frame.size:
            self._close_region(frame)  # raises
        self.arguments.update(found)
        if self.typed:
            frame.types += found

    def _argument_types(self) -> list[int]:
        """Read the types of the arguments of a block, and where they come from."""
        cursor, sizes = self.cursor, self._sizes
        elided = sizes.format >= Format.ELIDED_ARGUMENT_LOCATIONS
        varint = cursor.varint
        found: list[int] = []
        for _ in range(cursor.count()):
            # The type, since format 4 with a flag: whether a location follows.
            type_ = varint()
            if type_ & 1 or not elided:
                sizes.locate(cursor)
            found.append(type_ >> 1 if elided else type_)
        if found and max(found) >= sizes.types:
            raise cursor.malformed(f"there is no type {max(found)}")
        return found

    def _note_entry(self, frame: Frame, arguments: list[int]) -> None:
        """Note the types of the arguments of a function."""
        if frame.owner in self._sizes.functions and frame.held:
            self.entries.add((frame.held, tuple(arguments)))


Source: TypeAlias = "tuple[int, int]"
"""An operation by its number, and which of its results."""


class UseWalker(Walker):
    """A Walker that remembers of each value which operation defines it, not its type."""

    __slots__ = ("_number", "_results")

    def __init__(self, section: Cursor, sizes: Sizes) -> None:
        self._number = 0
        self._results: list[Source] = []
        super().__init__(section, sizes, typed=True)

    def define(self, results: tuple[int, ...]) -> None:
        """Count an operation as read; arguments of blocks have numbers that are not negative."""
        first = len(self._results)
        super().define(tuple(~number for number in range(first, first + len(results))))
        self._results += [(self._number, at) for at in range(len(results))]
        self._number += 1

    def sources(self, operation: Operation) -> tuple[Source | None, ...]:
        """Return the results of operations that the last one read uses.

        Returns:
            One for each operand: None for an argument of a block, and for what is not defined yet,
            of which are the operation's own results.
        """
        if not operation.operands:
            return ()
        own = len(self._results) - len(operation.results)
        found = (self.operand_type(value, operation.depth) for value in operation.operands)
        return tuple(
            self._results[~one] if isinstance(one, int) and -own <= one < 0 else None
            for one in found
        )
