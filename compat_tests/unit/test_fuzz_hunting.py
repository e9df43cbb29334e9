"""What a hunt decides without running anything: differences, what is left open, where it begins."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import time
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from portable.cli import main, progress
from portable.fuzz import hunting
from portable.fuzz.campaign import Campaign, Progress
from portable.fuzz.causes import Cause, grouped, signature_of
from portable.fuzz.forms import identity
from portable.fuzz.generation import generate
from portable.fuzz.hunted import Hunted, page
from portable.fuzz.hunting import boundaries
from portable.fuzz.judging import departure, flushed, left_open, nudged
from portable.fuzz.reduction import Candidate
from portable.matrix import Store
from portable.releases import Release, releases
from portable.runtime.environments import Environments
from portable.runtime.executors import ExecutionFailed
from portable.runtime.executors.tensors import Array
from portable.verdict import Basis, Outcome, Stage, Verdict
from portable.version import Version

F32 = "func.func @main(%a: tensor<3xf32>) -> tensor<3xf32>"

_CRASH = "crash with SIGSEGV"


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


def test_a_signaling_nan_is_compared_without_a_warning() -> None:
    """A number that another type cannot hold is judged without a warning of numpy."""
    nan = np.array([0x7FA00000, 0, 0], np.uint32).view(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kind(nan, floats(np.nan, 0, 0), nan) == ""
        assert kind(floats(1, 0, 0), nan) == "NaN for a number"


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


TWO = """func.func @main(%a: tensor<2xf64>, %b: tensor<2x{narrow}>) -> (types) {{
  %v0 = "stablehlo.tanh"(%a) : (tensor<2xf64>) -> tensor<2xf64>
  %v1 = "stablehlo.call"(%b) <{{callee = @f}}> : (tensor<2x{narrow}>) -> tensor<2xf64>
  %v2:2 = "stablehlo.sort"(%v0, %v1) <{{dimension = 0 : i64}}> ({{
  ^bb0(%x: tensor<f64>, %y: tensor<f64>, %z: tensor<f64>, %u: tensor<f64>):
    %w = "stablehlo.compare"(%x, %y) : (tensor<f64>, tensor<f64>) -> tensor<i1>
    "stablehlo.return"(%w) : (tensor<i1>) -> ()
  }}) : (tensor<2xf64>, tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)
  {end}
}}
func.func private @f(%c: tensor<2x{narrow}>) -> (tensor<2xf64>) {{
  %v0 = "stablehlo.convert"(%c) : (tensor<2x{narrow}>) -> tensor<2xf64>
  "func.return"(%v0) : (tensor<2xf64>) -> ()
}}
"""


@pytest.mark.parametrize("end", ["return {} : {}", '"func.return"({}) : ({}) -> ()'])
@pytest.mark.parametrize("narrow", ["f32", "f16", "bf16", "f8E5M2"])
def test_each_output_is_as_precise_as_what_it_is_computed_from(end: str, narrow: str) -> None:
    """A narrow type elsewhere in the program says nothing about it; one in a function does."""
    whole = np.array([1.0, 2.0])

    def seen(*names: str, off: float) -> list[int]:
        text = TWO.format(narrow=narrow, end=end.format(", ".join(names), "types"))
        given = [[whole] * len(names)] * 2
        found = []
        for number in range(len(names)):
            actual = [whole + off * (number == n) for n in range(len(names))]
            if departure(text, given[0], given, actual):
                found.append(number)
        return found

    assert seen("%v0", "%v1", off=1e-8) == [0]
    assert seen("%v1", "%v0", "%a", off=1e-8) == [1, 2]
    assert seen("%v2#0", "%v0", off=1e-8) == [1]
    # Half of the largest number is beyond what bfloat16 rounds; of 8 bits nothing is known.
    assert seen("%v0", "%v1", off=1.5) == ([0] if narrow == "f8E5M2" else [0, 1])


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
    (parts,) = flushed([np.array([1e-40 + 1j, 2 - 1e-40j], np.complex64)])
    assert parts.tolist() == [1j, 2]


@pytest.mark.parametrize(
    ("line", "sort", "explained"),
    [
        ("%0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xi8>", "another integer", True),
        ("%0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xi1>", "another boolean", False),
        ("%0 = stablehlo.is_finite %a : (tensor<3xf32>) -> tensor<3xi1>", "another boolean", False),
        ("%0 = stablehlo.dynamic_iota %a, dim = 0 : () -> tensor<4xi1>", "another boolean", True),
        ("%0 = stablehlo.dynamic_iota %a, dim = 0 : () -> tensor<4xi8>", "another integer", False),
        ('%0 = "stablehlo.select_and_scatter"(%a, %b, %c)', "infinity for a number", True),
        ("%0 = stablehlo.sine %a : tensor<3xcomplex<f32>>", "NaN for a number", True),
        ("%0 = stablehlo.sine %a : tensor<3xcomplex<f32>>", "another number", False),
        ("%0 = stablehlo.convert %a : (tensor<3xi8>) -> tensor<3xf32>", "another number", False),
        ("%0 = stablehlo.power %a, %b : tensor<3xi32>", "another integer", True),
        ("%0 = stablehlo.power %a, %b : tensor<3xf32>", "another number", False),
        ("%0 = stablehlo.divide %a, %b : tensor<ui8>", "another integer", True),
        ("%0 = stablehlo.add %a, %b : tensor<ui8>", "another integer", False),
        ("%0 = stablehlo.fft %a, type =  IRFFT, length = [5]", "another number", True),
        ("%0 = stablehlo.clamp %a, %b, %c : tensor<3xcomplex<f32>>", "another number", True),
        ("%0 = stablehlo.clamp %a, %b, %c : tensor<3xf32>", "another number", False),
        ("%0 = stablehlo.atan2 %a, %b : tensor<3xcomplex<f32>>", "another number", True),
        ("%0 = stablehlo.atan2 %a, %b : tensor<3xf32>", "another number", False),
        (
            "%0 = stablehlo.dot_general %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>",
            "a number for NaN",
            True,
        ),
        (
            "%0 = stablehlo.dot_general %a, %b : (tensor<3xi32>, tensor<3xi32>) -> tensor<i32>",
            "another integer",
            False,
        ),
        (
            "%0 = bitcast_convert %a : (tensor<2xi32>) -> tensor<f64>\n %1 = stablehlo.rsqrt %0",
            "a number for NaN",
            True,
        ),
        (
            "%0 = stablehlo.bitcast_convert %a : (i32) -> tensor<f32>\n%1 = stablehlo.power",
            "NaN for a number",
            True,
        ),
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


CONVERTED, SLICED = "constants-to-booleans", "slice-by-unsigned-constant"
SATURATED = "convolution-of-constants-saturates"


@pytest.mark.parametrize(
    ("constant", "line", "sort", "name"),
    [
        ("4xi32", "convert %c : (tensor<4xi32>) -> tensor<4xi1>", "another boolean", CONVERTED),
        ("4xf32", "convert %c : (tensor<4xf32>) -> tensor<4xi1>", "another boolean", CONVERTED),
        ("4xi32", "convert %c : (tensor<4xi32>) -> tensor<4xi8>", "another integer", ""),
        ("1xi8", "convolution(%c, %c) : () -> tensor<1xi8>", "another integer", SATURATED),
        ("1xui8", 'dynamic_conv"(%c, %c) : () -> tensor<1xui8>', "another integer", SATURATED),
        ("1xi8", "convolution(%c, %arg0) : () -> tensor<1xi8>", "another integer", ""),
        ("ui8", "dynamic_slice %a, %c : (tensor<9xf32>, tensor<ui8>)", "another number", SLICED),
        ("i8", "dynamic_slice %a, %c : (tensor<9xf32>, tensor<i8>)", "another number", ""),
    ],
)
def test_a_known_defect_of_constants_is_named(
    constant: str, line: str, sort: str, name: str
) -> None:
    """Each has a folder in docs/findings; of what is given at runtime there is none."""
    given = f"%c = stablehlo.constant dense<1> : tensor<{constant}>\n"
    found = left_open(f"{given}%0 = stablehlo.{line}", sort)
    assert (found.id if found else "") == name
    assert left_open(f"%0 = stablehlo.{line}".replace("%c", "%arg0"), sort) is None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("convolution(%a, %b) window = {pad = [[1, 0]]}", "convolution-padding-skipped"),
        ("convolution(%a, %b) window = {lhs_dilate = [2]}", "convolution-padding-skipped"),
        ('dynamic_conv"(%a, %b, %c)', "convolution-padding-skipped"),
        ("convolution(%a, %b) window = {}", "order-of-products"),
        ("convolution(%a, %b) window = {rhs_dilate = [2]}", "order-of-products"),
    ],
)
def test_nan_of_a_convolution_is_a_defect_where_it_pads(line: str, name: str) -> None:
    """Elsewhere it is the order of the sums, of which one may overflow."""
    found = left_open(f"%0 = stablehlo.{line} : tensor<1xf32>", "a number for NaN")
    assert (found.id if found else "") == name


@pytest.mark.parametrize(
    ("text", "kind", "release", "name"),
    [
        ("fft %a, type = IRFFT, length = [5]", "another number", "", "interpreter-irfft-odd"),
        ("fft %a, type = IRFFT, length = [4, 15]", "another number", "", "interpreter-irfft-odd"),
        ("fft %a, type = IRFFT, length = [4]", "another number", "", "amplified-rounding"),
        ("imag %a : tensor<3xf32>", _CRASH, "iree-base-compiler 3.4.0", "argument-unused-crash"),
        ("imag %a : tensor<3xf32>", _CRASH, "iree-base-compiler 3.9.0", ""),
        ("imag %a : (tensor<3xcomplex<f32>>)", _CRASH, "iree-base-compiler 3.4.0", ""),
    ],
)
def test_causes_that_look_alike_are_told_apart(
    text: str, kind: str, release: str, name: str
) -> None:
    """Even lengths are right but for rounding, and only what is removed takes an argument along."""
    found = left_open(f"%0 = stablehlo.{text}", kind, [release] if release else [])
    assert (found.id if found else "") == name


def test_booleans_that_differ_are_known_of_the_release_that_reads_them_wrong() -> None:
    """And of no other; of equal ones nothing is known."""
    only, other = ["iree-base-compiler 3.11.0"], ["iree-base-compiler 3.12.0"]
    text = "%c = stablehlo.constant dense<[[true], [false]]> : tensor<2x1xi1>"
    found = left_open(text, "another boolean", only)
    assert found
    assert found.id == "constant-booleans-iree"
    assert left_open(text, "another boolean", other) is None
    assert left_open(text.replace("false", "true"), "another boolean", only) is None


@pytest.mark.parametrize(
    ("kind", "begins", "op", "explained"),
    [
        ("f32", "0.000000e+00", "add", False),
        ("f32", "1.000000e+00", "add", True),
        ("f32", "1.000000e+00", "multiply", False),
        ("bf16", "0xFF80", "maximum", False),
        ("i8", "-128", "maximum", False),
        ("i8", "-127", "maximum", True),
        ("i1", "false", "or", False),
        ("complex<f32>", "(0.000000e+00,0.000000e+00)", "add", False),
    ],
)
def test_a_reduction_that_begins_with_an_identity_is_defined(
    kind: str, begins: str, op: str, *, explained: bool
) -> None:
    """An init that changes something may be applied any number of times; others say nothing."""
    constant = f"%c = stablehlo.constant dense<{begins}> : tensor<{kind}>\n"
    window = '%0 = "stablehlo.reduce_window"(%a, %c) <{}> ({\n%1 = stablehlo.' + op
    short = f"%0 = stablehlo.reduce(%a init: %c) applies stablehlo.{op} across dimensions = [0]"
    for text in (window, short):
        row = left_open(constant + text, "another integer")
        assert (row.id if row else "") == "reduce-init" * explained
        assert left_open(text, "another integer") is not None
        assert left_open(text, "a number for NaN") is None
    scatter = '%0 = "stablehlo.scatter"(%a, %b, %c) ({\n%1 = stablehlo.' + op
    assert left_open(scatter, "another integer") is None


def test_what_is_left_open_is_no_crash() -> None:
    """However it may be rounded; and what is known of some Releases is said of these alone."""
    text = "%0 = stablehlo.power %a, %b : tensor<3xf32>\n %1 = stablehlo.negate %0 : tensor<3xf32>"
    iree, xla = ["iree-base-compiler 3.13.0"], ["jaxlib 0.12.0.1"]
    assert left_open(text, "crash with SIGSEGV", iree) is None
    found = [left_open(text, "another number", where) for where in (iree, xla, iree + xla)]
    assert [row.id for row in found if row] == [
        "power-of-floats-iree", "amplified-rounding", "amplified-rounding"
    ]  # fmt: skip


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


def test_what_is_right_is_not_asked_of_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says nothing of it; what does not end the process is compared."""
    asked: list[str] = []

    class Ran:
        """An executor that gives one number, or ends."""

        def __init__(self, name: str, *, ends: bool = False, gives: float = 1) -> None:
            self._name, self._ends, self._gives = name, ends, gives

        def compile(self, _: object) -> Ran:
            asked.append(self._name)
            if self._ends:
                stage, basis = Stage.COMPILE, Basis.OBSERVED
                raise ExecutionFailed(Verdict("", Outcome.CRASHED, stage, basis, "SIGSEGV"))
            return self

        def run(self, _: object) -> list[Array]:
            return [floats(self._gives, 2, 3)]

    monkeypatch.setattr(hunting, "serialize", lambda *_, **__: b"")
    candidate = Candidate(F32, (floats(1, 2, 3),), 1)
    trial: Any = functools.partial(hunting._trial, candidate, Version(1, 0, 0))
    assert trial(Ran("judge"), Ran("tried", ends=True)) == ("crash with SIGSEGV", "SIGSEGV")
    assert asked == ["tried"]
    # Where the outputs are the same, nothing is run to see how much rounding matters.
    assert trial(Ran("judge"), Ran("tried")) == ("", "")
    assert asked[1:] == ["tried", "judge"]
    assert trial(Ran("judge"), Ran("tried", gives=9))[0] == "another number"
    assert asked[3:] == ["tried", "judge", "judge", "judge"]
    assert trial(Ran("judge", ends=True), Ran("tried")) == ("", "")


