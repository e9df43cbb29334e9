"""The gate over buckets and audits: what it says of the same files in a folder."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import pytest

from compat_tests.fleet.conftest import Bucket
from compat_tests.helpers.bundles import Layout
from portable.bundle import pack_files
from portable.cli import main
from portable.fleet import audit

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "compat_tests" / "data" / "artifacts"
CONTAINERS = ROOT / "compat_tests" / "data" / "containers"
FAMILY = ROOT / "corpus" / "collectives"
POLICY = """
[consumers]
old = ["jaxlib==0.4.13"]
[rules]
consumers = ["@old"]
depth = "DEPTH"
locations = "points"
custom_calls = []
exclude = ["*.mlir", "skipped/"]
[[waivers]]
rule = "consumer"
path = "*waived*"
reason = "known"
expires = 2999-01-01
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Artifacts, containers, damage, what is excluded and what is waived."""
    tree = tmp_path / "models"
    for case in sorted(FAMILY.iterdir())[:12]:
        shutil.copytree(case, tree / case.name)
    for path in CONTAINERS.glob("*.exported"):
        shutil.copy(path, tree)
    (tree / "skipped").mkdir()
    for name, versions in (("both", ("0.9.0", "1.17.0")), ("waived", ("1.17.0",))):
        files = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in versions]
        pack_files(files, to=tree / f"{name}.bundle")
    (tree / "cut.mlir.bc").write_bytes(b"ML\xefR\x06")
    newest = max(tree.rglob("1.1*.mlir.bc"))
    shutil.copy(newest, tree / "waived.mlir.bc")
    shutil.copy(newest, tree / "skipped")
    return tree


def _gate(words: list[str], root: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    code = main(["gate", *words, "--format", "json"])
    found = json.loads(capsys.readouterr().out.replace(root, ""))
    findings = sorted(json.dumps(one, sort_keys=True) for one in found["findings"])
    same = ("passed", "artifacts", "verdicts", "not_judged", "consumers", "unused_waivers")
    return {"code": code, "findings": findings} | {name: found[name] for name in same}


@pytest.mark.parametrize("depth", ["header", "content"])
def test_a_bucket_and_its_audit_are_judged_as_the_folder(
    tree: Path, bucket: Bucket, tmp_path: Path, depth: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same findings, waived or not, and the same exit code; keys beside paths."""
    policy, fleet = tmp_path / "portable.toml", tmp_path / "fleet.parquet"
    rules = POLICY.replace("DEPTH", depth)
    if depth == "header":  # has no rules about the content
        rules = "".join(
            line for line in rules.splitlines(True) if not line.startswith(("locat", "custom"))
        )
    policy.write_text(rules)
    bucket.fill(tree)
    how = ["--policy", str(policy)]
    expected = _gate([str(tree), *how], str(tree), capsys)
    assert "waived" in str(expected["findings"])
    assert "cut.mlir.bc" in str(expected["findings"])
    assert "waived.bundle" in str(expected["findings"])
    assert "both.bundle" not in str(expected["findings"])
    remote = _gate([bucket.url, *how], bucket.url, capsys)
    assert remote == expected
    shutil.rmtree(tree / "skipped")  # an audit excludes nothing
    audited = ["audit", str(tree), "-o", str(fleet), "--depth", depth]
    assert main(audited) == 2  # one is cut
    capsys.readouterr()
    assert _gate([str(fleet), *how], str(tree), capsys) == expected


