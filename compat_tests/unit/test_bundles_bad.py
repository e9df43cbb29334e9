"""Bundles that are damaged, incomplete, lying or hostile: one clear error, nothing written."""

import json
import os
import shutil
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compat_tests.helpers.bundles import Layout
from portable.bundle import pack_files, pick, unpack
from portable.cli import main
from portable.containers import MalformedContainer, NoArtifact, open_container
from portable.errors import PortableError

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
FILES = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.9.0", "1.17.0")]
TORCH_XLA = ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container"
NEWEST = "jaxlib==0.10.2"
VERSION = "stablehlo.portable.version"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """Return a bundle of two Versions."""
    pack_files(FILES, to=tmp_path / "bundle")
    return Layout(tmp_path / "bundle")


def said(layout: Layout, **annotations: str) -> None:
    """Change what the index and the manifest say of the newest Version."""
    for place in (layout.index["manifests"][0], layout.manifests[0]):
        place["annotations"] = place["annotations"] | annotations


def titled(layout: Layout, *titles: str) -> None:
    """Give the newest Version files of these names, all with the same bytes."""
    (layer,) = layout.manifests[0]["layers"]
    layout.manifests[0]["layers"] = [
        layer | {"annotations": {"org.opencontainers.image.title": title}} for title in titles
    ]


def listed(layout: Layout, *numbers: int) -> None:
    """Have the index list some of the manifests."""
    listed_ = [dict(layout.index["manifests"][number]) for number in numbers]
    layout.manifests = [layout.manifests[number] for number in numbers]
    layout.index["manifests"] = listed_


def layer(layout: Layout) -> dict[str, Any]:
    """Return the layer of the newest Version."""
    found: dict[str, Any] = layout.manifests[0]["layers"][0]
    return found


BAD: dict[str, tuple[Callable[[Layout], object], str]] = {
    # Documents that say what is not so: written again with right digests.
    "another Version than its bytes": (
        lambda b: said(b, **{VERSION: "1.16.0"}),
        "its artifacts claim 1.17.0, not 1.16.0",
    ),
    "the manifest says another than the index": (
        lambda b: b.manifests[0]["annotations"].update({VERSION: "1.16.0"}),
        "annotations are not those in the index",
    ),
    # Readers in Go take a key in any case, and the last one of two.
    "manifests in two cases": (
        lambda b: b.index.update({"Manifests": b.index["manifests"][1:]}),
        "duplicate key",
    ),
    "layers in two cases": (
        lambda b: b.manifests[0].update({"LAYERS": b.manifests[1]["layers"]}),
        "duplicate key",
    ),
    "a digest in two alphabets": (
        lambda b: layer(b).update({"\u017fize": 1}),
        "duplicate key",
    ),
    "other content in a descriptor": (
        lambda b: layer(b).update(data=b64encode(FILES[0].read_bytes()).decode()),
        "its data is not its content",
    ),
    "no base64 in a descriptor": (lambda b: layer(b).update(data="\u00e9"), "its data is not"),
    "a list in a descriptor": (lambda b: layer(b).update(data=[1]), "its data is not"),
    "no Version": (lambda b: said(b, **{VERSION: "new"}), f"{VERSION} is 'new'"),
    "a Version twice": (
        lambda b: b.index["manifests"][1].update(annotations={VERSION: "1.17.0"}),
        "has a Version twice",
    ),
    "a manifest twice": (
        lambda b: listed(b, 0, 1, 0),
        "lists a manifest twice",
    ),
    "no Versions at all": (
        listed,
        "a bundle without Versions",
    ),
    "a form of the future": (
        lambda b: b.index.update(annotations={"stablehlo.portable.bundle": "2"}),
        "unknown form '2' of a bundle, not 1",
    ),
    "an index in the index": (
        lambda b: b.index["manifests"][0].update(mediaType=b.index["mediaType"]),
        "lists a application/vnd.oci.image.index.v1+json",
    ),
    "an artifact type of others": (
        lambda b: b.manifests[0].update(artifactType="application/x"),
        "artifactType is application/x",
    ),
    "no files": (lambda b: b.manifests[0].update(layers=[]), "has no files"),
    "an absolute path": (lambda b: titled(b, "/etc/passwd"), "is not a path inside"),
    "a path that leads out": (lambda b: titled(b, "a/../../b"), "is not a path inside"),
    "a path with an empty part": (lambda b: titled(b, "a//b"), "is not a path inside"),
    "a path of Windows": (lambda b: titled(b, "a\\b"), "is not a path inside"),
    "a path with a line break": (lambda b: titled(b, "a\nb"), "is not a path inside"),
    "a path that is too deep": (lambda b: titled(b, "/".join("a" * 40)), "not a path inside"),
    "a file without a path": (lambda b: titled(b, ""), "is not a path inside"),
    "a path twice": (lambda b: titled(b, "a", "a"), "two files have the same place"),
    "a file that is a folder too": (lambda b: titled(b, "a", "a/b"), "have the same place"),
    "a bundle in a bundle": (lambda b: titled(b, "oci-layout", "x"), "a bundle in a bundle"),
    "something that is no artifact": (
        lambda b: layer(b).update(b.add(b"module {}")),
        "not MLIR bytecode",
    ),
    "a digest that is none": (
        lambda b: layer(b).update(digest="sha256:../../../../etc/passwd"),
        "is not a SHA-256 digest",
    ),
    "another kind of digest": (
        lambda b: layer(b).update(digest="sha512:" + "0" * 128),
        "is not a SHA-256 digest",
    ),
    "a size that is no number": (lambda b: layer(b).update(size=True), "size True"),
    "a size below zero": (lambda b: layer(b).update(size=-1), "size -1"),
    "an annotation that is no text": (
        lambda b: layer(b).update(annotations={"x": 1}),
        "an annotation is not a text",
    ),
    "layers that are no list": (lambda b: b.manifests[0].update(layers={}), "no list 'layers'"),
    "a manifest of another schema": (
        lambda b: b.manifests[0].update(schemaVersion=1),
        "schemaVersion 1",
    ),
    "a document that is too large": (
        lambda b: b.manifests[0].update(padding="x" * (4 << 20)),
        "larger than 4194304 bytes",
    ),
    # Blobs that are not what is said of them.
    "a blob of another size": (lambda b: layer(b).update(size=1), "bytes, not 1 as its"),
    "a blob that is missing": (
        lambda b: b.blob(layer(b)).unlink(),
        "missing",
    ),
    "a blob swapped for another": (
        lambda b: shutil.copy(b.blob(b.manifests[1]["layers"][0]), b.blob(layer(b))),
        "bytes, not",
    ),
    "a blob with one bit changed": (
        lambda b: flip(b.blob(layer(b))),
        "was changed or damaged",
    ),
    "a blob that is a pipe": (
        lambda b: piped(b.blob(layer(b))),
        "not a regular file",
    ),
}


