"""Required Version and minimum target: two answers, and what forces each."""

from __future__ import annotations

import pytest

from compat_tests.helpers.bytecode_samples import SAMPLES, Sample, minimums
from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, region
from portable.bytecode import read
from portable.bytecode.layouts import table as layouts
from portable.bytecode.vhlo import enums, ops
from portable.features import Analysis, FeatureKind, Strictness, analyze
from portable.features.verifier import violation
from portable.version import Version

UNKNOWN_LOCATION = ("builtin", entry(15))
F32 = ("vhlo", entry(4))
NONE = next(code for code, row in layouts("vhlo", "types").items() if row.name == "none_v1")
F8E4M3 = ("vhlo", entry(35))


def _sample(name: str) -> Sample:
    return next(sample for sample in SAMPLES if sample.name == name)


def _analyze(artifact: Artifact, strictness: Strictness = Strictness.READABLE) -> Analysis:
    return analyze(read(bytes(artifact)), strictness=strictness)


def _block(*body: bytes, values: int = 9) -> bytes:
    """Return an operation number 0 around others; its region has one argument of type 0."""
    return operation(0, regions=[region(body, values, [0])], isolated=True)


def _names(analysis: Analysis) -> dict[str, str]:
    return {feature.name: str(feature.version) for feature in analysis.minimum.features}


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
@pytest.mark.parametrize("strictness", Strictness)
def test_minimum_target_is_the_lowest_that_serializes(
    sample: Sample, strictness: Strictness
) -> None:
    """Whichever release wrote it and for which target: the program's minimum target is the same."""
    analysis = analyze(read(sample.data), strictness=strictness)
    assert str(analysis.minimum.version) == minimums()[sample.program]
    assert analysis.unknown == ()


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_required_version_lies_between_minimum_and_target(sample: Sample) -> None:
    """Bytes written for a target need no more than it, and no less than their program."""
    analysis = analyze(read(sample.data))
    assert analysis.required.version is not None
    assert analysis.minimum.version is not None
    assert analysis.minimum.version <= analysis.required.version <= Version.parse(sample.target)


@pytest.mark.parametrize(
    ("name", "required"),
    [
        # Refused by jaxlib 0.5.3, 0.8.0, 0.9.2 and 0.10.2 (1.17.0), read by 0.12.0.1 (1.22.0).
        ("classic-jaxlib-0.12.0.1-1.22.0", "1.18.0"),
        ("modern-jaxlib-0.12.0.1-1.22.0", "1.18.0"),
        # Read by jaxlib 0.5.3, which is 1.10.0.
        ("modern-jaxlib-0.12.0.1-1.12.0", "1.10.0"),
        ("classic-jaxlib-0.12.0.1-1.0.0", "0.15.0"),
        ("classic-jaxlib-0.12.0.1-0.11.0", "0.10.0"),
        # In format 5, which jaxlib 0.4.13 (0.13.4) reads.
        ("classic-jaxlib-0.4.18-0.14.0", "0.13.0"),
        ("classic-jaxlib-0.4.13-0.9.0", "0.9.0"),
    ],
)
def test_required_version_is_that_of_the_forms_as_written(name: str, required: str) -> None:
    """A form that could be written in an older one still has to be read as it is."""
    assert str(analyze(read(_sample(name).data)).required.version) == required


def test_features_name_what_forces_the_version() -> None:
    """Each Feature tells kind, Version, how often, where, and why nothing older would do."""
    analysis = analyze(read(_sample("modern-jaxlib-0.12.0.1-1.22.0").data))
    features = {feature.name: feature for feature in analysis.minimum.features}
    accuracy, ranges = features["exponential_v2"], features["location_file_line_col_range"]
    assert (accuracy.kind, accuracy.version) == (FeatureKind.OP, Version(1, 9, 0))
    assert accuracy.reason == "result_accuracy is not the default"
    assert accuracy.locations == ("net.py:8:3 (vhlo.exponential_v2)",)
    assert (ranges.kind, ranges.count) == (FeatureKind.LOCATION, 1)
    assert ranges.locations == ("net.py:7:3",)
    assert "expander" in ranges.workaround
    assert str(features["tan_v1"].version) == "1.4.0"
    assert str(features["all_reduce_v2"].version) == "1.5.0"
    assert features["all_reduce_v2"].reason == "it has more than one operand"
    assert str(features["f8E4M3_v1"].version) == "1.7.0"
    assert str(features["custom_call_typed_ffi"].version) == "1.3.0"
    assert str(features["custom_call_dictionary_config"].version) == "1.3.0"
    assert str(features["composite_v1"].version) == "0.19.0"
    assert str(features["quant_per_axis_v1"].version) == "0.18.0"


