"""Collectives with a root, rewritten: executed before and after on several processes.

XLA CPU compiles none of them, but runs what they became; StableHLO's reference interpreter runs
them, but waits for ever where a process sends to itself. So the two are compared with each other:
on replicas. Between partitions XLA CPU runs nothing that is not partitioned by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import portable
from compat_tests.helpers.processes import interpret_replicated
from compat_tests.helpers.replicas import run_replicated
from portable.bindings import Library
from portable.pinning.rewrites import DoesNotApply
from portable.runtime.environments import Environment
from portable.version import Version

RUNS = 100
OLDEST = Version(0, 9, 0)
CHANNEL = ", channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>"
# How 32 bits become values of each kind, and those become bits again. One for each program: the
# interpreter lets processes meet by their group and channel, so those of two collectives could mix.
PLAIN = "%0 = stablehlo.bitcast_convert %a : (tensor<3xui32>) -> tensor<{0}>"
BACK = "%2 = stablehlo.bitcast_convert %1 : (tensor<{0}>) -> tensor<{1}>"
KINDS = {
    "f32": ("3xf32", PLAIN, BACK, "3xui32"),
    "bf16": ("3x2xbf16", PLAIN, BACK, "3x2xui16"),
    "f8E5M2": ("3x4xf8E5M2", PLAIN, BACK, "3x4xui8"),
    "i32": ("3xi32", PLAIN, BACK, "3xui32"),
    "i1": (
        "3xi1",
        """%c = stablehlo.constant dense<1000000000> : tensor<3xui32>
        %0 = stablehlo.compare LT, %a, %c : (tensor<3xui32>, tensor<3xui32>) -> tensor<{0}>""",
        "%2 = stablehlo.convert %1 : (tensor<{0}>) -> tensor<{1}>",
        "3xui8",
    ),
    "complex": (
        "3xcomplex<f32>",
        """%f = stablehlo.bitcast_convert %a : (tensor<3xui32>) -> tensor<3xf32>
        %n = stablehlo.not %a : tensor<3xui32>
        %g = stablehlo.bitcast_convert %n : (tensor<3xui32>) -> tensor<3xf32>
        %0 = stablehlo.complex %f, %g : tensor<{0}>""",
        """%r = stablehlo.real %1 : (tensor<{0}>) -> tensor<3xf32>
        %i = stablehlo.imag %1 : (tensor<{0}>) -> tensor<3xf32>
        %x = stablehlo.bitcast_convert %r : (tensor<3xf32>) -> tensor<3xui32>
        %y = stablehlo.bitcast_convert %i : (tensor<3xf32>) -> tensor<3xui32>
        %2 = stablehlo.subtract %x, %y : tensor<{1}>""",
        "3xui32",
    ),
}
GROUPS = [
    ("[[1, 0], [2, 3]]", "2x2", 4),
    ("[[3, 1, 0, 2, 4]]", "1x5", 5),
    ("[[2, 0, 1]]", "1x3", 4),
    ("[[1]]", "1x1", 2),
]


@pytest.fixture(scope="module")
def python(release: Callable[[str], Environment]) -> Path:
    """Return a Python whose interpreter lets groups of more than two meet; that of 0.10.2 waits."""
    return release("jaxlib 0.12.0.1").python


def broadcast(groups: str, shape: str, kind: str = "f32", more: str = "") -> str:
    """Write the program that broadcasts values of one kind."""
    type_, there, back, bits_ = KINDS[kind]
    return f"""
    func.func @main(%a: tensor<3xui32>) -> tensor<{bits_}> {{
      {there.format(type_)}
      %1 = "stablehlo.collective_broadcast"(%0) {{
        replica_groups = dense<{groups}> : tensor<{shape}xi64>{more}}}
        : (tensor<{type_}>) -> tensor<{type_}>
      {back.format(type_, bits_)}
      return %2 : tensor<{bits_}>
    }}"""


def bits(count: int) -> np.ndarray[Any, Any]:
    """Return random bits for all runs and processes; many are a NaN, an infinity, a zero."""
    generator = np.random.default_rng(0)
    special = np.array([0x8000_0000, 0, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, 1], np.uint32)
    free = generator.integers(0, 2**32, (RUNS, count, 3), np.uint32)
    return np.where(generator.random(free.shape) < 0.3, generator.choice(special, free.shape), free)


def lowered(program: str, *allow: str) -> portable.Artifact:
    """Pin a program to 0.9.0, which it does not reach without `allow`."""
    with pytest.raises(portable.NotExpressible):
        portable.serialize(program, "0.9.0")
    artifact = portable.serialize(program, "0.9.0", allow=allow)
    required = portable.inspect(artifact).required
    assert required is not None
    assert required.version == OLDEST
    return artifact


def equal(one: list[Any], other: list[Any]) -> bool:
    """Compare dtypes, shapes and bits."""
    return [(a.dtype, a.shape, a.tobytes()) for a in one] == [
        (a.dtype, a.shape, a.tobytes()) for a in other
    ]


SENT = [
    *((*groups, "f32") for groups in GROUPS),
    *((*GROUPS[0], kind) for kind in KINDS if kind != "f32"),
]


@pytest.mark.parametrize(("groups", "shape", "count", "kind"), SENT)
def test_broadcasts_send_the_same_bits(
    groups: str, shape: str, count: int, kind: str, python: Path
) -> None:
    """To the processes of the group; the others get zeros. NaN and -0 arrive as they are."""
    program = broadcast(groups, shape, kind)
    given = [bits(count)]
    after = lowered(program, "broadcasts-to-permutes").data
    wanted = interpret_replicated(portable.serialize(program).data, given, python=python)
    assert equal(run_replicated(after, given), wanted)
    if kind == "f32":
        sent = np.zeros_like(given[0])
        for group in json.loads(groups):
            sent[:, group] = given[0][:, group[:1]]
        assert equal([sent], wanted)


def test_channels_stay_apart(library: Library) -> None:
    """With a channel, groups name partitions; each permutation has a channel of its own."""
    plain, partitioned = (
        lowered(broadcast("[[1, 0], [2, 3]]", "2x2", more=more), "broadcasts-to-permutes")
        for more in ("", CHANNEL)
    )
    context = library.context()
    one, other = (
        str(library.deserialize(artifact.data, context)) for artifact in (plain, partitioned)
    )
    channel = re.compile(
        r"channel_handle = #stablehlo\.channel_handle<handle = (\d+), type = \d>, "
    )
    assert channel.findall(other) == ["4", "5"]
    assert channel.sub("", other) == one


def test_groups_over_a_mesh_are_those_that_upstream_lists(library: Library) -> None:
    """The second axis of two, of devices in another order."""
    mesh = (
        "#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = ["
        '#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 2>],'
        " device_ids = dense<[3, 1, 0, 2]> : tensor<4xi64>>,"
        ' axes = [#stablehlo.axis_ref<name = "y">]>'
    )
    listed = "dense<[[3, 1], [0, 2]]> : tensor<2x2xi64>"
    program = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = "stablehlo.collective_broadcast"(%a) {{replica_groups = {}}}
        : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }}"""
    one, other = (
        lowered(program.format(groups), "broadcasts-to-permutes") for groups in (mesh, listed)
    )
    context = library.context()
    texts = [str(library.deserialize(artifact.data, context)) for artifact in (one, other)]
    assert texts[0] == texts[1]


