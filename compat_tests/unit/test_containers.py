"""Containers that real frameworks wrote: what is inside is found and can be replaced."""

import hashlib
import json
import os
import re
from pathlib import Path

import pytest

from portable.artifact import Artifact, NotAnArtifact
from portable.bytecode import read
from portable.containers import (
    Container,
    Kind,
    MalformedContainer,
    NoArtifact,
    NotAContainer,
    TooLarge,
    UnknownEntry,
    artifacts_in,
    open_container,
)
from portable.containers.container import readers_of
from portable.system.files import FileError

ROOT = Path(__file__).parents[2]
DATA = ROOT / "compat_tests" / "data"
CONTAINERS = DATA / "containers"
EXPORTED = sorted(CONTAINERS.glob("*.exported"))
JAX2TF = CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0"
GRAPH = CONTAINERS / "graph-tensorflow-2.20.0"
TORCH_XLA = sorted((ROOT / "corpus").glob("torch_xla/*/container"))
EVERY = [*EXPORTED, JAX2TF, GRAPH, *TORCH_XLA]
SOME = [*EXPORTED[-6::2], EXPORTED[0], JAX2TF, GRAPH, TORCH_XLA[0], TORCH_XLA[-1]]
SMALL = (DATA / "artifacts" / "add_f32+1.17.0.mlir.bc").read_bytes()


def digests(path: Path) -> dict[str, str]:
    """Digest every file below a path."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return {str(f.relative_to(path)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def named(path: Path) -> str:
    """Name a container in the output of pytest."""
    return path.parent.name if path.name == "container" else path.name


def inside(container: Container) -> dict[str, bytes]:
    """Return the bytes of every artifact by its name."""
    return {entry.name: bytes(entry) for entry in container.artifacts()}


def test_there_are_samples() -> None:
    """Of both ends of what jax wrote, and of every torch_xla."""
    assert len(EXPORTED) == 21
    assert len(TORCH_XLA) == 9


@pytest.mark.parametrize("path", EVERY, ids=named)
def test_every_artifact_is_found(path: Path) -> None:
    """Found, named once, and readable as an artifact to its last byte."""
    found = open_container(path).artifacts()
    assert len({entry.name for entry in found}) == len(found) > 0
    for entry in found:
        assert Artifact.from_bytes(bytes(entry)).version is not None
        assert sum(1 for _ in read(bytes(entry)).operations()) > 0


@pytest.mark.parametrize("path", EXPORTED, ids=named)
def test_an_exported_has_its_derivatives(path: Path) -> None:
    """One artifact for the function and one for each order; the numbers are as jax wrote them."""
    match = re.search(r"vjp(\d)-jax-(.*)\.exported", path.name)
    assert match
    container = open_container(path)
    names = [entry.name for entry in container.artifacts()]
    assert names == ["primal", "vjp", "vjp.vjp"][: int(match[1]) + 1]
    assert container.kind is Kind.EXPORTED
    release = tuple(int(part) for part in match[2].split("."))
    written, layout = next(
        numbers
        for since, numbers in {
            (0, 11, 2): ("12", "12"),
            (0, 10, 0): ("3", "10"),
            (0, 9, 2): ("3", "8"),
            (0, 8, 2): ("3", "5"),
            (0, 4, 30): ("2", "2"),
        }.items()
        if release >= since
    )
    assert container.versions == {"serialization": written, "layout": layout}
    assert container.warnings == ()
    (reader,) = readers_of(container)
    assert reader.startswith({"2": "jax>=0.4.30,", "5": "jax>=0.4.35"}.get(layout, "jax>=0.8.2"))
    convention = "9" if release < (0, 8) else "10"
    assert {entry.versions["calling convention"] for entry in container.artifacts()} == {convention}


def test_a_saved_model_has_them_in_functions_and_in_the_graph() -> None:
    """Named by their function and node; TensorFlow's own Version beside that of the op."""
    container = open_container(JAX2TF)
    assert (container.kind, container.versions) == (
        Kind.SAVED_MODEL,
        {"schema": "1", "TensorFlow": "2.20.0"},
    )
    said = {"XlaCallModule": "10", "platforms": "cpu"}
    assert [entry.versions for entry in container.artifacts()] == [said] * 2
    for entry in container.artifacts():
        function, _, node = entry.name.partition(":")
        assert function.startswith("__inference_")
        assert node.endswith("XlaCallModule")
    assert readers_of(container) == ("tensorflow>=2.20",)
    assert readers_of(open_container(GRAPH)) == ("tensorflow>=2.16.2",)
    graph = open_container(GRAPH).artifacts()
    assert [(entry.name, entry.versions["XlaCallModule"]) for entry in graph] == [
        ("first", "9"),
        ("second", "9"),
    ]


@pytest.mark.parametrize("path", TORCH_XLA, ids=named)
def test_a_directory_of_torch_xla_tells_its_functions(path: Path) -> None:
    """One function; what its description says of the Version is a claim of the container."""
    container = open_container(path)
    (entry,) = container.artifacts()
    assert (container.kind, entry.name) == (Kind.TORCH_XLA, "forward")
    assert entry.versions == {"stablehlo_version": "0.0.0"}
    assert bytes(entry) == (path / "functions" / "forward.bytecode").read_bytes()