def test_features_are_ordered_and_cut_at_a_target() -> None:
    """The highest Version comes first; above a target are those that stand in its way."""
    needs = analyze(read(_sample("modern-jaxlib-0.12.0.1-1.22.0").data)).minimum
    versions = [feature.version for feature in needs.features]
    assert versions == sorted(versions, reverse=True)
    assert {feature.name for feature in needs.above(Version(1, 5, 2))} == {
        "exponential_v2",
        "f8E4M3_v1",
        "location_file_line_col_range",
        "result_accuracy_mode_v1",
        "result_accuracy_v1",
    }
    assert needs.above(Version(1, 9, 0)) == ()


def test_upstream_does_not_look_at_locations() -> None:
    """Ranges pass the serializer at any target, so only what readers need counts them."""
    artifact = Artifact(
        attributes=[("builtin", entry(22, 1, 2, 3, 4)), ("builtin", entry(2, 0))],
        strings=["a.py"],
        operations=[operation(0)],
    )
    assert _names(_analyze(artifact)) == {"location_file_line_col_range": "1.8.5"}
    assert _names(_analyze(artifact, Strictness.UPSTREAM)) == {}


def test_types_inside_per_axis_quantized_types_count_for_readers() -> None:
    """The serializer does not look at the storage type; a reader has to know it."""
    # flags, storage, expressed, axis, minimum, maximum, one scale, one zero point
    quantized = ("vhlo", entry(30, 1, 1, 2, 0, 0, 0, 1, 0, 1, 0))
    artifact = Artifact(
        names=["vhlo.while_v1", "vhlo.add_v1"],
        types=[quantized, ("vhlo", entry(31)), F32],
        operations=[_block(operation(1, results=[0], operands=[0, 0]))],
    )
    assert _names(_analyze(artifact)) == {"i2_v1": "1.2.0", "quant_per_axis_v1": "0.18.0"}
    assert _names(_analyze(artifact, Strictness.UPSTREAM)) == {"quant_per_axis_v1": "0.18.0"}


def test_promotion_compares_operands_with_results() -> None:
    """A reduction whose result has another element type needs 0.17, any other does not."""
    body = region([], values=0)
    for result, expected in ((0, {}), (1, {"reduction_promotes": "0.17.0"})):
        artifact = Artifact(
            names=["vhlo.while_v1", "vhlo.reduce_v1"],
            types=[F32, ("vhlo", entry(5))],
            operations=[_block(operation(1, results=[result], operands=[0, 0], regions=[body]))],
        )
        assert _names(_analyze(artifact)) == expected


def test_a_value_without_a_type_is_a_caveat() -> None:
    """Where a reduction uses what is defined later, its promotion is not judged, and told so."""
    artifact = Artifact(
        names=["vhlo.while_v1", "vhlo.reduce_v1"],
        types=[F32],
        operations=[_block(operation(1, results=[0], operands=[2]), operation(0, results=[0]))],
    )
    (caveat,) = _analyze(artifact).caveats
    assert "reduce_v1" in caveat.text


@pytest.mark.parametrize("operands", [1, 2])
def test_a_variadic_collective_is_downgraded_with_one_operand(operands: int) -> None:
    """One operand fits the older form, two do not; as written, both need the newer one."""
    artifact = Artifact(
        names=["vhlo.while_v1", "vhlo.all_gather_v2"],
        types=[F32],
        operations=[_block(operation(1, results=[0], operands=[0] * operands))],
    )
    analysis = _analyze(artifact)
    assert str(analysis.minimum.version) == ("0.9.0" if operands == 1 else "1.5.0")
    assert str(analysis.required.version) == "1.5.0"


