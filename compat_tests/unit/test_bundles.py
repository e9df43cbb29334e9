"""Bundles: several Versions of one program under one name, and which of them a consumer gets."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compat_tests.helpers.binaries import library, names_of
from portable.bundle import Unbundled, pack, pack_files, pick, unpack
from portable.cli import main
from portable.containers import Kind, NoArtifact, NotAContainer, open_container
from portable.containers.bundle import IsABundle
from portable.policy import Attested, LocationRule, Policy, Rules, gate
from portable.prediction import predict, predict_all
from portable.releases import matching_releases
from portable.system.files import FileError
from portable.verdict import Outcome, Stage
from portable.version import Version

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
ADD = {
    version: ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.9.0", "0.14.0", "1.17.0")
}
TORCH_XLA = ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container"
EXPORTED = [
    ROOT / "compat_tests" / "data" / "containers" / f"gate-vjp0-jax-{version}.exported"
    for version in ("0.4.30", "0.10.2")
]
# What these need is 0.15.0, 0.13.0 and 0.9.0.
NEW, MIDDLE, OLD = "tensorflow==2.16.2", "jaxlib==0.4.13", "stablehlo==0.9.0"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return a bundle of one program in three Versions."""
    pack_files(ADD.values(), to=tmp_path / "add.bundle")
    return tmp_path / "add.bundle"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Return a bundle of two directories of torch_xla with the same weights."""
    for version in ("0.9.0", "1.17.0"):
        artifact = ADD[version].read_bytes()
        open_container(TORCH_XLA).replace({"forward": artifact}, to=tmp_path / version)
    pack_files([tmp_path / "0.9.0", tmp_path / "1.17.0"], to=tmp_path / "model.bundle")
    return tmp_path / "model.bundle"


def document(path: Path) -> Any:
    """Read a document of the layout."""
    return json.loads(path.read_text())


def blob(bundle: Path, descriptor: dict[str, Any]) -> Path:
    """Return where a blob lies."""
    return bundle / "blobs" / str(descriptor["digest"]).replace(":", "/")


def manifests(bundle: Path) -> list[Any]:
    """Return the manifests of a bundle, as any other tool reads them."""
    (top,) = document(bundle / "index.json")["manifests"]
    return [document(blob(bundle, one)) for one in document(blob(bundle, top))["manifests"]]


def test_the_pages_name_every_media_type() -> None:
    """docs/bundles.md and docs/attestations.md have those of the code, and no others."""
    types = re.compile(r"application/(?:vnd\.[\w.+-]+|octet-stream)")

    def named(*paths: Path) -> set[str]:
        return {name for path in paths for name in types.findall(path.read_text("utf-8"))}

    pages = (ROOT / "docs" / name for name in ("bundles.md", "attestations.md"))
    assert named(*pages) == named(*(ROOT / "portable").rglob("*.py"))


def test_a_bundle_is_an_image_layout(bundle: Path) -> None:
    """Each blob has the name of its digest and the size that is said, and nothing else is there."""
    assert document(bundle / "oci-layout") == {"imageLayoutVersion": "1.0.0"}
    (top,) = document(bundle / "index.json")["manifests"]
    index = document(blob(bundle, top))
    found = [top, *index["manifests"]]
    for manifest in manifests(bundle):
        assert manifest["schemaVersion"] == 2
        found += [manifest["config"], *manifest["layers"]]
    for one in found:
        data = blob(bundle, one).read_bytes()
        assert one["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert one["size"] == len(data)
    names = {one["digest"].removeprefix("sha256:") for one in found}
    assert names == {path.name for path in (bundle / "blobs" / "sha256").iterdir()}


def test_its_manifests_say_what_the_versions_need(bundle: Path) -> None:
    """The annotations that docs/bundles.md lists, in the index as in the manifest itself."""
    newest = manifests(bundle)[0]
    assert newest["annotations"] == {
        "stablehlo.portable.format": "6",
        "stablehlo.portable.kind": "portable artifact",
        "stablehlo.portable.minimum": "0.9.0",
        "stablehlo.portable.required": "0.15.0",
        "stablehlo.portable.version": "1.17.0",
    }
    (top,) = document(bundle / "index.json")["manifests"]
    assert document(blob(bundle, top))["manifests"][0]["annotations"] == newest["annotations"]
    (layer,) = newest["layers"]
    assert layer["annotations"] == {"org.opencontainers.image.title": ADD["1.17.0"].name}


def test_the_same_input_makes_the_same_bytes(tmp_path: Path, models: Path) -> None:
    """Whatever the order in which files are named or lie in their folders."""
    again = pack_files([tmp_path / "1.17.0", tmp_path / "0.9.0"], to=tmp_path / "again")
    files = [path.relative_to(models) for path in models.rglob("*") if path.is_file()]
    assert sorted(files) == sorted(
        path.relative_to(tmp_path / "again")
        for path in (tmp_path / "again").rglob("*")
        if path.is_file()
    )
    for path in files:
        assert (models / path).read_bytes() == (tmp_path / "again" / path).read_bytes()
    (top,) = document(models / "index.json")["manifests"]
    assert again.digest == top["digest"]


def test_versions_share_what_is_the_same(models: Path) -> None:
    """Weights of any number of Versions are there once."""
    weights = {path.read_bytes() for path in (TORCH_XLA / "data").iterdir()}
    blobs = [path.read_bytes() for path in (models / "blobs" / "sha256").iterdir()]
    assert sum(data in weights for data in blobs) == len(weights)


@pytest.mark.parametrize(
    ("consumer", "version"), [(NEW, "1.17.0"), (MIDDLE, "0.14.0"), (OLD, "0.9.0")]
)
def test_a_consumer_gets_the_newest_that_it_reads(
    bundle: Path, tmp_path: Path, consumer: str, version: str
) -> None:
    """Byte for byte what was put in; the Verdicts say why newer ones were passed over."""
    picked = pick(bundle, consumer, to=tmp_path / "add.mlir.bc")
    assert picked.version == Version.parse(version)
    assert picked.held is True
    assert (tmp_path / "add.mlir.bc").read_bytes() == ADD[version].read_bytes()
    *passed, taken = picked.verdicts.values()
    assert [one.outcome for (one,) in passed] == [Outcome.INCOMPATIBLE] * len(passed)
    assert taken[0].compatible


@pytest.mark.parametrize(("has", "version"), [("1.17.0", "1.17.0"), ("0.14.0", "0.9.0")])
def test_a_plugin_is_a_consumer(bundle: Path, tmp_path: Path, has: str, version: str) -> None:
    """A shared library in no table, by what its names show: of the second, at least 0.11.0."""
    plugin = tmp_path / "plugin.so"
    plugin.write_bytes(library(*names_of(has)))
    assert main(["pick", str(bundle), "--for", str(plugin), "-o", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new").read_bytes() == ADD[version].read_bytes()


LISTED = """
import sys
from portable.bundle import pick
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
bundle, folder, *consumers = sys.argv[1:]
for number, consumer in enumerate(consumers):
    opened.clear()
    pick(bundle, consumer, to=f"{folder}/picked{number}")
    print(*{path[len(bundle) + 1 :] for path in opened if path.startswith(bundle)})
