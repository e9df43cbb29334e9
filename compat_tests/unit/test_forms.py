"""Forms of ops that libraries of today do not write, one op each, written by hand."""

from __future__ import annotations

import contextlib
import math
import re
import struct
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from compat_tests.helpers.compiled import artifact_of
from compat_tests.helpers.counting import CountedBytes
from compat_tests.helpers.written import Program, Step, signed
from portable.artifact import Artifact
from portable.bytecode import MalformedArtifact, read
from portable.bytecode.operations import IN_FUNCTION
from portable.bytecode.vhlo import op as row_of
from portable.prediction import examine, predict
from portable.prediction.computing import COMPUTED
from portable.prediction.flow import INSIDE
from portable.prediction.forms import Reading
from portable.verdict import Outcome, Stage

# Values of enums, as numbers of XLA: who the channel of a send or recv is between.
DEVICES, TO_HOST, TO_DEVICE = 1, 2, 3


SIZE = "get_dimension_size of a known dimension"


def _size(dimension: int, *shape: int) -> dict[str, bool | None]:
    program = Program()
    number = program.attribute("integer_v1", program.scalar("i64_v1"), *signed(dimension))
    result = program.tensor(program.scalar("i32_v1"))
    given = program.tensor(program.scalar("f32_v1"), *shape)
    return program.forms(
        "get_dimension_size_v1", [given], [result], attributes={"dimension": number}
    )


def test_the_size_of_a_dimension_is_known_where_the_type_says_it() -> None:
    """Some Releases do not fold it; of a dimension that is dynamic they compute it."""
    assert [_size(at, 2, -1, 0)[SIZE] for at in range(3)] == [True, False, True]
    for beyond in (3, -1):
        with pytest.raises(MalformedArtifact, match=f"dimension {beyond} of a tensor that has 3"):
            _size(beyond, 2, -1, 0)
    program = Program()
    given = program.unranked(program.scalar("f32_v1"))
    assert program.forms("get_dimension_size_v1", [given])[SIZE] is False


@pytest.mark.parametrize("shape", [(1, 2), (2,), (1, 2, 1), ()])
@pytest.mark.parametrize("op", ["dynamic_conv_v1", "dynamic_conv_v2"])
def test_padding_of_a_dynamic_conv_is_the_third_operand(op: str, shape: tuple[int, ...]) -> None:
    """Its rank is judged and no other operand's."""
    program = Program()
    padding = program.tensor(program.scalar("i64_v1"), *shape)
    other, square = (program.tensor(program.scalar("f32_v1"), *sizes) for sizes in ((3,), (3, 3)))
    name = "dynamic_conv with padding that is not of rank 2"
    for one in (other, square):
        assert program.forms(op, [one, one, padding, one])[name] is (len(shape) != 2)
    assert program.forms(op, [other, other])[name] is False


@pytest.mark.parametrize("side", ["edge_padding_low", "edge_padding_high"])
@pytest.mark.parametrize("amounts", [(-1,), (0, -200), (1, 0), (1 << 62, 255), (-1, 5)])
def test_pad_by_a_negative_amount(side: str, amounts: tuple[int, ...]) -> None:
    """On either side, in any dimension, however large the others are."""
    program = Program()
    given = {side: program.integers(*amounts)}
    assert program.forms("pad_v1", attributes=given)["pad by a negative amount"] is (
        min(amounts) < 0
    )


@pytest.mark.parametrize(("op", "host"), [("send_v1", TO_HOST), ("recv_v1", TO_DEVICE)])
def test_a_channel_contradicts_the_transfer(op: str, host: int) -> None:
    """With the host it is the one to or from the host, otherwise the one between devices."""
    name = f"{op[:4]} with a channel type that its is_host_transfer contradicts"
    found = {}
    for is_host in (0, 1):
        for kind in range(4):
            program = Program()
            channel = program.attribute("integer_v1", program.scalar("i64_v1"), *signed(kind))
            transfer = program.attribute("bool_v1", is_host)
            given = program.forms(
                op, attributes={"channel_type": channel, "is_host_transfer": transfer}
            )
            found[is_host, kind] = given[name]
    right = {(0, DEVICES), (1, host)}
    assert found == {pair: pair not in right for pair in found}


COUNTED = {
    ("all_reduce_v2", "all_reduce of several operands"): 2,
    ("all_gather_v2", "all_gather or all_to_all of several operands"): 2,
    ("all_to_all_v2", "all_gather or all_to_all of several operands"): 2,
    ("all_to_all_v2", "all_to_all of several operands"): 2,
}


@pytest.mark.parametrize(("op", "name"), COUNTED)
def test_several_operands_are_two_or_more(op: str, name: str) -> None:
    """Which older Releases exchange one by one, or not at all."""
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2)
    found = [program.forms(op, [given] * count, [given] * count)[name] for count in (1, 2, 3)]
    assert found == [False, True, True]


