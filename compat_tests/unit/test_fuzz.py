"""Generated programs, as far as no compiler is needed: the table, the choices, determinism.

That they are valid is for real verifiers to say: `compat_tests/real/test_fuzz.py`.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from portable.bytecode.vhlo import ops
from portable.cli import main
from portable.fuzz import (
    NothingToGenerate,
    Parameter,
    generate,
    inputs_for,
    language,
    one_op,
    one_op_programs,
)
from portable.fuzz.choices import Choices
from portable.fuzz.forms import MalformedLanguage, bits, expressed, kind, since, split
from portable.fuzz.hunting import ELEMENTS
from portable.runtime.executors.tensors import load_arrays
from portable.version import Version

# Ops that no row generates, and why.
LEFT_OUT = {
    "after_all": "tokens do not leave a program",
    "create_token": "tokens do not leave a program",
    "infeed": "waits for a host",
    "outfeed": "waits for a host",
    "send": "waits for another device",
    "recv": "waits for another device",
    "async_start": "futures do not leave a program",
    "async_done": "futures do not leave a program",
    "collective_reduce": "newer than the verifiers of most Releases",
    "tuple": "tuples do not leave a program",
    "get_tuple_element": "tuples do not leave a program",
    "func": "no op that computes",
    "return": "no op that computes",
}


def test_every_op_is_generated_or_left_out_for_a_reason() -> None:
    """VHLO's table knows the ops; each has a row in the language, or a reason here."""
    known = {name.rpartition("_v")[0] for name in ops()}
    rows = {form.op for form in language()}
    assert known - rows == LEFT_OUT.keys()
    assert rows <= known


def test_the_same_seed_gives_the_same_program() -> None:
    """In this process and in another: some choices are written down here."""
    made = generate("golden", ops=3)
    assert made == generate("golden", ops=3)
    assert made != generate("other", ops=3)
    assert Choices("golden").pick("abc", 1) == "b"
    assert [Choices("golden").pick(range(10), n) for n in range(5)] == [9, 6, 4, 9, 1]


@pytest.mark.parametrize("seed", range(8))
def test_one_op_more_changes_nothing_before_it(seed: int) -> None:
    """All ops of the shorter program stand in the longer one, at the same places."""
    shorter, longer = (generate(seed, ops=count) for count in (10, 11))
    assert longer.forms[: len(shorter.forms)] == shorter.forms
    gone = set(shorter.text.splitlines()) - set(longer.text.splitlines())
    assert all("@main" in line or "func.return" in line or "%q" in line for line in gone)


def test_a_form_less_changes_only_what_had_it() -> None:
    """An op that is not to be used is replaced where it stood; most of the rest stays."""
    for seed in range(10):
        before = generate(seed, ops=12)
        banned = before.forms[6].partition("/")[0]
        after = generate(seed, ops=12, only={f.op for f in language()} - {banned})
        assert banned not in {name.partition("/")[0] for name in after.forms}
        same = difflib.SequenceMatcher(None, before.forms, after.forms).get_matching_blocks()
        assert sum(block.size for block in same) >= len(before.forms) - 4


def test_an_option_less_changes_only_who_chose_it() -> None:
    """Rendezvous: the others win what they won before."""
    options = "abcdefgh"
    for place in range(200):
        choices = Choices(place)
        first = choices.pick(options)
        fewer = options.replace("d", "")
        assert choices.pick(fewer) == first or first == "d"


def test_options_are_chosen_by_their_weight() -> None:
    """An option of weight 9 beside one of 1 is chosen nine times of ten."""
    weights = {"often": 9.0, "rarely": 1.0}
    chosen = [Choices(n).pick(weights, weight=weights.__getitem__) for n in range(2000)]
    assert 1740 < chosen.count("often") < 1860


@pytest.mark.parametrize("text", ["0.9.0", "1.0.0", "1.8.0"])
def test_a_version_is_kept_to(text: str) -> None:
    """No op and no type in the program is newer."""
    version = Version.parse(text)
    for seed in range(40):
        assert generate(seed, version=version).since <= version


