"""Whole artifacts of real releases, compared with what jaxlib itself prints of them."""

from __future__ import annotations

import hashlib
import mmap
import re
import struct
from pathlib import Path

import pytest

from compat_tests.helpers.bytecode_samples import SAMPLES, Sample
from compat_tests.helpers.bytecode_writer import Artifact, entry, operation, varint
from portable.bytecode import Bytecode, read
from portable.bytecode.entries import Blob
from portable.bytecode.text import attribute_text, location_files, location_text, type_text
from portable.bytecode.vhlo import enum_case

_OPERATION = re.compile(r'^ *(?:%[\w:, ]+ = )?"([\w.-]+)"\(([^()]*)\)', re.MULTILINE)
_FLOAT = re.compile(r"-?\d\.\d+[eE][-+]\d+")
_DENSE = re.compile(r"dense<[^>]*> : tensor<([^<>]*)>")
_DYNAMIC = -(1 << 63)


def _printed_type(content: Bytecode, index: int) -> str:
    """Print a type as VHLO does."""
    kind = content.pool.type(index)
    fields = kind.fields

    def one(field: str) -> str:
        value = fields[field]
        assert isinstance(value, int)
        return _printed_type(content, value)

    def many(field: str) -> str:
        value = fields[field]
        assert isinstance(value, list)
        return ", ".join(_printed_type(content, item) for item in value)

    shape = fields.get("shape", [])
    assert isinstance(shape, list)
    sizes = "".join("?x" if size == _DYNAMIC else f"{size}x" for size in shape)
    inside = ""
    if kind.name == "tensor_v1":
        inside = f"<{sizes}{one('element')}>"
        if "encoding" in fields:
            encoding = fields["encoding"]
            assert isinstance(encoding, int)
            inside = f"{inside[:-1]}, {_printed(content, encoding)}>"
    elif kind.name == "func_v1":
        inside = f"<({many('inputs')}) -> {many('outputs')}>"
    elif kind.name == "quant_per_axis_v1":
        scales = ", ".join(f"{scale:.6e}" for scale in _list(fields["scales"]))
        points = ", ".join(map(str, _list(fields["zero_points"])))
        inside = (
            f"<{one('storage')}:{one('expressed')}, {fields['axis']}, [{scales}], [{points}], "
            f"{fields['minimum']}:{fields['maximum']}, {fields['flags']}>"
        )
    return f"!vhlo.{kind.name}{inside}"


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def _printed(content: Bytecode, index: int) -> str:
    """Print an attribute as VHLO does, the data of tensors left out."""
    pool = content.pool
    attribute = pool.attribute(index)
    name, fields = attribute.name, attribute.fields
    value = fields.get("value")
    case = enum_case(name, value)
    if case is not None:
        return f"#vhlo<{name} {case}>"
    inside = str(value)
    if name in {"string_v1", "bool_v1"}:
        inside = f'"{value}"' if name == "string_v1" else str(bool(value)).lower()
    elif name == "type_v1":
        assert isinstance(value, int)
        inside = _printed_type(content, value)
    elif name in {"integer_v1", "float_v1"}:
        inside = _printed_number(content, index)
    elif name == "array_v1":
        items = _list(fields["elements"])
        inside = (
            f"[{', '.join(_printed(content, item) for item in items if isinstance(item, int))}]"
        )
    elif name == "dict_v1":
        pairs = [
            " = ".join(_printed(content, part) for part in pair)
            for pair in _list(fields["entries"])
            if isinstance(pair, tuple)
        ]
        inside = f"{{{', '.join(pairs)}}}"
    elif name == "tensor_v1":
        kind = fields["type"]
        assert isinstance(kind, int)
        inside = f"DATA {type_text(pool, kind).removeprefix('tensor')}"
    elif name == "result_accuracy_v1":
        mode = fields["mode"]
        assert isinstance(mode, int)
        inside = (
            f"atol = {fields['atol']:.6e}, rtol = {fields['rtol']:.6e}, ulps = {fields['ulps']}, "
            f"mode = {_printed(content, mode)}"
        )
    elif name == "type_extensions_v1":
        bounds = ["?" if size == _DYNAMIC else str(size) for size in _list(fields["bounds"])]
        inside = f"bounds = [{', '.join(bounds)}]"
    return f"#vhlo.{name}<{inside}>"


