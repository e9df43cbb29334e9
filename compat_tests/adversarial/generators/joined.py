"""Artifacts of many operations that one thing joins, of what each form looks for.

What a form looks back at for each operation must not be walked through again: a large constant that
all of them take, a chain in which each takes the one before, a body or a nest around all of them.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from compat_tests.adversarial.generators.amplification import _artifact, _blob
from compat_tests.adversarial.generators.sharing import _attributes, _types
from compat_tests.helpers.bytecode_writer import entry, operation, region
from portable.bytecode.layouts import table
from portable.bytecode.vhlo import op, ops

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from portable.prediction.form import FormRule

__all__ = ["JOINTS", "joined", "named", "needed", "of_any_counts", "of_constants"]

_WIDTH = 64  # of attributes and shapes that all share
_DEPTH = 400
_ODD = 24  # operations
_WIDE = 5
_CONSTANT, _WHILE, _FUNCTION, _RETURN = "constant_v1", "while_v1", "func_v1", "return_v1"
_ALWAYS = ("f32_v1", "i32_v1", "ui8_v1", "bool_v1", "complex_v1")
# Element types, each with its code and what it is of, by the numbers of sharing's scalars.
_CODES = {
    row.name: (code, *([1] if row.name == "complex_v1" else []))
    for code, row in table("vhlo", "types").items()
    if not row.fields or row.name == "complex_v1"
} | {"quant_v1": (24, 1, 0, 1, 0, 0, 0, 0)}
_BYTES = 64  # of each constant, for each operation


class _Program:
    """A program that is written op by op into its function `main`.

    Args:
        elements: The element types of its values.
        n: The size of its constants.
        own: How many tensor types there are besides, each of another size.
    """

    def __init__(self, elements: Sequence[str], n: int, own: int = 0) -> None:
        self.names = ["builtin.module"]
        types, _, function = _types(min(n, _WIDTH))
        self._number, attributes = _attributes(min(n, _WIDTH), function)
        types += [("vhlo", entry(*_CODES[one])) for one in elements]
        self.tensors = [len(types) + at for at in range(len(elements))]
        scalar = len(types) - len(elements)
        types += [("vhlo", entry(20, 1, n << 1, scalar + at)) for at in range(len(elements))]
        self.own = len(types)
        types += [("vhlo", entry(20, 1, at << 1, scalar + at % len(elements))) for at in range(own)]
        self.main_type = len(types)
        self.arguments = [*self.tensors, *range(self.own, self.own + own)]
        types.append(("vhlo", entry(8, len(self.arguments), *self.arguments, 0)))
        self.types = types
        self.attributes = list(attributes)
        self._first = self._attribute(("vhlo", entry(9, 0, 0)))  # the integer 0
        data = bytes(_BYTES * (n - 1)) + b"\1" + bytes(_BYTES - 1)
        self.constants = {
            (at, splat): self._attribute(_blob("vhlo", 15, type_, b"\0" * 16 if splat else data))
            for at, type_ in enumerate(self.tensors)
            for splat in (False, True)
        }
        self.properties: list[bytes] = []
        self._known: dict[object, int] = {}
        self.body: list[bytes] = []
        self.values = len(self.arguments)

    def _attribute(self, data: tuple[str, bytes]) -> int:
        self.attributes.append(data)
        return len(self.attributes)

    def _properties(self, name: str, own: tuple[int, ...] = ()) -> int | None:
        fields = op(name).attributes
        if not fields:
            return None
        if (name, own) not in self._known:
            self._known[name, own] = len(self.properties) + 1
            self.properties.append(entry(*(own or map(self._attribute_of, fields))))
        return self._known[name, own]

    def _attribute_of(self, field: str) -> int:
        return self._first if field == "dimension" else self._number(field)

    def name(self, name: str) -> int:
        if f"vhlo.{name}" not in self.names:
            self.names.append(f"vhlo.{name}")
        return self.names.index(f"vhlo.{name}")

    def op(
        self,
        name: str,
        operands: Sequence[int],
        results: Sequence[int],
        regions: Sequence[bytes] = (),
        own: tuple[int, ...] = (),
    ) -> bytes:
        """Return an operation."""
        return operation(
            self.name(name),
            properties=self._properties(name, own),
            operands=operands,
            results=results,
            regions=regions,
        )

    def add(
        self,
        name: str,
        operands: Sequence[int],
        results: Sequence[int],
        regions: Sequence[bytes] = (),
        own: tuple[int, ...] = (),
    ) -> int:
        """Write an operation with one result, and return the number of that."""
        self.body.append(self.op(name, operands, results, regions, own))
        self.values += 1
        return self.values - 1

    def constant(self, at: int, *, splat: bool) -> int:
        """Write a constant of an element type."""
        own = (self.constants[at, splat],)
        return self.add(_CONSTANT, [], [self.tensors[at]], own=own)

    def written(self) -> bytes:
        """Return the artifact."""
        main = self._attribute(("vhlo", entry(14, 0)))
        kind = self._attribute(("vhlo", entry(17, self.main_type)))
        none, empty = (
            self._attribute(("vhlo", entry(1, 0))),
            self._attribute(("vhlo", entry(14, 1))),
        )
        self.body.append(self.op(_RETURN, [self.values - 1], []))
        body = region(self.body, self.values, self.arguments)
        self._known[_FUNCTION, ()] = len(self.properties) + 1
        self.properties.append(entry(none, kind, none, main, empty))
        function = operation(
            self.name(_FUNCTION), properties=len(self.properties), regions=[body], isolated=True
        )
        return _artifact(
            [function],
            names=self.names[1:],
            attributes=self.attributes,
            types=self.types,
            properties=self.properties,
            strings=["main", ""],
        )


class _Needed(NamedTuple):
    """What an artifact needs for a form to be looked for.

    Args:
        groups: Ops, of each group one.
        elements: Element types.
    """

    groups: list[list[str]]
    elements: list[str]


def needed(rule: FormRule) -> _Needed:
    """Return what a form needs."""
    groups, elements = [], []
    for group in rule.needs:
        names = sorted(one.removeprefix("op:vhlo.") for one in group if one.startswith("op:vhlo."))
        found = [name for name in ops() if name in names or name.rpartition("_v")[0] in names]
        if found := [one for one in found if one not in {_FUNCTION, _RETURN}]:
            groups.append(found)
        types = [f"{one[5:]}_v1" for one in group if one.startswith("type:")]
        elements += [one for one in types if one in _CODES]
    return _Needed(groups, sorted(elements)[:4] or list(_ALWAYS))


def of_constants(name: str, n: int, beside: Sequence[str] = ()) -> bytes:
    """Return operations of one op that all take the same large constants.

    Args:
        name: The op.
        n: How many, and how large the constants are.
        beside: Other ops, of each one.
    """
    elements = [*_ALWAYS, "i4_v1", "bf16_v1", "f64_v1", "ui2_v1"]
    program = _Program(elements, n)
    large = [program.constant(at, splat=False) for at in range(len(elements))]
    splat = [program.constant(at, splat=True) for at in range(len(elements))]
    shaped = [
        program.add("reshape_v1", [one], [program.tensors[at]]) for at, one in enumerate(large)
    ]
    for one in beside:
        program.add(one, [large[0]], [program.tensors[0]])
    for at in range(n):
        kind, of = at % len(elements), (large, shaped, splat)[at // len(elements) % 3]
        values = [of[kind], large[kind], of[kind]]
        program.add(name, values, [program.tensors[kind]])
    return program.written()


def of_any_counts(name: str, luck: random.Random, beside: Sequence[str] = ()) -> bytes:
    """Return operations of one op with more and fewer operands, results and regions than it has.

    Args:
        name: The op.
        luck: Decides how many, and of what.
        beside: Other ops, of each one.
    """
    program = _Program([*_ALWAYS, luck.choice(["i4_v1", "bf16_v1", "f64_v1", "ui2_v1"])], 4)
    kinds = range(len(program.tensors))
    made = [program.constant(at, splat=splat) for splat in (False, True) for at in kinds]
    for one in beside:
        program.add(one, [made[0]], [program.tensors[0]])
    for _ in range(_ODD):
        kind = luck.choice(kinds)
        some = [kind, luck.choice(made), luck.randrange(program.values), program.values - 1]
        types = luck.choices(program.tensors, k=luck.choice((0, 1, 1, 1, 2)))
        ended = program.op(_RETURN, luck.choices(some, k=luck.randrange(3)), [])
        bodies = [region([ended], 0)] * luck.choice((0, 0, 1, 2))
        operands = luck.choices(some, k=luck.randrange(6))
        program.body.append(program.op(name, operands, types, bodies))
        program.values += len(types)
    return program.written()


def _rounds(groups: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield op after op: of each group in turn another."""
    for at in itertools.count():
        for group in groups:
            yield group[at % len(group)]