def test_a_reduce_by_maximum_may_be_of_several_operands() -> None:
    """Each has an initial value beside it; whether the maximum is the body's is not looked for."""
    program = Program()
    given = program.tensor(program.scalar("f32_v1"), 2)
    name = "reduce of several operands by maximum"
    for other, several in (("maximum_v1", None), ("minimum_v1", False)):
        found = [
            program.forms("reduce_v1", [given] * count, [given], [(other, [given])])[name]
            for count in (2, 4)
        ]
        assert found == [False, several]


@pytest.mark.parametrize("element", ["f8E8M0FNU_v1", "f4E2M1FN_v1", "f8E5M2_v1"])
def test_converts_to_narrow_floats_are_seen_and_from_them_perhaps(element: str) -> None:
    """The type of an operand is not known; that the type occurs is."""
    program = Program()
    narrow = program.tensor(program.scalar(element), 2)
    wide = program.tensor(program.scalar("f32_v1"), 2)
    name, concerned = "convert of f8E8M0FNU or f4E2M1FN", element != "f8E5M2_v1"
    assert program.forms("convert_v1", [wide], [narrow])[name] is concerned
    assert program.forms("convert_v1", [narrow], [wide])[name] is (None if concerned else False)
    assert program.forms("negate_v1", [narrow], [narrow])[name] is False


@pytest.mark.parametrize("count", [8, 9, 10])
def test_nine_operations(count: int) -> None:
    """bf16_x9 is the one algorithm of nine; other numbers are read everywhere."""
    program = Program()
    given = program.attribute("integer_v1", program.scalar("i64_v1"), *signed(count))
    found = program.forms("dot_general_v2", attributes={"num_primitive_operations": given})
    assert found["dot_general with an algorithm of nine operations"] is (count == 9)


# What is said of f (f32), q, r (quantized by another scale), s (quantized in 16 bits), t (f16
# quantized), p (i1).
MIXED = "elementwise op or reshape of quantized and other types"
ANOTHER = "reshape to other quantization parameters"
DOT, CONVOLUTION, DYNAMIC_CONV = (
    f"{op} of quantized types in other ways than all or the right operand"
    for op in ("dot_general", "convolution", "dynamic_conv")
)
RESHAPED = "dynamic_reshape to other quantization parameters"
EXPRESSED = "uniform_quantize to a type that expresses another one"
EARLY = "quantized operand of an op that took none before 0.14, or f16 or f64 quantized"
LATE = "bitcast_convert between a quantized and another type"
LATER = "quantized operand of an op that took none before 0.19"
QUANTIZED = {
    "bitcast_convert_v1 q f": {LATE},
    "bitcast_convert_v1 f q": {LATE},
    "bitcast_convert_v1 f f": set(),
    "bitcast_convert_v1 q r": set(),
    "reshape_v1 q q": set(),
    "reshape_v1 q r": {ANOTHER, EARLY},
    "reshape_v1 f f": set(),
    "reshape_v1 q f": {MIXED, EARLY},
    "add_v1 qq q": set(),
    "add_v1 qr q": set(),
    "add_v1 qf q": {MIXED},
    "add_v1 ff f": set(),
    "select_v1 pqq q": set(),
    "select_v1 pff f": set(),
    "select_v1 pqf q": {MIXED},
    "clamp_v1 qqq q": set(),
    "clamp_v1 qrq q": {LATER},
    "clamp_v1 qfq q": set(),
    "convert_v1 q f": {"convert of a quantized type"},
    "convert_v1 f q": {"convert of a quantized type"},
    "convert_v1 f f": set(),
    "negate_v1 q q": {EARLY},
    "tanh_v2 q q": {EARLY},
    "ceil_v1 q q": {LATER},
    "floor_v1 f f": set(),
    "iota_v1  q": {LATER},
    **{f"dot_general_v{v} {kinds}": found for v in (1, 2) for kinds, found in {
        "qq q": set[str](), "qr q": set(), "qq r": set(), "fq f": set(), "ff f": set(),
        "qf f": {DOT}, "qq f": {DOT}, "ff q": {DOT}, "fq q": {DOT}, "qs q": {DOT}, "qq s": set(),
    }.items()},
    **{f"{op} {kinds}": {name} if bad else set() for op, name in {
        "convolution_v1": CONVOLUTION, "dynamic_conv_v1": DYNAMIC_CONV,
    }.items() for kinds, bad in {
        "qq q": False, "qr q": False, "fq f": False, "ff f": False, "qf f": True, "qq f": True,
        "ff q": True, "fq q": True, "qs q": True, "hq h": True, "fq h": True, "qt q": True,
    }.items()},
    "dot_general_v1 hq h": {DOT},
    "dot_general_v1 qt q": {DOT},
    "dynamic_reshape_v1 qp q": set(),
    "dynamic_reshape_v1 qp r": {RESHAPED},
    "dynamic_reshape_v1 fp q": set(),
    "uniform_quantize_v1 f q": set(),
    "uniform_quantize_v1 h q": {EARLY, EXPRESSED},
    "uniform_quantize_v1 d q": {EARLY, EXPRESSED},
    "uniform_quantize_v1 q t": {EXPRESSED},
    "uniform_quantize_v1 q r": set(),
    "uniform_dequantize_v1 q f": set(),
    "uniform_dequantize_v1 q h": {EARLY},
    "uniform_dequantize_v1 q d": {EARLY},
}  # fmt: skip