"""


def test_a_pick_reads_what_it_delivers(bundle: Path, tmp_path: Path) -> None:
    """The documents that lead there, one manifest, its files; no other file of the bundle."""
    words = [sys.executable, "-c", LISTED, str(bundle), str(tmp_path), NEW, MIDDLE, OLD]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(shown) == 3
    (top,) = document(bundle / "index.json")["manifests"]
    for number, files in enumerate(shown):
        picked = hashlib.sha256((tmp_path / f"picked{number}").read_bytes()).hexdigest()
        (manifest,) = (
            one
            for one in document(blob(bundle, top))["manifests"]
            if picked in blob(bundle, one).read_text()
        )
        blobs = [top["digest"], manifest["digest"], f"sha256:{picked}"]
        expected = [f"blobs/{one.replace(':', '/')}" for one in blobs]
        assert sorted(files.split()) == sorted(["index.json", "oci-layout", *expected])


PEAK = """
from pathlib import Path
peak, = (line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
print(int(peak.split()[1]) >> 10)
"""
WRITE = "from portable.bundle import pack_files; pack_files(sys.argv[2:], to=sys.argv[1])"
TAKE = "from portable.bundle import pick; pick(sys.argv[1], 'jaxlib==0.4.13', to=sys.argv[2])"


def test_weights_fill_neither_the_disk_nor_memory(tmp_path: Path) -> None:
    """Of three Versions they are there once, 1.02 times at most; 64 MB are enough for any size."""
    size = 96 << 20
    with (tmp_path / "weights").open("wb") as stream:
        stream.truncate(size)
    for version, path in ADD.items():
        model = tmp_path / version
        open_container(TORCH_XLA).replace({"forward": path.read_bytes()}, to=model)
        (model / "weights").hardlink_to(tmp_path / "weights")
    bundle = tmp_path / "bundle"
    for code, words in (
        (WRITE, [bundle, *(tmp_path / version for version in ADD)]),
        (TAKE, [bundle, tmp_path / "picked"]),
    ):
        command = [sys.executable, "-c", f"import sys; {code}{PEAK}", *map(str, words)]
        shown = subprocess.run(command, capture_output=True, text=True, check=True)
        assert int(shown.stdout) <= 64
    assert sum(path.stat().st_size for path in bundle.rglob("*") if path.is_file()) < 1.02 * size
    assert (tmp_path / "picked" / "weights").stat().st_size == size


def test_several_consumers_get_one_that_all_read(bundle: Path, tmp_path: Path) -> None:
    """The newest for the oldest of them."""
    assert pick(bundle, NEW, MIDDLE, to=tmp_path / "new").version == Version.parse("0.14.0")


def test_a_directory_is_delivered_whole(models: Path, tmp_path: Path) -> None:
    """With every weight, as it was before it was bundled."""
    pick(models, NEW, to=tmp_path / "picked")
    origin = tmp_path / "1.17.0"
    for path in origin.rglob("*"):
        if path.is_file():
            assert (
                tmp_path / "picked" / path.relative_to(origin)
            ).read_bytes() == path.read_bytes()
    assert open_container(tmp_path / "picked").kind is Kind.TORCH_XLA


def test_nothing_is_delivered_that_is_not_read(bundle: Path, tmp_path: Path) -> None:
    """Nothing is left behind either; the exit code tells refused from not known."""
    shutil.rmtree(bundle)
    pack_files([ADD["1.17.0"]], to=bundle)
    before = sorted(tmp_path.iterdir())
    assert pick(bundle, MIDDLE, to=tmp_path / "new").held is False
    assert main(["pick", str(bundle), "--for", MIDDLE, "-o", str(tmp_path / "new")]) == 1
    shutil.rmtree(bundle)
    pack_files([EXPORTED[0]], to=bundle)  # which jax opens; of IREE it is not known
    assert main(["pick", str(bundle), "--for", "iree-base-compiler==3.0.0", "-o", "new"]) == 2
    assert sorted(tmp_path.iterdir()) == before


def test_who_opens_a_container_counts(tmp_path: Path) -> None:
    """A newer Version in an envelope that a consumer does not open is passed over."""
    pack_files(EXPORTED, to=tmp_path / "bundle")
    old = pick(tmp_path / "bundle", "jaxlib==0.4.30", to=tmp_path / "old")
    new = pick(tmp_path / "bundle", "jaxlib==0.11.2", to=tmp_path / "new")
    assert (tmp_path / "old").read_bytes() == EXPORTED[0].read_bytes()
    assert (tmp_path / "new").read_bytes() == EXPORTED[1].read_bytes()
    assert str(old.version) < str(new.version)


def test_all_versions_can_be_taken_out(bundle: Path, tmp_path: Path) -> None:
    """One folder for each, named for it."""
    assert [*map(str, unpack(bundle, to=tmp_path / "all"))] == ["1.17.0", "0.14.0", "0.9.0"]
    for version, path in ADD.items():
        assert (tmp_path / "all" / version / path.name).read_bytes() == path.read_bytes()


def test_only_what_consumers_need_is_bundled(tmp_path: Path) -> None:
    """The newest that each reads, or the fewest that serve all."""
    best = pack_files(ADD.values(), NEW, OLD, to=tmp_path / "best")
    fewest = pack_files(ADD.values(), NEW, MIDDLE, to=tmp_path / "few", minimal=True)
    assert [*map(str, best.versions)] == ["1.17.0", "0.9.0"]
    assert [*map(str, fewest.versions)] == ["0.14.0"]
    assert len(manifests(tmp_path / "few")) == 1
    said = manifests(tmp_path / "best")[0]["annotations"]
    assert said["stablehlo.portable.consumers"] == "tensorflow 2.16.2"
    assert said["stablehlo.portable.verified"] == "decode, predicted"


def test_what_is_no_version_of_its_own_is_refused(bundle: Path, tmp_path: Path) -> None:
    """Two for one Version, or a bundle itself; nothing is written."""
    with pytest.raises(Unbundled, match="several files for one Version"):
        pack_files([ADD["0.9.0"], ARTIFACTS / "add_i1+0.9.0.mlir.bc"], to=tmp_path / "new")
    with pytest.raises(IsABundle, match="is a bundle of several Versions"):
        pack_files([bundle], to=tmp_path / "new")
    with pytest.raises(IsABundle):
        pack(bundle, NEW, to=tmp_path / "new")
    with pytest.raises(IsABundle):
        open_container(bundle).replace({}, to=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_the_verdict_of_a_bundle_is_that_of_the_version_it_serves(bundle: Path) -> None:
    """`predict`, `check` and `gate` judge what `pick` would deliver."""
    assert predict(bundle, "jaxlib 0.4.13").compatible
    assert predict(bundle, "jaxlib 0.4.13").reason.startswith("0.14.0: ")
    shutil.copytree(bundle, bundle.parent / "tree" / "deep" / "add.bundle")
    for consumer, code in {NEW: 0, OLD: 0, "jaxlib==0.4.13": 0}.items():
        assert main(["check", str(bundle), "--for", consumer]) == code
        policy = Policy(rules=Rules(consumers=(consumer,)))
        result = gate(bundle.parent / "tree", policy)
        assert result.passed
        assert [one.inside for one in result.files] == ["1.17.0", "0.14.0", "0.9.0"]


def test_a_bundle_that_serves_a_consumer_with_nothing_fails(tmp_path: Path) -> None:
    """Every Version that is refused is a finding; the Verdict is that of the lowest."""
    pack_files([ADD["1.17.0"], ADD["0.14.0"]], to=tmp_path / "bundle")
    result = gate(tmp_path / "bundle", Policy(rules=Rules(consumers=(OLD,))))
    assert [one.inside for one in result.findings] == ["1.17.0", "0.14.0"]
    (verdict,) = predict_all(tmp_path / "bundle", matching_releases(OLD))
    assert verdict.outcome is Outcome.INCOMPATIBLE
    assert verdict.reason.startswith("0.14.0: ")
    assert main(["check", str(tmp_path / "bundle"), "--for", OLD]) == 1


def test_content_rules_hold_for_every_version(tmp_path: Path) -> None:
    """Ranges in one Version are a finding, although the consumer may read another."""
    pack_files([ADD["0.9.0"], ARTIFACTS / "location_range+1.0.0.mlir.bc"], to=tmp_path / "b")
    for rule, found in {LocationRule.ANY: [], LocationRule.POINTS: ["1.0.0"]}.items():
        result = gate(tmp_path / "b", Policy(rules=Rules(consumers=(OLD,), locations=rule)))
        assert [one.inside for one in result.findings] == found


def test_the_attestation_of_the_current_folder_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in the bundle, under the name of a dot; by that name the gate ended."""
    bundle = tmp_path / "bundle"
    pack_files([ADD["0.9.0"]], to=bundle)
    attested = Attested(key=str(tmp_path / "public.pem"))
    policy = Policy(rules=Rules(consumers=(OLD,), attested=attested))
    names = {"bundle": tmp_path, ".": bundle, "..": bundle / "blobs", "bundle/.": tmp_path}
    for name, here in names.items():
        monkeypatch.chdir(here)
        (finding,) = gate(name, policy).findings
        said, _, _ = finding.message.partition(": cannot read")
        assert Path(said).absolute() == tmp_path / "bundle.sigstore.json", name


def test_inspect_shows_every_version(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the artifacts of any container, by name."""
    assert main(["inspect", str(bundle), "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["files"]
    assert found["kind"] == "bundle"
    names = [(one["name"], one["claimed"]) for one in found["artifacts"]]
    assert names == [(version, version) for version in reversed(ADD)]


def test_an_image_layout_of_something_else_is_no_bundle(bundle: Path, tmp_path: Path) -> None:
    """A folder may hold container images; a gate counts their files and goes on."""
    (top,) = document(bundle / "index.json")["manifests"]
    index = document(blob(bundle, top))
    image = tmp_path / "tree" / "image"
    (image / "blobs" / "sha256").mkdir(parents=True)
    shutil.copy(bundle / "oci-layout", image)
    (image / "index.json").write_text(json.dumps(index | {"annotations": {}}))
    with pytest.raises(NoArtifact, match="not a bundle"):
        open_container(image)
    shutil.copy(ADD["0.9.0"], tmp_path / "tree")
    assert gate(tmp_path / "tree", Policy(rules=Rules(consumers=(NEW,)))).passed


def test_where_a_version_goes(bundle: Path, tmp_path: Path) -> None:
    """Never into a stream, onto a folder that is used, or out of something that is no bundle."""
    for place in (os.devnull, "/dev/stdout", tmp_path, tmp_path / "missing" / "file"):
        with pytest.raises(FileError):
            pick(bundle, NEW, to=place)
    with pytest.raises(NotAContainer):
        pick(ADD["0.9.0"], NEW, to=tmp_path / "new")
    with pytest.raises(NotAContainer):
        unpack(tmp_path, to=tmp_path / "new")


def test_what_is_known_not_to_compile_is_passed_over(bundle: Path, tmp_path: Path) -> None:
    """Always; `--stage compile` also passes over what is not known to compile."""
    compiles, new = ["--stage", "compile"], tmp_path / "new"
    assert main(["pick", str(bundle), "--for", MIDDLE, *compiles, "-o", str(new)]) == 0
    assert new.read_bytes() == ADD["0.14.0"].read_bytes()
    new.unlink()
    refused = ARTIFACTS / "quantized_abs+0.9.0.mlir.bc"
    unknown = ARTIFACTS / "reduce_window_promoted_floats+0.9.0.mlir.bc"
    for artifact, words, code in (
        (refused, [], 1),
        (refused, compiles, 1),
        (unknown, compiles, 2),
        (unknown, [], 0),
    ):
        shutil.rmtree(tmp_path / "one", ignore_errors=True)
        pack_files([artifact], to=tmp_path / "one")
        pick_ = ["pick", str(tmp_path / "one"), "--for", "jaxlib==0.10.2", "-o", str(new)]
        assert main([*pick_, *words]) == code
        assert new.exists() is (code == 0)


def test_a_stage_beyond_prediction_is_not_known(bundle: Path, tmp_path: Path) -> None:
    """`--stage execute` delivers nothing for a Release on which nothing was executed."""
    one = "libtpu==0.0.20"
    assert pick(bundle, one, to=tmp_path / "new", stage=Stage.EXECUTE).held is None