@pytest.mark.parametrize("path", SOME, ids=named)
@pytest.mark.parametrize("size", [-100, 0, 1, 300_000])
def test_a_copy_holds_what_was_put_into_it(path: Path, size: int, tmp_path: Path) -> None:
    """Artifacts that are smaller, as large or larger go in and come out; the original stays."""
    before = digests(path)
    original = open_container(path)
    new = {
        name: (data + bytes([7] * max(size, 0)))[: len(data) + size]
        for name, data in inside(original).items()
    }
    original.replace(new, to=tmp_path / "copy")
    copy = open_container(tmp_path / "copy")
    assert inside(copy) == new
    if path.is_file():  # a flatbuffer aligns the lengths of its vectors
        written = (tmp_path / "copy").read_bytes()
        assert all(written.index(data) % 4 == 0 for data in new.values())
    assert copy.versions == original.versions
    assert digests(path) == before
    assert sorted(os.listdir(tmp_path)) == ["copy"]  # noqa: PTH208 - hidden files count
    # Put back, the first comes out again; the Exported has kept the room, all else is as it was.
    again = tmp_path / "again"
    copy.replace(inside(original), to=again)
    assert inside(open_container(again)) == inside(original)
    if path.is_file():
        assert size or digests(again) == before
    else:
        after = digests(again)
        gone = {Kind.SAVED_MODEL: "fingerprint.pb", Kind.TORCH_XLA: "functions/forward.mlir"}
        assert before.keys() - after.keys() == before.keys() & {gone[original.kind]}
        changed = {name for name in after if after[name] != before[name]}
        assert changed <= {"functions/forward.meta"}


@pytest.mark.parametrize("path", SOME, ids=named)
def test_one_of_several_is_replaced_alone(path: Path, tmp_path: Path) -> None:
    """The others stay as they are, whichever it is."""
    original = open_container(path)
    for number, name in enumerate(inside(original)):
        original.replace({name: SMALL}, to=tmp_path / f"{number}")
        found = inside(open_container(tmp_path / f"{number}"))
        assert found == inside(original) | {name: SMALL}


def test_the_description_tells_the_new_version(tmp_path: Path) -> None:
    """`stablehlo_version` is what the header claims; the old text goes unless one is given."""
    container = open_container(TORCH_XLA[-1])
    container.replace({"forward": SMALL}, to=tmp_path / "a")
    container.replace({"forward": SMALL}, texts={"forward": "module {}"}, to=tmp_path / "b")
    functions = tmp_path / "a" / "functions"
    meta = json.loads((functions / "forward.meta").read_text())
    old = json.loads((TORCH_XLA[-1] / "functions" / "forward.meta").read_text())
    assert meta == old | {"stablehlo_version": "1.17.0"}
    assert sorted(file.name for file in functions.iterdir()) == ["forward.bytecode", "forward.meta"]
    assert (tmp_path / "b" / "functions" / "forward.mlir").read_text() == "module {}"
    assert open_container(tmp_path / "a").warnings == ()


def test_a_claim_of_the_container_that_is_not_true_is_told(tmp_path: Path) -> None:
    """A description that names another Version than the artifact's header."""
    functions = tmp_path / "a" / "functions"
    open_container(TORCH_XLA[-1]).replace({"forward": SMALL}, to=tmp_path / "a")
    meta = json.loads((functions / "forward.meta").read_text())
    (functions / "forward.meta").write_text(json.dumps(meta | {"stablehlo_version": "1.2.3"}))
    (warning,) = open_container(tmp_path / "a").warnings
    assert "says 1.2.3, but the artifact 1.17.0" in warning


@pytest.mark.parametrize("path", [EXPORTED[0], JAX2TF, TORCH_XLA[0]], ids=named)
def test_the_original_is_never_written_to(path: Path, tmp_path: Path) -> None:
    """Not by its own name, not by another one, not into it, not over anything in a directory."""
    before = digests(path)
    container = open_container(path)
    (tmp_path / "link").symlink_to(path)
    goals = [path, tmp_path / "link"]
    if path.is_dir():
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "file").write_bytes(b"")
        goals += [path / "inside", tmp_path / "full", tmp_path / "full" / "file"]
    for goal in goals:
        with pytest.raises(FileError):
            container.replace({}, to=goal)
    assert digests(path) == before
    assert {entry.name for entry in tmp_path.iterdir()} <= {"link", "full"}
    (tmp_path / "empty").mkdir()
    if path.is_dir():
        container.replace({}, to=tmp_path / "empty")
        assert digests(tmp_path / "empty").items() <= before.items()


