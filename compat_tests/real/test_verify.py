"""Artifacts that compute the same, and artifacts that do not, on real Releases."""

from __future__ import annotations

import json
from importlib.metadata import version as installed
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from compat_tests.helpers.terminal import on_terminal
from portable.cli import main
from portable.cli import pin as cli_pin
from portable.cli.program import in_child
from portable.pinning.pipeline import pin, retarget, serialize
from portable.runtime.executors import (
    ExecutionFailed,
    InputMismatch,
    Tolerance,
    find_executor,
    signature,
)
from portable.runtime.executors.tensors import load_arrays, stored_arrays
from portable.runtime.verification import NothingCompared, verify
from portable.verdict import Basis, Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from portable.runtime.environments import Environment

    Release = Callable[[str], Environment]

HERE = installed("jaxlib")
PROGRAM = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %sum = stablehlo.add %x, %y : tensor<4xf32>
  %difference = stablehlo.subtract %sum, %y : tensor<4xf32>
  %result = stablehlo.tanh %difference : tensor<4xf32>
  return %result : tensor<4xf32>
}
"""
# The planted change: the operands of one op are swapped.
SWAPPED = PROGRAM.replace("subtract %sum, %y", "subtract %y, %sum")
ADDED = """
func.func @main() -> tensor<2xi1> {
  %one = stablehlo.constant dense<true> : tensor<2xi1>
  %sum = stablehlo.add %one, %one : tensor<2xi1>
  return %sum : tensor<2xi1>
}
"""
# Reads a boolean constant twice over: what jaxlib 0.9.1 computes wrongly.
COUNT = """
func.func @main() -> tensor<16xi32> {
  %yes = stablehlo.constant dense<true> : tensor<16xi1>
  %ones = stablehlo.convert %yes : (tensor<16xi1>) -> tensor<16xi32>
  return %ones : tensor<16xi32>
}
"""
# The same without the constant.
ONES = """
func.func @main() -> tensor<16xi32> {
  %ones = stablehlo.constant dense<1> : tensor<16xi32>
  return %ones : tensor<16xi32>
}
"""


def test_retargeting_keeps_the_meaning(example: Path, tmp_path: Path) -> None:
    """The real programs, pinned low, compute equal bits: by the command a release engineer runs."""
    pinned = tmp_path / "pinned.mlir.bc"
    pinned.write_bytes(serialize(example, "1.0.0").data)
    assert main(["verify", str(pinned), "--against", str(example), "--seeds", "1"]) == 0


def test_pin_verifies_in_one_go(example: Path, tmp_path: Path, capsys: Any) -> None:
    """`pin --verify` says what it executed on, and writes the artifact."""
    out = tmp_path / "out.mlir.bc"
    words = ["pin", str(example), "--target", "1.0.0", "--verify", "-o", str(out)]
    assert main([*words, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)["verification"]
    assert told["same"]
    assert len(told["trials"]) == 3
    assert out.exists()


def test_pin_writes_nothing_that_computes_otherwise(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipeline with a planted defect is caught: exit code 1, the op, and no file."""
    program, out = tmp_path / "p.mlir", tmp_path / "out.mlir.bc"
    program.write_text(PROGRAM)
    broken = pin(SWAPPED, "1.0.0")

    def defective(function: Any, *arguments: Any, **keywords: Any) -> Any:
        return broken if function is pin else in_child(function, *arguments, **keywords)

    monkeypatch.setattr(cli_pin, "in_child", defective)
    assert main(["pin", str(program), "--target", "1.0.0", "--verify", "-o", str(out)]) == 1
    assert "first difference: stablehlo.subtract" in capsys.readouterr().out
    assert not out.exists()


