"""The operations of a program one after another, with where their operands come from.

Many forms follow values, and a program has many ops: they are read once, kept in few bytes, and
found by their names, so that a form does not pass by what it is not about.
"""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.operations import IN_FUNCTION, Operation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from portable.bytecode.operations import Source

__all__ = ["CONSTANT", "MOST_KEPT", "Visit", "Walk"]

CONSTANT = "vhlo.constant_v1"
"""The op that is a constant."""
MOST_KEPT = 2_000
"""So many ops are kept as they were read. More would take more memory than their bytes account for:
of the others there are numbers, out of which each is made when it is looked at."""
# The ops that are a constant of another shape where their operand is a constant.
_RESHAPING = frozenset({"vhlo.broadcast_in_dim_v1", "vhlo.reshape_v1"})
_NONE = -1


class Visit(NamedTuple):
    """One operation on the way through a program.

    Args:
        number: Its number, from 0 on.
        name: Its name, as `vhlo.tan_v1`.
        operation: The operation.
        sources: What its operands are results of; see `Bytecode.uses`.
        constants: The operations that are constants, also of another shape, by their numbers, each
            with the operation that says of what.
    """

    number: int
    name: str
    operation: Operation
    sources: tuple[Source | None, ...]
    constants: Mapping[int, Operation]

    @property
    def first(self) -> int | None:
        """The number of the operation that gives the first operand; None if there is none."""
        source = self.sources[0] if self.sources else None
        return source[0] if source else None

    def constant(self, source: Source | None) -> Operation | None:
        """Return the constant that an operand is; None if it is none."""
        return None if source is None else self.constants.get(source[0])


class Walk:
    """All operations of a program, in their order.

    Args:
        uses: The operations with what they use, as `Bytecode.uses` yields them.
        names: The names of ops, as `vhlo.tan_v1`, by their numbers.

    Attributes:
        around: For each operation the number of the one that it stands in; -1 for the outermost.
        apart: For each operation whether it stands in a body that numbers its own values, 0 or 1.
    """

    def __init__(
        self,
        uses: Iterable[tuple[Operation, tuple[Source | None, ...]]],
        names: Sequence[str],
    ) -> None:
        self._names = names
        self._first: list[Visit] = []
        # Of the other ops what many have in common, once, and where their operands begin.
        self._heads: list[Operation] = []
        self._begins = array("Q", [0])
        self._operands, self._makers, self._which = array("Q"), array("q"), array("Q")
        self.around, self.apart = array("q"), bytearray()
        self._constants: dict[int, Operation] = {}
        self._numbers: dict[str, Sequence[int]] = {}
        self._read(uses)

    def _read(self, uses: Iterable[tuple[Operation, tuple[Source | None, ...]]]) -> None:
        heads: dict[Operation, Operation] = {}
        numbers: dict[int, array[int]] = {}
        path: list[int] = []
        for number, (operation, sources) in enumerate(uses):
            name, depth = self._names[operation.name], operation.depth
            if number < MOST_KEPT:
                head = operation
                self._first.append(Visit(number, name, operation, sources, self._constants))
            else:
                head = Operation(operation[0], _NONE, *operation[2:5], (), *operation[6:9], _NONE)
                head = heads.setdefault(head, head)
                self._operands.extend(operation.operands)
                self._makers.extend([one[0] if one else _NONE for one in sources])
                self._which.extend([one[1] if one else 0 for one in sources])
                self._begins.append(len(self._operands))
            self._heads.append(head)
            owner = path[depth - 1] if depth else _NONE
            self.around.append(owner)
            in_body = depth > IN_FUNCTION
            apart = in_body and (self.apart[owner] or self._heads[owner].isolated)
            self.apart += b"\1" if apart else b"\0"  # a call would be for each operation
            path[depth:] = [number]
            numbers.setdefault(operation.name, array("Q")).append(number)
            if name == CONSTANT:
                self._constants[number] = head
            elif name in _RESHAPING and sources and sources[0] and sources[0][0] in self._constants:
                self._constants[number] = self._constants[sources[0][0]]
        for at, found in numbers.items():
            name = self._names[at]
            kind = name.rpartition("_v")[0]
            for key in (name,) if "_v" in kind else (name, kind):  # `x_v1_v2` is no `x_v1`
                # Several entries of the table of names can be the same name.
                known = self._numbers.get(key)
                self._numbers[key] = sorted([*known, *found]) if known else found

    def __len__(self) -> int:
        return len(self._heads)

    def __iter__(self) -> Iterator[Visit]:
        return chain(self._first, map(self._visit, range(len(self._first), len(self))))

    def __getitem__(self, number: int) -> Visit:
        return self._first[number] if number < len(self._first) else self._visit(number)

    def of(self, names: Collection[str]) -> Iterator[Visit]:
        """Return the operations of some names, each with its version or, for all, without.

        Args:
            names: As `vhlo.tan_v1` or `vhlo.tan`.
        """
        found = [self._numbers[name] for name in names if name in self._numbers]
        return map(self.__getitem__, found[0] if len(found) == 1 else sorted(chain(*found)))

    def below(self, number: int) -> Iterator[Visit]:
        """Yield the operations that stand in one, also deeper."""
        depth = self._heads[number].depth
        for inner in range(number + 1, len(self)):
            if self._heads[inner].depth <= depth:
                return
            yield self[inner]

    def head(self, number: int) -> Operation:
        """Return an operation, of which location and operands may be left out."""
        return self._heads[number]

    def type(self, source: Source) -> int:
        """Return the type of a result of an operation."""
        return self._heads[source[0]].results[source[1]]

    def _visit(self, number: int) -> Visit:
        """Make an operation out of what is kept of it."""
        head = self._heads[number]
        first, last = self._begins[number - MOST_KEPT : number - MOST_KEPT + 2]
        name = self._names[head.name]
        if first == last:
            return Visit(number, name, head, (), self._constants)
        makers = zip(self._makers[first:last], self._which[first:last], strict=True)
        sources = tuple([None if one[0] < 0 else one for one in makers])
        operation = Operation(*head[:5], tuple(self._operands[first:last]), *head[6:])
        return Visit(number, name, operation, sources, self._constants)