def test_what_looks_unknown_is_reduced_first() -> None:
    """Of finds that are alike two of a round are reduced: not those of a cause that is known."""
    texts = {
        seed: f'"stablehlo.{op}"(%a) : {"x" * len(op)}'
        for seed, op in enumerate(["sine", "abs", "cosine", "tan", "sine"])
    }
    one, two = releases("jaxlib")[-2:]

    def find(seed: int, release: Release, sort: str = "another number") -> Any:
        program: Any = dataclasses.replace(generate(0), text=texts[seed])
        return hunting._Find(program, (), str(seed), sort, (release,))

    finds = [find(0, one), find(1, one), find(2, one), find(3, one), find(4, two)]
    known = [dataclasses.replace(CAUSE, ops=(op,)) for op in ("abs(f64)", "tan(f32)")]
    few = hunting._few_of_each
    assert [found.seed for found in few(finds, [])] == ["1", "3", "4"]
    assert [found.seed for found in few(finds, known)] == ["0", "4", "2"]
    other = [dataclasses.replace(one, kind="another integer") for one in known]
    assert [found.seed for found in few(finds, other)] == ["1", "3", "4"]


CAUSE = Cause(
    "another number", ("fft(f32)",), ("jaxlib 0.5.3",), "module {}", "0/3", "1 | became 2"
)