@pytest.mark.parametrize("what", QUANTIZED)
def test_quantized_types_by_operand(what: str) -> None:
    """Verifiers took some and refused others over time; where there are none nothing is said."""
    op, operands, results = what.split(" ")
    program = Program()
    element = {
        "f": program.scalar("f32_v1"), "h": program.scalar("f16_v1"),
        "d": program.scalar("f64_v1"), "p": program.scalar("bool_v1"),
        "q": program.quantized(), "r": program.quantized(scale=2), "s": program.quantized("i16_v1"),
        "t": program.quantized(expressed="f16_v1"),
    }  # fmt: skip
    types = {name: program.tensor(number, 2) for name, number in element.items()}
    found = program.forms(op, [types[one] for one in operands], [types[one] for one in results])
    named = {MIXED, ANOTHER, DOT, EARLY, LATE, LATER, "convert of a quantized type"}
    named |= {CONVOLUTION, DYNAMIC_CONV, RESHAPED, EXPRESSED}
    assert {name for name in named if found[name]} == QUANTIZED[what]


PROMOTED = {
    **{f"{op} {kinds}": found for op in ("reduce_v1", "reduce_window_v1") for kinds, found in {
        "ff": False, "fi": True, "fh": False, "ij": True, "cc": False, "cd": True, "fifi": False,
        "fiff": True, "qq": False, "qr": True, "qf": True, "f": False, "": False,
    }.items()},
    **{f"{op} {kinds}": found for op in ("scatter_v1", "scatter_v2") for kinds, found in {
        "fif": False, "fii": True, "fiifi": False, "fiiff": True, "qiq": False, "qir": True,
    }.items()},
    "select_and_scatter_v1 fff": False, "select_and_scatter_v1 ffi": True, "add_v1 fi": False,
}  # fmt: skip


@pytest.mark.parametrize("what", PROMOTED)
def test_promoted_operands(what: str) -> None:
    """What a reduction begins with is compared with what it reduces, the indices are not."""
    op, kinds = what.split(" ")
    program = Program()
    element = {
        "f": program.scalar("f32_v1"), "i": program.scalar("i32_v1"), "q": program.quantized(),
        "r": program.quantized(scale=2), "h": program.scalar("f16_v1"),
        "j": program.scalar("i4_v1"),
    }  # fmt: skip
    element["c"] = program.complex(element["f"])
    element["d"] = program.complex(element["h"])
    types = {name: program.tensor(number, 2) for name, number in element.items()}
    found = program.forms(op, [types[one] for one in kinds], [types["f"]])
    named = "reduction or scatter of values of another element type, not both floats"
    assert found[named] is PROMOTED[what]


DIFFERENT = {
    **{f"{op} {kinds}": found for op in ("convolution_v1", "dynamic_conv_v1") for kinds, found in {
        "ff": False, "fh": True, "fi": True, "48": False, "4f": True, "4h": True, "qf": False,
    }.items()},
    "dynamic_reshape_v1 ff": False, "dynamic_reshape_v1 fi": True, "dynamic_reshape_v1 48": True,
    "dynamic_reshape_v1 qf": False,
}  # fmt: skip


@pytest.mark.parametrize("what", DIFFERENT)
def test_different_types(what: str) -> None:
    """The first operands of a convolution, operand and result of a reshape; mixed f8 is apart."""
    op, kinds = what.split(" ")
    program = Program()
    names = {"f": "f32_v1", "h": "f16_v1", "i": "i32_v1", "4": "f8E4M3FN_v1", "8": "f8E5M2_v1"}
    element = {kind: program.scalar(name) for kind, name in names.items() if kind in kinds}
    element["q"] = program.quantized()
    first, second = (program.tensor(element[kind], 2) for kind in kinds)
    given = [first] if op == "dynamic_reshape_v1" else [first, second]
    found = program.forms(op, given, [second])
    forms = [one for one in found if "different types" in one or "to another element type" in one]
    assert [one for one in forms if found[one]] == [
        one for one in forms if one.startswith(op.removesuffix("_v1")) and DIFFERENT[what]
    ]


