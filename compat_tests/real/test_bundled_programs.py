"""Bundles that are written by the real library: containers as members, executed, again the same."""

import json
import re
from pathlib import Path

import pytest

import portable
from compat_tests.helpers.bundles import manifests
from portable.bundle import pack, pick
from portable.cli import main
from portable.containers import Kind, open_container
from portable.containers.bundle import VERSION
from portable.runtime.executors import random_inputs, signature

ROOT = Path(__file__).parents[2]
CONTAINERS = ROOT / "compat_tests" / "data" / "containers"
ENCODER = ROOT / "docs" / "examples" / "encoder.mlir"
ERAS = ("jaxlib==0.4.33", "jaxlib==0.10.2")
MEMBERS = {
    Kind.EXPORTED: (CONTAINERS / "gate-vjp0-jax-0.10.2.exported", ERAS),
    Kind.SAVED_MODEL: (
        CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0",
        ("tensorflow==2.16.2", "tensorflow==2.20.0"),
    ),
    Kind.TORCH_XLA: (ROOT / "corpus" / "torch_xla" / "torch_xla_2_9_0" / "container", ERAS),
}


@pytest.mark.parametrize("kind", MEMBERS)
def test_a_container_is_a_member(tmp_path: Path, kind: Kind) -> None:
    """Whole, in each Version; each consumer gets it with artifacts that it reads."""
    path, consumers = MEMBERS[kind]
    made = pack(path, *consumers, to=tmp_path / "model.bundle")
    assert len(made.versions) == 2
    again = pack(path, *reversed(consumers), to=tmp_path / "again")
    assert again.digest == made.digest
    for consumer in consumers:
        picked = pick(tmp_path / "model.bundle", consumer, to=tmp_path / consumer)
        container = open_container(tmp_path / consumer)
        assert container.kind is kind
        for entry in container.artifacts():
            assert portable.predict(entry.data, consumer.replace("==", " ")).compatible
        assert picked.version in made.versions
    said = [one["annotations"]["stablehlo.portable.kind"] for one in manifests(tmp_path / "again")]
    assert said == [str(kind)] * 2


def test_a_program_is_bundled_the_same_again(tmp_path: Path) -> None:
    """In any order of consumers, and wherever it is written."""
    digests = {
        pack(ENCODER, *consumers, to=tmp_path / str(number)).digest
        for number, consumers in enumerate((ERAS, ERAS[::-1], ERAS))
    }
    assert len(digests) == 1


def test_the_page_names_every_annotation(tmp_path: Path) -> None:
    """Those of a program that is rewritten for one Version are all that docs/bundles.md has."""
    said = re.compile(r"stablehlo\.portable\.[a-z]+")
    program = "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
    program += "  %y = stablehlo.tan %x : tensor<f32>\n  return %y : tensor<f32>\n}"
    pack(program.encode(), "stablehlo==1.0.0", to=tmp_path / "tan.bundle")
    written = {
        name
        for path in (tmp_path / "tan.bundle" / "blobs" / "sha256").iterdir()
        for name in said.findall(path.read_text("latin-1"))
    }
    assert written == set(said.findall((ROOT / "docs" / "bundles.md").read_text("utf-8")))


def test_what_is_installed_is_a_consumer(tmp_path: Path) -> None:
    """It gets the newest Version, and executes it."""
    pack(ENCODER, *ERAS, to=tmp_path / "encoder.bundle")
    words = ["pick", str(tmp_path / "encoder.bundle"), "--for", "installed"]
    assert main([*words, "-o", str(tmp_path / "encoder.mlir.bc")]) == 0
    newest = manifests(tmp_path / "encoder.bundle")[0]["annotations"][VERSION]
    artifact = portable.Artifact.load(tmp_path / "encoder.mlir.bc")
    assert str(artifact.version) == newest
    portable.run(artifact, random_inputs(signature(artifact), seed=0))


@pytest.mark.old_releases
def test_a_matrix_executes_every_version(tmp_path: Path) -> None:
    """Each is an item of its own, observed on a real Release."""
    pack(ENCODER, *ERAS, to=tmp_path / "encoder.bundle")
    words = ["matrix", str(tmp_path / "encoder.bundle"), "--for", ERAS[1], "--stage", "execute"]
    words += ["--random", "0", "--cache", str(tmp_path / "store"), "-o", str(tmp_path / "m.json")]
    assert main(words) == 0
    seen = json.loads((tmp_path / "m.json").read_text())
    claimed = {one["claimed"] for one in seen["items"]}
    assert claimed == {
        one["annotations"][VERSION] for one in manifests(tmp_path / "encoder.bundle")
    }
    outcomes = {(one["outcome"], one["stage"]) for one in seen["verdicts"]}
    assert ("compatible", "execute") in outcomes
