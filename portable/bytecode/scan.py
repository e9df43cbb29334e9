"""All operations of an artifact at once: how often each kind of operation occurs.

Most operations have no region, one result and few operands, and thousands of them differ in
nothing but their location and the values they use. So one pattern reads such an operation in C,
and what it has in common with others, its Shape, is looked at once. Everything else goes through
the careful `Walker`.
"""

from __future__ import annotations

from collections import Counter

from portable.bytecode.encoding import Cursor
from portable.bytecode.operations import Mask, Walker
from portable.bytecode.patterns import (
    ENDS,
    ENTRIES,
    FORMS,
    GROUPS,
    entry_pattern,
    matches,
    needs_care,
    number,
    numbers,
)
from portable.bytecode.tables import Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import NamedTuple

    from portable.bytecode.operations import Sizes
    from portable.bytecode.patterns import Key
else:
    from portable.record import NamedTuple

__all__ = ["Scan", "Shape"]

# Compiling the pattern takes as long as reading this many bytes of operations one by one.
_COMPILE_WORTHWHILE = 16384
_read_slowly = 0
# Operations that are counted together.
_BATCH = 2048
_EXAMPLES = 3


class Shape(NamedTuple):
    """What operations have in common that differ only in location and values.

    Args:
        name: The operation name.
        attributes: The attribute dictionary; -1 if there is none.
        properties: The property entry; -1 if there is none.
        results: The types of the results.
        operands: How many operands there are.
        regions: How many regions there are.
        operand_types: The types of the operands, None for one that is not known; asked for only
            where something depends on them.
    """

    name: int
    attributes: int
    properties: int
    results: tuple[int, ...]
    operands: int
    regions: int
    operand_types: tuple[int | None, ...] | None = None