REDUCE = """
module attributes {{mhlo.num_replicas = 1 : i32}} {{
func.func @main(%a: tensor<3x{3}>) -> tensor<3x{3}> {{
  %0 = "stablehlo.collective_reduce"(%a) ({{
  ^bb0(%x: tensor<{3}>, %y: tensor<{3}>):
    %s = stablehlo.{4} %x, %y : tensor<{3}>
    stablehlo.return %s : tensor<{3}>
  }}) {{replica_groups = dense<{0}> : tensor<{1}xi64>{2}}} : (tensor<3x{3}>) -> tensor<3x{3}>
  return %0 : tensor<3x{3}>
}}
}}"""
GLOBAL = CHANNEL + ", use_global_device_ids"


def _needs(library: Library, version: str) -> None:
    if library.current < Version.parse(version):
        pytest.skip(f"{library.name} does not know StableHLO {version}")


@pytest.mark.parametrize(("kind", "op"), [("i32", "add"), ("f32", "maximum")])
@pytest.mark.parametrize(("groups", "shape", "count"), GROUPS[:2])
def test_reductions_end_at_the_root(
    *, groups: str, shape: str, count: int, kind: str, op: str, library: Library, python: Path
) -> None:
    """The others get zeros. Maxima, and sums of integers, are the same in every order."""
    _needs(library, "1.19.0")
    program = REDUCE.format(groups, shape, "", kind, op)
    after = lowered(program, "reductions-to-all-reduces").data
    given = [bits(count).view(np.int32)]
    if kind == "f32":
        given = [np.random.default_rng(0).standard_normal((RUNS, count, 3)).astype(np.float32)]
    wanted = interpret_replicated(portable.serialize(program).data, given, python=python)
    assert equal(run_replicated(after, given), wanted)
    reduced = np.zeros_like(given[0])
    for group in json.loads(groups):
        values = given[0][:, group]
        reduced[:, group[0]] = values.sum(1, np.int32) if kind == "i32" else values.max(1)
    assert equal([reduced], wanted)


