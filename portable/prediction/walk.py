"""The operations of a program one after another, with where their operands come from.

Many forms follow values, and a program has many ops: they are read once, kept in few bytes, and
found by their names, so that a form does not pass by what it is not about.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from portable.bytecode.layouts import VHLO
from portable.bytecode.operations import IN_FUNCTION, Head

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from portable.bytecode.operations import Operation, Source

__all__ = ["CONSTANT", "MOST_KEPT", "Visit", "Walk"]

CONSTANT = "vhlo.constant_v1"
"""The op that is a constant."""
MOST_KEPT = 2_000
"""Of so many ops the operands are kept as they were read. More would take more memory than their
bytes account for: of the others there are numbers, out of which they are made when looked at."""
# The ops that are a constant of another shape where their operand is a constant.
_RESHAPING = frozenset({"vhlo.broadcast_in_dim_v1", "vhlo.reshape_v1"})
_NONE = -1


class Visit:
    """One operation on the way through a program.

    Attributes:
        number: Its number, from 0 on.
        name: Its name, as `vhlo.tan_v1`.
        operation: What it is.
    """

    __slots__ = ("_walk", "name", "number", "operation")

    def __init__(self, walk: Walk, number: int, name: str, operation: Head) -> None:
        self._walk = walk
        self.number, self.name, self.operation = number, name, operation

    @property
    def operands(self) -> tuple[int, ...]:
        """The values it uses, by their numbers."""
        walk, at = self._walk, self.number - MOST_KEPT
        return tuple(walk.taken[walk.begins[at] : walk.begins[at + 1]])

    @property
    def sources(self) -> tuple[Source | None, ...]:
        """What its operands are results of; see `Bytecode.uses`."""
        # Forms ask for these of every op, again and again: what calls nothing costs half.
        walk, at = self._walk, self.number - MOST_KEPT
        first, last = walk.begins[at], walk.begins[at + 1]
        makers = walk.makers[first:last]
        made = zip(makers, walk.which[first:last], strict=True)
        return tuple([one if one[0] >= 0 else None for one in made] if _NONE in makers else made)

    @property
    def constants(self) -> Mapping[int, Head]:
        """The operations that are constants, by number, each with the one that says of what.

        Those that give a constant in another shape are among them.
        """
        return self._walk.constants

    @property
    def first(self) -> int | None:
        """The number of the operation that gives the first operand; None if there is none."""
        sources = self.sources
        return sources[0][0] if sources and sources[0] else None

    def constant(self, source: Source | None) -> Head | None:
        """Return the constant that an operand is; None if it is none."""
        return None if source is None else self._walk.constants.get(source[0])


class _Kept(Visit):
    """One of which everything is kept, see `MOST_KEPT`."""

    __slots__ = ("_operands", "_sources")

    def keep(self, operands: tuple[int, ...], sources: tuple[Source | None, ...]) -> None:
        """Keep what it uses."""
        self._operands, self._sources = operands, sources

    @property
    def operands(self) -> tuple[int, ...]:
        return self._operands

    @property
    def sources(self) -> tuple[Source | None, ...]:
        return self._sources


class Walk:
    """All operations of a program, in their order.

    Args:
        uses: The operations with what they use, as `Bytecode.uses` yields them.
        names: The names of ops, as `vhlo.tan_v1`, by their numbers.

    Attributes:
        around: For each operation the number of the one that it stands in; -1 for the outermost.
        apart: For each operation whether it stands in a body that numbers its own values, 0 or 1.
        constants: See `Visit`.
        begins: Of operations of which only numbers are kept, where their operands begin.
        taken: These operands.
        makers: For each of them the operation that it is a result of.
        which: And which of its results it is.
    """

    def __init__(
        self,
        uses: Iterable[tuple[Operation, tuple[Source | None, ...]]],
        names: Sequence[str],
    ) -> None:
        self._names = names
        self._visits: list[Visit] = []
        self.begins = array("Q", [0])
        self.taken, self.makers, self.which = array("Q"), array("q"), array("Q")
        self.around, self.apart = array("q"), bytearray()
        self.constants: dict[int, Head] = {}
        self._numbers: dict[str, Sequence[int]] = {}
        self._within: dict[str, frozenset[int]] = {}
        self._read(uses)

    def _read(self, uses: Iterable[tuple[Operation, tuple[Source | None, ...]]]) -> None:
        heads: dict[Head, Head] = {}
        numbers: dict[int, array[int]] = defaultdict(partial(array, "Q"))
        path: list[int] = []
        for number, (operation, sources) in enumerate(uses):
            name, depth = self._names[operation.name], operation.depth
            head = Head(operation[0], *operation[2:5], *operation[6:9])
            head = heads.setdefault(head, head)
            if number < MOST_KEPT:
                visit: Visit = (kept := _Kept(self, number, name, head))
                kept.keep(operation.operands, sources)
            else:
                visit = Visit(self, number, name, head)
                if sources:
                    self.taken.extend(operation.operands)
                    self.makers.extend([one[0] if one else _NONE for one in sources])
                    self.which.extend([one[1] if one else 0 for one in sources])
                self.begins.append(len(self.taken))
            self._visits.append(visit)
            # Of a damaged file an op may stand behind what ends its body, and that be left out.
            depth = min(depth, len(path))
            owner = path[depth - 1] if depth else _NONE
            self.around.append(owner)
            in_body = depth > IN_FUNCTION
            apart = in_body and (self.apart[owner] or self._visits[owner].operation.isolated)
            self.apart += b"\1" if apart else b"\0"  # a call would be for each operation
            path[depth:] = [number]
            numbers[operation.name].append(number)
            if name == CONSTANT and head.results:  # of a damaged file it may have none
                self.constants[number] = head
            elif name in _RESHAPING and sources and sources[0] and sources[0][0] in self.constants:
                self.constants[number] = self.constants[sources[0][0]]
        for at, found in numbers.items():
            name = self._names[at]
            kind = name.rpartition("_v")[0]
            if not kind and name.startswith(f"{VHLO}."):
                continue  # an op that is called `vhlo.call` is not one of a version of it
            for key in (name,) if "_v" in kind else (name, kind):  # `x_v1_v2` is no `x_v1`
                # Several entries of the table of names can be the same name.
                known = self._numbers.get(key)
                self._numbers[key] = sorted([*known, *found]) if known else found

    def __len__(self) -> int:
        return len(self._visits)

    def __iter__(self) -> Iterator[Visit]:
        return iter(self._visits)

    def __getitem__(self, number: int) -> Visit:
        return self._visits[number]

    def of(self, names: Collection[str]) -> Iterator[Visit]:
        """Return the operations of some names, each with its version or, for all, without.

        Args:
            names: As `vhlo.tan_v1` or `vhlo.tan`.
        """
        found = [self._numbers[name] for name in names if name in self._numbers]
        numbers = found[0] if len(found) == 1 else sorted(chain(*found))
        return map(self._visits.__getitem__, numbers)

    def below(self, number: int) -> Iterator[Visit]:
        """Yield the operations that stand in one, also deeper."""
        depth = self._visits[number].operation.depth
        for inner in range(number + 1, len(self)):
            visit = self._visits[inner]
            if visit.operation.depth <= depth:
                return
            yield visit

    def within(self, name: str) -> frozenset[int]:
        """Return the operations that stand in ones of a name, as `of` takes it, however deep."""
        if name not in self._within:  # several forms ask for the same
            outer, found = {visit.number for visit in self.of([name])}, set[int]()
            for number, around in enumerate(self.around):
                if around in outer or around in found:
                    found.add(number)
            self._within[name] = frozenset(found)
        return self._within[name]

    def head(self, number: int) -> Head:
        """Return what an operation is."""
        return self._visits[number].operation

    def type(self, source: Source) -> int:
        """Return the type of a result of an operation."""
        return self._visits[source[0]].operation.results[source[1]]