def test_what_an_audit_has_not_read_does_not_pass(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A policy about the content is not held by an audit of headers: exit code 2."""
    fleet = str(tmp_path / "fleet.parquet")
    for path in (tree / "cut.mlir.bc", *tree.glob("*.exported")):
        path.unlink()
    assert main(["audit", str(tree), "-o", fleet]) == 0
    assert main(["gate", fleet, "--for", "jaxlib==0.12.0.1", "--depth", "content"]) == 2
    assert "audit with --depth content" in capsys.readouterr().out
    assert main(["gate", fleet, "--for", "jaxlib==0.12.0.1", "--depth", "header"]) == 0
    assert main(["gate", str(tree / "x.parquet"), "--for", "jaxlib==0.12.0.1"]) == 2


def test_of_a_bundle_one_version_has_to_be_read(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bucket and an audit pass for whom their folder does; without such a Version all fail."""
    artifacts = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.14.0", "1.17.0")]
    for files, code in ((artifacts, 0), (artifacts[1:], 1)):
        models, fleet = tmp_path / f"{code}", tmp_path / f"{code}.parquet"
        models.mkdir()
        pack_files(files, to=models / "bundle")
        bucket.fill(tmp_path)
        url = f"{bucket.url}/{code}"
        audit([str(models)], fleet, depth="content")
        for what in (models, fleet, url, f"{url}/bundle"):
            assert main(["gate", str(what), "--for", "jaxlib==0.4.20"]) == code, what
    capsys.readouterr()


def test_only_what_the_documents_of_a_bundle_list_is_a_version_of_it(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not what an earlier bundle left there; and a Version that is a directory is not judged."""
    files = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.14.0", "1.17.0")]
    for name, code in (("left", 1), ("model", 2)):
        models, fleet = tmp_path / name, tmp_path / f"{name}.parquet"
        models.mkdir()
        shutil.copy(files[0], models)
        if name == "left":
            pack_files(files[1:], to=models / "bundle")
            digest = hashlib.sha256(files[0].read_bytes()).hexdigest()
            shutil.copy(files[0], models / "bundle" / "blobs" / "sha256" / digest)
        else:
            model = CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0"
            pack_files([model], to=models / "bundle")
        bucket.fill(tmp_path)
        audit([str(models)], fleet, depth="content")
        for what in (fleet, f"{bucket.url}/{name}"):
            assert main(["gate", str(what), "--for", "jaxlib==0.4.20"]) == code, what
    capsys.readouterr()


def test_what_a_version_of_a_bundle_has_beside_its_program_is_looked_into(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compressed artifact among its files is not judged, also in a bucket and an audit."""
    models, fleet = tmp_path / "models", tmp_path / "fleet.parquet"
    models.mkdir()
    pack_files([ARTIFACTS / "add_f32+0.14.0.mlir.bc"], to=models / "bundle")
    layout = Layout(models / "bundle")
    (layers,) = (manifest["layers"] for manifest in layout.manifests)
    packed = gzip.compress((ARTIFACTS / "add_f32+1.17.0.mlir.bc").read_bytes())
    title = {"annotations": {"org.opencontainers.image.title": "weights"}}
    layers.append(layers[0] | layout.add(packed) | title)
    layout.write()
    bucket.fill(tmp_path)
    audit([str(models)], fleet, depth="content")
    for what in (models, fleet, f"{bucket.url}/models"):
        assert main(["gate", str(what), "--for", "jaxlib==0.4.20"]) == 2, what
    capsys.readouterr()


def test_a_bundle_that_cannot_be_judged_on_a_server_does_not_pass(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One of directories is not judged, one that is damaged is a finding; blobs alone are files."""
    files = [ARTIFACTS / f"add_f32+{version}.mlir.bc" for version in ("0.14.0", "1.17.0")]
    models = tmp_path / "models"
    (models / "alone" / "blobs" / "sha256").mkdir(parents=True)
    shutil.copy(files[0], models / "alone" / "blobs" / "sha256" / "x")
    how = ["--for", "jaxlib==0.4.20", "--format", "json"]
    bucket.fill(models)
    assert main(["gate", bucket.url, *how]) == 0
    assert json.loads(capsys.readouterr().out)["artifacts"] == 1
    pack_files(files, to=models / "cut")
    for blob in (models / "cut" / "blobs" / "sha256").iterdir():
        if blob.read_bytes().startswith(b"ML"):
            blob.write_bytes(b"ML\xefR\x06")
    bucket.fill(models)
    assert main(["gate", bucket.url, *how]) == 2
    assert "cut/blobs/sha256" in capsys.readouterr().out
    shutil.rmtree(models / "cut")
    pack_files([CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0"], to=models / "model")
    bucket.fill(models / "model")
    assert main(["gate", bucket.url, *how]) == 2
    assert "a Version that is not in one file" in capsys.readouterr().out