def test_a_round_that_judged_nothing_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge that cannot run would else make a thousand empty rounds in an hour."""
    monkeypatch.setattr(hunting.Hunt, "_finds", lambda *_: iter(()))
    campaign, judge = Campaign(tmp_path / "hunted", 0), releases("jaxlib")[-1]
    with Store(tmp_path / "observations.sqlite") as store:
        hunt = hunting.Hunt(campaign, [judge], judge, store, Environments(offline=True))
        with pytest.raises(hunting.NothingJudged, match="executed none of 30 programs"):
            hunt.run(time.monotonic() + 60, lambda _: None)
    assert campaign.next_round() == 0


def test_a_hunt_says_at_once_that_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before its first round, with the time that is left; each execution counts."""
    said = []

    def run(hunt: hunting.Hunt, *_: object) -> None:
        said.append(capsys.readouterr().err)
        monkeypatch.setattr(progress, "_EVERY_S", 0.0)
        hunt._run().progress(20, 60)
        hunt._run("interpreter").progress(5, 30)
        hunt._count(1)
        said.extend(capsys.readouterr().err.splitlines())

    monkeypatch.setattr(hunting.Hunt, "run", run)
    words = ["--for", "jaxlib==0.12.0.1", "--hours", "2", "-o", str(tmp_path / "hunted")]
    assert main(["fuzz", "hunt", *words]) == 0
    first, *counts = said
    assert (tmp_path / "hunted" / "cpu.json").exists()
    assert "0 executions, 2:00:00 left" in first
    assert [line.partition(",")[0] for line in counts] == [
        "20 executions", "25 executions", "26 executions",
    ]  # fmt: skip
    assert all("a second" in line and " left" in line for line in counts)


