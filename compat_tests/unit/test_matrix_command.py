"""`portable matrix` as it is typed: what it refuses, and what its exit code says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat_tests.helpers.matrices import sample
from portable.cli import main
from portable.matrix.document import dump

CASE = str(Path(__file__).parents[2] / "corpus" / "elementwise" / "abs_f32")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "missing PATH or --for"),
        ([CASE], "missing PATH or --for"),
        ([CASE, "--for", "jaxlib==0.0.1"], "jaxlib"),
        ([CASE, "--for", "no-such-thing>=1"], "no-such-thing"),
        (["nowhere.mlir.bc", "--for", "jaxlib"], "nowhere.mlir.bc: no such file"),
        (["--merge", __file__], "not a matrix"),
        ([CASE, "--for", "jaxlib", "--stage", "execute", "--inputs", "no.npz"], "no.npz"),
    ],
)
def test_what_cannot_be_run_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A mistake is told in one line with exit code 2, before anything is made or written."""
    code = main(["matrix", *words, "--cache", str(tmp_path / "store.sqlite")])
    error = capsys.readouterr().err
    assert code == 2
    assert said in error
    assert error.count("\n") == 1
    assert "Traceback" not in error


def test_a_file_that_is_no_result_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Of several results, the one that is none is named."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(dump(sample()))
    bad.write_text('{"schema": 99}')
    assert main(["matrix", "--merge", str(good), str(bad)]) == 2
    assert "bad.json" in capsys.readouterr().err


def test_results_are_merged_and_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--merge` reports on earlier results; the ending of FILE says how, the exit code what."""
    result, page = tmp_path / "result.json", tmp_path / "page.html"
    result.write_text(dump(sample()))
    assert main(["matrix", "--merge", str(result), str(result), "-o", str(page)]) == 1
    assert "<html" in page.read_text()
    assert main(["matrix", "--merge", str(result), "--judge", "predicted", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["schema"] == 2
