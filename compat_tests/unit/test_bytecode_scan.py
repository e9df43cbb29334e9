"""The quick scan and the careful walk see the same operations."""

from __future__ import annotations

from collections import Counter

import pytest

from compat_tests.helpers.bytecode_samples import SAMPLES, Sample
from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region
from portable import PortableError, inspect
from portable.bytecode import Bytecode, MalformedArtifact, read
from portable.bytecode import scan as scan_module
from portable.bytecode.operations import Operation, OpSignature
from portable.bytecode.scan import Scan

F32, F64 = ("vhlo", entry(4)), ("vhlo", entry(5))
UNKNOWN = ("builtin", entry(15))


@pytest.fixture
def _patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the patterns for artifacts of every size."""
    monkeypatch.setattr(scan_module, "_COMPILE_WORTHWHILE", 0)


def _walked(content: Bytecode) -> Counter[OpSignature]:
    def signature(op: Operation) -> OpSignature:
        return OpSignature(
            op.name, op.attributes, op.properties, op.results, len(op.operands), op.regions
        )

    return Counter(signature(op) for op in content.operations())


@pytest.mark.usefixtures("_patterns")
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_scan_counts_what_the_walk_finds(sample: Sample) -> None:
    """Op signature by op signature, patterns and the careful walk count the same operations."""
    content = read(sample.data)
    assert content.scan().signatures == _walked(content)


@pytest.mark.usefixtures("_patterns")
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_scan_locates_the_first_operations(sample: Sample) -> None:
    """For each OpSignature its first three operations, in the order of the program."""
    content = read(sample.data)
    expected: dict[OpSignature, list[tuple[int, int]]] = {}
    for op in content.operations():
        signature = OpSignature(
            op.name, op.attributes, op.properties, op.results, len(op.operands), op.regions
        )
        expected.setdefault(signature, []).append((op.offset, op.location))
    scan = content.scan()
    assert scan.locations(expected) == {one: places[:3] for one, places in expected.items()}
    assert [*scan.signatures] == [*expected]


@pytest.mark.parametrize("typed", [range(0, 60, 2), range(1, 60, 2), range(60)], ids=str)
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_patterns_know_as_much_of_wanted_operations(
    sample: Sample, typed: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Types of operands, what is in regions, and locations: as the careful walk finds them."""
    found = []
    for worthwhile in (0, 1 << 60):
        monkeypatch.setattr(scan_module, "_COMPILE_WORTHWHILE", worthwhile)
        content = read(sample.data)
        scan = content.scan([name for name in typed if name < len(content.names)])
        located = scan.locations(scan.signatures)
        found.append((scan.signatures, scan.bodies, scan.arguments, located, [*scan.signatures]))
    assert found[0] == found[1]


def _many(count: int, wide: int = 0) -> Artifact:
    """Return a block of many operations of every form that a pattern knows, and some others."""
    forms: list[bytes] = []
    for at in range(count):
        table = wide + at % 3
        forms += [
            operation(0, results=[0], operands=[at]),
            operation(0, results=[1], operands=[at] * (1 + at % 10), properties=table),
            operation(0, results=[0], attributes=table),
            operation(0, results=[0], attributes=table, properties=table, operands=[0, 1]),
            operation(0, results=[1], properties=table),
            operation(1, operands=[0]),
            operation(2, results=[0, 1], operands=[at]),
            operation(
                0,
                results=[0],
                operands=[0],
                properties=table,
                regions=[
                    region([operation(0, results=[0], operands=[0]), operation(1)], 3, [0, 1])
                ],
                isolated=bool(at % 2),
            ),
        ]
    values = 8 * count + 1
    top = operation(2, regions=[region(forms, values, [0])], isolated=True)
    return Artifact(
        names=["vhlo.add_v1", "vhlo.return_v1", "vhlo.while_v1"],
        attributes=[UNKNOWN] + [("builtin", entry(1, 0))] * (wide + 3),
        types=[F32, F64],
        properties=[b""] * (wide + 3),
        operations=[top],
    )


@pytest.mark.usefixtures("_patterns")
@pytest.mark.parametrize("wide", [0, 100, 9000])
def test_every_form_is_counted(wide: int) -> None:
    """Numbers of one, two and three bytes, few and many operands, regions and none."""
    content = read(bytes(_many(400, wide)))
    signatures = content.scan().signatures
    assert signatures == _walked(content)
    assert sum(signatures.values()) == 1 + 400 * 10


@pytest.mark.usefixtures("_patterns")
@pytest.mark.parametrize("count", [1, 2047, 2048, 2049, 9000])
def test_long_runs_are_counted_whole(count: int) -> None:
    """However many operations of one form follow each other, none is counted twice or lost."""
    body = [operation(0, results=[0], operands=[0])] * count
    top = operation(1, regions=[region(body, count + 1, [0])], isolated=True)
    artifact = Artifact(names=["vhlo.add_v1", "vhlo.while_v1"], types=[F32], operations=[top])
    assert sorted(read(bytes(artifact)).scan().signatures.values()) == sorted([1, count])


@pytest.mark.usefixtures("_patterns")
def test_operand_types_are_found_behind_runs() -> None:
    """Values are followed to arguments, into runs, and to operations with several results."""
    inside = region([operation(1, operands=[0])], 2, [0, 1])
    body = [operation(0, results=[at % 2], operands=[0]) for at in range(50)]
    body.append(operation(2, results=[0, 1, 0], operands=[0]))
    body.append(operation(3, results=[0], operands=[0, 1, 2, 51, 52, 53], regions=[inside]))
    top = operation(2, regions=[region(body, 60, [1])], isolated=True)
    artifact = Artifact(
        names=["vhlo.add_v1", "vhlo.return_v1", "vhlo.while_v1", "vhlo.reduce_v1"],
        types=[F32, F64],
        operations=[top],
    )
    signatures = read(bytes(artifact)).scan([3]).signatures
    (reduction,) = [signature for signature in signatures if signature.name == 3]
    assert reduction.operand_types == (1, 0, 1, 0, 1, 0)


