"""The VHLO dialect as a table: every op, type, attribute and enum, with its Versions."""

from __future__ import annotations

from functools import cache

from portable.bytecode.layouts import BUILTIN, VHLO, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from portable.record import NamedTuple

__all__ = ["Lifetime", "Op", "current", "enum_case", "inherent", "lifetimes", "minimum", "ops"]


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
_MODULE_ATTRIBUTES = ("sym_name", "sym_visibility")


@cache
def ops() -> dict[str, Op]:
    """Return every op form by its name, for example `tanh_v2`."""
    return {
        name: Op(
            Lifetime(row["since"], row["until"]),
            tuple(sorted(row["attributes"])),
            tuple(row["operands"]),
        )
        for name, row in load("vhlo.json")["ops"].items()
    }


@cache
def lifetimes(kind: str) -> dict[str, Lifetime]:
    """Return the Versions of every type or attribute.

    Args:
        kind: `types` or `attributes`.
    """
    rows = load("vhlo.json")[kind]
    return {name: Lifetime(row["since"], row["until"]) for name, row in rows.items()}


@cache
def current() -> str:
    """Return the newest Version that the table covers."""
    version: str = load("vhlo.json")["current"]
    return version


@cache
def minimum() -> str:
    """Return the oldest Version that anybody reads or writes."""
    version: str = load("vhlo.json")["minimum"]
    return version


def enum_case(attribute: str, value: object) -> str | None:
    """Return the name of a value of an enum attribute, None if it has none."""
    return next((name for name, code in _enums().get(attribute, {}).items() if code == value), None)


def inherent(dialect: str, name: str) -> tuple[str, ...] | None:
    """Return the names of the inherent attributes of an operation; None if it is unknown."""
    if dialect == VHLO:
        op = ops().get(name)
        return None if op is None else op.attributes
    return _MODULE_ATTRIBUTES if (dialect, name) == (BUILTIN, _MODULE) else None


@cache
def _enums() -> dict[str, dict[str, int]]:
    enums: dict[str, dict[str, int]] = load("vhlo.json")["enums"]
    return enums
