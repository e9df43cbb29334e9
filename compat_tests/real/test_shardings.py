"""Without its shardings a program computes what it computed: executed by JAX on eight devices."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import portable
from compat_tests.helpers.sharded import (
    EQUAL,
    MANUAL,
    PARTITIONERS,
    SPLIT,
    Exported,
    call_exported,
)
from portable.cli import main
from portable.containers import open_container
from portable.corpus import find_case
from portable.pinning.rewrites import DoesNotApply, NothingToDo
from portable.runtime.environments import Environment
from portable.runtime.executors import Executor, find_executor
from portable.version import Version

CORPUS = Path(__file__).parents[2] / "corpus"
DROP = "drop-sharding"


def dropped(one: Exported, target: str = "1.0.0") -> portable.Artifact:
    """Remove the shardings of a function."""
    return portable.serialize(one.artifact, target, allow=[DROP])


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("name", EQUAL)
def test_one_device_gives_the_bits_of_eight(
    name: str, partitioner: str, exported: dict[str, Exported], pjrt: Executor
) -> None:
    """Constraints, loops, integer sums, sorts, random bits, LAPACK: by the hints of both kinds."""
    one = exported[f"{name}-{partitioner}"]
    outputs = pjrt.compile(dropped(one)).run(one.inputs)
    assert [array.tobytes() for array in outputs] == [array.tobytes() for array in one.outputs]


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("name", SPLIT)
def test_sums_that_were_split_are_rounded_otherwise(
    name: str, partitioner: str, exported: dict[str, Exported], pjrt: Executor
) -> None:
    """As the bound says: by the rounding of the sum, and on one device not at all."""
    one = exported[f"{name}-{partitioner}"]
    outputs = pjrt.compile(dropped(one)).run(one.inputs)
    for made, wanted in zip(outputs, one.outputs, strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-5)
    assert any(a.tobytes() != b.tobytes() for a, b in zip(outputs, one.outputs, strict=True))


@pytest.mark.parametrize("partitioner", PARTITIONERS)
@pytest.mark.parametrize("name", [*EQUAL, *SPLIT])
def test_nothing_of_them_is_left(
    name: str, partitioner: str, exported: dict[str, Exported]
) -> None:
    """Neither dialect, attribute nor call; the program is for one partition."""
    one = exported[f"{name}-{partitioner}"]
    text = str(portable.deserialize(dropped(one)))
    assert not [mark for mark in ("sdy", "harding") if mark in text]
    assert "mhlo.num_partitions = 1 : i32" in text
    with pytest.raises(NothingToDo, match=DROP):
        portable.serialize(text, "1.0.0", allow=[DROP])


@pytest.mark.parametrize("name", [*EQUAL, *SPLIT])
def test_shardy_no_longer_forces_a_version(name: str, exported: dict[str, Exported]) -> None:
    """It needs 1.11.0 for it, and 0.15.0 at most without: what jaxlib 0.4.21 and later read.

    A newer JAX writes custom calls in a form of 1.18.0, which is not the dialect's doing.
    """
    before = portable.inspect(exported[f"{name}-shardy"].artifact).required
    made = portable.pin(exported[f"{name}-shardy"].artifact, "1.0.0", allow=[DROP])
    assert before is not None
    assert [one.version for one in before.features if one.name == "sdy"] == [Version(1, 11, 0)]
    assert made.analysis.required.version is not None
    assert made.analysis.required.version <= Version(0, 15, 0)
    assert [one.name for one in made.rewrites if one.name == DROP] == [DROP]
    assert not any(one.exact for one in made.rewrites if one.name == DROP)


@pytest.mark.parametrize("target", ["1.0.0", "1.13.0"])
def test_it_is_needed_wherever_the_dialect_is_not_allowed(
    target: str, exported: dict[str, Exported]
) -> None:
    """No Version promises that a reader knows Shardy; without the rewrite the error names it."""
    one = exported["constrained-shardy"]
    with pytest.raises(portable.ForeignDialect, match=f"--allow {DROP}"):
        portable.serialize(one.artifact, target)
    assert [done.name for done in portable.pin(one.artifact, target, allow=[DROP]).rewrites] == [
        DROP
    ]
    with pytest.raises(portable.PortableError):
        portable.serialize(one.artifact, target, allow=["exact"])


@pytest.mark.old_releases
def test_a_reader_without_shardy_computes_the_same(
    exported: dict[str, Exported], release: Callable[[str], Environment]
) -> None:
    """The integers of eight devices, on jaxlib 0.4.30, which is from before Shardy."""
    one = exported["integers-shardy"]
    with pytest.raises(portable.NotExpressible, match=f"sdy needs 1.11.0.*--allow {DROP}"):
        portable.serialize(one.artifact, "1.0.0", allow_dialects=["sdy"])
    with find_executor("pjrt", release("jaxlib 0.4.30")) as old:
        outputs = old.compile(dropped(one)).run(one.inputs)
    assert [array.tobytes() for array in outputs] == [array.tobytes() for array in one.outputs]


REFUSED = {
    "mapped-shardy": r"sdy\.manual_computation: it computes on the part",
    "mapped-gspmd": r"stablehlo\.custom_call: @SPMDFullToShardShape: it computes on the part",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_its_devices_is_refused(name: str, exported: dict[str, Exported]) -> None:
    """With the op, where it is, and why."""
    assert name.partition("-")[0] in MANUAL
    with pytest.raises(DoesNotApply, match=REFUSED[name]) as caught:
        dropped(exported[name])
    assert "sharded.py" in str(caught.value.where)


MODULE = """
module attributes {{mhlo.num_partitions = 2 : i32}} {{
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<4x4xf32>{argument}) -> tensor<4x4xf32> {{
    {body}
    return %0 : tensor<4x4xf32>
  }}
}}"""
SAME = "(%a) {more} : (tensor<4x4xf32>) -> tensor<4x4xf32>"
BODIES = {
    "barrier": "%0 = sdy.propagation_barrier %a allowed_direction=NONE : tensor<4x4xf32>",
    "reshard": '%0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<4x4xf32>',
    "group": "sdy.sharding_group %a group_id=3 : tensor<4x4xf32>\n"
    "%0 = stablehlo.negate %a : tensor<4x4xf32>",
    "round trip": "%0 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%a) {has_side_effect = "
    'true, mhlo.frontend_attributes = {xla.sdy.sharding = "x"}}'
    " : (tensor<4x4xf32>) -> tensor<4x4xf32>",
}


@pytest.mark.parametrize("name", BODIES)
def test_the_other_hints_go_too(name: str, pjrt: Executor) -> None:
    """Barriers, groups, and the calls that XLA writes for Shardy; what they are given is left."""
    artifact = portable.serialize(
        MODULE.format(argument="", body=BODIES[name]), "1.0.0", allow=[DROP]
    )
    given = np.arange(16, dtype=np.float32).reshape(4, 4)
    (made,) = pjrt.compile(artifact).run([given])
    np.testing.assert_array_equal(made, -given if name == "group" else given)


def test_constants_of_complex_numbers_are_left_as_they_are(pjrt: Executor) -> None:
    """Shardings go, and are translated, beside constants that the bindings cannot read."""
    body = """%0 = stablehlo.constant dense<(0.0, 1.0)> : tensor<4x4xcomplex<f32>>
    %1 = stablehlo.imag %0 : (tensor<4x4xcomplex<f32>>) -> tensor<4x4xf32>
    %2 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<4x4xf32>
    %3 = stablehlo.add %1, %2 : tensor<4x4xf32>"""
    text = MODULE.format(argument="", body=body).replace("return %0", "return %3")
    for name in (DROP, "sdy-to-mhlo-sharding"):
        artifact = portable.serialize(text, "1.0.0", allow=[name])
        assert b"sdy" not in artifact.data
    given = np.arange(16, dtype=np.float32).reshape(4, 4)
    one = portable.serialize(text, "1.0.0", allow=[DROP])
    np.testing.assert_array_equal(pjrt.compile(one).run([given])[0], given + 1)


UNREDUCED = ' {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x"}>}'
NO_HINTS = {
    "stablehlo.collective_permute: it needs the devices": (
        "",
        (
            '%0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1]]> : '
            "tensor<1x2xi64>} : (tensor<4x4xf32>) -> tensor<4x4xf32>"
        ),
    ),
    "stablehlo.partition_id: it needs the devices": (
        "",
        (
            '%1 = "stablehlo.partition_id"() : () -> tensor<ui32>\n'
            "%0 = stablehlo.negate %a : tensor<4x4xf32>"
        ),
    ),
    "sdy.all_gather: it is not known to be a hint": (
        ' {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}',
        '%0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>',
    ),
    "func.func: its sharding is no hint": (
        UNREDUCED,
        "%0 = stablehlo.negate %a : tensor<4x4xf32>",
    ),
    "stablehlo.custom_call: xla.sdy.ShardingGroup does not return what it is given": (
        "",
        (
            "%0 = stablehlo.custom_call @xla.sdy.ShardingGroup(%a) "
            ": (tensor<4x4xf32>) -> tensor<4x4xf32>"
        ),
    ),
    "stablehlo.custom_call: Sharding does not return what it is given": (
        "",
        (
            "%1 = stablehlo.custom_call @Sharding(%a) : (tensor<4x4xf32>) -> tensor<2x4xf32>\n"
            "%0 = stablehlo.concatenate %1, %1, dim = 0 "
            ": (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>"
        ),
    ),
}


@pytest.mark.parametrize("reason", NO_HINTS)
def test_what_is_no_hint_is_refused(reason: str) -> None:
    """Collectives, who I am, ops of Shardy that no table knows, parts of sums, other shapes."""
    argument, body = NO_HINTS[reason]
    with pytest.raises(DoesNotApply, match=reason):
        portable.serialize(MODULE.format(argument=argument, body=body), "1.0.0", allow=[DROP])


@pytest.mark.parametrize("case", ["argument", "result", "op"])
def test_cases_of_the_corpus_do_too(case: str) -> None:
    """Attributes of arguments, results and ops."""
    program = find_case(CORPUS, f"sdy_{case}_sharding").program
    artifact = portable.serialize(program, "0.9.0", allow=[DROP])
    assert artifact.version == Version(0, 9, 0)
    assert b"sdy" not in artifact.data


def test_jax_calls_what_it_exported(
    exported: dict[str, Exported], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A container keeps how its arguments are sharded; the program in it needs no Shardy now."""
    one = exported["integers-shardy"]
    path, new = tmp_path / "integers.exported", tmp_path / "new.exported"
    path.write_bytes(one.container)
    code = main(["pin", str(path), "--target", "1.0.0", "--allow", DROP, "-o", str(new)])
    out = capsys.readouterr().out
    assert code == 0
    assert f"rewritten: {DROP}" in out
    assert "the same outputs for seed 0" in out
    (entry,) = open_container(new).artifacts()
    assert b"sdy" not in entry.data
    outputs = call_exported(new, one.inputs)
    assert [array.tobytes() for array in outputs] == [array.tobytes() for array in one.outputs]
