"""Which operation uses the results of which, against what MLIR itself says of the same programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import portable
from compat_tests.helpers.sealed import CASES
from portable.bytecode import read
from portable.prediction import Reading
from portable.prediction.forms import forms_in

pytestmark = pytest.mark.old_releases

# Regions that use values from outside, nested and isolated ones, several functions and results.
PROGRAMS = (
    "whole_attention", "whole_lstm", "whole_scan", "whole_training_step", "whole_top_k",
    "whole_random_bits",
)  # fmt: skip


def _walked(operations: Any) -> list[Any]:
    """Return operations, outer ones before those in their regions."""
    found = []
    for operation in operations:
        found.append(operation.operation)
        for region in operation.regions:
            for block in region:
                found += _walked(block)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_operands_come_from_the_operations_that_mlir_says(name: str) -> None:
    """Every operand of every operation; arguments of blocks come from none."""
    artifact = max(CASES[name].artifacts, key=lambda one: one.target)
    data = Path(artifact.path).read_bytes()
    content = read(data)
    ours = [(content.names[one.name].name, sources) for one, sources in content.uses()]
    module = portable.deserialize(data)
    theirs = _walked([module.operation])
    assert [name.rpartition("_")[0] or name for name, _ in ours] == [
        one.name.rpartition(".")[2] for one in theirs
    ]
    numbers = {
        result: (n, at) for n, one in enumerate(theirs) for at, result in enumerate(one.results)
    }
    for number, one in enumerate(theirs):
        expected = [numbers.get(value) for value in one.operands]
        assert list(ours[number][1]) == expected, one
    assert sum(len(sources) for _, sources in ours) > 10


MAIN = "func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32>"
UNUSED, USED = (
    f"{MAIN} {{ %0 = stablehlo.add %a, {other} : tensor<4xf32> return %0 : tensor<4xf32> }}"
    for other in ("%a", "%b")
)


@pytest.mark.parametrize(
    ("outer", "inner", "unused"), [(UNUSED, USED, True), (USED, UNUSED, False)]
)
@pytest.mark.parametrize("order", ["{outer} {module}", "{module} {outer}"])
def test_a_program_begins_with_the_main_of_the_outer_module(
    outer: str, inner: str, unused: bool, order: str
) -> None:
    """XLA executes that one; what stands in a module inside is another program's."""
    both = order.format(outer=outer, module=f"module @inner {{ {inner} }}")
    data = portable.serialize(f"module {{ {both} }}", "1.0.0").data
    found = forms_in(Reading(read(data), data))
    assert found.get("argument from which nothing is computed", False) is unused
