"""Each limit that a form has: what is found at the last number on one side, and at the next."""

from __future__ import annotations

import math
import struct
from itertools import cycle, islice, product
from typing import TYPE_CHECKING, TypeAlias

import pytest

from compat_tests.helpers.written import Program, Step, joined, signed
from portable.artifact import Artifact
from portable.prediction import examine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_Made: TypeAlias = "tuple[Program, list[int], list[Step]]"


def _dimensions(count: int) -> _Made:
    program = Program()
    dimension = program.attribute("integer_v1", program.scalar("i64_v1"), *signed(0))
    result = program.tensor(program.scalar("i32_v1"))
    given = program.tensor(program.scalar("f32_v1"), *[1] * count)
    step = Step("get_dimension_size_v1", [0], result, {"dimension": dimension})
    return program, [given], [step]


def _numbers(count: int) -> _Made:
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2)
    numbers = {"scatter_dims_to_operand_dims": program.integers(*range(count))}
    step = Step("scatter_v2", [0, 0, 0], given, numbers)
    return program, [given], [step, Step("return_v1", [1], [])]


def _ops(count: int) -> _Made:
    """All of them with the module and an op that nothing uses."""
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2)
    unused = Step("dynamic_conv_v2", [0, 0, 0], given)
    return program, [given], [unused, *[Step("abs_v1", [0], given)] * (count - 2)]


def _channels(count: int) -> _Made:
    """One behind the other, the last of a channel that was used before the others."""
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2)
    numbers = [
        program.attribute("integer_v1", program.scalar("i64_v1"), *signed(at + 1))
        for at in range(count)
    ]
    steps = [
        Step("collective_permute_v1", [0], given, {"channel_id": number}) for number in numbers
    ]
    return program, [given], steps


def _vector(length: int) -> _Made:
    """By a matrix that is transposed, by an algorithm."""
    program = Program()
    vector, matrix, turned, result = (
        program.tensor(program.scalar("f32_v1"), *shape)
        for shape in ((length,), (length, 3), (3, length), (3,))
    )
    numbers = {
        "lhs_contracting_dimensions": program.integers(1),
        "rhs_contracting_dimensions": program.integers(0),
        "lhs_precision_type": program.attribute("type_v1", program.scalar("tf31_v1")),
    }
    steps = [Step("transpose_v1", [0], turned), Step("dot_general_v2", [2, 1], result, numbers)]
    return program, [matrix, vector], steps


def _product(rows: int, over: int, columns: int, element: str = "f32_v1") -> _Made:
    program = Program()
    left, right, result, sums = (
        program.tensor(program.scalar(element), *shape)
        for shape in ((rows, over), (over, columns), (rows, columns), (rows,))
    )
    numbers = {
        "lhs_contracting_dimensions": program.integers(1),
        "rhs_contracting_dimensions": program.integers(0),
    }
    product = Step("dot_general_v2", [0, 1], result, numbers)
    return program, [left, right], [product, Step("reduce_v1", [2, 2], sums)]


def _sort(count: int, used: int) -> _Made:
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2)
    sort = Step("sort_v1", range(count), [given] * count)
    taken = Step("return_v1", range(count, count + used), [])
    return program, [given] * count, [sort, taken]


def _sum_of_products(rank: int, element: str = "f32_v1", second: int = 1) -> _Made:
    program = Program()
    scalar = program.tensor(program.scalar(element))
    given = program.tensor(program.scalar(element), *[2] * rank)
    reduce = Step("reduce_v1", [3, 2], scalar, body="add_v1", scalar=scalar)
    return program, [given, given, scalar], [Step("multiply_v1", [0, second], given), reduce]


def _power(exponent: int, element: str = "i8_v1") -> _Made:
    program = Program()
    given = program.tensor(program.scalar(element))
    size = int(element.removesuffix("_v1").lstrip("ui")) // 8
    constant = program.constant(given, exponent.to_bytes(size, "little", signed=True))
    return program, [given], [constant, Step("power_v1", [0, 1], given)]


def _zeros(number: int) -> _Made:
    program = Program()
    given = program.tensor(program.scalar("i8_v1"))
    constant = program.constant(given, number.to_bytes(1, "little", signed=True))
    return program, [], [constant, Step("count_leading_zeros_v1", [0], given)]


