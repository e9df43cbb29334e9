"""SavedModels rewritten: TensorFlow itself loads them and computes what it computed before."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import portable
from portable.artifact import Artifact
from portable.containers import Container, Kind, open_container

CONTAINERS = Path(__file__).parents[2] / "data" / "containers"
JAX2TF = CONTAINERS / "gate-jax2tf-0.7.1-tensorflow-2.20.0"
GRAPH = CONTAINERS / "graph-tensorflow-2.20.0"
X = np.linspace(-2, 2, 6, dtype="float32").reshape(2, 3)


def pinned(path: Path, target: str, to: Path) -> Container:
    """Rewrite the model by the command, as a release engineer does."""
    command = [
        sys.executable,
        "-m",
        "portable",
        "pin",
        str(path),
        "--target",
        target,
        "-o",
        str(to),
    ]
    subprocess.run(command, check=True)
    return open_container(to)


def served(path: Path) -> Any:
    """Let TensorFlow load a model and run the signature that it serves."""
    signature = tf.saved_model.load(str(path)).signatures["serving_default"]
    (value,) = signature(tf.constant(X)).values()
    return value.numpy()


@pytest.mark.parametrize("target", ["0.9.0", "0.17.0", "1.9.0"])
@pytest.mark.parametrize("path", [JAX2TF, GRAPH], ids=lambda path: path.name)
def test_a_repinned_model_computes_the_same(path: Path, target: str, tmp_path: Path) -> None:
    """Bit by bit, by the signature that TensorFlow serves."""
    container = pinned(path, target, tmp_path / "new")
    for entry in container.artifacts():
        assert str(Artifact.from_bytes(bytes(entry)).version) == target
    np.testing.assert_array_equal(served(tmp_path / "new"), served(path))


def test_a_widened_model_computes_the_same(tmp_path: Path) -> None:
    """Bit by bit; TensorFlow 2.16.2, which refuses the original, computes that too (2026-11-22)."""
    portable.repin(JAX2TF, "tensorflow>=2.16.2", to=tmp_path / "new")
    calls = open_container(tmp_path / "new").artifacts()
    assert {call.versions["XlaCallModule"] for call in calls} == {"9"}
    np.testing.assert_array_equal(served(tmp_path / "new"), served(JAX2TF))


def test_values_are_what_numpy_says(tmp_path: Path) -> None:
    """Once for each model: the variable of the one, both nodes of the other."""
    pinned(JAX2TF, "1.0.0", tmp_path / "a")
    np.testing.assert_allclose(served(tmp_path / "a"), np.tanh(X) * 2 + 0.5, atol=1e-6)
    pinned(GRAPH, "1.0.0", tmp_path / "b")
    once = np.tanh(X) * 2 + 0.5
    np.testing.assert_allclose(served(tmp_path / "b"), np.tanh(once) * 2 + 0.5, atol=1e-6)


def test_derivatives_come_from_their_own_artifact(tmp_path: Path) -> None:
    """The derivative is a function of its own in the library; it was pinned as well."""
    container = pinned(JAX2TF, "0.9.0", tmp_path / "new")
    assert any("grad" in entry.name for entry in container.artifacts())
    model = tf.saved_model.load(str(tmp_path / "new"))
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model.f(x)["y"]
    expected = 2 * (1 - np.tanh(X) ** 2)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), expected, rtol=1e-4)


def test_variables_live_on(tmp_path: Path) -> None:
    """They are copied beside the graph, and can be set."""
    pinned(JAX2TF, "0.9.0", tmp_path / "new")
    model = tf.saved_model.load(str(tmp_path / "new"))
    model.scale.assign(0.0)
    np.testing.assert_array_equal(model.f(tf.constant(X))["y"].numpy(), np.full((2, 3), 0.5, "f4"))


@pytest.mark.parametrize("path", [JAX2TF, GRAPH], ids=lambda path: path.name)
def test_tensorflow_reads_every_name_and_byte_as_we_do(path: Path) -> None:
    """Its own protobuf library finds the same nodes with the same modules."""
    from tensorflow.core.protobuf import saved_model_pb2

    message = saved_model_pb2.SavedModel()
    message.ParseFromString((path / "saved_model.pb").read_bytes())
    expected = {}
    for meta_graph in message.meta_graphs:
        scopes = [("", meta_graph.graph_def.node)]
        scopes += [
            (f"{function.signature.name}:", function.node_def)
            for function in meta_graph.graph_def.library.function
        ]
        for scope, nodes in scopes:
            for node in nodes:
                if node.op == "XlaCallModule":
                    expected[scope + node.name] = (node.attr["module"].s, node.attr["version"].i)
    container = open_container(path)
    found = {
        entry.name: (bytes(entry), int(entry.versions["XlaCallModule"]))
        for entry in container.artifacts()
    }
    assert found == expected
    assert container.kind is Kind.SAVED_MODEL


def test_tensorflow_finds_nothing_changed_but_the_modules(tmp_path: Path) -> None:
    """Every other field of the message is what it was, by TensorFlow's own reading."""
    from tensorflow.core.protobuf import saved_model_pb2

    container = open_container(JAX2TF)
    sizes = (0, 70_000)
    new = {
        entry.name: bytes(size) for entry, size in zip(container.artifacts(), sizes, strict=True)
    }
    container.replace(new, to=tmp_path / "new")
    messages = []
    for path in (JAX2TF, tmp_path / "new"):
        message = saved_model_pb2.SavedModel()
        message.ParseFromString((path / "saved_model.pb").read_bytes())
        for function in message.meta_graphs[0].graph_def.library.function:
            for node in function.node_def:
                if node.op == "XlaCallModule":
                    if path != JAX2TF:
                        key = f"{function.signature.name}:{node.name}"
                        assert node.attr["module"].s == new[key]
                    node.attr["module"].s = b""
        messages.append(message)
    assert messages[0] == messages[1]
