"""The header: what an artifact claims, whatever follows."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from compat_tests.helpers.bytecode_samples import SAMPLES, Sample
from compat_tests.helpers.bytecode_writer import varint
from portable.bytecode import MAGIC, Header, MalformedArtifact, read_header
from portable.releases import shipped_versions
from portable.version import Version

CORPUS = Path(__file__).parents[2] / "corpus"


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_header_tells_format_and_target(sample: Sample) -> None:
    """The format and the Version are those the release was asked for."""
    header = read_header(sample.data)
    assert header.format == sample.format
    assert header.version == Version.parse(sample.target)
    assert sample.data[header.length - 1] == 0


def test_a_version_is_written_in_the_format_of_its_row() -> None:
    """Every artifact that real Releases sealed for it; up to 1.22.0 each Version has one."""
    shipped = {row.version: {row.bytecode_format} for row in shipped_versions()}
    # It was reassigned: jaxlib 0.4.18 writes 5, jaxlib 0.4.24 writes 4.
    shipped[Version(0, 14, 0)].add(5)
    found: dict[Version, set[int]] = {}
    for path in CORPUS.glob("*/*/artifacts/*.bc"):
        with path.open("rb") as file:
            header = read_header(file.read(64))
        if header.version is not None:
            found.setdefault(header.version.target, set()).add(header.format)
    assert {version for version in shipped if version < Version(1, 23, 0)} <= found.keys()
    assert found == {version: shipped[version] for version in found}


def test_header_needs_no_more_than_itself() -> None:
    """The first bytes alone give the same header as the whole file."""
    data = SAMPLES[0].data
    header = read_header(data)
    assert read_header(data[: header.length]) == header


def test_header_is_read_from_any_buffer(tmp_path: Path) -> None:
    """Bytes, a view and a mapped file give the same header."""
    data = SAMPLES[0].data
    path = tmp_path / "a.mlirbc"
    path.write_bytes(data)
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert read_header(memoryview(data)) == read_header(mapped) == read_header(data)


@pytest.mark.parametrize(
    ("producer", "version"),
    [
        ("StableHLO_v1.9.5", Version(1, 9, 5)),
        ("StableHLO_v9.9.9", Version(9, 9, 9)),
        ("StableHLO_v01.0.0", None),
        ("StableHLO_v1.9", None),
        ("MLIR17.0.0git", None),
        ("MLIRxxx-trunk", None),
        ("", None),
    ],
)
def test_version_is_what_a_stablehlo_producer_claims(
    producer: str, version: Version | None
) -> None:
    """Only `StableHLO_v#.#.#` claims a Version; any other producer is valid and claims none."""
    header = read_header(MAGIC + varint(6) + producer.encode() + b"\0")
    assert header.version == version
    assert header.producer == producer


def test_format_of_any_size_is_read() -> None:
    """A format number that takes more than one byte is no error."""
    assert read_header(MAGIC + varint(100_000) + b"x\0") == Header(100_000, "x", 9)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        MAGIC[:3],
        b"MLIR\x0dStableHLO_v1.0.0\0",
        MAGIC,
        MAGIC + b"\x0d",
        MAGIC + b"\x0dStableHLO_v1.0.0",
        MAGIC + b"\0\1",
        MAGIC + b"\x0d" + b"x" * 10_000,
    ],
    ids=repr,
)
def test_no_header_is_malformed(data: bytes) -> None:
    """What does not start with a whole header is refused, and the place is told."""
    with pytest.raises(MalformedArtifact) as caught:
        read_header(data)
    assert 0 <= caught.value.offset <= len(data)
    assert str(caught.value).startswith(f"byte {caught.value.offset}: ")
