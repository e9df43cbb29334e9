"""What many operations share is not looked at again for each of them, whatever form they have."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING

import pytest

from compat_tests.adversarial.generators.joined import (
    JOINTS,
    joined,
    named,
    needed,
    of_any_counts,
    of_constants,
)
from compat_tests.adversarial.generators.programs import GROWING, PROGRAMS, growing
from compat_tests.adversarial.measuring import measured
from compat_tests.helpers.counting import CountedBytes, steps
from compat_tests.helpers.thorough import pairs, some
from portable import serialize
from portable.bytecode import read
from portable.bytecode.vhlo import ops
from portable.errors import PortableError
from portable.features import analyze
from portable.prediction.forms import FORMS, Reading
from portable.prediction.subject import subject_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# So many operations, then twice and four times as many.
# A number that many others divide, so that the last operation is of the same kind in each size.
FEW = 24
# How much more may be done for each byte of the last ones than of those before: twice as much where
# each looks back at the others.
GROWTH = 1.1
# Of divisions it is 0.8 to 1.3 by the number that is begun with, from 24 to 768 of them, and does
# not rise.
MORE_GROWTH = {"divide_v1": 1.25, "remainder_v1": 1.25}
# Numbers from 128 on take two bytes, and are not read as fast.
GROWTH_OF_MANY = 1.3
_ROUNDS = 9
_TURNS = 20


def _work(data: CountedBytes) -> int:
    """Return the steps that an artifact takes, and the bytes that are copied out of it."""

    def examined() -> None:
        reading = Reading(read(data), data)
        subject_of(reading, analyze(reading.content))

    data.copied = 0
    return steps(examined) + data.copied


def growth(make: Callable[[int], bytes], more: int = 0) -> float:
    """Return how much more each of many operations takes than each of few, and so many more."""
    made = [CountedBytes(make(n + more)) for n in (FEW, 2 * FEW, 4 * FEW)]
    one, two, four = map(len, made)
    # The first times read tables, and learn which operations are alike.
    worked: list[int] = []
    for _ in range(_ROUNDS):
        before, worked = worked, [*map(_work, made)]
        if worked == before:
            break
    first, second, third = worked
    return (third - second) / (four - two) / ((second - first) / (two - one))


BESIDE: dict[str, list[str]] = {}
for _rule in FORMS.values():
    for _group in (_groups := needed(_rule).groups):
        for _name in _group:
            BESIDE.setdefault(_name, []).extend(one[0] for one in _groups)


@pytest.mark.parametrize("name", some(ops(), each=3))
def test_a_constant_that_many_operations_take_is_not_read_for_each(name: str) -> None:
    """Of every op of VHLO, and constants of all sorts: full, of one value, in another shape."""
    grown = growth(lambda n: of_constants(name, n, sorted({*BESIDE.get(name, ())})))
    assert grown < MORE_GROWTH.get(name, GROWTH)


@pytest.mark.parametrize(("name", "turn"), pairs(ops(), range(_TURNS), each=_TURNS))
def test_an_op_of_any_counts_is_examined(name: str, turn: int) -> None:
    """With more and fewer operands, results and regions than it can have: a reader refuses it."""
    luck = random.Random(f"{name} {turn}")  # noqa: S311 - repeatable, not secret
    data = of_any_counts(name, luck, sorted({*BESIDE.get(name, ())}))
    reading = Reading(read(data), data)
    with contextlib.suppress(PortableError):
        subject_of(reading, analyze(reading.content))


# Forms that need the same are looked for in the same artifacts.
ALONE = {str(needed(rule)): form for form, rule in FORMS.items()}
SHIFTS = (0, 1, 5)


@pytest.mark.parametrize(("form", "joint"), pairs(ALONE.values(), JOINTS, each=12))
def test_a_form_does_not_look_back_for_each_operation(form: str, joint: str) -> None:
    """Of what a form needs, as many as can be, joined in every way.

    Where a form is found at once at one size, others look like growth: then other sizes decide.
    """
    grown = (growth(lambda n: joined(FORMS[form], joint, n), more) for more in SHIFTS)
    assert any(found < GROWTH_OF_MANY for found in grown)


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_named_or_captured_is_not_looked_at_for_each(program: str) -> None:
    """One function of many calls and composites, one string, dictionary or value of many ops."""
    pytest.importorskip("jaxlib")
    assert growth(lambda n: bytes(serialize(PROGRAMS[program](n), "1.9.0"))) < GROWTH_OF_MANY


# What doubles with each operation is out of bounds after so many.
LONG = 70


@pytest.mark.parametrize("element", GROWING)
def test_no_number_grows_with_each_operation(element: str, tmp_path: Path) -> None:
    """An estimate of 600 bytes of squares had two to the 26th digits; in a child with limits."""
    pytest.importorskip("jaxlib")
    path = tmp_path / "growing.mlir.bc"
    path.write_bytes(bytes(serialize(growing(element, LONG), "1.9.0")))
    taken = measured("predict", path)
    assert taken.status == 0, taken.said
    assert growth(lambda n: bytes(serialize(growing(element, n), "1.9.0"))) < GROWTH_OF_MANY


def test_an_op_without_a_version_is_none_of_a_kind() -> None:
    """`vhlo.call` is no call: it has the forms of what is called anything else."""
    kinds = sorted({name.rpartition("_v")[0] for name in ops()})
    found = []
    for names in (kinds, [f"unknown{at}" for at in range(len(kinds))]):
        data = named([f"vhlo.{name}" for name in names])
        reading = Reading(read(data), data)
        found.append(subject_of(reading, analyze(reading.content)).forms)
    assert found[0] == found[1]
