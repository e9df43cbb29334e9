"""Ops of dynamic shapes by constants, of older names, or in a map: compilers make them others."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from compat_tests.helpers.eras import versions
from compat_tests.helpers.matrices import ARTIFACTS
from compat_tests.helpers.twins import TWINS, made
from portable import PortableError, pin, predict
from portable.artifact import Artifact
from portable.bindings import LibraryError, find
from portable.prediction.subject import examine
from portable.runtime.executors import find_executor, random_inputs
from portable.verdict import Stage
from portable.version import Version

if TYPE_CHECKING:
    from collections.abc import Callable

    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

# What depends on how an artifact is written, not on its ops.
_WRITTEN = {"bytecode format 6", "target 0.15.0 or later"}
_TARGETS = ("0.9.0", "1.9.0", "1.13.0")


@cache
def _made(change: str) -> dict[str, tuple[Artifact, Artifact]]:
    """Return artifacts with plain ops, each with that with the others, by their names."""
    library, found = find("jaxlib"), {}
    for path in sorted(ARTIFACTS.glob("*.mlir.bc")):
        before = Artifact.load(path)
        context = library.context()
        try:
            text = made(str(library.deserialize(before.data, context)), change)
        except LibraryError:  # of newer StableHLO than this jaxlib has, or refused by it
            continue
        for target in _TARGETS if text else ():
            try:
                data = library.serialize(library.parse(text or "", context), Version.parse(target))
            except LibraryError:  # it needs a later one
                continue
            found[path.name] = before, Artifact.from_bytes(data)
            break
    return found


_COUNTS = {"dynamic": 100, "mapped": 300, "dot": 20, "einsum": 25, "broadcast": 20}


@pytest.mark.parametrize("change", TWINS)
def test_an_op_is_seen_as_the_plain_one(change: str) -> None:
    """Each form that an artifact has, or may have, its twin may have too."""
    twins = _made(change)
    assert len(twins) > _COUNTS[change]
    lost = {}
    for name, (before, after) in twins.items():
        if missing := examine(before).forms.keys() - _WRITTEN - examine(after).forms.keys():
            lost[name] = missing
    assert not lost


@pytest.mark.parametrize(("rows", "has"), [((10, 10), False), ((10, 3), None), ((3, 10), None)])
def test_two_that_differ_in_what_they_take_alone_are_both_seen(
    rows: tuple[int, int], has: bool | None
) -> None:
    """Of ten rows an index up to nine is in bounds, of three not."""
    gathers = "\n".join(
        f"""%r{at} = "stablehlo.dynamic_gather"(%a{at}, %n, %s) <{{
            dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
            start_index_map = [0], index_vector_dim = 1>}}>
            : (tensor<{count}x2xf32>, tensor<4x1xui8>, tensor<2xi64>) -> tensor<4x2xf32>"""
        for at, count in enumerate(rows)
    )
    taken = ", ".join(f"%a{at}: tensor<{count}x2xf32>" for at, count in enumerate(rows))
    artifact = pin(
        f"""func.func @main({taken}, %i: tensor<4x1xui8>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {{
          %s = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
          %nine = stablehlo.constant dense<9> : tensor<4x1xui8>
          %n = stablehlo.minimum %i, %nine : tensor<4x1xui8>
          {gathers}
          return %r0, %r1 : tensor<4x2xf32>, tensor<4x2xf32> }}""",
        "0.9.0",
    ).artifact
    assert examine(artifact).occurs("gather by indices that may be out of bounds") is has


@pytest.mark.parametrize("change", TWINS)
@pytest.mark.parametrize("version", versions("0.4.30", "0.5.3", "0.12.0.1"))
def test_a_release_compiles_what_it_is_predicted_to(
    version: str, change: str, release: Callable[[str], Environment]
) -> None:
    """Of the twins with other ops none that is predicted to compile fails."""
    name = f"jaxlib {version}"
    refused, seen = [], 0
    with find_executor("pjrt", release(name)) as executor:
        for program, (_, artifact) in _made(change).items():
            if not predict(artifact, name, stage=Stage.COMPILE).compatible:
                continue
            seen += 1
            try:
                executable = executor.compile(artifact)
                executable.run(random_inputs(executable.signature, 0))
            except PortableError as error:
                refused.append((program, error.what))
    assert seen > _COUNTS[change] // 2
    assert not refused
