"""Programs of one feature each, from the declarative tables in `tools/families/*.toml`.

A family is a template and the lists of values it runs over; every combination is one Program. The
tables hold no code and this module knows no op: a new op, type or attribute is a line of data.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

__all__ = ["FAMILIES", "Program", "load_programs"]

FAMILIES = Path(__file__).parent / "families"
_LISTS = "lists.toml"

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Program:
    """One generated StableHLO module.

    Args:
        name: What it shows, in the field's words; unique.
        family: The table it comes from, for example `elementwise`.
        text: MLIR text.
        case: Whether it is to become a Case of the corpus.
        oracle: A numpy expression over the arguments that computes the results; may be empty.
        inputs: Values of arguments that random values would not do for, by argument name.
        range: Bounds of the random values.
        tolerance: Relative tolerance where the usual one for the type will not do.
        first: The lowest target that an old reader really reads, where serializing is laxer.
        wrong: Which executors an Advisory says to compute something else: `xla`, `interpreter`.
    """

    name: str
    family: str
    text: str
    case: bool = False
    oracle: str = ""
    inputs: Mapping[str, object] | None = None
    range: tuple[float, float] = (-2.0, 2.0)
    tolerance: float | None = None
    first: str = ""
    wrong: tuple[str, ...] = ()


@cache
def load_programs(directory: Path = FAMILIES) -> tuple[Program, ...]:
    """Generate every Program of the tables.

    Args:
        directory: Where the tables are.

    Returns:
        The Programs, in the order of the tables.

    Raises:
        ValueError: Two Programs have one name or one text, or a table refers to an unknown value.
    """
    lists = tomllib.loads((directory / _LISTS).read_text("utf-8"))
    programs: dict[str, Program] = {}
    texts: dict[str, str] = {}
    for path in sorted(directory.glob("*.toml")):
        if path.name == _LISTS:
            continue
        for family in tomllib.loads(path.read_text("utf-8"))["family"]:
            for program in _expand(path.stem, family, lists):
                twin = texts.setdefault(program.text, program.name)
                if program.name in programs or twin != program.name:
                    raise ValueError(f"{path.name}: {program.name} repeats {twin}")
                programs[program.name] = program
    return tuple(programs.values())


def _expand(
    table: str, family: Mapping[str, object], lists: Mapping[str, object]
) -> Iterator[Program]:
    axes = [list(_rows(key, values, lists)) for key, values in _table(family.get("over")).items()]
    for combination in itertools.product(*axes):
        row: dict[str, str] = {}
        for part in combination:
            row |= part
        low, high = _pair(family.get("range", [-2.0, 2.0]))
        tolerance = family.get("tolerance")
        yield Program(
            name=_identifier(_fill(str(family["name"]), row)),
            family=table,
            text=_text(family, row),
            case=_selected(family.get("cases", []), row, lists),
            oracle=_fill(str(family.get("oracle", row.get("oracle", ""))), row),
            inputs=_table(family.get("inputs")),
            range=(low, high),
            tolerance=float(tolerance) if isinstance(tolerance, int | float) else None,
            first=row.get("first", ""),
            wrong=tuple(str(family.get("wrong", "")).split()),
        )


def _rows(key: str, values: object, lists: Mapping[str, object]) -> Iterator[Row]:
    """Resolve a list of values: scalars set `key`, tables set several variables, `@x` includes."""
    if isinstance(values, str):
        yield from _rows(key, lists[values], lists)
    elif isinstance(values, list):
        for value in values:
            if isinstance(value, str) and value.startswith("@"):
                yield from _rows(key, lists[value[1:]], lists)
            elif isinstance(value, dict):
                yield {str(name): str(text) for name, text in value.items()}
            else:
                yield {key: str(value)}
    else:
        raise TypeError(f"{key}: expected a list or the name of one, got {values!r}")


def _text(family: Mapping[str, object], row: Row) -> str:
    if "program" in family:
        text = str(family["program"])
    else:
        returns = str(family.get("returns", "%0"))
        body = str(family["body"]).strip("\n").replace("\n", "\n  ")
        result = str(family["result"])
        text = (
            f"func.func @main({family['args']}) -> ({result}) {{\n"
            f"  {body}\n  return {returns} : {result}\n}}\n{family.get('after', '')}"
        )
    # Twice: a value may itself refer to another variable.
    return _fill(_fill(text, row), row).strip("\n") + "\n"


def _fill(template: str, row: Row) -> str:
    return Template(template).substitute(row)


def _selected(rule: object, row: Row, lists: Mapping[str, object]) -> bool:
    """Whether a combination becomes a Case: `all`, or one of several filters matches."""
    if rule == "all":
        return True
    filters = rule if isinstance(rule, list) else [rule]
    return any(
        all(
            row[key] in {part.get(key) for part in _rows(key, values, lists)}
            for key, values in _table(each).items()
        )
        for each in filters
    )


def _identifier(name: str) -> str:
    return re.sub("[^A-Za-z0-9]+", "_", name.replace("-", "minus_")).strip("_")


def _table(value: object) -> dict[str, object]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError(f"expected a table, got {value!r}")
    return value


def _pair(value: object) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise TypeError(f"expected two numbers, got {value!r}")
    return float(value[0]), float(value[1])