def _windows(elements: int, element: str = "f32_v1", size: int = 2, apart: int = 2) -> _Made:
    """Of one dimension side by side, over another that is spread."""
    program = Program()
    scalar = program.tensor(program.scalar(element))
    given = program.tensor(program.scalar(element), 2, elements // 2)
    numbers = {
        "window_dimensions": program.integers(1, size),
        "window_strides": program.integers(1, size),
        "base_dilations": program.integers(apart, 1),
        "window_dilations": program.integers(1, 1),
    }
    step = Step("reduce_window_v1", [0, 1], given, numbers, "add_v1", scalar)
    return program, [given, scalar], [step]


def _state(words: int, element: str = "ui64_v1") -> _Made:
    program = Program()
    state = program.tensor(program.scalar(element), words)
    bits = program.tensor(program.scalar("ui32_v1"), 2)
    random = Step("rng_bit_generator_v1", [0], [state, bits])
    return program, [state], [random, Step("return_v1", [2], [])]


def _scatter(operands: int) -> _Made:
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2)
    step = Step("scatter_v2", [0] * operands, given)
    return program, [given], [step, Step("return_v1", [1], [])]


def _sort_of(dimension: int) -> _Made:
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2, 2)
    number = program.attribute("integer_v1", program.scalar("i64_v1"), *signed(dimension))
    step = Step("sort_v1", [0], given, {"dimension": number})
    return program, [given], [step, Step("return_v1", [1], [])]


def _complex_constant(size: int) -> _Made:
    """Of two f64 each."""
    program = Program()
    type_ = program.tensor(program.complex(program.scalar("f64_v1")), size // 16)
    return program, [], [program.constant(type_, bytes(size))]


def _log_of_power(exponent: float, base: float | None = None) -> _Made:
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2)
    numbers = [program.constant(given, struct.pack("<f", one or 0.0)) for one in (exponent, base)]
    power = Step("power_v1", [0 if base is None else 2, 1], given)
    log = Step("log_v1", [3], given)
    return program, [given], [*numbers, power, log, Step("return_v1", [4], [])]


def _added(element: str, first: float, second: float, op: str = "add_v1") -> _Made:
    """The first to an argument, the second to what that gives."""
    program = Program()
    given = program.tensor(program.scalar(element), 2)
    numbers = [program.constant(given, _stored(element, one)) for one in (first, second)]
    steps = [Step(op, [0, 1], given), Step("add_v1", [3, 2], given)]
    return program, [given], [*numbers, *steps, Step("return_v1", [4], [])]


def _booleans(first: int | None, second: int | None, element: str = "bool_v1") -> _Made:
    """Add two constants, or an argument."""
    program = Program()
    given = program.tensor(program.scalar(element), 1)
    constants = [program.constant(given, bytes([one or 0])) for one in (first, second)]
    operands = [0 if one is None else 1 + at for at, one in enumerate((first, second))]
    add = Step("add_v1", operands, given)
    return program, [given], [*constants, add, Step("return_v1", [3], [])]


