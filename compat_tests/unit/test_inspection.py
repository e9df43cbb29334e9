"""What a file is, claims and needs, told from its bytes; real releases wrote the files."""

import hashlib
import json
import mmap
from pathlib import Path

import pytest

from portable.artifact import Artifact
from portable.containers import Kind
from portable.features import Strictness
from portable.inspection import Inspection, inspect
from portable.prediction import predict
from portable.system.files import FileError
from portable.verdict import Stage
from portable.version import Version

DATA = Path(__file__).parents[1] / "data"
ARTIFACTS = DATA / "artifacts"
TAN = (ARTIFACTS / "tan+1.4.0.mlir.bc").read_bytes()


def artifact(name: str) -> Inspection:
    """Inspect one of the artifacts that jaxlib 0.12.0.1 wrote."""
    return inspect(ARTIFACTS / f"{name}.mlir.bc")


def test_an_artifact_tells_everything() -> None:
    """Claim, format, digest, needs with reasons, ops and dialects."""
    found = inspect(ARTIFACTS / "tan+1.4.0.mlir.bc")
    assert found.kind is Kind.ARTIFACT
    assert (found.claimed, found.format) == (Version(1, 4, 0), 6)
    assert (found.size, found.digest) == (len(TAN), hashlib.sha256(TAN).hexdigest())
    assert found.required
    assert found.minimum
    assert found.analysis
    without_rewriting = found.analysis.minimum
    assert found.required.version == without_rewriting.version == Version(1, 4, 0)
    assert "tan_v1" in {feature.name for feature in without_rewriting.features}
    # Upstream's expander rewrites a tangent, and `pin` lets it.
    assert found.minimum.version == Version(0, 9, 0)
    assert found.operations["vhlo.tan_v1"] == 1
    assert found.dialects["vhlo"] == found.operations["vhlo.func_v1"] + 2
    assert (found.warnings, found.damage) == ((), "")


def test_an_empty_module_is_an_artifact_of_any_version() -> None:
    """It holds no VHLO to tell it by; all read it, and have nothing to compile, or no main."""
    data = bytes.fromhex(
        "4d4cef52014d4c495232342e302e3067697400010b0301010303030d05010105130b020d17030303"
        "0505041105011001070301010603010501002b07050f116275696c74696e006d6f64756c65002d00"
    )
    found = inspect(data)
    assert found.kind is Kind.ARTIFACT
    assert found.minimum
    assert str(found.minimum.version) == "0.9.0"
    for what in (found, Artifact.from_bytes(data)):
        assert predict(what, "jaxlib 0.4.13").stage is Stage.COMPILE
        assert predict(what, "iree-base-compiler 3.4.0").compatible


def test_bytes_paths_and_memory_give_the_same() -> None:
    """Whatever the artifact comes in."""
    path = ARTIFACTS / "tan+1.4.0.mlir.bc"
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as view:
        assert inspect(bytes(view)) == inspect(TAN) == inspect(str(path)) == inspect(path)


@pytest.mark.parametrize(
    ("label", "says"),
    [
        (b"1.0.0", "the header claims 1.0.0, but the content requires 1.4.0"),
        (b"9.9.9", "newest Version"),
    ],
)
def test_a_spoofed_header_is_reported(label: bytes, says: str) -> None:
    """A claim below what the content needs, or above anything known: readers check neither."""
    found = inspect(TAN.replace(b"StableHLO_v1.4.0", b"StableHLO_v" + label))
    assert found.required
    assert found.required.version == Version(1, 4, 0)
    assert any(says in warning for warning in found.warnings)


def test_ops_of_the_future_are_legal() -> None:
    """An unknown op is reported as unknown; the claim is then a lower bound of both Versions."""
    found = inspect(TAN.replace(b"\0tan_v1\0", b"\0tax_v9\0").replace(b"v1.4.0", b"v9.4.0"))
    assert found.damage == ""
    assert found.analysis
    assert any("tax_v9" in name for name in found.analysis.unknown)
    assert found.analysis.required.version == Version(9, 4, 0)


def test_foreign_dialects_and_custom_calls_are_named() -> None:
    """Ops outside StableHLO, and the targets of custom calls with their counts."""
    assert artifact("sdy+1.11.0").dialects["sdy"] >= 1
    assert sum(artifact("custom_calls+1.0.0").custom_calls.values()) >= 2