def _shared(program: _Program, names: Iterator[str], n: int) -> None:
    constants = [program.constant(at, splat=False) for at in range(len(program.tensors))]
    for at in range(n):
        kind = at % len(constants)
        program.add(next(names), [constants[kind]] * 3, [program.tensors[kind]])


def _own(program: _Program, names: Iterator[str], n: int) -> None:
    """As `_shared`, with a type for each."""
    for at in range(n):
        kind = at % len(program.tensors)
        program.add(next(names), [kind] * 3, [program.own + at])


def _taken(program: _Program, names: Iterator[str], n: int) -> None:
    """Of one type, each from an argument of another one."""
    first = len(program.tensors)
    for at in range(n):
        program.add(next(names), [first + at] * 3, [program.tensors[0]])


def _chain(program: _Program, names: Iterator[str], n: int) -> None:
    last = program.constant(0, splat=False)
    for at in range(n):
        kind = at // 8 % len(program.tensors)
        last = program.add(next(names), [last] * 3, [program.tensors[kind]])


def _argument_chain(program: _Program, names: Iterator[str], n: int) -> None:
    last = 0
    for at in range(n):
        kind = at // 8 % len(program.tensors)
        last = program.add(next(names), [last, kind, last], [program.tensors[kind]])


def _bodies(program: _Program, names: Iterator[str], n: int) -> None:
    """Each with a body, all from one constant."""
    constants = [program.constant(at, splat=False) for at in range(len(program.tensors))]
    total = program.values + n
    for at in range(n):
        kind = at % len(constants)
        type_ = program.tensors[kind]
        inside = [
            program.op("add_v1", [total, total + 1], [type_]),
            program.op(_RETURN, [total + 2], []),
        ]
        body = region(inside, 3, [type_, type_])
        program.add(next(names), [constants[kind]] * 2, [type_], [body])


