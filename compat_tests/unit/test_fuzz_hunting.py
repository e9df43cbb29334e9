"""What a hunt decides without running anything: differences, what is left open, where it begins."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from portable.fuzz.campaign import Campaign, Cause, Progress, signature_of
from portable.fuzz.forms import identity
from portable.fuzz.hunting import boundaries
from portable.fuzz.judging import departure, flushed, left_open, nudged
from portable.fuzz.reduction import Candidate
from portable.releases import Release, releases
from portable.runtime.executors.tensors import Array

F32 = "func.func @main(%a: tensor<3xf32>) -> tensor<3xf32>"


def floats(*values: float) -> Array:
    """Return an array of f32."""
    return np.array(values, np.float32)


def kind(right: Array, found: Array, *near: Array, text: str = F32) -> str:
    """Return the sort of difference; by default nothing moves when the inputs do."""
    spread = [[one] for one in near] or [[right], [right]]
    seen = departure(text, [right], spread, [found])
    return seen.kind if seen else ""


def test_roundings_are_no_differences() -> None:
    """A few ulps of the largest number there is, whatever cancelled out."""
    right = floats(1000.0, 1.0, 0.0)
    assert kind(right, floats(1000.0001, 1.0001, 1e-4)) == ""
    assert kind(right, floats(1000.0, 1.1, 0.0)) == "another number"
    assert kind(floats(-0.0, 1, 2), floats(0.0, 1, 2)) == ""
    assert kind(floats(1e-38, 0, 0), floats(0, 0, 0)) == ""


def test_what_rounding_makes_of_the_inputs_is_no_difference() -> None:
    """Where inputs that are a few ulps off give something else, so may a Release."""
    right, moved = floats(1.0, 5.0, 5.0), floats(1.1, 5.0, 5.0)
    assert kind(right, floats(2.0, 5.0, 5.0), moved) == ""
    assert kind(right, floats(4.0, 5.0, 5.0), moved) == "another number"
    jump, nan = np.array([1, 2, 3]), floats(np.nan, 1, 1)
    assert kind(jump, np.array([1, 7, 3]), np.array([1, 3, 3])) == ""
    assert kind(jump, np.array([1, 7, 3]), np.array([2, 2, 3])) == "another integer"
    assert kind(floats(1, 1, 1), nan, nan) == ""


def test_each_sort_of_difference_is_named() -> None:
    """NaN, infinities, booleans, shapes, and both parts of complex numbers."""
    one = floats(1, 1, 1)
    assert kind(one, floats(1, np.nan, 1)) == "NaN for a number"
    assert kind(floats(np.nan, 1, 1), one) == "a number for NaN"
    assert kind(one, floats(np.inf, 1, 1)) == "infinity for a number"
    assert kind(np.array([True]), np.array([False])) == "another boolean"
    assert kind(one, one[:2]) == "another shape"
    whole = np.array([1 + 1j], np.complex64)
    assert kind(whole, whole.conj()) == "another number"
    assert kind(one, floats(9, 1, 1), text=F32.replace("f32", "f8E5M2")) == ""
    seen = departure(F32, [one], [[one]], [floats(1, 2, 1)])
    assert str(seen) == "output 0 [1]: 1.0 became 2.0"


def test_inputs_are_moved_by_a_few_ulps() -> None:
    """Floats alone; the same seed moves them alike."""
    given = [floats(1, np.inf, np.nan), np.array([7]), np.array([1 + 1j], np.complex64)]
    moved = nudged(given, 1)
    assert np.allclose(moved[0][0], 1, rtol=1e-6)
    assert np.array_equal(moved[0][1:], given[0][1:], equal_nan=True)
    assert moved[1][0] == 7
    assert moved[2].dtype == np.complex64
    many = [floats(*range(1, 50))]
    assert np.array_equal(nudged(many, 1), nudged(many, 1))
    assert not np.array_equal(nudged(many, 1), nudged(many, 2))


def test_denormal_numbers_are_no_inputs() -> None:
    """Of any type of floating-point numbers; what is no number stays, and so do other arrays."""
    narrow = np.array([1e-40, 1.0, np.nan], ml_dtypes.bfloat16)
    given = [floats(1e-40, 1.0, np.nan), narrow, np.array([3])]
    zero, seven, same = flushed(given)
    assert np.array_equal(zero, floats(0.0, 1.0, np.nan), equal_nan=True)
    assert np.array_equal(seven.astype(float), [0.0, 1.0, np.nan], equal_nan=True)
    assert seven.dtype == narrow.dtype
    assert same is given[2]


@pytest.mark.parametrize(
    ("line", "sort", "explained"),
    [
        ("%0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xi8>", "another integer", True),
        ("%0 = stablehlo.is_finite %a : (tensor<3xf32>) -> tensor<3xi1>", "another boolean", False),
        ("%0 = stablehlo.sine %a : tensor<3xcomplex<f32>>", "NaN for a number", True),
        ("%0 = stablehlo.sine %a : tensor<3xcomplex<f32>>", "another number", False),
        ("%0 = stablehlo.convert %a : (tensor<3xi8>) -> tensor<3xf32>", "another number", False),
        ("%0 = stablehlo.power %a, %b : tensor<3xi32>", "another integer", True),
        ("%0 = stablehlo.power %a, %b : tensor<3xf32>", "another number", False),
        ("%0 = stablehlo.divide %a, %b : tensor<ui8>", "another integer", True),
        ("%0 = stablehlo.add %a, %b : tensor<ui8>", "another integer", False),
        ("%0 = stablehlo.fft %a, type =  IRFFT, length = [5]", "another number", True),
        ("%0 = stablehlo.fft %a, type =  FFT, length = [5]", "another number", False),
        (
            "%0 = stablehlo.reduce_precision %a, format = e4m0 : tensor<bf16>",
            "a number for NaN",
            True,
        ),
        (
            "%0 = stablehlo.reduce_precision %a, format = e4m3 : tensor<bf16>",
            "a number for NaN",
            False,
        ),
    ],
)
def test_what_the_specification_leaves_open_is_a_table(
    line: str, sort: str, explained: bool
) -> None:
    """By the ops and types of a reduced program, and the sort of difference."""
    assert (left_open(line, sort) is not None) is explained


@pytest.mark.parametrize("first", [1, 7, 20])
def test_the_first_bad_release_is_found_by_bisection(first: int) -> None:
    """In few steps, also where some Releases are not available."""
    table = releases("jaxlib")[:30]
    asked: list[int] = []

    def shows(release: Release) -> bool | None:
        number = table.index(release)
        asked.append(number)
        return None if number == 15 else first <= number < 25

    known = {table[number]: first <= number < 25 for number in (0, 22, 29)}
    edges = boundaries(table, known, shows)
    assert edges == [(table[first], True), (table[25], False)]
    assert len(asked) <= 10


CAUSE = Cause(
    "another number", ("fft(f32)",), ("jaxlib 0.5.3",), "module {}", "0/3", "1 | became 2"
)


def test_a_campaign_continues_where_it_was(tmp_path: Path) -> None:
    """Rounds and causes are files; one that was not finished is none."""
    campaign = Campaign(tmp_path, 5)
    done = Progress(rounds=1, programs=30, judged=29)
    done.executed["jaxlib 0.5.3"] = 28
    done.causes[CAUSE.name] = 2
    done.covers.update({"add": 3, "add f32": 2})
    done.computed.update({"jaxlib 0.5.3: add": 2, "jaxlib 0.5.3: add f32": 1})
    done.reduced += [(9, 2, 1.5), (9, 6, 80.0)]
    campaign.add_round(campaign.next_round(), done)
    campaign.add_cause(CAUSE, Candidate(CAUSE.program, (floats(1),), 1))
    (tmp_path / "causes" / "interrupted").mkdir()
    again = Campaign(tmp_path, 5)
    assert again.next_round() == 1
    assert Campaign(tmp_path, 6).next_round() == 0
    assert again.covered(0) == {}
    assert again.covered(1) == {"add": 3, "add f32": 2}
    assert again.progress.record() == done.record()
    assert list(again.causes()) == [CAUSE]
    told = json.loads((tmp_path / "causes" / CAUSE.name / "cause.json").read_text())
    assert told["seed"] == "0/3"
    page = again.page(["f32", "i1"])
    assert "| jaxlib 0.5.3 | 28 | 0 | 2 |" in page
    assert "Rounds of each seed: 1 of 5, 0 of 6." in page
    assert "\n| add | 1 | 0 |\n" in page
    assert "\n| sine | 0 |  |\n" in page
    assert "Reductions: 2, to at most 5 ops 1, of these within 60 s 1; half of all took" in page
    assert "| fft(f32) | 2 |" in page
    assert "1 | became" not in page


def test_the_page_explains_as_the_table_does_today(tmp_path: Path) -> None:
    """A row that is new explains a cause that was written down before it."""
    text = "%0 = stablehlo.power %a, %a : tensor<2xui8>"
    campaign = Campaign(tmp_path, 0)
    campaign.add_cause(dataclasses.replace(CAUSE, program=text), Candidate(text, (), 1))
    assert "| integer-power-modulo-64 |" in campaign.page(["f32"])


def test_causes_are_told_apart() -> None:
    """By their ops with types, their sort, and the Releases; not by the numbers that differ."""
    text = """
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
      %2 = stablehlo.compare LT, %x, %y : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<3xf64>) -> tensor<3xf64>
    %1 = stablehlo.real %0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>"""
    assert signature_of(text) == ("sort()", "compare(f64 i1)", "real(complex<f32> f32)")
    other = dataclasses.replace(CAUSE, releases=("jaxlib 0.9.0",))
    assert dataclasses.replace(CAUSE, detail="another").name == CAUSE.name
    assert other.name != CAUSE.name
    assert CAUSE.name.startswith("fft-f32-another-number-")


def test_identities_are_numbers_of_the_type() -> None:
    """What a reduction begins with changes nothing."""
    found = {
        ("add", "i32"): "0", ("multiply", "f32"): "1.0", ("maximum", "i8"): "-128",
        ("minimum", "ui8"): "255", ("maximum", "ui4"): "0", ("and", "i4"): "-1",
        ("maximum", "f32"): "0xFF800000", ("minimum", "bf16"): "0x7F80", ("or", "i1"): "false",
        ("minimum", "f8E4M3FN"): "448.0", ("multiply", "complex<f32>"): "(1.0, 0.0)",
    }  # fmt: skip
    assert {key: identity(*key) for key in found} == found
