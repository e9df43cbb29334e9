"""Programs that are always valid, from the table of what every op accepts.

A program is made op by op. Every choice has a place of its own (`Choices`), so that programs of one
seed with one op more, one form less or another Version differ in little.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from portable.errors import PortableError
from portable.fuzz.choices import Choices
from portable.fuzz.forms import expressed, language, split, top
from portable.fuzz.forms import kind as kind_of
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from portable.fuzz.forms import Form, Region, Variables

__all__ = ["Builder", "Generated", "NothingToGenerate", "Parameter", "Spot", "generate"]

OPS = 12
# Of types and shapes that many programs have, there is more to combine.
_COMMON = {"f32": 12, "i32": 6, "i1": 3, "f64": 3, "i64": 3, "bf16": 3, "f16": 2, "i8": 2, "ui8": 2}
_ATTEMPTS = 16
_MOST_ELEMENTS = 4096
_DEEPEST = 2
_FILLING = 3
_REUSED, _ARGUMENT, _TWICE = 0.85, 0.7, 0.1
# How many ops may be tried for what a region returns, and how many numbers a constant lists.
_PRODUCERS, _LISTED = 32, 64
# How often `main` returns all it computes: what is wrong with a value may not reach another.
_EVERY = 0.5
_LOCAL = re.compile(r"%(\w+)")


class NothingToGenerate(PortableError):
    """No op is left to make programs of."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of `main`.

    Args:
        type: Its type without `tensor<>`, such as `2x3xf32`.
        range: The least and the greatest value; None where any will do.
        definite: Whether it is a positive definite matrix.
    """

    type: str
    range: tuple[int, int] | None = None
    definite: bool = False


@dataclass(frozen=True, slots=True)
class Generated:
    """A program that was generated.

    Args:
        text: The program, as MLIR.
        arguments: What `main` takes.
        forms: The forms of ops in it, in order.
        since: The first Version that can express it.
        random: Whether no two runs of it compute the same.
        judged: Whether StableHLO's interpreter has all of them.
        covers: The forms with the element types that they have in it: `add f32`.
    """

    text: str
    arguments: tuple[Parameter, ...]
    forms: tuple[str, ...]
    since: Version
    random: bool
    judged: bool
    covers: frozenset[str]


def generate(
    seed: object,
    *,
    ops: int = OPS,
    version: Version | None = None,
    only: Collection[str] = (),
    judged: bool = False,
    elements: Collection[str] = (),
    covered: Mapping[str, int] = MappingProxyType({}),
) -> Generated:
    """Make a program.

    Args:
        seed: The same seed gives the same program.
        ops: How many ops it has, without those in regions and those that make constants.
        version: The Version that must be able to express it; by default any does.
        only: The ops to use; by default all.
        judged: Use those alone that StableHLO's interpreter has.
        elements: The element types to use; by default all.
        covered: How often each form was there already, and with each element type, as `covers` of
            earlier programs says: what was there seldom is chosen more often.

    Returns:
        The program.

    Raises:
        NothingToGenerate: There is no such op at that Version.
    """
    forms = [one for one in language() if (not only or one.op in only) and one.judged >= judged]
    forms = [one for one in forms if not one.alone and (version is None or one.since <= version)]
    builder = Builder(forms, version, frozenset(elements), covered)
    first = Choices(seed)
    spots = (Spot(first.at("op", number), str(number)) for number in range(ops))
    if not all(builder.step(builder.main, spot) for spot in spots):
        raise NothingToGenerate(
            "no op can be generated", hint="choose more ops, more types or a newer Version"
        )
    return builder.program(every=first.chance(_EVERY, "returns"))


@dataclass(frozen=True, slots=True)
class _SsaValue:
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class _Scope:
    """A block that is being written.

    Args:
        values: What its ops can use.
        lines: Its ops.
        isolated: Whether it is in a function, which has no part in the arguments of `main`.
        depth: How many ops with generated ops in them it is inside of.
    """

    values: list[_SsaValue] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    isolated: bool = False
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Spot:
    """Where something is chosen.

    Args:
        choices: What is chosen there.
        name: What the values made there are named for.
    """

    choices: Choices
    name: str

    def at(self, what: str, number: int) -> Spot:
        """Return a place within this one: an op, an operand, a region, a function, a result."""
        return Spot(self.choices.at(what, number), f"{self.name}{_MARKS[what]}{number}")


# Names are the same wherever a choice is: `%v3r0_1` is made by op 1 in region 0 of op 3.
_MARKS = {"op": "_", "operand": "_", "region": "r", "function": "f", "return": "e"}


@dataclass(frozen=True, slots=True)
class _Op:
    """An op that is being written."""

    form: Form
    variables: Variables
    spot: Spot

    def fill(self, template: str) -> str:
        return self.form.fill(template, self.variables)


def _whole(kind: str) -> str:
    return kind if kind.startswith(("!stablehlo", "tuple<")) else f"tensor<{kind}>"


def _types(kinds: Sequence[str]) -> str:
    return ", ".join(map(_whole, kinds))


def _converted(scope: _Scope, op: str, value: _SsaValue, kind: str) -> _SsaValue:
    """Quantize a value, or the reverse."""
    made = _SsaValue(f"%q{value.name[1:].replace('#', '_')}", kind)
    signature = f"({_whole(value.type)}) -> {_whole(kind)}"
    scope.lines.append(f'{made.name} = "stablehlo.{op}"({value.name}) : {signature}')
    return made


class Builder:
    """A program that is being made.

    Args:
        forms: What ops there are to choose from.
        version: The Version that must be able to express it.
        elements: The element types to use; all where there are none.
        covered: As for `generate`.
        distinct: Whether every operand is an argument of its own: of two that are equal, and of
            constants, compilers know the result.
    """

    def __init__(
        self,
        forms: Sequence[Form],
        version: Version | None,
        elements: frozenset[str],
        covered: Mapping[str, int] = MappingProxyType({}),
        *,
        distinct: bool = False,
    ) -> None:
        self._covered = covered
        self._covers: set[str] = set()
        self._distinct = distinct
        self._by_op: dict[str, list[Form]] = {}
        for form in forms:
            self._by_op.setdefault(form.op, []).append(form)
        self._version = version
        self._elements = elements
        self.main = _Scope()
        self._arguments: list[tuple[_SsaValue, Parameter]] = []
        self._functions: list[str] = []
        self._used: set[str] = set()
        self._forms: list[Form] = []
        self._since = Version.parse("0.9.0")

    def program(self, *, every: bool = False) -> Generated:
        """Return the program: `main` returns what nothing uses, or every value it computes."""
        given = {value.name for value, _ in self._arguments} if every else self._used
        sinks = [value for value in self.main.values if value.name not in given]
        returned = [self._returnable(value) for value in sinks if not _opaque(value.type)]
        arguments = ", ".join(f"{v.name}: {_whole(v.type)}" for v, _ in self._arguments)
        kinds = [value.type for value in returned]
        names = ", ".join(value.name for value in returned)
        end = f'"func.return"({names}) : ({_types(kinds)}) -> ()'
        body = "\n  ".join([*self.main.lines, end])
        text = f"func.func @main({arguments}) -> ({_types(kinds)}) {{\n  {body}\n}}\n"
        return Generated(
            "".join([text, *self._functions]),
            tuple(argument for _, argument in self._arguments),
            tuple(map(str, self._forms)),
            self._since,
            any(form.random for form in self._forms),
            all(form.judged for form in self._forms),
            frozenset(self._covers),
        )

    def step(self, scope: _Scope, spot: Spot) -> bool:
        """Add one op; return whether there is one that fits."""
        for op in spot.choices.ranked(self._by_op, "op", weight=self._wanted_op):
            for form in spot.choices.ranked(self._by_op[op], "form", weight=self._wanted):
                if scope.depth >= _DEEPEST and form.fills:
                    continue
                there = Spot(spot.choices.at(form), spot.name)
                for attempt in range(_ATTEMPTS):
                    variables = self._variables(scope, form, there.choices.at(attempt))
                    if self.emit(scope, form, variables, there):
                        return True
        return False

    def _wanted_op(self, op: str) -> float:
        return sum(map(self._wanted, self._by_op[op])) if self._covered else 1.0

    def _wanted(self, form: Form, element: str | int = "") -> float:
        """Return how much it is worth to have a form once more, with an element type or any."""
        return 1 / (1 + self._covered.get(f"{form} {element}".rstrip(), 0))

    def _variables(self, scope: _Scope, form: Form, choices: Choices) -> Variables:
        """Choose what the variables stand for, so that a value there is can be an operand."""
        found: dict[str, str | int] = {}
        free = [one for one in form.operands if not one.value and one.range is None]
        if free and scope.values and choices.chance(_REUSED, "anchor"):
            anchor = choices.pick(free, "operand")
            for value in choices.ranked(scope.values, "value")[:_ATTEMPTS]:
                match = form.match(anchor.type, value.type)
                if match is not None:
                    found = match
                    break
        return self._chosen(form, found, choices)

    def _chosen(self, form: Form, found: Variables, choices: Choices) -> Variables:
        """Choose what those variables stand for that are not found yet."""
        free = {name: values for name, values in form.variables.items() if name not in found}
        return {**found} | {
            name: choices.pick(
                values, name, weight=lambda one: _weight(one) * self._wanted(form, one)
            )
            for name, values in free.items()
        }

    def emit(self, scope: _Scope, form: Form, variables: Variables, spot: Spot) -> bool:
        """Write one op, unless it is not valid with these variables."""
        if not form.holds(variables):
            return False
        op = _Op(form, {**variables, "NAME": f"f{spot.name}"}, spot)
        operands = [op.fill(operand.type) for operand in form.operands]
        results = [op.fill(result) for result in form.results]
        if not all(self._allowed(form, kind) for kind in (*operands, *results)):
            return False
        given: list[_SsaValue] = []
        for number in range(len(operands)):
            given.append(self._operand(scope, op, number, given))
        regions = [self._region(scope, op, number) for number in range(len(form.regions))]
        self._functions += [self._function(op, number) for number in range(len(form.functions))]
        name = f"%v{spot.name}"
        made = [
            _SsaValue(f"{name}#{number}" if len(results) > 1 else name, kind)
            for number, kind in enumerate(results)
        ]
        attributes = op.fill(form.attributes)
        scope.lines.append(
            (f"{name}:{len(results)} = " if len(results) > 1 else f"{name} = ")
            + ('"func.call"' if form.op == "call" else f'"stablehlo.{form.op}"')
            + f"({', '.join(value.name for value in given)})"
            + (f" <{{{attributes}}}>" if attributes else "")
            + (f" ({', '.join(regions)})" if regions else "")
            + f" : ({_types(operands)}) -> "
            + (_types(results) if len(results) == 1 else f"({_types(results)})")
        )
        self._used.update(value.name for value in given)
        scope.values.extend(made)
        self._forms.append(form)
        plain = [split(kind)[1] for kind in (*operands, *results) if not _opaque(kind)]
        self._covers.update({str(form), *(f"{form} {element}" for element in plain)})
        self._since = max(self._since, form.since, *map(form.since_with, plain))
        return True

    def _allowed(self, form: Form, kind: str) -> bool:
        if _opaque(kind):
            return True
        try:
            shape, element = split(kind)
        except PortableError:  # a negative size
            return False
        if self._elements and element not in self._elements:
            return False
        known = self._version is None or form.since_with(element) <= self._version
        return known and math.prod(size or 1 for size in shape) <= _MOST_ELEMENTS

    def _operand(
        self, scope: _Scope, op: _Op, number: int, before: Collection[_SsaValue]
    ) -> _SsaValue:
        operand, spot = op.form.operands[number], op.spot.at("operand", number)
        kind = op.fill(operand.type)
        if operand.value:
            return self._constant(scope, kind, op.fill(operand.value), spot.name)
        if operand.range is None and not operand.definite:
            return self._value(scope, kind, spot, before)
        low, high = (op.form.evaluate(end, op.variables) for end in operand.range or "00")
        if scope.isolated:
            return self._constant(scope, kind, _splat(kind, max(low, 0)), spot.name)
        bounds = (low, high) if operand.range else None
        return self._argument(scope, Parameter(kind, bounds, operand.definite), spot.name)

    def _value(
        self, scope: _Scope, kind: str, spot: Spot, before: Collection[_SsaValue] = ()
    ) -> _SsaValue:
        """Return a value of a type: one there is, an argument of `main`, or a constant.

        Those that the op has already (`before`) seldom come again: `x - x` shows little of `-`.
        """
        if self._distinct and not scope.isolated:
            return self._argument(scope, Parameter(kind), spot.name)
        there = [value for value in scope.values if value.type == kind]
        if not spot.choices.chance(_TWICE, "twice"):
            there = [value for value in there if value not in before]
        if there and spot.choices.chance(_REUSED, "reuse"):
            return spot.choices.pick(there, "which")
        may_be_constant = _numbers(kind) == kind and None not in split(kind)[0]
        wanted = may_be_constant and not spot.choices.chance(_ARGUMENT, "argument")
        if scope.isolated or wanted:
            return self._constant(scope, kind, _listed(_numbers(kind), spot.choices), spot.name)
        return self._argument(scope, Parameter(kind), spot.name)

    def _returned(self, scope: _Scope, kind: str, spot: Spot, made: set[str]) -> _SsaValue:
        """Return a value of a type for the end of a block: what an op in it computes, if one can.

        Args:
            scope: The block.
            kind: The type.
            spot: Where it is chosen.
            made: What the ops of the block have computed already.
        """
        unused = [v for v in scope.values if v.type == kind and v.name in made - self._used]
        if unused:
            return unused[-1]
        forms = [form for op in self._by_op.values() for form in op if self._many]
        for form in spot.choices.ranked(forms, "producer", weight=self._wanted)[:_PRODUCERS]:
            matches = (form.match(result, kind) for result in form.results)
            found = next((match for match in matches if match is not None), None)
            if found is None or (scope.depth >= _DEEPEST and form.fills):
                continue
            there = spot.choices.at(form)
            variables = self._chosen(form, found, there)
            results = [form.fill(result, variables) for result in form.results]
            if kind in results and self.emit(scope, form, variables, Spot(there, spot.name)):
                return scope.values[results.index(kind) - len(results)]
        return self._value(scope, kind, spot)

    def _argument(self, scope: _Scope, argument: Parameter, place: str) -> _SsaValue:
        """Add an argument to `main`; no array is quantized, so that is done there."""
        kind = _numbers(argument.type)
        value = _SsaValue(f"%a{place}", kind)
        self._arguments.append((value, replace(argument, type=kind)))
        self._used.add(value.name)
        if kind != argument.type:
            return _converted(scope, "uniform_quantize", value, argument.type)
        self.main.values.append(value)
        return value

    def _constant(self, scope: _Scope, kind: str, value: str, place: str) -> _SsaValue:
        numbers = _numbers(kind)
        if numbers != kind:
            plain = self._constant(scope, numbers, value.replace(kind, numbers), place)
            return _converted(scope, "uniform_quantize", plain, kind)
        made = _SsaValue(f"%c{place}", kind)
        scope.lines.append(
            f'{made.name} = "stablehlo.constant"() <{{value = {value}}}> : () -> {_whole(kind)}'
        )
        return made

    def _returnable(self, value: _SsaValue) -> _SsaValue:
        numbers = _numbers(value.type)
        if numbers == value.type:
            return value
        return _converted(self.main, "uniform_dequantize", value, numbers)

    def _region(self, outer: _Scope, op: _Op, number: int) -> str:
        region = op.form.regions[number]
        values = list(outer.values) if region.fill else []
        scope = _Scope(values, isolated=outer.isolated, depth=outer.depth + 1)
        args, end = self._block(scope, op, region, op.spot.at("region", number))
        head = f"^bb0({args}):\n  " if args else ""
        lines = "\n  ".join([*scope.lines, f'"stablehlo.return"{end} -> ()'])
        return f"{{\n  {head}{lines}\n  }}"

    def _function(self, op: _Op, number: int) -> str:
        scope = _Scope(isolated=True, depth=_DEEPEST)
        function = op.form.functions[number]
        args, end = self._block(scope, op, function, op.spot.at("function", number))
        results = _types([op.fill(result) for result in op.form.results])
        body = "\n  ".join([*scope.lines, f'"func.return"{end} -> ()'])
        head = f"func.func private @{op.variables['NAME']}({args}) -> ({results})"
        return f"{head} {{\n  {body}\n}}\n"

    def _block(self, scope: _Scope, op: _Op, region: Region, spot: Spot) -> tuple[str, str]:
        """Write the ops of a block; return its arguments, and what it returns with their types."""
        given = [_SsaValue(f"%b{spot.name}_{n}", op.fill(t)) for n, t in enumerate(region.args)]
        for line in region.lines:
            scope.lines.append(_LOCAL.sub(rf"%b{spot.name}_\1", op.fill(line)))
        outer = {value.name for value in (*scope.values, *given)}
        if region.fill:
            scope.values.extend(given)
            for number in range(int(spot.choices.unit("ops") * _FILLING) if self._many else 0):
                self.step(scope, spot.at("op", number))
        returned = []
        for number, name in enumerate(region.returns):
            if name == "?":
                kind = op.fill(op.form.results[number])
                made = {value.name for value in scope.values} - outer
                value = self._returned(scope, kind, spot.at("return", number), made)
                self._used.add(value.name)
                returned.append((value.name, _whole(value.type)))
            else:
                local = _LOCAL.sub(rf"%b{spot.name}_\1", name)
                returned.append((local, _line_type(scope.lines, local)))
        args = ", ".join(f"{value.name}: {_whole(value.type)}" for value in given)
        names, types = (", ".join(one) for one in zip(*returned, strict=True))
        return args, f"({names}) : ({types})"

    @property
    def _many(self) -> bool:
        return sum(map(len, self._by_op.values())) > 1


def _line_type(lines: Sequence[str], name: str) -> str:
    """Return the type of a value by the line that makes it."""
    line = next(line for line in lines if line.startswith(f"{name} = "))
    return line.rpartition("-> ")[2]


def _numbers(kind: str) -> str:
    """Return the type of arrays that hold the values of a type: another one for a quantized one."""
    element = split(kind)[1]
    plain = expressed(element)
    return kind.removesuffix(element) + plain if plain else kind


def _opaque(kind: str) -> bool:
    return kind.startswith(("!stablehlo", "tuple<"))


def _weight(value: str | int) -> float:
    return float(_COMMON.get(str(value), 0.1 if value in {"0x", 0} else 1.0))


def _listed(kind: str, choices: Choices) -> str:
    """Return the attribute of a constant with different numbers, or one if there are many."""
    shape, element = split(kind)
    count = math.prod(size or 0 for size in shape)
    if not shape or not 0 < count <= _LISTED:
        return f"dense<{choices.pick(_numbers_of(element), 'number')}> : tensor<{kind}>"
    numbers = [choices.pick(_numbers_of(element), "number", place) for place in range(count)]
    for size in reversed(shape):
        step = size or 0
        numbers = [f"[{', '.join(numbers[n : n + step])}]" for n in range(0, len(numbers), step)]
    return f"dense<{numbers[0]}> : tensor<{kind}>"


def _numbers_of(element: str) -> Sequence[str]:
    """Return numbers that an element type has, as MLIR writes them in a constant."""
    if element == "i1":
        return "true", "false"
    if element.startswith("complex"):
        return "(1.0, -2.0)", "(-0.5, 3.0)", "(0.0, 1.0)", "(4.0, 0.0)"
    if element == "f8E8M0FNU":  # powers of two
        return "1.0", "2.0", "0.5", "4.0"
    if kind_of(element) == "f":
        return "1.0", "-2.0", "0.5", "3.0", "-1.5", "0.0", "4.0"
    least = -top(element) - 1 if kind_of(element) == "i" else 0
    numbers = (0, 1, 2, 3, 5, -1, -2, -7, least, top(element))
    return [str(one) for one in dict.fromkeys(numbers) if least <= one <= top(element)]


def _splat(kind: str, number: int) -> str:
    """Return the attribute of a constant with one number everywhere."""
    element = split(kind)[1]
    text = str(number) if element[0] in "iu" else f"{number}.0"
    if element == "i1":
        text = "true" if number else "false"
    if element.startswith("complex"):
        text = f"({text}, {text})"
    return f"dense<{text}> : tensor<{kind}>"
