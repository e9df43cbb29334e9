"""Types and attributes that hold others of kinds that have no place there.

No serializer writes them, and MLIR's readers check few of them: of most they crash.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from portable.bytecode.entries import ATTRIBUTES, TYPES, first_byte, reference
from portable.bytecode.layouts import BUILTIN, LOCATIONS, VHLO, table
from portable.bytecode.vhlo import inherent
from portable.prediction.form import FormRule, attributes, types
from portable.system.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from portable.bytecode.entries import Pool, PoolEntry
    from portable.prediction.forms import Reading

__all__ = ["PARTS", "QUANTIZED_TYPES", "STORED_FLOATS", "property_kinds", "storages"]


def _names(names: str) -> frozenset[str]:
    return frozenset(f"{name}_v1" for name in names.split())


_INTEGERS = _names("i2 i4 i8 i16 i32 i64 ui2 ui4 ui8 ui16 ui32 ui64")
_FLOATS = _names(
    "bf16 f16 f32 f64 tf31 f4E2M1FN f6E2M3FN f6E3M2FN f8E3M4 f8E4M3 f8E4M3FN f8E4M3FNUZ"
    " f8E4M3B11FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU"
)
# What quantized types can be stored as, MLIR's own integer too; later readers take three floats.
_STORED = _INTEGERS | {"bool_v1", f"{BUILTIN}.integer"}
STORED_FLOATS = _names("f4E2M1FN f8E4M3FN f8E5M2")
_MLIR_FLOATS = frozenset(
    f"{BUILTIN}.{name}" for name in ["bf16", "f16", "f32", "f64", "f80", "f128"]
)
_STRINGS = frozenset({"string_v1", f"{BUILTIN}.string", f"{BUILTIN}.typed_string"})
_NAMED = ("string", "typed_string")
QUANTIZED_TYPES = frozenset({"quant_v1", "quant_per_axis_v1"})
"""The types that hold the one in which numbers are stored."""
_EXTENSIONS, _DICTIONARY, _MESH = "type_extensions_v1", "dict_v1", "mesh_v1"
_NOT_STORED_FLOATS = (_FLOATS | _MLIR_FLOATS) - STORED_FLOATS
# What readers take over with whatever types it holds.
_UNCONVERTED = "quant_per_axis_v1"


def _kind(pool: Pool, kind: str, index: int) -> str:
    """Return the name of an entry, with its dialect where that is not VHLO."""
    outline = pool.outline(kind, index)
    return outline.name if outline.dialect == VHLO else f"{outline.dialect}.{outline.name}"


def _typed(name: str, expected: frozenset[str]) -> FormRule:
    """Find an attribute of a kind whose type is none of some."""

    def find(reading: Reading) -> bool:
        pool = reading.content.pool
        return any(_kind(pool, TYPES, type_) not in expected for type_ in reading.typed(name))

    return FormRule(find, (attributes(name),))


def _held(name: str, field: str, *expected: str) -> FormRule:
    """Find an attribute of a kind that holds an attribute which is none of some."""

    def find(reading: Reading) -> bool:
        pool = reading.content.pool
        numbers = (entry.fields.get(field) for entry in _entries(reading, name))
        return any(
            isinstance(number, int) and _kind(pool, ATTRIBUTES, number) not in expected
            for number in numbers
        )

    return FormRule(find, (attributes(name),))


def _entries(reading: Reading, name: str) -> Iterator[PoolEntry]:
    return map(reading.content.pool.attribute, reading.attribute_names.get(name, ()))


def storages(reading: Reading) -> set[str]:
    """Return the names of the types that quantized types are stored as."""
    pool = reading.content.pool
    found = (pool.type(index).fields.get("storage") for index in pool.types_named(*QUANTIZED_TYPES))
    return {_kind(pool, TYPES, storage) for storage in found if isinstance(storage, int)}


def _unnamed(reading: Reading) -> bool:
    """Find a dictionary with a key that is no string."""
    pool = reading.content.pool
    pairs = (entry.fields.get("entries") for entry in _entries(reading, _DICTIONARY))
    keys = {pair[0] for found in pairs if isinstance(found, list) for pair in found}
    return any(_kind(pool, ATTRIBUTES, key) not in _STRINGS for key in keys)


def _mesh_without_axes(reading: Reading) -> bool:
    """Find a mesh whose axes are something else."""
    pool = reading.content.pool
    for axes in {entry.fields.get("axes") for entry in _entries(reading, _MESH)}:
        inner = pool.attribute(axes).fields.get("elements") if isinstance(axes, int) else None
        if not isinstance(inner, list) or any(
            _kind(pool, ATTRIBUTES, axis) != "mesh_axis_v1" for axis in inner
        ):
            return True
    return False


def _bounds_elsewhere(reading: Reading) -> bool:
    """Find bounds that are in something else than the type of a tensor."""
    bounds = {*reading.attribute_names.get(_EXTENSIONS, ())}
    content, entries = reading.content, reading.content.pool.attributes
    if any(
        not bounds.isdisjoint(content.pool.outline(ATTRIBUTES, index).references)
        for index in entries.pointing()
    ):
        return True
    properties = {(signature.name, signature.properties) for signature in reading.signatures}
    return any(
        number in bounds
        for one in properties
        for number in content.property_attributes(*one).values()
    )


def _of_mlir(reading: Reading) -> bool:
    """Find a type or attribute of MLIR in one of VHLO, or hanging on an op of VHLO."""
    content, pool = reading.content, reading.content.pool
    types, attributes = (
        [group for dialect, group in entries.groups() if dialect == BUILTIN]
        for entries in (pool.types, pool.attributes)
    )
    # There are as many attributes as locations, and few types.
    of_mlir = set[int]().union(*attributes)
    of_mlir.update(reference(TYPES, index) for group in types for index in group)
    for entries in (pool.types, pool.attributes):
        # Most entries hold a type and nothing else.
        for index in entries.starting(VHLO, _holding(entries.kind, types=bool(types))):
            outline = pool.outline(entries.kind, index)
            if outline.name != _UNCONVERTED and not of_mlir.isdisjoint(outline.references):
                return True
    dictionaries = {
        signature.attributes
        for signature in reading.signatures
        if content.names[signature.name].dialect == VHLO
    }
    return any(
        not of_mlir.isdisjoint(content.dictionary(dictionary).values())
        for dictionary in dictionaries
    )


# What the fields of a location that point to others hold; the metadata can be anything.
_IN_LOCATIONS = {
    "location_call_site": (LOCATIONS, LOCATIONS),
    "location_file_line_col": (_NAMED,),
    "location_file_line_col_range": (_NAMED,),
    "location_name": (_NAMED, LOCATIONS),
}
_FUSED = "location_fused"


def _in_location(reading: Reading) -> bool | None:
    """Find a location that holds something which has no place there; None where it may have."""
    pool, unsure = reading.content.pool, False
    for index in pool.attributes_named(*_NAMED):
        pool.attribute(index)  # whose text may not be there
    for index in pool.attributes.pointing():
        if pool.attributes.dialect(index) != BUILTIN:
            continue
        outline = pool.outline(ATTRIBUTES, index)
        expected: Iterable[Collection[str]] = _IN_LOCATIONS.get(outline.name, ())
        if outline.name == _FUSED:
            inner = pool.attribute(index).fields["locations"]
            expected = [LOCATIONS] * len(inner) if isinstance(inner, list) else ()
            # Whether a reader knows metadata of VHLO is not looked at: no producer writes any.
            unsure |= VHLO in {pool.referred(held).dialect for held in outline.references}
        for names, held in zip(expected, outline.references, strict=False):
            part = pool.referred(held)
            if part.dialect != BUILTIN or part.name not in names:
                return True
    return None if unsure else False


_TO_TYPES = frozenset({"type", "types"})
_TO_ATTRIBUTES = frozenset({"attribute", "attributes", "optional", "pairs"})


@functools.cache
def _holding(kind: str, *, types: bool) -> frozenset[int]:
    """Return how VHLO's entries of a kind begin that hold attributes or, if asked, types."""
    sought = _TO_ATTRIBUTES | _TO_TYPES if types else _TO_ATTRIBUTES
    return frozenset(
        first_byte(code)
        for code, layout in table(VHLO, kind).items()
        if any(encoding in sought for _, encoding in layout.fields)
    )