def piped(path: Path) -> None:
    """Put a pipe in the place of a file."""
    path.unlink()
    os.mkfifo(path)


def flip(path: Path) -> None:
    """Change one bit of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_bundle_is_refused(layout: Layout, tmp_path: Path, name: str) -> None:
    """Opened or picked from: the same error in one line, with the place, and nothing is written."""
    change, message = BAD[name]
    change(layout)
    layout.write()
    before = sorted(tmp_path.iterdir())
    for attempt in (
        lambda: open_container(layout.path),
        lambda: pick(layout.path, NEWEST, to=tmp_path / "picked"),
        lambda: unpack(layout.path, to=tmp_path / "all"),
    ):
        with pytest.raises(MalformedContainer) as caught:
            attempt()
        assert message in str(caught.value)
        assert caught.value.where
    assert main(["inspect", str(layout.path)]) == 2
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("file", "content", "error"),
    [
        ("oci-layout", "{}", MalformedContainer),
        ("oci-layout", '{"imageLayoutVersion":"2.0.0"}', MalformedContainer),
        ("oci-layout", "[" * 100_000, MalformedContainer),
        ("index.json", "", MalformedContainer),
        ("index.json", "[]", MalformedContainer),
        ("index.json", '{"schemaVersion":2,"schemaVersion":2,"manifests":[]}', MalformedContainer),
        ("index.json", '{"schemaVersion":2,"manifests":[]}', NoArtifact),
        ("index.json", '{"schemaVersion":2,"manifests":[null]}', MalformedContainer),
        ("index.json", '{"schemaVersion":2,"manifests":[' + "1" * 5000 + "]}", MalformedContainer),
    ],
)
def test_what_leads_to_the_index_is_checked(
    layout: Layout, tmp_path: Path, file: str, content: str, error: type[PortableError]
) -> None:
    """The two files of a layout that have no digest."""
    (layout.path / file).write_text(content)
    with pytest.raises(error):
        open_container(layout.path)
    with pytest.raises(error):
        pick(layout.path, NEWEST, to=tmp_path / "picked")


def test_weights_are_checked_where_they_are_delivered(tmp_path: Path) -> None:
    """Opening reads no weight that nothing looks at; picking reads all that it delivers."""
    for version in ("0.9.0", "1.17.0"):
        artifact = (ARTIFACTS / f"add_f32+{version}.mlir.bc").read_bytes()
        open_container(TORCH_XLA).replace({"forward": artifact}, to=tmp_path / version)
        (tmp_path / version / "notes.txt").write_text("the same in all")
    pack_files([tmp_path / "0.9.0", tmp_path / "1.17.0"], to=tmp_path / "bundle")
    layout = Layout(tmp_path / "bundle")
    files = {
        one["annotations"]["org.opencontainers.image.title"]: layout.blob(one)
        for one in layout.manifests[0]["layers"]
    }
    flip(files["notes.txt"])
    open_container(layout.path)
    with pytest.raises(MalformedContainer, match="was changed or damaged"):
        pick(layout.path, NEWEST, to=tmp_path / "picked")
    flip(files["notes.txt"])
    flip(files["data/f.weight"])
    with pytest.raises(MalformedContainer, match="was changed or damaged"):
        open_container(layout.path)


def test_an_artifact_belongs_to_one_version(tmp_path: Path) -> None:
    """Else a few bytes would have it read as often as there are manifests."""
    for version in ("0.9.0", "1.17.0"):
        artifact = (ARTIFACTS / f"add_f32+{version}.mlir.bc").read_bytes()
        model = tmp_path / version
        open_container(TORCH_XLA).replace({"forward": artifact}, to=model)
        meta = json.loads((model / "functions" / "forward.meta").read_text())
        (model / "functions" / "other.meta").write_text(json.dumps(meta | {"name": "other"}))
        shutil.copy(FILES[0], model / "functions" / "other.bytecode")
    with pytest.raises(MalformedContainer, match="is the same file as"):
        pack_files([tmp_path / "0.9.0", tmp_path / "1.17.0"], to=tmp_path / "bundle")
    shutil.copy(ARTIFACTS / "add_i1+0.9.0.mlir.bc", tmp_path / "0.9.0/functions/other.bytecode")
    shutil.copy(ARTIFACTS / "add_i1+0.9.0.mlir.bc", tmp_path / "1.17.0/functions/other.bytecode")
    with pytest.raises(MalformedContainer, match="has an artifact of 1"):
        pack_files([tmp_path / "0.9.0", tmp_path / "1.17.0"], to=tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_the_empty_config_is_checked(layout: Layout) -> None:
    """The two bytes that registries want, and nothing reads."""
    flip(layout.blob(layout.manifests[0]["config"]))
    with pytest.raises(MalformedContainer, match="was changed or damaged"):
        open_container(layout.path)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("second.mlir.bc", FILES[1].read_bytes()),
        ("weights/data.bin", FILES[0].read_bytes()),
        ("inner/saved_model.pb", b"\x08\x01"),
        ("inner/oci-layout", b"{}"),
    ],
)
@pytest.mark.parametrize("files", [FILES[:1], [TORCH_XLA]], ids=["plain", "directory"])
def test_what_is_not_judged_is_not_delivered(
    files: list[Path], path: str, data: bytes, tmp_path: Path
) -> None:
    """An artifact or a container beside the program of a Version passes neither gate nor pick."""
    pack_files(files, to=tmp_path / "bundle")
    layout = Layout(tmp_path / "bundle")
    gate = ["gate", str(layout.path), "--for", NEWEST]
    assert main(gate) == 0
    title = {"org.opencontainers.image.title": path}
    extra = {"mediaType": "application/octet-stream", "annotations": title}
    layout.manifests[0]["layers"].append(layout.add(data) | extra)
    layout.write()
    assert main(gate) == 2
    with pytest.raises(MalformedContainer, match="is not of the program"):
        open_container(layout.path)
    with pytest.raises(MalformedContainer, match="is not of the program"):
        pick(layout.path, NEWEST, to=tmp_path / "picked")
    with pytest.raises(MalformedContainer, match="is not of the program"):
        unpack(layout.path, to=tmp_path / "all")
    assert not (tmp_path / "picked").exists()
    assert not (tmp_path / "all").exists()


def test_other_files_of_a_version_are_delivered(tmp_path: Path) -> None:
    """Notes and weights are no artifacts."""
    pack_files(FILES[:1], to=tmp_path / "bundle")
    layout = Layout(tmp_path / "bundle")
    title = {"org.opencontainers.image.title": "NOTES.md"}
    extra = {"mediaType": "text/markdown", "annotations": title}
    layout.manifests[0]["layers"].append(layout.add(b"text") | extra)
    layout.write()
    assert main(["gate", str(layout.path), "--for", NEWEST]) == 0
    pick(layout.path, NEWEST, to=tmp_path / "picked")
    assert (tmp_path / "picked" / "NOTES.md").read_text() == "text"
