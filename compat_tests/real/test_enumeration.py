"""The language as the installed library offers it, against the tables of `features/`."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import portable
from portable.bytecode.vhlo import enums, lifetimes, ops
from portable.features.rules import rules
from portable.pinning.pipeline import NotExpressible
from portable.runtime.environments import Environment
from portable.version import Version
from tools.consumer import ERAS
from tools.enumeration import Enumeration, element_types, enum_values, forms, part, surprises
from tools.enumeration_read import misread
from tools.full_scan import Scanner

# One part of so many; 1/1 is all of them, which takes most of an hour.
PART = part(os.environ.get("ENUMERATE_PART", "1999/1999"))


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    """Return the installed jaxlib, driven without any code of `portable`."""
    return Scanner()


def _names() -> frozenset[str]:
    import jaxlib

    return forms(Path(jaxlib.__file__).parent)


def test_every_form_of_the_library_is_in_the_table() -> None:
    """Names of ops, types and attributes that stand in its binaries; the oldest are gone there."""
    known = {*ops(), *lifetimes("types"), *lifetimes("attributes")}
    found = _names()
    assert len(found) > 190
    assert found <= known


def test_every_enum_value_of_the_library_is_in_the_table(scanner: Scanner) -> None:
    """Its parser lists the values of each enum; those of the newest library are all there are."""
    found = enum_values(scanner, _names())
    known = enums()
    assert set(found) == set(known)
    for name, values in found.items():
        assert set(values) <= set(known[name])
    if scanner.current.startswith("1.22."):
        assert all(set(values) == set(known[name]) for name, values in found.items())


def test_every_op_of_the_bindings_is_varied(scanner: Scanner) -> None:
    """An op that no program has would not be seen at all."""
    enumeration = Enumeration(scanner)
    # What ends a region is varied with the op around it.
    assert set(enumeration.optional) - enumeration.ops <= {"stablehlo.return"}


def test_element_types_come_from_the_bindings(scanner: Scanner) -> None:
    """Every float that they have, those of StableHLO among them."""
    from jaxlib.mlir import ir

    with scanner.context, ir.Location.unknown():
        found = element_types(ir)
    assert {"f8E4M3FN", "f8E3M4", "f4E2M1FN", "tf32", "i2", "ui4", "complex<f64>"} <= set(found)


def test_a_sample_is_written_as_the_tables_say(scanner: Scanner) -> None:
    """At every target, and at no other; `ENUMERATE_PART=1/1` asks for everything."""
    assert not surprises(Enumeration(scanner, part=PART), scanner.targets)


@pytest.mark.parametrize("op", ["compare", "clamp", "custom_call"])
def test_an_op_is_written_as_the_tables_say(scanner: Scanner, op: str) -> None:
    """Every variation of it: among others the comparison types that came one by one."""
    assert not surprises(Enumeration(scanner, only=op, part=(7, 7)), scanner.targets)


# What 1.20 to 1.22 brought without a new name: the op, a part of its programs, our constraints.
UNTOLD = {
    "compare": ((1, 3), {"comparison_type_WEAKORDER"}),
    "convolution": ((1, 8), {"convolution_mixed_f8"}),
    "dynamic_conv": ((1, 8), {"dynamic_conv_mixed_f8"}),
    "dot_general": ((36, 37), {"dot_algorithm_f8E4M3FN", "dot_algorithm_f8E4M3FN_operations"}),
}


@pytest.mark.parametrize("op", UNTOLD)
def test_what_the_tables_lack_is_found(
    scanner: Scanner, op: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its constraint in the tables, by what the library writes alone."""
    if "1.22.0" not in scanner.targets:
        pytest.skip("the installed library is older")
    some, names = UNTOLD[op]
    for form, constraints in rules().constraints.items():
        left = [one for one in constraints if one.name not in names]
        monkeypatch.setitem(rules().constraints, form, left)
    # The first one ends it: each program is written at every target.
    programs = Enumeration(scanner, part=some, only=op)
    assert any(surprises([found], scanner.targets) for found in programs)


@pytest.mark.old_releases
def test_a_sample_is_read_as_predicted(
    scanner: Scanner, release: Callable[[str], Environment]
) -> None:
    """By Releases of every era; `python -m tools enumeration_read` asks twelve for everything."""
    readers = [name.removeprefix("jaxlib ") for name in ERAS if name.startswith("jaxlib ")]
    for reader in readers:
        release(f"jaxlib {reader}")
    programs = list(Enumeration(scanner, part=PART).lowest())
    assert len(programs) > 45
    assert not misread(programs, readers)


