"""Programs of one op each: every form of every op with every combination of element types."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from portable.fuzz.choices import Choices
from portable.fuzz.forms import SHAPE, language
from portable.fuzz.generation import Builder, Spot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from portable.fuzz.forms import Form, Variables
    from portable.fuzz.generation import Generated
    from portable.version import Version

__all__ = ["OneOp", "coverable", "one_op_programs"]


@dataclass(frozen=True, slots=True)
class OneOp:
    """One form of one op with given types, as a program.

    Args:
        form: The form.
        variables: What its variables stand for: element types by their letters, sizes, attributes.
        program: The program.
    """

    form: Form
    variables: Variables
    program: Generated


def one_op_programs(version: Version | None = None) -> Iterator[OneOp]:
    """Enumerate programs of one op: every form, with every combination of element types.

    Args:
        version: The Version that must be able to express them; by default any does.

    Yields:
        The programs, in the order of the table: for each combination of types one with every
        choice of each attribute, and for the first combination one with every shape.
    """
    for form in language():
        if version is None or form.since <= version:
            yield from _programs(form, _combinations(form), version)


def _programs(
    form: Form, combinations: Iterable[Variables], version: Version | None = None
) -> Iterator[OneOp]:
    """Yield the programs of a form, one of those with the same text."""
    seen: set[str] = set()
    for variables in combinations:
        builder = Builder([form], version, frozenset(), distinct=True)
        if builder.emit(builder.main, form, variables, Spot(Choices(form), "0")):
            program = builder.program()
            if program.text not in seen:
                seen.add(program.text)
                yield OneOp(form, variables, program)


@cache
def coverable(elements: frozenset[str]) -> frozenset[str]:
    """Return what programs can cover: each form, and each with each element type, as `add f32`.

    Args:
        elements: The element types that all operands and results must be of.
    """
    covers = (one for one in _covers() if {*map(_element, one)} - {""} <= elements)
    return frozenset(itertools.chain.from_iterable(covers))


@cache
def _covers() -> frozenset[frozenset[str]]:
    """Return what each program of one op covers, of forms that others may follow."""
    # What is covered depends on the types alone.
    made = (_programs(form, _of_types(form)) for form in language() if not form.alone)
    return frozenset(one.program.covers for of in made for one in of)


def _element(covered: str) -> str:
    return covered.partition(" ")[2]


def _combinations(form: Form) -> Iterator[dict[str, str | int]]:
    """Yield values of a form's variables: all types by all types, and each other choice once."""
    others = [name for name in form.variables if name not in _types(form)]
    first = True
    for usual in _of_types(form):
        yield usual
        chosen = {name: usual[name] for name in _types(form)}
        # Shapes and sizes do not depend on the type: once is enough.
        for name in others:
            if name.islower() or first:
                for value in (*form.variables[name][1:], *_dynamic(form, name)):
                    changed = _first_valid(form, chosen | {name: value}, others)
                    if changed is not None:
                        yield changed
        first = False


def _of_types(form: Form) -> Iterator[dict[str, str | int]]:
    """Yield values of a form's variables: all types by all types, the others as usual."""
    types = _types(form)
    others = [name for name in form.variables if name not in types]
    for chosen in _products(form, types):
        usual = _first_valid(form, chosen, others)
        if usual is not None:
            yield usual


def _types(form: Form) -> list[str]:
    """Return the variables that stand for element types."""
    named = (name for name in form.variables if name.isupper() and name != SHAPE)
    return [name for name in named if isinstance(form.variables[name][0], str)]


def _dynamic(form: Form, name: str) -> tuple[str, ...]:
    """Return the shape whose size only the arguments say, for forms that take a whole shape."""
    taken = any("{S}" in operand.type for operand in form.operands)
    return ("?x",) if name == SHAPE and taken and not form.functions else ()


def _products(form: Form, names: Sequence[str]) -> Iterator[dict[str, str | int]]:
    if not names:
        yield {}
        return
    for rest in _products(form, names[1:]):
        for value in form.variables[names[0]]:
            yield {names[0]: value, **rest}


def _first_valid(
    form: Form, chosen: dict[str, str | int], names: Sequence[str]
) -> dict[str, str | int] | None:
    """Choose the first values of the other variables with which the form is valid."""
    free = [name for name in names if name not in chosen]
    return next((one for one in _all(form, chosen, free) if form.holds(one)), None)


def _all(
    form: Form, chosen: dict[str, str | int], names: Sequence[str]
) -> Iterator[dict[str, str | int]]:
    if not names:
        yield chosen
        return
    for value in form.variables[names[0]]:
        yield from _all(form, chosen | {names[0]: value}, names[1:])
