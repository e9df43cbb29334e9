"""Quantized programs as arithmetic compute what numpy does by the specification's formulas.

No XLA runs quantized types. By the specification a value is divided by the scale, moved by the zero
point, rounded to the nearest even and clamped: in this order since openxla/stablehlo 2234 of 2024.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portable
from portable.cli import main
from portable.corpus import find_case
from portable.pinning.rewrites import DoesNotApply, NothingToDo
from portable.runtime.executors import Executor, find_executor, random_inputs, signature

CORPUS = Path(__file__).parents[2] / "corpus"
REWRITE = "quantized-to-arithmetic"
# None that expresses another type than f32 is taken.
OTHERS = {f"uniform_quantize_i8_{kind}" for kind in ("bf16", "bf16_per_axis", "f16", "f64")}
PROGRAMS = sorted({one.name for one in (CORPUS / "quantized").iterdir()} - OTHERS)


@pytest.fixture(scope="module")
def interpreter() -> Iterator[Executor]:
    """Return upstream's interpreter, which computes what the specification says."""
    with find_executor("interpreter") as executor:
        yield executor


def quantized(values: Any, scale: Any, zero: Any, low: int = -128, high: int = 127) -> Any:
    """Quantize as specified."""
    steps = np.rint(np.float32(values) / np.float32(scale) + np.float32(zero)).astype(float)
    return np.clip(steps, low, high).astype(np.int64)


def expressed(steps: Any, scale: Any, zero: Any) -> Any:
    """Dequantize as specified."""
    return (steps - np.int64(zero)).astype(np.float32) * np.float32(scale)


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
def test_ties_are_quantized_as_specified(zero: int, pjrt: Executor) -> None:
    """To the nearest even after the zero point is added: half steps, and beyond both ends."""
    values = np.arange(-500, 501, dtype=np.float32) / 8
    artifact = arithmetic(QUANTIZE.replace("ZERO", str(zero)))
    (made,) = portable.run(artifact, [values], pjrt)
    np.testing.assert_array_equal(made, quantized(values, 0.5, zero))


# The storage, what a type says of it, and the scale and zero point, or some for slices.
TYPES: dict[str, tuple[str, int, int, Any, Any]] = {
    "i8": ("i8", -128, 127, 0.5, 0),
    "i8 moved": ("i8", -128, 127, 0.1, -3),
    "i8 of large steps": ("i8", -128, 127, 1e5, 100),
    "i8 of some": ("i8<-10:10>", -10, 10, 0.3, 2),
    "u2": ("u2", 0, 3, 0.5, 1),
    "u4": ("u4", 0, 15, 0.25, 8),
    "u8": ("u8", 0, 255, 0.5, 128),
    "u8 from 0": ("u8", 0, 255, 0.1, 0),
    "u8 of some": ("u8<3:200>", 3, 200, 0.7, 100),
    "i16": ("i16", -(2**15), 2**15 - 1, 0.1, 7),
    "u16": ("u16", 0, 2**16 - 1, 0.01, 1000),
    "i32": ("i32", -(2**31), 2**31 - 1, 0.1, 0),
    "i32 of small steps": ("i32", -(2**31), 2**31 - 1, 1e-6, 5),
    "u32": ("u32", 0, 2**32 - 1, 0.1, 12),
    "i8 by slices": ("i8", -128, 127, [0.1, 0.2, 1e-3, 7.0], [0, 3, -100, 127]),
    "u8 by slices": ("u8", 0, 255, [0.1, 0.2, 1e-3, 7.0], [0, 3, 200, 255]),
}
NUMBERS = np.array(
    [
        [0.0, -0.0, 0.25, 0.75, -0.25, 1.25, -1.75, 0.05],
        [1e9, -1e9, 1e30, -1e30, np.inf, -np.inf, 3.3, -7.77],
        [12.34, 25.4, 25.5, 25.6, 63.5, 64.0, -64.0, 100.0],
        [2147.48, -2147.48, 2.14e8, -2.14e8, 4.2e8, 655.35, 1e-6, 1e-9],
    ],
    np.float32,
)
SHAPE = "4x8"