ASKED = [
    *("all_reduce_v2", "constant_v1", "convert_v1", "convolution_v1", "custom_call_v1"),
    *("dot_general_v2", "dynamic_broadcast_in_dim_v1", "dynamic_conv_v2", "func_v1", "gather_v2"),
    *("get_dimension_size_v1", "pad_v1", "recv_v1", "reduce_v1", "reshape_v1", "rng_v1"),
    *("scatter_v2", "send_v1", "uniform_quantize_v1", "dynamic_conv_v1", "dynamic_reshape_v1"),
]


KINDS = ["bool", "string", "type", "tensor", "integer", "array", "location"]


def _of_kind(program: Program, kind: str) -> int:
    """Return the number of an attribute that is hardly the one an op should have."""
    match kind:
        case "type":
            return program.attribute("type_v1", program.scalar("f32_v1"))
        case "tensor":
            return program.attribute("tensor_v1", program.scalar("f32_v1"), data=b"")
        case "integer":
            return program.attribute("integer_v1", program.scalar("i64_v1"), *signed(7))
        case "array":
            return program.attribute("array_v1", 1, 0)
        case "location":
            return 0
    return program.attribute(f"{kind}_v1", 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("op", ASKED)
def test_attributes_of_another_kind_are_survived(op: str, kind: str) -> None:
    """Whatever an op's attributes, operands and results are: an answer, or a typed error."""
    program = Program()
    attributes = dict.fromkeys(row_of(op).attributes, _of_kind(program, kind))
    quantized = program.quantized()
    given = [program.scalar("token_v1"), quantized, program.tensor(quantized, 2)]
    for operands in ([], given, given[::-1], given * 3):
        for results in ([], operands[:1]):
            with contextlib.suppress(MalformedArtifact):
                found = program.forms(op, operands, results, attributes=attributes)
                assert set(found.values()) <= {True, False, None}


# Forms that a pattern over the text of a program can tell: another witness than the bytecode.
PATTERNS = {
    "add of booleans": r"stablehlo\.add .*[x<]i1>",
    "all_gather or all_to_all of several operands": (
        r'"stablehlo\.all_(to_all|gather)"\(%\w+(#\d)?, '
    ),
    "all_reduce of several operands": r'"stablehlo\.all_reduce"\(%\w+(#\d)?, ',
    "all_to_all of several operands": r'"stablehlo\.all_to_all"\(%\w+(#\d)?, ',
    "batching dimensions of gather or scatter": r"(operand|input)_batching_dims = \[\d",
    "concatenate of i2 or ui2": r"stablehlo\.concatenate.*xu?i2>",
    "concatenate of i4 or ui4": r"stablehlo\.concatenate.*xu?i4>",
    "constant of f6E2M3FN or f6E3M2FN": r"constant dense<.*f6E",
    "constant of several complex<f64>": r"constant dense<\[.*: tensor<\d.*complex<f64>>",
}
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("form", PATTERNS)
def test_the_table_of_forms_lists_what_the_programs_show(form: str) -> None:
    """Exactly the Cases whose program matches the pattern are listed."""
    table = tomllib.loads((ROOT / "compat_tests/data/forms.toml").read_text("utf-8"))[form]
    listed = {name for name in table.get("has", []) if "+" not in name}
    programs = ROOT.glob("corpus/*/*/program.mlir")
    shown = {p.parent.name for p in programs if re.search(PATTERNS[form], p.read_text("utf-8"))}
    assert listed == shown


@pytest.mark.parametrize(
    ("base", "exponent", "expected"),
    [
        (None, 2, False),
        (None, 63, False),
        (None, 64, True),
        (64, 2, False),
        (2, 64, True),
        (64, None, None),
    ],
)
def test_the_exponent_of_a_power_decides(
    base: int | None, exponent: int | None, expected: bool | None
) -> None:
    """XLA computes powers of integers by squaring, for exponents of up to six bits."""
    program = Program()
    type_ = program.tensor(program.scalar("i32_v1"))
    constants = [
        program.constant(type_, (one or 0).to_bytes(4, "little")) for one in (base, exponent)
    ]
    operands = [0 if one is None else 1 + at for at, one in enumerate((base, exponent))]
    power = Step("power_v1", operands, type_)
    found = program.forms_of([type_], [*constants, power])
    assert found["power of integers by 64 or more"] is expected


def test_what_is_computed_may_be_folded_to_a_constant() -> None:
    """A constant is one, and of what an op gives it is not known."""
    op, form = "count_leading_zeros_v1", "count_leading_zeros of a negative constant"
    program = Program()
    type_ = program.tensor(program.scalar("i32_v1"), 1)
    negative = program.constant(type_, b"\xff" * 4)
    negate = Step("negate_v1", [0], type_)
    found = {
        "constant": program.forms_of([type_], [negative, Step(op, [1], type_)]),
        "result": program.forms_of([type_], [negate, Step(op, [1], type_)]),
    }
    assert {what: forms[form] for what, forms in found.items()} == {
        "constant": True, "result": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "form", "found"),
    [
        ("leading_zeros_beside_a_function", "count_leading_zeros of a negative constant", False),
        ("leading_zeros_of_a_function", "count_leading_zeros of a negative constant", None),
        ("power_by_a_few", "power of integers by 64 or more", False),
        ("power_by_many", "power of integers by 64 or more", None),
    ],
)
def test_what_an_operand_may_be_is_bounded(name: str, form: str, found: bool | None) -> None:
    """Truth: jaxlib 0.10.2 computes what numpy does of those without the form, 2026-11-28."""
    assert examine(Artifact.load(artifact_of(name))).occurs(form) is found


