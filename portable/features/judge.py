"""What every type, attribute and operation of one artifact needs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.entries import ATTRIBUTES, TYPES
from portable.bytecode.layouts import BUILTIN, VHLO
from portable.bytecode.vhlo import lifetimes, minimum, ops
from portable.features.conditions import TESTS, Use
from portable.features.rules import rules

if TYPE_CHECKING:
    from portable.bytecode.content import Bytecode
    from portable.bytecode.entries import Outline, Reference
    from portable.bytecode.scan import Shape

__all__ = ["Judge", "Judgement", "Need"]

_NOTHING: frozenset[Need] = frozenset()


class Need(NamedTuple):
    """Something that needs more than the minimum Version.

    Args:
        kind: The value of a `FeatureKind`.
        name: The name of the Feature.
        since: The first Version that has it, as text.
        reason: Why it needs that.
    """

    kind: str
    name: str
    since: str
    reason: str


class Judgement(NamedTuple):
    """What operations of one Shape need.

    Args:
        required: As they are written.
        minimum: Written in the oldest form that can express them.
    """

    required: frozenset[Need]
    minimum: frozenset[Need]


class Judge:
    """Judges what is in one artifact, each thing once.

    Args:
        bytecode: The artifact.
        readable: Whether to look into what StableHLO's serializer does not look into, but readers
            have to know: some types inside types, operations of other dialects.

    Attributes:
        unknown: Names and codes that no table knows, and how many operations or entries have them.
        caveats: What cannot be judged, and how often it occurs.
    """

    def __init__(self, bytecode: Bytecode, *, readable: bool) -> None:
        self._bytecode = bytecode
        self._readable = readable
        self._closed = frozenset() if readable else rules().unchecked_inside
        self._needed: dict[str, dict[int, frozenset[Need]]] = {TYPES: {}, ATTRIBUTES: {}}
        self._properties: dict[tuple[str, int], frozenset[Need]] = {}
        self._older: dict[tuple[str, int, int], frozenset[Need]] = {}
        self.unknown: Counter[str] = Counter()
        self.caveats: Counter[str] = Counter()

    def judge(self, shape: Shape, count: int) -> Judgement:
        """Judge operations of one Shape.

        Args:
            shape: The Shape.
            count: How many operations have it.

        Returns:
            What they need.

        Raises:
            MalformedArtifact: Something in them does not make sense.
        """
        dialect, name, _ = self._bytecode.names[shape.name]
        types = self._union(TYPES, shape.results)
        if dialect != VHLO or name not in ops():
            return self._outsider(dialect, name, shape, count, types)
        use = Use(self._bytecode, shape, name)
        to_read, to_write = self._constraints(use)
        written = types | self._attributes(use)
        downgrade = rules().downgrades.get(name)
        if downgrade is None:
            written |= _op(name, "no older form of it exists")
            return Judgement(written | to_read, written | to_write)
        obstacle = next((c for c in downgrade.when if not TESTS[c.test](use, *c.arguments)), None)
        if obstacle is not None:
            written |= _op(name, obstacle.failure)
            return Judgement(written | to_read, written | to_write)
        older = types | self._kept(use, downgrade.to)
        older |= _op(downgrade.to, "no older form of it exists")
        written |= _op(name, f"written in this form; {downgrade.to} would express it")
        return Judgement(written | to_read, older | to_write)

    def needed(self, kind: str, index: int) -> frozenset[Need]:
        """Tell what a type or attribute needs, with everything inside it.

        Args:
            kind: `types` or `attributes`.
            index: Its number.

        Returns:
            What it needs.

        Raises:
            MalformedArtifact: It contains itself, or something that does not make sense.
        """
        found = self._needed[kind].get(index)
        if found is not None:
            return found
        stack: list[Reference] = [(kind, index)]
        entered: dict[Reference, tuple[frozenset[Need], tuple[Reference, ...]]] = {}
        while stack:
            reference = stack[-1]
            table = self._needed[reference[0]]
            if reference[1] in table:
                stack.pop()
                continue
            own, inner = entered.get(reference) or self._look(reference)
            missing = [other for other in inner if other[1] not in self._needed[other[0]]]
            if not missing:
                table[reference[1]] = own.union(*(self._needed[k][at] for k, at in inner))
                entered.pop(reference, None)
                stack.pop()
                continue
            entered[reference] = own, inner
            if any(other in entered for other in missing):
                raise self._bytecode.pool.attributes.cursor.malformed("an entry contains itself")
            stack += missing
        return self._needed[kind][index]

    def _look(self, reference: Reference) -> tuple[frozenset[Need], tuple[Reference, ...]]:
        """Tell what an entry by itself needs, and what to look at inside it."""
        kind, index = reference
        outline = self._bytecode.pool.outline(kind, index)
        singular = kind[:-1]
        if outline.dialect == VHLO:
            lifetime = lifetimes(kind).get(outline.name)
            if lifetime is not None:
                own = _need(
                    singular, outline.name, lifetime.since, f"no older Version has this {singular}"
                )
                inner = () if outline.name in self._closed else outline.references
                return own, inner
        self._note(singular, outline)
        return _NOTHING, outline.references

    def _note(self, kind: str, outline: Outline) -> None:
        """Note an entry that is not in VHLO's table."""
        coded = outline.name.startswith("code ")
        if outline.dialect not in {VHLO, BUILTIN}:
            self.caveats[f"{kind} of the dialect {outline.dialect}: not VHLO, not judged"] += 1
        elif coded or outline.dialect == VHLO:
            self.unknown[f"{outline.dialect} {kind} {outline.name or 'written as text'}"] += 1
        elif not outline.name:
            self.caveats[
                f"{kind} of MLIR written as text: whether a reader knows it, not judged"
            ] += 1

    def _union(self, kind: str, indices: tuple[int, ...] | list[int]) -> frozenset[Need]:
        return _NOTHING.union(*[self.needed(kind, index) for index in indices])

    def _attributes(self, use: Use) -> frozenset[Need]:
        """Tell what all attributes of an operation need."""
        shape = use.shape
        needs = _NOTHING
        if shape.attributes >= 0:
            needs = self.needed(ATTRIBUTES, shape.attributes)
        if shape.properties >= 0:
            key = use.name, shape.properties
            found = self._properties.get(key)
            if found is None:
                found = self._union(ATTRIBUTES, list(use.properties.values()))
                self._properties[key] = found
            needs |= found
        return needs

    def _kept(self, use: Use, to: str) -> frozenset[Need]:
        """Tell what those attributes of an operation need that its older form has too."""
        key = use.name, use.shape.attributes, use.shape.properties
        needs = self._older.get(key)
        if needs is None:
            dropped = set(ops()[use.name].attributes) - set(ops()[to].attributes)
            kept = [at for field, at in use.properties.items() if field not in dropped]
            if dropped.isdisjoint(use.dictionary):
                kept += [use.shape.attributes] if use.dictionary else []
            else:  # formats without properties keep everything in the dictionary
                kept += [at for field, at in use.dictionary.items() if field not in dropped]
            needs = self._older[key] = self._union(ATTRIBUTES, kept)
        return needs

    def _constraints(self, use: Use) -> tuple[frozenset[Need], frozenset[Need]]:
        """Tell what a use needs beyond its operation, to be read and to be written."""
        to_read, to_write = _NOTHING, _NOTHING
        for constraint in rules().constraints.get(use.name, ()):
            test = constraint.when
            if TESTS[test.test](use, *test.arguments):
                need = _need("constraint", constraint.name, constraint.since, constraint.reason)
                to_write |= need
                to_read |= _NOTHING if constraint.only_serializer else need
        if use.shape.operand_types is not None and None in use.shape.operand_types:
            self.caveats[f"{use.name} uses a value whose type is not known: not fully judged"] += 1
        return to_read, to_write

    def _outsider(
        self, dialect: str, name: str, shape: Shape, count: int, types: frozenset[Need]
    ) -> Judgement:
        """Judge operations that VHLO's table does not have."""
        needs = types
        if shape.attributes >= 0:
            needs |= self.needed(ATTRIBUTES, shape.attributes)
        if dialect == VHLO:
            if name not in rules().removed:
                self.unknown[f"vhlo.{name}"] += count
        elif dialect != BUILTIN:
            if self._readable:
                since, reason = rules().other_dialects
                needs |= _need("dialect", dialect, since, reason)
            self.caveats[f"operations of the dialect {dialect}: not VHLO, not judged"] += count
        else:
            indices = self._bytecode.property_attributes(shape.name, shape.properties)
            needs |= self._union(ATTRIBUTES, list(indices.values()))
        return Judgement(needs, needs)


def _op(name: str, reason: str) -> frozenset[Need]:
    return _need("op", name, ops()[name].lifetime.since, reason)


def _need(kind: str, name: str, since: str, reason: str) -> frozenset[Need]:
    return _NOTHING if since == minimum() else frozenset({Need(kind, name, since, reason)})
