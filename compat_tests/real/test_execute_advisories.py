"""Advisories that only executing shows, at the edges of the Releases they speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import portable
from compat_tests.helpers.advised import ENDINGS, edges, endings, shown
from compat_tests.helpers.eras import marked, versions
from compat_tests.helpers.sealed import CASES
from portable.pinning.pipeline import serialize
from portable.prediction import predict
from portable.releases import find_release
from portable.releases.advisory import advisories
from portable.runtime.executors import ExecutionFailed, find_executor
from portable.verdict import Outcome, Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.releases.advisory import Advisory
    from portable.runtime.environments import Environment

    Release = Callable[[str], Environment]

pytestmark = pytest.mark.old_releases

COMPOSITE = """
func.func @main() -> tensor<4xi32> {
  %counted = stablehlo.iota dim = 0 : tensor<4xi32>
  %twice = stablehlo.composite "test.twice" %counted {decomposition = @twice}
    : (tensor<4xi32>) -> tensor<4xi32>
  return %twice : tensor<4xi32>
}
func.func private @twice(%x: tensor<4xi32>) -> tensor<4xi32> {
  %sum = stablehlo.add %x, %x : tensor<4xi32>
  return %sum : tensor<4xi32>
}
"""
MX = """
func.func @main() -> tensor<4xf32> {
  %constant = stablehlo.constant dense<[0.0, 2.0, 4.0, 6.0]> : tensor<4xf4E2M1FN>
  %x = stablehlo.optimization_barrier %constant : tensor<4xf4E2M1FN>
  %result = stablehlo.convert %x : (tensor<4xf4E2M1FN>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
"""
PROGRAMS = {
    "composite-not-compiled": (COMPOSITE, "0.19.0"),
    "mx-types-not-converted": (MX, "1.8.0"),
}
I2 = """
func.func @main() -> tensor<64xi2> {
  %counted = stablehlo.iota dim = 0 : tensor<64xi8>
  %result = stablehlo.convert %counted : (tensor<64xi8>) -> tensor<64xi2>
  return %result : tensor<64xi2>
}
"""


@pytest.mark.parametrize(
    "advisory",
    [marked([one for side in edges(row) for one in side], row) for row in shown("jaxlib")],
    ids=lambda row: row.id,
)
def test_the_corpus_finds_it_again(advisory: Advisory) -> None:
    """The Cases that an Advisory names end as it says on its Releases, and not beside them."""
    inside, outside = edges(advisory)
    for name in inside:
        assert endings(advisory, name) == {ENDINGS[advisory.effect]}, name
    for name in outside:
        assert ENDINGS[advisory.effect] not in endings(advisory, name), name


@pytest.mark.parametrize(
    ("advisory", "refusing", "executing"),
    [
        ("composite-not-compiled", ["0.4.26", "0.4.31"], ["0.4.33", "0.12.0.1"]),
        ("mx-types-not-converted", ["0.4.36", "0.4.38"], ["0.5.0", "0.12.0.1"]),
    ],
)
@pytest.mark.more_releases
def test_refused_here_and_executed_there(
    release: Release, advisory: str, refusing: list[str], executing: list[str]
) -> None:
    """The first and last Release that an Advisory speaks of refuse; its neighbours compute."""
    (row,) = (row for row in advisories() if row.id == advisory)
    artifact = serialize(*PROGRAMS[advisory], locations="strip")
    for version in refusing + executing:
        concerned = row.applies_to(find_release("jaxlib", version))
        assert concerned is (version in refusing)
        with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
            if not concerned:
                (result,) = executor.compile(artifact).run([])
                assert result.tolist() == [0, 2, 4, 6]
                continue
            with pytest.raises(ExecutionFailed) as refused:
                executor.compile(artifact).run([])
        assert refused.value.verdict.outcome is Outcome.INCOMPATIBLE


@pytest.mark.parametrize("version", versions("0.4.33", "0.12.0.1"))
@pytest.mark.parametrize(
    ("advisory", "case"),
    [
        ("quantized-not-compiled", "quantized_add_i8_f32"),
        ("quantized-per-axis-not-compiled", "uniform_quantize_i8_f32_per_axis"),
    ],
)
def test_quantized_types_are_read_and_not_compiled(
    release: Release, version: str, advisory: str, case: str
) -> None:
    """XLA refuses to compile what its reader takes, and that is predicted with its Stage."""
    artifact = portable.Artifact.load(CASES[case].artifacts[0].path)
    verdict = predict(artifact, f"jaxlib {version}")
    assert (verdict.outcome, verdict.stage) == (Outcome.INCOMPATIBLE, Stage.COMPILE)
    assert any(row.id == advisory for row in advisories())
    with (
        find_executor("pjrt", release(f"jaxlib {version}")) as executor,
        pytest.raises(ExecutionFailed) as refused,
    ):
        executor.compile(artifact)
    assert refused.value.verdict.stage is Stage.COMPILE


FOUR_BITS = """
func.func @main({}) -> tensor<4xi32> {{
  {}
  %sum = stablehlo.add %x, %x : tensor<4xi4>
  %wide = stablehlo.convert %sum : (tensor<4xi4>) -> tensor<4xi32>
  return %wide : tensor<4xi32>
}}
"""
CONSTANT = "stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi4>"
NARROWED = "stablehlo.convert %n : (tensor<4xi32>) -> tensor<4xi4>"


@pytest.mark.parametrize("version", versions("0.4.18", "0.4.19"))
@pytest.mark.parametrize(
    ("parts", "computed", "predicted"),
    [
        (("", f"%x = {CONSTANT}"), True, Outcome.COMPATIBLE),
        (("%x: tensor<4xi4>", ""), False, Outcome.INCOMPATIBLE),
        # Whether it depends on an argument is not followed.
        (("%n: tensor<4xi32>", f"%x = {NARROWED}"), False, Outcome.COMPATIBLE),
    ],
)
def test_four_bits_that_are_folded_away(
    release: Release, version: str, parts: tuple[str, str], computed: bool, predicted: Outcome
) -> None:
    """No refusal is predicted of four bits that may be folded away: it is not known instead."""
    artifact = serialize(FOUR_BITS.format(*parts), "0.9.0", locations="strip")
    verdict = predict(artifact, f"jaxlib {version}")
    unknown = any("i4-refused-everywhere" in one.what for one in verdict.not_known)
    with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
        if computed:
            assert executor.compile(artifact).run([])[0].tolist() == [0, 2, 4, 6]
        else:
            with pytest.raises(ExecutionFailed):
                executor.compile(artifact)
    assert verdict.outcome is predicted
    assert unknown or predicted is Outcome.INCOMPATIBLE


@pytest.mark.more_releases
@pytest.mark.parametrize(("version", "right"), [("0.7.0", True), ("0.7.2", False), ("0.8.0", True)])
def test_i2_results_are_not_kept(release: Release, version: str, right: bool) -> None:
    """Run a dozen times: on 0.7.2 another result, or an end by SIGABRT, on its neighbours never."""
    artifact = serialize(I2, "1.2.0", locations="strip")
    seen: set[object] = set()
    with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
        program = executor.compile(artifact)
        for _ in range(12):
            try:
                (result,) = program.run([])
                seen.add(tuple(int(value) & 3 for value in result))
            except ExecutionFailed as failure:
                seen.add(failure.verdict.reason)
    assert (seen == {tuple(range(4)) * 16}) is right
