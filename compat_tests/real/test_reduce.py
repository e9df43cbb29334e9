"""The reducer: small programs that are valid, that the condition holds of, whatever happens."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import portable
from portable.cli import main
from portable.fuzz import (
    Candidate,
    ConditionNeverHolds,
    ConditionNotStable,
    generate,
    inputs_for,
    reduce,
)
from portable.fuzz.edits import KINDS, counts, edited
from portable.runtime.executors import signature
from portable.runtime.executors.signature import check_inputs

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "encoder.mlir"
IN_REGIONS = """
func.func private @f(%a: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.sine %a : tensor<4xf64>
  %1 = stablehlo.tan %0 : tensor<4xf64>
  return %1 : tensor<4xf64>
}
func.func @main(%p: tensor<i1>, %a: tensor<4xf64>) -> (tensor<4xf64>, tensor<f64>) {
  %0 = "stablehlo.if"(%p) ({
    %1 = func.call @f(%a) : (tensor<4xf64>) -> tensor<4xf64>
    stablehlo.return %1 : tensor<4xf64>
  }, {
    stablehlo.return %a : tensor<4xf64>
  }) : (tensor<i1>) -> tensor<4xf64>
  %c = stablehlo.constant dense<2.0> : tensor<f64>
  %2 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf64>, tensor<f64>) -> tensor<f64>
  return %0, %2 : tensor<4xf64>, tensor<f64>
}
"""


@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_is_what_the_condition_is_about(seed: int) -> None:
    """Of 15 ops with all they have inside, few are left when one has to be there."""
    made = generate(f"reduce {seed}", ops=15)
    op = f"stablehlo.{made.forms[7].partition('/')[0]}"
    if op == "stablehlo.call":
        op = "call @"
    given = inputs_for(made.arguments, seed)
    found = reduce(made.text, lambda one: op in one.text, inputs=given)
    assert op in found.smallest.text
    assert found.smallest.ops <= 5
    artifact = portable.serialize(found.smallest.text, "current")
    assert found.smallest.inputs is not None
    check_inputs(found.smallest.inputs, signature(artifact))


def test_regions_calls_results_sizes_and_types_are_taken_away() -> None:
    """What remains of a call in a branch is the op that matters, of one element, in f32."""
    found = reduce(IN_REGIONS, lambda one: "stablehlo.tan" in one.text)
    text = found.smallest.text
    assert (found.ops, found.smallest.ops) == (7, 1)
    assert "if" not in text
    assert "call" not in text
    assert "tensor<1xf32>" in text


def test_the_body_of_a_reduce_is_left_alone_on_demand() -> None:
    """Another body may mean another thing in another order."""
    kept = reduce(IN_REGIONS, lambda one: "stablehlo.reduce" in one.text, bodies=False)
    assert "applies stablehlo.add" in kept.smallest.text
    changed = reduce(IN_REGIONS, lambda one: "stablehlo.reduce" in one.text)
    assert "stablehlo.add" not in changed.smallest.text


@pytest.mark.parametrize("kind", KINDS)
def test_every_edit_leaves_a_valid_program(kind: str) -> None:
    """One at a time, over programs that have everything; what it changed is another program."""
    changed = 0
    for seed in range(4):
        text = IN_REGIONS if seed == 0 else generate(f"edits {seed}", ops=8).text
        for number in range(counts(text)[kind]):
            made = edited(text, kind, [number])
            if made is not None:
                changed += 1
                assert counts(made.text) is not None
                assert len(made.takes) == len(made.kept)
    assert changed or kind == "unused"


def test_a_program_that_jax_exported_is_reduced() -> None:
    """A real one of 100 ops and more, read from its file."""
    found = reduce(EXAMPLE, lambda one: "stablehlo.dot_general" in one.text)
    assert found.ops > 50
    assert found.smallest.ops <= 3


def test_a_condition_that_never_holds_is_an_error() -> None:
    """Nothing is tried."""
    with pytest.raises(ConditionNeverHolds, match="does not hold of the program itself"):
        reduce(IN_REGIONS, lambda _: False)


def test_a_condition_that_holds_sometimes_is_an_error() -> None:
    """What it would lead to is no reproducer."""
    turns = itertools.cycle([True, False])
    lock = threading.Lock()

    def sometimes(_: Candidate) -> bool:
        with lock:
            return next(turns)

    with pytest.raises(ConditionNotStable, match="held 2 of 3 times"):
        reduce(IN_REGIONS, sometimes)


def test_a_program_that_cannot_be_read_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, with its name."""
    (tmp_path / "bad.mlir").write_text("func.func @main( {")
    words = ["reduce", str(tmp_path / "bad.mlir"), "--check", "true"]
    assert main([*words, "-o", str(tmp_path / "small.mlir")]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "bad.mlir:1:" in said
    assert main(words) == 2
    assert "missing --output" in capsys.readouterr().err


def test_the_program_in_a_container_is_reduced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is one; of several it is not known which."""
    small = tmp_path / "small.mlir"
    words = ["--check", "grep -q stablehlo.tanh {}", "-o", str(small), "-q"]
    containers = Path(__file__).parents[1] / "data" / "containers"
    assert main(["reduce", str(containers / "gate-vjp0-jax-0.10.2.exported"), *words]) == 0
    assert "stablehlo.tanh" in small.read_text()
    assert main(["reduce", str(containers / "gate-vjp1-jax-0.10.2.exported"), *words]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "has 2 programs" in said
    assert "portable inspect" in said


def test_a_command_is_the_condition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It gets the program and its inputs, runs here, and may not take for ever."""
    words = [*_with_inputs(tmp_path)[:-2], "-o", str(tmp_path / "small.mlir")]
    check = "grep -q 'stablehlo.sine' {} && test -s {inputs}"
    assert main([*words, "--check", check]) == 0
    assert "1 of " in capsys.readouterr().out
    assert portable.minimum(tmp_path / "small.mlir").version is not None
    assert (tmp_path / "small.npz").exists()
    assert main([*words, "--check", "sleep 60", "--timeout", "0.2"]) == 2
    assert "does not hold" in capsys.readouterr().err


def _with_inputs(folder: Path) -> list[str]:
    made = generate("command", ops=6, only=["add", "sine"], elements=["f32"])
    (folder / "p.mlir").write_text(made.text)
    arrays = portable.runtime.executors.tensors.stored_arrays(inputs_for(made.arguments, 0))
    (folder / "p.npz").write_bytes(arrays)
    words = ["reduce", str(folder / "p.mlir"), "--inputs", str(folder / "p.npz")]
    return [*words, "-q", "--check", "grep -q 'stablehlo.sine' {}"]


@pytest.mark.parametrize("output", ["p.bc", "small.npz"])
def test_inputs_are_written_over_nothing(
    output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not over the given inputs, nor over the program that is written: refused before it begins."""
    words = _with_inputs(tmp_path)
    given = (tmp_path / "p.npz").read_bytes()
    assert main([*words, "-o", str(tmp_path / output)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert (tmp_path / "p.npz").read_bytes() == given
    assert not (tmp_path / output).exists()


def test_a_signal_between_both_files_leaves_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program and its inputs fit together: what has begun to be written is written whole."""
    words = _with_inputs(tmp_path)
    written: list[Path] = []

    def slowly(path: Path, data: bytes) -> None:
        Path(path).write_bytes(data)
        if path.parent == tmp_path and not written:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.2)
        written.extend([path] * (path.parent == tmp_path))

    monkeypatch.setattr("portable.cli.reduce.write_file", slowly)
    # What runs in the background of a script ignores it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main([*words, "-o", str(tmp_path / "small.mlir")]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert written == [tmp_path / "small.mlir", tmp_path / "small.npz"]


def test_an_interruption_keeps_the_smallest(tmp_path: Path) -> None:
    """The file is there at any time, whole, and the command succeeds on it."""
    output = tmp_path / "small.mlir"
    check = "sleep 0.05; grep -q dot_general {}"
    words = [sys.executable, "-m", "portable", "reduce", str(EXAMPLE), "--check", check]
    with subprocess.Popen([*words, "-o", str(output), "-q"], start_new_session=True) as process:
        until = time.monotonic() + 60
        while not output.exists() and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(30) == 128 + signal.SIGTERM
    assert "dot_general" in output.read_text()
    portable.serialize(output, "current")


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("false", "it exited with 1"),
        ("no_such_command {}", "it exited with 127"),
        ("sleep 60", "it was stopped after 0.5 s (--timeout)"),
        (" ", "--check must be a non-empty command"),
    ],
)
def test_why_a_command_does_not_succeed(
    check: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error says how the command ended, and nothing is written."""
    (tmp_path / "p.mlir").write_text(IN_REGIONS)
    small = tmp_path / "small.mlir"
    words = ["reduce", str(tmp_path / "p.mlir"), "--check", check, "--timeout", "0.5"]
    assert main([*words, "-o", str(small)]) == 2
    assert said in capsys.readouterr().err
    assert not small.exists()
