"""The tests that rules name."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from portable.bytecode.vhlo import enum_case

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from portable.bytecode.content import Bytecode
    from portable.bytecode.entries import PoolEntry
    from portable.bytecode.operations import OpSignature

__all__ = ["TESTS", "TYPED", "Use"]

_NO_ENTRY = -1


class Use:
    """Operations of one OpSignature, with accessors for what is in them.

    Args:
        bytecode: The artifact.
        signature: The OpSignature.
        name: The operation, for example `gather_v2`.
    """

    def __init__(self, bytecode: Bytecode, signature: OpSignature, name: str) -> None:
        self.bytecode = bytecode
        self.signature = signature
        self.name = name

    @cached_property
    def properties(self) -> dict[str, int]:
        """The attributes that are properties, by name."""
        return self.bytecode.property_attributes(self.signature.name, self.signature.properties)

    @property
    def dictionary(self) -> Mapping[str, int]:
        """The attributes in the dictionary, by name."""
        return self.bytecode.dictionary(self.signature.attributes)

    def attribute(self, name: str) -> PoolEntry | None:
        """Return an attribute, None if there is none of that name."""
        index = self.bytecode.inherent(self.signature, name)
        return None if index is None else self.bytecode.pool.attribute(index)

    def type_name(self, index: object) -> str:
        """Return the name of a type."""
        return self.bytecode.pool.type(index).name if isinstance(index, int) else ""

    def element(self, index: int) -> int:
        """Return the element type of a tensor, and any other type as it is."""
        element = self.bytecode.pool.type(index).fields.get("element")
        return element if isinstance(element, int) else index


def _one_operand(use: Use) -> bool:
    return use.signature.operands == 1


def _no_regions(use: Use) -> bool:
    return not use.signature.regions


def _empty(use: Use, name: str) -> bool:
    """Whether an attribute is an empty array, or a tensor without elements."""
    entry = use.attribute(name)
    if entry is None:
        return True
    for field in ("elements", "entries"):
        if field in entry.fields:
            return not entry.fields[field]
    return use.bytecode.pool.count(entry.fields.get("type")) == 0


def _false(use: Use, name: str) -> bool:
    entry = use.attribute(name)
    return entry is None or (entry.name == "bool_v1" and not entry.fields["value"])


def _none(use: Use, name: str) -> bool:
    """Whether an attribute is the type `none`, or a value of that type."""
    entry = use.attribute(name)
    if entry is None:
        return True
    return use.type_name(entry.fields.get("type", entry.fields.get("value"))) == "none_v1"


def _default_accuracy(use: Use, name: str) -> bool:
    entry = use.attribute(name)
    if entry is None:
        return True
    fields = entry.fields
    if entry.name != "result_accuracy_v1" or fields["atol"] or fields["rtol"] or fields["ulps"]:
        return False
    mode = fields["mode"]
    case = use.bytecode.pool.attribute(mode if isinstance(mode, int) else _NO_ENTRY)
    return enum_case(case.name, case.fields.get("value")) == "DEFAULT"


def _kind_of(use: Use, attribute: str, name: str) -> bool:
    entry = use.attribute(name)
    return entry is not None and entry.name == attribute


def _any_type(use: Use, type_: str, *names: str) -> bool:
    """Whether any of some attributes is a certain type."""
    entries = [use.attribute(name) for name in names]
    return any(e is not None and use.type_name(e.fields.get("value")) == type_ for e in entries)


def _case_of(use: Use, case: str, name: str) -> bool:
    entry = use.attribute(name)
    return entry is not None and enum_case(entry.name, entry.fields.get("value")) == case


def _promotes(use: Use) -> bool:
    """Whether a result has another element type than the operand at its place."""
    pairs = zip(use.signature.operand_types or (), use.signature.results, strict=False)
    return any(
        operand is not None and operand != result and use.element(operand) != use.element(result)
        for operand, result in pairs
    )


def _mixed(use: Use, prefix: str) -> bool:
    """Whether the first two operands have different element types whose names begin alike."""
    types = (use.signature.operand_types or ())[:2]
    names = {use.type_name(use.element(index)) for index in types if index is not None}
    return len(names) > 1 and all(name.startswith(prefix) for name in names)


def _above(use: Use, bound: str, name: str) -> bool:
    """Whether an attribute is an integer above a bound."""
    entry = use.attribute(name)
    value = entry.fields.get("value") if entry and entry.name == "integer_v1" else None
    return isinstance(value, int) and value > int(bound)


def _operand_of(use: Use, type_: str) -> bool:
    return any(use.type_name(index) == type_ for index in use.signature.operand_types or ())


TESTS: dict[str, Callable[..., bool]] = {
    "one_operand": _one_operand,
    "no_regions": _no_regions,
    "empty": _empty,
    "false": _false,
    "none": _none,
    "default_accuracy": _default_accuracy,
    "kind_of": _kind_of,
    "any_type": _any_type,
    "case_of": _case_of,
    "above": _above,
    "promotes": _promotes,
    "mixed": _mixed,
    "operand_of": _operand_of,
}
"""Every test by the name that rules use; it takes the Use and the arguments of the rule, which are
checked by what the parameters are called: see `portable.features.validation`."""
TYPED = frozenset({"promotes", "mixed", "operand_of"})
"""The tests that need the types of operands."""
