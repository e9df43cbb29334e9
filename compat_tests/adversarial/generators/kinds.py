"""Artifacts with parts of wrong kinds: whatever a type or attribute of VHLO points to, anything.

Each artifact is a module with one function, which has one attribute: what is wrong, or one of a
type that is. Of MLIR's own, locations are tried: what is wrong is the location of all operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region, varint
from portable.bytecode.fields import POINTERS
from portable.bytecode.layouts import BUILTIN, VHLO, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from portable.bytecode.layouts import Layout

__all__ = ["Kind", "Pool", "artifacts", "kinds"]

_TYPES, _ATTRIBUTES = "types", "attributes"


class Kind(NamedTuple):
    """A kind of type or attribute."""

    table: str
    dialect: str
    code: int

    @property
    def layout(self) -> Layout:
        """How it is written."""
        return table(self.dialect, self.table)[self.code]

    @property
    def is_location(self) -> bool:
        """Whether it says where an operation comes from."""
        return self.dialect == BUILTIN and self.layout.name.startswith("location_")

    def __str__(self) -> str:
        return f"{self.dialect}.{self.layout.name}/{self.code}"


class _Part(NamedTuple):
    """A field that points to another entry: of pairs the second, or what is in an array there."""

    kind: Kind
    field: str
    encoding: str
    inner: bool = False

    def __str__(self) -> str:
        return f"{self.kind}.{self.field}{'.inner' * self.inner}"


# What well-formed entries of these hold is more than fields that stand alone.
_INVOLVED = frozenset({"memref", "dense_resource", "dense_strings", "sparse"})
# What a field holds where nothing is wrong: of a kind, of any kind, of any kind of MLIR's own.
_RIGHT = {
    "storage": "i8_v1", "integer_v1.type": "i32_v1", "tensor_v1.type": "tensor_v1",
    "inputs": "tensor_v1", "outputs": "tensor_v1", "tuple_v1.elements": "tensor_v1",
    "future_v1.elements": "tensor_v1", "mode": "result_accuracy_mode_v1", "mesh": "mesh_v1",
    "encoding": "type_extensions_v1", "device_ids": "tensor_v1",
    "callee": "location_unknown", "caller": "location_unknown", "child": "location_unknown",
    "location_fused.locations": "location_unknown",
    "integer.type": "integer", "dense.type": "tensor", "dense_array.type": "integer",
}  # fmt: skip
_DEFAULT = {
    (_TYPES, VHLO): "f32_v1",
    (_TYPES, BUILTIN): "f32",
    (_ATTRIBUTES, VHLO): "string_v1",
    (_ATTRIBUTES, BUILTIN): "string",
}
# Fields that hold an array, and what that holds.
_ARRAYS = {"replica_group_mesh_axes_v1.axes": "axis_ref_v1", "mesh_v1.axes": "mesh_axis_v1"}
_NUMBERS = {"flags": 1, "width": 32 << 2, "size": 2, "dense_array.size": 1}
_NUMBERS["rng_distribution_v1.value"] = 1  # there is no 0


def kinds(table_: str) -> list[Kind]:
    """Return the kinds of a table whose entries can stand alone."""
    return [
        Kind(table_, dialect, code)
        for dialect in (VHLO, BUILTIN)
        for code, layout in table(dialect, table_).items()
        if layout.name not in _INVOLVED
    ]


def _named(table_: str, dialect: str, name: str) -> Kind:
    found = [kind for kind in kinds(table_) if kind.layout.name == name]
    return next(kind for kind in found if kind.dialect == dialect)


def _target(encoding: str) -> str:
    return _TYPES if encoding.startswith("type") else _ATTRIBUTES


def _parts() -> Iterator[_Part]:
    for kind in (*kinds(_TYPES), *kinds(_ATTRIBUTES)):
        for field, encoding in kind.layout.fields:
            if encoding in POINTERS and (kind.dialect == VHLO or kind.is_location):
                yield _Part(kind, field, encoding)
                if encoding == "pairs" or f"{kind.layout.name}.{field}" in _ARRAYS:
                    yield _Part(kind, field, encoding, inner=True)


class Pool:
    """Types and attributes, made when they are pointed to; behind those that are there."""

    def __init__(self, types: int = 0, attributes: int = 0) -> None:
        self.entries: dict[str, list[tuple[str, bytes]]] = {_TYPES: [], _ATTRIBUTES: []}
        self._first = {_TYPES: types, _ATTRIBUTES: attributes}
        self._made: dict[Kind, int] = {}

    def add(self, table_: str, dialect: str, data: bytes) -> int:
        """Add an entry; return its number."""
        self.entries[table_].append((dialect, data))
        return self._first[table_] + len(self.entries[table_]) - 1

    def right(self, kind: Kind) -> int:
        """Return the number of an entry with nothing wrong."""
        if kind not in self._made:
            data = [self._field(kind, *field) for field in kind.layout.fields]
            self._made[kind] = self.add(
                kind.table, kind.dialect, varint(kind.code) + b"".join(data)
            )
        return self._made[kind]

    def wrong(self, part: _Part, filler: Kind) -> int:
        """Return the number of an entry that points to something of another kind."""
        kind = part.kind
        data = [
            self._filled(part, self.right(filler))
            if field == part.field
            else self._field(kind, field, encoding)
            for field, encoding in kind.layout.fields
        ]
        return self.add(kind.table, kind.dialect, varint(kind.code) + b"".join(data))

    def _filled(self, part: _Part, filler: int) -> bytes:
        if part.encoding == "pairs":
            other = self._pointed(part.kind, part.field, "attribute")
            return entry(1, other, filler) if part.inner else entry(1, filler, other)
        if part.inner:
            filler = self.add(_ATTRIBUTES, VHLO, entry(1, 1, filler))
        return _pointer(part.encoding, filler)

    def _field(self, kind: Kind, field: str, encoding: str) -> bytes:
        if encoding == "pairs" or field in {"sub_axis_info", "nested"}:
            return varint(0)
        if encoding in POINTERS:
            return _pointer(encoding, self._pointed(kind, field, encoding))
        if encoding == "blob":
            return varint(4) + bytes(4)
        if encoding == "doubles":
            return varint(1) + b"\0" + bytes(8)
        if encoding in {"varints", "svarints"}:
            return entry(1, 2 * (field == "shape"))
        return varint(_NUMBERS.get(f"{kind.layout.name}.{field}", _NUMBERS.get(field, 0)))

    def _pointed(self, kind: Kind, field: str, encoding: str) -> int:
        table_, full = _target(encoding), f"{kind.layout.name}.{field}"
        if full in _ARRAYS:
            inner = self.right(_named(table_, VHLO, _ARRAYS[full]))
            return self.add(table_, VHLO, entry(1, 1, inner))
        default = _DEFAULT[table_, kind.dialect]
        names = {one.layout.name for one in kinds(table_) if one.dialect == kind.dialect}
        wanted = _RIGHT.get(full, _RIGHT.get(field, default))
        return self.right(_named(table_, kind.dialect, wanted if wanted in names else default))


def _pointer(encoding: str, number: int) -> bytes:
    if encoding in {"types", "attributes"}:
        return entry(1, number)
    return varint(number << 1 | 1 if encoding == "optional" else number)


def _artifact(pool: Pool, kind: Kind, subject: int) -> bytes:
    """Return an artifact whose function has an attribute, or one of a type; or a location."""
    add, location = pool.add, 0
    if kind.table == _TYPES:
        subject = add(_ATTRIBUTES, VHLO, entry(17, subject))
    elif kind.is_location:
        subject, location = add(_ATTRIBUTES, VHLO, entry(14, 1)), subject
    nothing = add(_ATTRIBUTES, VHLO, entry(1, 0))
    of = add(_ATTRIBUTES, VHLO, entry(17, add(_TYPES, VHLO, entry(8, 0, 0))))
    public, name = (add(_ATTRIBUTES, VHLO, entry(14, at)) for at in range(2))
    key = add(_ATTRIBUTES, BUILTIN, entry(2, 2))
    dictionary = add(_ATTRIBUTES, BUILTIN, entry(1, 1, key, subject))
    body = region([operation(2, location=location)])
    main = operation(1, attributes=dictionary, properties=1, regions=[body], isolated=True)
    return bytes(
        Artifact(
            names=("builtin.module", "vhlo.func_v1", "vhlo.return_v1"),
            attributes=pool.entries[_ATTRIBUTES],
            types=pool.entries[_TYPES],
            properties=[entry(0, 0), entry(nothing, of, nothing, name, public)],
            operations=[operation(0, properties=0, regions=[region([main])], isolated=True)],
            strings=["", "main", "m.x"],
        )
    )


def artifacts() -> Iterator[tuple[str, bytes]]:
    """Yield every artifact with a name: `right KIND`, or `PART = KIND`."""

    def pool() -> Pool:
        found = Pool()
        found.add(_ATTRIBUTES, BUILTIN, entry(15))
        return found

    for kind in (*kinds(_TYPES), *kinds(_ATTRIBUTES)):
        made = pool()
        yield f"right {kind}", _artifact(made, kind, made.right(kind))
    for part in _parts():
        for kind in kinds(_target(part.encoding)):
            # Readers do not come to an end of these: once is enough.
            if kind.layout.name != "unranked_memref":
                made = pool()
                yield f"{part} = {kind}", _artifact(made, part.kind, made.wrong(part, kind))