def test_locations_are_counted_and_leaks_shown() -> None:
    """Ranges count as what they are; absolute paths tell about the machine that built the file."""
    ranges = artifact("location_range+1.0.0")
    assert ranges.locations["location_file_line_col_range"] >= 1
    assert ranges.required
    assert ranges.required.version == Version(1, 8, 5)
    assert ranges.leaks == ()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", Kind.EMPTY),
        (b"module {}\n", Kind.TEXT),
        (b"Dear reader,\n", Kind.UNKNOWN),
        (b"\x7fELF\0\0\0\0" * 100, Kind.UNKNOWN),
        ((DATA / "containers" / "gate-vjp0-jax-0.10.2.exported").read_bytes(), Kind.EXPORTED),
        ((DATA / "containers" / "gate-vjp2-jax-0.12.0.1.exported").read_bytes(), Kind.EXPORTED),
    ],
)
def test_other_files_are_told_apart(content: bytes, kind: Kind) -> None:
    """By their bytes alone, also when they are cut short."""
    assert inspect(content).kind is kind
    assert inspect(content[: len(content) // 2]).kind in {kind, Kind.UNKNOWN, Kind.EMPTY}


def test_directories_are_told_apart(tmp_path: Path) -> None:
    """A SavedModel, what torch_xla saves, and anything else."""
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "saved_model.pb").write_bytes(b"")
    (tmp_path / "torch" / "functions").mkdir(parents=True)
    (tmp_path / "torch" / "functions" / "forward.meta").write_text("{}")
    assert inspect(tmp_path / "saved").kind is Kind.SAVED_MODEL
    assert inspect(tmp_path / "torch").kind is Kind.TORCH_XLA
    assert inspect(tmp_path).kind is Kind.UNKNOWN
    with pytest.raises(FileError):
        inspect(tmp_path / "missing")


def test_damage_is_reported_with_what_could_be_read() -> None:
    """The header still tells its claim when the rest is cut."""
    found = inspect(TAN[:60])
    assert found.claimed == Version(1, 4, 0)
    assert "byte" in found.damage
    assert found.analysis is None


def test_the_fingerprint_is_of_the_program_alone() -> None:
    """The same for one program in formats 0, 4 and 6; another for another program."""
    of = {
        name: inspect(ARTIFACTS / f"{name}.mlir.bc", fingerprint=True).fingerprint
        for name in ("add_f32+0.9.0", "add_f32+0.14.0", "add_f32+1.17.0", "tan+1.4.0")
    }
    assert len(of["tan+1.4.0"]) == 64
    assert len({of[f"add_f32+{target}"] for target in ("0.9.0", "0.14.0", "1.17.0")}) == 1
    assert of["tan+1.4.0"] != of["add_f32+0.9.0"]
    spoofed = inspect(TAN.replace(b"v1.4.0", b"v1.7.0"), fingerprint=True)
    assert spoofed.fingerprint == of["tan+1.4.0"]


def test_the_record_follows_its_schema() -> None:
    """Every field of docs/inspection.md is there, and nothing that the page does not list."""
    page = (Path(__file__).parents[2] / "docs" / "inspection.md").read_text()
    listed = {line.split("`")[1] for line in page.splitlines() if line.startswith("| `")}
    for name in ("tan+1.4.0", "sdy+1.11.0"):
        record = json.loads(json.dumps(artifact(name).record()))
        assert set(record) == listed - {"file"}
        assert record["schema"] == 2
    assert json.loads(json.dumps(inspect(b"").record()))["kind"] == "empty"


@pytest.mark.parametrize("strictness", list(Strictness))
def test_a_strictness_may_be_given_by_its_name(strictness: Strictness) -> None:
    """As a Stage may; any other word would have been taken for the laxer one."""
    path = ARTIFACTS / "location_range+1.0.0.mlir.bc"
    wanted = inspect(path, strictness=strictness).analysis
    assert inspect(path, strictness=strictness.value).analysis == wanted
    with pytest.raises(ValueError, match="nonsense"):
        inspect(path, strictness="nonsense")
