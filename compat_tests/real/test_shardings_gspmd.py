"""Shardings of Shardy as those of GSPMD: JAX writes both, and XLA translates them too."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest

import portable
from compat_tests.helpers.sharded import EQUAL, SPLIT, Exported
from portable.pinning.explanation import explain
from portable.pinning.rewrites import DoesNotApply, NothingToDo
from portable.runtime.environments import Environment
from portable.runtime.executors import Executor, find_executor

TRANSLATE = "sdy-to-mhlo-sharding"
SHARDING = re.compile(r'mhlo\.sharding = "([^"]*)"')


def translated(one: Exported, target: str = "1.0.0") -> portable.Artifact:
    """Write the shardings of a function for GSPMD."""
    return portable.serialize(one.artifact, target, allow=[TRANSLATE])


def tiles(text: str) -> tuple[bool, list[int], list[int]]:
    """Return what a sharding of XLA means, however it is written."""
    from jaxlib import xla_client

    sharding = xla_client.HloSharding.from_string(text)
    return (
        sharding.is_replicated(),
        list(sharding.tile_assignment_dimensions()),
        list(sharding.tile_assignment_devices()),
    )


def shardings(artifact: bytes) -> list[tuple[bool, list[int], list[int]]]:
    """Return the shardings in a program, in order."""
    text = str(portable.deserialize(portable.Artifact.from_bytes(artifact)))
    return [tiles(found) for found in SHARDING.findall(text)]


@pytest.mark.parametrize("name", [*EQUAL, *SPLIT])
def test_they_are_those_that_jax_writes_for_gspmd(
    name: str, exported: dict[str, Exported], pjrt: Executor
) -> None:
    """Of arguments, results and constraints; eight devices give the bits that GSPMD gave JAX."""
    one, other = exported[f"{name}-shardy"], exported[f"{name}-gspmd"]
    artifact = translated(one)
    assert b"sdy" not in artifact.data
    assert shardings(artifact.data) == shardings(other.artifact)
    program = pjrt.compile(artifact)
    outputs = program.run(one.inputs)
    assert [array.tobytes() for array in outputs] == [array.tobytes() for array in other.outputs]
    assert program.device.endswith(" x 8")


@pytest.mark.old_releases
@pytest.mark.parametrize(
    ("name", "device"), [("jaxlib 0.5.3", "cpu x 8"), ("jaxlib 0.4.13", "cpu")]
)
def test_readers_without_shardy_compute_the_same(
    name: str,
    device: str,
    exported: dict[str, Exported],
    release: Callable[[str], Environment],
) -> None:
    """The one on eight devices; the oldest, which has one, reads them."""
    one = exported["integers-shardy"]
    with find_executor("pjrt", release(name)) as executor:
        program = executor.compile(translated(one, "0.9.0"))
        outputs = program.run(one.inputs)
        assert program.device == device
    assert [array.tobytes() for array in outputs] == [array.tobytes() for array in one.outputs]


def placements() -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return every way to spread two dimensions over three axes."""
    return [
        (order[:cut], order[cut:])
        for size in range(4)
        for order in itertools.permutations("xyz", size)
        for cut in range(size + 1)
    ]


MESHES = [
    '["x"=2, "y"=3, "z"=2]',
    '["x"=2, "y"=3, "z"=2], device_ids=[7, 0, 11, 1, 2, 3, 4, 5, 6, 8, 9, 10]',
]


@pytest.mark.parametrize("mesh", MESHES)
def test_xla_translates_them_so(mesh: str) -> None:
    """All 49 ways to spread two dimensions over three axes; XLA is asked for each."""
    from jaxlib import _jax

    spread = [
        ", ".join("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in both)
        for both in placements()
    ]
    assert len(spread) == 49
    arguments = ", ".join(
        f"%a{n}: tensor<12x12xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{one}]>}}"
        for n, one in enumerate(spread)
    )
    program = (
        f"module {{ sdy.mesh @mesh = <{mesh}>\nfunc.func @main({arguments}) "
        "-> tensor<12x12xf32> { return %a0 : tensor<12x12xf32> } }"
    )
    hlo = _jax.mlir.mlir_module_to_xla_computation(program).as_hlo_text()
    found: dict[str, Any] = dict(re.findall(r"parameter\((\d+)\), sharding=(\{[^}]*\})", hlo))
    made = shardings(portable.serialize(program, "1.0.0", allow=[TRANSLATE]).data)
    assert made == [tiles(found[str(n)]) for n in range(49)]


MODULE = """
module {{
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {{
    {body}
    return %0 : tensor<4x4xf32>
  }}
}}"""
CONSTRAINT = "%0 = sdy.sharding_constraint %a <@mesh, [{sharding}]> : tensor<4x4xf32>"
TAKEN = {
    '{"x"}, {}': "{devices=[4,1]0,1,2,3}",
    '{?}, {"x", ?}': "{devices=[1,4]0,1,2,3}",
    '{"x"}p1, {?}p0': "{devices=[4,1]0,1,2,3}",
    "{}, {}": "{replicated}",
    '{}, {}], replicated={"x"}> : tensor<4x4xf32> //': "{replicated}",
}


@pytest.mark.parametrize("sharding", TAKEN)
def test_what_gspmd_cannot_say_is_left_out(sharding: str) -> None:
    """That a dimension may be spread further, priorities, axes that are named as replicated."""
    program = MODULE.format(body=CONSTRAINT.format(sharding=sharding))
    artifact = portable.serialize(program, "1.0.0", allow=[TRANSLATE])
    assert SHARDING.findall(str(portable.deserialize(artifact))) == [TAKEN[sharding]]
    with pytest.raises(NothingToDo):
        portable.serialize(artifact, "1.0.0", allow=[TRANSLATE])


REFUSED = {
    "its sharding has no form in GSPMD": '{"x":(1)2}, {}',
    "its sharding is no hint": '{}, {}], unreduced={"x"}> : tensor<4x4xf32> //',
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_has_no_older_form_is_refused(reason: str) -> None:
    """Parts of an axis, parts of a sum."""
    program = MODULE.format(body=CONSTRAINT.format(sharding=REFUSED[reason]))
    with pytest.raises(DoesNotApply, match=f"sdy.sharding_constraint: {reason}"):
        portable.serialize(program, "1.0.0", allow=[TRANSLATE])


RULE = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i])
    {i=4}, custom>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


def test_rules_without_a_mesh_go_too() -> None:
    """GSPMD has its own way to ask how a custom call is spread."""
    assert b"sdy" not in portable.serialize(RULE, "1.0.0", allow=[TRANSLATE]).data


def test_explain_names_a_way_that_was_tried(exported: dict[str, Exported]) -> None:
    """Of the two that do, the first; the other has nothing left to do."""
    found = explain(exported["integers-shardy"].artifact, "1.0.0", allow_dialects=("sdy",))
    assert [plan.allow for plan in found.plans] == [("drop-sharding",)]
    assert TRANSLATE in next(one for one in found.blockers if one.name == "sdy").workaround


def test_manual_computations_are_refused(exported: dict[str, Exported]) -> None:
    """They are no hints."""
    with pytest.raises(DoesNotApply, match=r"sdy\.manual_computation: it computes on the part"):
        translated(exported["mapped-shardy"])