@functools.cache
def property_kinds() -> dict[str, frozenset[str]]:
    """Return the kinds of attributes that each property of VHLO's ops can be, by its name."""
    found: dict[str, set[str]] = {}
    for kind, names in read_table(__file__, "properties.ini")["properties"].items():
        for name in names.split():
            found.setdefault(name, set()).add(kind)
    return {name: frozenset(kinds) for name, kinds in found.items()}


@functools.lru_cache(maxsize=1024)
def _of_one_kind(op: str) -> frozenset[str]:
    """Return the properties of an op of VHLO that are of known kinds."""
    return frozenset(inherent(VHLO, op) or ()) & property_kinds().keys()


def _property_of_another_kind(reading: Reading) -> bool | None:
    """Find a property that is no attribute of its kind: most such artifacts are not read."""
    content, pool, kinds = reading.content, reading.content.pool, property_kinds()
    pairs: set[tuple[str, int]] = set()
    listed: dict[str, set[Sequence[int]]] = {}
    for at, index, held in {(s.name, s.properties, s.attributes) for s in reading.signatures}:
        dialect, name, _ = content.names[at]
        fields = _of_one_kind(name) if dialect == VHLO else ()
        if fields and index < 0:
            dictionary = content.dictionary(held)
            pairs.update((field, dictionary[field]) for field in fields & dictionary.keys())
        elif fields:
            listed.setdefault(name, set()).add(content.property_values(at, index))
    for name, entries in listed.items():
        fields = _of_one_kind(name)
        columns = zip(inherent(VHLO, name) or (), zip(*entries, strict=True), strict=True)
        pairs.update((field, one) for field, ones in columns if field in fields for one in {*ones})
    another = any(_kind(pool, ATTRIBUTES, number) not in kinds[field] for field, number in pairs)
    return None if another else False