def test_reductions_between_partitions(library: Library) -> None:
    """The all_reduce as it was, and a permutation; each on a channel of its own."""
    _needs(library, "1.19.0")
    program = REDUCE.format("[[1, 0]]", "1x2", GLOBAL, "f32", "add")
    after = lowered(program, "reductions-to-all-reduces")
    text = str(library.deserialize(after.data, library.context()))
    assert re.findall(r"handle = (\d+)", text) == ["4", "5"]
    assert "use_global_device_ids" in text
    assert "source_target_pairs = dense<1> : tensor<1x2xi64>" in text


def test_roots_that_no_rewrite_reaches_are_refused(library: Library) -> None:
    """Partitions are processes if there is one replica; and an all_reduce has no root at all."""
    _needs(library, "1.19.0")
    partitions = REDUCE.format("[[0, 1]]", "1x2", GLOBAL, "f32", "add")
    for program, reason in (
        (partitions.replace("mhlo.num_replicas", "a.b"), "mhlo.num_replicas"),
        (REDUCE.format("[[0]]", "1x1", CHANNEL, "f32", "add"), "replicas and partitions"),
    ):
        with pytest.raises(DoesNotApply, match=reason):
            portable.serialize(program, "0.9.0", allow=["reductions-to-all-reduces"])


DYNAMIC = """
module attributes {{mhlo.num_replicas = 1 : i32}} {{
func.func @main(%a: tensor<3xui32>, %b: tensor<2x2xf64>, %r: tensor<2xi32>)
    -> (tensor<3xui32>, tensor<2x2xf64>) {{
  %0:2 = "stablehlo.collective_broadcast"(%a, %b, %r) {{has_dynamic_root,
    replica_groups = dense<{0}> : tensor<{1}xi64>{2}}}
    : (tensor<3xui32>, tensor<2x2xf64>, tensor<2xi32>) -> (tensor<3xui32>, tensor<2x2xf64>)
  return %0#0, %0#1 : tensor<3xui32>, tensor<2x2xf64>
}}
}}"""


@pytest.mark.parametrize(("groups", "shape", "count"), GROUPS[:2])
def test_roots_that_are_values(
    groups: str, shape: str, count: int, library: Library, python: Path
) -> None:
    """The place of the root in the group, one for each operand."""
    _needs(library, "1.20.0")
    program = DYNAMIC.format(groups, shape, "")
    after = lowered(program, "dynamic-roots-to-slices").data
    generator = np.random.default_rng(0)
    roots = generator.integers(0, int(shape[-1]), (RUNS, 1, 2)).astype(np.int32)
    given: list[Any] = [
        bits(count),
        generator.standard_normal((RUNS, count, 2, 2)),
        np.repeat(roots, count, 1),
    ]
    wanted = interpret_replicated(portable.serialize(program).data, given, python=python)
    assert equal(run_replicated(after, given), wanted)


def test_roots_that_are_values_between_partitions(library: Library) -> None:
    """The ids are those of all devices then; a group of some processes is refused."""
    _needs(library, "1.20.0")
    program = DYNAMIC.format("[[1, 0]]", "1x2", CHANNEL)
    after = lowered(program, "dynamic-roots-to-slices")
    text = str(library.deserialize(after.data, library.context()))
    assert re.findall(r"handle = (\d+)", text) == ["4", "5"]
    assert text.count("use_global_device_ids") == 2
    with pytest.raises(DoesNotApply, match="do not include every process"):
        portable.serialize(
            DYNAMIC.format("[[1, 3]]", "1x2", ""), "0.9.0", allow=["dynamic-roots-to-slices"]
        )
