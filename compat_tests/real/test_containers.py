"""Containers rewritten: jax itself loads them and computes what it computed before."""

import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uv
from packaging.requirements import Requirement

import portable
from compat_tests.helpers.thorough import some
from portable.cli import main
from portable.containers import open_container
from portable.containers.container import readers_of
from portable.pinning.pipeline import NotExpressible
from portable.pinning.repinning import NotOpened, pin_all
from portable.version import Version

ROOT = Path(__file__).parents[2]
CONTAINERS = ROOT / "compat_tests" / "data" / "containers"
EXPORTED = sorted(CONTAINERS.glob("*.exported"))
GRAPH = CONTAINERS / "graph-tensorflow-2.20.0"
TORCH_XLA = sorted((ROOT / "corpus").glob("torch_xla/*/container"))

X = np.linspace(-2, 2, 6, dtype="float32").reshape(2, 3)
SCALE = np.float32(3)


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run a command; return its exit code and what it printed."""
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def computed(path: Path) -> list[Any]:
    """Let jax open an Exported; return its value and as many derivatives as it has."""
    import jax

    exported = jax.export.deserialize(bytearray(path.read_bytes()))

    def function(x: Any) -> Any:
        return exported.call(x, SCALE)["y"]

    def slope(x: Any) -> Any:
        return jax.grad(lambda x: function(x).sum())(x)

    def curve(x: Any) -> Any:
        return jax.grad(lambda x: slope(x).sum())(x)

    orders: list[Callable[[Any], Any]] = [function, slope, curve]
    return [np.asarray(order(X)) for order in orders[: len(open_container(path).artifacts())]]


@pytest.mark.parametrize("target", some(["0.9.0", "1.9.0", "current"], each=3))
@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: path.name)
def test_jax_computes_the_same_from_a_repinned_exported(
    path: Path, target: str, tmp_path: Path
) -> None:
    """Whatever jax wrote it: bit by bit, the derivatives too, at the Version that was requested."""
    import jax

    new = tmp_path / "new.exported"
    (reader,) = readers_of(open_container(path))
    if jax.__version__ not in Requirement(reader).specifier:
        with pytest.raises(ValueError, match="older than"):
            computed(path)
        return
    found = portable.repin(path, target, to=new)
    for name, pinned in found.pinned.items():
        assert pinned.artifact.version == pinned.target.version
        inside = {entry.name: bytes(entry) for entry in open_container(new).artifacts()}
        assert inside[name] == pinned.artifact.data
    before, after = computed(path), computed(new)
    for old, now in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, now)
    np.testing.assert_allclose(after[0], np.tanh(X) * SCALE + 0.5, rtol=1e-5)


def test_what_jax_reads_back_is_what_was_put_in(tmp_path: Path) -> None:
    """Its own reading of the flatbuffer agrees on every field but the artifact."""
    import jax

    path = CONTAINERS / "gate-vjp0-jax-0.10.2.exported"
    portable.repin(path, "0.9.0", to=tmp_path / "new.exported")
    old = jax.export.deserialize(bytearray(path.read_bytes()))
    new = jax.export.deserialize(bytearray((tmp_path / "new.exported").read_bytes()))
    assert new.mlir_module_serialized[:].startswith(b"ML\xefR\x01StableHLO_v0.9.0\0")
    for name in ("fun_name", "in_avals", "out_avals", "platforms", "nr_devices", "in_tree"):
        assert getattr(new, name) == getattr(old, name), name


def test_pin_writes_a_container_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line for each artifact; the original is as it was; JSON tells the same."""
    path = CONTAINERS / "gate-vjp2-jax-0.10.2.exported"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    new = tmp_path / "new.exported"
    code, out, _ = run(capsys, "pin", path, "--target", "1.0.0", "--verify", "-o", new)
    assert code == 0
    for name in ("primal", "vjp", "vjp.vjp"):
        assert f"{new}: {name}: StableHLO 1.0.0" in out
    assert out.count("the same outputs for seed 0, seed 1, seed 2") == 3
    code, out, _ = run(capsys, "pin", path, "--target", "1.0.0", "--format", "json", "-o", new)
    records = json.loads(out)["artifacts"]
    assert code == 0
    entries = open_container(new).artifacts()
    assert [record["digest"] for record in records] == [
        hashlib.sha256(bytes(entry)).hexdigest() for entry in entries
    ]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    code, out, _ = run(capsys, "check", new, "--for", "jaxlib>=0.8.2", "--observe")
    assert code == 0