def test_what_only_the_serializer_asks_for_is_not_required() -> None:
    """A dot algorithm in f8E4M3FN is written from 1.21 on, but readers since 1.6 read it."""
    fields = ops()["dot_general_v2"].attributes
    numbers = [1 if field.endswith("_precision_type") else 2 for field in fields]
    artifact = Artifact(
        names=["vhlo.while_v1", "vhlo.dot_general_v2"],
        attributes=[UNKNOWN_LOCATION, ("vhlo", entry(17, 1)), ("vhlo", entry(17, 0))],
        types=[F32, ("vhlo", entry(6))],
        properties=[entry(*numbers)],
        operations=[_block(operation(1, results=[0], operands=[0, 0], properties=0))],
    )
    analysis = _analyze(artifact)
    assert str(analysis.minimum.version) == "1.21.0"
    assert str(analysis.required.version) == "1.6.0"


@pytest.mark.parametrize(("size", "fits"), [(8, True), (24, True), (5, False), (16, False)])
def test_a_complex_constant_has_two_parts_for_each_number(size: int, *, fits: bool) -> None:
    """Three complex<f32> take 24 bytes; 8 are one number for all of them."""
    artifact = Artifact(
        names=["builtin.module", "vhlo.constant_v1"],
        attributes=[UNKNOWN_LOCATION, ("vhlo", entry(15, 2, size) + bytes(size))],
        types=[F32, ("vhlo", entry(1, 0)), ("vhlo", entry(20, 1, 6, 1))],
        properties=[entry(1)],
        operations=[_block(operation(1, results=[2], properties=0))],
    )
    content = read(bytes(artifact))
    said = violation(content, content.scan().signatures)
    assert said == ("" if fits else "a constant with data that do not fit its type")


@pytest.mark.parametrize("name", ["module", "unrealized_conversion_cast"])
@pytest.mark.parametrize("operands", [[], [0]])
def test_a_module_takes_nothing_and_a_cast_does(name: str, operands: list[int]) -> None:
    """MLIR's verifier says `requires zero operands` of builtin.module."""
    inner = operation(1, operands=operands, regions=[region([])] * (name == "module"))
    artifact = Artifact(
        names=["builtin.module", f"builtin.{name}"], types=[F32], operations=[_block(inner)]
    )
    content = read(bytes(artifact))
    refused = violation(content, content.scan().signatures).startswith("a module with operands")
    assert refused == (name == "module" and bool(operands))


@pytest.mark.parametrize("dictionary", [False, True])
def test_what_an_older_form_lacks_is_not_needed_for_it(*, dictionary: bool) -> None:
    """A dot_general without an algorithm is written as its first form, without none types.

    Its attributes are properties, or stand in a dictionary, as in formats without properties.
    """
    fields = ops()["dot_general_v2"].attributes
    dropped = set(fields) - set(ops()["dot_general_v1"].attributes)
    numbers = [1 if field in dropped else 2 for field in fields]
    names = [("builtin", entry(2, at)) for at in range(len(fields))]
    pairs = [one for at, number in enumerate(numbers) for one in (4 + at, number)]
    artifact = Artifact(
        names=["vhlo.while_v1", "vhlo.dot_general_v2"],
        attributes=[
            UNKNOWN_LOCATION,
            ("vhlo", entry(17, 1)),
            ("vhlo", entry(17, 0)),
            ("builtin", entry(1, len(fields), *pairs)),
            *names,
        ],
        types=[F32, ("vhlo", entry(NONE))],
        strings=fields,
        properties=[entry(*numbers)],
        operations=[
            _block(
                operation(
                    1, results=[0], operands=[0, 0],
                    attributes=3 if dictionary else None,
                    properties=None if dictionary else 0,
                )
            )
        ],
    )  # fmt: skip
    analysis = _analyze(artifact)
    assert str(analysis.required.version) == "1.6.0"
    assert str(analysis.minimum.version) == "0.9.0"