@pytest.mark.parametrize("path", [EXPORTED[0], JAX2TF, TORCH_XLA[0]], ids=named)
def test_a_failed_copy_leaves_nothing_behind(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk is full half way, neither the copy nor anything temporary is there."""

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="no space left"):
        open_container(path).replace({}, to=tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_an_original_that_changed_meanwhile_is_not_copied(tmp_path: Path) -> None:
    """The ranges that were found would cut the new file in the wrong places."""
    path = tmp_path / "a.exported"
    path.write_bytes(EXPORTED[0].read_bytes())
    container = open_container(path)
    other = tmp_path / "other"
    other.write_bytes(EXPORTED[1].read_bytes())
    other.replace(path)
    with pytest.raises(FileError, match="changed since it was opened"):
        container.replace({"primal": SMALL}, to=tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_copying_works_where_the_kernel_does_not_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between some file systems, and outside Linux, the bytes pass through the process."""

    def refuse(*_arguments: object, **_keywords: object) -> int:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "copy_file_range", refuse)
    for number, path in enumerate((EXPORTED[0], JAX2TF)):
        original = open_container(path)
        name = original.artifacts()[-1].name
        original.replace({name: SMALL}, to=tmp_path / f"{number}")
        assert inside(open_container(tmp_path / f"{number}"))[name] == SMALL


@pytest.mark.parametrize(("path", "module"), [(EXPORTED[0], "exported"), (GRAPH, "saved_model")])
def test_what_the_format_cannot_hold_is_refused(
    path: Path, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both formats end at 2 GB, here at less; readers would take the offsets for negative."""
    monkeypatch.setattr(f"portable.containers.{module}._LARGEST", 20_000)
    container = open_container(path)
    name = container.artifacts()[0].name
    with pytest.raises(TooLarge, match="exceed the 20000 of a"):
        container.replace({name: SMALL + bytes(30_000)}, to=tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("widen", [False, True])
@pytest.mark.parametrize("grown", [0, -1, 1, 2, 3, 4, 5000])
@pytest.mark.parametrize(
    "path", [*EXPORTED[::7], EXPORTED[-1], JAX2TF, GRAPH], ids=lambda path: path.name
)
def test_the_limit_is_that_of_what_is_written(
    path: Path, grown: int, widen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is edited: as large as the copy it may be, by one byte less it is refused."""
    container = open_container(path)
    held = {entry.name: bytes(entry) for entry in container.artifacts()}
    new = {name: (data + bytes(5000))[: len(data) + grown] for name, data in held.items()}
    copy = tmp_path / "copy"
    container.replace(new, to=copy, widen=widen)
    size = (copy / "saved_model.pb" if copy.is_dir() else copy).stat().st_size
    module = "saved_model" if copy.is_dir() else "exported"
    monkeypatch.setattr(f"portable.containers.{module}._LARGEST", size)
    container.replace(new, to=tmp_path / "again", widen=widen)
    monkeypatch.setattr(f"portable.containers.{module}._LARGEST", size - 1)
    with pytest.raises(TooLarge, match=f": {size} bytes exceed the {size - 1} of a"):
        container.replace(new, to=tmp_path / "not", widen=widen)


def test_containers_open_from_memory_too(tmp_path: Path) -> None:
    """A file that came over a pipe or a network."""
    container = open_container(EXPORTED[0].read_bytes())
    assert (container.path, inside(container)) == ("", inside(open_container(EXPORTED[0])))
    container.replace({"primal": SMALL}, to=tmp_path / "copy")
    assert inside(open_container(tmp_path / "copy"))["primal"] == SMALL


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    """And nothing is written."""
    with pytest.raises(UnknownEntry, match="has no artifact 'forward'; it has first, second"):
        open_container(GRAPH).replace({"forward": SMALL}, to=tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_everything_else_is_no_container(tmp_path: Path) -> None:
    """A plain artifact, text, an empty file, a directory without one: one clear line each."""
    (tmp_path / "text").write_text("module {}\n")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "artifact").write_bytes(SMALL)
    for name, kind in {
        "text": Kind.TEXT,
        "empty": Kind.EMPTY,
        "artifact": Kind.ARTIFACT,
        ".": Kind.UNKNOWN,
    }.items():
        with pytest.raises(NotAContainer) as caught:
            open_container(tmp_path / name)
        assert caught.value.kind is kind
    with pytest.raises(FileError):
        open_container(tmp_path / "missing")


def test_artifacts_come_alike_from_files_and_from_containers(tmp_path: Path) -> None:
    """One pair for a file, one for each artifact in a container; labels tell which is which."""
    path = tmp_path / "a.mlir.bc"
    path.write_bytes(SMALL)
    ((label, artifact),) = artifacts_in(path)
    assert (label, artifact.data) == (str(path), SMALL)
    found = artifacts_in(GRAPH)
    assert [label for label, _ in found] == [f"{GRAPH}: first", f"{GRAPH}: second"]
    with pytest.raises(NotAContainer):
        artifacts_in(tmp_path)
    (tmp_path / "text").write_text("module {}")
    with pytest.raises(NotAnArtifact):
        artifacts_in(tmp_path / "text")


def test_a_saved_model_without_artifact_says_so() -> None:
    """TensorFlow's own ops are no StableHLO; that is no damage."""
    with pytest.raises(NoArtifact, match="no op XlaCallModule"):
        open_container(CONTAINERS / "plain-tensorflow-2.20.0")
    assert not issubclass(NoArtifact, MalformedContainer)
