"""Runs of plain operations, read by patterns and counted a batch at a time."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, chain, islice, repeat
from operator import itemgetter, lt
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.encoding import numbers
from portable.bytecode.operations import EXAMPLES, Held, Mask, OpSignature
from portable.bytecode.patterns import (
    DEFINES,
    ENDS,
    ENTRIES,
    FORMS,
    GROUPS,
    encoded,
    entry_pattern,
    matches,
    needs_care,
    number,
)
from portable.bytecode.tables import Format

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from re import Match

    from portable.bytecode.operations import Sizes, Walker
    from portable.bytecode.patterns import Key
    from portable.bytecode.scan import Place, Scan

__all__ = ["Runs"]

# How many operations a pattern reads at most before it is looked at what they are.
_LONGEST = 2048
_NAME = itemgetter(0)
_FULL = (0,) * EXAMPLES
_MOST_KEYS = 4096
_ATTRIBUTES, _RESULTS, _OPERANDS, _PROPERTIES = map(
    int, (Mask.ATTRIBUTES, Mask.RESULTS, Mask.OPERANDS, Mask.PROPERTIES)
)


class _Batch(NamedTuple):
    """Runs counted together: start, end and length of each, and the op signatures in them."""

    runs: list[tuple[int, int, int]]
    signatures: frozenset[OpSignature]


class Runs:
    """Reads operations with patterns, on behalf of a Scan.

    Args:
        scan: Takes the counts.
        walker: Stands before the next operation, and is moved on.
        sizes: The sizes of the tables.
    """

    def __init__(self, scan: Scan, walker: Walker, sizes: Sizes) -> None:
        self._scan = scan
        self._walker = walker
        self._sizes = sizes
        self._signature_of: dict[Key, OpSignature] = {}
        self._batches: list[_Batch] = []
        # What has been read and not been counted yet.
        self._keys: list[Key | OpSignature] = []
        self._pending: list[tuple[int, int, int]] = []
        self._typed = frozenset(map(encoded, scan.typed))
        self._ends = frozenset(map(encoded, sizes.ends))

    def read(self) -> bool:
        """Read as many operations as a pattern does; return whether there were any.

        Raises:
            MalformedArtifact: An operation or a block does not make sense.
        """
        cursor = self._walker.cursor
        if needs_care(cursor.data, cursor.position):
            return self._enter()
        return self._run()

    def keep(self, signature: OpSignature) -> None:
        """Count an operation in its place among those of the patterns."""
        self._keys.append(signature)

    def settle(self, least: int = 1) -> bool:
        """Count what has been read.

        Args:
            least: Leave it for later if there are fewer operations.

        Returns:
            False if the types of operands are wanted of some of them: all has to be read again.

        Raises:
            MalformedArtifact: An operation does not make sense.
        """
        if len(self._keys) < least:
            return True
        counts = self._scan.signatures
        found: set[OpSignature] = set()
        for key, count in Counter(self._keys).items():
            if isinstance(key, OpSignature):
                signature = key
            else:
                signature = self.signature(key)
                found.add(signature)
            counts[signature] = counts.get(signature, 0) + count
        if not self._scan.typed.isdisjoint({signature.name for signature in found}):
            return False
        self._batches.append(_Batch(self._pending, frozenset(found)))
        self._keys, self._pending = [], []
        if len(self._signature_of) > _MOST_KEYS:
            self._signature_of.clear()  # no two operations need have the same
        return True

    def signature(self, key: Key, forms: Sequence[int] = FORMS, regions: int = 0) -> OpSignature:
        """Decode and check what a pattern found.

        Args:
            key: Its groups.
            forms: The masks that the groups behind the first stand for.
            regions: How many regions the operation has.

        Returns:
            The OpSignature.

        Raises:
            MalformedArtifact: It names something that does not exist.
        """
        signature = self._signature_of.get(key)
        if signature is not None:
            return signature
        form, content = next(
            (form, part) for form, part in zip(forms, key[1:], strict=True) if part is not None
        )
        sizes, name, rest = self._sizes, number(key[0] or b"\1"), iter(numbers(content) or ())
        attributes = next(rest, -1) if form & _ATTRIBUTES else -1
        properties = next(rest, -1) if form & _PROPERTIES else -1
        results: tuple[int, ...] = ()
        if form & _RESULTS:
            results = tuple(islice(rest, 1, 2))  # behind how many there are
        operands = next(rest, 0) if form & _OPERANDS else 0
        if (
            name >= sizes.names
            or attributes >= sizes.attributes
            or properties >= sizes.properties
            or max(results, default=0) >= sizes.types
        ):
            raise self._walker.cursor.malformed("what is not there")  # said by the careful walker
        signature = OpSignature(name, attributes, properties, results, operands, regions)
        self._signature_of[key] = signature
        return signature

    def locate(self, found: dict[OpSignature, list[Place]]) -> None:
        """Find operations of some op signatures.

        Args:
            found: By OpSignature the first of its operations, of which none is known yet; three
                at most are added.
        """
        for batch in self._batches:
            missing = {
                signature
                for signature in batch.signatures
                if len(found.get(signature, _FULL)) < EXAMPLES
            }
            if missing:
                self._locate(batch, missing, found)

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
        signature = self.signature(tuple(key), ENTRIES, 1)
        values = numbers(operands) or ()
        form = next(at for at, part in enumerate(key[1:], start=2) if part is not None)
        self._demand_there(bytes(cursor.data[match.end(1) + 1 : match.start(form)]))
        walker.use(values)
        walker.note_end(signature.name, last=walker.frames[-1].operations == 1)
        self._scan.count(signature, values, self._place(match), len(walker.frames) - 1)
        frame = walker.frames[-1]
        known = frame.base + frame.defined
        held = Held(signature.name, signature.attributes, signature.properties)
        walker.define(signature.results)
        if length is None:
            walker.enter_block(held, None, number(size), number(block), known)
        else:
            cursor.position = match.end(len(key) + 2)  # where the section starts
            walker.enter_block(held, number(length), number(size), number(block), known)
        cursor.position = match.end()
        walker.read_arguments(number(block))
        return True

    def _demand_there(self, located: bytes) -> None:
        """Refuse locations that are not there: a key has none.

        Args:
            located: The locations of some operations of the current block.
        """
        cursor, sizes = self._walker.cursor, self._sizes
        locations = numbers(located) or ()
        if max(locations, default=0) >= sizes.attributes:
            raise cursor.malformed(f"there is no attribute {max(locations)}")
        if not all(map(sizes.places.__getitem__, locations)):
            raise cursor.malformed("an attribute is not a location")

    def _use(self, used: bytes, counts: Iterable[int], defined: Iterable[int]) -> None:
        """Refuse operands that are not there yet: a key has none.

        Args:
            used: The operands of some operations of the current block.
            counts: How many operands each has.
            defined: For each whether it has a result.
        """
        walker = self._walker
        frame = walker.frames[-1]
        values = numbers(used) or ()
        if not values:
            return
        known = accumulate(defined, initial=frame.base + frame.defined)
        limits = chain.from_iterable(map(repeat, known, counts))
        if min(values) < frame.base or not all(map(lt, values, limits)):
            self._use_each(values, counts, defined)
        elif walker.orders:
            walker.count(values)

    def _use_each(
        self, values: Sequence[int], counts: Iterable[int], defined: Iterable[int]
    ) -> None:
        """As `_use`, one operation after another: some values are of regions around, or early."""
        walker = self._walker
        frame = walker.frames[-1]
        before, rest = frame.defined, iter(values)
        for count, defines in zip(counts, defined, strict=True):
            if count:
                walker.use([*islice(rest, count)])
            frame.defined += defines
        frame.defined = before

    def _note_end(self, keys: Sequence[Key], *, last: bool) -> None:
        """As `note_end` of the walker, of several operations.

        Args:
            keys: What they have in common with others.
            last: Whether the last of them is the last of the current block.
        """
        walker = self._walker
        walker.note_end(number(keys[-1][0] or b"\1"), last=last)
        if sum(map(self._ends.__contains__, map(_NAME, keys))) > (keys[-1][0] in self._ends):
            for key in keys[:-1]:
                walker.note_end(number(key[0] or b"\1"), last=False)

    def _run(self) -> bool:
        """Read operations with the pattern as far as it goes; return whether there were any."""
        walker = self._walker
        cursor, frame = walker.cursor, walker.frames[-1]
        start = cursor.position
        found = matches(cursor.data, start, cursor.end, min(frame.operations, _LONGEST))
        if not found:
            return False
        keys, data = list(map(GROUPS, found)), cursor.data
        forms = [match.lastindex or 0 for match in found]
        self._demand_there(
            b"".join([data[m.end(1) + 1 : m.start(at)] for m, at in zip(found, forms, strict=True)])
        )
        # Readers do not number the values of a region that announces none.
        numbered = list(map(DEFINES.__eq__, map(ENDS, keys))) if frame.size else [False] * len(keys)
        used = [(m.end(at), m.end()) for m, at in zip(found, forms, strict=True)]
        self._use(
            b"".join([data[first:last] for first, last in used]),
            # The number of operands is the last byte in front of them.
            [data[first - 1] >> 1 if first < last else 0 for first, last in used],
            numbered,
        )
        self._note_end(keys, last=len(keys) == frame.operations)
        cursor.position = found[-1].end()
        self._pending.append((start, cursor.position, len(keys)))
        frame.operations -= len(keys)
        frame.defined += sum(numbered)
        self._count(found, keys)
        return True

    def _count(self, found: Sequence[Match[bytes]], keys: list[Key]) -> None:
        """Count operations, those whose operand types are wanted with them."""
        depth, start = len(self._walker.frames) - 1, 0
        for at in [at for at, key in enumerate(keys) if key[0] in self._typed]:
            if start < at:
                self._count_plain(keys[start:at])
            match = found[at]
            content, last = self._walker.cursor.data, match.lastindex or 0
            values = numbers(bytes(content[match.end(last) : match.end()])) or ()
            self._scan.count(self.signature(keys[at]), values, self._place(match), depth)
            self._define(keys[at : at + 1])
            start = at + 1
        self._count_plain(keys[start:])

    def _count_plain(self, keys: list[Key]) -> None:
        owner = self._walker.frames[-1].owner
        if owner in self._scan.typed:
            self._scan.collect(owner, map(self.signature, keys))
        self._keys += keys
        self._define(keys)

    def _define(self, keys: list[Key]) -> None:
        """Note of values what operation defines them, where types are wanted."""
        if self._walker.typed:
            self._walker.frames[-1].types += [key for key in keys if ENDS(key) == DEFINES]

    def _locate(
        self, batch: _Batch, missing: set[OpSignature], found: dict[OpSignature, list[Place]]
    ) -> None:
        """Read a batch again and note where the missing op signatures occur."""
        content = self._walker.cursor.data
        for start, end, count in batch.runs:
            for match in matches(content, start, end, count):
                signature = self.signature(match.groups())
                if signature in missing:
                    found[signature].append(self._place(match))
                    if len(found[signature]) == EXAMPLES:
                        missing.remove(signature)
            if not missing:
                return

    def _place(self, match: Match[bytes]) -> Place:
        """Return where an operation starts, and its location, which follows name and mask."""
        location = number(bytes(match.string[match.end(1) + 1 : match.end(1) + 4]))
        return self._walker.cursor.origin + match.start(), location