def test_what_only_an_argument_needs_has_no_operation_as_its_example() -> None:
    """Written as its older form, the dot_general has no none type; an argument still has it."""
    fields = ops()["dot_general_v2"].attributes
    dropped = set(fields) - set(ops()["dot_general_v1"].attributes)
    product = operation(1, results=[0], operands=[0, 0], properties=0)
    artifact = Artifact(
        names=["vhlo.while_v1", "vhlo.dot_general_v2"],
        attributes=[UNKNOWN_LOCATION, ("vhlo", entry(17, 1)), ("vhlo", entry(17, 0))],
        types=[F32, ("vhlo", entry(NONE))],
        properties=[entry(*(1 if field in dropped else 2 for field in fields))],
        operations=[operation(0, regions=[region([product], 3, [0, 1])], isolated=True)],
    )
    analysis = _analyze(artifact)
    for needs, operations in ((analysis.required, 1), (analysis.minimum, 0)):
        (none,) = (one for one in needs.features if one.name == "none_v1")
        assert (none.count, len(none.locations)) == (1, operations)


def test_unknown_operations_are_legal_and_bounded_by_the_claim() -> None:
    """A form that no table knows is named, and both Versions are at least the claimed one."""
    sample = _sample("classic-jaxlib-0.12.0.1-1.22.0")
    analysis = analyze(read(sample.data.replace(b"tanh_v2", b"tanh_v9")))
    assert analysis.unknown == ("vhlo.tanh_v9",)
    assert analysis.required.version == analysis.minimum.version == Version(1, 22, 0)


def test_unknown_operations_without_a_claim_have_no_version() -> None:
    """An unknown form in an artifact that claims no Version leaves both open."""
    artifact = Artifact(names=["vhlo.new_v1"], operations=[operation(0)], producer="MLIR17.0.0git")
    analysis = _analyze(artifact)
    assert analysis.unknown == ("vhlo.new_v1",)
    assert analysis.required.version is None
    assert analysis.minimum.version is None


@pytest.mark.parametrize("table", ["types", "attributes"])
def test_unknown_types_and_attributes_are_named_by_code(table: str) -> None:
    """A code that no table knows is told with its dialect."""
    new = ("vhlo", entry(999))
    artifact = Artifact(
        names=["vhlo.while_v1", "vhlo.constant_v1"],
        types=[F32, new if table == "types" else F32],
        attributes=[UNKNOWN_LOCATION, new if table == "attributes" else UNKNOWN_LOCATION],
        properties=[entry(1)],
        operations=[_block(operation(1, results=[1], properties=0))],
        producer="StableHLO_v1.30.2",
    )
    analysis = _analyze(artifact)
    assert analysis.unknown == (f"vhlo {table[:-1]} code 999",)
    assert analysis.required.version == Version(1, 30, 0)
    assert any("claims 1.30.2" in caveat.text for caveat in analysis.caveats)


@pytest.mark.parametrize("name", enums())
def test_a_value_that_an_enum_does_not_have_is_unknown(name: str) -> None:
    """The number after the last is reported with its enum; those of the table are not."""
    (code,) = [at for at, layout in layouts("vhlo", "attributes").items() if layout.name == name]
    values = enums()[name].values()

    def unknown(value: int) -> tuple[str, ...]:
        artifact = Artifact(
            names=["vhlo.while_v1", "vhlo.constant_v1"],
            types=[F32],
            attributes=[UNKNOWN_LOCATION, ("vhlo", entry(code, value))],
            properties=[entry(1)],
            operations=[_block(operation(1, results=[0], properties=0))],
            producer="StableHLO_v1.22.0",
        )
        return _analyze(artifact).unknown

    assert not any(unknown(value) for value in values)
    after = max(values) + 1
    assert unknown(after) == (f"vhlo attribute {name} value {after}",)


def test_a_false_claim_does_not_change_what_is_needed() -> None:
    """What the bytes need comes from the bytes, whatever the header says."""
    data = _sample("modern-jaxlib-0.12.0.1-1.12.0").data
    spoofed = analyze(read(data.replace(b"StableHLO_v1.12.0", b"StableHLO_v0.99.9")))
    assert spoofed.required == analyze(read(data)).required