def written(name: str) -> str:
    """Return the type as text."""
    storage, _, _, scale, zero = TYPES[name]
    if isinstance(scale, list):
        pairs = ", ".join(f"{float(a):.9e}:{b}" for a, b in zip(scale, zero, strict=True))
        return f"!quant.uniform<{storage}:f32:0, {{{pairs}}}>"
    return f"!quant.uniform<{storage}:f32, {scale:.9e}:{zero}>"


def stored(name: str, values: Any) -> Any:
    """Return what is stored of values."""
    _, low, high, scale, zero = TYPES[name]
    if isinstance(scale, list):
        scale, zero = np.array(scale, np.float32)[:, None], np.array(zero)[:, None]
    return quantized(values, scale, zero, low, high)


def said(name: str, steps: Any) -> Any:
    """Return what is expressed by what is stored."""
    *_, scale, zero = TYPES[name]
    if isinstance(scale, list):
        scale, zero = np.array(scale, np.float32)[:, None], np.array(zero)[:, None]
    return expressed(steps, scale, zero)


EVERY = """
func.func @main(%a: tensor<SHAPExf32>, %b: tensor<SHAPExf32>, %stored: tensor<SHAPExTYPE>)
    -> (tensor<SHAPExTYPE>, tensor<SHAPExf32>, tensor<SHAPExTYPE>, tensor<SHAPExOTHER>,
        tensor<SHAPExf32>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<SHAPExf32>) -> tensor<SHAPExTYPE>
  %1 = stablehlo.uniform_quantize %b : (tensor<SHAPExf32>) -> tensor<SHAPExTYPE>
  %2 = stablehlo.uniform_dequantize %0 : (tensor<SHAPExTYPE>) -> tensor<SHAPExf32>
  %3 = stablehlo.add %0, %1 : (tensor<SHAPExTYPE>, tensor<SHAPExTYPE>) -> tensor<SHAPExTYPE>
  %4 = stablehlo.uniform_quantize %0 : (tensor<SHAPExTYPE>) -> tensor<SHAPExOTHER>
  %5 = stablehlo.uniform_dequantize %stored : (tensor<SHAPExTYPE>) -> tensor<SHAPExf32>
  return %0, %2, %3, %4, %5 : tensor<SHAPExTYPE>, tensor<SHAPExf32>, tensor<SHAPExTYPE>,
    tensor<SHAPExOTHER>, tensor<SHAPExf32>
}"""


@pytest.mark.parametrize("other", ["i8 moved", "u8"])
@pytest.mark.parametrize("name", TYPES)
def test_each_type_is_as_specified(
    name: str, other: str, pjrt: Executor, interpreter: Executor
) -> None:
    """With and without a sign, at the ends of what is stored, and as an argument.

    XLA multiplies by what 1 divided by a constant is, which may be a step away near ties.
    """
    program = EVERY.replace("TYPE", written(name)).replace("OTHER", written(other))
    artifact = arithmetic(program.replace("SHAPE", SHAPE), "1.2.0")  # which has two bits
    given = NUMBERS, np.roll(NUMBERS, 1)
    one, two = (stored(name, values) for values in given)
    dtype = random_inputs(signature(artifact), 0)[2].dtype
    arguments = [*given, one.astype(dtype)]
    total = stored(name, said(name, one) + said(name, two))
    expected = [one, said(name, one), total, stored(other, said(name, one)), said(name, one)]
    step = np.max(TYPES[name][3])
    for found, right in zip(portable.run(artifact, arguments, interpreter), expected, strict=True):
        np.testing.assert_array_equal(found.astype(right.dtype), right)
    for found, right in zip(portable.run(artifact, arguments, pjrt), expected, strict=True):
        away = 1.01 * step if right.dtype.kind == "f" else 2
        np.testing.assert_allclose(found.astype(right.dtype), right, rtol=1e-6, atol=away)


