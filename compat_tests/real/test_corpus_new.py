"""A corpus of one's own: new makes a Case, seal seals it, verify and run take it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from portable.cli import main
from portable.corpus import Oracle, find_case
from portable.corpus.tensors import load_tensor
from portable.system.files import FileError

SUM = """func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %a, %b : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
CUSTOM = """func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @none(%a) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""


def _new(folder: Path, text: str, name: str = "ours") -> int:
    program = folder / "program.mlir"
    program.write_text(text, "utf-8")
    words = ["corpus", "new", name, "--program", str(program), "--corpus", str(folder / "corpus")]
    return main(words)


def test_new_seal_verify_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Expected is what numpy says; every other action takes the corpus as it takes ours."""
    assert _new(tmp_path, SUM) == 0
    corpus = tmp_path / "corpus"
    case = find_case(corpus, "ours")
    assert (case.oracle, case.family) == (Oracle.INTERPRETER_AND_XLA, "own")
    a, b = map(load_tensor, case.inputs)
    np.testing.assert_array_equal(load_tensor(case.expected[0]), a + b)
    assert len(case.artifacts) == 2
    assert str(case.artifacts[0].target) == str(case.first) == "0.9.0"
    for action in ("seal", "verify", "run"):
        assert main(["corpus", action, "--corpus", str(corpus)]) == 0, action
    assert "1 computed" in capsys.readouterr().out


def test_what_cannot_be_executed_has_no_expected_outputs(tmp_path: Path) -> None:
    """The manifest says who could not, and why."""
    assert _new(tmp_path, CUSTOM) == 0
    case = find_case(tmp_path / "corpus", "ours")
    assert case.oracle is Oracle.NONE
    assert not case.expected
    assert "interpreter" in case.reason


@pytest.mark.parametrize("name", ["../ours", "a/b", "", "."])
def test_a_name_is_no_path(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written outside of the corpus."""
    assert _new(tmp_path, SUM, name) == 2
    assert not (tmp_path / "corpus").exists()
    assert "name" in capsys.readouterr().err


def test_a_case_is_there_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What ends the writing of one leaves nothing in the corpus, and the next try makes it."""

    def full(path: Path, data: bytes) -> None:
        raise FileError("cannot write: no space left on device", where=f"{path}: {len(data)}")

    with monkeypatch.context() as patched:
        patched.setattr("portable.corpus.making.write_file", full)
        assert _new(tmp_path, SUM) == 2
    assert "no space left" in capsys.readouterr().err
    assert not list((tmp_path / "corpus").rglob("*ours*"))
    assert not list((tmp_path / "corpus" / "own").iterdir())
    assert _new(tmp_path, SUM) == 0


def test_a_case_is_never_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second of the same name is refused."""
    assert _new(tmp_path, SUM) == 0
    assert _new(tmp_path, CUSTOM) == 2
    assert "a Case of this name exists" in capsys.readouterr().err
    assert find_case(tmp_path / "corpus", "ours").program == SUM