def test_the_processor_time_of_an_interrupted_hunt_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it used up to then; it goes on from there."""

    def run(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hunting.Hunt, "run", run)
    with contextlib.suppress(KeyboardInterrupt):
        main(["fuzz", "hunt", "--for", "jaxlib==0.12.0.1", "-o", str(tmp_path / "hunted")])
    assert (tmp_path / "hunted" / "cpu.json").exists()


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
    for seconds in (600.0, 300.0):  # it went on
        campaign.add_cpu(seconds)
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
    text = page([again.hunted()], ["f32", "i1"])
    assert "| jaxlib 0.5.3 | 28 | 0 | 2 |" in text
    assert "| 1 of 5, 0 of 6 | jaxlib 0.5.3 | 30 | 29 | 0.0 | 0.25 | 0 | 2 | 1 | 1 | 41 |" in text
    assert "\n| add | 1 | 0 |\n" in text
    assert "\n| sine | 0 |  |\n" in text
    assert "| fft(f32) | 2 |" in text
    assert "1 | became" not in text


def test_the_page_explains_as_the_table_does_today(tmp_path: Path) -> None:
    """A row that is new explains a cause that was written down before it."""
    text = "%0 = stablehlo.power %a, %a : tensor<2xui8>"
    campaign = Campaign(tmp_path, 0)
    campaign.add_cause(dataclasses.replace(CAUSE, program=text), Candidate(text, (), 1))
    # One of a round that was not finished does not count.
    assert "power" not in page([campaign.hunted()], [])
    done = Progress(rounds=1)
    done.causes[CAUSE.name] = 1
    campaign.add_round(0, done)
    assert "| integer-power-modulo-64 |" in page([campaign.hunted()], ["f32"])


def test_a_hunt_is_kept_as_one_file_and_joined_with_others(tmp_path: Path) -> None:
    """What is not on this machine counts too: numbers add up, a cause of both is one."""
    campaign = Campaign(tmp_path, 5)
    done = Progress(rounds=1, programs=30, judged=29, seconds=7200.0)
    done.executed["jaxlib 0.5.3"] = 28
    done.causes[CAUSE.name] = 2
    done.unconfirmed["5/3: another number"] = 1
    done.computed.update({"jaxlib 0.5.3: add": 2, "jaxlib 0.5.3: add f32": 1})
    campaign.add_round(0, done)
    campaign.add_cause(CAUSE, Candidate(CAUSE.program, (), 1))
    first = campaign.hunted()
    again = Hunted.from_record(json.loads(json.dumps(first.record())))
    assert again == first
    assert Hunted.from_record({**first.record(), "cpu": 7.5}).cpu == 7.5
    assert Hunted.from_record({k: v for k, v in first.record().items() if k != "cpu"}).cpu == 0
    assert again.computed == {"add": ("jaxlib 0.5.3",), "add f32": ("jaxlib 0.5.3",)}
    other = dataclasses.replace(
        first,
        seeds={"7": 2},
        programs=60,
        computed={"add": ("jaxlib 0.9.0",)},
        executed={"jaxlib 0.9.0": 50, "jaxlib 0.5.3": 1},
    )
    text = page([first, other], ["f32", "i1"])
    assert "90 programs in 4.0 hours; 58 of them could be judged. 1 cause" in text
    assert "| 2 of 7 |" in text
    assert "| fft(f32) | 4 |" in text
    assert "was not kept" not in text
    lost = page([first, dataclasses.replace(other, computed={})], ["f32"])
    assert "Which forms the programs of seeds 7 had was not kept." in lost
    assert "| jaxlib 0.5.3 | 29 | 0 | 2 |" in text
    assert "\n| add | 1 | 0 |\n" in text


CRASH = dataclasses.replace(
    CAUSE,
    kind="crash with SIGSEGV",
    releases=("iree-base-compiler 3.4.0",),
    first_good="iree-base-compiler 3.9.0",
)


def test_one_cause_is_one_finding() -> None:
    """What differs in types, values and the Releases that were asked is one cause."""
    wide = dataclasses.replace(CAUSE, ops=("fft(f64)",), releases=("jaxlib 0.4.33", "jaxlib 0.5.3"))
    (one,) = grouped([(CAUSE, 2), (wide, 3)])
    assert (one.found, one.releases) == (5, ("jaxlib 0.4.33", "jaxlib 0.5.3"))
    apart = [
        dataclasses.replace(CAUSE, kind="NaN for a number"),
        dataclasses.replace(CAUSE, ops=("sine(f32)",)),
        dataclasses.replace(CAUSE, first_bad="jaxlib 0.5.3"),
        dataclasses.replace(CAUSE, releases=("iree-base-compiler 3.13.0",)),
    ]
    assert len(grouped([(CAUSE, 1), *((one, 1) for one in apart)])) == 5


def test_crashes_are_one_cause_by_their_dates_alone() -> None:
    """A process that ends alike on the same Releases, whatever op was left of the program."""
    other = dataclasses.replace(CRASH, ops=("popcnt(i32)",))
    assert len(grouped([(CRASH, 1), (other, 1)])) == 1
    fixed = dataclasses.replace(CRASH, first_good="iree-base-compiler 3.4.1")
    alive = dataclasses.replace(CRASH, ops=("popcnt(i32)",), first_good="")
    assert len(grouped([(CRASH, 1), (fixed, 1), (alive, 1)])) == 3
    # What no Release has repaired has no dates to tell it by: its ops do.
    assert len(grouped([(dataclasses.replace(CRASH, first_good=""), 1), (alive, 1)])) == 2


def test_what_a_table_names_is_one_cause() -> None:
    """An Advisory that foresees it, or a row of what is known, whatever the ops and dates."""
    foreseen = "add-of-booleans: StableHLO defines the sum of booleans as their disjunction"
    made = [
        dataclasses.replace(CAUSE, ops=(op,), foreseen=foreseen, first_good=good)
        for op, good in (("add(i1)", "jaxlib 0.7.1"), ("reduce(i1)", "jaxlib 0.7.0"))
    ]
    (one,) = grouped([(cause, 1) for cause in made])
    assert (one.id, one.open, one.last) == ("add-of-booleans", False, "jaxlib 0.7.1")
    since = [dataclasses.replace(one, first_bad="jaxlib 0.4.21") for one in made]
    assert grouped([(since[0], 1), (made[1], 1)])[0].first == ""
    assert grouped([(one, 1) for one in since])[0].first == "jaxlib 0.4.21"
    undated = dataclasses.replace(made[0], ops=("scatter(i1)",), first_good="")
    assert grouped([(one, 1) for one in (*made, undated)])[0].last == "jaxlib 0.7.1"
    sine = "%0 = stablehlo.sine %a : tensor<3xcomplex<f32>>"
    left = dataclasses.replace(CAUSE, kind="NaN for a number", program=sine)
    (two,) = grouped([(left, 1)])
    assert (two.id, two.open) == ("complex-specials", True)
    power = dataclasses.replace(
        CAUSE, kind="another integer", program="%0 = stablehlo.power %a, %a : tensor<2xui8>"
    )
    assert not grouped([(power, 1)])[0].open


def test_what_is_said_to_be_refused_names_no_cause() -> None:
    """An observation of a like program, that it was refused, does not explain another result."""
    refused = "add i8 in select_and_scatter: refused, executed on iree-base-compiler 3.13.0"
    program = '%0 = "stablehlo.select_and_scatter"(%a, %b, %c)'
    cause = dataclasses.replace(CAUSE, program=program, foreseen=refused)
    (one,) = grouped([(cause, 1)])
    assert (one.id, one.open) == ("select-of-equals", True)
    assert grouped([(dataclasses.replace(cause, program="%0 = stablehlo.fft"), 1)])[0].id == ""


def test_the_page_says_what_is_alive() -> None:
    """In the newest Release of a distribution that the hunts asked."""
    newest = dataclasses.replace(CAUSE, releases=("jaxlib 0.5.3", "jaxlib 0.12.0.1"))
    done = dict.fromkeys(("jaxlib 0.5.3", "jaxlib 0.12.0.1"), 1)
    gone = dataclasses.replace(CAUSE, ops=("sine(f32)",))
    text = page([Hunted(executed=done, causes=((newest, 1), (gone, 1)))], ["f32"])
    assert "2 causes of differences, 1 alive in a newest Release" in text
    difference = "`another number: 1 \\| became 2`"
    assert f"| fft(f32) | 1 | jaxlib 0.5.3, 0.12.0.1 | {difference} |  |  | yes |" in text


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
