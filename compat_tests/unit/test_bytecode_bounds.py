"""Artifacts made to hurt: they are read in proportion to their size, or refused with a place."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import pytest

from compat_tests.helpers.bytecode_samples import SAMPLES, Sample
from compat_tests.helpers.bytecode_writer import (
    DATA,
    DIALECT,
    IR,
    OFFSETS,
    PROPERTIES,
    STRING,
    UNKNOWN_LOCATION,
    Artifact,
    entry,
    operation,
    region,
    section,
    varint,
)
from portable.bytecode import MAGIC, MalformedArtifact, read, scan
from portable.bytecode.checking import check_entries
from portable.bytecode.encoding import Cursor
from portable.bytecode.text import attribute_text, location_text, type_text
from portable.features import analyze

HEAD = MAGIC + varint(6) + b"StableHLO_v1.0.0\0"
UNKNOWN = ("builtin", entry(UNKNOWN_LOCATION))
ARRAY, NAME_LOCATION, CALL_SITE, FILE, RANGE = 0, 14, 10, 11, 22
VHLO_TUPLE, VHLO_COMPLEX, VHLO_F32 = 23, 1, 4


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"\x01", 0),
        (b"\xff", 127),
        (b"\x02\x02", 128),
        (b"\xfe\xff", (1 << 14) - 1),
        (b"\x80\0\0\0\0\0\0\1", 1 << 48),
        (b"\0\xff\xff\xff\xff\xff\xff\xff\xff", (1 << 64) - 1),
    ],
)
def test_numbers_are_prefix_coded(data: bytes, value: int) -> None:
    """The trailing zeros of the first byte tell how many bytes follow it."""
    cursor = Cursor(data, 0, len(data))
    assert cursor.varint() == value
    assert cursor.done()


@pytest.mark.parametrize("value", [0, 1, 63, 64, 127, 128, 2**14, 2**21, 2**35, 2**56, 2**64 - 1])
def test_runs_of_numbers_are_read_as_one_by_one(value: int) -> None:
    """Reading many numbers at once gives what reading each gives, wherever a long one stands."""
    for at in range(0, 70, 7):
        numbers = [3] * 70
        numbers[at] = value
        data = b"".join(map(varint, numbers))
        cursor = Cursor(data, 0, len(data))
        assert cursor.varints(70) == numbers
        assert cursor.done()


@pytest.mark.parametrize("data", [b"", b"\x02", b"\0\1\2\3", b"\x80\1"])
def test_a_number_that_is_cut_short_is_malformed(data: bytes) -> None:
    """No number reaches behind its part of the buffer."""
    cursor = Cursor(data + b"\xff" * 9, 0, len(data))
    with pytest.raises(MalformedArtifact):
        cursor.varint()


@pytest.mark.parametrize("sample", SAMPLES[:3], ids=str)
def test_every_prefix_is_malformed(sample: Sample) -> None:
    """An artifact that ends too early is never taken for a whole one."""
    data = sample.data
    for length in range(len(data)):
        with pytest.raises(MalformedArtifact):
            analyze(read(data[:length]))


def test_trailing_bytes_are_malformed() -> None:
    """Bytes behind the last section are no section."""
    with pytest.raises(MalformedArtifact):
        read(SAMPLES[0].data + b"\xff\1")


def test_a_newer_format_is_refused_by_name() -> None:
    """A bytecode format that nobody knows yet is told as such, at its place."""
    with pytest.raises(MalformedArtifact, match="format 7 is newer than 6") as caught:
        read(bytes(Artifact(format=7)))
    assert caught.value.offset == 4


def test_a_second_section_of_a_kind_is_malformed() -> None:
    """Two sections of one kind leave open which counts."""
    with pytest.raises(MalformedArtifact, match="a second section"):
        read(bytes(Artifact(operations=[operation(0)])) + section(IR, varint(0)))


@pytest.mark.parametrize("missing", [STRING, DIALECT, DATA, OFFSETS, IR, PROPERTIES])
def test_a_missing_section_is_malformed(missing: int) -> None:
    """Each of the six sections that every artifact has, since format 5, is asked for."""
    present = {
        STRING: section(STRING, varint(0)),
        DIALECT: section(DIALECT, varint(0) + varint(0)),
        DATA: section(DATA, b""),
        OFFSETS: section(OFFSETS, varint(0) + varint(0)),
        IR: section(IR, varint(0)),
        PROPERTIES: section(PROPERTIES, varint(0)),
    }
    assert list(read(HEAD + b"".join(present.values())).operations()) == []
    del present[missing]
    with pytest.raises(MalformedArtifact, match="missing"):
        read(HEAD + b"".join(present.values()))


def test_native_properties_need_their_section_from_format_5_on() -> None:
    """MLIR writes the section always since then; format 4 has none."""
    artifact = Artifact(format=5, operations=[operation(0)])
    without = bytes(artifact).replace(section(PROPERTIES, varint(0)), b"")
    assert len(without) < len(bytes(artifact))
    assert len(list(read(bytes(artifact)).operations())) == 1
    with pytest.raises(MalformedArtifact, match="section PROPERTIES is missing"):
        read(without)


@pytest.mark.parametrize("count", [4096, 4097])
def test_as_many_names_of_operations_are_read_as_are_promised(count: int) -> None:
    """4,096, alike or not; VHLO has some hundred."""
    artifact = bytes(Artifact(names=["vhlo.add_v1"] * count))
    if count == 4096:
        assert len(read(artifact).names) == count
    else:
        with pytest.raises(MalformedArtifact, match="4,097 operation names; at most 4,096"):
            _ = read(artifact).names


def test_no_entry_is_without_bytes() -> None:
    """The size has a flag in its lowest bit: 1 is no bytes, 2 one byte of text, 3 one of code."""
    for coded in (0, 1, 2, 3):
        sections = {
            STRING: section(STRING, varint(1) + varint(5) + b"vhlo\0"),
            DIALECT: section(DIALECT, varint(1) + varint(0) + varint(0)),
            DATA: section(DATA, bytes(coded >> 1)),
            OFFSETS: section(
                OFFSETS, varint(1) + varint(0) + varint(0) + varint(1) + varint(coded)
            ),
            IR: section(IR, varint(0)),
            PROPERTIES: section(PROPERTIES, varint(0)),
        }
        data = HEAD + b"".join(sections.values())
        if coded >> 1:
            assert len(read(data).pool.attributes) == 1
        else:
            with pytest.raises(MalformedArtifact, match="empty entry"):
                read(data)


def test_more_numbers_than_there_are_bytes_are_named() -> None:
    """Each takes a byte at least; how many bytes there are in front of them does not matter."""
    assert Cursor(bytes([1] * 8), 5, 8).varints(3) == [0, 0, 0]
    with pytest.raises(MalformedArtifact, match="4 numbers exceed the remaining section size"):
        Cursor(bytes([1] * 8), 5, 8).varints(4)


@pytest.mark.parametrize(
    ("number", "content"),
    [
        (STRING, varint(1 << 40)),
        (STRING, varint(1) + varint(5) + b"abc\0"),
        (STRING, varint(1) + varint(0)),
        (DIALECT, varint(1) + varint(1 << 30)),
        (DIALECT, varint(0) + varint(1 << 40)),
        (OFFSETS, varint(1 << 50) + varint(0)),
        (OFFSETS, varint(1) + varint(0) + varint(0) + varint(0)),
        (IR, varint(1 << 40)),
        (IR, varint(2) + varint(0)),
        (9, b""),
    ],
)
def test_counts_and_indices_are_checked(number: int, content: bytes) -> None:
    """What is announced and is not there is malformed, without room being made for it."""
    present = {
        STRING: varint(0),
        DIALECT: varint(0) + varint(0),
        DATA: b"",
        OFFSETS: varint(0) + varint(0),
        IR: varint(0),
        PROPERTIES: varint(0),
    }
    present[number] = content
    data = HEAD + b"".join(section(at, inside) for at, inside in present.items())
    with pytest.raises(MalformedArtifact) as caught:
        list(read(data).operations())
    assert 0 <= caught.value.offset <= len(data)


@pytest.mark.parametrize(
    "body",
    [
        operation(1),
        operation(0, attributes=7),
        operation(0, properties=7),
        operation(0, results=[7]),
        operation(0, operands=[7]),
        operation(0, regions=[region([operation(0, results=[0, 0])], values=1)]),
        operation(0, regions=[region([], values=0, arguments=[7])]),
    ],
)
def test_what_an_operation_points_to_exists(body: bytes) -> None:
    """Names, locations, attributes, properties, types and values are checked."""
    artifact = Artifact(types=[("vhlo", entry(VHLO_F32))], operations=[body])
    with pytest.raises(MalformedArtifact):
        list(read(bytes(artifact)).operations())


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("what", ["results", "operands", "arguments", "attributes", "properties"])
def test_what_is_pointed_to_is_checked_to_the_last(what: str, count: int) -> None:
    """The last of each table is read and the next is malformed, alone and behind others."""
    tables = {"results": 2, "operands": 2, "arguments": 2, "attributes": 2, "properties": 2}
    for beyond in (0, 1):
        last = tables[what] - 1 + beyond
        numbers = [0] * (count - 1) + [last]
        inner = {
            "results": operation(0, results=numbers),
            "operands": operation(0, operands=numbers),
            "arguments": operation(0),
            "attributes": operation(0, attributes=last),
            "properties": operation(0, properties=last),
        }[what]
        arguments = numbers if what == "arguments" else [0, 1]
        artifact = Artifact(
            attributes=[("builtin", entry(15))] * 2,
            types=[("vhlo", entry(VHLO_F32))] * 2,
            properties=[b"", b""],
            operations=[operation(0, regions=[region([inner], 6, arguments)])],
        )
        if beyond:
            with pytest.raises(MalformedArtifact):
                list(read(bytes(artifact)).operations())
        else:
            assert len(list(read(bytes(artifact)).operations())) == 2


@pytest.mark.parametrize("values", [0, 1, 2])
def test_a_region_may_define_what_it_announces_and_no_more(values: int) -> None:
    """Results and arguments count together."""
    inside = region([operation(0, results=[0])], values, [0])
    artifact = Artifact(
        types=[("vhlo", entry(VHLO_F32))], operations=[operation(0, regions=[inside])]
    )
    if values == 2:
        assert len(list(read(bytes(artifact)).operations())) == 2
    else:
        with pytest.raises(MalformedArtifact, match=f"defines . values and announces {values}"):
            list(read(bytes(artifact)).operations())


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("depth", [10, 3000])
def test_regions_nest_without_recursion(depth: int, *, isolated: bool) -> None:
    """Operations inside operations are walked however deep they are."""
    body = operation(0)
    for _ in range(depth):
        body = operation(0, regions=[region([body])], isolated=isolated)
    content = read(bytes(Artifact(names=["vhlo.while_v1"], operations=[body])))
    assert [op.depth for op in content.operations()] == list(range(depth + 1))
    assert sum(content.scan().signatures.values()) == depth + 1
    analyze(content)


def test_a_reduction_in_each_of_many_regions_is_cheap() -> None:
    """Finding the type of a value does not take longer the deeper the operation lies."""
    body = operation(0, results=[0], operands=[0, 0])
    for _ in range(2000):
        inside = region([body], values=1)
        body = operation(0, results=[0], operands=[0, 0], regions=[inside])
    top = operation(0, regions=[region([body], values=2, arguments=[0])], isolated=True)
    artifact = Artifact(
        names=["vhlo.reduce_v1"], types=[("vhlo", entry(VHLO_F32))], operations=[top]
    )
    assert analyze(read(bytes(artifact))).caveats == ()


def test_types_nest_without_recursion() -> None:
    """A type inside thousands of types is judged, and its text is cut."""
    types = [("vhlo", entry(VHLO_F32))]
    types += [("vhlo", entry(VHLO_COMPLEX, number)) for number in range(5000)]
    artifact = Artifact(
        names=["vhlo.add_v1"],
        types=types,
        operations=[operation(0, regions=[region([operation(0, results=[5000])], values=1)])],
    )
    content = read(bytes(artifact))
    assert str(analyze(content).minimum.version) == "0.9.0"
    assert type_text(content.pool, 5000).endswith("..." + ">" * 5)


@pytest.mark.parametrize("link", [0, 1])
def test_an_entry_that_contains_itself_is_malformed(link: int) -> None:
    """A circle of types, of one or of two, is refused and not followed."""
    types = [("vhlo", entry(VHLO_COMPLEX, link)), ("vhlo", entry(VHLO_TUPLE, 1, 0))]
    artifact = Artifact(
        names=["vhlo.add_v1"],
        types=types,
        operations=[operation(0, regions=[region([operation(0, results=[0])], values=1)])],
    )
    content = read(bytes(artifact))
    with pytest.raises(MalformedArtifact, match="contains itself"):
        analyze(content)
    assert "..." in type_text(content.pool, 0)


@pytest.mark.parametrize(
    "circle",
    [
        entry(NAME_LOCATION, 0, 0),
        entry(CALL_SITE, 0, 0),
        entry(FILE, 0, 1, 2),
        entry(12, 9, *[0] * 9),
    ],
)
def test_locations_in_circles_have_a_text(circle: bytes) -> None:
    """A location that leads back to itself is not followed for ever."""
    content = read(bytes(Artifact(attributes=[("builtin", circle)], operations=[operation(0)])))
    assert location_text(content.pool, 0)
    assert attribute_text(content.pool, 0)


def test_arrays_of_arrays_do_not_explode() -> None:
    """The text of an attribute has a limit, although each array doubles the one inside it."""
    attributes = [UNKNOWN, ("builtin", entry(ARRAY, 0))]
    attributes += [("builtin", entry(ARRAY, 9, *[at + 1] * 9)) for at in range(60)]
    content = read(bytes(Artifact(attributes=attributes, operations=[operation(0)])))
    assert len(attribute_text(content.pool, 61)) < 100_000


def test_a_large_dictionary_is_read_once() -> None:
    """Many operations can share one large dictionary without reading it each time."""
    size = 4000
    names = [("builtin", entry(2, 0))]  # a string, number 0 of the strings
    pairs = ("builtin", entry(1, size, *[1, 0] * size))
    artifact = Artifact(
        names=["vhlo.tanh_v2"],
        attributes=[UNKNOWN, *names, pairs],
        types=[("vhlo", entry(VHLO_TUPLE, 0)) for _ in range(3000)],
        strings=["result_accuracy"],
        operations=[
            operation(
                0,
                regions=[
                    region(
                        [operation(0, attributes=2, results=[at]) for at in range(3000)],
                        values=3000,
                    )
                ],
            )
        ],
    )
    content = read(bytes(artifact))
    assert sum(content.scan().signatures.values()) == 3001
    analyze(content)


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("patterns", [False, True])
@pytest.mark.parametrize("results", [(), (0,)])
@pytest.mark.parametrize("tables", [{}, {"properties": 0}, {"attributes": 2}])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"location": 9}, "there is no attribute 9|location 9 is out of range|no location 9"),
        ({"location": 300}, "300"),
        ({"location": 1}, "is not a location"),
        ({"operands": [9000]}, "9000"),
        ({"operands": [0, 9000]}, "9000"),
    ],
)
def test_what_an_operation_names_is_there(
    monkeypatch: pytest.MonkeyPatch,
    wrong: dict[str, Any],
    what: str,
    *,
    inside: bool,
    patterns: bool,
    tables: dict[str, Any],
    results: tuple[int, ...],
    count: int,
) -> None:
    """A location that is none, and a value that nothing defines, in operations of any form."""
    monkeypatch.setattr(scan, "_COMPILE_WORTHWHILE", 0 if patterns else sys.maxsize)
    right = [operation(0, results=[0])] * count
    regions = [region([])] if inside else []
    bad = operation(0, results=results, regions=regions, **tables, **wrong)
    values = count + len(results)

    def artifact(last: bytes) -> bytes:
        body = region([*right, last], values=values)
        return bytes(
            Artifact(
                names=["vhlo.add_v1"],
                types=[("vhlo", entry(VHLO_F32))],
                attributes=[UNKNOWN, ("vhlo", entry(2, 1)), ("builtin", entry(1, 0))],
                properties=[b""],
                operations=[operation(0, regions=[body], isolated=True)],
            )
        )

    good: dict[str, Any] = {"operands": [0]} if "operands" in wrong else {}
    fine = operation(0, results=results, regions=regions, **tables, **good)
    analyze(read(artifact(fine)))
    with pytest.raises(MalformedArtifact, match=what):
        analyze(read(artifact(bad)))
    with pytest.raises(MalformedArtifact, match=what):
        list(read(artifact(bad)).operations())


@pytest.mark.parametrize("last", [0, 99])
def test_of_two_entries_with_one_beginning_both_are_checked(last: int) -> None:
    """Two call sites differ in their second location, whatever byte is in front of each."""
    line = ("builtin", entry(FILE, 0, 1, 128))  # 128 is written as the bytes 2 and 2
    sites = [("builtin", entry(CALL_SITE, 0, to)) for to in (0, last)]
    artifact = Artifact(attributes=[UNKNOWN, line, sites[0], line, sites[1]], strings=["a.py"])
    pool = read(bytes(artifact)).pool
    if last:
        with pytest.raises(MalformedArtifact):
            check_entries(pool)
    else:
        check_entries(pool)


@pytest.mark.parametrize("others", [0, 300])
@pytest.mark.parametrize("code", [FILE, RANGE])
@pytest.mark.parametrize("numbers", range(8))
@pytest.mark.parametrize("declared", range(8))
def test_places_of_any_length_are_decoded_as_one_by_one(
    others: int, code: int, numbers: int, declared: int
) -> None:
    """Lines and columns are as many as they say, among few locations and among many.

    A place of the first form is a file, a line and a column; of the second a file, and how many
    numbers there are.
    """
    last = entry(code, *[0, declared, *[700] * numbers][: numbers + 1])
    good = entry(RANGE, 0, 2, 1, 70_000)
    texts = [entry(2, 0)] + [good] * others + [last]
    artifact = Artifact(attributes=[("builtin", text) for text in texts], strings=["a.py"])
    right = numbers == 2 if code == FILE else numbers == declared + 1
    pool = read(bytes(artifact)).pool
    with contextlib.nullcontext() if right else pytest.raises(MalformedArtifact):
        check_entries(pool)
    if right:
        fields = pool.attribute(others + 1).fields
        assert fields.get("positions", [fields.get("line"), fields.get("column")]) == (
            [declared, 700] if code == FILE else [700] * declared
        )