def _printed_number(content: Bytecode, index: int) -> str:
    fields = content.pool.attribute(index).fields
    value, kind = fields["value"], fields["type"]
    assert isinstance(value, int)
    assert isinstance(kind, int)
    name = content.pool.type(kind).name
    if name == "f32_v1":
        real = struct.unpack("<f", (value & 0xFFFFFFFF).to_bytes(4, "little"))[0]
        return f"{real:.6e} : !vhlo.{name}"
    if name == "f64_v1":
        real = struct.unpack("<d", (value & (1 << 64) - 1).to_bytes(8, "little"))[0]
        return f"{real:.6e} : !vhlo.{name}"
    return f"{value} : {name.removesuffix('_v1')}"


def _normal(text: str) -> str:
    text = _DENSE.sub(lambda match: f"DATA <{match[1]}>", text)
    return _FLOAT.sub(lambda match: f"{float(match[0]):.5e}", text)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_sample_is_what_was_sealed(sample: Sample) -> None:
    """Nobody has edited what a release wrote."""
    assert hashlib.sha256(sample.data).hexdigest() == sample.sha256


def test_samples_cover_every_format() -> None:
    """Every version of the bytecode format that StableHLO ever wrote is among the samples."""
    assert {sample.format for sample in SAMPLES} == {0, 1, 3, 4, 5, 6}


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_operations_are_those_that_jaxlib_prints(sample: Sample) -> None:
    """Names and operands of all operations are the same, in the same order."""
    content = read(sample.data)
    found = [(str(content.names[op.name]), len(op.operands)) for op in content.operations()]
    printed = [(name, operands.count("%")) for name, operands in _OPERATION.findall(sample.printed)]
    assert found == printed


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_attributes_are_those_that_jaxlib_prints(sample: Sample) -> None:
    """Each inherent attribute of each VHLO operation is decoded to what jaxlib prints of it."""
    content = read(sample.data)
    lines = _normal(sample.printed)
    for op in content.operations():
        name = content.names[op.name]
        if name.dialect == "vhlo":
            named = content.property_attributes(op.name, op.properties)
            named = {**content.dictionary(op.attributes), **named}
            for key, index in named.items():
                assert f"{key} = {_normal(_printed(content, index))}" in lines


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_result_types_are_those_that_jaxlib_prints(sample: Sample) -> None:
    """Every type of a result occurs in what jaxlib prints."""
    content = read(sample.data)
    types = {index for op in content.operations() for index in op.results}
    assert types
    for index in types:
        assert _normal(_printed_type(content, index)) in _normal(sample.printed)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_buffer_reads_the_same(sample: Sample, tmp_path: Path) -> None:
    """Bytes, a view and a mapped file hold the same operations, and a mapped file can be closed."""
    path = tmp_path / "a.mlirbc"
    path.write_bytes(sample.data)
    expected = list(read(sample.data).operations())
    assert list(read(memoryview(sample.data)).operations()) == expected
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert list(read(mapped).operations()) == expected


def test_locations_are_those_of_the_program() -> None:
    """Every kind of location in the program is found where the program says."""
    content = read(_sample("classic-jaxlib-0.12.0.1-1.22.0").data)
    found = {
        str(content.names[op.name]): location_text(content.pool, op.location)
        for op in content.operations()
    }
    assert found["vhlo.dot_general_v2"] == "model.py:4:11"
    assert found["vhlo.tanh_v2"] == "act.py:10:1"  # a call site tells the callee
    assert location_files(content.pool).keys() >= {"model.py", "act.py", "a.py", "b.py"}