def test_other_dialects_are_a_feature_and_a_caveat() -> None:
    """Operations of another dialect count for readers; nobody can judge them."""
    artifact = Artifact(names=["builtin.module", "sdy.mesh"], operations=[operation(1)])
    analysis = _analyze(artifact)
    (feature,) = analysis.minimum.features
    assert (feature.kind, feature.name, feature.count) == (FeatureKind.DIALECT, "sdy", 1)
    assert [caveat.text for caveat in analysis.caveats] == [
        "operations of the dialect sdy: not VHLO, not judged"
    ]
    assert _names(_analyze(artifact, Strictness.UPSTREAM)) == {}


def test_attributes_of_other_dialects_are_a_caveat() -> None:
    """A discardable attribute of another dialect is listed, not judged."""
    dictionary = ("builtin", entry(1, 1, 2, 3))
    artifact = Artifact(
        names=["vhlo.while_v1"],
        attributes=[UNKNOWN_LOCATION, dictionary, ("builtin", entry(2, 0)), ("sdy", entry(4))],
        strings=["sdy.sharding"],
        operations=[operation(0, attributes=1)],
    )
    assert [caveat.text for caveat in _analyze(artifact).caveats] == [
        "attribute of the dialect sdy: not VHLO, not judged"
    ]


def test_removed_operations_tell_until_when_they_were_read() -> None:
    """A form that newer readers dropped is known, with the Versions on both sides."""
    artifact = Artifact(
        names=["vhlo.while_v1", "vhlo.trace_v1"],
        types=[F32],
        operations=[_block(operation(1, operands=[0]), operation(1, operands=[0]))],
        producer="StableHLO_v0.9.0",
    )
    analysis = _analyze(artifact)
    (removed,) = analysis.removed
    assert (removed.name, removed.count) == ("trace_v1", 2)
    assert removed.last < removed.refused
    assert analysis.unknown == ()


def test_types_of_unused_arguments_are_required() -> None:
    """A reader has to know every type in the table, used by a result or not."""
    artifact = Artifact(names=["vhlo.while_v1"], types=[F8E4M3], operations=[_block(values=1)])
    assert str(_analyze(artifact).required.version) == "1.7.0"


def test_a_type_of_nothing_is_required_and_named() -> None:
    """Readers decode the table of types; what is found in operations is not listed again."""
    artifact = Artifact(
        names=["vhlo.while_v1", "vhlo.add_v1"],
        types=[F32, F8E4M3],
        operations=[_block(operation(1, results=[0], operands=[0, 0]))],
    )
    required = _analyze(artifact).required
    assert str(required.version) == "1.7.0"
    kinds = [(str(one.kind), one.name, one.count) for one in required.features]
    assert kinds[0] == ("type", "f8E4M3_v1", 1)
    used = Artifact(
        names=["vhlo.while_v1", "vhlo.add_v1"],
        types=[F32, F8E4M3],
        operations=[_block(*[operation(1, results=[1], operands=[0, 0])] * 2)],
    )
    found = [one.count for one in _analyze(used).required.features if one.name == "f8E4M3_v1"]
    assert found == [2]


def test_an_empty_program_needs_the_minimum() -> None:
    """Where nothing forces a Version, the oldest one will do."""
    analysis = _analyze(Artifact(operations=[operation(0)]))
    assert (analysis.minimum.version, analysis.minimum.features) == (Version(0, 9, 0), ())
    assert str(analysis.required.version) == "0.15.0"  # the bytecode format


@pytest.mark.parametrize("count", [1, 2, 5])
def test_what_is_not_judged_is_counted(count: int) -> None:
    """How many operations of another dialect there are, one or many."""
    body = [operation(1, results=[0])] * count
    artifact = Artifact(
        names=["builtin.module", "other.op"], types=[F32], operations=[_block(*body)]
    )
    counts = {caveat.text: caveat.count for caveat in _analyze(artifact).caveats}
    assert counts == {"operations of the dialect other: not VHLO, not judged": count}