def test_only_the_ops_and_types_that_are_named() -> None:
    """Others come in neither as ops nor as types."""
    made = generate(0, ops=20, only=["add", "reduce"], elements=["f32"])
    assert {name.partition("/")[0] for name in made.forms} == {"add", "reduce"}
    assert {split(argument.type)[1] for argument in made.arguments} == {"f32"}
    with pytest.raises(NothingToGenerate, match="choose more ops"):
        generate(0, only=["collective_broadcast"], version=Version.parse("0.9.0"))


def test_what_was_seldom_is_chosen_more_often() -> None:
    """A form that others did not have comes soon; without figures nothing changes."""
    wanted = ["add", "multiply", "maximum", "minimum"]
    covered = dict.fromkeys(wanted[1:], 100) | {"add f32": 100}
    made = [generate(seed, ops=1, only=wanted, covered=covered) for seed in range(40)]
    assert sum(one.forms == ("add",) for one in made) > 30
    assert sum("add f32" in one.covers for one in made) < 3
    assert generate(7, covered={}) == generate(7)
    assert generate(7, ops=1, only=["add"], elements=["i8"]).covers == {"add", "add i8"}


def test_what_is_computed_is_seen() -> None:
    """Few ops are dead, have the same operand twice, or constants of one number alone."""
    nested = dead = operands = same = constants = splats = 0
    for seed in range(300):
        text = generate(seed, ops=6, elements=ELEMENTS).text
        for name in re.findall(r"^ *(%v\d+[rf]\w+)", text, re.MULTILINE):
            nested += 1
            dead += len(re.findall(rf"{name}\b", text)) == 1
        for names in re.findall(r'= "stablehlo\.\w+"\((%[^)]+, [^)]+)\)', text):
            operands += 1
            same += len({*names.split(", ")}) < len(names.split(", "))
        for numbers in re.findall(r"%c\w+ = .* <\{value = dense<([^>]*)> : tensor<[1-9].*x", text):
            constants += 1
            splats += not numbers.startswith("[")
    assert dead < nested / 2
    assert same < operands / 8
    assert splats < constants / 5


def test_half_of_the_programs_return_all_that_main_computes() -> None:
    """What is wrong with a value may not reach those that are computed from it."""
    made = [generate(seed, ops=6, elements=["f32"], only=["sine"]) for seed in range(200)]
    every = [
        {*re.findall(r"^  (%v\d+) =", one.text, re.MULTILINE)}
        == {*re.findall(r"%v\d+", one.text.partition("func.return")[2])}
        for one in made
    ]
    assert 70 < sum(every) < 150


def test_every_form_has_programs_of_its_own() -> None:
    """One op each, with every element type that the table gives it."""
    seen = defaultdict(list)
    for one in one_op_programs():
        assert one.program.forms == (str(one.form),)
        seen[str(one.form)].append(one.variables)
    assert seen.keys() == {str(form) for form in language()}
    assert {variables["T"] for variables in seen["add"]} >= {"i1", "f8E4M3", "complex<f64>"}
    assert {variables["S"] for variables in seen["add"]} >= {"", "0x", "?x", "2x3x"}
    assert {variables["d"] for variables in seen["compare"]} == {"EQ", "NE", "GE", "GT", "LE", "LT"}


def test_what_is_covered_depends_on_the_types_alone() -> None:
    """Other shapes and attributes cover nothing else, so they are not tried to find out."""
    for form in [form for form in language() if form.op in {"add", "compare", "gather", "reduce"}]:
        every, of_types = (
            {one.program.covers for one in one_op._programs(form, combinations(form))}
            for combinations in (one_op._combinations, one_op._of_types)
        )
        assert every == of_types
        assert every


def test_what_is_known_of_element_types() -> None:
    """Their bits, kinds and first Versions, by VHLO's table."""
    quantized = "!quant.uniform<u8:bf16, 5.000000e-01:128>"
    assert [bits(one) for one in ("i1", "bf16", "complex<f64>", "f8E4M3FN")] == [1, 16, 128, 8]
    assert [kind(one) for one in ("ui8", "i8", "bf16", "f32", "complex<f32>")] == [*"uiffc"]
    assert (expressed(quantized), expressed("f32")) == ("bf16", "")
    assert str(since("f8E4M3")) == "1.7.0"
    assert since("complex<f32>") == since(quantized) == Version.parse("0.9.0")
    with pytest.raises(MalformedLanguage, match="not a tensor type"):
        split("-1xf32")


