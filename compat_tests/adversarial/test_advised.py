"""Small artifacts that crash or refuse real readers are predicted so, from their bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_tests.adversarial.generators.kinds import artifacts
from compat_tests.helpers.bytecode_writer import Artifact as Written
from compat_tests.helpers.bytecode_writer import entry, operation, region
from portable.artifact import Artifact
from portable.prediction import examine, predict
from portable.prediction.parts import PARTS
from portable.verdict import Outcome, Stage

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


# One of each form; `real/test_kinds.py` has real Releases read every artifact of the generator.
WRONG = {
    "vhlo.float_v1/8.type = vhlo.i32_v1/13": "float attribute of a type that",
    "vhlo.integer_v1/9.type = vhlo.bool_v1/0": "integer attribute of a type that",
    "vhlo.tensor_v1/15.type = vhlo.f32_v1/4": "tensor attribute of a type that",
    "vhlo.quant_v1/24.storage = vhlo.token_v1/22": "quantized type stored as neither",
    "vhlo.quant_per_axis_v1/30.storage = vhlo.f16_v1/3": "quantized type stored as floating",
    "vhlo.axis_ref_v1/22.name = vhlo.bool_v1/2": "reference to a mesh axis whose",
    "vhlo.mesh_axis_v1/24.name = vhlo.bool_v1/2": "mesh axis whose",
    "vhlo.mesh_v1/25.axes.inner = vhlo.string_v1/14": "mesh whose axes",
    "vhlo.mesh_v1/25.axes = vhlo.string_v1/14": "mesh whose axes",
    "vhlo.dict_v1/6.entries = vhlo.bool_v1/2": "dictionary with a key",
    "vhlo.result_accuracy_v1/20.mode = vhlo.string_v1/14": "result accuracy whose",
    "vhlo.array_v1/1.elements = vhlo.type_extensions_v1/18": "bounds in something else",
    "right vhlo.type_extensions_v1/18": "bounds in something else",
    "vhlo.complex_v1/1.element = builtin.f32/5": "type or attribute of MLIR",
    "right builtin.unit/7": "type or attribute of MLIR",
    "builtin.location_name/14.name = vhlo.string_v1/14": "location that holds",
    "builtin.location_fused/13.locations = builtin.string/2": "location that holds",
}


def test_parts_of_wrong_kinds_are_found() -> None:
    """What has nothing wrong has none of the forms, and each wrong part is found for what it is."""
    made = {name: examine(Artifact.from_bytes(data)) for name, data in artifacts()}
    found = {name: [form for form in PARTS if made[name].occurs(form)] for name in made}
    for name, start in WRONG.items():
        assert [form for form in found[name] if form.startswith(start)] == found[name] != [], name
    # Properties of ops are in `unit/test_properties.py`.
    others = {"unranked memref", "property of an op that is an attribute of another kind"}
    assert {form for name in WRONG for form in found[name]} == PARTS.keys() - others
    right = [
        name
        for name in made
        if name.startswith(("right vhlo.", "right builtin.location_")) and name not in WRONG
    ]
    assert not [name for name in right if found[name]]
    assert found["right builtin.unranked_memref/18"][-1] == "unranked memref"


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
        assert (found.stage > Stage.DECODE) is (outcome is READ)  # there is no main to compile