def test_a_planted_change_is_found_and_located(tmp_path: Path, capsys: Any) -> None:
    """Two operands swapped in a retargeted artifact: the verdict names the op and its line."""
    before, after = tmp_path / "before.mlir.bc", tmp_path / "after.mlir.bc"
    before.write_bytes(serialize(PROGRAM, "1.9.0").data)
    after.write_bytes(retarget(serialize(SWAPPED, "1.9.0"), "1.0.0").data)
    assert main(["verify", str(after), "--against", str(before), "--format", "json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)["files"]
    assert told["verdict"]["outcome"] == "wrong-result"
    assert told["verdict"]["stage"] == "execute"
    assert told["located"].startswith("stablehlo.subtract at ")
    assert told["trials"][0]["outputs"][0]["different"] == 4
    assert main(["verify", str(after), "--against", str(before)]) == 1
    assert "first difference: stablehlo.subtract at " in capsys.readouterr().out


CALLING = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %once = func.call @outer(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %result = stablehlo.composite "test.inner" %once, %y {decomposition = @inner}
    : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
func.func private @outer(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %sum = stablehlo.add %x, %y : tensor<4xf32>
  %called = func.call @inner(%sum, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %called : tensor<4xf32>
}
func.func private @inner(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %double = stablehlo.add %x, %x : tensor<4xf32>
  %difference = stablehlo.subtract %double, %y : tensor<4xf32>
  return %difference : tensor<4xf32>
}
"""
LOOPING = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %sum = stablehlo.add %x, %y : tensor<4xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n, %end = stablehlo.while(%i = %zero, %v = %sum) : tensor<i32>, tensor<4xf32>
  cond {
    %less = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %difference = stablehlo.subtract %v, %y : tensor<4xf32>
    stablehlo.return %next, %difference : tensor<i32>, tensor<4xf32>
  }
  return %end : tensor<4xf32>
}
"""


@pytest.mark.parametrize(
    ("program", "before", "after", "located"),
    [
        (CALLING, "subtract %double, %y", "subtract %y, %double", "stablehlo.subtract at "),
        (
            CALLING,
            "%double = stablehlo.add %x, %x",
            "%double = stablehlo.add %x, %y",
            "stablehlo.add at ",
        ),
        (LOOPING, "subtract %v, %y", "subtract %y, %v", "stablehlo.while at "),
    ],
)
def test_a_change_is_located_in_what_is_called_and_in_regions(
    program: str, before: str, after: str, located: str
) -> None:
    """The op in the function that is called, or in the body of the loop, is named with its line."""
    changed = program.replace(before, after)
    line = next(n for n, text in enumerate(changed.splitlines(), 1) if after in text)
    verification = verify(serialize(program, "1.0.0"), serialize(changed, "1.0.0"), seeds=(0,))
    assert verification.verdict.outcome is Outcome.WRONG_RESULT
    assert verification.located.startswith(located)
    assert f":{line}:" in verification.located
    if program is LOOPING:
        assert ", in it stablehlo.subtract at " in verification.located
    assert verify(serialize(program, "1.9.0"), serialize(program, "0.19.0"), seeds=(0,)).same


DYNAMIC = """
func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %sum = stablehlo.add %x, %y : tensor<?x3xf32>
  %difference = stablehlo.subtract %sum, %y : tensor<?x3xf32>
  return %difference : tensor<?x3xf32>
}
"""


def test_a_change_is_located_where_shapes_are_unknown(tmp_path: Path, capsys: Any) -> None:
    """A dynamic program on the interpreter: the swapped op, in text and in JSON."""
    changed = DYNAMIC.replace("subtract %sum, %y", "subtract %y, %sum")
    before, after = tmp_path / "before.mlir.bc", tmp_path / "after.mlir.bc"
    before.write_bytes(serialize(DYNAMIC, "1.9.0").data)
    after.write_bytes(retarget(serialize(changed, "1.9.0"), "1.0.0").data)
    words = ["verify", str(after), "--against", str(before), "--executor", "interpreter"]
    assert main(words) == 1
    assert "first difference: stablehlo.subtract at " in capsys.readouterr().out
    assert main([*words, "--format", "json"]) == 1
    (told,) = json.loads(capsys.readouterr().out)["files"]
    assert told["located"].startswith("stablehlo.subtract at ")
    assert ":4:" in told["located"]
    after.write_bytes(retarget(serialize(DYNAMIC, "1.9.0"), "1.0.0").data)
    assert main(words) == 0


def test_a_verification_is_observed() -> None:
    """Equal artifacts are compatible at Stage `execute`, with one trial for each seed."""
    artifact = serialize(PROGRAM, "1.9.0")
    verification = verify(artifact, retarget(artifact, "0.9.0"), seeds=(3, 4), specials=True)
    verdict = verification.verdict
    assert (verdict.outcome, verdict.stage) == (Outcome.COMPATIBLE, Stage.EXECUTE)
    assert verdict.basis is Basis.OBSERVED
    assert [trial.inputs for trial in verification.trials] == ["seed 3", "seed 4"]


def test_a_tolerance_is_stated_or_bits_are_equal() -> None:
    """A program that rounds otherwise differs by bits, and not within its tolerance."""
    artifact = serialize(PROGRAM, "1.0.0")
    other = serialize(
        PROGRAM.replace("subtract %sum, %y", "add %x, %zero").replace(
            "%sum =", "%zero = stablehlo.constant dense<0.0> : tensor<4xf32>\n  %sum ="
        ),
        "1.0.0",
    )
    assert not verify(artifact, other).same
    assert verify(artifact, other, tolerance=Tolerance(relative=1e-5, absolute=1e-6)).same


def test_a_wrong_release_is_found(release: Release) -> None:
    """On jaxlib 0.9.1 a boolean constant is not what it is on others."""
    found = {}
    for version in ("0.9.1", "0.10.2"):
        with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
            one, other = (serialize(p, "1.0.0", locations="strip") for p in (ONES, COUNT))
            found[version] = verify(one, other, executor=executor, seeds=(0,)).verdict
    assert found["0.9.1"].outcome is Outcome.WRONG_RESULT
    assert "16 of 16 elements differ; first [0]: 1 became 255" in found["0.9.1"].reason
    assert found["0.10.2"].outcome is Outcome.COMPATIBLE


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 0, "the same outputs for seed 0"),
        (("--reference", "interpreter"), 1, f"against jaxlib {HERE} (interpreter): output"),
        (("--reference-on", "jaxlib 0.9.1"), 0, "seed 0, against jaxlib 0.9.1 (pjrt)"),
        (("--reference", "interpreter", "--reference-on", "jaxlib 0.9.1"), 1, "stablehlo.add"),
    ],
)
def test_what_one_computes_is_compared_with_another(
    words: tuple[str, ...], code: int, told: str, tmp_path: Path, capsys: Any
) -> None:
    """XLA adds constant booleans to false; the interpreter, as specified, to true."""
    program = tmp_path / "p.mlir"
    program.write_text(ADDED)
    named = ["verify", str(program), "--against", str(program), "--seeds", "1"]
    assert main([*named, *words]) == code
    assert told in capsys.readouterr().out


def test_what_cannot_be_executed(release: Release) -> None:
    """If what it became cannot run that is its Verdict; if what it was cannot, nothing is known."""
    old, new = (serialize(PROGRAM, target, locations="strip") for target in ("0.13.0", "1.9.0"))
    with find_executor("pjrt", release("jaxlib 0.4.13")) as executor:
        assert verify(old, new, executor=executor).verdict.outcome is Outcome.INCOMPATIBLE
        with pytest.raises(ExecutionFailed, match=r"jaxlib 0\.4\.13"):
            verify(new, old, executor=executor)
    with pytest.raises(InputMismatch):
        verify(old, new, inputs=[])


def test_other_signatures_differ() -> None:
    """Programs that take or return other things cannot compute the same."""
    other = serialize(PROGRAM.replace("4xf32", "5xf32"), "1.0.0")
    verification = verify(serialize(PROGRAM, "1.0.0"), other)
    assert verification.verdict.outcome is Outcome.WRONG_RESULT
    assert "the signatures of main differ" in verification.verdict.reason


SCATTERED = """
func.func @main(%a: tensor<9xf32>, %b: tensor<6xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>)
    -> (tensor<6xf32>, tensor<6xf32>) {
  %c = stablehlo.slice %a [0:6] : (tensor<9xf32>) -> tensor<6xf32>
  %0:2 = "stablehlo.scatter"(%c, %b, %i, %u, %u) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):
      stablehlo.return %r, %s : tensor<f32>, tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<6xf32>, tensor<6xf32>, tensor<2x1xi32>, tensor<2xf32>, tensor<2xf32>)
    -> (tensor<6xf32>, tensor<6xf32>)
  return %0#0, %0#1 : tensor<6xf32>, tensor<6xf32>
}
"""


def test_a_scatter_of_several_has_its_indices_in_the_middle() -> None:
    """Its random indices are in range of what it scatters into."""
    assert signature(serialize(SCATTERED, "1.0.0")).index_bounds == {"i32": 6}


def test_run_keeps_outputs(tmp_path: Path) -> None:
    """`portable run` reads and writes .npz files; outputs can be inputs again, bfloat16 too."""
    program = tmp_path / "p.mlir"
    program.write_text(PROGRAM.replace("xf32", "xbf16"))
    first, second = tmp_path / "1.npz", tmp_path / "2.npz"
    assert main(["run", str(program), "--random", "7", "-o", str(first)]) == 0
    (result,) = load_arrays(first).values()
    assert result.dtype.name == "bfloat16"
    assert np.isfinite(result.astype(np.float32)).all()
    inputs = tmp_path / "in.npz"
    inputs.write_bytes(stored_arrays([result, result]))
    assert main(["run", str(program), "--inputs", str(inputs), "-o", str(second)]) == 0
    (again,) = load_arrays(second).values()
    near = np.tanh(result.astype(np.float32))
    assert np.allclose(again.astype(np.float32), near, rtol=0.1, atol=0.05)


def test_a_terminal_is_told_what_goes_on(example: Path) -> None:
    """With rich on a terminal; standard output stays clean, and the verdict is the same."""
    pytest.importorskip("rich")
    shown = on_terminal(["verify", str(example), "--against", str(example)])
    assert shown.code == 0
    assert "compatible: computes the same: the same outputs" in shown.out
    assert b"executing " in shown.terminal
    assert "executing" not in shown.out


def test_bad_usage_is_told(tmp_path: Path, capsys: Any) -> None:
    """Exit code 2 and one line: no inputs, pickles, one artifact alone."""
    program = tmp_path / "p.mlir"
    program.write_text(PROGRAM)
    pickled = tmp_path / "p.npz"
    np.savez(pickled, np.array([{}], dtype=object))
    for words, told in (
        (["run", str(program)], "missing inputs: main takes 2; give --inputs"),
        (["run", str(program), "--inputs", str(pickled)], "not an .npz file of plain arrays"),
        (["verify", str(program)], "required: --against"),
    ):
        assert main(words) == 2
        assert told in capsys.readouterr().err


def test_comparing_on_nothing_proves_nothing() -> None:
    """Without inputs and seeds there would be no difference between any two programs."""
    artifact = serialize("func.func @main() { return }", "1.0.0")
    with pytest.raises(NothingCompared, match="at least one seed"):
        verify(artifact, artifact, seeds=())


TANGENT = """func.func @main(%a: tensor<64xKIND>) -> tensor<64xKIND> {
  %0 = stablehlo.tan %a : tensor<64xKIND>
  return %0 : tensor<64xKIND>
}"""


@pytest.mark.parametrize(
    ("kind", "options"), [("f32", "--ulps 2"), ("complex<f32>", "--ulps 16 --atol 9.53674e-07")]
)
def test_a_difference_that_a_rewrite_allows_is_explained(kind: str, options: str) -> None:
    """`pin` writes a tangent as sine over cosine: the bits differ, and the option is named."""
    before = serialize(TANGENT.replace("KIND", kind), "current")
    after = serialize(TANGENT.replace("KIND", kind), "1.0.0")
    found = verify(before, after)
    assert not found.same
    assert [one.name for one in found.rewrites] == ["tan_v1"]
    assert found.explained.endswith(f"accept it with {options}")
    assert found.record()["explained"] == found.explained
    assert found.accepting
    assert verify(before, after, tolerance=found.accepting).same


def test_a_difference_that_no_rewrite_allows_is_not_excused() -> None:
    """Another function in its place is a wrong result, whatever was rewritten besides."""
    before = serialize(TANGENT.replace("KIND", "f32"), "current")
    other = serialize(TANGENT.replace("KIND", "f32").replace("tan ", "sine "), "1.0.0")
    found = verify(before, other)
    assert "--ulps" not in found.explained
    assert found.explained.startswith("more than rewriting one op allows")
    same = serialize(TANGENT.replace("KIND", "f32").replace("tan ", "cosine "), "1.0.0")
    assert verify(same, other).explained == ""