@pytest.mark.parametrize("path", TORCH_XLA, ids=lambda path: path.parent.name)
def test_a_directory_of_torch_xla_computes_the_same(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From its own weights; the description and the text follow the new artifact."""
    new = tmp_path / "new"
    code, _, _ = run(capsys, "pin", path, "--target", "0.9.0", "-o", new)
    assert code == 0
    meta = json.loads((new / "functions" / "forward.meta").read_text())
    assert meta["stablehlo_version"] == "0.9.0"
    assert "stablehlo." in (new / "functions" / "forward.mlir").read_text()
    data = np.load(path / "io.npz", allow_pickle=False)
    inputs = [
        data["x"]
        if place["type_"] == "input_arg"
        else np.load(io.BytesIO((new / "data" / place["name"]).read_bytes()), allow_pickle=False)
        for place in meta["input_locations"]
    ]
    artifact = (new / "functions" / "forward.bytecode").read_bytes()
    (output,) = portable.run(artifact, inputs)
    np.testing.assert_allclose(output, data["y"], atol=1e-6)


def test_a_saved_model_is_pinned_and_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What can be said and done without TensorFlow."""
    code, out, _ = run(capsys, "explain", GRAPH, "--target", "1.0.0", "--format", "json")
    assert code == 0
    (found,) = json.loads(out)["files"]
    assert [record["name"] for record in found["artifacts"]] == ["first", "second"]
    code, out, _ = run(capsys, "pin", GRAPH, "--for", "tensorflow==2.16.2", "-o", tmp_path / "new")
    assert code == 0
    versions = [
        portable.Artifact.from_bytes(bytes(entry)).version
        for entry in open_container(tmp_path / "new").artifacts()
    ]
    assert versions == [Version(0, 17, 0)] * 2


def test_all_or_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One artifact cannot reach the target: the others are not written either, and it is named."""
    composite = """
      func.func @main(%x: tensor<f32>) -> tensor<f32> {
        %0 = stablehlo.tan %x : tensor<f32>
        return %0 : tensor<f32>
      }
    """
    needs = portable.serialize(composite, "1.9.0", expand=False).data
    mixed = tmp_path / "mixed"
    open_container(GRAPH).replace({"second": needs}, to=mixed)
    with pytest.raises(NotExpressible) as caught:
        portable.repin(mixed, "1.0.0", to=tmp_path / "new", expand=False)
    assert caught.value.where == f"{mixed}: second"
    assert caught.value.minimum == Version(1, 4, 0)
    code, out, err = run(
        capsys, "pin", mixed, "--target", "1.0.0", "--no-expand", "-o", tmp_path / "new"
    )
    assert (code, out) == (2, "")
    what, feature, workaround = err.splitlines()
    assert what == f"error: {mixed}: second: the program cannot be expressed at 1.0.0 (needs 1.4.0)"
    assert feature.startswith("  tan_v1 needs 1.4.0 (1x, at ")
    assert workaround.startswith("  try --target 1.4.0")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mixed"]


def test_errors_are_one_line_and_change_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the original, to standard output, of a model without artifacts, of a plain folder."""
    before = hashlib.sha256(EXPORTED[0].read_bytes()).hexdigest()
    plain = CONTAINERS / "plain-tensorflow-2.20.0"
    for words, says in [
        ((EXPORTED[0], "-o", EXPORTED[0]), "destination is the input"),
        ((EXPORTED[0], "-o", "-"), "a container cannot be streamed"),
        ((plain, "-o", tmp_path / "new"), "no op XlaCallModule"),
        ((tmp_path, "-o", tmp_path / "new"), "is a directory, not a container"),
    ]:
        code, out, err = run(capsys, "pin", "--target", "1.0.0", *words)
        assert (code, out, err.count("\n")) == (2, "", 1), words
        assert says in err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EXPORTED[0].read_bytes())))
    code, _, err = run(capsys, "pin", "-", "--target", "1.0.0", "-o", tmp_path / "new")
    assert code == 2
    assert "cannot be streamed" in err
    assert hashlib.sha256(EXPORTED[0].read_bytes()).hexdigest() == before
    assert list(tmp_path.iterdir()) == []


EVERY_JAX = "jaxlib>=0.4.30"


