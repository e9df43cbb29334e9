"""What MLIR's verifier refuses of VHLO's operations, as far as names and numbers show it."""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from portable.bytecode.entries import ATTRIBUTES, TYPES, first_byte
from portable.bytecode.fields import Blob
from portable.bytecode.layouts import BUILTIN, VHLO, table, widths
from portable.bytecode.vhlo import FUNCTION, has_op, op
from portable.system.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from portable.bytecode import Bytecode
    from portable.bytecode.operations import OpSignature

__all__ = ["USUAL", "lacks_defaults", "violation"]

USUAL = {"results": 1, "regions": 0}
"""How many of them operations have that stand in no row of `verifier.ini`."""

# MLIR's own operations.
_MODULE = "module"
_OWN = frozenset({_MODULE, "unrealized_conversion_cast"})
# Older readers demand these too, as refusals.toml has it.
_DEFAULTS = frozenset({"arg_attrs", "res_attrs", "sym_visibility"})
# Whose regions may have no blocks, as far as known.
_PERHAPS_EMPTY = frozenset({"composite_v2"})
_DYNAMIC = -(1 << 63)
_ANY, _MOST = -1, 1 << 64
_BYTE = 8
_INDEX = "index_v1"
# How wide elements are that no constant has: readers crash on most of them.
_NO_NUMBER = 0


def violation(content: Bytecode, signatures: Collection[OpSignature]) -> str:
    """Return the first thing that the verifier refuses, in words; empty if there is none.

    Args:
        content: The artifact.
        signatures: The op signatures that occur in it.

    Raises:
        MalformedArtifact: Something does not make sense.
    """
    per_op = (found for one in signatures for found in _violations(content, one))
    return next(chain(_of_tensors(content, signatures), per_op, _of_regions(content)), "")


def _of_regions(content: Bytecode) -> Iterator[str]:
    """Yield regions without blocks, and functions with other arguments than their type says."""
    pool = content.pool
    for held, arguments in content.scan().entries:
        dialect, name, _ = content.names[held.name]
        if (dialect, name) == (VHLO, FUNCTION):
            type_, visibility = (
                None if number is None else pool.attribute(number).fields.get("value")
                for field in ("function_type", "sym_visibility")
                for number in (content.inherent(held, field),)
            )
            inputs = pool.type(type_).fields.get("inputs") if isinstance(type_, int) else None
            if arguments is None and visibility in {"", "public"}:
                yield "a public function without a body"
            elif arguments is not None and isinstance(inputs, list) and (*inputs,) != arguments:
                yield "a function with other arguments than its type has"
        elif arguments is None and name not in _PERHAPS_EMPTY:
            yield f"{name} with an empty region"


def _of_tensors(content: Bytecode, signatures: Iterable[OpSignature]) -> Iterator[str]:
    """Yield tensors whose bounds do not fit their shape, constants whose data do not fit theirs."""
    pool = content.pool
    bounded = pool.types.starting(VHLO, _tensors(TYPES, "encoding"))
    # Readers take over one that is the type of nothing.
    used = {index for one in signatures for index in one.results} if bounded else set()
    for index in filter(used.__contains__, bounded):
        fields = pool.type(index).fields
        shape, encoding = fields.get("shape"), fields.get("encoding")
        if not isinstance(shape, list):
            continue
        bounds = (
            pool.attribute(encoding).fields.get("bounds") if isinstance(encoding, int) else None
        )
        if isinstance(bounds, list) and (
            len(bounds) != len(shape)
            or any(
                size != _DYNAMIC and _DYNAMIC < bound < size
                for size, bound in zip(shape, bounds, strict=True)
            )
        ):
            yield "a tensor with bounds that do not fit its shape"
    for index in pool.attributes.starting(VHLO, _tensors(ATTRIBUTES, "data")):
        fields = pool.attribute(index).fields
        if not _fits(content, fields["type"], fields["data"]):
            yield "a constant with data that do not fit its type"