MOVED = """
!x = !quant.uniform<u8:f32, 0.5:128>
func.func private @turned(%a: tensor<2x3x!x>) -> tensor<3x2x!x> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3x!x>) -> tensor<3x2x!x>
  return %0 : tensor<3x2x!x>
}
func.func @main(%a: tensor<2x3x!x>) -> (tensor<3x2x!x>, tensor<3x!x>, tensor<2x3x!x>) {
  %0 = func.call @turned(%a) : (tensor<2x3x!x>) -> tensor<3x2x!x>
  %c = stablehlo.constant() {value = dense<-56> : tensor<i8>} : () -> tensor<!x>
  %1 = stablehlo.reduce(%a init: %c) applies stablehlo.maximum across dimensions = [0]
    : (tensor<2x3x!x>, tensor<!x>) -> tensor<3x!x>
  %2 = "stablehlo.sort"(%a) ({
  ^bb0(%d: tensor<!x>, %e: tensor<!x>):
    %3 = stablehlo.compare GT, %d, %e : (tensor<!x>, tensor<!x>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<2x3x!x>) -> tensor<2x3x!x>
  return %0, %1, %2 : tensor<3x2x!x>, tensor<3x!x>, tensor<2x3x!x>
}"""


def test_what_is_moved_reduced_and_called_keeps_its_storage(pjrt: Executor) -> None:
    """The constant, whose bits are written with a sign, is 200."""
    given = np.array([[0, 130, 255], [254, 7, 129]], np.uint8)
    turned, reduced, sorted_ = portable.run(arithmetic(MOVED), [given], pjrt)
    np.testing.assert_array_equal(turned, given.T)
    np.testing.assert_array_equal(reduced, np.maximum(given.max(axis=0), 200))
    np.testing.assert_array_equal(sorted_, -np.sort(-given.astype(int), axis=1))
    assert {one.dtype.name for one in (turned, reduced, sorted_)} == {"uint8"}


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
    """With the place and the type."""
    with pytest.raises(DoesNotApply, match="is not a tensor of quantized f32"):
        arithmetic(find_case(CORPUS, name).program)


GIVEN_AWAY = """
!x = !quant.uniform<i8:f32, 0.5:3>
func.func @main(%a: tensor<4x!x>) -> tensor<4x!x> {
  %0 = stablehlo.custom_call @mine(%a) : (tensor<4x!x>) -> tensor<4x!x>
  return %0 : tensor<4x!x>
}"""


def test_quantized_values_that_are_given_to_custom_calls_are_refused() -> None:
    """With the place of the call: what it computes with them is not known."""
    with pytest.raises(DoesNotApply, match=r"custom_call: it is not known what it computes"):
        arithmetic(GIVEN_AWAY)


PROMOTED = """
!x = !quant.uniform<i8:f32, 0.5>
!y = !quant.uniform<i8:f32, 0.25>
func.func @main(%a: tensor<4x!x>) -> tensor<!y> {
  %i = stablehlo.constant() {value = dense<0> : tensor<i8>} : () -> tensor<!x>
  %0 = "stablehlo.reduce"(%a, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%b: tensor<!y>, %c: tensor<!y>):
    %1 = stablehlo.add %b, %c : tensor<!y>
    stablehlo.return %1 : tensor<!y>
  }) : (tensor<4x!x>, tensor<!x>) -> tensor<!y>
  return %0 : tensor<!y>
}"""


def test_quantized_values_of_a_dynamic_shape_are_refused() -> None:
    """With the place: scales cannot be broadcast to it without ops that are no StableHLO."""
    with pytest.raises(DoesNotApply, match="quantized values of a dynamic shape"):
        arithmetic(QUANTIZE.replace("1001", "?").replace("ZERO", "3"))


def test_a_reduction_that_promotes_to_another_type_is_refused() -> None:
    """What is stored of the one is another number of the other."""
    with pytest.raises(DoesNotApply, match=r"reduce: it combines several quantized types"):
        arithmetic(PROMOTED)


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
    assert (
        "not compared with the original, as XLA runs no quantized types" in capsys.readouterr().out
    )
    assert main(["check", str(out), *on, "--stage", "execute"]) == 0
