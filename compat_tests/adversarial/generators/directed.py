"""Small random programs, each made of what a form needs, so that it may be found there, or not.

Most are not valid StableHLO; all are read. Which of them tell something is kept in a table.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region, varint
from compat_tests.helpers.written import Part, Program, Step, signed
from portable.bytecode.vhlo import APPLYING, FUNCTION, enums, lifetimes, op, ops
from portable.prediction.forms import FORMS
from portable.prediction.parts import property_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["is_directed", "program", "several"]

_ELEMENTS = (
    *("bool_v1", "i8_v1", "ui8_v1", "i32_v1", "i64_v1", "i4_v1", "bf16_v1", "f32_v1", "f64_v1"),
    *("complex_v1", "quant_v1"),
)
# Types with parts, or of tensors.
_NO_ELEMENTS = frozenset({"buffer_v1", "func_v1", "future_v1", "tensor_v1", "tuple_v1"})
_SHAPES = (
    (),
    (1,),
    (2,),
    (3,),
    (0,),
    (2, 3),
    (1, 3),
    (2, 0),
    (-1,),
    (1, 1),
    (3, 2, 2),
    (4095,),
    (4096,),
    (16,),
)
# What stands around the ops that a form needs, and in bodies.
_AROUND = (
    *("constant_v1", "constant_v1", "iota_v1", "reshape_v1", "broadcast_in_dim_v1", "convert_v1"),
    *("slice_v1", "transpose_v1", "add_v1", "multiply_v1", "abs_v1", "select_v1", "while_v1"),
    *("reduce_v1", "compare_v1", "call_v1"),
)
_BODIES = (
    *("add_v1", "maximum_v1", "minimum_v1", "multiply_v1", "or_v1", "and_v1", "xor_v1"),
    *("compare_v1", "convert_v1", "call_v1", "constant_v1", "subtract_v1"),
)
_REGIONS = dict.fromkeys(APPLYING, 1) | dict.fromkeys(
    ("while", "if", "case", "select_and_scatter"), 2
)
_NUMBERS = (-1, 0, 0, 1, 1, 2, 3)
_STRINGS = (
    *("main", "helper", "private", "TopK", "mhlo.topk", "Sharding", "lapack_spotrf_ffi"),
    *("tf.aliasing_output", "jax.buffer_donor", "mhlo.memory_kind", "mhlo.layout_mode"),
    *("pinned_host", "{1,0}", "default", "elsewhere", "sdy.sharding", "plain", "largest"),
)
_MAIN, _HELPER, _PRIVATE, _PLAIN, _LARGEST = map(
    _STRINGS.index, ("main", "helper", "private", "plain", "largest")
)
_ALIAS, _DONOR = map(_STRINGS.index, ("tf.aliasing_output", "jax.buffer_donor"))
# What arguments and results have in their dictionaries, and as texts there.
_KEYS, _TEXTS = range(_ALIAS, _ALIAS + 4), range(11, 15)
_PRECISIONS = ("f32_v1", "bf16_v1", "tf31_v1", "f16_v1", "none_v1")
# One of each limit that something is compared with, and floating-point numbers.
_PATTERNS = (
    *(0, 1, -1, 2, 63, 64, 65, 127, 128, 255, 0x3F80, 0x4000, 0x7FC0, 0x3F800000, 0x7F800000),
    *(0x40000000, 1 << 30, 0x3F000000, 0xBF800000),
)


@dataclass
class _Value:
    number: int
    type: int


@dataclass
class _Maker(Program):
    luck: random.Random = field(default_factory=random.Random)
    names: list[str] = field(default_factory=lambda: ["builtin.module"])
    properties: list[bytes] = field(default_factory=list)
    tensors: dict[int, tuple[str, int, tuple[int, ...]]] = field(default_factory=dict)

    def element(self, name: str) -> int:
        """Return the number of an element type."""
        if name == "complex_v1":
            return self.complex(self.scalar(self.luck.choice(("f32_v1", "f64_v1"))))
        return self.quantized() if name.startswith("quant") else self.scalar(name)

    def any_tensor(self, elements: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> int:
        """Return the number of a tensor type, mostly of the first element and shape."""
        element = elements[0] if self.luck.random() < 0.6 else self.luck.choice(elements)
        shape = shapes[0] if self.luck.random() < 0.6 else self.luck.choice(shapes)
        if element == "token_v1":
            return self.scalar(element)
        if element == "unranked_tensor_v1":
            return self.unranked(self.scalar("f32_v1"))
        inner = self.element(element)
        made = self.tensor(inner, *shape)
        self.tensors[made] = element, inner, shape
        return made

    def value(self, field_: str, type_: int) -> int:
        """Return the number of an attribute for a property."""
        luck = self.luck
        found = sorted(property_kinds().get(field_, ["string_v1"]))
        kind = luck.choice([one for one in found if one != "replica_group_mesh_axes_v1"] or found)
        if luck.random() < 0.03:  # an attribute of another kind
            return luck.randrange(len(self.attributes))
        if field_ == "value" and type_ in self.tensors:
            return self.attribute("tensor_v1", type_, data=self.data(type_))
        if kind == "tensor_v1":
            return self.numbers(field_, len(self.tensors.get(type_, ("", 0, (1,)))[2]))
        if kind in enums():
            return self.attribute(kind, luck.choice([*enums()[kind].values()]))
        found_by = _VALUES.get(kind)
        return self.attribute(kind, *found_by(self)) if found_by else 0

    def numbers(self, field_: str, rank: int) -> int:
        """Return the number of a list of numbers, mostly as long as the rank."""
        luck = self.luck
        if field_ == "window_reversal":
            type_ = self.tensor(self.scalar("bool_v1"), rank)
            return self.attribute("tensor_v1", type_, data=bytes([luck.choice((0, 1, 0xFF))]))
        count = luck.choice((rank, rank, rank, 2 * rank, 0, 1, 2))
        values = luck.choice(([1] * count, [*range(count)], luck.choices(_NUMBERS, k=count)))
        if field_ not in ("replica_groups", "source_target_pairs"):
            return self.integers(*values)
        shape = (count // 2, 2)
        data = b"".join(one.to_bytes(8, "little", signed=True) for one in values[: 2 * shape[0]])
        return self.attribute("tensor_v1", self.tensor(self.scalar("i64_v1"), *shape), data=data)

    def data(self, type_: int) -> bytes:
        """Return the data of a constant: one value, or each."""
        luck = self.luck
        element, inner, shape = self.tensors[type_]
        count = max(0, math.prod(shape))
        bits = re.search(r"\d+", element)
        size = max(1, int(bits[0]) // 8) if bits else 1
        several = 1
        if element == "complex_v1":
            code = self.types[inner][1]
            several, size = 2, 8 if code.endswith(self.types[self.scalar("f64_v1")][1]) else 4
        count = 1 if count > 64 or luck.random() < 0.5 else count
        numbers = luck.choices(_PATTERNS, k=count * several)
        if luck.random() < 0.5:
            numbers = [one << max(0, 8 * size - 16) for one in numbers]
        mask = (1 << 8 * size) - 1
        return b"".join((one & mask).to_bytes(size, "little") for one in numbers)

    def op(
        self,
        name: str,
        given: Sequence[_Value],
        results: Sequence[int],
        regions: Sequence[bytes] = (),
        own: dict[str, int] | None = None,
    ) -> bytes:
        """Encode an operation with its properties."""
        if f"vhlo.{name}" not in self.names:
            self.names.append(f"vhlo.{name}")
        of = given[0].type if given else results[0] if results else 0
        known = own or {}
        numbers = [
            known[one]
            if one in known
            else self.value(one, results[0] if one == "value" and results else of)
            for one in op(name).attributes
        ]
        self.properties.append(b"".join(map(varint, numbers)))
        return operation(
            self.names.index(f"vhlo.{name}"),
            properties=len(self.properties) - 1,
            results=results,
            operands=[one.number for one in given],
            regions=regions,
        )


# What an attribute holds, by its kind; lists of numbers and enums are made elsewhere.
_VALUES: dict[str, Callable[[_Maker], Sequence[int]]] = {
    "integer_v1": lambda made: (
        made.scalar("i64_v1"),
        *signed(made.luck.choice((*_NUMBERS, 9, -2))),
    ),
    "bool_v1": lambda made: (made.luck.randrange(2),),
    "string_v1": lambda made: (made.luck.randrange(len(_STRINGS)),),
    "type_v1": lambda made: (made.scalar(made.luck.choice(_PRECISIONS)),),
    "array_v1": lambda made: (
        (1, made.attribute("string_v1", _HELPER)) if made.luck.random() < 0.5 else (0,)
    ),
    "dict_v1": lambda made: (
        (1, made.attribute("string_v1", _LARGEST), made.attribute("bool_v1", 1))
        if made.luck.random() < 0.5
        else (0,)
    ),
}


def is_directed(form: str) -> bool:
    """Say whether there are programs of a form: where it needs an op or a type, or anything."""
    needed = {one.partition(":")[0] for group in FORMS[form].needs for one in group}
    return not needed or not needed.isdisjoint({"op", "type"})


def program(form: str, number: int) -> bytes:
    """Return one of the programs of a form.

    Args:
        form: One that `is_directed`.
        number: Which of them.
    """
    luck = random.Random(f"{form} {number}")  # noqa: S311 - samples, no secrets
    made = _Maker(luck=luck)
    names, elements = _chosen(form, luck)
    shapes = luck.sample(_SHAPES, 2)
    arguments = [made.any_tensor(elements, shapes) for _ in range(3)]
    plan: list[tuple[str, list[_Value], list[int]]] = []
    values = [_Value(at, one) for at, one in enumerate(arguments)]
    for name in names:
        given = _operands(luck, name, values)
        results = _results(made, name, given, elements, shapes)
        plan.append((name, given, results))
        values += [_Value(len(values) + at, one) for at, one in enumerate(results)]
    inner = [one for one in names if one.rpartition("_v")[0] not in _REGIONS] or _BODIES
    body = [
        made.op(name, given, results, _regions(made, name, given, values, inner))
        for name, given, results in plan
    ]
    last = luck.choices(values, k=luck.randrange(1, 3))
    body.append(made.op("return_v1", last, []))
    inside = region(body, len(values), arguments)
    if luck.random() < 0.2:
        head = [operation(0, regions=[inside], isolated=True)]
    else:
        own = _MAIN if luck.random() < 0.9 else _HELPER
        head = [_function(made, inside, arguments, last, own)]
    if luck.random() < 0.2:
        head.append(_function(made, inside, arguments, last, _HELPER))
    top = operation(0, regions=[region(head)], isolated=True)
    return bytes(
        Artifact(
            made.names,
            made.attributes,
            made.types,
            made.properties,
            [top],
            strings=_STRINGS,
            producer=f"StableHLO_v1.{luck.choice((3, 9, 20))}.0",
        )
    )


def several(form: str, number: int) -> tuple[Program, list[Part]]:
    """Return two programs of a form that can be one: each with its arguments and its ops.

    Each returns all that its ops give.
    """
    luck = random.Random(f"{form} twice {number}")  # noqa: S311 - samples, no secrets
    made = _Maker(luck=luck, strings=_STRINGS)
    return made, [_steps(made, form) for _ in range(2)]


def _steps(made: _Maker, form: str) -> Part:
    names, elements = _chosen(form, made.luck)
    shapes = made.luck.sample(_SHAPES, 2)
    arguments = [made.any_tensor(elements, shapes) for _ in range(3)]
    values = [_Value(at, one) for at, one in enumerate(arguments)]
    steps = []
    for name in names:
        regions = _REGIONS.get(name.rpartition("_v")[0], 0)
        if regions > 1:
            continue
        given = _operands(made.luck, name, values)
        results = _results(made, name, given, elements, shapes)
        of = given[0].type if given else results[0] if results else 0
        numbers = {
            one: made.value(one, results[0] if one == "value" and results else of)
            for one in op(name).attributes
        }
        body = made.luck.choice(_BODIES[:6]) if regions else ""
        scalar = made.tensor(made.tensors.get(of, ("", made.scalar("f32_v1"), ()))[1])
        steps.append(Step(name, [one.number for one in given], results, numbers, body, scalar))
        values += [_Value(len(values) + at, one) for at, one in enumerate(results)]
    return arguments, [*steps, Step("return_v1", range(len(arguments), len(values)), [])]


def _chosen(form: str, luck: random.Random) -> tuple[list[str], list[str]]:
    """Return the names of ops and element types, of which some are what a form needs."""
    names: list[str] = []
    elements: list[str] = []
    for group in FORMS[form].needs:
        one = luck.choice(sorted(group))
        kind, _, name = one.partition(":")
        if kind == "op":
            plain = name.removeprefix("vhlo.")
            names.append(luck.choice([o for o in ops() if plain in (o, o.rpartition("_v")[0])]))
        elif kind == "type" and f"{name}_v1" in lifetimes("types").keys() - _NO_ELEMENTS:
            elements.append(f"{name}_v1")
    names = [one for one in names if one != FUNCTION]
    names += [luck.choice(names)] * (luck.random() < 0.3) if names else []
    names += luck.choices(_AROUND, k=luck.randrange(1, 5))
    luck.shuffle(names)
    if luck.random() < 0.6:
        names.insert(0, "constant_v1")
    return names, elements + luck.sample(_ELEMENTS, 2)


def _operands(luck: random.Random, name: str, values: Sequence[_Value]) -> list[_Value]:
    """Return what an op takes, mostly what was made last."""
    count = sum(
        luck.choice((0, 1, 1, 2, 2, 3)) if one.endswith("*") else 1 for one in op(name).operands
    )
    count = 0 if luck.random() < 0.04 else count
    recent = values[-3:]
    found = [luck.choice(recent if luck.random() < 0.7 else values) for _ in range(count)]
    return found[:1] * count if found and luck.random() < 0.15 else found


def _results(
    made: _Maker,
    name: str,
    given: Sequence[_Value],
    elements: Sequence[str],
    shapes: Sequence[tuple[int, ...]],
) -> list[int]:
    luck = made.luck
    count = 2 if name.startswith(("rng_bit", "while", "sort")) or luck.random() < 0.1 else 1
    count = 0 if luck.random() < 0.03 else count
    return [
        given[0].type
        if given and name != "constant_v1" and luck.random() < 0.5
        else made.any_tensor(elements, shapes)
        for _ in range(count)
    ]


def _regions(
    made: _Maker,
    name: str,
    given: Sequence[_Value],
    values: Sequence[_Value],
    kinds: Sequence[str],
) -> list[bytes]:
    """Return the regions of an op, each of one op on scalars."""
    luck, usual = made.luck, made.scalar("f32_v1")
    found = []
    for _ in range(_REGIONS.get(name.rpartition("_v")[0], 0)):
        base = len(values)
        both = [*given[:2]] if len(given) > 1 else [*given, *given]
        elements = [made.tensors.get(one.type, ("", usual, ()))[1] for one in both]
        arguments = [made.tensor(element) for element in elements]
        inner = [_Value(base + at, one) for at, one in enumerate(arguments)]
        result = arguments[0] if arguments else made.tensor(usual)
        made.tensors.setdefault(result, ("f32_v1", usual, ()))
        kind = luck.choice(kinds if luck.random() < 0.3 else _BODIES)
        needed = len(op(kind).operands)
        from_all = [*inner, *values[:1]] if luck.random() < 0.15 else inner
        plain = luck.random() < 0.7 or not from_all
        operands = inner[:needed] if plain else luck.choices(from_all, k=needed)
        first = made.op(kind, operands, [result])
        given_back = [_Value(base + len(arguments), result)] if luck.random() < 0.9 else inner[:1]
        operations = [first, made.op("return_v1", given_back, [])]
        found.append(region(operations, len(arguments) + 1, arguments))
    return found


def _function(
    made: _Maker,
    inside: bytes,
    arguments: Sequence[int],
    results: Sequence[_Value],
    name: int,
) -> bytes:
    outputs = [one.type for one in results]
    data = entry(8, len(arguments), *arguments, len(outputs), *outputs)
    made.types.append(("vhlo", data))
    own = {
        "function_type": made.attribute("type_v1", len(made.types) - 1),
        "sym_name": made.attribute("string_v1", name),
        "sym_visibility": made.attribute(
            "string_v1", _PRIVATE if made.luck.random() < 0.1 else _PLAIN
        ),
        "arg_attrs": _dictionaries(made, len(arguments)),
        "res_attrs": _dictionaries(made, len(outputs)),
    }
    return made.op(FUNCTION, [], [], [inside], own)


def _dictionaries(made: _Maker, count: int) -> int:
    """Return the number of a list of dictionaries, of which some have an entry or two."""
    luck, found = made.luck, []
    for _ in range(count):
        pairs: list[int] = []
        for key in luck.sample(_KEYS, luck.choice((0, 0, 1, 1, 2))):
            if key == _ALIAS:
                value = made.attribute("integer_v1", made.scalar("i32_v1"), luck.randrange(2) << 1)
            elif key == _DONOR:
                value = made.attribute("bool_v1", 1)
            else:
                value = made.attribute("string_v1", luck.choice(_TEXTS))
            pairs += [made.attribute("string_v1", key), value]
        found.append(made.attribute("dict_v1", len(pairs) // 2, *pairs))
    return made.attribute("array_v1", len(found), *found)
