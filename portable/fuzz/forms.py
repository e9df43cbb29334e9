"""What every op of StableHLO accepts: the table `data/language.toml`, read."""

from __future__ import annotations

import ast
import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from portable.bytecode.vhlo import lifetimes, ops
from portable.errors import PortableError
from portable.system.documents import parse_toml
from portable.system.files import read_file
from portable.version import Version

__all__ = [
    "SHAPE",
    "Form",
    "MalformedLanguage",
    "Operand",
    "Region",
    "Variables",
    "bits",
    "expressed",
    "kind",
    "language",
    "since",
    "split",
    "top",
]

Variables: TypeAlias = Mapping[str, str | int]
"""What the variables of a form stand for."""

_TABLE = Path(__file__).parent / "data" / "language.toml"
# Where the table does not say what a variable is: a whole shape, and sizes.
SHAPE = "S"
_SHAPES = ("3x", "2x3x", "", "4x", "1x", "0x", "5x2x", "2x1x2x", "17x")
_SIZES = (3, 2, 4, 1, 5, 0, 9)
_HOLE = re.compile(r"\{\{|\}\}|\{([^{}]+)\}")
_PLAIN = re.compile(r"[A-Za-z]\w*")
_TENSOR = re.compile(r"((?:(?:\d+|\?)x)*)([a-z!].*)")
_QUANTIZED = re.compile(r"!quant\.uniform<([iu]\d+)(?:<[^>]*>)?:(\w+)")


class MalformedLanguage(PortableError):
    """A row of the table has a mistake."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What one operand of an op must be.

    Args:
        type: Its type, with variables.
        value: The attribute that it is a constant of; empty where any value will do.
        range: The least and the greatest value, as expressions; None where any will do.
        definite: Whether it must be a positive definite matrix.
    """

    type: str
    value: str = ""
    range: tuple[str, str] | None = None
    definite: bool = False


@dataclass(frozen=True, slots=True)
class Region:
    """A region of an op, or a function that it calls.

    Args:
        args: The types of its arguments.
        lines: Ops in it, with `%0` for its first argument.
        returns: What it returns; `?` for any value of the right type.
        fill: Whether generated ops stand in it too.
    """

    args: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    returns: tuple[str, ...] = ()
    fill: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """One form of one op: what it takes, and what it returns.

    Args:
        op: The op without its dialect.
        form: Which of its forms; empty for the usual one.
        operands: What it takes.
        results: The types of what it returns.
        attributes: Its attributes and properties, in MLIR's syntax.
        regions: Its regions.
        functions: The functions that it calls.
        where: What must hold of the variables; empty where they are free.
        random: Whether it returns what no two runs have alike.
        judged: Whether StableHLO's interpreter has the op.
        alone: Whether it stands in programs of one op only.
        variables: What each variable may be, in the order of the table.
        own_since: The first Version with the form, where that is not the first with the op.
        newer: The first Version with an element type in the form, where it is later than both.
    """

    op: str
    form: str
    operands: tuple[Operand, ...]
    results: tuple[str, ...]
    attributes: str
    regions: tuple[Region, ...]
    functions: tuple[Region, ...]
    where: str
    random: bool
    judged: bool
    alone: bool
    variables: Mapping[str, tuple[str | int, ...]]
    own_since: str = ""
    newer: Mapping[str, Version] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.op}/{self.form}" if self.form else self.op

    @property
    def since(self) -> Version:
        """The first Version that has the form."""
        return _since(self.op, self.own_since)

    def since_with(self, element: str) -> Version:
        """The first Version that has the form with an element type."""
        return max(self.since, since(element), self.newer.get(element, self.since))

    @property
    def fills(self) -> bool:
        """Whether generated ops stand in its regions or functions."""
        return any(one.fill for one in (*self.regions, *self.functions))

    def fill(self, template: str, variables: Variables) -> str:
        """Return a text of the table with its variables replaced."""

        def replaced(match: re.Match[str]) -> str:
            return str(_evaluate(match[1], variables)) if match[1] else match[0][0]

        return _HOLE.sub(replaced, template)

    def evaluate(self, expression: str, variables: Variables) -> int:
        """Return the number that an expression of the table stands for."""
        return int(_evaluate(expression, variables))

    def holds(self, variables: Variables) -> bool:
        """Return whether the variables are ones that the op accepts."""
        return not self.where or bool(_evaluate(self.where, variables))

    def match(self, template: str, kind: str) -> dict[str, str | int] | None:
        """Return the variables that make a type of the table this one; None if none do.

        Args:
            template: An operand's type. What is not a bare variable in it is left open.
            kind: The type, such as `2x3xf32`.
        """
        names = _HOLE.findall(template)
        pattern = _HOLE.sub("\0", template)
        parts = [re.escape(part) for part in pattern.split("\0")]
        groups = [f"({self._pattern(name)})" for name in names]
        whole = "".join(itertools.chain(*itertools.zip_longest(parts, groups, fillvalue="")))
        match = re.fullmatch(whole, kind)
        if match is None:
            return None
        found: dict[str, str | int] = {}
        for name, text in zip(names, match.groups(), strict=True):
            if _PLAIN.fullmatch(name):
                value = int(text) if text.isdigit() else text
                if found.setdefault(name, value) != value:
                    return None
                if name in self.variables and not self._may_be(name, value):
                    return None
        return found

    def _may_be(self, name: str, value: str | int) -> bool:
        given = self.variables[name]
        return value in given or given in {_SHAPES, _SIZES}

    def _pattern(self, name: str) -> str:
        if name == SHAPE:
            return r"(?:(?:\d+|\?)x)*"
        values = self.variables.get(name)
        return r"[^\dx].*" if values and isinstance(values[0], str) else r"\d+"