_HELD = types(QUANTIZED_TYPES)
PARTS: dict[str, FormRule] = {
    "float attribute of a type that is no floating-point type": _typed("float_v1", _FLOATS),
    "integer attribute of a type that is no integer type": _typed(
        "integer_v1", _INTEGERS | {"index_v1"}
    ),
    "tensor attribute of a type that is no tensor type": _typed(
        "tensor_v1", _names("tensor unranked_tensor buffer")
    ),
    "quantized type stored as neither integers nor floating-point numbers": FormRule(
        lambda reading: bool(storages(reading) - _STORED - _FLOATS - _MLIR_FLOATS), (_HELD,)
    ),
    "quantized type stored as floating-point numbers other than f8E4M3FN, f8E5M2, f4E2M1FN": (
        FormRule(lambda reading: bool(storages(reading) & _NOT_STORED_FLOATS), (_HELD,))
    ),
    "reference to a mesh axis whose name is no string": _held("axis_ref_v1", "name", *_STRINGS),
    "mesh axis whose name is no string": _held("mesh_axis_v1", "name", *_STRINGS),
    "mesh whose axes are no mesh axes": FormRule(_mesh_without_axes, (attributes(_MESH),)),
    "dictionary with a key that is no string": FormRule(_unnamed, (attributes(_DICTIONARY),)),
    "result accuracy whose mode is something else": _held(
        "result_accuracy_v1", "mode", "result_accuracy_mode_v1"
    ),
    "bounds in something else than the type of a tensor": FormRule(
        _bounds_elsewhere, (attributes(_EXTENSIONS),)
    ),
    "type or attribute of MLIR inside one of VHLO or on an op of VHLO": FormRule(_of_mlir),
    "location that holds what is no location or no name": FormRule(_in_location),
    "property of an op that is an attribute of another kind": FormRule(_property_of_another_kind),
    "unranked memref": FormRule(lambda _: True, (types({"unranked_memref"}),)),
}
"""Forms as refusals.toml and advisories.toml name them, each with how to find it."""