@pytest.mark.parametrize(
    ("element", "value", "has"),
    [
        ("i8_v1", b"\0\1", False),
        ("i8_v1", b"\3\xff", False),
        ("i8_v1", b"\0\2", True),
        ("i8_v1", b"\xfe", True),
        ("ui16_v1", b"\0\1", True),
        ("ui16_v1", b"\1\1", False),
        ("i32_v1", b"\0\0\0\x80", True),
        ("f32_v1", struct.pack("<2f", 0.0, 2.0), False),
        ("f32_v1", struct.pack("<2f", 1.0, -0.5), True),
        ("f32_v1", struct.pack("<2f", 1.0, -2.0), True),
        ("f32_v1", struct.pack("<2f", 1.0, math.inf), False),
        ("f32_v1", struct.pack("<2f", 1.0, math.nan), True),
        ("bf16_v1", b"\0\x3f", True),
        ("bool_v1", b"\1", False),
    ],
)
def test_what_is_left_of_a_constant_that_becomes_a_boolean(
    element: str, value: bytes, *, has: bool
) -> None:
    """Its last bit as an integer, and no float below 1; perhaps what is computed from it, too.

    Of booleans that is all there is.
    """
    form = "convert of constants to booleans that loses all but their last bit"
    program = Program()
    given = program.tensor(program.scalar(element), 2)
    truth = program.tensor(program.scalar("bool_v1"), 2)
    constant = program.constant(given, value)
    assert program.forms_of([], [constant, Step("convert_v1", [0], truth)])[form] is has
    twice = [constant, Step("abs_v1", [0], given), Step("convert_v1", [1], truth)]
    assert program.forms_of([], twice)[form] is (False if element == "bool_v1" else None)
    assert program.forms_of([given], [constant, Step("convert_v1", [0], truth)])[form] is False


@pytest.mark.parametrize(
    ("element", "value", "has"),
    [
        ("ui8_v1", b"\x7f", False),
        ("ui8_v1", b"\x80", True),
        ("i8_v1", b"\x80", False),
        ("ui32_v1", b"\xff\xff\0\0", False),
        ("ui32_v1", b"\0\0\0\x80", True),
        ("ui64_v1", b"\0" * 7 + b"\x80", True),
    ],
)
def test_a_slice_by_an_unsigned_constant(element: str, value: bytes, has: bool | None) -> None:
    """From the upper half of its type it is taken for a negative number; an argument is not."""
    form = "dynamic_slice or gather of one slice by unsigned constants in the upper half"
    program = Program()
    number = program.tensor(program.scalar(element))
    given = program.tensor(program.scalar("f32_v1"), 300)
    part = program.tensor(program.scalar("f32_v1"), 1)
    constant = program.constant(number, value)
    one, other = [given, number], [constant, Step("dynamic_slice_v1", [0, 2], part)]
    assert program.forms_of(one, other)[form] is has
    argument = [constant, Step("dynamic_slice_v1", [0, 1], part)]
    assert program.forms_of(one, argument)[form] is False
    added = [constant, Step("add_v1", [2, 2], number), Step("dynamic_slice_v1", [0, 3], part)]
    assert program.forms_of(one, added)[form] is (None if element.startswith("u") else False)


