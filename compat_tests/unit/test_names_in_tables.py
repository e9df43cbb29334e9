"""Every name of VHLO that a table of features or predictions has is one of VHLO's.

`portable/bytecode/data/vhlo.ini` is generated from StableHLO's own definitions.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Collection, Iterator, Mapping

import pytest

from portable import features, prediction
from portable.bytecode.vhlo import lifetimes, ops

KNOWN = {*ops(), *lifetimes("types"), *lifetimes("attributes")}
NAME = re.compile(r"(?:vhlo\.)?(\w+_v\d+)")
MODULES = [
    one.name
    for room in (features, prediction)
    for one in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
]


def names(value: object, depth: int = 4) -> Iterator[str]:
    """Yield the names that a table has, in what it holds and as keys."""
    if isinstance(value, str):
        found = NAME.fullmatch(value)
        if found:
            yield found[1]
    elif isinstance(value, Mapping) and depth:
        for pair in value.items():
            yield from names(pair, depth - 1)
    elif isinstance(value, Collection) and not isinstance(value, bytes) and depth:
        for one in value:
            yield from names(one, depth - 1)


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_one_of_vhlo(module: str) -> None:
    """Op, type or attribute."""
    tables = vars(importlib.import_module(module)).values()
    assert {name for table in tables for name in names(table)} <= KNOWN


def test_names_are_found() -> None:
    """Of ops, with the dialect, and of types, in tables of any form."""
    table = {"a": ({"vhlo.add_v1"}, ["i4_v1"]), "f32_v1": 1, "other": "no name_v1"}
    assert set(names(table)) == {"add_v1", "i4_v1", "f32_v1"}