@pytest.mark.usefixtures("_patterns")
def test_a_wanted_operation_is_not_hidden_in_a_run() -> None:
    """Operations whose operand types are asked for are read with them, though a run has them."""
    body = [operation(0, results=[at % 2], operands=[at - 1] * (at > 0)) for at in range(60)]
    top = operation(1, regions=[region(body, 61)], isolated=True)
    artifact = Artifact(names=["vhlo.add_v1", "vhlo.while_v1"], types=[F32, F64], operations=[top])
    scan = read(bytes(artifact)).scan([0])
    assert {signature.operand_types for signature in scan.signatures if signature.name == 0} >= {
        (0,),
        (1,),
    }
    assert sum(scan.signatures.values()) == 61
    assert all(
        len(found) == 3
        for found in scan.locations({s for s, n in scan.signatures.items() if n > 2}).values()
    )


@pytest.mark.usefixtures("_patterns")
def test_a_number_that_is_longer_than_it_has_to_be_hides_nothing() -> None:
    """Names are numbers; one that is written in two bytes although one does is the same name."""
    plain = operation(0, results=[0], operands=[0])
    assert plain[0] == 1
    longer = bytes([2, 0]) + plain[1:]
    body = [operation(1, results=[0], operands=[0])] * 9 + [longer, plain]
    top = operation(2, regions=[region(body, 20, [0])], isolated=True)
    names = ["vhlo.add_v1", "vhlo.abs_v1", "vhlo.while_v1"]
    artifact = Artifact(names=names, types=[F32], operations=[top])
    scan = read(bytes(artifact)).scan([0])
    (wanted,) = [signature for signature in scan.signatures if signature.name == 0]
    assert (wanted.operand_types, scan.signatures[wanted]) == ((0,), 2)


@pytest.mark.usefixtures("_patterns")
def test_what_is_in_the_regions_of_wanted_operations() -> None:
    """Each operation counts for the one whose region it is directly in, also in a run."""
    inner = region([operation(0, results=[0], operands=[0])] * 5, 9, [0])
    nested = region(
        [operation(2, regions=[inner], operands=[0]), operation(1, operands=[0])], 9, [0]
    )
    top = operation(3, regions=[region([operation(2, regions=[nested])], 9, [0])], isolated=True)
    names = ["vhlo.add_v1", "vhlo.return_v1", "vhlo.reduce_v1", "vhlo.while_v1"]
    artifact = Artifact(names=names, types=[F32], operations=[top])
    scan = read(bytes(artifact)).scan([2])
    assert {owner: {one.name for one in found} for owner, found in scan.bodies.items()} == {
        2: {0, 1, 2}
    }


@pytest.mark.usefixtures("_patterns")
@pytest.mark.parametrize(
    "bad", [operation(9, results=[0], operands=[0]), operation(0, results=[9], operands=[0])]
)
def test_patterns_check_indices_too(bad: bytes) -> None:
    """A name or a type that does not exist is malformed in the middle of a run as well."""
    body = [operation(0, results=[0], operands=[0])] * 20
    body[10] = bad
    top = operation(1, regions=[region(body, 30)], isolated=True)
    artifact = Artifact(names=["vhlo.add_v1", "vhlo.while_v1"], types=[F32], operations=[top])
    with pytest.raises(MalformedArtifact):
        read(bytes(artifact)).scan()


def test_patterns_are_left_alone_by_small_artifacts() -> None:
    """A small artifact is read before a pattern is compiled."""
    content = read(SAMPLES[0].data)
    found: Scan = content.scan()
    assert found.signatures == _walked(content)


@pytest.mark.usefixtures("_patterns")
@pytest.mark.parametrize("at", [5, 8, 9])
def test_an_operation_that_ends_a_block_is_the_last_one(at: int) -> None:
    """MLIR's verifier says `must be the last operation in the parent block`, in a run as well."""
    body = [operation(1, operands=[0])] * 10
    body[:at] = [operation(0, results=[0], operands=[0])] * at
    body[at + 1 : 9] = [operation(0, results=[0], operands=[0])] * (8 - at)
    function = operation(2, regions=[region(body, 11, [0])], isolated=True)
    artifact = Artifact(
        names=["vhlo.add_v1", "vhlo.return_v1", "vhlo.while_v1"],
        types=[F32],
        operations=[function],
    )
    invalid = read(bytes(artifact)).scan().invalid
    assert ("ends a block and is not the last one" in invalid) == (at < 9)


@pytest.mark.parametrize("at", range(0, 400, 3))
def test_damage_is_told_in_the_same_words_however_it_is_read(
    at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which operations patterns read depends on what a process read before; no answer does."""
    sample = SAMPLES[at % len(SAMPLES)].data
    byte = len(sample) - 1 - at * len(sample) // 400 % len(sample)
    damaged = sample[:byte] + bytes([sample[byte] ^ 0x82]) + sample[byte + 1 :]
    said = []
    for worthwhile in (0, 1 << 60):
        monkeypatch.setattr(scan_module, "_COMPILE_WORTHWHILE", worthwhile)
        said.append(_said(damaged))
    assert said[0] == said[1]


def _said(data: bytes) -> object:
    try:
        return inspect(data).record()
    except PortableError as error:
        return error.record()