@pytest.mark.parametrize(
    ("steps", "has"),
    [
        (["xor 0 0", "convert 3"], None),
        (["xor 0 1", "convert 3"], False),
        (["not 0", "and 0 3", "convert 4"], None),
        (["not 0", "and 3 0", "convert 4"], None),
        (["not 0", "and 3 1", "convert 4"], False),
        (["subtract 0 0", "convert 3"], False),
    ],
)
def test_an_atan2_of_what_cancels_out(steps: Sequence[str], has: bool | None) -> None:
    """Beside zero, or twice; of other numbers and of constants alone it is right."""
    form = "atan2 of zeros that cancel out"
    program = Program()
    whole = program.tensor(program.scalar("i32_v1"), 2)
    given = program.tensor(program.scalar("f32_v1"), 2)
    made = [program.constant(given, bytes(4))]
    for step in steps:
        name, *operands = step.split()
        result = given if name == "convert" else whole
        made.append(Step(f"{name}_v1", [*map(int, operands)], result))
    last = 1 + len(made)
    for taken, found in (([last, 2], has), ([last, last], has), ([2, 2], False)):
        atan2 = Step("atan2_v1", taken, given)
        assert program.forms_of([whole, whole], [*made, atan2])[form] is found


def test_a_sum_of_booleans_is_folded_where_nothing_but_constants_is_added() -> None:
    """Wrong where both are true somewhere; by what is computed it may be."""
    program = Program()
    type_ = program.tensor(program.scalar("bool_v1"), 2)
    true, false = program.constant(type_, b"\xff"), program.constant(type_, b"\0")
    some, argument = program.constant(type_, b"\1\0"), Step("and_v1", [0, 0], type_)
    invert, add = Step("not_v1", [1], type_), Step("add_v1", [1, 2], type_)
    found = {
        "throughout": [true, some, add],
        "somewhere": [some, some, add],
        "nowhere": [true, false, add],
        "argument": [argument, true, add],
        "computed": [true, invert, add],
    }
    forms = {what: program.forms_of([type_], steps) for what, steps in found.items()}
    assert {what: one["add of constants of booleans"] for what, one in forms.items()} == {
        "throughout": True, "somewhere": None, "nowhere": False, "argument": False,
        "computed": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("numbers", "kernel", "expected"),
    [
        ([127, 1], [1, 2], None),
        ([-128, 1], [1, 1], None),
        ([31, 1], [2, 1], False),
        ([1, 2], None, False),
    ],
)
def test_a_sum_of_a_convolution_of_constants_may_be_cut(
    numbers: list[int], kernel: list[int] | None, expected: bool | None
) -> None:
    """Where the product of the largest numbers and the size of the kernel exceeds the type."""
    program = Program()
    type_ = program.tensor(program.scalar("i8_v1"), 1, 2, 1)
    given = program.constant(type_, struct.pack("2b", *numbers))
    other = program.constant(type_, struct.pack("2b", *(kernel or [0, 0])))
    convolution = Step("convolution_v1", [1, 0 if kernel is None else 2], type_)
    kept = Step("return_v1", [3], ())
    found = program.forms_of([type_], [given, other, convolution, kept])
    assert found["convolution of constants of integers that may overflow"] is expected


@pytest.mark.parametrize("sums", [10, 100])
def test_booleans_that_many_sums_share_are_read_once(sums: int) -> None:
    """Else a small file, a constant and many sums of it, takes its size times their number."""
    program = Program()
    type_ = program.tensor(program.scalar("bool_v1"), 40_000)
    value = program.constant(type_, b"\0" * 39_999 + b"\1")
    add = Step("add_v1", [1, 1], type_)
    data = CountedBytes(program.written([type_], [value, *[add] * sums]))
    reading = Reading(read(data), data)
    assert COMPUTED["add of constants of booleans"].find(reading) is None
    assert data.copied <= 2 * 40_000


@pytest.mark.parametrize("first", ["argument", "interior", "constant"])
def test_each_pad_of_complex_numbers_is_looked_at(first: str) -> None:
    """One that pads by an argument, or between elements, hides no other one behind it."""
    program = Program()
    number = program.complex(program.scalar("f32_v1"))
    scalar, small, large = (
        program.tensor(number),
        program.tensor(number, 2),
        program.tensor(number, 3),
    )
    none, one = program.integers(0), program.integers(1)
    edges = {"edge_padding_low": one, "edge_padding_high": none}
    inside = {**edges, "interior_padding": one if first == "interior" else none}
    by_constant = Step("pad_v1", [0, 2], large, {**edges, "interior_padding": none})
    other = Step("pad_v1", [0, 1 if first == "argument" else 2], large, inside)
    zero = program.constant(scalar, bytes(8))
    form = "pad or convolution of complex numbers by a constant"
    assert program.forms_of([small, scalar], [zero, other])[form] is (first == "constant")
    assert program.forms_of([small, scalar], [zero, other, by_constant])[form] is True


@pytest.mark.parametrize(
    ("into", "updates", "expected"), [(0, 0, False), (2, 0, True), (2, 1, False), (0, 1, False)]
)
def test_a_scatter_of_nothing_is_one_into_something(
    into: int, updates: int, *, expected: bool
) -> None:
    """XLA takes it for one that gives nothing; where there is nothing to give it is right."""
    program = Program()
    element, index = program.scalar("f32_v1"), program.scalar("i32_v1")
    operands = [
        program.tensor(*parts) for parts in ((element, into), (index, 1), (element, updates))
    ]
    found = program.forms("scatter_v2", operands, operands[:1])
    assert found["scatter of updates without elements into a tensor that has some"] is expected