def _nested(program: _Program, names: Iterator[str], n: int) -> None:
    """All of them inside many loops."""
    start, type_ = 0, program.tensors[0]
    ops_ = [program.op(next(names), [start] * 3, [type_]) for _ in range(n)]
    inside = region([*ops_, program.op(_RETURN, [start], [])], n)
    for _ in range(min(4 * n, _DEPTH)):
        loop = program.op(_WHILE, [start], [], [inside])
        inside = region([loop, program.op(_RETURN, [start], [])], 0)
    program.add(_WHILE, [start], [type_], [inside])


def _wide(program: _Program, names: Iterator[str], n: int) -> None:
    """Each takes what an op of as many operands gives."""
    start, type_ = program.constant(0, splat=False), program.tensors[0]
    wide = [program.add(next(names), [start] * n, [type_]) for _ in range(_WIDE)]
    for at in range(n):
        program.add(next(names), [wide[at % _WIDE], start, wide[at % _WIDE]], [type_])


JOINTS = {
    "wide": _wide,
    "shared": _shared,
    "own": _own,
    "taken": _taken,
    "chain": _chain,
    "arguments": _argument_chain,
    "bodies": _bodies,
    "nested": _nested,
}
"""How operations are joined."""
_OF_OWN_TYPES = frozenset({"own", "taken"})


def joined(rule: FormRule, joint: str, n: int) -> bytes:
    """Return operations that a form is about, joined by one thing.

    Args:
        rule: The form.
        joint: One of `JOINTS`.
        n: How many operations.
    """
    groups, elements = needed(rule)
    program = _Program(elements, n, own=n if joint in _OF_OWN_TYPES else 0)
    JOINTS[joint](program, _rounds(groups or [["add_v1", "call_v1", "custom_call_v1"]]), n)
    return program.written()


def named(names: Sequence[str]) -> bytes:
    """Return an artifact with two operations of each name, the second with a region."""
    types = [("vhlo", entry(4)), ("vhlo", entry(20, 1, 8, 0))]
    made = []
    for at in range(len(names)):
        inner = operation(1 + at, operands=[0], results=[1])
        made += [
            operation(1 + at, operands=[2 * at - 1] if at else [], results=[1]),
            operation(1 + at, operands=[2 * at], results=[1], regions=[region([inner], values=1)]),
        ]
    return _artifact(made, values=len(made), names=names, types=types)
