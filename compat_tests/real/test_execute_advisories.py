"""Advisories that only executing shows, at the edges of the Releases they speak of."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

import portable
from compat_tests.helpers.advised import edges, ending, endings, shown
from compat_tests.helpers.compiled import COMPILED, FOLDED, artifact_of
from compat_tests.helpers.eras import marked, versions
from compat_tests.helpers.sealed import CASES
from portable.artifact import Artifact
from portable.pinning.pipeline import serialize
from portable.prediction import examine, predict
from portable.releases import find_release
from portable.releases.advisory import advisories
from portable.runtime.executors import ExecutionFailed, find_executor, random_inputs
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
CHANNEL = """
func.func @main() -> tensor<4xi32> {
  %counted = stablehlo.iota dim = 0 : tensor<4xi32>
  %here = "stablehlo.all_gather"(%counted) {all_gather_dim = 0 : i64,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  %there = "stablehlo.collective_permute"(%counted) {
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    source_target_pairs = dense<0> : tensor<1x2xi64>} : (tensor<4xi32>) -> tensor<4xi32>
  %result = stablehlo.add %here, %there : tensor<4xi32>
  return %result : tensor<4xi32>
}
"""
PROGRAMS = {
    "channel-of-different-collectives": (CHANNEL, "0.9.0"),
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
    [
        marked([one for side in edges(row) for one in side], row, to_execute=True)
        for row in shown("jaxlib")
    ],
    ids=lambda row: row.id,
)
def test_the_corpus_finds_it_again(advisory: Advisory) -> None:
    """The Cases that an Advisory names end as it says on its Releases, and not beside them."""
    inside, outside = edges(advisory)
    for name in inside:
        assert endings(advisory, name) == {ending(advisory)}, name
    for name in outside:
        assert ending(advisory) not in endings(advisory, name), name


@pytest.mark.parametrize(
    ("advisory", "refusing", "executing"),
    [
        ("channel-of-different-collectives", ["0.4.13", "0.5.0"], ["0.5.1", "0.12.0.1"]),
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
        ("quantized-not-compiled", "uniform_quantize_i8_f32_per_axis"),
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


@pytest.mark.parametrize("version", versions("0.5.3", "0.10.2"))
@pytest.mark.parametrize("name", ["while_condition_partition_id", "while_replica_id"])
def test_a_loop_that_asks_which_device_it_is_on(release: Release, version: str, name: str) -> None:
    """It ends the process when it is executed, by jaxlib 0.5.3 to 0.8.0, as is predicted."""
    artifact = portable.Artifact.load(artifact_of(name))
    verdict = predict(artifact, f"jaxlib {version}", stage=Stage.EXECUTE)
    computes = version == "0.10.2"
    # Of a condition that asks it is not known: it may take nothing else.
    assert verdict.compatible is (computes and "condition" not in name)
    with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
        program = executor.compile(artifact)
        inputs = random_inputs(program.signature, 0)
        if computes:
            program.run(inputs)
            return
        with pytest.raises(ExecutionFailed) as failed:
            program.run(inputs)
    found = failed.value.verdict
    assert (verdict.outcome, verdict.stage) == (found.outcome, found.stage)
    assert found.outcome is Outcome.CRASHED


SEEN = COMPILED | dict.fromkeys(FOLDED, True)


@pytest.mark.parametrize(
    ("version", "name"), [marked([f"jaxlib {one}"], one, name) for name, one in SEEN]
)
def test_what_the_ops_alone_do_not_show(release: Release, version: str, name: str) -> None:
    """Each artifact compiles, or does not, as `unit/test_capabilities.py` has it predicted."""
    ended = False
    with (
        find_executor("pjrt", release(f"jaxlib {version}")) as executor,
        contextlib.suppress(ExecutionFailed),
    ):
        executor.compile(portable.Artifact.load(artifact_of(name)))
        ended = True
    assert ended is SEEN[name, version]


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


# What is counted in, and whether it is a negative constant, as far as the bytes show it.
COUNTED = {
    "%x = stablehlo.constant dense<[1, -5, 3]> : {0}": True,
    "%x = stablehlo.constant dense<-5> : {0}": True,
    "%x = stablehlo.constant dense<[1, 5, 3]> : {0}": False,
    "%c = stablehlo.constant dense<5> : {0}\n %x = stablehlo.negate %c : {0}": None,
    "%c = stablehlo.constant dense<-5> : {0}\n %x = stablehlo.optimization_barrier %c : {0}": None,
}
ZEROS = """
func.func @main() -> ({0}, {0}) {{
  {1}
  %r = stablehlo.count_leading_zeros %x : {0}
  return %x, %r : {0}, {0}
}}
"""


@pytest.mark.parametrize("version", versions("0.10.2", "0.11.0"))
def test_zeros_of_a_constant_are_counted_wrongly_where_it_is_said(
    release: Release, version: str
) -> None:
    """What has the form is wrong in 0.10.2; in 0.11.0, and without the form, all is right."""
    with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
        for bits, (body, has) in itertools.product((8, 16, 32, 64), COUNTED.items()):
            kind = f"tensor<3xi{bits}>"
            artifact = serialize(ZEROS.format(kind, body.format(kind)), "0.9.0", expand=False)
            form = examine(artifact).occurs("count_leading_zeros of a negative constant")
            assert form is (has if bits < 64 else False)
            numbers, zeros = (one.tolist() for one in executor.compile(artifact).run([]))
            right = [bits - (number % (1 << bits)).bit_length() for number in numbers]
            wrong = predict(artifact, f"jaxlib {version}").outcome is Outcome.WRONG_RESULT
            assert wrong is (version == "0.10.2" and form is True)
            if form is not None:
                assert (zeros != right) is wrong, (bits, body)


def test_arguments_and_what_is_called_may_be_constant() -> None:
    """An argument of a function that nothing calls is none; one of another may be one."""
    zeros = "%r = stablehlo.count_leading_zeros %x : tensor<i8>\n return %r : tensor<i8>"
    function = f"func.func {{}}(%x: tensor<i8>) -> tensor<i8> {{{{ {zeros} }}}}\n"
    calls = """func.func @main() -> tensor<i8> {
      %c = stablehlo.constant dense<-1> : tensor<i8>
      %r = func.call @f(%c) : (tensor<i8>) -> tensor<i8>
      return %r : tensor<i8>
    }
    """
    programs = {function.format("@main"): False, calls + function.format("private @f"): None}
    for text, has in programs.items():
        subject = examine(serialize(text, "0.9.0", expand=False))
        assert subject.occurs("count_leading_zeros of a negative constant") is has


@pytest.mark.parametrize(
    ("name", "numbers", "right"),
    [
        ("leading_zeros_beside_a_function", [[-5, 1, 0, -1]], [5, 8, 8, 1]),
        ("leading_zeros_of_a_function", [[0, 0, 0, 0]], None),
        ("power_by_a_few", [[3, -5, 2, 7], [63, 90, 5, -4]], None),
        ("power_by_many", [[3, -5, 2, 7], [64, 90, 5, 0]], None),
    ],
)
def test_what_bounds_an_operand_is_seen(
    name: str, numbers: list[list[int]], right: list[int] | None, release: Release
) -> None:
    """Truth: numpy. A number that may be too great, or negative, is not known to be right."""
    artifact = Artifact.load(artifact_of(name))
    with find_executor("pjrt", release("jaxlib 0.10.2")) as executor:
        executable = executor.compile(artifact)
        given = [
            np.array(row, one.dtype)
            for row, one in zip(numbers, executable.signature.arguments, strict=True)
        ]
        (found,) = executable.run(given)
    if right is None and len(given) > 1:
        least, most = 0, 63 if name == "power_by_a_few" else 64
        right = np.power(given[0], np.clip(given[1], least, most)).tolist()
    known = predict(artifact, "jaxlib 0.10.2", stage=Stage.EXECUTE).holds(Stage.EXECUTE)
    assert (known, found.tolist() == (right or [0] * 4)) in {(True, True), (None, False)}


# What is converted, and whether it is one complex number throughout.
CONVERTED = {
    "%x = stablehlo.constant dense<(1.0, 2.0)> : {0}": True,
    "%x = stablehlo.constant dense<[(1.0, 2.0), (3.0, -1.0)]> : {0}": False,
    "%s = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>\n"
    " %x = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<complex<f32>>) -> {0}": True,
    "%s = stablehlo.constant dense<(1.0, 2.0)> : {0}\n %x = stablehlo.negate %s : {0}": False,
}


@pytest.mark.parametrize("version", versions("0.8.0", "0.12.0.1"))
@pytest.mark.parametrize("body", CONVERTED)
def test_a_complex_splat_is_not_converted(release: Release, version: str, body: str) -> None:
    """To a real type it ends the compiler from 0.8.1 on; what is no splat is converted."""
    kind = "tensor<2xcomplex<f32>>"
    text = f"""func.func @main() -> tensor<2xf32> {{
      {body.format(kind)}
      %r = stablehlo.convert %x : ({kind}) -> tensor<2xf32>
      return %r : tensor<2xf32>
    }}"""
    artifact = serialize(text, "0.9.0", expand=False)
    crashes = CONVERTED[body] and version != "0.8.0"
    assert (predict(artifact, f"jaxlib {version}").outcome is Outcome.CRASHED) is crashes
    with find_executor("pjrt", release(f"jaxlib {version}")) as executor:
        if not crashes:
            (result,) = executor.compile(artifact).run([])
            assert abs(result[0]) == 1
            return
        with pytest.raises(ExecutionFailed) as failed:
            executor.compile(artifact)
    assert failed.value.verdict.outcome is Outcome.CRASHED