@pytest.mark.parametrize(
    ("count", "size", "expected"), [(3, 4, True), (1, 4, False), (3, 12, False)]
)
def test_several_numbers_of_tf32_are_stored_as_one(
    count: int, size: int, *, expected: bool
) -> None:
    """One takes four bytes; a tensor of one element has no others."""
    program = Program()
    type_ = program.tensor(program.scalar("tf31_v1"), count)
    found = program.forms_of([], [program.constant(type_, bytes(size))])
    assert found["tensor of tf32 that is stored as one value"] is expected


@pytest.mark.parametrize("change", [-2, 2])
def test_starts_that_a_damaged_file_says_are_no_integers_are_survived(change: int) -> None:
    """The type of a constant is changed to that of a float, or to the type of nothing."""
    data = bytearray((ROOT / f"{_UPDATED}.mlir.bc").read_bytes())
    forms = examine(Artifact.from_bytes(bytes(data))).forms
    assert "update of a value by an earlier part of itself" in forms
    data[287] += change
    examine(Artifact.from_bytes(bytes(data)))


_UPDATED = "compat_tests/data/artifacts/update_by_itself_somewhere+0.9.0"


def test_what_gives_nothing_is_no_form_or_an_error() -> None:
    """An add of signed random bits without a result, and a product by an algorithm without one."""
    form = "rng_bit_generator of signed integers or floats that are computed with"
    program = Program()
    state, bits = (program.tensor(program.scalar(name), 2) for name in ("ui64_v1", "i32_v1"))
    random = Step("rng_bit_generator_v1", [0], [state, bits])
    for results in ([], [bits]):
        assert program.forms_of([state], [random, Step("add_v1", [2, 2], results)])[form] is False
    vector = program.tensor(program.scalar("f32_v1"), 3)
    square = program.tensor(program.scalar("f32_v1"), 3, 3)
    kind = program.attribute("type_v1", program.scalar("tf31_v1"))
    numbers = {"lhs_contracting_dimensions": program.integers(1), "lhs_precision_type": kind}
    numbers["rhs_contracting_dimensions"] = program.integers(0)
    turned = Step("transpose_v1", [0], square)
    form = "dot_general with an algorithm of a vector and a transposed matrix"
    for results in ([], [vector]):
        product = Step("dot_general_v2", [2, 1], results, numbers)
        if results:
            assert program.forms_of([square, vector], [turned, product])[form]
        else:
            with pytest.raises(MalformedArtifact, match=r"vhlo\.dot_general_v2 has no result"):
                program.forms_of([square, vector], [turned, product])


@pytest.mark.parametrize(
    ("name", "unused"),
    [
        *((f"unused_by_{one}", True) for one in ("a_case", "a_gather", "a_selection", "a_slice")),
        *((f"unused_by_{one}", True) for one in ("an_update", "imag")),
        *((f"used_by_{one}", False) for one in ("a_case", "a_selection", "an_update")),
        ("unused_in_a_copy", False),
    ],
)
def test_an_argument_makes_no_difference(name: str, unused: bool) -> None:
    """Truth: iree-base-compiler 3.8.0 ended by SIGSEGV on those that it removed, 2026-11-26."""
    artifact = Artifact.load(artifact_of(f"argument_{name}"))
    assert examine(artifact).occurs("argument from which nothing is computed") is unused


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("reduce_scatter_maximum", True),
        ("reduce_scatter_maximum_i32", False),
        ("reduce_scatter_minimum", False),
    ],
)
def test_the_greatest_float_over_devices_begins_above_zero(name: str, wrong: bool) -> None:
    """Truth: of -2.5 jaxlib 0.4.25 gave 1.1754944e-38, and 0.4.30 what was given."""
    artifact = Artifact.load(artifact_of(name))
    for release, otherwise in (("jaxlib 0.4.25", wrong), ("jaxlib 0.4.30", False)):
        verdict = predict(artifact, release, stage=Stage.EXECUTE)
        assert (verdict.outcome is Outcome.WRONG_RESULT) is otherwise


