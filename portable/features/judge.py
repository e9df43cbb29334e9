"""What every type, attribute and operation of one artifact needs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from portable.bytecode.encoding import brief
from portable.bytecode.entries import ATTRIBUTES, TYPES, reference
from portable.bytecode.layouts import BUILTIN, VHLO
from portable.bytecode.vhlo import enum_case, enums, has_op, lifetimes, minimum, op
from portable.features.conditions import TESTS, Use
from portable.features.rules import rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from portable.bytecode.content import Bytecode
    from portable.bytecode.entries import Outline, Reference
    from portable.bytecode.operations import OpSignature
    from portable.features.rules import Constraint, Downgrade

__all__ = ["Judge", "Judgement", "Need"]

_NOTHING: frozenset[Need] = frozenset()
_OLDEST = "no older form of it exists"


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
    """What operations of one OpSignature need.

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
        unknown: Names, codes and values that no table knows, and how many operations or entries
            have them.
        caveats: What cannot be judged, and how often it occurs.
    """

    def __init__(self, bytecode: Bytecode, *, readable: bool) -> None:
        self._bytecode = bytecode
        self._readable = readable
        self._closed = frozenset() if readable else rules().unchecked_inside
        self._kinds: dict[int, _OpKind] = {}
        self._needed: dict[Reference, frozenset[Need]] = {}
        self._properties: dict[Sequence[int], frozenset[Need]] = {}
        self._older: dict[tuple[str, int, int], frozenset[Need]] = {}
        self.unknown: dict[str, int] = {}
        self.caveats: dict[str, int] = {}

    def judge(self, signature: OpSignature, count: int) -> Judgement:
        """Judge operations of one OpSignature.

        Args:
            signature: The OpSignature.
            count: How many operations have it.

        Returns:
            What they need.

        Raises:
            MalformedArtifact: Something in them does not make sense.
        """
        kind = self._kinds.get(signature.name) or self._kind(signature.name)
        types = self._union(TYPES, signature.results)
        if not kind.known:
            return self._outsider(kind, signature, count, types)
        written = kind.own | types | self._attributes(signature)
        if kind.downgrade is None and not kind.constraints:
            return Judgement(written, written)
        use = Use(self._bytecode, signature, kind.name)
        to_read, to_write = self._constraints(kind, use)
        downgrade = kind.downgrade
        if downgrade is None:
            return Judgement(written | to_read, written | to_write)
        obstacle = next((c for c in downgrade.when if not TESTS[c.test](use, *c.arguments)), None)
        if obstacle is not None:
            written |= _op(kind.name, obstacle.failure)
            return Judgement(written | to_read, written | to_write)
        older = types | self._kept(use, downgrade.to)
        older |= _op(downgrade.to, _OLDEST)
        written |= _op(kind.name, f"written in this form; {downgrade.to} would express it")
        return Judgement(written | to_read, older | to_write)

    def _kind(self, number: int) -> _OpKind:
        dialect, name, _ = self._bytecode.names[number]
        known = dialect == VHLO and has_op(name)
        downgrade = rules().downgrades.get(name) if known else None
        kind = _OpKind(
            dialect,
            name,
            known=known,
            # What a downgradable form needs depends on whether it can be downgraded.
            own=_op(name, _OLDEST) if known and downgrade is None else _NOTHING,
            downgrade=downgrade,
            constraints=rules().constraints.get(name, []) if known else [],
        )
        self._kinds[number] = kind
        return kind

    def needed(self, kind: str, index: int) -> frozenset[Need]:
        """Determine what a type or attribute needs, with everything inside it.

        Args:
            kind: `types` or `attributes`.
            index: Its number.

        Returns:
            What it needs.

        Raises:
            MalformedArtifact: It contains itself, or something that does not make sense.
        """
        first, needed = reference(kind, index), self._needed
        if first in needed:
            return needed[first]
        stack: list[Reference] = [first]
        entered: dict[Reference, tuple[frozenset[Need], tuple[Reference, ...]]] = {}
        while stack:
            entry = stack[-1]
            if entry in needed:
                stack.pop()
                continue
            own, inner = entered.pop(entry) if entry in entered else self._look(entry)
            missing = [other for other in inner if other not in needed] if inner else inner
            if not missing:
                needed[entry] = own.union(*{needed[other] for other in inner}) if inner else own
                stack.pop()
                continue
            entered[entry] = own, inner
            if not entered.keys().isdisjoint(missing):
                raise self._bytecode.pool.attributes.cursor.malformed("an entry contains itself")
            stack += missing
        return needed[first]

    def _look(self, entry: Reference) -> tuple[frozenset[Need], tuple[Reference, ...]]:
        """Determine what an entry by itself needs, and what to look at inside it."""
        outline = self._bytecode.pool.referred(entry)
        kind = ATTRIBUTES if entry >= 0 else TYPES
        own = _entry_needs().get((kind, outline.name)) if outline.dialect == VHLO else None
        if own is not None:
            if outline.name in enums():
                self._note_value(entry)
            return own, () if outline.name in self._closed else outline.references
        self._note(kind[:-1], outline)
        return _NOTHING, outline.references

    def _note_value(self, index: int) -> None:
        """Note an enum attribute whose value its enum does not have."""
        entry = self._bytecode.pool.attribute(index)
        if enum_case(entry.name, value := entry.fields["value"]) is None:
            _count(self.unknown, f"{VHLO} attribute {entry.name} value {value}")

    def _note(self, kind: str, outline: Outline) -> None:
        """Note an entry that is not in VHLO's table."""
        coded = outline.name.startswith("code ")
        if outline.dialect not in {VHLO, BUILTIN}:
            text = f"{kind} of the dialect {brief(outline.dialect)}: not VHLO, not judged"
            _count(self.caveats, text)
        elif coded or outline.dialect == VHLO:
            _count(self.unknown, f"{outline.dialect} {kind} {outline.name or 'written as text'}")
        elif not outline.name:
            text = f"{kind} of MLIR written as text: whether a reader knows it, not judged"
            _count(self.caveats, text)

    def _union(self, kind: str, indices: Iterable[int]) -> frozenset[Need]:
        found = {self.needed(kind, index) for index in indices}
        return _NOTHING.union(*found) if found else _NOTHING

    def _attributes(self, signature: OpSignature) -> frozenset[Need]:
        """Determine what all attributes of an operation need."""
        values = self._bytecode.property_values(signature.name, signature.properties)
        needs = self._properties.get(values)
        if needs is None:
            found = {number for number in values if number >= 0}
            needs = self._properties[values] = self._union(ATTRIBUTES, found)
        if signature.attributes >= 0:
            needs |= self.needed(ATTRIBUTES, signature.attributes)
        return needs

    def _kept(self, use: Use, to: str) -> frozenset[Need]:
        """Determine what those attributes of an operation need that its older form has too."""
        key = use.name, use.signature.attributes, use.signature.properties
        needs = self._older.get(key)
        if needs is None:
            dropped = set(op(use.name).attributes) - set(op(to).attributes)
            kept = [at for field, at in use.properties.items() if field not in dropped]
            needs = self._union(ATTRIBUTES, kept) | self._kept_in_dictionary(use, dropped)
            self._older[key] = needs
        return needs

    def _kept_in_dictionary(self, use: Use, dropped: set[str]) -> frozenset[Need]:
        if not use.dictionary:
            return _NOTHING
        if not any(field in use.dictionary for field in dropped):
            return self.needed(ATTRIBUTES, use.signature.attributes)
        # Formats without properties keep everything in the dictionary. Any number of operations
        # may share one, so it is walked through once for each operation that VHLO has.
        key = use.name, use.signature.attributes, -1
        needs = self._older.get(key)
        if needs is None:
            kept = [at for field, at in use.dictionary.items() if field not in dropped]
            needs = self._older[key] = self._union(ATTRIBUTES, kept)
        return needs

    def _constraints(self, kind: _OpKind, use: Use) -> tuple[frozenset[Need], frozenset[Need]]:
        """Determine what a use needs beyond its operation, to be read and to be written."""
        to_read, to_write = _NOTHING, _NOTHING
        for constraint in kind.constraints:
            if all(TESTS[when.test](use, *when.arguments) for when in constraint.when):
                need = _need("constraint", constraint.name, constraint.since, constraint.reason)
                to_write |= need
                to_read |= _NOTHING if constraint.only_serializer else need
        if use.signature.operand_types is not None and None in use.signature.operand_types:
            text = f"{use.name} uses a value whose type is not known: not fully judged"
            _count(self.caveats, text)
        return to_read, to_write

    def _outsider(
        self, kind: _OpKind, signature: OpSignature, count: int, types: frozenset[Need]
    ) -> Judgement:
        """Judge operations that VHLO's table does not have."""
        dialect, name = kind.dialect, kind.name
        needs = types | self._attributes(signature)
        if dialect == VHLO:
            if name not in rules().removed:
                _count(self.unknown, f"vhlo.{brief(name)}", count)
        elif dialect != BUILTIN:
            shown = brief(dialect)
            if self._readable:
                since, reason = rules().other_dialects
                needs |= _need("dialect", shown, since, reason)
            text = f"operations of the dialect {shown}: not VHLO, not judged"
            _count(self.caveats, text, count)
        return Judgement(needs, needs)


class _OpKind(NamedTuple):
    """What is known of an operation by its name."""

    dialect: str
    name: str
    known: bool
    own: frozenset[Need]
    downgrade: Downgrade | None
    constraints: list[Constraint]


@cache
def _entry_needs() -> dict[tuple[str, str], frozenset[Need]]:
    """Return what every type and attribute of VHLO needs by itself, by table and name."""
    return {
        (kind, name): _need(kind[:-1], name, since, f"no older Version has this {kind[:-1]}")
        for kind in (TYPES, ATTRIBUTES)
        for name, (since, _) in lifetimes(kind).items()
    }


def _op(name: str, reason: str) -> frozenset[Need]:
    return _need("op", name, op(name).lifetime.since, reason)


def _need(kind: str, name: str, since: str, reason: str) -> frozenset[Need]:
    return _NOTHING if since == minimum() else frozenset({Need(kind, name, since, reason)})


def _count(counts: dict[str, int], text: str, more: int = 1) -> None:
    counts[text] = counts.get(text, 0) + more
