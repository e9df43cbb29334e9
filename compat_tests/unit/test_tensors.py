"""Which data a constant may have by its type, and which bounds a tensor by its shape."""

from __future__ import annotations

import pytest

from compat_tests.helpers.bytecode_writer import entry
from compat_tests.helpers.written import Program, Step, signed
from portable.bytecode import read
from portable.features import analyze

_ANY = -(1 << 63)
_DATA, _BOUNDS = (
    "a constant with data that do not fit its type",
    "a tensor with bounds that do not fit its shape",
)
# Each element type with a number of elements, and the sizes in bytes that data may have: one
# element, or all. Eight booleans are in a byte; other types take whole bytes each.
_SIZES = {
    ("bool_v1", 0): {0, 1}, ("bool_v1", 1): {1}, ("bool_v1", 8): {1}, ("bool_v1", 9): {1, 2},
    ("bool_v1", 16): {1, 2}, ("bool_v1", 17): {1, 3}, ("i2_v1", 3): {1, 3}, ("ui4_v1", 3): {1, 3},
    ("i8_v1", 0): {0, 1}, ("i8_v1", 1): {1}, ("i8_v1", 3): {1, 3}, ("bf16_v1", 3): {2, 6},
    ("f6E2M3FN_v1", 2): {1, 2}, ("f8E5M2_v1", 2): {1, 2}, ("f32_v1", 2): {4, 8},
    ("ui32_v1", 1): {4}, ("f64_v1", 1): {8}, ("i64_v1", 2): {8, 16}, ("complex_v1", 1): {8},
    ("complex_v1", 2): {8, 16}, ("index_v1", 2): {8, 16},
}  # fmt: skip


@pytest.mark.parametrize(("element", "count"), _SIZES)
def test_data_are_one_element_or_all(element: str, count: int) -> None:
    """Of every other size readers refuse them, one byte less or more."""
    for size in range(20):
        program = Program()
        of = (
            program.complex(program.scalar("f32_v1"))
            if element == "complex_v1"
            else program.scalar(element)
        )
        constant = program.constant(program.tensor(of, count), bytes(size))
        found = analyze(read(program.written([], [constant]))).unreadable
        assert found == ("" if size in _SIZES[element, count] else _DATA), size


@pytest.mark.parametrize("element", ["quant", "token_v1", "none_v1"])
def test_of_other_types_there_is_no_constant(element: str) -> None:
    """Whatever its data: readers crash on it, or refuse it."""
    for size in (0, 1, 3):
        program = Program()
        of = program.quantized() if element == "quant" else program.scalar(element)
        constant = program.constant(program.tensor(of, 2), bytes(size))
        assert analyze(read(program.written([], [constant]))).unreadable == _DATA


@pytest.mark.parametrize(
    ("shape", "bounds", "fits"),
    [
        ((), (), True),
        ((_ANY,), (4,), True),
        ((_ANY,), (0,), True),
        ((_ANY,), (_ANY,), True),
        ((_ANY,), (), False),
        ((_ANY,), (4, 4), False),
        ((_ANY, 2), (4,), False),
        ((_ANY, 2), (4, _ANY), True),
        ((_ANY, 2), (4, 1), False),
        ((_ANY, 2), (4, 2), True),
        ((_ANY, 2), (4, 3), True),
        ((2, _ANY), (1, 4), False),
        ((0,), (0,), True),
        ((1,), (0,), False),
        ((1,), (-1,), False),
    ],
)
@pytest.mark.parametrize("used", [True, False])
def test_bounds_fit_the_shape(
    shape: tuple[int, ...], bounds: tuple[int, ...], *, fits: bool, used: bool
) -> None:
    """One for each dimension, and none below a size that is known; of a type that is used."""
    program = Program()
    element = program.scalar("f32_v1")
    held = program.attribute("type_extensions_v1", len(bounds), *signed(*bounds))
    data = entry(21, held, len(shape), *signed(*shape), element)
    program.types.append(("vhlo", data))
    given = len(program.types) - 1 if used else program.tensor(element, 2)
    step = Step("iota_v1", [], given, {"iota_dimension": 0})
    found = analyze(read(program.written([], [step]))).unreadable
    assert found == ("" if fits or not used else _BOUNDS)