@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: path.name)
def test_an_exported_is_widened_for_who_cannot_open_it(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever jax wrote it, the one at hand computes what it should, the derivatives too."""
    code, out, _ = run(capsys, "pin", path, "--for", EVERY_JAX, "-o", tmp_path / "new")
    assert code == 0
    assert "opened by jax>=0.4.30, its envelope was widened" in out
    function, *derivatives = computed(tmp_path / "new")
    np.testing.assert_allclose(function, np.tanh(X) * SCALE + 0.5, rtol=1e-5)
    slope = SCALE * (1 - np.tanh(X) ** 2)
    expected = (slope, -2 * np.tanh(X) * slope)
    for found, wanted in zip(derivatives, expected, strict=False):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)
    assert main(["check", str(tmp_path / "new"), "--for", EVERY_JAX]) == 0


OLD_JAX = """
import sys
import numpy as np
import jax
from jax import export

x = np.linspace(-2, 2, 6, dtype="float32").reshape(2, 3)
for path in sys.argv[1:]:
    exported = export.deserialize(bytearray(open(path, "rb").read()))
    slope = jax.grad(lambda x: exported.call(x, np.float32(3))["y"].sum())
    curve = jax.grad(lambda x: slope(x).sum())(x)
    expected = -6 * np.tanh(x) * (1 - np.tanh(x) ** 2)
    np.testing.assert_allclose(np.asarray(curve), expected, rtol=1e-4, atol=1e-6)
"""


@pytest.mark.more_releases
@pytest.mark.parametrize("version", ["0.4.30", "0.4.35"])
def test_an_old_jax_opens_what_was_widened(version: str, tmp_path: Path) -> None:
    """The real thing: each layout, called and derived twice by a jax that refused it before."""
    paths = [str(tmp_path / path.name) for path in EXPORTED if "vjp2" in path.name]
    for path in paths:
        portable.repin(CONTAINERS / Path(path).name, EVERY_JAX, to=path)
    packages = (f"jax=={version}", f"jaxlib=={version}", "flatbuffers", "absl-py", "numpy<2.3")
    words = [word for package in packages for word in ("--with", package)]
    command = [uv.find_uv_bin(), "run", "--no-project", "--python", "3.11", *words]
    subprocess.run([*command, "python", "-c", OLD_JAX, *paths], check=True, timeout=600)


def test_a_saved_model_is_widened_in_two_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of each call the version and the partitioner; TensorFlow 2.16.2 runs it now."""
    path, new = CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0", tmp_path / "new"
    code, out, _ = run(capsys, "pin", path, "--for", "tensorflow>=2.16", "-o", new)
    assert code == 0
    assert "opened by tensorflow>=2.16.2, its envelope was widened" in out
    target = portable.resolve_target("tensorflow>=2.16").version
    portable.repin(path, target, to=tmp_path / "same")
    before, after = ((tmp_path / name / "saved_model.pb").read_bytes() for name in ("same", "new"))
    changed = [(old, now) for old, now in zip(before, after, strict=True) if old != now]
    assert changed == [(1, 0), (10, 9)] * len(open_container(path).artifacts())


@pytest.mark.parametrize(
    ("name", "consumer", "says"),
    [
        ("gate-jax2tf-0.7.1-tensorflow-2.20.0", "tensorflow==2.16.*", "tensorflow 2.16.1"),
        ("gate-jax2tf-0.7.1-tensorflow-2.20.0", "tensorflow==2.16.2", ""),
        ("gate-vjp0-jax-0.12.0.1.exported", "jaxlib>=0.4.27", "0.4.27, jaxlib 0.4.28, jaxlib 0."),
        ("gate-vjp0-jax-0.12.0.1.exported", "libtpu==0.0.51", "libtpu 0.0.51"),
        ("gate-vjp0-jax-0.12.0.1.exported", "1.9.0", ""),
    ],
)
def test_pin_says_of_whom_it_is_not_known_that_they_open_it(
    name: str, consumer: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It writes the container: no consumer is known to refuse it."""
    code, out, _ = run(capsys, "pin", CONTAINERS / name, "--for", consumer, "-o", tmp_path / "new")
    assert code == 0
    (told,) = [line for line in out.splitlines() if "not known" in line] or [""]
    assert ("not known whether it is opened by" in told) is bool(says)
    assert says in told


def sharded(to: Path) -> Path:
    """Let jax write a function of two devices."""
    program = """
import sys, jax, numpy as np
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("x",))
by_rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
argument = jax.ShapeDtypeStruct((4, 3), "float32", sharding=by_rows)
open(sys.argv[1], "wb").write(jax.export.export(jax.jit(lambda x: x * 2))(argument).serialize())
"""
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", program, str(to)], check=True, env=os.environ | flags)
    return to


def test_what_cannot_be_widened_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the reason, and nothing is written: shardings are not known to every release."""
    exported, model = sharded(tmp_path / "x.exported"), tmp_path / "model"
    jax2tf = open_container(CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0")
    data = (CONTAINERS.parent / "artifacts" / "sdy+1.11.0.mlir.bc").read_bytes()
    jax2tf.replace({jax2tf.artifacts()[0].name: data}, to=model)
    told = {
        (exported, "jaxlib==0.5.3"): "is opened by jax>=0.8.2, its shardings are written in a form",
        (model, "tensorflow==2.16.2"): "has shardings of Shardy, which XlaCallModule 9 does not",
    }
    for (path, consumer), why in told.items():
        code, _, err = run(capsys, "pin", path, "--for", consumer, "-o", tmp_path / "new")
        assert (code, "new" in {one.name for one in tmp_path.iterdir()}) == (2, False), consumer
        assert why in err
        with pytest.raises(NotOpened):
            pin_all(path, consumer)