MIXED = """
func.func @main(%a: tensor<1x4x4x2xf8E4M3FN>, %b: tensor<2x2x2x3xf8E5M2>) -> tensor<1x3x3x3xf32> {
  OP
  return %0 : tensor<1x3x3x3xf32>
}"""
TYPES = "tensor<1x4x4x2xf8E4M3FN>, tensor<2x2x2x3xf8E5M2>"
DIMENSIONS = (
    "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} "
    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
)
DYNAMIC = """%p = stablehlo.constant dense<0> : tensor<2x2xi64>
  %0 = "stablehlo.dynamic_conv"(%a, %b, %p) {batch_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
    feature_group_count = 1 : i64} : (TYPES, tensor<2x2xi64>) -> tensor<1x3x3x3xf32>"""
ALGORITHM = """
func.func @main(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm =
    <lhs_precision_type = TYPE, rhs_precision_type = TYPE, accumulation_type = f32,
    lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = COUNT,
    allow_imprecise_accumulation = false>
    : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32> loc("model.py":1:2 to :8)
  return %0 : tensor<3x5xf32>
}"""
WEAKORDER = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %a, %a, WEAKORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}"""
SELECT = """
func.func @main(%a: tensor<4x4xf32>, %b: tensor<2x2xf32>, %c: tensor<f32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.select_and_scatter"(%a, %b, %c) <{padding = dense<0> : tensor<2x2xi64>,
    window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%d: tensor<f6E3M2FN>, %e: tensor<f6E3M2FN>):
    %1 = stablehlo.compare GE, %d, %e : (tensor<f6E3M2FN>, tensor<f6E3M2FN>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%d: tensor<f32>, %e: tensor<f32>):
    %1 = stablehlo.add %d, %e : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}"""
UNUSED = "%1 = stablehlo.constant dense<true> : tensor<i1>"
TAN = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tan %a : tensor<4xf32> loc("model.py":1:2 to :8)
  return %0 : tensor<4xf32>
}"""
PROGRAMS = {
    "convolution of mixed f8": (
        MIXED.replace(
            "OP",
            f"%0 = stablehlo.convolution(%a, %b) {DIMENSIONS} : ({TYPES}) -> tensor<1x3x3x3xf32>",
        ),
        "1.20.0",
    ),
    "dynamic_conv of mixed f8": (MIXED.replace("OP", DYNAMIC).replace("TYPES", TYPES), "1.20.0"),
    "WEAKORDER": (WEAKORDER, "1.22.0"),
    "f8 algorithm of three": (
        ALGORITHM.replace("TYPE", "f8E4M3FN").replace("COUNT", "3"),
        "1.21.0",
    ),
    "f8 algorithm of one": (ALGORITHM.replace("TYPE", "f8E4M3FN").replace("COUNT", "1"), "1.21.0"),
    "bf16 algorithm of three": (ALGORITHM.replace("TYPE", "bf16").replace("COUNT", "3"), "1.6.0"),
    "tan with a range": (TAN, "0.9.0"),
    "type of a block's arguments alone": (SELECT, "1.8.0"),
    "type of arguments that nothing uses": (re.sub("%1 = .*compare.*", UNUSED, SELECT), "1.8.0"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_advice_works_when_it_is_followed(scanner: Scanner, name: str) -> None:
    """Errors, `explain` and `minimum` name one Version, and it is reached, from every target."""
    text, lowest = PROGRAMS[name]
    if lowest not in scanner.targets:
        pytest.skip(f"{lowest} is newer than the installed library")
    assert str(portable.minimum(text).version) == lowest
    for target in itertools.islice(scanner.targets, 0, None, 4):
        found = portable.explain(text, target)
        for way in found.plans:
            portable.serialize(text, way.target, allow=way.allow)
        if Version.parse(target) >= Version.parse(lowest):
            assert found.reachable
            portable.serialize(text, target)
            continue
        assert not found.reachable
        with pytest.raises(NotExpressible, match=f"--target {lowest}") as caught:
            portable.serialize(text, target)
        assert str(caught.value.minimum) == str(found.pinned) == lowest
    portable.serialize(text, lowest)
