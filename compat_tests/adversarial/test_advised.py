"""Small artifacts that crash or refuse real readers are predicted so, from their bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_tests.helpers.bytecode_writer import Artifact as Written
from compat_tests.helpers.bytecode_writer import entry, operation, region
from portable.artifact import Artifact
from portable.prediction import predict
from portable.verdict import Outcome

DATA = Path(__file__).parent / "data"
# Truth: what the four did on 2026-11-22 when they read each.
CRASHED, REFUSED, READ = Outcome.CRASHED, Outcome.INCOMPATIBLE, Outcome.COMPATIBLE
OBSERVED = {
    "integer_i2+1.3.0": (CRASHED, CRASHED, CRASHED, CRASHED),
    "tf32_splat+1.8.0": (CRASHED, READ, READ, READ),
    "argument_attribute+1.0.0": (REFUSED, REFUSED, REFUSED, REFUSED),
    "module_attribute+1.0.0": (REFUSED, REFUSED, REFUSED, REFUSED),
}
READERS = ("0.4.33", "0.6.2", "0.10.2", "0.12.0.1")


@pytest.mark.parametrize("name", OBSERVED)
def test_the_prediction_is_what_was_observed(name: str) -> None:
    """An integer attribute of two bits, a splat of tf32, attributes without a dialect's prefix."""
    artifact = Artifact.load(DATA / f"{name}.mlir.bc")
    found = tuple(predict(artifact, f"jaxlib {reader}").outcome for reader in READERS)
    # tf32 came with 1.8.0 of what is written; 0.4.33 has an older Version and dies all the same.
    assert found == OBSERVED[name]


@pytest.mark.parametrize("count", [1, 2000])
@pytest.mark.parametrize(("prefix", "outcome"), [("m.", READ), ("", REFUSED)])
def test_a_module_may_have_any_number_of_attributes(
    count: int, prefix: str, outcome: Outcome
) -> None:
    """It is not their number that readers refuse, but names without the prefix of a dialect."""
    names = [("builtin", entry(2, at)) for at in range(count)]
    pairs = [number for at in range(1, count + 1) for number in (at, at)]
    artifact = Written(
        attributes=[("builtin", entry(15)), *names, ("builtin", entry(1, count, *pairs))],
        properties=[entry(0, 0)],
        operations=[
            operation(0, attributes=count + 1, properties=0, regions=[region([])], isolated=True)
        ],
        strings=[f"{prefix}k{at:04}" for at in range(count)],
    )
    for reader in READERS:
        found = predict(Artifact.from_bytes(bytes(artifact)), f"jaxlib {reader}")
        assert found.outcome is outcome
