"""Programs of functions, of branches, and of ops that change nothing: compilers join them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from compat_tests.helpers.enclosed import enclosed
from compat_tests.helpers.identities import with_identities
from compat_tests.helpers.outlined import outlined
from compat_tests.helpers.thorough import some
from compat_tests.real.test_known_defects import CAUSES, SHOWN
from portable import pin, predict
from portable.bindings import LibraryError
from portable.bytecode import read
from portable.prediction.flow import INSIDE
from portable.prediction.forms import Reading, forms_in
from portable.runtime.executors import find_executor
from portable.verdict import Stage
from tools.hunt import PAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from portable.artifact import Artifact
    from portable.runtime.environments import Environment

pytestmark = pytest.mark.old_releases

_RELEASE = "jaxlib 0.12.0.1"
_T = "tensor<2xf32>"
# A constant, what is computed of it and %x, a value of that, and what should come of it.
PROGRAMS = {
    "divided by what has no reciprocal": (
        "1.0e38",
        f"%r = stablehlo.divide %x, %c : {_T}",
        [3e38, -2e38],
        [3.0, -2.0],
    ),
    "divides by the negative zero and zero": (
        "0.0",
        f"%s = stablehlo.add %x, %c : {_T}\n %r = stablehlo.divide %one, %s : {_T}",
        [-0.0, 2.0],
        [np.inf, 0.5],
    ),
}
_ONE = f"%one = stablehlo.constant dense<1.0> : {_T}"


def _program(name: str, where: str) -> str:
    number, compute, *_ = PROGRAMS[name]
    constant = f"%c = stablehlo.constant dense<{number}> : {_T}"
    ends = f"return %r : {_T}"
    if where == "main":
        return f"func.func @main(%x: {_T}) -> {_T} {{\n {constant}\n {_ONE}\n {compute}\n {ends} }}"
    if where == "branch":
        return f"""
        func.func @main(%x: {_T}) -> {_T} {{
            {constant}
            %yes = stablehlo.constant dense<true> : tensor<i1>
            %which = stablehlo.convert %yes : (tensor<i1>) -> tensor<i32>
            %r = "stablehlo.case"(%which) ({{
                stablehlo.return %x : {_T}
            }}, {{
                {_ONE}
                {compute.replace("%r", "%s2")}
                stablehlo.return %s2 : {_T}
            }}) : (tensor<i32>) -> {_T}
            {ends}
        }}"""
    if where == "loop":
        return _loop(
            f"""{constant}
            {_ONE}
            {compute}""",
            "%r",
        )
    return f"""
    func.func @main(%x: {_T}) -> {_T} {{
        {constant}
        %r = func.call @given(%x, %c) : ({_T}, {_T}) -> {_T}
        {ends}
    }}
    func.func private @given(%x: {_T}, %c: {_T}) -> {_T} {{
        {_ONE}
        {compute}
        {ends}
    }}"""


def _loop(
    computes: str,
    gives: str,
    *,
    begin: int = 0,
    ends: str = "LT, %i, %end",
    end: int = 1,
    by: int = 1,
    type_: str = "i32",
) -> str:
    """Return a program that computes something in a loop."""
    n = f"tensor<{type_}>"
    return f"""func.func @main(%arg: {_T}) -> {_T} {{
        %begin = stablehlo.constant dense<{begin}> : {n}
        %end = stablehlo.constant dense<{end}> : {n}
        %last:2 = "stablehlo.while"(%begin, %arg) ({{
        ^bb0(%i: {n}, %x: {_T}):
            %goes = stablehlo.compare {ends} : ({n}, {n}) -> tensor<i1>
            stablehlo.return %goes : tensor<i1>
        }}, {{
        ^bb0(%i: {n}, %x: {_T}):
            %by = stablehlo.constant dense<{by}> : {n}
            %next = stablehlo.add %by, %i : {n}
            {computes}
            stablehlo.return %next, {gives} : {n}, {_T}
        }}) : ({n}, {_T}) -> ({n}, {_T})
        return %last#1 : {_T}
    }}"""


@pytest.mark.parametrize(
    ("how", "once"),
    [
        ({}, True),
        ({"end": 2}, False),  # twice
        ({"begin": 1}, False),  # never
        ({"end": 2, "by": 2}, True),
        ({"begin": 5, "end": 5, "ends": "EQ, %i, %end"}, True),
        ({"begin": 5, "end": 5, "ends": "NE, %i, %end"}, False),
        ({"begin": 0, "end": 0, "ends": "GE, %end, %i"}, True),
        ({"begin": 0, "end": -1, "ends": "LT, %end, %i", "by": -1}, True),
        ({"begin": 0, "end": -2, "ends": "LT, %end, %i", "by": -1}, False),
        ({"begin": 250, "end": 249, "ends": "GT, %i, %end", "by": 5, "type_": "ui8"}, False),
    ],
)
def test_the_body_of_a_loop_that_runs_once_is_left(how: dict[str, Any], *, once: bool) -> None:
    """In its place, with what is handed to it: where it counts from a constant up to one."""
    text = _loop(f"%s = stablehlo.sine %x : {_T}", "%s", **how)
    walk = _reading(pin(text, "0.14.0").artifact).canonicalized().walk
    found = {visit.name for visit in walk}
    assert ("vhlo.while_v1" not in found) is once
    if once:
        (sine,) = walk.of(["vhlo.sine"])
        assert (sine.sources, sine.operands) == ((None,), (0,))


@pytest.mark.parametrize("where", ["main", "function", "branch", "loop"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_constant_that_is_handed_on_is_one(
    name: str, release: Callable[[str], Environment], where: str
) -> None:
    """XLA computes the same, which is wrong, and no Verdict is green."""
    artifact = pin(_program(name, where), "0.14.0").artifact
    given, right = PROGRAMS[name][2:]
    with find_executor("pjrt", release(_RELEASE)) as executor:
        (found,) = executor.compile(artifact).run([np.asarray(given, np.float32)])
    assert not np.allclose(found, right)
    assert not predict(artifact, _RELEASE, stage=Stage.EXECUTE).compatible


@pytest.mark.parametrize(
    ("by", "branches", "taken"),
    [
        ("dense<true> : tensor<i1>", 2, 0),
        ("dense<false> : tensor<i1>", 2, 1),
        *((f"dense<{one}> : tensor<i32>", 3, one) for one in range(3)),
        *((f"dense<{one}> : tensor<i32>", 3, 2) for one in (3, -1, 2**31 - 1)),
    ],
)
def test_the_branch_that_a_constant_decides_for_is_left(by: str, branches: int, taken: int) -> None:
    """The first of `if` where it is true; of `case` the last where there is none of that number."""
    names = ("sine", "cosine", "tanh")
    regions = ", ".join(
        f"{{ %b = stablehlo.{name} %x : {_T}\n stablehlo.return %b : {_T} }}"
        for name in names[:branches]
    )
    kind, type_ = "case" if branches > 2 else "if", by.partition(": ")[2]
    text = f"""func.func @main(%x: {_T}) -> {_T} {{
        %c = stablehlo.constant {by}
        %r = "stablehlo.{kind}"(%c) ({regions}) : ({type_}) -> {_T}
        return %r : {_T}
    }}"""
    walk = _reading(pin(text, "0.14.0").artifact).canonicalized().walk
    found = [visit.name.partition(".")[2].removesuffix("_v1") for visit in walk]
    assert found == ["module", "func", "constant", names[taken], "return"]


CORPUS = Path(__file__).parents[2] / "corpus"
TEXTS = (
    {name: cause.program for name, cause in CAUSES.items()}
    | {name: (PAGE.parent / name / "program.mlir").read_text("utf-8") for name in SHOWN}
    | {
        path.parent.name: path.read_text("utf-8")
        for path in CORPUS.glob("*/*/*.mlir")
        if path.parent.name != "function_empty_module"
    }
)
WRONG = {name: cause.releases for name, cause in CAUSES.items()} | SHOWN


@pytest.mark.parametrize("name", some(sorted(TEXTS), each=8, first=0))
def test_functions_make_no_difference(name: str) -> None:
    """A program of which each op stands in a function of its own is what it was, put together."""
    one, other = _both(name, outlined)
    assert [*_together(other)] == [*_together(one)]
    _demand_no_less(name, one, other)


@pytest.mark.parametrize("name", some(sorted(TEXTS), each=8, first=1))
def test_branches_that_are_always_taken_make_no_difference(name: str) -> None:
    """Of a program of which each op stands in a branch that a constant decides for."""
    _demand_no_less(name, *_both(name, enclosed))


@pytest.mark.parametrize("name", some(sorted(TEXTS), each=8, first=2))
def test_what_changes_nothing_makes_no_difference(name: str) -> None:
    """Reshapes, transposes, conversions and others that give what they take, between all ops."""
    first = sorted(TEXTS).index(name)
    _demand_no_less(name, *_both(name, lambda text: with_identities(text, first)))


def _both(name: str, change: Callable[[str], str | None]) -> tuple[Artifact, Artifact]:
    """Return a program as it is, and changed."""
    try:
        text = change(TEXTS[name]) or TEXTS[name]
    except LibraryError as error:
        pytest.skip(f"this StableHLO does not have it: {error}")
    one, other = (
        pin(each, "current", allow_dialects=["sdy"]).artifact for each in (TEXTS[name], text)
    )
    return one, other


def _demand_no_less(name: str, one: Artifact, other: Artifact) -> None:
    """Every form is found in the other too, and where the one is wrong no Verdict is green."""
    found, before = (forms_in(_reading(each)) for each in (other, one))
    assert before.keys() <= found.keys()
    for release in WRONG.get(name, ()):
        assert not predict(other, release, stage=Stage.EXECUTE).compatible


def _reading(artifact: Artifact) -> Reading:
    return Reading(read(artifact.data), artifact.data)


def _together(artifact: Artifact) -> Iterator[tuple[object, ...]]:
    """Yield for each operation of main what it is, where it stands and what it takes.

    A value of a body is named by the number of values before it in that body.
    """
    reading = _reading(artifact).canonicalized()
    walk, firsts = reading.walk, reading.firsts
    for visit in walk:
        taken = []
        values = reading.flow.operands(visit)
        for value, number in zip(values, visit.operands, strict=True):
            within = [first for first in firsts[: visit.number + 1] if first <= number]
            inside = value[1] == INSIDE
            taken.append((number - max(within), inside) if inside else value)
        yield visit.name, visit.operation.depth, walk.around[visit.number], visit.sources, taken