def test_a_row_is_matched_by_the_types_there_are() -> None:
    """Variables are what makes a type of the table one of the program; sizes may be computed."""
    (reduce,) = (form for form in language() if str(form) == "reduce")
    assert reduce.match("{N}x{M}x{T}", "2x3xf32") == {"N": 2, "M": 3, "T": "f32"}
    assert reduce.match("{N}x{M}x{T}", "2xf32") is None
    assert reduce.match("{N}x{N}x{T}", "2x3xf32") is None
    assert reduce.match("{N + 1}x{T}", "3xf32") == {"T": "f32"}
    assert reduce.match("{T}", "!quant.uniform<i7:f32, 1.0>") is None


def test_a_mistake_in_the_table_is_named() -> None:
    """What cannot be computed is an error that shows it."""
    form = dataclasses.replace(language()[0], where="T.x")
    with pytest.raises(MalformedLanguage, match=r"cannot compute 'T\.x'"):
        form.holds({"T": "f32"})


def test_inputs_are_what_the_ops_need() -> None:
    """Indices in range, positive definite matrices, and the same for the same seed."""
    wanted = (
        Parameter("50xi32", range=(-1, 3)),
        Parameter("2x3x3xf64", definite=True),
        Parameter("4x?xcomplex<f32>"),
        Parameter("0xbf16"),
    )
    indices, matrices, complexes, empty = inputs_for(wanted, 3)
    assert set(indices.tolist()) == {-1, 0, 1, 2, 3}
    assert (np.linalg.eigvalsh(matrices) > 0).all()
    assert (complexes.shape, complexes.dtype.name) == ((4, 3), "complex64")
    assert (empty.shape, empty.dtype.name) == ((0,), "bfloat16")
    again = inputs_for(wanted, 3)
    assert np.array_equal(indices, again[0])
    assert not np.array_equal(matrices, inputs_for(wanted, 4)[1])


def test_special_numbers_are_among_the_inputs_if_wanted() -> None:
    """Some arrays hold NaN, infinities and denormal numbers; without them all are finite."""
    wanted = [Parameter("64xf32")] * 40
    assert any(np.isnan(array).any() for array in inputs_for(wanted, 0))
    assert all(np.isfinite(array).all() for array in inputs_for(wanted, 0, specials=False))


def test_programs_are_written_with_their_inputs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`portable fuzz generate` writes a folder; what a program is does not depend on how many."""
    words = ["fuzz", "generate", "--seed", "5", "-q", "--count"]
    for count in "13":
        assert main([*words, count, "-o", str(tmp_path / count)]) == 0
    names = sorted(path.name for path in (tmp_path / "3").iterdir())
    assert names == [f"5-00000{n}.{end}" for n in range(3) for end in ("mlir", "npz")]
    first = [(tmp_path / count / "5-000000.mlir").read_text() for count in "13"]
    assert first[0] == first[1] == generate("5/0").text
    arrays = load_arrays(tmp_path / "3" / "5-000000.npz")
    assert len(arrays) == len(generate("5/0").arguments)
    assert main([*words, "3", "-o", str(tmp_path / "3")]) == 2
    assert main(["fuzz", "generate"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert "destination exists" in said[0]
    assert "missing --output" in said[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("generate --hours 2", "--hours is only for hunt"),
        ("generate --cluster tcp://x:1", "--cluster is only for hunt"),
        ("generate --for jaxlib", "--for is only for hunt"),
        ("hunt --for jaxlib --count 3", "--count is only for generate"),
        ("hunt --for jaxlib --target 1.0.0", "--target is only for generate"),
        ("hunt", "--for is required by hunt"),
        ("generate --only revers", "unknown op 'revers'; did you mean 'reverse'?"),
        ("generate --only add nosuchop", "unknown op 'nosuchop'; ops are those of StableHLO"),
        ("hunt --for jaxlib --only revers", "unknown op 'revers'"),
    ],
)
def test_an_option_that_does_nothing_is_refused(
    words: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the other action, and ops that there are not; before anything is written."""
    place = tmp_path / "made"
    assert main(["fuzz", *words.split(), "-o", str(place)]) == 2
    assert said in capsys.readouterr().err
    assert not place.exists()
