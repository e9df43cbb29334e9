"""All operations of an artifact at once: how often each kind of operation occurs.

Most operations have no region, one result and few operands, and thousands of them differ in
nothing but their location and the values they use. What such operations have in common, their
OpSignature, is looked at once. In a large artifact patterns read them
(`portable.bytecode.runs`); everything else goes through the careful `Walker`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from portable.bytecode.encoding import MalformedArtifact
from portable.bytecode.operations import EXAMPLES, OpSignature, Walker

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from portable.bytecode.encoding import Cursor
    from portable.bytecode.operations import Sizes
    from portable.bytecode.runs import Runs

__all__ = ["Place", "Scan"]

# Compiling the pattern takes as long as reading this many bytes of operations one by one.
_COMPILE_WORTHWHILE = 16384
_read_slowly = 0
# Operations that are counted together.
_BATCH = 2048

Place: TypeAlias = "tuple[int, int]"
"""Where an operation starts in the artifact, and the attribute that says where it comes from."""


class Scan:
    """Counts the op signatures of all operations.

    Args:
        section: The IR section.
        sizes: The sizes of the tables.
        typed: The names of operations of which more is wanted: the types of their operands, and
            what is in their regions.

    Attributes:
        signatures: How many operations have each OpSignature, in the order of their first.
        typed: The names of operations of which more is known.
        bodies: By the names of these the OpSignatures directly in their regions.
        deepest: In how many regions the deepest block lies.
        invalid: The first thing that MLIR's verifier refuses, in words; empty if there is none.
        arguments: The types of the arguments of all blocks.
        entries: Those of functions, and what has an empty region; as the walker has them.
        captures: Whether a region that is applied to scalars uses a value from outside it.

    Raises:
        MalformedArtifact: An operation, block or region does not make sense.
    """

    def __init__(self, section: Cursor, sizes: Sizes, typed: Collection[int] = ()) -> None:
        self.typed = frozenset(typed)
        self._section = section
        self._sizes = sizes
        self._typed_signatures: dict[tuple[OpSignature, tuple[int | None, ...]], OpSignature] = {}
        if not _worthwhile(section.end - section.position) or not self._read_fast():
            self._read_all(fast=False)
        self._typed_signatures.clear()  # what is alike has been found

    def locations(self, wanted: Collection[OpSignature]) -> dict[OpSignature, list[Place]]:
        """Find operations of some op signatures.

        Args:
            wanted: The op signatures.

        Returns:
            For each its first operations, three at most: where they start in the artifact, and
            their location attributes.
        """
        found: dict[OpSignature, list[Place]] = {signature: [] for signature in wanted}
        if self._runs is not None:
            self._runs.locate(found)
        for signature, places in found.items():
            if read := self._locations.get(signature):
                found[signature] = sorted(places + read)[:EXAMPLES]
        return found

    def count(
        self, signature: OpSignature, operands: Sequence[int], place: Place, depth: int
    ) -> None:
        """Count one operation.

        Args:
            signature: Its OpSignature, but for the types of its operands.
            operands: The values it uses.
            place: Where it starts, and where it comes from.
            depth: In how many operations it lies.
        """
        if signature.name in self.typed:
            types = tuple([self._type_of(value, depth) for value in operands]) if operands else ()
            known = self._typed_signatures.get((signature, types))
            if known is None:
                known = self._typed_signatures[signature, types] = signature._replace(
                    operand_types=types
                )
            signature = known
        owner = self._walker.frames[depth].owner
        if owner in self.typed:
            self.collect(owner, (signature,))
        places = self._locations.setdefault(signature, [])
        if len(places) < EXAMPLES:
            places.append(place)
        if self._runs is not None:
            self._runs.keep(signature)
        else:
            self.signatures[signature] = self.signatures.get(signature, 0) + 1

    def collect(self, owner: int, found: Iterable[OpSignature]) -> None:
        """Note what is in the regions of an operation of which more is wanted.

        Args:
            owner: The name of the operation that the regions belong to.
            found: What is in them.
        """
        inside = self.bodies.get(owner)
        if inside is None:
            inside = self.bodies[owner] = set()
        inside.update(found)

    def _read_fast(self) -> bool:
        """Read all operations by patterns; return False if some have to be read one by one."""
        try:
            # What is wrong has one text and place, those of the careful walker.
            return self._read_all(fast=True) and not self.invalid
        except MalformedArtifact:
            return False

    def _read_all(self, *, fast: bool) -> bool:
        """Read all operations; return False if some have to be read one by one."""
        self.signatures: dict[OpSignature, int] = {}
        self.bodies: dict[int, set[OpSignature]] = {}
        self._locations: dict[OpSignature, list[Place]] = {}
        walker = self._walker = Walker(self._section, self._sizes, typed=bool(self.typed))
        runs = self._runs = self._open_runs() if fast else None
        while walker.advance():
            if runs is None or not runs.read():
                self._read_one()
            elif not runs.settle(_BATCH):
                return False
        self.deepest = walker.deepest
        self.invalid, self.entries = walker.invalid, walker.entries
        self.arguments, self.captures = walker.arguments, walker.captures
        return runs is None or runs.settle()

    def _open_runs(self) -> Runs:
        from portable.bytecode.runs import Runs  # small artifacts need no patterns

        return Runs(self, self._walker, self._sizes)

    def _read_one(self) -> None:
        """Read an operation with the careful walker."""
        operation = self._walker.read()
        signature = OpSignature(
            operation.name,
            operation.attributes,
            operation.properties,
            operation.results,
            len(operation.operands),
            operation.regions,
        )
        place = operation.offset, operation.location
        self.count(signature, operation.operands, place, operation.depth)

    def _type_of(self, value: int, depth: int) -> int | None:
        known = self._walker.operand_type(value, depth)
        if isinstance(known, tuple):
            # What a pattern found of the operation that defines the value.
            return self._runs.signature(known).results[0] if self._runs else None
        return known if isinstance(known, int) else None


def _worthwhile(size: int) -> bool:
    """Say whether patterns pay off: for one large artifact, or once for many small ones."""
    global _read_slowly  # noqa: PLW0603 - a process compiles the patterns once
    _read_slowly += size
    return _read_slowly >= _COMPILE_WORTHWHILE
