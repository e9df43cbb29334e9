"""The VHLO dialect as a table: every op, type, attribute and enum, with its Versions."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from portable.bytecode.layouts import BUILTIN, VHLO
from portable.system.tables import read_table

__all__ = [
    "APPLYING",
    "END",
    "FUNCTION",
    "MODULE",
    "Lifetime",
    "Op",
    "current",
    "enum_case",
    "enums",
    "has_op",
    "inherent",
    "lifetimes",
    "minimum",
    "op",
    "ops",
]


class Lifetime(NamedTuple):
    """In which Versions a form can be written.

    Args:
        since: The first Version, as text.
        until: The last Version as text; None while it is current.
    """

    since: str
    until: str | None


class Op(NamedTuple):
    """One form of an operation.

    Args:
        lifetime: In which Versions it can be written.
        attributes: The names of its inherent attributes, in the order of its properties.
        operands: The names of its operands; a variadic one ends in `*`.
    """

    lifetime: Lifetime
    attributes: tuple[str, ...]
    operands: tuple[str, ...]


# The one operation outside VHLO that every artifact has; both attributes may be absent.
_MODULE = "module"
MODULE = ("sym_name", "sym_visibility")
"""Its attributes."""
END = "return_v1"
"""The operation that ends a block; VHLO has no other."""
APPLYING = frozenset(
    {
        *("all_reduce", "map", "reduce", "reduce_scatter", "reduce_window", "scatter"),
        *("select_and_scatter", "sort"),
    }
)
"""The operations, without their versions, that apply their regions to scalars."""
FUNCTION = "func_v1"
"""Functions; VHLO has no other."""


def ops() -> dict[str, Op]:
    """Return every op form by its name, for example `tanh_v2`."""
    return {name: op(name) for name in _table()["ops"]}


def has_op(name: str) -> bool:
    """Say whether there is an op form of this name."""
    return name in _table()["ops"]


@cache
def op(name: str) -> Op:
    """Return one op form, decoding no more of the table.

    Args:
        name: The name of a form that there is.
    """
    lifetime, attributes, operands = _table()["ops"][name].split("|")
    return Op(_lifetime(lifetime), tuple(sorted(attributes.split())), tuple(operands.split()))


@cache
def lifetimes(kind: str) -> dict[str, Lifetime]:
    """Return the Versions of every type or attribute.

    Args:
        kind: `types` or `attributes`.
    """
    return {name: _lifetime(row) for name, row in _table()[kind].items()}


def current() -> str:
    """Return the newest Version that the table covers."""
    return _table()["versions"]["current"]


def minimum() -> str:
    """Return the oldest Version that anybody reads or writes."""
    return _table()["versions"]["minimum"]


@cache
def enums() -> dict[str, dict[str, int]]:
    """Return the values of every enum attribute by their names."""
    return {
        attribute: {name: int(code) for name, code in (case.split(":") for case in row.split())}
        for attribute, row in _table()["enums"].items()
    }


def enum_case(attribute: str, value: object) -> str | None:
    """Return the name of a value of an enum attribute, None if it has none."""
    return next((name for name, code in enums().get(attribute, {}).items() if code == value), None)


def inherent(dialect: str, name: str) -> tuple[str, ...] | None:
    """Return the names of the inherent attributes of an operation; None if it is unknown."""
    if dialect == VHLO:
        return op(name).attributes if has_op(name) else None
    return MODULE if (dialect, name) == (BUILTIN, _MODULE) else None


@cache
def _table() -> dict[str, dict[str, str]]:
    return read_table(__file__, "vhlo.ini")


def _lifetime(row: str) -> Lifetime:
    since, until = row.split()
    return Lifetime(since, None if until == "-" else until)
