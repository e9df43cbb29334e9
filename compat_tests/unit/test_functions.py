"""Which function a name means: names that occur twice, modules in modules, calls of nothing."""

from __future__ import annotations

import pytest

from compat_tests.helpers.called import CRASHING, PROGRAMS, REFUSED, UNUSED, written
from portable.bytecode import read
from portable.prediction import predict
from portable.prediction.forms import Reading, forms_in
from portable.verdict import Outcome, Stage

RELEASES = ("jaxlib 0.4.33", "jaxlib 0.6.2", "jaxlib 0.12.0.1")
WITHOUT_MAIN = {"an inner main alone", "two modules"}
TWICE, NOTHING, ITSELF = (
    "name that two functions or modules of one module have",
    "call of a function that its module does not have",
    "function that calls itself",
)


def _reading(name: str) -> Reading:
    artifact = written(name)
    return Reading(read(artifact.data), artifact.data)


def _found(name: str) -> set[str]:
    return {*forms_in(_reading(name))}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_release_does_is_predicted(name: str, release: str) -> None:
    """`real/test_functions.py` compares the same with what Releases do."""
    verdict = predict(written(name), release, stage=Stage.EXECUTE)
    if name in REFUSED:
        assert (verdict.outcome, verdict.stage) == (Outcome.INCOMPATIBLE, Stage.DECODE)
    elif name in CRASHING or (name, release) == (UNUSED, "jaxlib 0.4.33"):
        assert (verdict.outcome, verdict.stage) == (Outcome.CRASHED, Stage.COMPILE)
    elif name in WITHOUT_MAIN:
        assert (verdict.outcome, verdict.stage) == (Outcome.INCOMPATIBLE, Stage.COMPILE)
    else:
        assert verdict.compatible


@pytest.mark.parametrize("name", sorted({*PROGRAMS} - REFUSED - CRASHING - WITHOUT_MAIN))
def test_what_main_calls_is_put_in_its_place(name: str) -> None:
    """The program adds, and does not multiply: that is in functions of other modules."""
    names = [visit.name for visit in _reading(name).canonicalized().walk]
    assert names == ["builtin.module", "vhlo.func_v1", "vhlo.add_v1", "vhlo.return_v1"]


@pytest.mark.parametrize("name", sorted({*PROGRAMS} - REFUSED - CRASHING - WITHOUT_MAIN))
def test_values_go_to_the_function_that_is_meant(name: str) -> None:
    """What main takes comes to the add, and what that gives to main; nothing else is reached."""
    reading = _reading(name)
    flow, main = reading.flow, reading.functions.main
    ops = ("vhlo.add_v1", "vhlo.multiply_v1")
    reached = flow.reached([(main, -1)], lambda _: True, ops)
    computed = {reading.walk[number].name for number, _ in reached} & {*ops}
    assert computed == {"vhlo.add_v1"}
    assert (main, 0) in reached


@pytest.mark.parametrize(
    "name", ["two functions of one name", "two mains", "a call of nothing", "a call of a module"]
)
def test_a_call_that_is_not_clear_hands_nothing_on(name: str) -> None:
    """It stays a call, and what it gives may be anything."""
    reading = _reading(name)
    assert not reading.flow.reached([(reading.functions.main, -1)], lambda _: True, ()) & {
        (visit.number, 0) for visit in reading.walk.of(["vhlo.call_v1"])
    }
    together = reading.canonicalized().walk
    assert all(visit.name != "vhlo.multiply_v1" for visit in together)


def test_each_form_is_found_where_it_is() -> None:
    """In the programs that are refused or never end, and in no other."""
    found = {name: _found(name) for name in PROGRAMS}
    assert {name for name, forms in found.items() if ITSELF in forms} == CRASHING
    assert {name for name, forms in found.items() if forms & {TWICE, NOTHING}} == REFUSED
    for name, forms in found.items():
        assert (TWICE in forms) == (name == "two mains" or "of one name" in name)


@pytest.mark.parametrize("name", sorted({*PROGRAMS} - REFUSED - CRASHING))
def test_iree_refuses_a_module_in_a_module(name: str) -> None:
    """As nine Releases of it do; it compiles the others to what they add."""
    verdict = predict(written(name), "iree-base-compiler 3.13.0", stage=Stage.COMPILE)
    inner = "inner" in name or "modules" in name
    assert verdict.outcome is (Outcome.INCOMPATIBLE if inner else Outcome.COMPATIBLE)