class Scan:
    """Counts the Shapes of all operations.

    Args:
        section: The IR section.
        sizes: The sizes of the tables.
        typed: The names of operations whose operand types are wanted.

    Attributes:
        shapes: How many operations have each Shape.
        typed: The names of operations whose operand types are known.

    Raises:
        MalformedArtifact: An operation, block or region does not make sense.
    """

    def __init__(self, section: Cursor, sizes: Sizes, typed: Collection[int] = ()) -> None:
        self.shapes: Counter[Shape] = Counter()
        self._section = section
        self._sizes = sizes
        self.typed = frozenset(typed)
        self._shape_of: dict[Key, Shape] = {}
        self._typed_shapes: dict[tuple[Shape, tuple[int | None, ...]], Shape] = {}
        self._batches: list[_Batch] = []
        self._locations: dict[Shape, list[int]] = {}
        fast = _worthwhile(section.end - section.position)
        if not fast or not self._read_all(fast=True):
            self._read_all(fast=False)

    def locations(self, wanted: Collection[Shape]) -> dict[Shape, list[int]]:
        """Find operations of some Shapes.

        Args:
            wanted: The Shapes.

        Returns:
            For each the location attributes of its first operations, three at most.
        """
        found = {shape: list(self._locations.get(shape, ())) for shape in wanted}
        for batch in self._batches:
            missing = {shape for shape in batch.shapes if len(found.get(shape, _FULL)) < _EXAMPLES}
            if missing:
                self._locate(batch, missing, found)
        return found

    def _read_all(self, *, fast: bool) -> bool:
        """Read all operations; return False if some have to be read one by one."""
        walker = self._walker = Walker(self._section, self._sizes, typed=bool(self.typed))
        pending = _Pending()
        data = walker.cursor.data
        while walker.advance():
            if fast and needs_care(data, walker.cursor.position):
                if self._enter():
                    continue
            elif fast and self._run(pending):
                if len(pending.keys) >= _BATCH and not self._flush(pending):
                    return False
                continue
            self._read_one()
        return self._flush(pending)

    def _read_one(self) -> None:
        """Read an operation with the careful walker."""
        operation = self._walker.read()
        shape = Shape(
            operation.name,
            operation.attributes,
            operation.properties,
            operation.results,
            len(operation.operands),
            operation.regions,
        )
        self._count(shape, operation.operands, operation.location, operation.depth)

    def _enter(self) -> bool:
        """Read an operation and the heads of its region and block; return whether it was done."""
        walker = self._walker
        cursor = walker.cursor
        if self._sizes.format < Format.LAZY_LOADING:
            return False
        match = entry_pattern().match(cursor.data, cursor.position, cursor.end)
        if match is None:
            return False
        *key, operands, length, size, block = match.groups()
        shape = self._shape(tuple(key), ENTRIES, 1)
        values = numbers(operands) if shape.name in self.typed else ()
        location = number(bytes(cursor.data[match.end(1) + 1 : match.end(1) + 4]))
        self._count(shape, values, location, len(walker.frames) - 1)
        walker.define(shape.results)
        if length is None:
            walker.enter_block(None, number(size), number(block))
        else:
            cursor.position = match.end(len(key) + 2)  # where the section starts
            walker.enter_block(number(length), number(size), number(block))
        cursor.position = match.end()
        walker.read_arguments(number(block))
        return True

    def _count(self, shape: Shape, operands: Sequence[int], location: int, depth: int) -> None:
        if shape.name in self.typed:
            types = tuple([self._type_of(value, depth) for value in operands])
            known = self._typed_shapes.get((shape, types))
            if known is None:
                known = self._typed_shapes[shape, types] = shape._replace(operand_types=types)
            shape = known
        count = self.shapes[shape] = self.shapes[shape] + 1
        if count <= _EXAMPLES:
            self._locations.setdefault(shape, []).append(location)

    def _run(self, pending: _Pending) -> bool:
        """Read operations with the pattern as far as it goes; return whether there were any."""
        walker = self._walker
        cursor, frame = walker.cursor, walker.frames[-1]
        start = cursor.position
        found = matches(cursor.data, start, cursor.end, min(frame.operations, _BATCH))
        if not found:
            return False
        keys = list(map(GROUPS, found))
        cursor.position = found[-1].end()
        pending.keys += keys
        pending.runs.append((start, cursor.position, len(keys)))
        frame.operations -= len(keys)
        frame.defined += list(map(ENDS, keys)).count(None)
        if walker.typed:
            frame.types += [key for key in keys if ENDS(key) is None]
        return True

    def _flush(self, pending: _Pending) -> bool:
        """Count what the pattern has read; return False if operand types are wanted of it."""
        shapes: Counter[Shape] = Counter()
        for key, count in Counter(pending.keys).items():
            shapes[self._shape(key)] += count
        if not self.typed.isdisjoint({shape.name for shape in shapes}):
            self.shapes.clear()
            self._locations.clear()
            self._batches.clear()
            return False
        self.shapes.update(shapes)
        self._batches.append(_Batch(pending.runs, frozenset(shapes)))
        pending.keys, pending.runs = [], []
        return True

    def _shape(self, key: Key, forms: Sequence[int] = FORMS, regions: int = 0) -> Shape:
        """Decode and check what a pattern found."""
        shape = self._shape_of.get(key)
        if shape is not None:
            return shape
        form, content = next(
            (form, part) for form, part in zip(forms, key[1:], strict=True) if part is not None
        )
        origin, sizes = self._walker.cursor.origin, self._sizes
        names, attributes, properties = key[0] or b"", -1, -1
        name = Cursor(names, 0, len(names), origin).index(sizes.names, "operation name")
        cursor = Cursor(content, 0, len(content), origin)
        if form & _ATTRIBUTES:
            attributes = cursor.index(sizes.attributes, "attribute")
        if form & _PROPERTIES:
            properties = cursor.index(sizes.properties, "property entry")
        results: tuple[int, ...] = ()
        if form & _RESULTS:
            cursor.varint()  # one
            results = (cursor.index(sizes.types, "type"),)
        operands = cursor.varint() if form & _OPERANDS else 0
        shape = Shape(name, attributes, properties, results, operands, regions)
        self._shape_of[key] = shape
        return shape

    def _type_of(self, value: int, depth: int) -> int | None:
        known = self._walker.operand_type(value, depth)
        if isinstance(known, tuple):
            return self._shape(known).results[0]
        return known if isinstance(known, int) else None

    def _locate(self, batch: _Batch, missing: set[Shape], found: dict[Shape, list[int]]) -> None:
        """Read a batch again and note where the missing Shapes occur."""
        content = self._walker.cursor.data
        for start, end, count in batch.runs:
            for match in matches(content, start, end, count):
                shape = self._shape_of[match.groups()]
                if shape in missing:
                    found[shape].append(Cursor(content, match.end(1) + 1, end).varint())
                    if len(found[shape]) == _EXAMPLES:
                        missing.remove(shape)
            if not missing:
                return


class _Batch(NamedTuple):
    """Runs that were counted together: start, end and length of each, and the Shapes in them."""

    runs: list[tuple[int, int, int]]
    shapes: frozenset[Shape]


class _Pending:
    """What the pattern has read and nobody has counted yet."""

    __slots__ = ("keys", "runs")

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self.runs: list[tuple[int, int, int]] = []


_FULL = (0,) * _EXAMPLES
_ATTRIBUTES, _RESULTS, _OPERANDS, _PROPERTIES = map(
    int, (Mask.ATTRIBUTES, Mask.RESULTS, Mask.OPERANDS, Mask.PROPERTIES)
)


def _worthwhile(size: int) -> bool:
    """Say whether patterns pay off: for one large artifact, or once for many small ones."""
    global _read_slowly  # noqa: PLW0603 - a process compiles the patterns once
    _read_slowly += size
    return _read_slowly >= _COMPILE_WORTHWHILE