def test_types_are_written_as_stablehlo_writes_them() -> None:
    """Types in messages look like those in programs."""
    content = read(_sample("modern-jaxlib-0.12.0.1-1.22.0").data)
    texts = {type_text(content.pool, index) for index in range(len(content.pool.types))}
    assert {
        "tensor<4xf32>",
        "tensor<4xf8E4M3>",
        "token",
        "tensor<?x3xquant_per_axis<i8:f32>>",
    } <= texts


def test_attributes_in_messages_are_short() -> None:
    """An attribute is shown by its value, a large one by its size."""
    content = read(_sample("classic-jaxlib-0.12.0.1-1.22.0").data)
    shown = {
        (str(content.names[op.name]), key): attribute_text(content.pool, index)
        for op in content.operations()
        for key, index in content.property_attributes(op.name, op.properties).items()
    }
    assert shown["vhlo.compare_v1", "comparison_direction"] == "LT"
    assert shown["vhlo.custom_call_v2", "call_target_name"] == "host_twice"
    assert shown["vhlo.func_v1", "sym_visibility"] in {"public", "private"}
    assert "4 bytes" in shown["vhlo.constant_v1", "value"]


def test_large_constants_stay_where_they_are() -> None:
    """The data of a constant is an offset and a size, and there are the bytes of the program."""
    sample = _sample("classic-jaxlib-0.12.0.1-1.22.0")
    content = read(sample.data)
    blobs = []
    for index in range(len(content.pool.attributes)):
        data = content.pool.attribute(index).fields.get("data")
        if isinstance(data, Blob):
            blobs.append(sample.data[data.offset : data.offset + data.size])
    assert (3).to_bytes(4, "little") in blobs


def test_unregistered_operations_are_told() -> None:
    """An operation that its producer did not know is marked, from format 5 on."""
    artifact = Artifact(names=["builtin.module", "?x.y"], operations=[operation(1)])
    assert [name.registered for name in read(bytes(artifact)).names] == [True, False]


def test_entries_of_unknown_codes_are_kept() -> None:
    """A type that no table knows is legal input: it has its code for a name."""
    artifact = Artifact(
        names=["vhlo.add_v1"],
        types=[("vhlo", entry(999, 1, 2))],
        operations=[operation(0, results=[0])],
    )
    kind = read(bytes(artifact)).pool.type(0)
    assert (kind.dialect, kind.name, kind.known) == ("vhlo", "code 999", False)


@pytest.mark.parametrize(
    ("code", "encoded", "value"),
    [
        (0, b"\x01", 1),  # bool: one byte
        (11, b"\xfe", 0xFE),  # i8: one byte
        (12, varint(5), -3),  # i16: zigzag
        (19, varint((1 << 64) - 1), -(1 << 63)),  # ui64: the bits, as a signed number
    ],
)
def test_numbers_have_the_size_of_their_type(code: int, encoded: bytes, value: int) -> None:
    """Up to eight bits an integer is a byte, above it is a number like any other."""
    artifact = Artifact(
        attributes=[("builtin", entry(15)), ("vhlo", entry(9, 0) + encoded)],
        types=[("vhlo", entry(code))],
        operations=[operation(0)],
    )
    assert read(bytes(artifact)).pool.attribute(1).fields == {"type": 0, "value": value}


def _sample(name: str) -> Sample:
    return next(sample for sample in SAMPLES if sample.name == name)


@pytest.mark.parametrize("scale", [0.0, 0.5, -0.5, -1e300, float("inf")])
def test_scales_are_doubles_of_either_sign(scale: float) -> None:
    """They are written as numbers with a sign, whose highest bit is that of the double."""
    bits = int.from_bytes(struct.pack("<d", scale), "little", signed=True)
    signed = (bits << 1) ^ (bits >> 63)
    quantized = entry(24, 1, 0, 1, signed, 0, 0, 0)
    types = [("vhlo", entry(11)), ("vhlo", entry(4)), ("vhlo", quantized)]
    assert read(bytes(Artifact(types=types))).pool.type(2).fields["scale"] == scale
