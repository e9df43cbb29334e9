"""Checks the tables of VHLO and of layouts: a mistake is an error that names the row."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from portable.bytecode.fields import READERS
from portable.system.tables import InvalidTable
from portable.version import InvalidVersion, Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    Table: TypeAlias = Mapping[str, Mapping[str, str]]

__all__ = ["check_layouts", "check_vhlo"]

_VHLO, _LAYOUTS = "vhlo.ini", "layouts.ini"
_FORMS = ("ops", "types", "attributes")
_NAME = re.compile(r"(?P<stem>[A-Za-z][\w-]*)_v(?P<number>[1-9]\d*)")
_BARS = 2
_FIELD = re.compile(r"[a-z]\w*")
# Numbers are read by the width of their type.
_ENCODINGS = frozenset({*READERS, "integer", "float"})
# Types without fields that no number has.
_NO_NUMBER = frozenset({"token_v1", "witness_v1"})


def check_vhlo(table: Table) -> None:
    """Check that every row of `vhlo.ini` is in order, resolves, and can apply.

    Args:
        table: The values by section and key.

    Raises:
        InvalidTable: A row does not hold.
    """
    _check_sections(_VHLO, table, ("versions", *_FORMS, "enums"))
    for section in (*_FORMS, "enums"):
        _check_order(_VHLO, section, list(table[section]))
    minimum, current = (Version.parse(table["versions"][key]) for key in ("minimum", "current"))
    for section in _FORMS:
        for name, row in table[section].items():
            where = f"[{section}] {name}"
            _demand(_NAME.fullmatch(name), _VHLO, where, "is no name with a number, e.g. tan_v2")
            since, until = _lifetime(where, row.split("|")[0])
            _demand(minimum <= since <= current, _VHLO, where, f"{since} is not in the table")
            _demand(not since.patch, _VHLO, where, f"{since} has a patch; forms come with a minor")
            ends = until is None or since <= until < current
            _demand(ends, _VHLO, where, f"ends at {until}, not between {since} and {current}")
        _check_forms(section, table[section])
    for name, row in table["ops"].items():
        _check_op(f"[ops] {name}", row)
    for name, row in table["enums"].items():
        where = f"[enums] {name}"
        _demand(name in table["attributes"], _VHLO, where, f"{name} is no attribute of VHLO")
        cases = [case.partition(":") for case in row.split()]
        codes = [code for _, _, code in cases]
        numbered = all(code.isdecimal() for code in codes)
        _demand(numbered and cases, _VHLO, where, "has a value without a number")
        _check_unique(where, [case for case, _, _ in cases])
        rising = all(int(one) < int(other) for one, other in pairwise(codes))
        _demand(rising, _VHLO, where, "has numbers that are twice or out of order")


def check_layouts(layouts: Table, vhlo: Table) -> None:
    """Check that every row of `layouts.ini` is in order and resolves, and that none is missing.

    Args:
        layouts: The values by section and key.
        vhlo: The same of `vhlo.ini`.

    Raises:
        InvalidTable: A row does not hold.
    """
    dialects, kinds = ("vhlo", "builtin"), ("types", "attributes")
    sections = [f"{dialect} {kind}" for dialect in dialects for kind in (*kinds, "widths")]
    _check_sections(_LAYOUTS, layouts, sections)
    for dialect in dialects:
        for kind in kinds:
            _check_codes(f"{dialect} {kind}", layouts[f"{dialect} {kind}"])
    for kind in kinds:
        section = f"vhlo {kind}"
        named = {row.split()[0]: code for code, row in layouts[section].items()}
        for name, code in named.items():
            what = f"{name} is not in [{kind}] of {_VHLO}"
            _demand(name in vhlo[kind], _LAYOUTS, f"[{section}] {code}", what)
        for name in vhlo[kind]:
            _demand(name in named, _LAYOUTS, f"[{section}]", f"{name} of {_VHLO} has no layout")
    for code, row in layouts["vhlo attributes"].items():
        name, *fields = row.split()
        if name in vhlo["enums"]:
            where = f"[vhlo attributes] {code}"
            _demand(fields == ["value:varint"], _LAYOUTS, where, f"{name} is an enum: value:varint")
    for dialect in dialects:
        _check_widths(dialect, layouts)


def _check_sections(table: str, found: Table, sections: Iterable[str]) -> None:
    expected = tuple(sections)
    what = f"has the sections {', '.join(found)}; expected {', '.join(expected)}"
    _demand(tuple(found) == expected, table, "the file", what)


def _check_order(table: str, section: str, names: list[str]) -> None:
    for earlier, later in pairwise(names):
        _demand(earlier < later, table, f"[{section}] {later}", f"is out of order after {earlier}")


def _lifetime(where: str, text: str) -> tuple[Version, Version | None]:
    try:
        since, until = text.split()
        return Version.parse(since), None if until == "-" else Version.parse(until)
    except (ValueError, InvalidVersion):
        raise InvalidTable(_VHLO, where, f"{text.strip()!r} is no first and last Version") from None


def _check_forms(section: str, rows: Mapping[str, str]) -> None:
    """Check that the forms of one name follow each other, and that the last has not ended."""
    lives: dict[tuple[str, int], tuple[Version, Version | None]] = {}
    for form, row in rows.items():
        stem, _, digits = form.rpartition("_v")
        lives[stem, int(digits)] = _lifetime(f"[{section}] {form}", row.split("|")[0])
    for (stem, number), (_, until) in lives.items():
        where, name = f"[{section}] {stem}_v{number}", f"{stem}_v{number + 1}"
        following = lives.get((stem, number + 1))
        if until is None:
            _demand(following is None, _VHLO, where, f"has not ended, and {name} is there")
        else:
            meets = following and following[0] == Version(until.major, until.minor + 1, 0)
            _demand(meets, _VHLO, where, f"ends at {until}, and no form begins with the next minor")
        first = number == 1 or (stem, number - 1) in lives
        _demand(first, _VHLO, where, f"{stem}_v{number - 1} is missing")


def _check_op(where: str, row: str) -> None:
    form = "is not of the form: Versions | attributes | operands"
    _demand(row.count("|") == _BARS, _VHLO, where, form)
    _, attributes, operands = row.split("|")
    for names in (attributes.split(), [name.removesuffix("*") for name in operands.split()]):
        wrong = next((name for name in names if not _FIELD.fullmatch(name)), None)
        _demand(wrong is None, _VHLO, where, f"{wrong!r} is no name")
        _check_unique(where, names)


def _check_unique(where: str, names: list[str], table: str = _VHLO) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    _demand(twice is None, table, where, f"has {twice} twice")


def _check_codes(section: str, rows: Mapping[str, str]) -> None:
    for at, (code, row) in enumerate(rows.items()):
        where = f"[{section}] {code}"
        start = int(next(iter(rows)))
        _demand(code == str(start + at), _LAYOUTS, where, f"is in the place of {start + at}")
        fields = [field.partition(":") for field in row.split()[1:]]
        for name, _, encoding in fields:
            _demand(_FIELD.fullmatch(name), _LAYOUTS, where, f"{name!r} is no name of a field")
            known = encoding in _ENCODINGS
            _demand(known, _LAYOUTS, where, f"no encoding is called {encoding!r}")
        _check_unique(where, [name for name, _, _ in fields], _LAYOUTS)
    _check_unique(f"[{section}]", list(rows.values()), _LAYOUTS)


def _check_widths(dialect: str, layouts: Table) -> None:
    section = f"{dialect} widths"
    plain = {row for row in layouts[f"{dialect} types"].values() if len(row.split()) == 1}
    for name, width in layouts[section].items():
        where = f"[{section}] {name}"
        _demand(name in plain, _LAYOUTS, where, f"{name} is no scalar type of {dialect}")
        _demand(width.isdecimal(), _LAYOUTS, where, f"{width!r} is not a number of bits")
    for name in sorted(plain - _NO_NUMBER if dialect == "vhlo" else ()):
        there = name in layouts[section]
        _demand(there, _LAYOUTS, f"[{section}]", f"the scalar type {name} has no width")


def _demand(holds: object, table: str, where: str, what: str) -> None:
    if not holds:
        raise InvalidTable(table, where, what)
