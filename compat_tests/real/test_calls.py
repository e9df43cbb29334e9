"""Custom calls of MHLO are written as ops that compute the same, on Releases that refuse them.

What is right is what a Release that has the call computes, and Python's `math`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portable
from portable.bindings import LibraryError
from portable.cli import main
from portable.pinning import specialize
from portable.pinning.rewrites import DoesNotApply, NothingToDo
from portable.pinning.rewrites.calls import EQUAL
from portable.prediction import predict
from portable.runtime.environments import Environment
from portable.runtime.executors import ExecutionFailed, Executor, find_executor
from portable.runtime.verification import verify
from portable.tolerance import Tolerance
from portable.verdict import Outcome, Stage

OPS, APPROXIMATIONS = "mhlo-calls-to-ops", "mhlo-calls-to-approximations"
OLD = "jaxlib 0.4.13"
FUNCTION = """func.func @main(%a: tensor<SHAPE>) -> tensor<SHAPE> {
  %0 = stablehlo.custom_call @mhlo.NAME(%a) {mhlo.attributes = {}, mhlo.version = 1 : i64}
    : (tensor<SHAPE>) -> tensor<SHAPE>
  return %0 : tensor<SHAPE>
}"""
TOPK = """func.func @main(%a: tensor<SIZExTYPE>) -> (tensor<KxTYPE>, tensor<Kxi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {ATTRIBUTES},
    mhlo.version = 1 : i64} : (tensor<SIZExTYPE>) -> (tensor<KxTYPE>, tensor<Kxi32>)
  return %0#0, %0#1 : tensor<KxTYPE>, tensor<Kxi32>
}"""
LARGEST = "k = 3 : i64, largest = true"


def function(name: str, kind: str, shape: str = "64") -> str:
    """Return a program that calls a function of MHLO."""
    return FUNCTION.replace("NAME", name).replace("SHAPE", f"{shape}x{kind}")


def topk(kind: str, size: str = "4x40", k: str = "4x3", attributes: str = LARGEST) -> str:
    """Return a program that calls mhlo.topk."""
    program = TOPK.replace("SIZEx", f"{size}x").replace("tensor<Kx", f"tensor<{k}x")
    return program.replace("TYPE", kind).replace("ATTRIBUTES", attributes)


@pytest.mark.parametrize("name", sorted(set(EQUAL) - {"mhlo.topk"}))
@pytest.mark.parametrize("kind", ["f32", "complex<f32>"])
def test_functions_have_the_bits_of_the_call(name: str, kind: str, pjrt: Executor) -> None:
    """For a hundred random inputs, a quarter of them with NaN and infinities."""
    program = function(name.removeprefix("mhlo."), kind)
    _same_bits(program, pjrt)


@pytest.mark.parametrize("kind", ["f32", "bf16", "i32", "ui8"])
def test_top_k_has_the_bits_of_the_call(kind: str, pjrt: Executor) -> None:
    """Of equal elements, of which whole numbers have many, the first; a NaN is the largest."""
    _same_bits(topk(kind), pjrt)


def _same_bits(program: str, pjrt: Executor) -> None:
    before = portable.serialize(program)
    after = portable.serialize(program, allow=[OPS])
    assert b"mhlo." not in after.data
    assert verify(before, after, executor=pjrt, seeds=range(75)).same
    assert verify(before, after, executor=pjrt, seeds=range(75, 100), specials=True).same


@pytest.mark.parametrize(("kind", "ulps"), [("f16", 0), ("f32", 8), ("f64", 3)])
def test_erf_is_within_its_bound_of_the_call_and_of_math(
    kind: str, ulps: int, pjrt: Executor
) -> None:
    """As near to the exact value too: within the bound and what rounding it takes."""
    program = function("erf", kind, "20000")
    before = portable.serialize(program)
    after = portable.serialize(program, allow=[APPROXIMATIONS])
    dtype = np.dtype(kind.replace("f", "float"))
    given = np.random.default_rng(0).normal(0, 2, 20000).astype(dtype)
    found = verify(before, after, executor=pjrt, inputs=[given], tolerance=Tolerance(ulps))
    assert found.same
    (made,) = portable.run(after, [given], pjrt)
    exact = np.vectorize(math.erf)(given.astype(float)).astype(dtype)
    np.testing.assert_array_max_ulp(made, exact, ulps + 1)


def test_asin_has_the_bits_of_the_call(pjrt: Executor) -> None:
    """But for arguments near the smallest normal number on jaxlibs after this one."""
    program = function("asin", "f32")
    after = portable.serialize(program, allow=[APPROXIMATIONS])
    assert verify(portable.serialize(program), after, executor=pjrt, seeds=range(100)).same


def test_a_release_that_refuses_the_calls_computes_the_ops(
    release: Callable[[str], Environment],
) -> None:
    """That is jaxlib 0.4.13, which was predicted to refuse the one and to compute the other."""
    given = np.random.default_rng(0).normal(0, 1, 40).astype(np.float32)
    programs: list[tuple[str, str, list[Any]]] = [
        (function("erf", "f32", "40"), APPROXIMATIONS, [np.vectorize(math.erf)(given)]),
        (function("sinh", "f32", "40"), OPS, [np.sinh(given)]),
        (topk("f32", "40", "3"), OPS, [np.sort(given)[:-4:-1], np.argsort(given)[:-4:-1]]),
    ]
    with find_executor("pjrt", release(OLD)) as executor:
        for program, allow, wanted in programs:
            refused = portable.serialize(program, "0.9.0")
            assert predict(refused, OLD, stage="execute").holds(Stage.COMPILE) is False
            with pytest.raises(portable.PortableError, match=r"refused|crashed"):
                executor.compile(refused)
            after = portable.serialize(program, "0.9.0", allow=[allow])
            assert predict(after, OLD, stage="execute").holds(Stage.EXECUTE) is True
            made = executor.compile(after).run([given])
            for one, other in zip(made, wanted, strict=True):
                np.testing.assert_allclose(one, other, rtol=2e-6)


@pytest.mark.parametrize(
    ("program", "allow"),
    [
        (function("sinh", "f32", "?x2"), OPS),
        (function("erf", "f32", "?x2"), APPROXIMATIONS),
        (topk("f32", "?x40", "?x3"), OPS),
    ],
)
def test_dynamic_shapes_too(program: str, allow: str, pjrt: Executor) -> None:
    """Fixed afterwards, they compute what they compute fixed before."""
    shape = "tensor<3x40xf32>" if "topk" in program else "tensor<3x2xf32>"
    dynamic = portable.serialize(program, "1.0.0", allow=[allow])
    after = specialize(dynamic, [shape])
    static = portable.serialize(program.replace("?", "3"), allow=[allow])
    assert verify(static, after, executor=pjrt, specials=True).same


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (topk("f32", attributes="k = 3 : i64, largest = false"), "takes the smallest"),
        (topk("f32", attributes="largest = true"), "do not say k"),
        (topk("f32").replace("mhlo.attributes = {k", "other = {k"), "do not say k"),
    ],
)
def test_what_chlo_has_no_op_for_is_refused(program: str, reason: str) -> None:
    """With the reason, and the place."""
    with pytest.raises(DoesNotApply, match=reason):
        portable.serialize(program, allow=[OPS])


@pytest.mark.parametrize(
    ("program", "allow"),
    [
        (topk("f32", k="4x2"), OPS),
        (function("erf", "f8E4M3FN"), APPROXIMATIONS),
        (function("erf", "complex<f32>"), APPROXIMATIONS),
        (function("sinh", "i32"), OPS),
    ],
)
def test_calls_that_make_no_valid_op_are_errors(program: str, allow: str) -> None:
    """Of types that the op does not take, or of results that it does not have."""
    with pytest.raises(LibraryError):
        portable.serialize(program, allow=[allow])


def test_they_are_named_and_never_part_of_exact() -> None:
    """No Version requires them: readers of every one read the calls."""
    program = function("sinh", "f32")
    assert b"mhlo.sinh" in portable.serialize(program, "0.9.0", allow=["exact"]).data
    with pytest.raises(NothingToDo, match=APPROXIMATIONS):
        portable.serialize(program, allow=[APPROXIMATIONS])


def test_pin_says_what_it_rewrote_and_verify_explains_it() -> None:
    """Name, count and bound; the options that accept the difference."""
    program = function("erf", "f32", "20000")
    pinned = portable.pin(program, "1.0.0", allow=[APPROXIMATIONS])
    (one,) = pinned.rewrites
    assert (one.name, one.count, one.near) == (APPROXIMATIONS, 1, (8, 8, 0))
    found = verify(portable.serialize(program), pinned.artifact)
    assert not found.same
    assert [one.name for one in found.rewrites] == [APPROXIMATIONS]
    assert found.explained.endswith("accept it with --ulps 8")


def test_check_names_the_rewrite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the op to blame."""
    path = tmp_path / "topk.mlir.bc"
    path.write_bytes(portable.serialize(topk("f32"), "0.9.0").data)
    code = main(["check", str(path), "--for", OLD.replace(" ", "=="), "--stage", "compile"])
    assert code == 1
    assert f"pin --allow {OPS} replaces it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (function("erf", "complex<f32>"), "mhlo.erf of complex<f32>"),
        (topk("f32", attributes="k = 3 : i64, largest = false"), "mhlo.topk of the smallest"),
    ],
)
def test_a_call_that_was_not_tried_so_is_not_known(program: str, what: str, pjrt: Executor) -> None:
    """The Release refuses it, although it has the call and computes it for what was tried."""
    artifact = portable.serialize(program, "1.0.0")
    verdict = predict(artifact.data, "jaxlib 0.10.2", stage=Stage.EXECUTE)
    assert verdict.outcome is Outcome.NOT_KNOWN
    assert what in verdict.reason
    with pytest.raises(ExecutionFailed):
        pjrt.compile(artifact.data)
    for tried in (function("erf", "bf16"), topk("i32")):
        made = portable.serialize(tried, "1.0.0")
        assert predict(made.data, "jaxlib 0.10.2", stage=Stage.EXECUTE).compatible
