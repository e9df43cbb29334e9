"""An Artifact is its bytes and the claim of its header; anything else is named for what it is."""

import hashlib
from pathlib import Path

import pytest

from portable.artifact import Artifact, NotAnArtifact, peek
from portable.bytecode import MalformedArtifact
from portable.system.files import FileError
from portable.version import Version

# As jaxlib writes it: magic, format 6, producer.
_HEAD = b"ML\xefR\rStableHLO_v1.9.0\0"


def test_the_claim_is_read_from_the_header() -> None:
    """Version, size, digest and bytes."""
    artifact = Artifact.from_bytes(_HEAD + b"rest")
    assert artifact.version == Version(1, 9, 0)
    assert artifact.header.format == 6
    assert bytes(artifact) == _HEAD + b"rest"
    assert len(artifact) == len(_HEAD) + 4
    assert artifact.digest == hashlib.sha256(_HEAD + b"rest").hexdigest()


def test_saving_and_loading_keeps_every_byte(tmp_path: Path) -> None:
    """What was saved is what is loaded."""
    artifact = Artifact.from_bytes(_HEAD)
    artifact.save(tmp_path / "a.mlir.bc")
    assert Artifact.load(tmp_path / "a.mlir.bc") == artifact


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "empty"),
        (b"module {}\n", "text"),
        ("// naïve ".encode() * 1000, "text"),
        (b"PK\x03\x04\0\0\xff", r"binary data \(begins 50 4b 03 04\)"),
    ],
)
def test_other_bytes_are_named(data: bytes, found: str) -> None:
    """The error says what they are."""
    with pytest.raises(NotAnArtifact, match=found):
        Artifact.from_bytes(data, where="x.bc")


@pytest.mark.parametrize("size", range(4, len(_HEAD) - 1))
def test_a_cut_header_is_malformed(size: int) -> None:
    """At whatever byte it is cut."""
    with pytest.raises(MalformedArtifact):
        Artifact.from_bytes(_HEAD[:size])


def test_peeking_reads_the_header_of_a_huge_file(tmp_path: Path) -> None:
    """Without reading the file: a sparse terabyte has the same claim as its first bytes."""
    path = tmp_path / "huge.mlir.bc"
    with path.open("wb") as stream:
        stream.write(_HEAD)
        stream.truncate(1 << 40)
    assert peek(path) == Artifact.from_bytes(_HEAD).header
    with pytest.raises(FileError):
        peek(tmp_path)
