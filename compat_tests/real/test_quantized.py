"""Quantized programs as arithmetic compute what numpy does by the specification's formulas.

No Executor runs quantized types. By the specification a value is divided by the scale, rounded to
the nearest even, moved by the zero point and clamped; upstream's pass moves it before it rounds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portable
from portable.bindings import LibraryError
from portable.cli import main
from portable.corpus import find_case
from portable.pinning.rewrites import DoesNotApply, NothingToDo
from portable.runtime.executors import Executor, random_inputs, signature

CORPUS = Path(__file__).parents[2] / "corpus"
REWRITE = "quantized-to-arithmetic"
# Upstream's pass takes none that expresses another type than f32.
OTHERS = {f"uniform_quantize_i8_{kind}" for kind in ("bf16", "bf16_per_axis", "f16", "f64")}
PROGRAMS = sorted({one.name for one in (CORPUS / "quantized").iterdir()} - OTHERS)


def quantized(values: Any, scale: Any, zero: Any, low: int = -128, high: int = 127) -> Any:
    """Quantize as specified."""
    steps = np.rint(np.float32(values) / np.float32(scale)) + np.float32(zero)
    return np.clip(steps, low, high).astype(np.int32)


def expressed(steps: Any, scale: Any, zero: Any) -> Any:
    """Dequantize as specified."""
    return (steps - np.int32(zero)).astype(np.float32) * np.float32(scale)


def arithmetic(program: str, target: str = "0.9.0") -> portable.Artifact:
    """Rewrite a program, for a target that lacks quantized types of one scale for each slice."""
    artifact = portable.serialize(program, target, allow=[REWRITE])
    assert b"quant" not in artifact.data
    return artifact


QUANTIZE = """
!x = !quant.uniform<i8:f32, 0.5:ZERO>
func.func @main(%a: tensor<1001xf32>) -> tensor<1001x!x> {
  %0 = stablehlo.uniform_quantize %a : (tensor<1001xf32>) -> tensor<1001x!x>
  return %0 : tensor<1001x!x>
}"""


@pytest.mark.parametrize("zero", [-4, 0, 3])
def test_only_ties_are_quantized_otherwise(zero: int, pjrt: Executor) -> None:
    """By one step, and where the zero point is odd: half steps, and beyond both ends."""
    values = np.arange(-500, 501, dtype=np.float32) / 8
    artifact = arithmetic(QUANTIZE.replace("ZERO", str(zero)))
    (made,) = portable.run(artifact, [values], pjrt)
    apart = np.abs(made.astype(np.int32) - quantized(values, 0.5, zero))
    ties = np.abs(values / 0.5 % 1) == 0.5
    assert apart[~ties].max() == 0
    assert apart[ties].max() == zero % 2


LINEAR = """
!x = !quant.uniform<i8:f32, 0.05:-3>
!w = !quant.uniform<i8<-127:127>:f32:1, {0.02:0, 0.03:0, 0.04:0}>
!y = !quant.uniform<i8:f32, 0.1:4>
func.func @main(%a: tensor<8x16xf32>, %w: tensor<16x3x!w>, %b: tensor<8x3x!y>)
    -> (tensor<8x3x!y>, tensor<8x3xf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<8x16xf32>) -> tensor<8x16x!x>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
    : (tensor<8x16x!x>, tensor<16x3x!w>) -> tensor<8x3x!y>
  %2 = stablehlo.add %1, %b : tensor<8x3x!y>
  %3 = stablehlo.tanh %2 : tensor<8x3x!y>
  %4 = stablehlo.uniform_dequantize %3 : (tensor<8x3x!y>) -> tensor<8x3xf32>
  return %2, %4 : tensor<8x3x!y>, tensor<8x3xf32>
}"""


def test_a_layer_with_a_scale_for_each_channel_is_a_step_away_at_most(pjrt: Executor) -> None:
    """Product, bias and tanh, in steps of 0.1, for a hundred inputs."""
    artifact = arithmetic(LINEAR)
    executable = pjrt.compile(artifact)
    scales = np.array([0.02, 0.03, 0.04], np.float32)
    differing = 0
    for seed in range(100):
        generator = np.random.default_rng(seed)
        a = generator.normal(0, 1, (8, 16)).astype(np.float32)
        w = generator.integers(-127, 128, (16, 3)).astype(np.int8)
        b = generator.integers(-20, 20, (8, 3)).astype(np.int8)
        x = expressed(quantized(a, 0.05, -3), 0.05, -3)
        product = x.astype(float) @ expressed(w.astype(np.int32), scales, 0).astype(float)
        y = expressed(quantized(product, 0.1, 4), 0.1, 4)
        total = quantized(y + expressed(b.astype(np.int32), 0.1, 4), 0.1, 4)
        squashed = expressed(quantized(np.tanh(expressed(total, 0.1, 4)), 0.1, 4), 0.1, 4)
        made, activated = executable.run([a, w, b])
        apart = np.abs(made.astype(np.int32) - total)
        assert apart.max() <= 1
        assert np.abs(activated - squashed).max() < 0.1 * 1.01
        differing += int((apart > 0).sum())
    assert differing < 24  # of 2,400


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_of_the_corpus_compiles(name: str, pjrt: Executor) -> None:
    """None does as it is; arguments and results are of their storage types afterwards."""
    program = find_case(CORPUS, name).program
    artifact = arithmetic(program, "1.2.0")  # which has two bits
    given = random_inputs(signature(artifact), 0)
    assert portable.run(artifact, given, pjrt)
    with pytest.raises(portable.PortableError):
        portable.run(portable.serialize(program), given, pjrt)


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_other_expressed_types_are_refused(name: str) -> None:
    """As upstream's pass refuses them."""
    with pytest.raises(LibraryError, match="Unsupported input element type"):
        arithmetic(find_case(CORPUS, name).program)


