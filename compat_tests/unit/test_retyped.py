"""Types and numbers that StableHLO's verifier refuses are predicted as real jaxlibs refuse them.

`PORTABLE_RETYPED=1/1` takes every artifact instead of one in 13; `python -m tools retyped` asks
the Releases again and writes the record.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest

from compat_tests.helpers.bytecode_samples import SAMPLES
from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region, varint
from portable.artifact import Artifact as Portable
from portable.bytecode import MalformedArtifact, read
from portable.bytecode.vhlo import ops
from portable.features import analyze
from portable.prediction import examine
from portable.prediction.dimensions import RULES
from portable.prediction.forms import Reading
from portable.prediction.mistyped import mistyped
from tools.byte_changes import predicted, unpack
from tools.enumeration import part
from tools.retyped import READERS, RECORD, artifacts

CORPUS = Path(__file__).parents[2] / "corpus"
FIRST, EACH = part(os.environ.get("PORTABLE_RETYPED", "5/13"))


def test_a_changed_type_or_number_is_predicted_as_it_was_seen() -> None:
    """Nothing that is read is refused, and nothing more than on record is refused and predicted."""
    record = json.loads(RECORD.read_text("utf-8"))
    real = [unpack(record["marks"][reader]) for reader in READERS]
    made = artifacts()
    assert [len(found) for found in real] == [len(made)] * len(READERS)
    green = {*record["green"]}
    assert len(green) < len(made) / 1000
    for at in range(FIRST - 1, len(made), EACH):
        what, data = made[at]
        pairs = {*zip(predicted(data, READERS), (one[at] for one in real), strict=True)}
        assert ("-", "+") not in pairs, what
        assert bool(pairs & {("+", "-"), ("+", "x")}) == (what in green), what


def test_every_op_with_a_rule_is_changed() -> None:
    """The corpus has an artifact with each."""
    changed = {what.partition(" ")[0] for what, _ in artifacts()}
    assert {*RULES} <= changed | {"create_token"}


def test_what_serializers_wrote_is_right() -> None:
    """Every eleventh sealed artifact, of what nothing else is wrong with."""
    for path in sorted(CORPUS.glob("*/*/artifacts/*.mlir.bc"))[::11]:
        data = path.read_bytes()
        reading = Reading(read(data), data)
        if not analyze(reading.content).unreadable:
            assert not mistyped(reading), path


@pytest.mark.parametrize("count", [0, 1])
def test_arguments_outside_of_any_operation_are_refused(count: int) -> None:
    """Readers look into the module and crash: all jaxlibs from 0.4.33 to 0.12.0.1."""
    operations = [operation(0, regions=[region([])])] * count
    sound = bytes(Artifact(operations=operations))
    assert not examine(Portable.from_bytes(sound)).unreadable
    # The lowest bit says that there are arguments: none, and no orders of their uses.
    head = varint(count << 1 | 1) + varint(0) + b"\0"
    changed = bytes(Artifact(operations=operations, head=head))
    assert "arguments outside" in examine(Portable.from_bytes(changed)).unreadable


@pytest.mark.parametrize("op", sorted(RULES))
def test_an_op_without_operands_or_results_is_no_internal_error(op: str) -> None:
    """Any number of operands may be written, also where a rule looks at the first."""
    (name,) = [one for one in ops() if one.rpartition("_v")[0] == op][:1]
    for results in ([], [1]):
        body = [operation(1, results=results)]
        module = operation(0, regions=[region(body, len(results))])
        data = bytes(
            Artifact(
                names=("builtin.module", f"vhlo.{name}"),
                types=[("vhlo", entry(4)), ("vhlo", entry(20, 0, 0))],
                operations=[module],
            )
        )
        with suppress(MalformedArtifact):
            examine(Portable.from_bytes(data))


def test_samples_of_bytecode_are_read_as_before() -> None:
    """No rule raises anything but what a damaged artifact is refused with."""
    for sample in SAMPLES:
        examine(Portable.from_bytes(sample.data))
