"""A digest of the program alone: the same with and without locations, whoever wrote it."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from portable.bytecode.encoding import brief
from portable.bytecode.entries import TYPES, Blob, reference
from portable.bytecode.fields import POINTERS

if TYPE_CHECKING:
    from portable.bytecode.content import Bytecode
    from portable.bytecode.entries import Reference

__all__ = ["fingerprint"]

_CYCLE = b"cycle"
# Any number of operations may share a dictionary, and attributes a string: what is larger than an
# operation of any compiler has is digested once.
_LARGE = 32
_LONG = 100


def fingerprint(content: Bytecode) -> str:
    """Digest the operations of an artifact with their types, attributes and values.

    What does not count: locations, the producer, the bytecode format's order of its tables, and
    the order in which uses are listed. Artifacts of one program for two Versions differ where the
    forms of their operations do.

    Args:
        content: The artifact.

    Returns:
        SHA-256 in hexadecimal.

    Raises:
        MalformedArtifact: An operation or an entry does not make sense.
    """
    digest = sha256()
    entries = _Entries(content)
    seen: dict[tuple[int, int, int, tuple[int, ...]], bytes] = {}
    for op in content.operations():
        kind = (op.name, op.attributes, op.properties, op.results)
        if kind not in seen:
            parts = [str(content.names[op.name]).encode()]
            if len(content.dictionary(op.attributes)) > _LARGE:
                parts.append(entries.digest(op.attributes))
                named = content.property_attributes(op.name, op.properties)
            else:
                named = content.attributes_of(op)
            parts += [name.encode() + entries.digest(named[name]) for name in sorted(named)]
            parts += [entries.digest(reference(TYPES, result)) for result in op.results]
            seen[kind] = sha256(b"\0".join(parts)).digest()
        shape = f"{op.depth} {op.regions} {op.isolated} {op.operands}"
        digest.update(seen[kind] + shape.encode())
    return digest.hexdigest()


class _Entries:
    """Digests of types and attributes that do not depend on how they are numbered."""

    def __init__(self, content: Bytecode) -> None:
        self._pool = content.pool
        self._known: dict[Reference, bytes] = {}
        self._texts: dict[str, str] = {}

    def digest(self, wanted: Reference) -> bytes:
        """Return the digest of an entry and all that it points to; no recursion."""
        pending, entered = [wanted], set()
        while pending:
            entry = pending[-1]
            if entry in self._known:
                pending.pop()
                continue
            pointed = self._pool.referred(entry).references
            missing = [other for other in pointed if other not in self._known]
            if missing and entry not in entered:
                entered.add(entry)
                pending += [other for other in missing if other not in entered]
                continue
            # An entry that contains itself is malformed, but nothing hangs on it here.
            self._known[entry] = self._one(entry, pointed)
            pending.pop()
        return self._known[wanted]

    def _one(self, entry: Reference, pointed: tuple[Reference, ...]) -> bytes:
        pool = self._pool
        entries, number = (pool.attributes, entry) if entry >= 0 else (pool.types, ~entry)
        value = pool.attribute(number) if entry >= 0 else pool.type(number)
        digest = sha256(f"{brief(value.dialect)} {value.name} {value.text}".encode())
        for other in pointed:
            digest.update(self._known.get(other, _CYCLE))
        if not value.known and value.text is None:
            cursor = entries.open(number)
            digest.update(bytes(cursor.data[cursor.position : cursor.end]))
            return digest.digest()
        _, _, layout = entries.layout(number, entries.open(number))
        for name, encoding in layout.fields if layout and value.text is None else ():
            field = value.fields[name]
            if isinstance(field, Blob):
                data = memoryview(entries.cursor.data)
                digest.update(data[field.offset : field.offset + field.size])
            elif encoding not in POINTERS:
                digest.update(f"{name}={self._shown(field)}".encode())
        return digest.digest()

    def _shown(self, field: object) -> object:
        """Return a field as it is, or with the digest in the place of each long string."""
        if isinstance(field, list) and field and isinstance(field[0], str):
            return [self._shown(text) for text in field]
        if not isinstance(field, str) or len(field) <= _LONG:
            return field
        if field not in self._texts:
            self._texts[field] = sha256(field.encode()).hexdigest()
        return self._texts[field]
