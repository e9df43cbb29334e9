"""Artifacts in which one thing that is wide is held by many others: every pair of the two.

What is made, told or compared for each holder must not walk through what it holds again. A wide
attribute and its holders are as many bytes; both grow with one parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat_tests.adversarial.generators.amplification import (
    _array,
    _artifact,
    _blob,
    _dictionary,
    _tensor,
)
from compat_tests.helpers.bytecode_writer import entry, operation, varint
from portable.bytecode.vhlo import op, ops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["HOLDERS", "WIDE", "holding"]


class _Tables:
    """Strings, types and attributes of an artifact, each by the number that it gets."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self.types: list[tuple[str, bytes]] = []
        self.attributes: list[tuple[str, bytes]] = []
        self.properties: list[bytes] = []
        self.f32 = self.type("vhlo", entry(4))
        self.i64 = self.type("vhlo", entry(14))
        self.key = self.name("k")

    def string(self, text: str) -> int:
        self.strings.append(text)
        return len(self.strings) - 1

    def type(self, dialect: str, data: bytes) -> int:
        self.types.append((dialect, data))
        return len(self.types) - 1

    def attribute(self, made: tuple[str, bytes]) -> int:
        self.attributes.append(made)
        return len(self.attributes)  # the first is an unknown location

    def vhlo(self, *numbers: int) -> int:
        return self.attribute(("vhlo", entry(*numbers)))

    def name(self, text: str) -> int:
        """Add what dictionaries of MLIR have as keys."""
        return self.attribute(("builtin", entry(2, self.string(text))))

    def text(self, text: str) -> int:
        return self.vhlo(14, self.string(text))

    def property(self, *numbers: int) -> int:
        self.properties.append(entry(*numbers))
        return len(self.properties)  # the first are those of the module


def _pairs(tables: _Tables, n: int) -> list[tuple[int, int]]:
    names = sorted(tables.name(f"k{at}") for at in range(n))
    return [(one, one) for one in names]


def _flat(pairs: Sequence[tuple[int, int]]) -> list[int]:
    return [number for pair in pairs for number in pair]


def _texts(tables: _Tables, n: int) -> list[int]:
    return [tables.text(f"t{at}") for at in range(n)]


def _numbers(tables: _Tables, n: int) -> int:
    data = b"".join(at.to_bytes(8, "little") for at in range(n))
    return tables.attribute(_blob("vhlo", 15, tables.type(*_tensor_of(tables.i64, n)), data))


def _tensor_of(element: int, *shape: int) -> tuple[str, bytes]:
    return "vhlo", entry(20, len(shape), *(size << 1 for size in shape), element)


def _of_type(tables: _Tables, *numbers: int) -> int:
    return tables.vhlo(17, tables.type("vhlo", entry(*numbers)))