_VECTOR = "dot_general with an algorithm of a vector and a transposed matrix"
_REDUCED = "reduce of a dot_general over three elements"
_SORTED = "sort of more than 16 operands"
_SUMS = "sum of products of seven dimensions or more"
_TURNS = "collective op computed from another of its channel"
_POWERS = "power of integers by 64 or more"
_SPREAD = "reduce_window of adjacent windows with base dilation in other dimensions"
_WORDS = "rng_bit_generator with a state of other than two or three words"
_THREE = "rng_bit_generator with a state of three words"
_END = "sort of a dimension that is counted from the end"
_LOGS = "log of a power"
_ADDS = "addition of a constant and of one that cancels it"
# The digits of each type, as IEEE 754 and bfloat16 have them.
_DIGITS = {"f16_v1": 11, "bf16_v1": 8, "f32_v1": 24, "f64_v1": 53}
_ALL: list[tuple[str, Callable[..., _Made], tuple[object, ...], bool | None]] = [
    ("get_dimension_size of a known dimension", _dimensions, (256,), True),
    ("get_dimension_size of a known dimension", _dimensions, (257,), False),
    ("scatter of indices without components", _numbers, (0,), True),
    ("scatter of indices without components", _numbers, (1,), False),
    ("scatter of indices without components", _numbers, (512,), False),
    ("scatter of indices without components", _numbers, (513,), True),
    ("dynamic_conv", _ops, (2000,), False),
    ("dynamic_conv", _ops, (2001,), True),
    (_TURNS, _channels, (16,), False),
    (_TURNS, _channels, (17,), None),
    *((_VECTOR, _vector, (length,), length < 4096) for length in (2, 4095, 4096)),
    *((_REDUCED, _product, (rows, 3, 32769), None if 1 < rows <= 6 else False)
      for rows in (1, 2, 6, 7)),
    *((_REDUCED, _product, (2, over, 32769), None if over == 3 else False) for over in (2, 4)),
    *((_REDUCED, _product, (columns, 3, 2), None if columns > 32768 else False)
      for columns in (32768, 32769)),
    *((_REDUCED, _product, (2, 3, columns, "f64_v1"), None if columns > 16384 else False)
      for columns in (16384, 16385)),
    (_REDUCED, _product, (2, 3, 65536, "f16_v1"), False),
    *((_SORTED, _sort, of, found) for of, found in (
        ((16, 16), False), ((17, 17), True), ((17, 16), None), ((17, 0), None), ((25, 25), False),
        ((25, 24), None), ((26, 26), True), ((26, 17), True), ((26, 16), None))),
    *((_SUMS, _sum_of_products, (rank,), None if rank >= 7 else False) for rank in (6, 7, 8)),
    (_SUMS, _sum_of_products, (7, "f64_v1"), False),
    (_SUMS, _sum_of_products, (7, "f32_v1", 0), False),
    *((_POWERS, _power, (by,), by >= 64) for by in (0, 63, 64, 127, -1)),
    (_POWERS, _power, (-128,), False),
    (_POWERS, _power, (32767, "i16_v1"), True),
    *(("count_leading_zeros of a negative constant", _zeros, (number,), number < 0)
      for number in (-128, -1, 0, 1, 127)),
    *((_SPREAD, _windows, (elements,), elements >= 4096) for elements in (4094, 4096, 4098)),
    (_SPREAD, _windows, (4096, "f16_v1"), False),
    (_SPREAD, _windows, (4096, "f64_v1"), True),
    (_SPREAD, _windows, (4096, "f32_v1", 1), True),
    (_SPREAD, _windows, (4096, "f32_v1", 2, 1), False),
    *((_WORDS, _state, (words,), words not in (2, 3)) for words in (1, 2, 3, 4)),
    *((_WORDS, _state, (words, "ui32_v1"), words not in (4, 6)) for words in (2, 3, 4, 5, 6, 7)),
    *((_THREE, _state, (words,), words == 3) for words in (1, 2, 3, 4)),
    *((_THREE, _state, (words, "ui32_v1"), words == 6) for words in (2, 3, 4, 5, 6, 7)),
    *(("scatter of several operands", _scatter, (count,), count > 3) for count in (3, 4, 5)),
    *((_END, _sort_of, (at,), at < 0) for at in (-2, -1, 0, 1)),
    *(("sort of a dimension before the last one that is counted from the end", _sort_of, (at,),
       at < -1) for at in (-3, -2, -1, 0)),
    *(("constant of several complex<f64>", _complex_constant, (size,), size > 16)
      for size in (16, 32)),
    # Multiplied out; else the power of a positive number must not overflow where its log does not.
    *((_LOGS, _log_of_power, (by,), False) for by in (-1.0, 0.0, 1.0, 3.0)),
    *((_LOGS, _log_of_power, (by,), None) for by in (-3.0, -2.0, 0.5, 1.5, 2.0, 4.0, 5.0)),
    *((_LOGS, _log_of_power, (by, base), False if base > 0 and by == 0.5 else None)
      for by in (0.5, 1.5, 5.0) for base in (-1.0, 0.5, 2.0)),
    # What is added has at least half of the digits, and all but as many are taken away.
    *((_ADDS, _added, (element, 2.0**at, -(2.0**at)), None if at >= digits // 2 else False)
      for element, digits in _DIGITS.items() for at in range(digits // 2 - 3, digits // 2 + 3)),
    *((_ADDS, _added, (element, 2.0**(digits - 1), left - 2.0**(digits - 1)), found)
      for element, digits in _DIGITS.items()
      for left, found in ((2.0**(digits - 1 - digits // 2), False),
                          (2.0**(digits - 1 - digits // 2) - 1, None))),
    *(("add of constants of booleans", _booleans, of, found) for of, found in (
        ((1, 1), True), ((255, 1), True), ((0, 1), False), ((0, 0), False), ((None, 1), False),
        ((1, None), False), ((None, None), False), ((1, 1, "i8_v1"), False))),
    (_ADDS, _added, ("f32_v1", 4096.0, 4096.0), False),
    (_ADDS, _added, ("f32_v1", 4096.0, 4096.0, "subtract_v1"), None),
    (_ADDS, _added, ("f32_v1", 4096.0, -4096.0, "subtract_v1"), False),
]  # fmt: skip


@pytest.mark.parametrize(("form", "make", "of", "found"), _ALL)
def test_a_form_begins_where_its_limit_says(
    form: str, make: Callable[..., _Made], of: tuple[object, ...], found: bool | None
) -> None:
    """Not one before or one behind it."""
    program, arguments, steps = make(*of)
    assert program.forms_of(arguments, steps)[form] is found


# What they find depends on how many ops there are, or on all of them together.
_OF_THE_WHOLE = {"dynamic_conv", _TURNS}


@pytest.mark.parametrize("form", [*dict.fromkeys(row[0] for row in _ALL)])
def test_a_form_is_found_behind_what_has_it_not(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And before it: the first op of a kind does not stand for the others."""
    rows = [row for row in _ALL if row[0] == form and form not in _OF_THE_WHOLE]
    without = [row for row in rows if row[3] is False]
    having = [row for row in rows if row not in without]
    # Each beside one of the others: all pairs take a tenth of the time of all tests.
    pairs = zip(cycle(having), cycle(without), strict=False)
    for row, other in islice(pairs, max(len(having), len(without))):
        shared = Program()
        monkeypatch.setitem(globals(), "Program", lambda shared=shared: shared)
        parts = [make(*of)[1:] for _, make, of, _ in (other, row)]
        for both in (parts, parts[::-1]):
            assert shared.forms_of(*joined(both))[form] is row[3], (row[2], other[2])


@pytest.mark.parametrize(
    ("make", "most", "what"),
    [
        (_dimensions, 256, "tensor of more than 256 dimensions"),
        (_numbers, 512, "attribute of more than 512 numbers of dimensions"),
    ],
)
def test_what_is_longer_is_named(make: Callable[[int], _Made], most: int, what: str) -> None:
    """Forms are not looked for there, so it is not known."""
    for count in (most, most + 1):
        program, arguments, steps = make(count)
        unknown = examine(Artifact.from_bytes(program.written(arguments, steps))).unknown
        assert (what in unknown) is (count > most)


def _identities() -> Iterator[tuple[str, str, set[bytes]]]:
    """Yield each element type, each op and what it changes nothing with, as it is stored."""
    for element in ("f16_v1", "bf16_v1", "f32_v1", "f64_v1"):
        least, most = _stored(element, -math.inf), _stored(element, math.inf)
        zeros = {_stored(element, 0.0), _stored(element, -0.0)}
        yield element, "add_v1", zeros
        yield element, "multiply_v1", {_stored(element, 1.0)}
        yield element, "maximum_v1", {least}
        yield element, "minimum_v1", {most}
    for bits, sign in product((8, 16, 32, 64), ("i", "ui")):
        size = bits // 8
        zero, ones = bytes(size), bytes([255] * size)
        greatest = bytes([255] * (size - 1) + [127 if sign == "i" else 255])
        for op, start in (
            *(("add_v1", zero), ("or_v1", zero), ("xor_v1", zero), ("and_v1", ones)),
            *(("multiply_v1", b"\1" + zero[1:]), ("minimum_v1", greatest)),
            ("maximum_v1", zero[1:] + b"\x80" if sign == "i" else zero),
        ):
            yield f"{sign}{bits}_v1", op, {start}
    for op in ("add_v1", "or_v1", "xor_v1", "maximum_v1"):
        yield "bool_v1", op, {b"\0"}
    for op in ("multiply_v1", "and_v1", "minimum_v1"):
        yield "bool_v1", op, {b"\1", b"\xff"}


def _stored(element: str, number: float) -> bytes:
    if element == "bf16_v1":
        return struct.pack("<f", number)[2:]
    return struct.pack({"f16_v1": "<e", "f32_v1": "<f", "f64_v1": "<d"}[element], number)


_STARTS = tuple(_identities())


@pytest.mark.parametrize(("element", "op", "same"), _STARTS)
def test_a_reduction_starts_from_what_changes_nothing(
    element: str, op: str, same: set[bytes]
) -> None:
    """What changes nothing with another op of that type does with this one."""
    form = "reduction of single elements from an initial value that changes them"
    starts = {one for type_, _, found in _STARTS if type_ == element for one in found}
    for start in starts:
        program = Program()
        scalar = program.tensor(program.scalar(element))
        given = program.tensor(program.scalar(element), 1)
        over = {"dimensions": program.integers(0)}
        reduce = Step("reduce_v1", [0, 1], scalar, over, op, scalar)
        steps = [program.constant(scalar, start), reduce, Step("return_v1", [2], [])]
        assert program.forms_of([given], steps)[form] is (start not in same), start


def test_tan_is_made_of_sines() -> None:
    """Truth: tan of 50,000 is off by a tenth in iree-base-compiler 3.13.0, of f32 and bf16."""
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2)
    steps = [Step("tan_v1", [0], given), Step("return_v1", [1], [])]
    assert program.forms_of([given], steps)["sine, cosine or tan of more than 10,000"] is None