def bits(element: str) -> int:
    """Return how many bits an element type has."""
    if element == "i1":
        return 1
    if element.startswith("complex"):
        return 2 * bits(element[8:-1])
    digits = re.search(r"\d+", element)
    return int(digits[0]) if digits else 0


def top(element: str) -> int:
    """Return the largest number of an integer type."""
    return int((1 << bits(element) - (kind(element) == "i")) - 1)


def identity(op: str, element: str) -> str:
    """Return the number that changes no other by an op, as MLIR writes it in a constant.

    Args:
        op: What a reduction does: `add`, `maximum` and so on.
        element: The element type; of complex numbers there is no least and no greatest.
    """
    element = expressed(element) or element
    if op in {"add", "or", "xor", "multiply"} or element.startswith("complex"):
        one = op == "multiply"
        if element == "i1":
            return str(one).lower()
        if element[0] in "iu":
            return str(int(one))
        return f"({one:.1f}, 0.0)" if element.startswith("complex") else f"{one:.1f}"
    least = op == "maximum"
    if element == "i1":
        return str(not least).lower()
    if element[0] in "iu":
        signed = kind(element) == "i"
        if op == "and":
            return "-1" if signed else str(top(element))
        return str(-top(element) - 1 if signed else 0) if least else str(top(element))
    if element in _INFINITE:
        sign = 1 << bits(element) - 1 if least else 0
        return f"0x{_INFINITE[element] | sign:X}"
    if element == "f8E8M0FNU":  # it has no sign
        return "5.877471754111438e-39" if least else "1.7014118346046923e+38"
    return f"{-_LARGEST[element] if least else _LARGEST[element]:.1f}"


