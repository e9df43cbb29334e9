"""All operations of an artifact at once: how often each kind of operation occurs.

Most operations have no region, one result and few operands, and thousands of them differ in
nothing but their location and the values they use. So one pattern reads such an operation in C,
and what it has in common with others, its Shape, is looked at once. Everything else goes through
the careful `Walker`.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import islice, takewhile
from operator import attrgetter, itemgetter, methodcaller
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.encoding import Cursor
from portable.bytecode.operations import Mask, Walker

if TYPE_CHECKING:
    from collections.abc import Collection
    from re import Match, Pattern
    from typing import TypeAlias

    from portable.bytecode.header import Buffer
    from portable.bytecode.operations import Operation, Sizes

    Key: TypeAlias = tuple[bytes | None, ...]

__all__ = ["Scan", "Shape"]

# Compiling the pattern takes as long as reading this many bytes of operations one by one.
_COMPILE_WORTHWHILE = 16384
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
        while walker.advance():
            if not fast or not self._run(pending):
                self._count(walker.read())
            elif len(pending.keys) >= _BATCH and not self._flush(pending):
                return False
        return self._flush(pending)

    def _count(self, operation: Operation) -> None:
        types = None
        if operation.name in self.typed:
            types = tuple([self._type_of(value, operation.depth) for value in operation.operands])
        shape = Shape(
            operation.name,
            operation.attributes,
            operation.properties,
            operation.results,
            len(operation.operands),
            operation.regions,
            types,
        )
        self.shapes[shape] += 1
        if self.shapes[shape] <= _EXAMPLES:
            self._locations.setdefault(shape, []).append(operation.location)

    def _run(self, pending: _Pending) -> bool:
        """Read operations with the pattern as far as it goes; return whether there were any."""
        walker = self._walker
        cursor, frame = walker.cursor, walker.frames[-1]
        start = cursor.position
        if cursor.data[start] & 1 and cursor.data[start + 1 : start + 2] in _CAREFUL:
            return False
        matches = _matches(cursor.data, start, cursor.end, min(frame.operations, _BATCH))
        if not matches:
            return False
        keys = list(map(_GROUPS, matches))
        cursor.position = matches[-1].end()
        pending.keys += keys
        pending.runs.append((start, cursor.position, len(keys)))
        frame.operations -= len(keys)
        frame.defined += list(map(_ENDS, keys)).count(None)
        if walker.typed:
            frame.types += [key for key in keys if _ENDS(key) is None]
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

    def _shape(self, key: Key) -> Shape:
        """Decode and check what the pattern found."""
        shape = self._shape_of.get(key)
        if shape is not None:
            return shape
        form, content = next(
            (form, part) for form, part in zip(_FORMS, key[1:], strict=True) if part is not None
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
        shape = Shape(name, attributes, properties, results, operands, 0)
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
            for match in _matches(content, start, end, count):
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
_GROUPS = methodcaller("groups")
_HAS_GROUP = attrgetter("lastindex")
_ATTRIBUTES, _RESULTS, _OPERANDS, _PROPERTIES = map(
    int, (Mask.ATTRIBUTES, Mask.RESULTS, Mask.OPERANDS, Mask.PROPERTIES)
)
# Masks that the pattern cannot read.
_CAREFUL = frozenset(
    bytes([mask])
    for mask in range(128)
    if mask & (Mask.REGIONS | Mask.SUCCESSORS | Mask.USE_LIST_ORDERS)
)
_MOST_OPERANDS = 8
_INLINED = 3

# The forms that the pattern reads. Those with operands come first, as they share their end.
_WITH_OPERANDS = (
    Mask.RESULTS | Mask.OPERANDS | Mask.PROPERTIES,
    Mask.RESULTS | Mask.OPERANDS,
    Mask.RESULTS | Mask.OPERANDS | Mask.PROPERTIES | Mask.ATTRIBUTES,
    Mask.RESULTS | Mask.OPERANDS | Mask.ATTRIBUTES,
    Mask.OPERANDS,
)
_WITHOUT_OPERANDS = (
    Mask.RESULTS | Mask.PROPERTIES,
    Mask.RESULTS | Mask.ATTRIBUTES,
    Mask.RESULTS | Mask.PROPERTIES | Mask.ATTRIBUTES,
)
_FORMS = tuple(map(int, (*_WITH_OPERANDS, *_WITHOUT_OPERANDS)))
# Gets the group of operations without a result.
_ENDS = itemgetter(1 + _FORMS.index(Mask.OPERANDS))


_read_slowly = 0


def _worthwhile(size: int) -> bool:
    """Say whether the pattern pays off: for one large artifact, or once for many small ones."""
    global _read_slowly  # noqa: PLW0603 - a process compiles the pattern once
    _read_slowly += size
    return _read_slowly >= _COMPILE_WORTHWHILE


def _matches(content: Buffer, start: int, end: int, most: int) -> list[Match[bytes]]:
    """Return the operations from `start` on that the pattern can read, without a gap."""
    # Where no operation matches, the last alternative takes a byte and sets no group.
    found = takewhile(_HAS_GROUP, _pattern().finditer(content, start, end))
    return list(islice(found, most))


@cache
def _pattern() -> Pattern[bytes]:
    """Compile the pattern: the name in group 1, and a group for each form.

    A form's group holds everything between the location and the operands, so that two operations
    have the same groups exactly if they have the same Shape.
    """
    import re  # noqa: PLC0415 - only large artifacts need it

    number = _number_pattern()
    counts = {count: rb"\x%02x" % (count << 1 | 1) for count in range(1, _MOST_OPERANDS + 1)}
    any_count = b"[" + b"".join(counts.values()) + b"]"
    operands = [
        b"(?<=%b)" % code + (number * count if count <= _INLINED else number + b"{%d}" % count)
        for count, code in counts.items()
    ]
    with_operands = [_form_pattern(form, number, any_count) for form in _WITH_OPERANDS]
    without_operands = [_form_pattern(form, number, b"") for form in _WITHOUT_OPERANDS]
    return re.compile(
        b"(%b)(?:(?:%b)(?:%b)|%b)|."
        % (number, b"|".join(with_operands), b"|".join(operands), b"|".join(without_operands)),
        re.DOTALL,
    )


def _form_pattern(form: int, number: bytes, end: bytes) -> bytes:
    """Return the pattern of mask, location and a group with what follows up to the operands."""
    tables = bool(form & Mask.ATTRIBUTES) + bool(form & Mask.PROPERTIES)
    results = rb"\x03" + number if form & Mask.RESULTS else b""
    return rb"\x%02x" % form + number + b"(" + number * tables + results + end + b")"


def _number_pattern() -> bytes:
    """Return the pattern of a number of up to three bytes: trailing zeros tell how many follow."""
    lengths = []
    for more in range(3):
        first = [byte for byte in range(256) if byte & (2 << more) - 1 == 1 << more]
        # Bytes stand for themselves where they can: escapes take longer to compile.
        escaped = [b"\\" * (byte in b"\\]^-[&~|") + bytes([byte]) for byte in first]
        lengths.append(b"[" + b"".join(escaped) + b"]" + b"." * more)
    return b"(?:" + b"|".join(lengths) + b")"
