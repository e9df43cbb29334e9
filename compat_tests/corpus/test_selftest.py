"""Every check of the corpus fails when there is something to find: planted defects, one each."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from compat_tests.helpers.sealed import CASES, CORPUS, canonical_program, different, scanner
from compat_tests.helpers.truth import wrong_minimums
from portable.cli import main
from portable.corpus import SEALS, CorpusError, Seals, find_case, load_corpus
from portable.corpus.coverage import COVERAGE, Coverable, measure
from portable.corpus.making import Draft
from portable.corpus.tensors import load_tensor
from portable.releases import find_release
from portable.tolerance import Tolerance
from tools import new_case, seal
from tools.full_scan import load_minimums
from tools.new_case import gather_evidence, same
from tools.oracles import Native
from tools.programs import load_programs

SMALL = ("tanh_f32", "abs_i32", "fft_RFFT_f32")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a small sealed corpus that may be spoiled."""
    for name in SMALL:
        shutil.copytree(CASES[name].directory, tmp_path / CASES[name].family / name)
    (tmp_path / COVERAGE).write_text("", "utf-8")
    Seals.complete(tmp_path)
    assert main(["corpus", "verify", "--corpus", str(tmp_path)]) == 0
    return tmp_path


def test_seals_notice_a_changed_file(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One flipped bit of an artifact breaks its seal, and the command says so with exit code 1."""
    victim = next((corpus / "elementwise" / "tanh_f32" / "artifacts").iterdir())
    data = bytearray(victim.read_bytes())
    data[-1] ^= 1
    victim.write_bytes(data)
    (broken,) = Seals.load(corpus).verify()
    assert (corpus / broken.path, str(broken.defect)) == (victim, "changed")
    assert main(["corpus", "verify", "--corpus", str(corpus), "--format", "json"]) == 1
    assert victim.name in capsys.readouterr().out


def test_seals_notice_a_missing_and_an_added_file(corpus: Path) -> None:
    """A file without a seal and a seal without a file are both found."""
    folder = corpus / "elementwise" / "tanh_f32" / "artifacts"
    next(folder.iterdir()).rename(folder / "9.9.0+nobody-1.mlir.bc")
    assert sorted(str(broken.defect) for broken in Seals.load(corpus).verify()) == [
        "missing",
        "not sealed",
    ]


def test_sealing_refuses_to_forgive(corpus: Path) -> None:
    """The tool that seals never replaces a digest, nor an artifact that is there."""
    (corpus / "elementwise" / "tanh_f32" / "program.mlir").write_text("module {}", "utf-8")
    before = (corpus / SEALS).read_bytes()
    with pytest.raises(CorpusError, match="changed"):
        Seals.complete(corpus)
    assert (corpus / SEALS).read_bytes() == before
    case = find_case(corpus, "abs_i32")
    sealed = case.artifacts[0]
    distribution, _, version = sealed.producer.partition("-")
    job = seal.Job(case, str(sealed.target), b"")
    with pytest.raises(FileExistsError):
        seal.store(job, find_release(f"{distribution} {version}"), b"another")


def test_seals_may_be_added_and_nothing_else() -> None:
    """A new seal is fine; a seal that went away or got another digest is not."""
    before = "aa  one\nbb  two\n"
    assert seal.rewritten(before, before + "cc  three\n") == []
    assert seal.rewritten(before, "aa  one\ncc  two\n") == ["bb  two"]
    assert seal.rewritten(before, "aa  one\n") == ["bb  two"]


def test_a_renamed_folder_keeps_its_seals() -> None:
    """What MOVED names is looked for under its new name; its digest must be the same."""
    assert seal.rewritten("aa  abs_f32/x\n", "aa  elementwise/abs_f32/x\n") == []
    assert seal.rewritten("aa  abs_f32/x\n", "bb  elementwise/abs_f32/x\n") != []


def test_two_cases_never_have_one_name(corpus: Path) -> None:
    """Cases are known by their names, whatever family they are in."""
    shutil.copytree(corpus / "elementwise" / "tanh_f32", corpus / "shapes" / "tanh_f32")
    with pytest.raises(CorpusError, match="two Cases are named 'tanh_f32'"):
        load_corpus(corpus)


def test_coverage_notices_what_is_not_shown(corpus: Path) -> None:
    """A corpus of three Cases misses most of VHLO, and loses an op with its last artifact."""
    before = measure(corpus, load_corpus(corpus))
    assert not before.complete
    assert Coverable("op", "fft_v1") in before.shown
    assert Coverable("op", "cosine_v1") in before.missing
    shutil.rmtree(find_case(corpus, "fft_RFFT_f32").directory / "artifacts")
    after = measure(corpus, load_corpus(corpus))
    assert Coverable("op", "fft_v1") in after.missing
    assert main(["corpus", "coverage", "--corpus", str(corpus)]) == 1


def test_coverage_notices_a_stale_exclusion(corpus: Path) -> None:
    """An exclusion of something that is shown is itself a defect, and so is an unknown Case."""
    (corpus / COVERAGE).write_text(
        '[[excluded]]\nkind = "op"\nname = "fft_v1"\nreason = "hard"\n', "utf-8"
    )
    assert measure(corpus, load_corpus(corpus)).stale == (Coverable("op", "fft_v1"),)
    (corpus / COVERAGE).write_text('[[kind]]\nname = "x"\ncases = ["nobody"]\n', "utf-8")
    with pytest.raises(CorpusError, match="nobody"):
        measure(corpus, load_corpus(corpus))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("schema = 2", "schema = 3"),
        ("schema = 2\n", ""),
        ('oracle = "numpy"', 'oracle = "numpy"\nflavour = "odd"'),
        ('first = "0.9.0"', 'first = "soon"'),
        ('oracle = "numpy"', 'oracle = "portable"'),
        ("[tolerance]", "[tolerance"),
        ("relative = ", "relatively = "),
    ],
)
def test_loading_refuses_a_malformed_manifest(corpus: Path, old: str, new: str) -> None:
    """A wrong schema, an unknown or missing key, a bad value: each is an error, never ignored."""
    manifest = corpus / "elementwise" / "tanh_f32" / "case.toml"
    text = manifest.read_text("utf-8")
    assert old in text
    manifest.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(CorpusError):
        load_corpus(corpus)


def test_loading_refuses_a_wrong_tensor(corpus: Path) -> None:
    """A pickle, another dtype and a missing file are errors."""
    (tensor,) = find_case(corpus, "tanh_f32").inputs
    np.save(tensor.path, np.zeros(4, np.float64))
    with pytest.raises(CorpusError, match="float64"):
        load_tensor(tensor)
    np.save(tensor.path, np.array([{}], dtype=object))
    with pytest.raises(CorpusError, match="pickle"):
        load_tensor(tensor)
    tensor.path.unlink()
    with pytest.raises(CorpusError):
        load_tensor(tensor)


def test_backward_notices_another_program() -> None:
    """An artifact of another Case, and one that is cut short, are not the Case's program."""
    case, other = CASES["abs_f32"], CASES["floor_f32"]
    good = case.artifacts[0].path.read_bytes()
    assert different(case, [good, other.artifacts[0].path.read_bytes(), good[:-1]]) == [1, 2]


def test_backward_notices_a_lost_attribute() -> None:
    """Losing the precision of a dot, which changes no type, is noticed."""
    plain, precise = CASES["dot_general_precision_HIGH_DEFAULT"], CASES["dot_general_f32"]
    program = replace(plain, directory=precise.directory)
    assert canonical_program(program) != canonical_program(plain)
    algorithm = CASES["dot_general_algorithm_bf16_x3"].artifacts[0].path.read_bytes()
    assert different(CASES["dot_general_algorithm_bf16_x6"], [algorithm]) == [0]


def test_backward_notices_a_changed_location() -> None:
    """Cases about locations are compared with them."""
    point = CASES["location_file_line_col"].artifacts[0].path.read_bytes()
    assert different(CASES["location_file_line_col_zero"], [point]) == [0]


def test_minimum_truth_notices_a_wrong_answer() -> None:
    """If the scanned minimum were another one, the comparison would say so."""
    (program,) = (each for each in load_programs() if each.name == "tan_f32")
    truth = load_minimums()[program.name]
    assert wrong_minimums(scanner(), [(program, truth)]) == []
    assert wrong_minimums(scanner(), [(program, "1.5.0")])


@pytest.mark.parametrize(
    ("found", "expected", "tolerance", "agree"),
    [
        (np.float32(1), np.float32(1 + 1e-6), 1e-5, True),
        (np.float32(1), np.float32(1.001), 1e-5, False),
        (np.float32(1), np.float64(1), 1e-5, False),
        (np.int32(1), np.int32(2), 1.0, False),
        (np.float32("nan"), np.float32("nan"), 0.0, True),
        (np.zeros(2, np.float32), np.zeros(3, np.float32), 0.0, False),
    ],
)
def test_comparison_of_outputs_is_strict(
    found: object, expected: object, tolerance: float, agree: bool
) -> None:
    """Integers must be equal, types and shapes too; floats may differ by the tolerance."""
    limits = Tolerance(relative=tolerance, absolute=tolerance)
    assert same([np.asarray(found)], [np.asarray(expected)], limits) is agree


def test_making_a_case_refuses_a_wrong_oracle() -> None:
    """When numpy and a real executor contradict each other, no Case is made."""
    draft = Draft("wrong", "elementwise", CASES["abs_f32"].program, "a test", oracle="-np.abs(a)")
    with Native() as native, pytest.raises(AssertionError, match="is not"):
        gather_evidence(draft, scanner(), native)


def test_one_command_makes_a_case(tmp_path: Path) -> None:
    """A Case is scaffolded from one MLIR file, and one that is there is left alone."""
    program = tmp_path / "twice.mlir"
    program.write_text(CASES["abs_f32"].program.replace("abs %a", "negate %a"), "utf-8")
    words = ["twice", "--program", str(program), "--corpus", str(tmp_path)]
    assert new_case.main(words) == 0
    case = find_case(tmp_path, "twice")
    assert (str(case.first), str(case.oracle)) == ("0.9.0", "interpreter and XLA")
    assert len(case.agreeing) == 2
    (given,), (answer,) = case.inputs, case.expected
    assert np.array_equal(load_tensor(answer), -load_tensor(given))
    manifest = (case.directory / "case.toml").read_bytes()
    program.write_text("module {}", "utf-8")
    assert new_case.main(words) == 0
    assert (case.directory / "case.toml").read_bytes() == manifest


def test_command_needs_a_case_to_show(capsys: pytest.CaptureFixture[str]) -> None:
    """Bad usage of the command is exit code 2, with a hint."""
    assert main(["corpus", "show", "--corpus", str(CORPUS)]) == 2
    assert main(["corpus", "show", "nobody", "--corpus", str(CORPUS)]) == 2
    assert main(["corpus", "list", "--corpus", str(CORPUS / "nowhere")]) == 2
    assert "portable corpus list" in capsys.readouterr().err


def test_command_shows_and_lists(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON of the command tells what the manifest and the files say."""
    assert main(["corpus", "show", "tanh_f32", "--corpus", str(CORPUS), "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["expression"] == "np.tanh(a)"
    assert shown["artifacts"][0] == {"target": "0.9.0", "producer": "jaxlib-0.4.13"}
    assert main(["corpus", "list", "--corpus", str(CORPUS), "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["cases"]) == len(CASES)