# The bits of infinity, and the largest numbers of narrow types, of which most have no infinity.
_INFINITE = {"f64": 0x7FF0000000000000, "f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80}
_LARGEST = {
    "f8E4M3FN": 448.0,
    "f8E5M2": 57344.0,
    "f8E4M3FNUZ": 240.0,
    "f8E5M2FNUZ": 57344.0,
    "f8E4M3B11FNUZ": 30.0,
    "f8E4M3": 240.0,
    "f8E3M4": 15.5,
    "f4E2M1FN": 6.0,
    "f6E2M3FN": 7.5,
    "f6E3M2FN": 28.0,
}


def kind(element: str) -> str:
    """Return `i`, `u`, `f` or `c`: what sort of numbers an element type has."""
    if element.startswith("ui"):
        return "u"
    return "f" if element.startswith("bf") else element[0]


def expressed(element: str) -> str:
    """Return the type of the numbers that a quantized type stands for; empty for other types."""
    match = _QUANTIZED.match(element)
    return match[2] if match else ""


@lru_cache(4096)
def split(kind: str) -> tuple[tuple[int | None, ...], str]:
    """Return the shape and the element type of `2x?xf32`.

    Raises:
        MalformedLanguage: It is no tensor.
    """
    match = _TENSOR.fullmatch(kind)
    if match is None:
        raise MalformedLanguage(f"{kind!r} is not a tensor type", where=_TABLE.name)
    sizes = match[1].split("x")[:-1]
    return tuple(None if size == "?" else int(size) for size in sizes), match[2]


@cache
def _since(op: str, own: str) -> Version:
    names = ops()
    oldest = next(name for name in (f"{op}_v1", f"{op}_v2") if name in names)
    return Version.parse(own or names[oldest].lifetime.since)


@cache
def since(element: str) -> Version:
    """Return the first Version that has an element type."""
    known = lifetimes("types")
    if quantized := _QUANTIZED.match(element):
        storage = quantized[1].replace("u", "ui")
        return max(since(storage), since(quantized[2]))
    if element.startswith("complex"):
        return since(element[8:-1])
    name = {"i1": "bool"}.get(element, element)
    return Version.parse(known[f"{name}_v1"].since)


@cache
def language() -> tuple[Form, ...]:
    """Return every form of every op, in the order of the table.

    Raises:
        MalformedLanguage: A row has a mistake.
    """
    table: Any = parse_toml(read_file(_TABLE))
    forms = tuple(form for row in table["form"] for form in _forms(row, table["classes"]))
    names = [str(form) for form in forms]
    for name in names:
        if names.count(name) > 1:
            raise MalformedLanguage(f"two rows are {name}", where=_TABLE.name)
    return forms


_KEYS = frozenset(
    ("ops", "form", "operands", "results", "attributes", "regions", "functions", "where", "since")
) | {"alone", "judged", "newer", "random"}


def _forms(row: Mapping[str, Any], classes: Mapping[str, list[str]]) -> Iterator[Form]:
    operands = tuple(_operand(one) for one in row["operands"])
    regions, functions = (tuple(map(_region, row.get(key, ()))) for key in ("regions", "functions"))
    texts = [*(one.type for one in operands), *row["results"], row.get("attributes", "")]
    variables = {name: _choices(value, classes) for name, value in row.items() if name not in _KEYS}
    for text in texts:
        for hole in _HOLE.findall(text):
            for name in re.findall(r"\b[A-Z]\b", hole):
                variables.setdefault(name, _SHAPES if name == SHAPE else _SIZES)
    newer = {
        element: Version.parse(version)
        for name, version in row.get("newer", {}).items()
        for element in classes[name]
    }
    for op in row["ops"]:
        yield Form(
            op=op,
            form=row.get("form", ""),
            operands=operands,
            results=tuple(row["results"]),
            attributes=row.get("attributes", ""),
            regions=regions,
            functions=functions,
            where=row.get("where", ""),
            random=row.get("random", False),
            judged=row.get("judged", True),
            alone=row.get("alone", False),
            variables=variables,
            own_since=row.get("since", ""),
            newer=newer,
        )


def _operand(given: str | Mapping[str, Any]) -> Operand:
    if isinstance(given, str):
        return Operand(given)
    bounds = given.get("range")
    return Operand(
        given["type"],
        given.get("value", ""),
        (bounds[0], bounds[1]) if bounds else None,
        given.get("definite", False),
    )


def _region(given: Mapping[str, Any]) -> Region:
    return Region(
        tuple(given.get("args", ())),
        tuple(given.get("lines", ())),
        tuple(given["returns"]),
        given.get("fill", False),
    )


def _choices(given: object, classes: Mapping[str, list[str]]) -> tuple[str | int, ...]:
    if isinstance(given, str):
        return tuple(itertools.chain(*(_class(name, classes) for name in given.split())))
    if isinstance(given, list) and given:
        return tuple(given)
    raise MalformedLanguage(f"a variable is {given!r}, not classes or choices", where=_TABLE.name)


def _class(name: str, classes: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the element types of a class; `@NAME` in it stands for another one."""
    for element in classes[name]:
        if element.startswith("@"):
            yield from _class(element[1:], classes)
        else:
            yield element


_OPERATORS: Mapping[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "bits": bits,
    "identity": identity,
    "kind": kind,
    "expressed": expressed,
    "max": max,
    "min": min,
    "top": top,
}


def _evaluate(expression: str, variables: Variables) -> Any:
    """Compute an expression of the table."""
    return _computed(expression)(variables)


@cache
def _computed(expression: str) -> Callable[[Variables], Any]:
    return _computing(ast.parse(expression, mode="eval").body)


def _computing(node: ast.expr) -> Callable[[Variables], Any]:
    """Return what computes a part of an expression."""
    match node:
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.Constant(value=value):
            return lambda _: value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            positive = _computing(operand)
            return lambda variables: -positive(variables)
        case (
            ast.BinOp(op=op, left=left, right=right)
            | ast.Compare(ops=[op], left=left, comparators=[right])
        ):
            compute, first, second = _OPERATORS[type(op)], _computing(left), _computing(right)
            return lambda variables: compute(first(variables), second(variables))
        case ast.BoolOp(op=op, values=values):
            combine, parts = all if isinstance(op, ast.And) else any, [*map(_computing, values)]
            return lambda variables: combine(part(variables) for part in parts)
        case ast.Call(func=ast.Name(id=name), args=values):
            function, parts = _FUNCTIONS[name], [*map(_computing, values)]
            return lambda variables: function(*[part(variables) for part in parts])
    raise MalformedLanguage(f"cannot compute {ast.unparse(node)!r}", where=_TABLE.name)