@pytest.mark.parametrize(
    ("step", "has"),
    [
        (("add_v1", [0, 0]), False),
        (("negate_v1", [0]), False),
        (("optimization_barrier_v1", [0]), True),
        (("ceil_v1", [0]), True),
        (("iota_v1", []), True),
        (("reverse_v1", [0]), True),
    ],
)
def test_a_quotient_of_constants_is_right_where_xla_computes_them_first(
    step: tuple[str, list[int]], has: bool
) -> None:
    """What simple ops make of constants; `real/test_settled.py` asks XLA."""
    form = "divide by a constant whose reciprocal is not normal"
    program = Program()
    type_ = program.tensor(program.scalar("f32_v1"), 2)
    one = program.constant(type_, struct.pack("<f", 1.0))
    large = program.constant(type_, struct.pack("<f", 1e38))
    steps = [one, Step(*step, type_), large, Step("divide_v1", [1, 2], type_)]
    assert program.forms_of([], steps)[form] is has


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_division_of_another_count_of_operands_is_no_error(count: int) -> None:
    """A damaged file may have any."""
    program = Program()
    type_ = program.tensor(program.scalar("i32_v1"), 1)
    zero = program.constant(type_, bytes(4))
    steps = [zero, Step("negate_v1", [0], type_), Step("divide_v1", [1] * count, type_)]
    assert "division of constant integers by zero" in program.forms_of([], steps)


def test_what_a_body_takes_is_no_argument_of_the_function() -> None:
    """Bodies that use nothing from outside count their own values from 0 on, as functions do."""
    inside = 0
    for path in sorted((Path(__file__).parents[1] / "data" / "artifacts").glob("*.bc")):
        artifact = Artifact.load(path)
        reading = Reading(read(artifact.data), artifact.data)
        isolated: list[bool] = []
        for visit in reading.walk:
            operation = visit.operation
            del isolated[operation.depth :]
            if any(isolated[IN_FUNCTION:]):
                values = zip(reading.flow.operands(visit), visit.sources, strict=True)
                taken = [value for value, source in values if source is None]
                assert all(at == INSIDE for _, at in taken), path.name
                inside += len(taken)
            isolated.append(operation.isolated)
    assert inside > 100


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [
        # A constant without a result, and the dimension of a kernel that is far below zero.
        ("loop_computes_from_a_constant", 290, 5),
        ("convolution_of_each_reversed", 238, 215),
    ],
)
def test_a_damaged_byte_ends_no_search(name: str, at: int, value: int) -> None:
    """What a reader would refuse has forms, too: that it is refused is another's to say."""
    data = bytearray(Path(artifact_of(name)).read_bytes())
    data[at] = value
    assert examine(Artifact.from_bytes(bytes(data))).forms


_HALVES = "integers, parts or norms of several f16 or f8"
_ELEVEN = "computation of several f8E4M3B11FNUZ"


@pytest.mark.parametrize(
    ("op", "shape", "types", "found"),
    [
        ("is_finite_v1", (17,), ("f16_v1", "bool_v1"), {_HALVES}),
        ("is_finite_v1", (17,), ("bf16_v1", "bool_v1"), set()),
        ("is_finite_v1", (2,), ("f16_v1", "bool_v1"), set()),
        ("is_finite_v1", (), ("f16_v1", "bool_v1"), set()),
        ("convert_v1", (3, 5), ("f8E5M2_v1", "i32_v1"), {_HALVES}),
        ("convert_v1", (3, 5), ("f8E5M2_v1", "ui8_v1"), {_HALVES}),
        ("convert_v1", (3, 5), ("f8E5M2_v1", "bool_v1"), set()),
        ("convert_v1", (3, 5), ("f8E5M2_v1", "f32_v1"), set()),
        ("convert_v1", (3, 5), ("i32_v1", "f16_v1"), set()),
        ("convert_v1", (3, 5), ("f32_v1", "f8E4M3B11FNUZ_v1"), {_ELEVEN}),
        ("log_plus_one_v1", (-1,), ("f8E4M3B11FNUZ_v1",) * 2, {_HALVES, _ELEVEN}),
        ("log_plus_one_v1", (17,), ("f32_v1", "f32_v1"), set()),
        ("sine_v1", (17,), ("f16_v1", "f16_v1"), set()),
        ("sine_v1", (17,), ("f8E4M3B11FNUZ_v1",) * 2, {_ELEVEN}),
        ("sine_v1", (1, 2), ("f8E4M3B11FNUZ_v1",) * 2, set()),
    ],
)
def test_what_is_taken_apart_is_several_halves(
    op: str, shape: tuple[int, ...], types: tuple[str, str], found: set[str]
) -> None:
    """Of one and two numbers LLVM makes no vectors, and of those of bf16 others."""
    program = Program()
    given, made = (program.tensor(program.scalar(one), *shape) for one in types)
    # Of what a module takes itself the type is not followed.
    barrier = Step("optimization_barrier_v1", [0], given)
    forms = program.forms_of([given], [barrier, Step(op, [1], made), Step("return_v1", [2], [])])
    assert {one for one in (_HALVES, _ELEVEN) if forms[one] is None} == found