CALLED = """
!x = !quant.uniform<i8:f32, 0.5:3>
func.func private @f(%a: tensor<4x!x>) -> tensor<4x!x> {
  return %a : tensor<4x!x>
}
func.func @main(%a: tensor<4x!x>) -> tensor<4x!x> {
  %0 = func.call @f(%a) : (tensor<4x!x>) -> tensor<4x!x>
  return %0 : tensor<4x!x>
}"""


def test_quantized_values_that_are_handed_to_functions_are_refused() -> None:
    """With the place of the call."""
    with pytest.raises(DoesNotApply, match=r"func\.call: upstream's pass takes no calls"):
        arithmetic(CALLED)


def test_a_program_without_quantized_types_has_nothing_to_do() -> None:
    """The name may be a mistake; `exact` does not do it."""
    plain = find_case(CORPUS, "add_f32").program
    with pytest.raises(NothingToDo, match=REWRITE):
        portable.serialize(plain, allow=[REWRITE])
    program = QUANTIZE.replace("ZERO", "3")
    assert b"quant" in portable.serialize(program, allow=["exact"]).data


def test_check_and_pin_say_what_is_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check` names the rewrite; `pin` that nothing was compared, and with --verify writes nothing.

    What it wrote is predicted to compute the same.
    """
    path, out = tmp_path / "a.mlir.bc", tmp_path / "b.mlir.bc"
    path.write_bytes(portable.serialize(QUANTIZE.replace("ZERO", "3")).data)
    on = ["--for", "jaxlib==0.10.2"]
    assert main(["check", str(path), *on, "--stage", "compile"]) == 1
    assert f"pin --allow {REWRITE} replaces it" in capsys.readouterr().out
    pin = ["pin", str(path), *on, "--allow", REWRITE, "-o", str(out)]
    assert main([*pin, "--verify"]) != 0
    assert not out.exists()
    capsys.readouterr()
    assert main(pin) == 0
    assert "not compared, as no Executor runs quantized types" in capsys.readouterr().out
    assert main(["check", str(out), *on, "--stage", "execute"]) == 0