def _fits(content: Bytecode, type_: object, data: object) -> bool:
    """Whether data are one element, or as many as the type has; so where it is not known."""
    pool = content.pool
    count = pool.count(type_)
    element = pool.type(type_).fields.get("element") if isinstance(type_, int) else None
    width = _width(content, element)
    if width == _NO_NUMBER:
        return False
    if width is None or count is None or not isinstance(data, Blob):
        return True
    if width == 1:
        return data.size in {1, -(-count // _BYTE)}
    size = -(-width // _BYTE)
    return data.size in {size, size * count}


def _width(content: Bytecode, element: object) -> int | None:
    """Return how many bits an element takes; none if it is no number, None if it is not known."""
    if not isinstance(element, int):
        return None
    found = content.pool.type(element)
    if found.dialect != VHLO:
        return None
    if found.name == "complex_v1":
        inner = found.fields.get("element")
        part = content.pool.outline(TYPES, inner) if isinstance(inner, int) else None
        if part is None or part.dialect != VHLO:
            return None
        width = _NO_NUMBER if part.name == _INDEX else widths(VHLO).get(part.name, _NO_NUMBER)
        return 2 * _BYTE * -(-width // _BYTE)
    return widths(VHLO).get(found.name, _NO_NUMBER)


@cache
def _tensors(kind: str, field: str) -> frozenset[int]:
    """Return how tensors, or constants, begin that have a field."""
    rows = table(VHLO, kind).items()
    return frozenset(
        first_byte(code)
        for code, row in rows
        if row.name == "tensor_v1" and field in dict(row.fields)
    )


def _violations(content: Bytecode, signature: OpSignature) -> Iterator[str]:
    dialect, name, _ = content.names[signature.name]
    if dialect == BUILTIN:
        yield from _of_mlir(content, signature, name)
    if dialect != VHLO or not has_op(name):
        return
    least, most, results, regions = _numbers(name)
    if not least <= signature.operands <= most:
        yield f"{name} with {signature.operands} operands"
    if results not in {_ANY, len(signature.results)}:
        yield f"{name} with {len(signature.results)} results, not {results}"
    if regions not in {_ANY, signature.regions}:
        yield f"{name} with {signature.regions} regions, not {regions}"
    if signature.properties >= 0 and not op(name).attributes:
        yield f"{name} with properties, of which it has none"
    if signature.properties < 0 and op(name).attributes:
        held = content.dictionary(signature.attributes)
        yield from (
            f"{name} without {one}"
            for one in op(name).attributes
            if one not in held and not (name == FUNCTION and one in _DEFAULTS)
        )
    if name == FUNCTION:
        yield from _of_function(content, signature)


def lacks_defaults(content: Bytecode, signature: OpSignature) -> bool:
    """Whether a function lacks attributes that only older readers demand.

    Args:
        content: The artifact.
        signature: The op signature of the function.

    Raises:
        MalformedArtifact: Something does not make sense.
    """
    return any(content.inherent(signature, field) is None for field in _DEFAULTS)


def _of_mlir(content: Bytecode, signature: OpSignature, name: str) -> Iterator[str]:
    if name not in _OWN:
        yield f"there is no operation builtin.{name}"
    if name != _MODULE:
        return
    if (signature.operands, len(signature.results), signature.regions) != (0, 0, 1):
        yield "a module with operands, results or not one region"
    for number in content.property_attributes(signature.name, signature.properties).values():
        if content.pool.outline(ATTRIBUTES, number)[:2] != (BUILTIN, "string"):
            yield "a module with a name or visibility that is no string"


def _of_function(content: Bytecode, signature: OpSignature) -> Iterator[str]:
    pool = content.pool
    kind, visibility = (
        content.inherent(signature, field) for field in ("function_type", "sym_visibility")
    )
    if kind is not None and pool.outline(ATTRIBUTES, kind).name == "type_v1":
        type_ = pool.attribute(kind).fields["value"]
        if not isinstance(type_, int) or pool.outline(TYPES, type_).name != FUNCTION:
            yield "a function whose type is no function type"
    shown = "" if visibility is None else pool.attribute(visibility).fields.get("value")
    if isinstance(shown, str) and shown and shown not in _table()["visibility"]["values"].split():
        yield f"a function with a visibility of {shown[:40]!r}"


@cache
def _numbers(name: str) -> tuple[int, int, int, int]:
    """Return the least and most operands of an op, and how many results and regions it has."""
    operands = op(name).operands
    least = sum(not one.endswith("*") for one in operands)
    results, regions = (_counts(what).get(name, usual) for what, usual in USUAL.items())
    return least, least if least == len(operands) else _MOST, results, regions


@cache
def _counts(what: str) -> dict[str, int]:
    """Return how many results or regions operations have, where that is not usual."""
    found: dict[str, int] = {}
    for count, names in _table()[what].items():
        found |= dict.fromkeys(names.split(), _ANY if count == "*" else int(count))
    return found


@cache
def _table() -> dict[str, dict[str, str]]:
    return read_table(__file__, "verifier.ini")