def _text_deep(tables: _Tables, n: int) -> int:
    """Return arrays each of which holds the one before twice, in all two to the power of many."""
    at = tables.text("leaf")
    for _ in range(min(n // 8, 400)):
        at = tables.attribute(_array(at, at))
    return at


def _mesh(tables: _Tables, n: int) -> int:
    axes = [tables.vhlo(24, one, 4) for one in _texts(tables, n)]
    return tables.vhlo(25, tables.attribute(_array(*axes)), 0)


def _fused(tables: _Tables, n: int) -> int:
    file = tables.name("/f.py")
    places = [tables.attribute(("builtin", entry(11, file, at, 1))) for at in range(n)]
    return tables.attribute(("builtin", entry(12, n, *places)))


WIDE: dict[str, Callable[[_Tables, int], int]] = {
    "string": lambda tables, n: tables.text("s" * n),
    "name": lambda tables, n: tables.name("n" * n),
    "string of what is escaped": lambda tables, n: tables.text("\u202e" * (n // 3)),
    "array": lambda tables, n: tables.attribute(_array(*_texts(tables, n))),
    "array of one": lambda tables, n: tables.attribute(_array(*[tables.text("t")] * n)),
    "array of arrays": _text_deep,
    "dictionary of VHLO": lambda tables, n: tables.vhlo(6, n, *_flat(_pairs(tables, n))),
    "dictionary": lambda tables, n: tables.attribute(_dictionary(_pairs(tables, n))),
    "constant": _numbers,
    "splat": lambda tables, n: tables.attribute(
        _blob("vhlo", 15, tables.type(*_tensor_of(tables.f32, *[2] * n)), bytes(4))
    ),
    "type of many dimensions": lambda tables, n: _of_type(tables, 20, n, *[4] * n, tables.f32),
    "tuple": lambda tables, n: _of_type(tables, 23, n, *[tables.f32] * n),
    "function type": lambda tables, n: _of_type(tables, 8, n, *[tables.f32] * n, 0),
    "bounds": lambda tables, n: tables.vhlo(18, n, *[2] * n),
    "mesh": _mesh,
    "alias": lambda tables, n: tables.vhlo(10, n, *[2] * n, 0, n, *[2] * n),
    "fused location": _fused,
    "location of a long file": lambda tables, n: tables.attribute(
        ("builtin", entry(11, tables.name("/" + "f" * n), 1, 1))
    ),
    "attribute of a long dialect": lambda tables, n: tables.attribute(("d" * n, entry(3))),
    "symbol": lambda tables, n: tables.attribute(
        ("builtin", entry(5, tables.name("s"), n, *[tables.name("t")] * n))
    ),
}
"""Attributes that are about as many bytes as a number says, and the number that each gets."""


def _each_in_a_dictionary(tables: _Tables, wide: int, n: int) -> list[bytes]:
    return [
        operation(1, attributes=tables.attribute(_dictionary([(tables.key, wide)])))
        for _ in range(n)
    ]


def _all_as_it_is(tables: _Tables, wide: int, n: int) -> list[bytes]:
    held = tables.attribute(_dictionary([(tables.key, wide)]))
    types = [tables.type(*_tensor(at)) for at in range(n)]
    return [operation(1, attributes=held, results=[one]) for one in types]


def _arrays(tables: _Tables, wide: int, n: int) -> list[bytes]:
    held = tables.attribute(_array(*[tables.attribute(_array(wide)) for _ in range(n)]))
    return [operation(1, attributes=tables.attribute(_dictionary([(tables.key, held)])))]


def _dictionaries(tables: _Tables, wide: int, n: int) -> list[bytes]:
    made = [tables.vhlo(6, 1, tables.key, wide) for _ in range(n)]
    held = tables.attribute(_dictionary([(tables.key, tables.attribute(_array(*made)))]))
    return [operation(1, attributes=held)]


def _encodings(tables: _Tables, wide: int, n: int) -> list[bytes]:
    types = [tables.type("vhlo", entry(21, wide, 1, at << 1, tables.f32)) for at in range(n)]
    return [operation(1, results=[one]) for one in types]


def _locations(tables: _Tables, wide: int, n: int) -> list[bytes]:
    places = [tables.attribute(("builtin", entry(13, 1, 0, wide))) for _ in range(n)]
    return [varint(1) + b"\0" + varint(one) for one in places]


def _names_of_locations(tables: _Tables, wide: int, n: int) -> list[bytes]:
    places = [tables.attribute(("builtin", entry(14, wide, 0))) for _ in range(n)]
    return [varint(1) + b"\0" + varint(one) for one in places]


def _call_sites(tables: _Tables, wide: int, n: int) -> list[bytes]:
    places = [tables.attribute(("builtin", entry(10, wide, wide))) for _ in range(n)]
    return [varint(1) + b"\0" + varint(one) for one in places]


def _argument_attributes(tables: _Tables, wide: int, n: int) -> list[bytes]:
    each = [tables.vhlo(6, 1, tables.text(f"a{at}"), wide) for at in range(n)]
    type_ = tables.type("vhlo", entry(8, n, *[tables.f32] * n, 0))
    fields = (
        tables.attribute(_array(*each)), tables.vhlo(17, type_), tables.attribute(_array()),
        tables.text("main"), tables.text(""),
    )  # fmt: skip
    return [operation(1, properties=tables.property(*fields))]


def _properties(fields: Sequence[str], at: int) -> Callable[[_Tables, int, int], list[bytes]]:
    """Return what has it as one property of many operations, and the small ones as the others."""

    def made(tables: _Tables, wide: int, n: int) -> list[bytes]:
        small, target = tables.attribute(_array()), tables.text("target")
        numbers = [target if other == "call_target_name" else small for other in fields]
        numbers[at] = wide
        types = [tables.type(*_tensor(size)) for size in range(n)]
        return [operation(1, properties=tables.property(*numbers), results=[one]) for one in types]

    return made


HOLDERS: dict[str, tuple[str, Callable[[_Tables, int, int], list[bytes]]]] = {
    "dictionaries of operations": ("tanh_v2", _each_in_a_dictionary),
    "one dictionary of operations": ("iota_v1", _all_as_it_is),
    "arrays": ("return_v1", _arrays),
    "dictionaries": ("return_v1", _dictionaries),
    "encodings": ("iota_v1", _encodings),
    "metadata of locations": ("tan_v1", _locations),
    "names of locations": ("tan_v1", _names_of_locations),
    "call sites": ("tan_v1", _call_sites),
    "attributes of arguments": ("func_v1", _argument_attributes),
} | {
    f"{field} of {name}": (name, _properties(op(name).attributes, at))
    for name in ops()
    for at, field in enumerate(op(name).attributes)
}
"""The op that many operations are, and how each comes to have the attribute."""


def holding(wide: str, holder: str, n: int) -> bytes:
    """Return an artifact in which many hold what is wide.

    Args:
        wide: Its name in `WIDE`.
        holder: Its name in `HOLDERS`.
        n: How wide, and how many.
    """
    tables = _Tables()
    held = WIDE[wide](tables, n)
    name, hold = HOLDERS[holder]
    operations = hold(tables, held, n)
    return _artifact(
        operations,
        values=sum(1 for one in operations if one[1] & 2),
        names=(f"vhlo.{name}",),
        types=tables.types,
        strings=tables.strings,
        attributes=tables.attributes,
        properties=tables.properties,
    )
